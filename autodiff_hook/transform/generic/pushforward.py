"""The pushforward: the primal program with a tangent beside each value that may carry one.

Signature of the result: ``pushforward(ctx, tangents, *parameters) -> (value, tangent)``. The forward
pass keeps a witness beside each live value; here what is kept is the tangent (None: zero), and nothing
is recorded. The result is an ordinary program, which may be differentiated in its turn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Statement, Variable
from autodiff_hook.transform.generic.forward import ForwardPass, Primal, Runtime, Writer


def pushforward_pass(primal: Primal, runtime: Runtime) -> IR:
    """The pushforward program of ``primal``."""
    return Pushforward(primal, runtime).build()


class Pushforward(ForwardPass):
    shared_witness: ClassVar[tuple[str, ...]] = ("check", "yield")
    leading: tuple[str, ...] = (".pushing", ".tangents")

    def build(self) -> IR:
        """The program; names of parameters stay different when a pushforward is pushed forward in its turn."""
        ir = super().build()
        count = len(self.leading)
        leading, rest = ir.signature.names[:count], ir.signature.names[count:]
        while not set(leading).isdisjoint(rest):
            leading = tuple([f".{name}" for name in leading])
        ir.signature = replace(ir.signature, names=(*leading, *rest))
        return ir

    def prologue(self, block: Block, out: Writer) -> None:
        out.block.params = [self.ctx, self.given, *block.params]
        self.take_given(block, out)

    def _statement(self, statement: Statement, out: Writer, record: list[Operand], guarded: bool) -> None:
        if statement.op == "exhausted":
            return
        super()._statement(statement, out, record, guarded)

    def came_from(self, block: Block) -> list[Variable]:
        return []

    def arrival(self, edge: Edge) -> list[Operand]:
        return []

    def record(self, block: Block, record: list[Operand], out: Writer) -> None:
        """Nothing is recorded."""

    def mark_suspension(self, statement: Statement, out: Writer) -> None:
        """Nothing is recorded."""

    def structural(self, statement: Statement, out: Writer) -> None:
        result = statement.result
        assert result is not None
        if statement.op == "build_tuple":
            tangents = [self.witness(x) for x in statement.operands]
            function, args = self.runtime["tuple_tangent"], tangents
        else:
            function, args = self.runtime["part"], [self.witness(statement.operands[0]), Constant(statement.data)]
        out.emit("call", Constant(function), *args, data=(), result=self.witnesses[result])
