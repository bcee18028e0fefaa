"""The joint program folded, without what nobody reads, and with its records as items of lists.

Parameters of blocks that only ever have one value are dropped, and so are counts of items that nobody reads.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Container
from types import BuiltinFunctionType
from typing import Any

from autodiff_hook import budget
from autodiff_hook.ir.analysis import count_uses, definitions, predecessors, reverse_postorder, statements_of
from autodiff_hook.ir.substituting import resolve, substitute
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Statement, Terminator, Variable, is_nothing
from autodiff_hook.transform.improve.arithmetic import economise
from autodiff_hook.transform.improve.backwards import Backwards
from autodiff_hook.transform.improve.liveness import Liveness, sweep
from autodiff_hook.transform.improve.pairs import calls
from autodiff_hook.transform.improve.plain import make_plain
from autodiff_hook.transform.improve.polish import polish, program_start
from autodiff_hook.transform.improve.records import lower_records, take_away
from autodiff_hook.transform.improve.reuse import reuse
from autodiff_hook.transform.improve.sinking import look_up_once, sink
from autodiff_hook.transform.specialise.abstract import Abstract
from autodiff_hook.transform.specialise.folding import computed, merge
from autodiff_hook.transform.specialise.invariants import sums_floats
from autodiff_hook.transform.specialise.lattice import is_number_of


def simplify(
    ir: IR,
    essential: set[Statement],
    adjoint: set[Statement],
    floats: Callable[[Operand], bool],
    types: dict[Variable, Abstract] | None,
    numbers: bool,
    volatile: Container[Variable],
    guarded: bool,
    is_steady: Callable[[Operand], bool],
    lasts: Callable[[Variable, Operand], bool],
) -> None:
    """Fold ``0.0 + x`` and ``1.0 * x`` in the ``adjoint``, remove what is dead, lower records.

    ``essential`` statements stay.
    ``floats`` says whether an operand is a float, or an array of them. With the ``types`` of variables,
    operations of arrays are written as these allow. ``numbers`` says that there are none. What is ``volatile``,
    an array that the program changes or a view of one, is only read where the program reads it. ``guarded`` says
    whether the program begins with guards. Loops leave no records where that reads only what ``is_steady``, what the
    program does not change, or ``lasts``: has been read by the statement with a result as it is to the end.
    """
    ir.blocks = reverse_postorder(ir)
    whole = _whole_numbers(ir, floats)
    known, floats = floats, lambda x: known(x) and x not in whole
    _fold(ir, adjoint, floats)
    again: set[Statement] = set()
    if types is not None and drop_params(ir, program_start(ir) if guarded else ir.entry):
        _fold(ir, adjoint, floats)
    if numbers:
        if types is not None:
            _forget_dividends(ir, essential, types)
        sweep(ir, essential)
        if types is not None:
            _iterate_again(ir, essential, [types], is_steady, lasts, guarded, again)
        economise(ir, essential, {s for s in adjoint if all(map(floats, s.operands))})
    site = polish(ir, types, essential, adjoint, volatile, guarded) if types is not None else None
    live = sweep(ir, essential)
    if _drop_branches(ir):
        live = sweep(ir, essential)
    if site is not None and make_plain(ir, site, adjoint):
        live = sweep(ir, essential)
    if (
        site is not None
        and types is not None
        and _iterate_again(ir, essential, [types, site.facts], is_steady, lasts, guarded, again)
    ):
        live = Liveness(ir, essential)
    drop_counts(ir)
    if guarded:
        take_away(ir, live)
    lower_records(ir, live)
    look_up_once(ir)
    sink(ir, again)
    if site is not None and not numbers:
        reuse(ir, site)


def _forget_dividends(ir: IR, essential: set[Statement], types: dict[Variable, Abstract]) -> None:
    """Let divisions that happen only as they may raise, which the divisor says, divide 1.0."""
    kept = [s for s in statements_of(ir.blocks) if s in essential]
    divisions = [s for s in kept if s.op in ("binary", "inplace") and s.data == "/"]
    if not divisions:
        return
    live = Liveness(ir, essential)
    for s in divisions:
        first, second = s.operands
        divisor = types.get(second, Abstract())  # type: ignore[arg-type]
        if s.result not in live.variables and is_number_of(divisor, {float, int, bool}):
            if _is_never_large(first, live, types):
                s.operands[0] = Constant(1.0)


def _is_never_large(x: Operand, live: Liveness, types: dict[Variable, Abstract]) -> bool:
    """Whether a number is no int, but for the sum of no floats at all: large ints may be too large to be divided."""
    if is_number_of(types.get(x, Abstract()), {float}):  # type: ignore[arg-type]
        return True
    made = live.made.get(x)
    return made is not None and sums_floats(made, lambda operand: types.get(operand, Abstract()))  # type: ignore[arg-type]


def _iterate_again(
    ir: IR,
    essential: set[Statement],
    tables: list[dict[Variable, Any]],
    is_steady: Callable[[Operand], bool],
    lasts: Callable[[Variable, Operand], bool],
    guarded: bool,
    again: set[Statement],
) -> bool:
    """Let loops leave less, or no records, in programs that are not to be cut; whether there are any.

    What is done ``again`` in place of that is added.
    """
    found = False
    operations = {s.op for s in statements_of(ir.blocks)}
    if "recall" not in operations or "resume" in operations:
        return found
    while (loops := Backwards(ir, essential, tables, is_steady, lasts)).run():
        again |= loops.again
        sweep(ir, essential)
        merge(ir.blocks, first=program_start(ir) if guarded else ir.entry)
        found = True
    if loops.thin():
        again |= loops.again
        sweep(ir, essential)
        found = True
    return found


def _drop_branches(ir: IR) -> bool:
    """Drop branches that lead to one place whatever is tested; whether there were any."""
    found = False
    for block in ir.blocks:
        terminator = block.terminator
        if terminator.kind != "branch":
            continue
        first, second = map(_destination, terminator.edges)
        if first.target is second.target and first.args == second.args:
            block.terminator = Terminator("jump", [], [first], terminator.position)
            found = True
    if found:
        ir.blocks = reverse_postorder(ir)
        merge(ir.blocks)
    return found


def _destination(edge: Edge) -> Edge:
    """Where an edge leads to, past blocks that do nothing."""
    target = edge.target
    while not target.statements and not target.params:
        if target.terminator.kind != "jump" or target.terminator.edges[0].target is target:
            break
        edge = target.terminator.edges[0]
        target = edge.target
    return edge


def _fold(ir: IR, adjoint: set[Statement], floats: Callable[[Operand], bool]) -> None:
    known: dict[Operand, Operand] = {}
    for block in ir.blocks:
        budget.check()
        kept = []
        for s in block.statements:
            s.operands = [resolve(x, known) for x in s.operands]
            same = (_neutral(s, floats) if s in adjoint else None) or computed(s)
            if same is None or s.result is None:
                kept.append(s)
            else:
                known[s.result] = same
        block.statements = kept
    substitute(ir.blocks, known)


_ROUNDING = frozenset({math.floor, math.ceil, math.trunc, math.gcd, math.lcm, math.comb, math.perm, math.isqrt})


def _whole_numbers(ir: IR, floats: Callable[[Operand], bool]) -> set[Operand]:
    """What the types do not know and may be an int: made of ints alone."""
    whole: set[Operand] = set()

    def is_float(operand: Operand) -> bool:
        return operand not in whole and floats(operand)

    changed = True
    while changed:
        before = len(whole)
        for block in ir.blocks:
            for s in block.statements:
                if s.result is None or not floats(s.result):
                    continue
                if s.op in ("binary", "unary", "inplace"):
                    exact = s.data != "/" and not any(map(is_float, s.operands))
                else:
                    function = s.callee
                    exact = isinstance(function, BuiltinFunctionType) and function in _ROUNDING
                if exact:
                    whole.add(s.result)
            for edge in block.edges():
                whole.update(p for p, x in edge.bound() if floats(p) and not _is_number(x, is_float))
        changed = len(whole) != before
    return whole


def _is_number(operand: Operand, is_float: Callable[[Operand], bool]) -> bool:
    """Whether an argument of an edge is a float, or nothing that a sum would be made of."""
    return is_float(operand) or isinstance(operand, Constant) and type(operand.value) is not int


def _neutral(s: Statement, floats: Callable[[Operand], bool]) -> Operand | None:
    """The operand that a statement returns unchanged."""
    if s.op == "call" and len(s.operands) == 3 and _is_sum(s.operands[0]):
        first = s.operands[1]
        return s.operands[2] if is_nothing(first) else None
    if s.op != "binary" or len(s.operands) != 2:
        return None
    for constant, other in (s.operands, reversed(s.operands)):
        if isinstance(constant, Constant) and type(constant.value) is float and floats(other):
            if s.data == "+" and constant.value == 0.0 or s.data == "*" and constant.value == 1.0:
                return other
            if s.data == "*" and constant.value == -1.0:
                s.op, s.operands, s.data = "unary", [other], "-"
                return None
    return None


def _is_sum(function: Operand) -> bool:
    return isinstance(function, Constant) and getattr(function.value, "__name__", "") == "accumulate"


def drop_params(ir: IR, kept: Block, more: Collection[Operand] = ()) -> dict[Operand, Operand]:
    """Replace parameters that are bound to one value, or to themselves in a loop; not those of ``kept``, nor ``more``.

    What they are replaced by is returned.
    """
    replaced: dict[Operand, Operand] = {}
    while True:
        incoming = predecessors(ir)
        found: dict[Operand, Operand] = {}
        for block in ir.blocks[1:]:
            if block is kept:
                continue
            edges = [edge for _, edge in incoming[block]]
            for param in list(block.params):
                value = None if param in more else _only_value(param, block, edges, found)
                if value is not None:
                    _drop(param, block, edges)
                    found[param] = value
        if not found:
            return replaced
        substitute(ir.blocks, found)
        replaced |= found


def _only_value(param: Variable, block: Block, edges: list[Edge], found: dict[Operand, Operand]) -> Operand | None:
    places = [block.params.index(param) - len(block.params) + len(edge.args) for edge in edges]
    if not edges or min(places) < 0:
        return None
    values = [edge.args[place] for edge, place in zip(edges, places)]
    values = [x for x in values if x is not param]
    first = values[0] if values else None
    if first is None or first in found or not all(_is_same(x, first) for x in values):
        return None
    return first


def _is_same(a: Operand, b: Operand) -> bool:
    if isinstance(a, Constant) and isinstance(b, Constant):
        x, y = a.value, b.value
        return x is y or (type(x) is type(y) and type(x) in (float, int) and repr(x) == repr(y))
    return a is b


def _drop(param: Variable, block: Block, edges: list[Edge]) -> None:
    place = block.params.index(param) - len(block.params)
    for edge in edges:
        del edge.args[place]
    block.params.remove(param)


def drop_counts(ir: IR) -> None:
    """Iterate over what ``enumerate`` is given where the counts are not read."""
    made = definitions(statements_of(ir.blocks))
    numbered = {x: s for x, s in made.items() if calls(s, enumerate) and len(s.operands) == 2}
    if not numbered:
        return
    incoming, uses = predecessors(ir), count_uses(ir.blocks)
    dropped = set[Statement]()
    for header in ir.blocks:
        iterator = made.get(header.terminator.operands[0]) if header.terminator.kind == "next" else None
        s = numbered.get(iterator.operands[0]) if iterator is not None and iterator.op == "get_iter" else None
        if iterator is None or s is None or any(uses[x] != 1 for x in (s.made, iterator.made)):
            continue
        body = header.terminator.edges[0].target
        taken = _taken(body, uses) if len(incoming[body]) == 1 and len(body.params) == 1 else None
        if taken is not None:
            unpack, project = taken
            body.params = [project.made]
            iterator.operands = [s.operands[1]]
            dropped |= {s, unpack, project}
    for block in ir.blocks:
        block.statements = [s for s in block.statements if s not in dropped]


def _taken(body: Block, uses: Counter[Operand]) -> tuple[Statement, Statement] | None:
    """What unpacks the pairs of counts and items, and what takes the items, if nothing else reads the pairs."""
    parts = _only(body, body.params[0], uses, "unpack")
    item = _only(body, parts.made, uses, "project") if parts is not None else None
    return (parts, item) if parts is not None and item is not None and item.data == 1 else None


def _only(body: Block, x: Operand, uses: Counter[Operand], op: str) -> Statement | None:
    """The statement of this kind in the body that alone reads an operand."""
    return next((s for s in body.statements if s.op == op and x in s.operands and uses[x] == 1), None)
