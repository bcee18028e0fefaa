"""The carried program: the primal with a token beside each value that may have one.

Signature of the result: ``carried(alg, tokens, *parameters) -> (value, token)``. That of a generator or coroutine
is ``carried(alg, tokens, exchange, *parameters)``: it yields, is sent and returns plain values, so that anybody may
hold it; their tokens go through ``exchange``.
"""

from __future__ import annotations

from typing import ClassVar, Final

from autodiff_hook.ir.types import IR, Block, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.generic.forward import NONE, Primal, Runtime, Writer
from autodiff_hook.transform.generic.pushforward import Pushforward

_DELEGATING: Final = ("yield_from_iter", "awaitable")


def carrying_pass(primal: Primal, runtime: Runtime) -> IR:
    """The carried program of ``primal``."""
    return _Carrying(primal, runtime).build()


class _Carrying(Pushforward):
    shared_witness: ClassVar[tuple[str, ...]] = ("check",)

    def __init__(self, primal: Primal, runtime: Runtime) -> None:
        super().__init__(primal, runtime)
        self.suspends = primal.ir.kind != "function"
        self.leading = (".alg", ".tokens", *((".exchange",) if self.suspends else ()))
        self.exchange = Variable("exchange")

    def build(self) -> IR:
        for block in self.primal.ir.blocks:
            terminator = block.terminator
            if terminator is not None and terminator.kind == "send":
                self.same[terminator.edges[0].target.params[0]] = NONE
            for statement in block.statements:
                if statement.result is not None and _is_delegated(statement):
                    self.same[statement.result] = NONE
        return super().build()

    def prologue(self, block: Block, out: Writer) -> None:
        out.block.params = [self.ctx, self.given, *([self.exchange] if self.suspends else []), *block.params]
        self.take_given(block, out)

    def arrive(self, block: Block, out: Writer) -> None:
        """The token of what a delegate returned."""
        for source, edge in self.primal.incoming[block]:
            terminator = source.terminator
            if terminator is not None and terminator.kind == "send" and terminator.edges[1] is edge:
                out.emit("getattr", self.exchange, data="out", result=self.witnesses[block.params[0]])

    def _statement(self, statement: Statement, out: Writer, record: list[Operand], guarded: bool) -> None:
        if statement.op in _DELEGATING:
            operands = [*statement.operands, self.exchange]
            statement = Statement(statement.op, operands, statement.result, statement.data, statement.position)
        super()._statement(statement, out, record, guarded)

    def _yield(self, statement: Statement, out: Writer) -> None:
        """Leave the token of what is yielded, and take that of what is sent; a delegate has done so itself."""
        value, result = statement.operands[0], statement.result
        if _is_delegated(statement):
            out.block.statements.append(statement)
            return
        out.emit("setattr", self.exchange, self.witness(value), data="out")
        out.continue_guarded()
        out.block.statements.append(Statement("yield", [value], result, statement.data, statement.position))
        if result is not None and result in self.witnesses:
            out.continue_unguarded()
            out.emit("getattr", self.exchange, data="sent", result=self.witnesses[result])

    def _terminate(self, block: Block, terminator: Terminator, out: Writer) -> None:
        if not self.suspends or terminator.kind != "return":
            super()._terminate(block, terminator, out)
            return
        value = terminator.operands[0]
        out.emit("setattr", self.exchange, self.witness(value), data="out")
        out.block.terminator = Terminator("return", [value], [], terminator.position)


def _is_delegated(statement: Statement) -> bool:
    """Whether a statement yields what another generator does, whose delegate has left the token."""
    return statement.op == "yield" and statement.data is not None and statement.data[1] & 3 >= 2
