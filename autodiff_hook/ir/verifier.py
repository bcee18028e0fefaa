"""The rules that every IR keeps, checked."""

from __future__ import annotations

from typing import Final, NoReturn

from autodiff_hook.ir.analysis import dominators, reverse_postorder
from autodiff_hook.ir.printer import to_text
from autodiff_hook.ir.types import (
    CANNOT_RAISE,
    HANDLER_RECEIVED,
    IR,
    RECEIVED,
    TERMINATORS_THAT_RAISE,
    Block,
    Edge,
    Operand,
    Terminator,
    Variable,
)

OPERATIONS: Final = frozenset(
    """
    name_get name_del name_or_cell_get setup_annotations
    global store_global delete_global check make_cell cell_get cell_set cell_del getattr setattr delattr getitem
    setitem delitem unary not truth binary inplace compare is is_not in not_in call call_method load_method
    call_loaded call_ex build_tuple build_list build_set build_map build_slice build_string list_append set_add
    map_add list_extend set_update dict_update dict_merge list_to_tuple unpack project format get_iter get_len
    make_function build_class_function import_name import_from push_exc pop_exc exc_match eg_match prep_reraise_star
    enter exit_call yield yield_from_iter cleanup_throw match_mapping match_sequence match_keys
    match_class awaitable aiter anext end_async_for enter_async intrinsic resume
    forget
    """.split()
)
_OPERANDS: Final = {
    "jump": (0,),
    "branch": (1,),
    "next": (1,),
    "send": (2,),
    "return": (1,),
    "raise": (0, 1, 2),
    "reraise": (2,),
}


class VerificationError(AssertionError):
    """An IR that breaks a rule; the message says which and shows the IR."""


def verify(ir: IR) -> None:
    """Raise VerificationError if ``ir`` is malformed."""
    _Verifier(ir).run()


class _Verifier:
    def __init__(self, ir: IR) -> None:
        self._ir = ir
        self._defined: dict[Variable, tuple[Block, int]] = {}

    def fail(self, message: str) -> NoReturn:
        raise VerificationError(f"{message}\n{to_text(self._ir)}")

    def run(self) -> None:
        ir = self._ir
        if not ir.blocks:
            self.fail("no blocks")
        if len(ir.entry.params) != len(ir.signature.names) + len(ir.free_names):
            self.fail("the entry's parameters are not those of the signature and the free variables")
        known = set(ir.blocks)
        if len(known) != len(ir.blocks):
            self.fail("a block occurs twice")
        for number, block in enumerate(ir.blocks):
            self._definitions(block, number)
            self._shape(block, number, known)
        self._order = reverse_postorder(ir)
        self._idom = dominators(ir, self._order)
        self._inside = _intervals(self._order, self._idom)
        for block in self._order:
            self._uses(block)

    def _definitions(self, block: Block, number: int) -> None:
        for param in block.params:
            self._define(param, block, 0, number)
        for i, statement in enumerate(block.statements):
            if statement.result is not None:
                self._define(statement.result, block, i + 1, number)

    def _define(self, variable: Variable, block: Block, place: int, number: int) -> None:
        if variable in self._defined:
            self.fail(f"a variable is assigned twice, the second time in b{number}")
        self._defined[variable] = block, place

    def _shape(self, block: Block, number: int, known: set[Block]) -> None:
        terminator = block.terminator
        if terminator.kind == "open":
            self.fail(f"b{number} has no terminator")
        if len(terminator.operands) not in _OPERANDS.get(terminator.kind, ()):
            self.fail(f"b{number}: {terminator.kind} with {len(terminator.operands)} operands")
        received = RECEIVED.get(terminator.kind, ())
        if len(received) != len(terminator.edges):
            self.fail(f"b{number}: {terminator.kind} with {len(terminator.edges)} edges")
        for edge, count in zip(terminator.edges, received):
            self._edge(edge, count, number, known)
        if block.handler is not None:
            self._edge(block.handler, HANDLER_RECEIVED, number, known)
            self._one_raises(block, terminator, number)
        self._different_targets(block, number)
        for statement in block.statements:
            if statement.op not in OPERATIONS:
                self.fail(f"b{number}: unknown operation {statement.op}")

    def _edge(self, edge: Edge, received: int, number: int, known: set[Block]) -> None:
        if edge.target not in known:
            self.fail(f"b{number} leads out of the function")
        if edge.target is self._ir.entry:
            self.fail(f"b{number} leads to the entry")
        if len(edge.args) + received != len(edge.target.params):
            self.fail(f"b{number}: an edge has {len(edge.args)} arguments for {len(edge.target.params) - received}")

    def _one_raises(self, block: Block, terminator: Terminator, number: int) -> None:
        last = len(block.statements) - (terminator.kind not in TERMINATORS_THAT_RAISE)
        for i, statement in enumerate(block.statements):
            if i != last and statement.op not in CANNOT_RAISE:
                self.fail(f"b{number} has a handler, but {statement.op} is not its last statement that may raise")

    def _different_targets(self, block: Block, number: int) -> None:
        seen: dict[Block, Edge] = {}
        for edge in block.edges():
            other = seen.setdefault(edge.target, edge)
            if other is not edge and not all(map(_equal, edge.args, other.args)):
                self.fail(f"b{number} has two edges to one block with different arguments")

    def _uses(self, block: Block) -> None:
        last = len(block.statements)
        for i, statement in enumerate(block.statements):
            self._available(statement.operands, block, i, statement.op)
        terminator = block.terminator
        self._available(terminator.operands, block, last, terminator.kind)
        for edge in terminator.edges:
            self._available(edge.args, block, last, terminator.kind)
        if block.handler is not None:
            raises = terminator.kind in TERMINATORS_THAT_RAISE or not block.statements
            self._available(block.handler.args, block, last if raises else last - 1, "its handler")

    def _available(self, operands: list[Operand], block: Block, place: int, where: str) -> None:
        for operand in operands:
            if not isinstance(operand, Variable):
                continue
            number = self._ir.blocks.index
            if operand not in self._defined:
                self.fail(f"b{number(block)}: {where} uses a variable that nothing assigns")
            home, position = self._defined[operand]
            if position > place if home is block else not self._dominates(home, block):
                self.fail(f"b{number(block)}: {where} uses a variable of b{number(home)} that may not be assigned yet")

    def _dominates(self, a: Block, b: Block) -> bool:
        if a not in self._inside:
            return False
        first, last = self._inside[a]
        return first <= self._inside[b][0] <= last


def _intervals(order: list[Block], idom: dict[Block, Block]) -> dict[Block, tuple[int, int]]:
    """For each block its number, and the greatest of those that it dominates, which are numbered in a row."""
    count = dict.fromkeys(order, 1)
    for block in reversed(order):
        if idom[block] is not block:
            count[idom[block]] += count[block]
    free: dict[Block, int] = {}
    inside: dict[Block, tuple[int, int]] = {}
    for block in order:
        parent = idom[block]
        first = 0 if parent is block else free[parent]
        if parent is not block:
            free[parent] += count[block]
        free[block] = first + 1
        inside[block] = first, first + count[block] - 1
    return inside


def _equal(a: Operand, b: Operand) -> bool:
    if isinstance(a, Variable) or isinstance(b, Variable):
        return a is b
    return a.value is b.value
