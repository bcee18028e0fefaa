"""The primal half of a joint program, and what the adjoint asks of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from autodiff_hook import budget
from autodiff_hook.ir.analysis import Loop, dominators, homes_of
from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.liveness import live_out
from autodiff_hook.ir.types import Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.improve.pairs import calls
from autodiff_hook.transform.lazy import lazy
from autodiff_hook.transform.specialise.abstract import INT, Abstract, Array, Number, Tuple
from autodiff_hook.transform.specialise.lattice import content_of, is_complex
from autodiff_hook.transform.specialise.lists import Source, has_slots, iterations
from autodiff_hook.transform.specialise.prepare import Shape
from autodiff_hook.transform.specialise.program import (
    APPEND,
    ASSIGN,
    DROP,
    IN_ITS_ORDER,
    LOAD,
    STORE,
    OwnPlan,
    Program,
    RulePlan,
)
from autodiff_hook.transform.specialise.splice import Use, use_of
from autodiff_hook.transform.specialise.sums import summed_lists
from autodiff_hook.transform.specialise.views import in_order

Split = Literal["numbers", "anything", "shared"] | None
"""Whether the program is to be cut in two, and what its value may be made of then; lists are shared with another."""
NONE = Constant(None)
ZERO = Constant(0.0)


class PrimalHalf:
    """Copies a prepared program into a builder, block by block; each value is a key that the adjoint may read."""

    def __init__(
        self, program: Program, shape: Shape, needs: set[Variable], runtime: Mapping[str, Any], split: Split
    ) -> None:
        self.split = split
        self.program, self.shape, self.needs, self.runtime = program, shape, needs, runtime
        self.builder = Builder(default=self._default)
        self.forward: dict[Block, Block] = {}
        self.uses: dict[Statement, Use] = {}
        self.lists: dict[Loop, Variable] = {}
        self.came_from: dict[Block, Variable] = {}
        self.loops: dict[Variable, list[Loop]] = {}
        self.spine = _spine(shape)
        self.live = live_out(shape.ir.blocks)
        self.certain: set[Variable] = set()
        self.records: dict[Loop, Statement] = {}
        found = iterations(program, shape.ir.blocks, needs, self._is_numbered)
        self.landings = {iteration.landing: iteration for iteration in found}
        self.counted = {iteration.start: iteration for iteration in found}
        self.indices: dict[Block, Variable] = {}
        turned = {x.backwards for iteration in found for x in iteration.sources if x.backwards is not None}
        calls = program.lent or any(isinstance(plan, OwnPlan) for plan in program.plans.values())
        self.turned = turned if calls or program.does(APPEND, DROP) else set[Statement]()
        """What turns lists round that may have another length when the adjoint comes there."""
        self.lengths: dict[Statement | None, Variable] = {}
        self.demands: list[tuple[Statement, int, Any, Block]] = []
        self.memory = shape.memory
        self.summed = summed_lists(program, shape.ir.blocks)
        self.assigned: list[Statement] = []
        """What assigns attributes of objects from outside, in the end."""
        self.table = Variable("table")
        """The buffers of lists and dicts, by their identity."""
        self.parts = set[Variable]()
        self.first_found: dict[Variable, Variable] = {}
        self.whole_loops: set[Loop] = set()
        """The loops around the block that is gone back over, of which each iteration has a record."""
        self.kept: dict[Variable, Variable] = {}
        """The copies that the adjoint reads in place of views."""
        self.views: dict[Operand | None, Variable] = {}
        """The parts that copies were made of when they were read."""
        self.allocated: set[Operand] = set()
        """Buffers that are there."""
        self.unsure: set[Operand] = set()
        self.present: set[Operand] = set()
        """Sums of cotangents that may turn out to be None, which is zero, and others."""
        self.added: set[tuple[Operand, tuple[int, ...]]] = set()
        """The parts of values that a cotangent was added to."""

    def _is_numbered(self, item: Abstract) -> bool:
        """Whether the derivative of an item of an iteration is found by its place."""
        return has_slots(item)

    def _default(self, key: Any) -> Operand:
        if key[0] == "c" and (key[1] in self.summed or isinstance(self._type_at(key[1], key[2]), Number)):
            return ZERO
        return NONE

    def _type_at(self, variable: Variable, path: tuple[int, ...]) -> Abstract:
        """The type of a part; the cotangent of what may be None is like that of what it is else."""
        abstract = content_of(self.program.types[variable])
        for index in path:
            abstract = content_of(abstract.items[index])  # type: ignore[attr-defined]
        return abstract

    def _part(self, whole: Operand, kind: Abstract, path: tuple[int, ...], out: Block) -> Operand:
        """A part of what is made of tuples, lists and dicts of known length."""
        for index in path:
            assert isinstance(kind, Tuple)
            whole = self.builder.emit(out, "getitem", whole, Constant(kind.keys[index] if kind.keys else index))
            kind = kind.items[index]
        return whole

    def _call(self, name: str, *operands_and_block: Any, **more: Any) -> Variable:
        """Call a function of the runtime, at the end of the block that comes last."""
        *operands, out = operands_and_block
        return self.builder.emit(out, "call", Constant(self.runtime[name]), *operands, data=(), **more)

    def _paths(self, variable: Variable) -> list[tuple[int, ...]]:
        """The leaves of a tuple, or the value itself."""
        return leaves_of(self.program.types[variable], ())

    def _connect(self) -> None:
        """All edges of the primal; what they bind follows."""
        for block in self.shape.ir.blocks:
            out, terminator = self.forward[block], block.terminator
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
            self._take_index(block, out)
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
            budget.check()
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
        for edge, new in zip(block.terminator.edges, out.terminator.edges):
            new.args = [*edge.args, *self._arrival(edge)]

    def _take_index(self, block: Block, out: Block) -> None:
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

    def _place(self, source: Source, block: Block, out: Block) -> Operand:
        """Where an item of an iteration was in the list or dict that it came from."""
        if source.key is not None:
            item = block.params[0]
            return self._part(self._residual(item, out), self.program.types[item], source.key, out)
        place = self._residual(self.indices[block], out)
        if source.backwards is not None:
            place = self.builder.emit(out, "unary", place, data="~")
        if source.backwards in self.lengths:
            length = self._residual(self.lengths[source.backwards], out)
            place = self.builder.emit(out, "binary", place, length, data="+")
        if source.keys is not None:
            place = self.builder.emit(out, "getitem", self._residual(source.keys, out), place)
        return place

    def _forgotten(self, loop: Loop, key: Any) -> Operand | None:
        """No iteration needs what an earlier one has computed."""
        return NONE if key[0] == "p" and loop in self.loops.get(key[1], ()) else None

    def _loop_at(self, header: Block) -> Loop | None:
        return next((loop for loop in self.shape.loops if loop.header is header), None)

    def _entering(self, loop: Loop) -> Block:
        return next(b for b, _ in self.shape.incoming[loop.header] if b not in loop.body)

    def _define(self, variable: Variable, block: Block, out: Block) -> None:
        """A primal value that the adjoint may ask for."""
        kept = variable
        if variable in self.memory.saved:
            kept = self.kept[variable] = self.builder.emit(out, "call_method", variable, data=("copy", ()))
            self.program.types[kept] = self.program.types[variable]
        self.builder.write(("p", variable), out, kept)
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
        if plan == ASSIGN:
            self.assigned.append(s)
            return
        if isinstance(plan, OwnPlan) or isinstance(plan, RulePlan) and s.result in self.needs:
            self._rule(s, plan, block, out)
            self._check(s, plan, out)
            return
        if s in self.turned:
            length = self.lengths[s] = self.builder.emit(out, "call", Constant(len), s.operands[1], data=())
            self.program.types[length] = INT
            self._define(length, block, out)
        if s in self.counted:
            for source in self.counted[s].sources:
                if source.keys is not None:
                    out.statements.append(Statement("call", [Constant(list), source.owner], source.keys, ()))
                    self.program.types[source.keys] = Abstract()
                    self._define(source.keys, block, out)
            numbered = self.builder.emit(out, "call", Constant(enumerate), s.operands[0], data=(), position=s.position)
            s = Statement("get_iter", [numbered], s.result, None, s.position)
        if s.result in self.memory.copied:
            s = self._copied(s, out)
        out.statements.append(Statement(s.op, self._asked(s), s.result, s.data, s.position))
        if s.result is not None:
            self._define(s.result, block, out)
        if isinstance(plan, RulePlan):
            self._check(s, plan, out)

    def _copied(self, s: Statement, out: Block) -> Statement:
        """What copies a part of an array that is read."""
        part = self.builder.emit(out, s.op, *s.operands, data=s.data, position=s.position)
        self.program.types[part] = self.program.types[s.made]
        self.views[s.result] = part
        return Statement("call_method", [part, IN_ITS_ORDER], s.result, ("copy", ()), s.position)

    def _asked(self, s: Statement) -> list[Operand]:
        """What a statement is given: how a part lies in memory is asked of the part, not of its copy."""
        lies = calls(s, in_order) or s.op == "getattr" and s.data in ("flags", "strides")
        return [self.views.get(x, x) for x in s.operands] if lies else list(s.operands)

    def _check(self, s: Statement, plan: RulePlan, out: Block) -> None:
        """Look at a result whose type the arguments' types do not say."""
        if plan.checks and s.result is not None:
            kind = self.program.types[s.result]
            kinds = kind.items if isinstance(kind, Tuple) else (kind,)
            are_complex = Constant(tuple(map(is_complex, kinds)))
            self._call("as_taken", s.result, are_complex, out, result=False, position=s.position)

    def _rule(self, s: Statement, plan: RulePlan, block: Block, out: Block) -> None:
        if isinstance(plan, OwnPlan):
            use: Use = plan.lower(plan, s, self.needs, self.runtime["strong"], self.table)
        else:
            use = use_of(plan, s, self.runtime)
        self.uses[s] = use
        if s.made in self.memory.stored and (use.instance is None or s.made in use.instance.captured):
            self._keep_apart(use, s)
        for inner in use.statements:
            if inner.position is None or use.called is None:
                inner.position = s.position
            out.statements.append(inner)
            if inner.result is not None:
                if inner.result not in self.program.types:
                    self.program.types[inner.result] = Abstract()
                self._define(inner.result, block, out)

    def _keep_apart(self, use: Use, s: Statement) -> None:
        """The pullback of a rule holds its result: what the program changes is a copy."""
        held = Variable(s.made.name)
        self.program.types[held] = self.program.types[s.made]
        for inner in use.statements:
            inner.result = held if inner.result is s.made else inner.result
            inner.operands = [held if x is s.made else x for x in inner.operands]
        if use.instance is not None:
            use.instance.captured = [held if x is s.made else x for x in use.instance.captured]
        use.statements.append(Statement("call_method", [held, IN_ITS_ORDER], s.made, ("copy", ()), s.position))

    def _residual(self, variable: Variable, out: Block) -> Operand:
        around = self.loops.get(variable)
        if around is None or not around and variable in self.certain:
            return self.kept.get(variable, variable)
        return self.builder.read(("p", variable), out)

    def _is_settled(self, variable: Variable, home: dict[Operand, Block]) -> bool:
        """Whether a variable has its value whenever the program comes to its exit, once."""
        block = home.get(variable)
        return block is None or block in self.spine and not self.shape.loops_of[block]

    @lazy
    def iterated(self) -> set[Variable]:
        """The lists and arrays that iterations run over: their items may be used after they are."""
        return {x.owner for iteration in self.landings.values() for x in iteration.sources}

    @lazy
    def owned(self) -> set[Variable]:
        """The arrays whose cotangents are changed item by item or part by part, so that they are nobody else's."""
        return self.memory.stored | {x for x in self.iterated if isinstance(self.program.types[x], Array)}

    @lazy
    def buffered(self) -> dict[Variable, None]:
        """The arrays whose cotangents are buffers from the beginning of the adjoint, in their order."""
        found: dict[Variable, None] = {}
        loops_of = self.shape.loops_of
        home = homes_of(self.shape.ir.blocks)
        for iteration in self.landings.values():
            found.update(dict.fromkeys(x.owner for x in iteration.sources if self._is_settled(x.owner, home)))
        for block in self.shape.ir.blocks:
            for s in block.statements:
                owner = s.operands[0] if s.operands else None
                if not isinstance(owner, Variable) or owner not in self.needs or not self._is_settled(owner, home):
                    continue
                plan = self.program.plans.get(s)
                if plan == STORE or s.result in self.needs and s.op == "getitem" and (plan == LOAD or loops_of[block]):
                    found[owner] = None
        return {x: None for x in found if isinstance(self.program.types[x], Array)}


def _spine(shape: Shape) -> set[Block]:
    """The blocks that every run which comes to the exit has passed: what they define, the adjoint can read."""
    immediate = dominators(shape.ir)
    found, block = {shape.exit}, shape.exit
    while immediate[block] is not block:
        block = immediate[block]
        found.add(block)
    return found


def leaves_of(abstract: Abstract, path: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The paths to the parts of a tuple, or to the value itself."""
    abstract = content_of(abstract)
    if isinstance(abstract, Tuple):
        return [leaf for i, item in enumerate(abstract.items) for leaf in leaves_of(item, (*path, i))]
    return [path]
