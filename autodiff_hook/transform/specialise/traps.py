"""Where a program gives up: what is not understood of a block is cut off, until more types have come there."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, NamedTuple

from autodiff_hook.ir.types import Block, Constant, Edge, Position, Statement, Terminator, Variable
from autodiff_hook.reports import Reason
from autodiff_hook.transform.specialise.abstract import BOOL, NOTHING, Error, Optional
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.program import PURE, Given
from autodiff_hook.transform.specialise.refining import Test

if TYPE_CHECKING:
    from autodiff_hook.transform.specialise.infer import Inference


class _Cut(NamedTuple):
    """What was cut off from a block, and why, unless that raises there."""

    reason: Reason | None
    rest: list[Statement]
    terminator: Terminator
    handler: Edge | None


class Traps:
    """The blocks that end where the program gives up; then the function is carried."""

    def __init__(self, inf: Inference) -> None:
        self.inf = inf
        self._cut_off: dict[Block, _Cut] = {}

    def put(self, block: Block, refused: Refused, position: Position | None) -> None:
        """Give up before the statement that is being interpreted."""
        end = self._end(block, refused, position)
        self._cut(block, refused.reason, end)

    def leave(self, block: Block, cls: type[Exception], position: Position | None) -> None:
        """Go on at the handler before the statement that is being interpreted, which raises."""
        error = Variable("error")
        self.inf.types[error] = Error(cls)
        self._cut(block, None, Terminator("raise", [error], [], position))

    def _cut(self, block: Block, reason: Reason | None, end: Terminator) -> None:
        rest = block.statements[self.inf.index :]
        before = self._cut_off.get(block)
        if before is None:
            self._cut_off[block] = _Cut(reason, rest, block.terminator, block.handler)
        else:
            # It raises, and what handles that is not understood.
            self._cut_off[block] = before._replace(reason=reason, rest=[*rest, *before.rest])
        del block.statements[self.inf.index :]
        block.terminator = end

    def take_back(self, block: Block) -> None:
        """Let a block have again what was cut off."""
        cut = self._cut_off.pop(block, None)
        if cut is not None:
            block.statements += cut.rest
            block.terminator, block.handler = cut.terminator, cut.handler

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why parts of the program are given up."""
        return tuple(dict.fromkeys(cut.reason for cut in self._cut_off.values() if cut.reason is not None))

    def require(self, block: Block, operand: Variable, position: Position | None) -> None:
        """Give up before the next statement if ``operand`` is absent; the rest of the block has a new name for it."""
        kind = self.inf.type_of(operand)
        assert isinstance(kind, Optional)
        name = Variable(operand.name)
        self.inf.tests[name] = Test("is", operand, False)
        test = Statement("is_not", [operand, Constant(kind.absent)], Variable())
        self.ensure(block, [test], f"{operand.name or 'a value'} is {kind.absent}", position, (operand, name))

    def ensure(
        self,
        block: Block,
        tests: list[Statement],
        reason: str,
        position: Position | None,
        renamed: tuple[Variable, Variable] | None = None,
    ) -> None:
        """Give up before the next statement unless the last of ``tests`` holds."""
        self.inf.types[tests[-1].made], trap = BOOL, Block([], [])
        self.inf.plans |= dict.fromkeys(tests, PURE)
        trap.terminator = self._end(block, Refused(reason), position)
        self.inf.fork(block, tests, trap, True, renamed)

    def confirm_empty(self, block: Block) -> None:
        """Give up where an item comes out of what is taken to be empty."""
        refused = Refused("an item of a list that nothing is appended to so far")
        trap = Block([Variable()], [], self._end(block, refused, block.terminator.position))
        self.inf.types[trap.params[0]] = NOTHING
        block.terminator.edges[0].target, block.terminator.edges[0].args = trap, []
        self.inf.add(block, trap)
        self.inf.visited.add(trap)

    def locate(self, refused: Refused) -> None:
        """Find the file of the statement for which a program is refused."""
        if refused.statement is None:
            return
        homes = [block for block in self.inf.chains if refused.statement in block.statements]
        if homes and refused.around is None:
            refused.around = self._around(homes[0], refused.statement.position)
        files = {self.inf.filename_of(block) for block in homes or self.inf.chains}
        if len(files) == 1:
            refused.at(files.pop(), refused.statement.position)

    def _end(self, block: Block, refused: Refused, position: Position | None) -> Terminator:
        """The end of a block that is not understood from there on; the refusal knows where that is."""
        refused.at(self.inf.filename_of(block), position)
        refused.around = refused.around or self._around(block, position)
        chain = tuple(map(weakref.ref, (*self.inf.around, *self.inf.chains[block])))
        return Terminator("raise", [Constant(type("Given", (Given,), {"reason": refused.reason, "chain": chain}))])

    def _around(self, block: Block, position: Position | None) -> Position | None:
        return self.inf.activations.place(self.inf.chains[block], position)
