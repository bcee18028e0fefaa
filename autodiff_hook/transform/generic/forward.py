"""The forward pass: the primal program, with witnesses, leaving pullbacks on a tape.

Signature of the result: ``forward(ctx, witnesses, tape, *parameters) -> (value, witness)``. A block
appends at most one record to the tape, at its end: a tuple of the index of the edge it was entered by
(if it has several) and of the pullbacks of its tracked statements. The forward pass of a generator
yields pairs of value and witness; before each it records which ``yield`` this is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from autodiff_hook.ir.types import (
    IR,
    Block,
    Constant,
    Edge,
    Operand,
    Position,
    Signature,
    Statement,
    Terminator,
    Variable,
)
from autodiff_hook.transform.generic.tracking import BOOLEANS, OBSERVED, edges_with_received, is_tracked, live_variables

Runtime = Mapping[str, Callable[..., object]]

NONE = Constant(None)


@dataclass
class Primal:
    """A normalised function with what both passes need to know of it."""

    ir: IR
    exit: Block | None
    constant_global: Callable[[str], bool]
    observes: bool = True
    carried: bool = False
    booleans: set[Variable] = field(init=False)
    own_globals: set[Variable] = field(init=False)
    live: set[Variable] = field(init=False)
    incoming: dict[Block, list[tuple[Block, Edge]]] = field(init=False)
    yields: list[Block] = field(init=False)
    escaping: set[Variable] = field(init=False)

    def __post_init__(self) -> None:
        self.booleans = {
            s.result for b in self.ir.blocks for s in b.statements if s.op in BOOLEANS and s.result is not None
        }
        self.own_globals = {
            s.result
            for b in self.ir.blocks
            for s in b.statements
            if s.op == "global" and s.data == "globals" and s.result is not None and self.constant_global("globals")
        }
        self.live = live_variables(self.ir, self.tracked, self.carried)
        self.incoming = {block: [] for block in self.ir.blocks}
        for block in self.ir.blocks:
            for edge, _ in edges_with_received(block):
                self.incoming[edge.target].append((block, edge))
        self.yields = [b for b in self.ir.blocks if b.statements and b.statements[-1].op == "yield"]
        self.escaping = _escaping_iterators(self.ir)

    def tracked(self, statement: Statement) -> bool:
        """Whether ``statement`` leaves a pullback."""
        if statement.op == "call" and self._calls_globals(statement):
            return False
        if statement.op == "exhausted":
            return self.observes
        if statement.op in OBSERVED:
            return self.observes and not all(isinstance(x, Constant) or x in self.booleans for x in statement.operands)
        return is_tracked(statement, self.constant_global)

    def _calls_globals(self, statement: Statement) -> bool:
        """Whether this is ``globals()``, which is about the code that it stands in."""
        function = statement.operands[0]
        return function in self.own_globals or isinstance(function, Constant) and function.value is globals

    def is_live(self, operand: Operand) -> bool:
        """Whether ``operand`` may carry a derivative."""
        return isinstance(operand, Variable) and operand in self.live

    def is_join(self, block: Block) -> bool:
        """Whether the way into ``block`` has to be recorded."""
        return len(self.incoming[block]) > 1

    def is_landing(self, block: Block) -> bool:
        """Whether ``block`` receives the item of a ``next``."""
        return any(
            source.terminator is not None and source.terminator.kind == "next" and source.terminator.edges[0] is edge
            for source, edge in self.incoming[block]
        )

    def records(self, block: Block) -> bool:
        """Whether ``block`` appends to the tape."""
        return (
            self.is_join(block)
            or self.is_landing(block)
            or block in self.yields
            or any(map(self.tracked, block.statements))
        )


def _escaping_iterators(ir: IR) -> set[Variable]:
    """The iterators that something else than a ``for`` uses."""
    used: set[Operand] = set()
    for block in ir.blocks:
        for statement in block.statements:
            used.update(statement.operands if statement.op != "exhausted" else ())
        for edge in block.edges():
            used.update(edge.args)
        if block.terminator is not None and block.terminator.kind != "next":
            used.update(block.terminator.operands)
    return {
        s.result
        for b in ir.blocks
        for s in b.statements
        if s.op == "get_iter" and s.result is not None and s.result in used
    }


def forward_pass(primal: Primal, runtime: Runtime) -> IR:
    """The forward program of ``primal``."""
    return ForwardPass(primal, runtime).build()


class ForwardPass:
    """Copies the primal block by block, keeping a witness beside each live value."""

    shared_witness: ClassVar[tuple[str, ...]] = ("check", "project", "yield")
    leading: tuple[str, ...] = (".ctx", ".witnesses", ".tape")

    def __init__(self, primal: Primal, runtime: Runtime) -> None:
        self.primal = primal
        self.runtime = runtime
        self.ctx, self.given, self.push = Variable("ctx"), Variable("witnesses"), Variable("push")
        self.tape = Variable("tape")
        self.witnesses: dict[Variable, Variable] = {}
        self.same: dict[Variable, Operand] = {}
        self.heads: dict[Block, Block] = {block: Block() for block in primal.ir.blocks}
        self.blocks: list[Block] = []

    def build(self) -> IR:
        ir = self.primal.ir
        for block in ir.blocks:
            for param in block.params:
                if param in self.primal.live:
                    self.witnesses[param] = Variable(f"w_{param.name or ''}")
        for block in ir.blocks:
            self._name_witnesses(block)
        for block in ir.blocks:
            self._block(block)
        names = ir.signature.names
        count = len(self.leading) + len(names)
        signature = Signature((*self.leading, *names), count, count)
        return IR(ir.name, signature, ir.qualname, ir.filename, ir.first_line, ir.kind, ir.free_names, self.blocks)

    def _name_witnesses(self, block: Block) -> None:
        for statement in block.statements:
            if statement.result is not None and statement.result in self.primal.live:
                if statement.op in self.shared_witness:
                    self.same[statement.result] = statement.operands[0]
                else:
                    self.witnesses[statement.result] = Variable(f"w_{statement.result.name or ''}")

    def witness(self, operand: Operand) -> Operand:
        """What tells at run time whether ``operand`` carries a derivative."""
        while isinstance(operand, Variable) and operand in self.same:
            operand = self.same[operand]
        return self.witnesses.get(operand, NONE) if isinstance(operand, Variable) else NONE

    def _block(self, block: Block) -> None:
        primal, head = self.primal, self.heads[block]
        out = Writer(head, self.blocks)
        head.params = list(block.params)
        record: list[Operand] = []
        if block is primal.ir.entry:
            self.prologue(block, out)
        else:
            if primal.is_landing(block):
                record.append(self._receive(block, out))
            else:
                self.arrive(block, out)
            came_from = self.came_from(block)
            head.params += came_from
            record[:0] = came_from
            head.params += [w for p in self._bound_params(block) if (w := self.witnesses.get(p)) is not None]
        head.handler = self._edge(block, block.handler) if block.handler is not None else None
        for statement in block.statements:
            self._statement(statement, out, record, guarded=block.handler is not None)
        self.record(block, record, out)
        assert block.terminator is not None
        self._terminate(block, block.terminator, out)

    def _bound_params(self, block: Block) -> list[Variable]:
        """The parameters that edges bind, without those that the block receives by itself."""
        _, edge = self.primal.incoming[block][0]
        return block.params[len(block.params) - len(edge.args) :]

    def prologue(self, block: Block, out: Writer) -> None:
        """Begin the function: its own parameters and those of the pass."""
        out.block.params = [self.ctx, self.given, self.tape, *block.params]
        out.emit("getattr", self.tape, data="append", result=self.push)
        self.take_given(block, out)

    def came_from(self, block: Block) -> list[Variable]:
        """The parameter that tells over which edge ``block`` was entered, if there are several."""
        return [Variable("came_from")] if self.primal.is_join(block) else []

    def arrive(self, block: Block, out: Writer) -> None:
        """Begin a block that may have received what an iterator was sent for."""

    def arrival(self, edge: Edge) -> list[Operand]:
        """What ``edge`` binds to that parameter."""
        incoming = self.primal.incoming[edge.target]
        return [Constant(next(i for i, (_, e) in enumerate(incoming) if e is edge))] if len(incoming) > 1 else []

    def record(self, block: Block, record: list[Operand], out: Writer) -> None:
        """Leave on the tape what the reverse of ``block`` needs."""
        if record and block not in self.primal.yields:
            out.call(self.push, out.emit("build_tuple", *record))

    def mark_suspension(self, statement: Statement, out: Writer) -> None:
        """Leave on the tape at which ``yield`` a generator stops."""
        index = next(i for i, b in enumerate(self.primal.yields) if b.statements[-1] is statement)
        out.call(self.push, Constant((index,)))

    def structural(self, statement: Statement, out: Writer) -> None:
        """The witness of a new tuple: that of some live element."""
        assert statement.result is not None
        live = [w for x in statement.operands if (w := self.witness(x)) is not NONE]
        out.emit("call", Constant(self.runtime["either"]), *live, data=(), result=self.witnesses[statement.result])

    def take_given(self, block: Block, out: Writer) -> None:
        """Take the witnesses of the parameters apart."""
        for index, param in enumerate(block.params[: len(self.primal.ir.signature.names)]):
            out.emit("project", self.given, data=index, result=self.witnesses[param])

    def _receive(self, block: Block, out: Writer) -> Operand:
        """Take the pair that the runtime's iterator yields apart; returns the pullback of this step."""
        item = block.params[0]
        pair, witness = Variable(), self.witnesses[item]
        out.block.params[0] = pair
        out.unpair(pair, item, witness)
        return witness

    def _statement(self, statement: Statement, out: Writer, record: list[Operand], guarded: bool) -> None:
        out.position = statement.position
        if statement.op == "yield":
            self._yield(statement, out)
            return
        if not self.primal.tracked(statement):
            self._untracked(statement, out)
            return
        operands, data = statement.operands, Constant(statement.data)
        if statement.op == "global":
            operands = [out.emit("global", data=statement.data)]
            if guarded:
                out.continue_unguarded()
                guarded = False
        if statement.op in ("global", "store_global"):
            operands = [*operands, out.call(Constant(globals))]
            if guarded:
                out.continue_guarded()
        if statement.op == "make_function":
            operands, data = [out.emit(statement.op, *operands, data=statement.data), operands[0]], NONE
        witnesses = [self.witness(x) for x in statement.operands]
        given: Operand = (
            Constant((None,) * len(operands))
            if all(w is NONE for w in witnesses)
            else out.emit("build_tuple", *witnesses)
        )
        function = self.runtime["iter" if statement.result in self.primal.escaping else statement.op]
        pair = out.call(Constant(function), self.ctx, given, data, *operands)
        if guarded:
            out.continue_unguarded()
        result = statement.result or Variable()
        witness = self.witnesses.get(result) or Variable()
        if statement.op == "get_iter" and result not in self.primal.escaping:
            # A ``for`` over anything but an iterator would crash the interpreter.
            pairs = Variable()
            out.unpair(pair, pairs, witness)
            out.emit("get_iter", pairs, result=result)
        else:
            out.unpair(pair, result, witness)
        record.append(witness)

    def _yield(self, statement: Statement, out: Writer) -> None:
        """Record where the generator stops, then yield value and witness."""
        self.mark_suspension(statement, out)
        value = statement.operands[0]
        pair = out.emit("build_tuple", value, self.witness(value))
        out.continue_guarded()
        out.block.statements.append(Statement("yield", [pair], statement.result, statement.data, statement.position))

    def _untracked(self, statement: Statement, out: Writer) -> None:
        if statement.op == "exhausted":
            return
        out.block.statements.append(
            Statement(statement.op, list(statement.operands), statement.result, statement.data, statement.position)
        )
        result = statement.result
        if result is None or result not in self.primal.live:
            return
        if statement.op not in self.shared_witness:
            self.structural(statement, out)

    def _edge(self, source: Block, edge: Edge) -> Edge:
        target = edge.target
        args: list[Operand] = [*edge.args, *self.arrival(edge)]
        params = target.params[len(target.params) - len(edge.args) :]
        args += [self.witness(arg) for p, arg in zip(params, edge.args) if p in self.primal.live]
        return Edge(self.heads[target], args)

    def _terminate(self, block: Block, terminator: Terminator, out: Writer) -> None:
        out.position = terminator.position
        operands = list(terminator.operands)
        if terminator.kind == "return":
            operands = [out.emit("build_tuple", operands[0], self.witness(operands[0]))]
        out.block.terminator = Terminator(
            terminator.kind, operands, [self._edge(block, e) for e in terminator.edges], terminator.position
        )


class Writer:
    """Appends to a block, and to the unguarded block that follows it if need be."""

    def __init__(self, block: Block, blocks: list[Block]) -> None:
        self.block = block
        self.blocks = blocks
        self.position: Position | None = None
        blocks.append(block)

    def emit(self, op: str, *operands: Operand, data: object = None, result: Variable | None = None) -> Variable:
        result = result or Variable()
        self.block.statements.append(Statement(op, list(operands), result, data, self.position))
        return result

    def call(self, function: Operand, *args: Operand) -> Variable:
        return self.emit("call", function, *args, data=())

    def unpair(self, pair: Operand, first: Variable, second: Variable) -> None:
        both = self.emit("unpack", pair, data=(2, None))
        self.emit("project", both, data=0, result=first)
        self.emit("project", both, data=1, result=second)

    def continue_guarded(self) -> None:
        """Go on in a new block that has the exception edge; what came before cannot raise."""
        handler, self.block.handler = self.block.handler, None
        self.continue_unguarded()
        self.block.handler = handler

    def continue_unguarded(self) -> None:
        """Go on in a new block without exception edge."""
        rest = Block()
        self.block.terminator = Terminator("jump", [], [Edge(rest)], self.position)
        self.blocks.append(rest)
        self.block = rest
