"""The joint program: the primal, then its adjoint, in one function.

Both are built by one ``Builder``, whose keys are the cotangents of variables and the primal values that the
adjoint reads (residuals). A residual outside loops stays where it is. In a loop, each iteration leaves one
record on a list, at its latch; the adjoint runs over the reversed list. An iteration that leaves the loop in
the middle leaves no record: its adjoint is a copy of its own, which reads what is still there.

A record names all values of the loop at first; ``simplify`` keeps those that the adjoint reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from autodiff_hook.ir.analysis import Loop, dominators
from autodiff_hook.ir.builder import Builder
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
from autodiff_hook.transform.abstract import INT, Abstract, Array, Iterator, List, Number, OwnList, Tuple
from autodiff_hook.transform.bodies import Refused
from autodiff_hook.transform.infer import APPEND, LOAD, PURE, STRUCTURAL, Program, RulePlan
from autodiff_hook.transform.lists import Iteration, iterations
from autodiff_hook.transform.liveness import live_out
from autodiff_hook.transform.prepare import Shape
from autodiff_hook.transform.splice import Use, splice, use_of

NONE = Constant(None)
ZERO = Constant(0.0)
Mode = frozenset[Loop]
"""The loops around a block whose last, partial iteration this is."""


@dataclass(slots=True)
class Joint:
    """A joint program and where its parts are."""

    ir: IR
    types: dict[Variable, Abstract]
    value: Operand


def joint_pass(
    program: Program,
    shape: Shape,
    params: list[Variable],
    needs: set[Variable],
    runtime: Mapping[str, Any],
    split: bool = False,
) -> tuple[Builder, Block, dict[Variable, Operand], Operand]:
    """Build primal and adjoint: the builder, its last block, the cotangents of ``params`` there, the value.

    With ``split`` a statement ``resume`` marks where the program is to be cut; its result is the cotangent.
    """
    return _Joint(program, shape, needs, runtime, split).build(params)


class _Joint:
    def __init__(
        self, program: Program, shape: Shape, needs: set[Variable], runtime: Mapping[str, Any], split: bool
    ) -> None:
        self.split = split
        self.program, self.shape, self.needs, self.runtime = program, shape, needs, runtime
        self.builder = Builder(default=self._default)
        self.forward: dict[Block, Block] = {}
        self.starts: dict[tuple[Block, Mode], Block] = {}
        self.reversals: dict[tuple[Loop, Mode], tuple[Block, Block]] = {}
        self.pending: list[tuple[Block, Mode]] = []
        self.uses: dict[Statement, Use] = {}
        self.lists: dict[Loop, Variable] = {}
        self.came_from: dict[Block, Variable] = {}
        self.loops: dict[Variable, list[Loop]] = {}
        self.spine = _spine(shape)
        self.live = live_out(shape.ir.blocks)
        self.certain: set[Variable] = set()
        self.records: dict[Loop, Statement] = {}
        found = iterations(program, shape.ir.blocks, needs)
        self.landings = {iteration.landing: iteration for iteration in found}
        self.counted = {iteration.start for iteration in found}
        self.indices: dict[Block, Variable] = {}
        self.demands: list[tuple[Statement, int, Any, Block]] = []
        self.last: Block | None = None

    def _default(self, key: Any) -> Operand:
        if key[0] == "c" and isinstance(self._type_at(key[1], key[2]), Number):
            return ZERO
        return NONE

    def _type_at(self, variable: Variable, path: tuple[int, ...]) -> Abstract:
        abstract = self.program.types[variable]
        for index in path:
            abstract = abstract.items[index]  # type: ignore[attr-defined]
        return abstract

    def build(self, params: list[Variable]) -> tuple[Builder, Block, dict[Variable, Operand], Operand]:
        shape, builder = self.shape, self.builder
        for block in shape.ir.blocks:
            self.forward[block] = builder.block()
        self._connect()
        for block in shape.ir.blocks:
            self._forward(block)
        value = shape.exit.params[0]
        start = self.forward[shape.exit]
        self._seed(value, start)
        self._allocate(start)
        self._jump(start, self._start(shape.exit, frozenset()))
        while self.pending:
            self._reverse(*self.pending.pop())
        if self.last is None:
            raise Refused("the adjoint does not come to an end")
        builder.seal_rest()
        found = {p: self._gathered(p, (), self.last) for p in params}
        for statement, place, key, latch in self.demands:
            statement.operands[place] = builder.read(key, latch)
        return builder, self.last, found, value

    # The primal

    def _connect(self) -> None:
        """All edges of the primal; what they bind follows."""
        for block in self.shape.ir.blocks:
            out, terminator = self.forward[block], block.terminator
            assert terminator is not None
            if block is self.shape.exit:
                continue
            edges = [self.builder.edge(out, self.forward[edge.target]) for edge in terminator.edges]
            out.terminator = Terminator(terminator.kind, list(terminator.operands), edges, terminator.position)
        for out in self.forward.values():
            self.builder.seal(out)

    def _forward(self, block: Block) -> None:
        builder, out = self.builder, self.forward[block]
        out.params = list(block.params)
        iteration = self.landings.get(block)
        if iteration is not None:
            self._take_index(iteration, block, out)
        incoming = self.shape.incoming[block]
        loop = self._loop_at(block)
        if len(incoming) > 1 and loop is None:
            tag = self.came_from[block] = Variable("came_from")
            out.params.append(tag)
            self._define(tag, block, out)
        if loop is not None:
            builder.provide(out, partial(self._forgotten, loop))
        for param in block.params:
            self._define(param, block, out)
        for statement in block.statements:
            self._statement(statement, block, out)
        for inner in self.shape.loops:
            if self._entering(inner) is block:
                rs = self.lists[inner] = builder.emit(out, "build_list", name="records")
                self._define(rs, block, out)
        ends = next((loop for loop in self.shape.loops if loop.latches[0] is block), None)
        if ends is not None:
            items = builder.read(("p", self.lists[ends]), out)
            record = self.records[ends] = Statement("record", [items], None, (ends, []))
            out.statements.append(record)
        if block is self.shape.exit:
            return
        assert block.terminator is not None and out.terminator is not None
        for edge, new in zip(block.terminator.edges, out.terminator.edges):
            new.args = [*edge.args, *self._arrival(edge)]

    def _forgotten(self, loop: Loop, key: Any) -> Operand | None:
        """No iteration needs what an earlier one has computed."""
        return NONE if key[0] == "p" and loop in self.loops.get(key[1], ()) else None

    def _loop_at(self, header: Block) -> Loop | None:
        return next((loop for loop in self.shape.loops if loop.header is header), None)

    def _entering(self, loop: Loop) -> Block:
        return next(b for b, _ in self.shape.incoming[loop.header] if b not in loop.body)

    def _define(self, variable: Variable, block: Block, out: Block) -> None:
        """A primal value that the adjoint may ask for."""
        self.builder.write(("p", variable), out, variable)
        self.loops[variable] = self.shape.loops_of[block]
        if block in self.spine:
            self.certain.add(variable)

    def _arrival(self, edge: Edge) -> list[Operand]:
        if edge.target not in self.came_from and (
            len(self.shape.incoming[edge.target]) < 2 or self._loop_at(edge.target) is not None
        ):
            return []
        return [Constant(next(i for i, (_, e) in enumerate(self.shape.incoming[edge.target]) if e is edge))]

    def _statement(self, s: Statement, block: Block, out: Block) -> None:
        plan = self.program.plans.get(s)
        if isinstance(plan, RulePlan) and s.result in self.needs:
            self._rule(s, plan, block, out)
            self._check(s, plan, out)
            return
        if s in self.counted:
            numbered = self.builder.emit(out, "call", Constant(enumerate), s.operands[0], data=(), position=s.position)
            s = Statement("get_iter", [numbered], s.result, None, s.position)
        out.statements.append(Statement(s.op, list(s.operands), s.result, s.data, s.position))
        if s.result is not None:
            self._define(s.result, block, out)
        if isinstance(plan, RulePlan):
            self._check(s, plan, out)

    def _check(self, s: Statement, plan: RulePlan, out: Block) -> None:
        """Look at a result whose type the arguments' types do not say."""
        if plan.checks and s.result is not None:
            self.builder.emit(out, "call", Constant(self.runtime["real"]), s.result, data=(), position=s.position)

    def _rule(self, s: Statement, plan: RulePlan, block: Block, out: Block) -> None:
        assert s.result is not None
        use = use_of(plan, s, self.program)
        self.uses[s] = use
        for inner in use.statements:
            if inner.position is None or use.called is None:
                inner.position = s.position
            out.statements.append(inner)
            if inner.result is not None:
                if inner.result not in self.program.types:
                    self.program.types[inner.result] = Abstract()
                self._define(inner.result, block, out)

    def _take_index(self, iteration: Iteration, block: Block, out: Block) -> None:
        """Take the pair of an index and the item apart."""
        pair, index = Variable("pair"), Variable("index")
        item = block.params[0]
        out.params[0] = pair
        parts = self.builder.emit(out, "unpack", pair, data=(2, None))
        out.statements.append(Statement("project", [parts], index, 0))
        out.statements.append(Statement("project", [parts], item, 1))
        self.program.types[index] = INT
        self.indices[block] = index
        self._define(index, block, out)

    # The adjoint

    def _seed(self, value: Variable, out: Block) -> None:
        abstract = self.program.types[value]
        if self.split:
            self._resume(value, out)
        elif isinstance(abstract, Number) and not abstract.types & {bool, complex}:
            if value in self.needs:
                self.builder.write(("c", value, ()), out, Constant(1.0))
        elif isinstance(abstract, Array):
            seed = self.builder.emit(out, "call", Constant(self.runtime["seed"]), value, data=())
            self.builder.write(("c", value, ()), out, seed)
        else:
            raise Refused("the value is not a scalar")

    def _resume(self, value: Variable, out: Block) -> None:
        """Mark the cut; the cotangent of the value comes from outside."""
        given = self.builder.emit(out, "resume", value)
        for path in self._paths(value):
            if not isinstance(self._type_at(value, path), Number):
                raise Refused("the value is not made of numbers")
            part: Operand = given
            for index in path:
                part = self.builder.emit(out, "call", Constant(self.runtime["part"]), part, Constant(index), data=())
            if path:
                part = self.builder.emit(out, "call", Constant(self.runtime["number"]), part, data=())
            if value in self.needs:
                self.builder.write(("c", value, path), out, part)

    def _allocate(self, out: Block) -> None:
        """Buffers for the cotangents of what is read item by item."""
        for variable in self._read_by_item():
            abstract = self.program.types[variable]
            if isinstance(abstract, (List, OwnList)):
                count = self.builder.emit(out, "call", Constant(len), variable, data=())
                one = self.builder.emit(out, "build_list", ZERO)
                buffer = self.builder.emit(out, "binary", one, count, data="*")
            else:
                buffer = self.builder.emit(out, "call", Constant(self.runtime["zeros_like"]), variable, data=())
            self.builder.write(("c", variable, ()), out, buffer)

    def _read_by_item(self) -> list[Variable]:
        found: dict[Variable, None] = {}
        loops_of = self.shape.loops_of
        home = {p: b for b in self.shape.ir.blocks for p in b.params}
        home |= {s.result: b for b in self.shape.ir.blocks for s in b.statements if s.result is not None}
        for iteration in self.landings.values():
            found.update(dict.fromkeys(x.owner for x in iteration.sources if self._is_settled(x.owner, home)))
        for block in self.shape.ir.blocks:
            for s in block.statements:
                if self.program.plans.get(s) == APPEND and s.operands[0] in self.needs:
                    assert isinstance(s.operands[0], Variable)
                    if self._is_settled(s.operands[0], home):
                        found[s.operands[0]] = None
                if s.result not in self.needs or not s.operands or s.op != "getitem":
                    continue
                owner = s.operands[0]
                if not isinstance(owner, Variable) or owner not in self.needs:
                    continue
                outside = self._is_settled(owner, home)
                if self.program.plans.get(s) == LOAD:
                    if isinstance(self.program.types[owner], Tuple):
                        raise Refused("an item of a tuple by an unknown index")
                    if outside:
                        found[owner] = None
                elif loops_of[block] and outside:
                    found[owner] = None
        return list(found)

    def _is_settled(self, variable: Variable, home: dict[Variable, Block]) -> bool:
        """Whether a variable has its value whenever the program comes to its exit, once."""
        block = home.get(variable)
        return block is None or block in self.spine and not self.shape.loops_of[block]

    def _start(self, block: Block, mode: Mode) -> Block:
        key = block, mode
        if key not in self.starts:
            start = self.starts[key] = self.builder.block()
            self.builder.provide(start, partial(self._not_used_later, block))
            self.pending.append(key)
        return self.starts[key]

    def _not_used_later(self, block: Block, key: Any) -> Operand | None:
        """The cotangent of what the primal does not use after ``block`` is zero before the adjoint of ``block``."""
        if key[0] != "c" or key[1] in self.live[block] or block is self.shape.exit or key[1] in self.buffered():
            return None
        return self._default(key)

    def _jump(self, source: Block, target: Block) -> None:
        source.terminator = Terminator("jump", [], [self.builder.edge(source, target)])

    def _reverse(self, block: Block, mode: Mode) -> None:
        out = self.starts[block, mode]
        for statement in reversed(block.statements):
            out = self._reverse_statement(statement, out)
        if block in self.landings:
            self._reverse_item(self.landings[block], block, out)
        self._enter(block, mode, out)

    def _enter(self, block: Block, mode: Mode, out: Block) -> None:
        incoming = self.shape.incoming[block]
        loop = self._loop_at(block)
        if loop is not None:
            self._jump_to_records(loop, mode, out)
        elif not incoming:
            self.last = out
        elif len(incoming) == 1:
            self._cross(block, *incoming[0], mode, out)
        else:
            tag = self._residual(self.came_from[block], out)
            for number, (source, edge) in enumerate(incoming[:-1]):
                taken, rest = self.builder.block(), self.builder.block()
                test = self.builder.emit(out, "compare", tag, Constant(number), data="==")
                test = self.builder.emit(out, "truth", test)
                out.terminator = Terminator("branch", [test], [self.builder.edge(out, b) for b in (taken, rest)])
                self._cross(block, source, edge, mode, taken)
                out = rest
            self._cross(block, *incoming[-1], mode, out)

    def _jump_to_records(self, loop: Loop, mode: Mode, out: Block) -> None:
        """The cotangents of the header's parameters are known: go on to the iteration before, or leave the loop."""
        setup, head = self._reversal(loop, mode - {loop})
        self._jump(out, setup if loop in mode else head)

    def _reversal(self, loop: Loop, outer: Mode) -> tuple[Block, Block]:
        """The loop over the records: the block before it, and its header."""
        found = self.reversals.get((loop, outer))
        if found is not None:
            return found
        builder = self.builder
        setup, head, step, done = (builder.block() for _ in range(4))
        self.reversals[loop, outer] = setup, head
        backwards = builder.emit(setup, "call", Constant(reversed), self._residual(self.lists[loop], setup), data=())
        iterator = builder.emit(setup, "get_iter", backwards)
        self._jump(setup, head)
        head.terminator = Terminator("next", [iterator], [builder.edge(head, step), builder.edge(head, done)])
        record = Variable("record")
        step.params = [record]
        builder.provide(step, partial(self._recalled, loop, step, record))
        latch = loop.latches[0]
        back = next(e for b, e in self.shape.incoming[loop.header] if b is latch)
        self._move(loop.header, back, step)
        self._jump(step, self._start(latch, outer))
        entering, edge = next((b, e) for b, e in self.shape.incoming[loop.header] if b not in loop.body)
        self._cross(loop.header, entering, edge, outer, done)
        return setup, head

    def _recalled(self, loop: Loop, step: Block, record: Variable, key: Any) -> Operand | None:
        """What an iteration has left of a value: the record is extended by what is asked for."""
        if key[0] != "p" or loop not in self.loops.get(key[1], ()):
            return None
        variable = key[1]
        statement = self.records[loop]
        names = statement.data[1]
        if variable not in names:
            names.append(variable)
            statement.operands.append(NONE)
            self.demands.append((statement, len(names), key, self.forward[loop.latches[0]]))
        result = Variable(variable.name)
        self.program.types[result] = self.program.types.get(variable, Abstract())
        step.statements.insert(0, Statement("recall", [record], result, (loop, names.index(variable))))
        return result

    def _cross(self, block: Block, source: Block, edge: Edge, mode: Mode, out: Block) -> None:
        """Go back over an edge."""
        self._move(block, edge, out)
        left = [loop for loop in self.shape.loops_of[source] if block not in loop.body]
        if left and source is left[-1].latches[0]:
            # The iteration that left the loop at its latch has a record like the others.
            self._hand_to_header(left[-1], out)
            self._jump(out, self._reversal(left[-1], mode | frozenset(left[:-1]))[0])
            return
        self._jump(out, self._start(source, mode | frozenset(left)))

    def _hand_to_header(self, loop: Loop, out: Block) -> None:
        """What the latch would bind to parameters of the header: their cotangents go with those."""
        back = next(e for b, e in self.shape.incoming[loop.header] if b is loop.latches[0])
        pairs = zip(loop.header.params[len(loop.header.params) - len(back.args) :], back.args)
        taken = [
            (param, path, self._take(arg, path, out))
            for param, arg in pairs
            if param in self.needs and isinstance(arg, Variable) and arg in self.needs
            for path in self._paths(param)
        ]
        for param, path, cotangent in taken:
            self._add(param, path, cotangent, out)

    def _move(self, block: Block, edge: Edge, out: Block) -> None:
        """Move the cotangents of parameters to the arguments that were bound to them, all at once."""
        taken = []
        for param, arg in zip(block.params[len(block.params) - len(edge.args) :], edge.args):
            if param in self.needs:
                taken += [(arg, path, self._take(param, path, out)) for path in self._paths(param)]
        for arg, path, cotangent in taken:
            if isinstance(arg, Variable):
                self._add(arg, path, cotangent, out)

    def _paths(self, variable: Variable) -> list[tuple[int, ...]]:
        """The leaves of a tuple, or the value itself."""
        return _leaves(self.program.types[variable], ())

    def _residual(self, variable: Variable, out: Block) -> Operand:
        around = self.loops.get(variable)
        if around is None or not around and variable in self.certain:
            return variable
        return self.builder.read(("p", variable), out)

    def _take(self, variable: Variable, path: tuple[int, ...], out: Block) -> Operand:
        key = ("c", variable, path)
        found = self.builder.read(key, out)
        self.builder.write(key, out, self._default(key))
        return found

    def _add(
        self, variable: Variable, path: tuple[int, ...], contribution: Operand, out: Block, sure: bool = True
    ) -> None:
        if variable not in self.needs or is_zero(contribution):
            return
        abstract = self._type_at(variable, path)
        key = ("c", variable, path)
        if isinstance(abstract, Tuple):
            for i in range(len(abstract.items)):
                part = self.builder.emit(
                    out, "call", Constant(self.runtime["part"]), contribution, Constant(i), data=()
                )
                self._add(variable, (*path, i), part, out, sure=False)
            return
        present = self.builder.read(key, out)
        if isinstance(abstract, (List, OwnList)):
            whole = self._residual(variable, out)
            add_lists = Constant(self.runtime["add_lists"])
            contribution = self.builder.emit(out, "call", add_lists, present, contribution, whole, data=())
        elif not sure:
            counted = Constant(self.runtime["counted"])
            contribution = self.builder.emit(out, "call", counted, present, contribution, data=())
        elif not is_zero(present):
            if isinstance(abstract, Number):
                contribution = self.builder.emit(out, "binary", present, contribution, data="+")
            else:
                accumulate = Constant(self.runtime["accumulate"])
                contribution = self.builder.emit(out, "call", accumulate, present, contribution, data=())
        self.builder.write(key, out, contribution)

    def _gathered(self, variable: Variable, path: tuple[int, ...], out: Block) -> Operand:
        abstract = self._type_at(variable, path)
        if isinstance(abstract, Tuple):
            parts = [self._gathered(variable, (*path, i), out) for i in range(len(abstract.items))]
            return self.builder.emit(out, "build_tuple", *parts)
        return self.builder.read(("c", variable, path), out)

    def _reverse_statement(self, s: Statement, out: Block) -> Block:
        if self.program.plans.get(s) == APPEND:
            self._reverse_append(s, out)
        if s.result is None or s.result not in self.needs:
            return out
        plan = self.program.plans.get(s)
        if isinstance(plan, RulePlan):
            return self._reverse_rule(s, plan, out)
        if plan == STRUCTURAL:
            self._reverse_structural(s, out)
        elif plan == LOAD:
            self._reverse_load(s, out)
        elif plan == PURE and s.op == "build_list":
            self._take(s.result, (), out)
        elif plan == PURE and not isinstance(self.program.types[s.result], Iterator):
            raise Refused(f"{s.op} has no adjoint")
        return out

    def _reverse_structural(self, s: Statement, out: Block) -> None:
        assert s.result is not None
        taken = [(path, self._take(s.result, path, out)) for path in self._paths(s.result)]
        for path, cotangent in taken:
            if s.op in ("build_tuple", "build_list", "build_map"):
                operand = s.operands[2 * path[0] + 1 if s.op == "build_map" else path[0]]
                if isinstance(operand, Variable):
                    self._add(operand, path[1:], cotangent, out)
            else:
                owner = s.operands[0]
                assert isinstance(owner, Variable)
                whole = self.program.types[owner]
                assert isinstance(whole, Tuple)
                index = s.data if s.op == "project" else s.operands[1].value  # type: ignore[union-attr]
                index = whole.keys.index(index) if whole.cls is dict else index
                length = len(whole.items)
                self._add(owner, (index % length, *path), cotangent, out)

    def _reverse_item(self, iteration: Iteration, block: Block, out: Block) -> None:
        """The cotangent of an item goes to its place in the list it came from."""
        for source in reversed(iteration.sources):
            cotangent = self._take(block.params[0], source.path, out)
            if is_zero(cotangent):
                continue
            index = self._residual(self.indices[block], out)
            if source.backwards:
                index = self.builder.emit(out, "unary", index, data="~")
            self._add_item(source.owner, index, cotangent, out, None)

    def _reverse_append(self, s: Statement, out: Block) -> None:
        """What was appended last is the last item."""
        owner, value = s.operands
        if not isinstance(owner, Variable) or owner not in self.needs:
            return
        buffer = self._buffer(owner, out)
        cotangent = self.builder.emit(out, "getitem", buffer, Constant(-1), position=s.position)
        self.builder.emit(out, "delitem", buffer, Constant(-1), result=False, position=s.position)
        if isinstance(value, Variable):
            self._add(value, (), cotangent, out)

    def _buffer(self, owner: Variable, out: Block) -> Operand:
        """The cotangents of the items of a list or an array."""
        present = self.builder.read(("c", owner, ()), out)
        if owner in self.buffered():
            return present
        made = self.builder.emit(
            out, "call", Constant(self.runtime["buffer"]), present, self._residual(owner, out), data=()
        )
        self.builder.write(("c", owner, ()), out, made)
        return made

    def _reverse_load(self, s: Statement, out: Block) -> None:
        assert s.result is not None
        cotangent = self._take(s.result, (), out)
        owner, index = s.operands
        if is_zero(cotangent) or owner not in self.needs:
            return
        assert isinstance(owner, Variable)
        self._add_item(owner, index, cotangent, out, s.position)

    def _add_item(
        self, owner: Variable, index: Operand, cotangent: Operand, out: Block, position: Position | None
    ) -> None:
        builder = self.builder
        if isinstance(index, Variable) and index in self.loops:
            index = self._residual(index, out)
        buffer = self._buffer(owner, out)
        item = builder.emit(out, "getitem", buffer, index, position=position)
        item = builder.emit(out, "binary", item, cotangent, data="+", position=position)
        builder.emit(out, "setitem", buffer, index, item, result=False, position=position)

    def _reverse_rule(self, s: Statement, plan: RulePlan, out: Block) -> Block:
        assert s.result is not None
        result = self.program.types[s.result]
        if isinstance(result, Tuple):
            parts = [self._take(s.result, path, out) for path in self._paths(s.result)]
            if any(len(path) != 1 for path in self._paths(s.result)):
                raise Refused("a rule that returns nested tuples")
            cotangent: Operand = NONE
            if not all(map(is_zero, parts)):
                cotangent = self.builder.emit(out, "call", Constant(self.runtime["tuple_cotangent"]), *parts, data=())
        else:
            cotangent = self._take(s.result, (), out)
        if is_zero(cotangent):
            return out
        if s.op == "getitem" and s.operands[0] in self.buffered():
            return self._reverse_array_load(s, cotangent, out)
        use = self.uses[s]
        cotangents, out, sure = splice(self.builder, use, cotangent, lambda v, o: self._residual(v, o), out, s.position)
        for operand, contribution, certain in zip(use.arguments, cotangents, sure):
            if isinstance(operand, Variable) and operand in self.needs:
                self._add(operand, (), contribution, out, sure=certain)
        return out

    def buffered(self) -> set[Operand]:
        """The arrays whose cotangents are buffers."""
        if not hasattr(self, "_buffered"):
            self._buffered: set[Operand] = set(self._read_by_item())
        return self._buffered

    def _reverse_array_load(self, s: Statement, cotangent: Operand, out: Block) -> Block:
        owner, index = s.operands
        assert isinstance(owner, Variable) and s.result is not None
        if isinstance(self.program.types[s.result], Number):
            self._add_item(owner, index, cotangent, out, s.position)
            return out
        if isinstance(index, Variable):
            index = self._residual(index, out)
        buffer = self.builder.read(("c", owner, ()), out)
        add_at = Constant(self.runtime["add_at"])
        self.builder.emit(out, "call", add_at, buffer, index, cotangent, data=(), result=False, position=s.position)
        return out


def _spine(shape: Shape) -> set[Block]:
    """The blocks that every run which comes to the exit has passed: what they define, the adjoint can read."""
    immediate = dominators(shape.ir)
    found, block = {shape.exit}, shape.exit
    while immediate[block] is not block:
        block = immediate[block]
        found.add(block)
    return found


def _leaves(abstract: Abstract, path: tuple[int, ...]) -> list[tuple[int, ...]]:
    if isinstance(abstract, Tuple):
        return [leaf for i, item in enumerate(abstract.items) for leaf in _leaves(item, (*path, i))]
    return [path]


def is_zero(operand: Operand) -> bool:
    """Whether a cotangent is known to be zero."""
    return isinstance(operand, Constant) and (
        operand.value is None or (type(operand.value) is float and operand.value == 0.0)
    )


def signature_of(params: list[Variable]) -> Signature:
    """The signature of a joint program."""
    names = tuple(p.name or f"p{i}" for i, p in enumerate(params))
    return Signature(names, len(names), len(names))
