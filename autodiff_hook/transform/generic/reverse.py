"""The reverse pass: the control-flow graph turned round, cotangents flowing against the values.

Signature of the result: ``reverse(sweep, tape, cotangent) -> tuple of the parameters' cotangents``. The
tape is read from its end without being changed. The reverse of a generator is a generator that runs
backwards, ``reverse(sweep, tape, cotangent, finished)``: it is sent the cotangent of what each ``yield``
yielded, the last one first, and returns the tuple at its end. Cotangents are the keys of the SSA builder, so joins of
the reversed graph get their block arguments by themselves; a cotangent that nothing contributed to is
None.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Signature, Statement, Terminator, Variable
from autodiff_hook.transform.generic.forward import NONE, Primal, Runtime


def reverse_pass(primal: Primal, runtime: Runtime) -> IR:
    """The reverse program of ``primal``."""
    return _Reverse(primal, runtime).build()


class _Reverse:
    def __init__(self, primal: Primal, runtime: Runtime) -> None:
        self.primal = primal
        self.runtime = {name: Constant(function) for name, function in runtime.items()}
        self.builder = Builder(default=lambda key: NONE)
        self.sweep, self.tape, self.seed = Variable("sweep"), Variable("tape"), Variable("seed")
        self.finished = Variable("finished")
        self.starts: dict[Block, Block] = {}
        self.tails: dict[Block, Block] = {}
        self.pending: list[Block] = []
        self.done: set[Block] = set()
        self.pop: Operand = NONE

    def build(self) -> IR:
        builder, ir = self.builder, self.primal.ir
        entry = builder.block(sealed=True)
        entry.params = [self.sweep, self.tape, self.seed, *([self.finished] if ir.kind == "generator" else [])]
        if self.primal.exit is None and not self.primal.yields:
            entry.terminator = Terminator("return", [self._parameters(entry)])
        else:
            stack = builder.emit(entry, "call", Constant(list), self.tape, data=())
            self.pop = builder.emit(entry, "getattr", stack, data="pop")
            self._begin(entry, stack)
            while self.pending:
                self._block(self.pending.pop())
            builder.seal_rest()
        names = ("sweep", "tape", "seed", "finished")[: len(entry.params)]
        signature = Signature(names, len(names), len(names))
        return IR(ir.name, signature, ir.qualname, ir.filename, ir.first_line, ir.kind, (), builder.finish())

    def _begin(self, entry: Block, stack: Operand) -> None:
        """Go to where the forward pass ended: the exit, or the ``yield`` at which a generator stopped."""
        builder, out = self.builder, entry
        if self.primal.yields:
            stopped, ended = builder.block(), builder.block()
            test = builder.emit(out, "truth", self.finished)
            out.terminator = Terminator("branch", [test], [builder.edge(out, b) for b in (ended, stopped)])
            top = builder.emit(stopped, "getitem", stack, Constant(-1))
            index = builder.emit(stopped, "getitem", top, Constant(0))
            self._dispatch(index, stopped, [partial(self._resume, b) for b in self.primal.yields])
            out = ended
        if self.primal.exit is None:
            out.terminator = Terminator("return", [self._parameters(out)])
            return
        value = self.primal.exit.params[0]
        if value in self.primal.live:
            builder.write(("cotangent", value), out, self.seed)
        self._jump(out, self._start(self.primal.exit))

    def _resume(self, block: Block, out: Block) -> None:
        self._jump(out, self._start(block))

    def _dispatch(self, index: Operand, out: Block, branches: list[Callable[[Block], None]]) -> None:
        """Go on with the branch that ``index`` names."""
        for number, branch in enumerate(branches[:-1]):
            taken, rest = self.builder.block(), self.builder.block()
            test = self.builder.emit(out, "compare", index, Constant(number), data="==")
            test = self.builder.emit(out, "truth", test)
            out.terminator = Terminator("branch", [test], [self.builder.edge(out, b) for b in (taken, rest)])
            branch(taken)
            out = rest
        branches[-1](out)

    def _start(self, block: Block) -> Block:
        """Where the reverse of a block that has been left over a normal edge begins."""
        if block not in self.starts:
            self.starts[block] = self.builder.block()
            self.pending.append(block)
        return self.starts[block]

    def _tail(self, block: Block) -> Block:
        """Where the reverse of a block begins whose statement has raised."""
        if not block.statements:
            return self._start(block)
        self._start(block)
        if block not in self.tails:
            self.tails[block] = self.builder.block()
        return self.tails[block]

    def _jump(self, source: Block, target: Block) -> None:
        source.terminator = Terminator("jump", [], [self.builder.edge(source, target)])

    def _block(self, block: Block) -> None:
        out, primal = self.starts[block], self.primal
        record: Operand = NONE
        if primal.records(block):
            record = self.builder.emit(out, "call", self.pop, data=())
        index = self._pullback_index(block)
        for statement in reversed(block.statements):
            if statement.op == "yield":
                self._yield(statement, out)
            elif primal.tracked(statement):
                index -= 1
                self._tracked(statement, out, record, index)
            else:
                self._structural(statement, out)
        if primal.is_landing(block):
            item = block.params[0]
            self._pull(out, record, index - 1, self._take(item, out), 1, None)
        if block.handler is not None and block.statements:
            tail = self._tail(block)
            self._jump(out, tail)
            out = tail
        self._enter(block, out, record)

    def _yield(self, statement: Statement, out: Block) -> None:
        """Give the cotangent of what was sent, wait for that of what was yielded."""
        sent = self._take(statement.result, out)
        given = self.builder.emit(out, "yield", sent, position=statement.position)
        self._add(statement.operands[0], given, out, statement)

    def _pullback_index(self, block: Block) -> int:
        primal = self.primal
        return primal.is_join(block) + primal.is_landing(block) + sum(map(primal.tracked, block.statements))

    def _take(self, variable: Variable | None, out: Block) -> Operand:
        """The cotangent of a variable where its definition is reached; it starts again from zero."""
        if variable is None or variable not in self.primal.live:
            return NONE
        value = self.builder.read(("cotangent", variable), out)
        self.builder.write(("cotangent", variable), out, NONE)
        return value

    def _add(self, operand: Operand, contribution: Operand, out: Block, statement: Statement | None = None) -> None:
        if not self.primal.is_live(operand) or contribution is NONE:
            return
        key = ("cotangent", operand)
        present = self.builder.read(key, out)
        if not (isinstance(present, Constant) and present.value is None):
            position = statement.position if statement is not None else None
            contribution = self.builder.emit(
                out, "call", self.runtime["accumulate"], present, contribution, data=(), position=position
            )
        self.builder.write(key, out, contribution)

    def _pull(
        self, out: Block, record: Operand, index: int, cotangent: Operand, count: int, statement: Statement | None
    ) -> Variable:
        position = statement.position if statement is not None else None
        pullback = self.builder.emit(out, "getitem", record, Constant(index))
        return self.builder.emit(
            out,
            "call",
            self.runtime["pull"],
            self.sweep,
            pullback,
            cotangent,
            Constant(count),
            data=(),
            position=position,
        )

    def _tracked(self, statement: Statement, out: Block, record: Operand, index: int) -> None:
        cotangent = self._result_cotangent(statement, out)
        operands = statement.operands
        pulled = self._pull(out, record, index, cotangent, len(operands), statement)
        live = [i for i, x in enumerate(operands) if self.primal.is_live(x)]
        if len(live) > 1:
            parts = self.builder.emit(out, "unpack", pulled, data=(len(operands), None))
            for i in live:
                self._add(operands[i], self.builder.emit(out, "project", parts, data=i), out, statement)
        for i in live if len(live) == 1 else ():
            self._add(operands[i], self.builder.emit(out, "getitem", pulled, Constant(i)), out, statement)

    def _result_cotangent(self, statement: Statement, out: Block) -> Operand:
        """The cotangent of the result; that of a tuple that is only taken apart is put together here."""
        whole = self._take(statement.result, out)
        if statement.op != "unpack" and statement.op != "enter":
            return whole
        before, after = statement.data if statement.op == "unpack" else (2, None)
        parts = []
        for i in range(before if after is None else before + 1 + after):
            key = ("part", statement.result, i)
            parts.append(self.builder.read(key, out))
            self.builder.write(key, out, NONE)
        if all(isinstance(p, Constant) and p.value is None for p in parts):
            return NONE
        return self.builder.emit(out, "call", self.runtime["tuple_cotangent"], *parts, data=())

    def _structural(self, statement: Statement, out: Block) -> None:
        cotangent = self._take(statement.result, out)
        if cotangent is NONE:
            return
        if statement.op == "check":
            self._add(statement.operands[0], cotangent, out, statement)
        elif statement.op == "project":
            key = ("part", statement.operands[0], statement.data)
            self.builder.write(key, out, cotangent)
        elif statement.op == "build_tuple":
            for i, operand in enumerate(statement.operands):
                if self.primal.is_live(operand):
                    part = self.builder.emit(out, "call", self.runtime["part"], cotangent, Constant(i), data=())
                    self._add(operand, part, out, statement)

    def _enter(self, block: Block, out: Block, record: Operand) -> None:
        """Go on to the block that this one was entered from."""
        incoming = self.primal.incoming[block]
        if block is self.primal.ir.entry:
            out.terminator = Terminator("return", [self._parameters(out)])
            return
        if len(incoming) == 1:
            self._cross(block, *incoming[0], out)
            return
        came_from = self.builder.emit(out, "getitem", record, Constant(0))
        self._dispatch(came_from, out, [partial(self._cross, block, source, edge) for source, edge in incoming])

    def _cross(self, block: Block, source: Block, edge: Edge, out: Block) -> None:
        """Move the cotangents of parameters to the arguments that were bound to them, all at once."""
        params = block.params[len(block.params) - len(edge.args) :]
        taken = [(arg, self._take(param, out)) for param, arg in zip(params, edge.args)]
        for received in block.params[: len(block.params) - len(edge.args)]:
            self._take(received, out)
        for arg, cotangent in taken:
            self._add(arg, cotangent, out)
        self._jump(out, self._tail(source) if edge is source.handler else self._start(source))

    def _parameters(self, out: Block) -> Operand:
        params = self.primal.ir.entry.params[: len(self.primal.ir.signature.names)]
        return self.builder.emit(out, "build_tuple", *(self.builder.read(("cotangent", p), out) for p in params))
