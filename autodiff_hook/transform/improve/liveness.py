"""What a joint program needs, and what goes because nobody reads it."""

from __future__ import annotations

from autodiff_hook import budget
from autodiff_hook.ir.analysis import predecessors
from autodiff_hook.ir.types import IR, RECEIVED, Block, Edge, Operand, Statement, Variable
from autodiff_hook.transform.improve.shortcuts import EFFECTS, declared

_REMOVABLE = frozenset(
    "build_tuple build_list build_map project recall binary unary compare truth not is is_not getitem getattr "
    "build_slice call unpack get_iter call_method make_function".split()
)
_PURE_METHODS = frozenset({"copy", "reshape", "argmax", "argmin"})


class Liveness:
    """What a program needs: by a worklist from what it returns and does."""

    def __init__(self, ir: IR, essential: set[Statement]) -> None:
        self.incoming = predecessors(ir)
        self.made: dict[Operand, Statement] = {}
        self.home: dict[Variable, tuple[Block, int]] = {}
        self.records: dict[object, Statement] = {}
        self.kept: dict[object, set[int]] = {}
        self.appended: dict[Operand, list[Operand]] = {}
        """What is appended to lists that begin in the program."""
        self.variables: set[Variable] = set()
        self.pending: list[Operand] = []
        for block in ir.blocks:
            budget.check()
            self.home |= {param: (block, i) for i, param in enumerate(block.params)}
            for s in block.statements:
                if s.result is not None:
                    self.made[s.result] = s
                if s.op == "record":
                    self.records[s.data[0]] = s
                    self.pending.append(s.operands[0])
                elif s.op == "list_append" and self._begins(s.operands[0]):
                    self.appended.setdefault(s.operands[0], []).append(s.operands[1])
                elif not removable(s, essential):
                    self.pending += s.operands
            self.pending += block.terminator.operands
        while self.pending:
            self._need(self.pending.pop())

    def _begins(self, items: Operand) -> bool:
        made = self.made.get(items)
        return made is not None and made.op == "build_list"

    def is_idle(self, s: Statement) -> bool:
        """Whether a statement appends to a list that nobody reads."""
        return s.op == "list_append" and s.operands[0] in self.appended and s.operands[0] not in self.variables

    def _need(self, operand: Operand) -> None:
        if not isinstance(operand, Variable) or operand in self.variables:
            return
        self.variables.add(operand)
        self.pending += self.appended.get(operand, ())
        statement = self.made.get(operand)
        if statement is not None:
            self.pending += statement.operands
            if statement.op == "recall":
                loop, index = statement.data
                if index not in self.kept.setdefault(loop, set()):
                    self.kept[loop].add(index)
                    self.pending.append(self.records[loop].operands[1 + index])
            return
        found = self.home.get(operand)
        if found is not None:
            block, index = found
            for _, edge in self.incoming[block]:
                place = index - (len(block.params) - len(edge.args))
                if place >= 0:
                    self.pending.append(edge.args[place])


def removable(s: Statement, essential: set[Statement]) -> bool:
    """Whether a statement may go if nobody reads its result."""
    if s.op == "call_method" and s.data[0] not in _PURE_METHODS:
        return False
    if declared(EFFECTS, s.callee):
        return False
    return s.result is not None and s.op in _REMOVABLE and s not in essential


def sweep(ir: IR, essential: set[Statement]) -> Liveness:
    """Leave out the statements and parameters that nobody needs; what is needed."""
    live = Liveness(ir, essential)
    for block in ir.blocks:
        block.statements = [
            s
            for s in block.statements
            if s.result in live.variables or not removable(s, essential) and not live.is_idle(s)
        ]
    for block in ir.blocks:
        terminator = block.terminator
        for edge, received in zip(terminator.edges, RECEIVED.get(terminator.kind, ())):
            params = edge.target.params[received:]
            edge.args = [arg for param, arg in zip(params, edge.args, strict=True) if param in live.variables]
    for block in ir.blocks[1:]:
        count = max((_received(edge, source) for source, edge in live.incoming[block]), default=0)
        block.params = block.params[:count] + [p for p in block.params[count:] if p in live.variables]
    return live


def _received(edge: Edge, source: Block) -> int:
    terminator = source.terminator
    return RECEIVED.get(terminator.kind, (0,))[terminator.edges.index(edge)]
