"""The primal without detours: items of tuples that are made for them, arithmetic that each iteration would repeat.

This comes before the adjoint, so that neither is recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from autodiff_hook.ir.analysis import Loop, defined_in, definitions, dominates, dominators, passed_on, statements_of
from autodiff_hook.ir.substituting import key_of, resolve, share
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Dict, List, Number, Reference, Site, Tuple
from autodiff_hook.transform.specialise.lattice import content_of, number_types
from autodiff_hook.transform.specialise.origins import is_elementary, makes_new
from autodiff_hook.transform.specialise.program import APPEND, DROP, LOAD, STORE, STRUCTURAL, OwnPlan, Plan, Program

TypeOf = Callable[[Operand], Abstract]
_FLOAT = frozenset({float})
_INT = frozenset({int})


def take_items(blocks: list[Block], plans: dict[Statement, Plan]) -> dict[Operand, Operand]:
    """Drop what takes items out of tuples, lists and dicts that the program itself makes; what these items are."""
    mapping: dict[Operand, Operand] = {}
    displays = [s for s in statements_of(blocks) if plans.get(s) == STRUCTURAL]
    made = definitions(s for s in displays if s.op in ("build_tuple", "build_list", "build_map"))
    for block in blocks:
        kept = []
        for s in block.statements:
            whole = made.get(resolve(s.operands[0], mapping)) if s.operands else None
            item = _item_of(whole, s) if whole is not None and s.result is not None else None
            if item is None or s.result is None:
                kept.append(s)
            else:
                mapping[s.result] = item
        block.statements = kept
    return mapping


def _item_of(whole: Statement, s: Statement) -> Operand | None:
    if whole.op == "build_map":
        key = s.operands[1] if s.op == "getitem" else None
        pairs = zip(whole.operands[::2], whole.operands[1::2])
        same = (x for k, x in pairs if isinstance(k, Constant) and isinstance(key, Constant) and k.value == key.value)
        return next(same, None)
    index, items = _index(s), whole.operands
    return items[index] if index is not None and -len(items) <= index < len(items) else None


def _index(s: Statement) -> int | None:
    if s.op == "project":
        index: int = s.data
        return index
    key = s.operands[1] if s.op == "getitem" else None
    return key.value if isinstance(key, Constant) and type(key.value) is int else None


def hoist(
    ir: IR,
    loops: list[Loop],
    incoming: dict[Block, list[tuple[Block, Edge]]],
    program: Program,
    volatile: set[Variable],
) -> dict[Operand, Operand]:
    """Move before its loop what is the same in every iteration; what is computed twice then.

    What may raise is moved if every iteration does it: only where there is none is the program given up for nothing.
    ``volatile`` arrays are stored into, or views of such.
    """
    mapping: dict[Operand, Operand] = {}
    immediate = dominators(ir) if loops else {}
    held = _held(ir, program) if loops else set[Operand]()
    for loop in reversed(loops):
        (before,) = (block for block, _ in incoming[loop.header] if block not in loop.body)
        always = {block for block in loop.body if all(dominates(immediate, block, latch) for latch in loop.latches)}
        inside = defined_in(loop.body)
        for block in loop.body:
            _once(block, program, mapping)
        changed = {site for s in statements_of(loop.body) for site in sites_changed(s, program)}
        steady = {s for s in statements_of(always) if _is_steady(s, program, volatile, held)}
        while any([_move(block, before, inside, changed, program, mapping, steady) for block in loop.body]):
            pass
        _once(before, program, mapping)
    return mapping


def _move(
    block: Block,
    before: Block,
    inside: set[Operand],
    changed: set[Site],
    program: Program,
    mapping: dict[Operand, Operand],
    steady: set[Statement],
) -> bool:
    moved: list[Statement] = []
    kept: list[Statement] = []
    for s in block.statements:
        s.operands = [resolve(x, mapping) for x in s.operands]
        row = _row_of(s, program)
        free = _is_fixed(s, program) or row is not None and row not in changed or s in steady
        (moved if free and inside.isdisjoint(s.operands) else kept).append(s)
    for s in moved:
        if s.op == "getitem" and _row_of(s, program) is not None:
            # The loop may have no iteration in which the item would be missed.
            s.op, s.operands, s.data = "call", [Constant(item_or_none), *s.operands], ()
    before.statements += moved
    sure = [s.result for s in moved if s.callee is not item_or_none or isinstance(program.type_of(s.result), Reference)]
    inside.difference_update(x for x in sure if x is not None)
    block.statements = kept
    return bool(moved)


def item_or_none(items: Any, index: Any) -> Any:
    """An item of a list or a dict; None if there is none, or no list."""
    try:
        return None if items is None else items[index]
    except LookupError:
        return None


def _is_fixed(s: Statement, program: Program) -> bool:
    """Whether a statement is arithmetic that cannot raise, or reads what is there and never assigned."""
    if s.op == "getitem" and isinstance(s.operands[1], Constant):
        return isinstance(program.type_of(s.operands[0]), Tuple)
    return is_total(s, program.type_of)


def _held(ir: IR, program: Program) -> set[Operand]:
    """What has other names, or lies in something: arrays of several iterations would be seen to be one."""
    found: set[Operand] = set()
    for block in ir.blocks:
        found.update(passed_on(block))
        for s in block.statements:
            if s.result is None or not makes_new(s, program.type_of):
                found.update(s.operands)
    return found


def _is_steady(s: Statement, program: Program, volatile: set[Variable], held: set[Operand]) -> bool:
    """Whether a statement, which may raise, computes nothing but a number, or an array that nobody else holds."""
    type_of = program.type_of
    if _is_of_math(s, program):
        return True
    plain = all(isinstance(x, Constant) or isinstance(type_of(x), (Array, Number)) for x in s.arguments)
    own = s.result is not None and isinstance(type_of(s.result), Array) and s.result not in held
    return plain and own and volatile.isdisjoint([s.result, *s.operands]) and is_elementary(s, type_of)


def _is_of_math(s: Statement, program: Program) -> bool:
    """Whether a statement computes a number from numbers by ``math`` or an operator, and may raise."""
    computes = s.op == "binary" and s.data in ("/", "**") or is_math(s.callee)
    return computes and all(number_types(program.type_of(x)) in (_FLOAT, _INT) for x in s.arguments)


def is_math(function: Any) -> bool:
    """Whether a function is one of ``math``, which compute and do nothing else."""
    return getattr(function, "__module__", None) == "math"


def _row_of(s: Statement, program: Program) -> Site | None:
    """Where the lists, dicts or objects come from of which a statement takes a number, or a list, or an attribute."""
    if program.plans.get(s) == LOAD and s.op == "getattr":
        kind = content_of(program.type_of(s.operands[0]))
        return kind.site.root() if isinstance(kind, Reference) else None
    if program.plans.get(s) != LOAD or s.op != "getitem" or not isinstance(program.type_of(s.result), (List, Number)):
        return None
    owner = program.type_of(s.operands[0])
    return owner.site.root() if isinstance(owner, (List, Dict)) else None


def sites_changed(s: Statement, program: Program) -> list[Site]:
    """Where the lists or dicts come from that a statement changes."""
    plan = program.plans.get(s)
    if isinstance(plan, OwnPlan):
        return [*plan.changed]
    kind = program.type_of(s.operands[0]) if plan in (APPEND, DROP, STORE) else None
    return [kind.site.root()] if isinstance(kind, Reference) else []


def _once(block: Block, program: Program, mapping: dict[Operand, Operand]) -> None:
    """Let a block do arithmetic of numbers and take lists out of lists once only."""
    changes = Counter[Site | None]()

    def key(s: Statement) -> Any:
        row = _row_of(s, program)
        changes.update(sites_changed(s, program))
        if row is None and not _is_fixed(s, program) and not _is_of_math(s, program):
            return None
        return s.op, s.data, changes[row], *map(key_of, s.operands)

    share(block, key, mapping)


def is_total(s: Statement, type_of: TypeOf) -> bool:
    """Whether a statement is arithmetic of floats or of ints, which cannot raise."""
    if s.op not in ("binary", "inplace", "unary"):
        return False
    types = [number_types(type_of(x)) for x in s.operands]
    if all(t == _INT for t in types):
        return s.data in ("+", "-", "*")
    if _FLOAT not in types or not all(t == _FLOAT or _is_small(x) for t, x in zip(types, s.operands)):
        return False
    if s.data == "/":
        divisor = s.operands[1]
        return isinstance(divisor, Constant) and divisor.value != 0
    return s.data in ("+", "-", "*")


def sums_floats(s: Statement, type_of: TypeOf) -> bool:
    """Whether a statement is the sum of a list of floats, which cannot raise, and is no int but 0."""
    if s.data or s.callee is not sum:
        return False
    kind = type_of(s.operands[1])
    begins = all(isinstance(x, Constant) and type(x.value) in (int, float) and not x.value for x in s.operands[2:])
    return begins and isinstance(kind, List) and kind.item is not None and number_types(kind.item) == _FLOAT


def _is_small(operand: Operand) -> bool:
    """Whether an operand is an int that is a float, too."""
    return isinstance(operand, Constant) and type(operand.value) is int and abs(operand.value) < 1 << 53
