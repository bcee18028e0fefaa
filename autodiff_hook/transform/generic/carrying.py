"""The carried program: the primal with a token beside each value that may have one.

Signature of the result: ``carried(alg, tokens, *parameters) -> (value, token)``. That of a generator or coroutine
is ``carried(alg, tokens, exchange, *parameters)``: it yields, is sent and returns plain values, so that anybody may
hold it; their tokens go through ``exchange``. Its control flow is that of the primal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from autodiff_hook.ir.analysis import statements_of
from autodiff_hook.ir.types import (
    IR,
    TERMINATORS_THAT_RAISE,
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
from autodiff_hook.transform.generic.primal import STRUCTURAL, Primal, is_delegated, received_edge
from autodiff_hook.transform.generic.runs import Run

Runtime = Mapping[str, Callable[..., object]]

_NONE: Final = Constant(None)
_LOADING: Final = ("global", "import_from")
"""What is done natively, and then noted."""
_WITH_GLOBALS: Final = ("global", "store_global", "name_get")
_DELEGATING: Final = ("yield_from_iter", "awaitable")


def carrying_pass(primal: Primal, runtime: Runtime) -> IR:
    """The carried program of ``primal``."""
    return _Carrying(primal, runtime).build()


class _Carrying:
    """Copies the primal block by block, keeping a token beside each live value."""

    def __init__(self, primal: Primal, runtime: Runtime) -> None:
        self.primal = primal
        self.runtime = runtime
        self.alg, self.given, self.exchange = Variable("alg"), Variable("tokens"), Variable("exchange")
        self.suspends = primal.ir.kind != "function"
        self.checked = {s.result: s.operands[0] for s in statements_of(primal.ir.blocks) if s.op == "check"}
        self.tokens = {v: Variable(f"token_{v.name or ''}") for v in primal.live if v not in self.checked}
        self.tracked = set(primal.tracked)
        self.runs = {run.statements[0]: run for run in primal.runs}
        self.heads = {block: Block() for block in primal.ir.blocks}
        self.blocks: list[Block] = []

    def build(self) -> IR:
        ir = self.primal.ir
        for block in ir.blocks:
            self._block(block)
        leading = (".alg", ".tokens", *((".exchange",) if self.suspends else ()))
        names = (*leading, *ir.signature.names)
        signature = Signature(names, len(names), len(names))
        return IR(ir.name, signature, ir.qualname, ir.filename, ir.first_line, ir.kind, ir.free_names, self.blocks)

    def _token(self, operand: Operand) -> Operand:
        while isinstance(operand, Variable) and operand in self.checked:
            operand = self.checked[operand]
        return self.tokens.get(operand, _NONE) if isinstance(operand, Variable) else _NONE

    def _block(self, block: Block) -> None:
        head, terminator = self.heads[block], block.terminator
        out = _Writer(head, self.blocks)
        if block is self.primal.ir.entry:
            self._enter(block, out)
        else:
            head.params = [*block.params, *(self.tokens[p] for p in block.params if p in self.tokens)]
        handler = None if block.handler is None else self._edge(block.handler)
        # Of what stands in a guarded block only the last can raise.
        acts = terminator.kind in TERMINATORS_THAT_RAISE
        passed = 0
        for index, statement in enumerate(block.statements, 1):
            run = self.runs.get(statement)
            if run is not None:
                passed = index + len(run.statements) - 1
                self._run(run, out)
            if index > passed:
                self._statement(statement, out, None if acts or index < len(block.statements) else handler)
        out.position = terminator.position
        if terminator.kind == "return":
            self._return(terminator, out)
            return
        if acts:
            out.guard(handler)
        edges = [
            self._land(edge, terminator) if edge is received_edge(block) else self._edge(edge)
            for edge in terminator.edges
        ]
        out.block.terminator = Terminator(terminator.kind, list(terminator.operands), edges, terminator.position)

    def _enter(self, block: Block, out: _Writer) -> None:
        """Begin the function: its own parameters and those of the engine."""
        out.block.params = [self.alg, self.given, *([self.exchange] if self.suspends else []), *block.params]
        for index, param in enumerate(block.params[: len(self.primal.ir.signature.names)]):
            out.emit("project", self.given, data=index, result=self.tokens[param])

    def _edge(self, edge: Edge) -> Edge:
        return Edge(self.heads[edge.target], [*edge.args, *self._bound(edge)])

    def _bound(self, edge: Edge) -> list[Operand]:
        """The tokens of the arguments whose parameters have one."""
        return [self._token(arg) for param, arg in edge.bound() if param in self.tokens]

    def _land(self, edge: Edge, terminator: Terminator) -> Edge:
        """A block of its own for what is received, where its token is found."""
        landing, received, item, token = Block(), Variable(), Variable(), Variable()
        out = _Writer(landing, self.blocks)
        out.position = terminator.position
        landing.params = [received]
        if terminator.kind == "next":
            out.unpair(received, item, token)
        else:
            item = received
            out.emit("getattr", self.exchange, data="out", result=token)
        target = Edge(self.heads[edge.target], [item, *edge.args, token, *self._bound(edge)])
        landing.terminator = Terminator("jump", [], [target], terminator.position)
        return Edge(landing)

    def _run(self, run: Run, out: _Writer) -> None:
        """Evaluate a run at once, or if that gives None, its statements one by one."""
        slow, fast, join, failed = Block(), Block(), Block(), Block([Variable(), Variable()])
        out.position = run.statements[0].position
        loaded: list[Operand] = []
        for statement in run.globals:
            with out.guarded(Edge(failed)):
                loaded.append(out.emit("global", data=statement.data))
        if any(statement in self.tracked for statement in run.globals):
            loaded.append(out.call(globals))
        moving = [x for x in run.inputs if self._token(x) is not _NONE]
        results = [x for x in run.results if x in self.tokens]
        function: Any = self.runtime["fused"](run, self.tracked, moving, results)
        found = out.call(function, self.alg, *run.inputs, *loaded, *map(self._token, moving))
        missing = out.emit("is", found, _NONE)
        out.block.terminator = Terminator("branch", [missing], [Edge(slow), Edge(fast)], out.position)
        join.params = [*run.results, *(self.tokens[x] for x in run.results if x in self.tokens)]
        self._take(found, fast, join, out.position)
        if loaded:
            failed.terminator = Terminator("jump", [], [Edge(slow)], out.position)
            self.blocks.append(failed)
        self._one_by_one(run, slow, join)
        self.blocks.append(join)
        out.block = join

    def _take(self, found: Variable, fast: Block, join: Block, position: Position | None) -> None:
        """What a run gave: values, then tokens."""
        out = _Writer(fast, self.blocks)
        out.position = position
        both = out.emit("unpack", found, data=(len(join.params), None))
        parts: list[Operand] = [out.emit("project", both, data=index) for index in range(len(join.params))]
        fast.terminator = Terminator("jump", [], [Edge(join, parts)], position)

    def _one_by_one(self, run: Run, slow: Block, join: Block) -> None:
        out = _Writer(slow, self.blocks)
        renamed: dict[Operand, Operand] = {}
        for statement in run.statements:
            operands = [renamed.get(x, x) for x in statement.operands]
            result = statement.result
            if result in run.results:
                assert result is not None
                renamed[result] = result = Variable()
                if statement.result in self.tokens:
                    self.tokens[result] = Variable()
            copy = Statement(statement.op, operands, result, statement.data, statement.position)
            if statement in self.tracked:
                self.tracked.add(copy)
            self._statement(copy, out, None)
        values = [renamed[x] for x in run.results]
        tokens = [self._token(renamed[x]) for x in run.results if x in self.tokens]
        out.block.terminator = Terminator("jump", [], [Edge(join, [*values, *tokens])], out.position)

    def _statement(self, statement: Statement, out: _Writer, handler: Edge | None) -> None:
        out.position = statement.position
        if statement in self.tracked:
            self._tracked(statement, out, handler)
        elif statement.op == "yield" and not is_delegated(statement):
            self._yield(statement, out, handler)
        else:
            if statement.op == "pop_exc":
                out.call(self.runtime["handled"], self.alg)
            elif statement.op == "eg_match":
                out.call(self.runtime["group_matched"], self.alg, *statement.operands)
            with out.guarded(handler):
                out.copy(statement)
                if statement.op == "pop_exc" or statement.op == "forget" and statement.data:
                    out.call(self.runtime["forgotten"], self.alg)
            if statement.op in STRUCTURAL and statement.result in self.tokens:
                self._structural(statement, self.tokens[statement.result], out)

    def _tracked(self, statement: Statement, out: _Writer, handler: Edge | None) -> None:
        """Hand the statement to the runtime, which gives value and token."""
        op, operands, data = statement.op, statement.operands, Constant(statement.data)
        result = statement.result or Variable()
        if op in _LOADING:
            with out.guarded(handler):
                operands = [out.emit(op, *operands, data=statement.data), *operands]
            handler = None
        if op in _WITH_GLOBALS:
            operands = [*operands, out.call(globals)]
        elif op == "make_function":
            operands, data = [out.emit(op, *operands, data=statement.data), operands[0]], _NONE
        elif op in _DELEGATING:
            operands = [*operands, self.exchange]
        looped = op == "get_iter" and result not in self.primal.escaping
        given = self._together([self._token(x) for x in statement.operands], len(operands), out)
        function = self.runtime["iter" if op == "get_iter" and not looped else op]
        with out.guarded(handler):
            pair = out.call(function, self.alg, given, data, *operands)
        token = self.tokens.get(result) or Variable()
        if looped:
            # A ``for`` over anything but an iterator would crash the interpreter.
            pairs = Variable()
            out.unpair(pair, pairs, token)
            out.emit("get_iter", pairs, result=result)
        else:
            out.unpair(pair, result, token)

    def _together(self, tokens: list[Operand], count: int, out: _Writer) -> Operand:
        if all(token is _NONE for token in tokens):
            return Constant((None,) * count)
        return out.emit("build_tuple", *tokens)

    def _structural(self, statement: Statement, token: Variable, out: _Writer) -> None:
        """Do to tokens what is done to values."""
        tokens = [self._token(x) for x in statement.operands]
        if statement.op == "build_tuple":
            out.call(self.runtime["tuple_token"], *tokens, result=token)
        else:
            out.call(self.runtime["part"], *tokens, Constant(statement.data), result=token)

    def _yield(self, statement: Statement, out: _Writer, handler: Edge | None) -> None:
        """Leave the token of what is yielded, and take that of what is sent."""
        out.emit("setattr", self.exchange, self._token(statement.operands[0]), data="out")
        with out.guarded(handler):
            out.copy(statement)
        if statement.result in self.tokens:
            out.emit("getattr", self.exchange, data="sent", result=self.tokens[statement.result])

    def _return(self, terminator: Terminator, out: _Writer) -> None:
        value = terminator.operands[0]
        if self.suspends:
            out.emit("setattr", self.exchange, self._token(value), data="out")
        else:
            value = out.emit("build_tuple", value, self._token(value))
        out.block.terminator = Terminator("return", [value], [], terminator.position)


class _Writer:
    """Appends to a block, and to those that follow it where an exception edge begins or ends."""

    def __init__(self, block: Block, blocks: list[Block]) -> None:
        self.block = block
        self.blocks = blocks
        self.position: Position | None = None
        blocks.append(block)

    def emit(self, op: str, *operands: Operand, data: object = None, result: Variable | None = None) -> Variable:
        result = result or Variable()
        self.block.statements.append(Statement(op, list(operands), result, data, self.position))
        return result

    def copy(self, s: Statement) -> None:
        self.block.statements.append(Statement(s.op, list(s.operands), s.result, s.data, s.position))

    def call(self, function: Callable[..., object], *args: Operand, result: Variable | None = None) -> Variable:
        return self.emit("call", Constant(function), *args, data=(), result=result)

    def unpair(self, pair: Operand, first: Variable, second: Variable) -> None:
        both = self.emit("unpack", pair, data=(2, None))
        self.emit("project", both, data=0, result=first)
        self.emit("project", both, data=1, result=second)

    @contextmanager
    def guarded(self, handler: Edge | None) -> Iterator[None]:
        """What is written within has the exception edge ``handler``, if there is one."""
        self.guard(handler)
        yield
        if handler is not None:
            self._go_on()

    def guard(self, handler: Edge | None) -> None:
        """Go on with the exception edge ``handler``."""
        if handler is not None:
            if self.block.statements:
                self._go_on()
            self.block.handler = handler

    def _go_on(self) -> None:
        rest = Block()
        self.block.terminator = Terminator("jump", [], [Edge(rest)], self.position)
        self.blocks.append(rest)
        self.block = rest
