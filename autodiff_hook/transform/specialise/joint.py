"""The joint program: the primal, then its adjoint, in one function.

Both are built by one ``Builder``, whose keys are the cotangents of variables and the primal values that the
adjoint reads (residuals). A residual outside loops stays where it is. In a loop, each iteration leaves one
record on a list, at its latch; the adjoint runs over the reversed list. An iteration that leaves the loop in
the middle leaves no record: its adjoint is a copy of its own, which reads what is still there.

A record names all values of the loop at first; ``simplify`` keeps those that the adjoint reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from autodiff_hook import budget
from autodiff_hook.ir.analysis import Loop
from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.liveness import live_from
from autodiff_hook.ir.types import Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Number, Reference
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.joint_cotangents import Cotangents
from autodiff_hook.transform.specialise.joint_primal import NONE, Split
from autodiff_hook.transform.specialise.prepare import Shape
from autodiff_hook.transform.specialise.program import APPEND, COPY, DROP, ITEMS, PARTS, STORE, TAKE, OwnPlan, Program

Mode = frozenset[Loop]
"""The loops around a block whose last, partial iteration this is."""


def joint_pass(
    program: Program,
    shape: Shape,
    params: list[Variable],
    needs: set[Variable],
    runtime: Mapping[str, Any],
    split: Split,
    parts: Iterable[Variable],
    aim: tuple[int, ...] = (),
) -> Joint:
    """Build primal and adjoint.

    With ``split`` a statement ``resume`` marks where the program is to be cut; its result is the cotangent. ``parts``
    are those parameters whose lists have their gradients from the table alone. ``aim`` leads to the part of the value
    that is differentiated.
    """
    return _Joint(program, shape, needs, runtime, split, parts, aim).build(params)


class Joint(NamedTuple):
    """A joint program: where it ends, with the cotangents of its parameters there."""

    builder: Builder
    last: Block
    cotangents: dict[Variable, Operand]
    value: Operand
    table: Variable
    """The buffers of lists and dicts by identity."""
    assigned: list[Statement]
    """What assigns attributes of objects from outside, which has yet to be done."""


_WITH_BUFFERS: Final = (STORE, APPEND, DROP, ITEMS, TAKE, PARTS, COPY)
"""The plans of statements whose cotangents lie in buffers, which others may hold."""


class _Joint(Cotangents):
    """The control flow of the adjoint: the primal's, backwards."""

    def __init__(
        self,
        program: Program,
        shape: Shape,
        needs: set[Variable],
        runtime: Mapping[str, Any],
        split: Split,
        parts: Iterable[Variable],
        aim: tuple[int, ...],
    ) -> None:
        super().__init__(program, shape, needs, runtime, split)
        self.parts.update(parts)
        self.aim = aim
        self.starts: dict[tuple[Block, Mode], Block] = {}
        self.reversals: dict[tuple[Loop, Mode], tuple[Block, Block]] = {}
        self.pending: list[tuple[Block, Mode]] = []
        self.single: set[Block] = set()
        """The blocks that one jump leads to."""
        self.last: Block | None = None

    def build(self, params: list[Variable]) -> Joint:
        shape, builder = self.shape, self.builder
        for block in shape.ir.blocks:
            self.forward[block] = builder.block()
        self._connect()
        for block in shape.ir.blocks:
            self._forward(block)
        builder.survey()
        value = shape.exit.params[0]
        start = self.forward[shape.exit]
        self._seed(value, self.aim, start)
        self._allocate(start)
        self._jump(start, self._start(shape.exit, frozenset()))
        while self.pending:
            self._reverse(*self.pending.pop())
        if self.last is None:
            raise Refused("the adjoint does not come to an end")
        builder.seal_rest()
        self.whole_loops = set()
        found = {p: self._gathered(p, (), self.last) for p in params}
        self._look_up_first()
        for statement, place, key, latch in self.demands:
            statement.operands[place] = builder.read(key, latch)
        self._know_joins()
        return Joint(builder, self.last, found, value, self.table, self.assigned)

    def _know_joins(self) -> None:
        """What stands for a value of the primal where ways join is of its kind: it is only read if that was there."""
        types, memory = self.program.types, self.shape.memory
        for param, key in self.builder.keys.items():
            known = types.get(key[1]) if key[0] == "p" else None
            if isinstance(known, (Number, Array)):
                types[param] = known
                for changed in (memory.stored, memory.saved):
                    changed.update({param} if key[1] in changed else ())

    def _start(self, block: Block, mode: Mode) -> Block:
        key = block, mode
        if key not in self.starts:
            start = self.starts[key] = self.builder.block()
            self.builder.provide(start, partial(self._before, block, mode))
            self.pending.append(key)
            if len(list(block.edges())) < 2 and not any(self._is_branch(edge.target) for edge in block.edges()):
                self.single.add(start)
        return self.starts[key]

    def _before(self, block: Block, mode: Mode, key: Any) -> Operand | Block | None:
        """What is known of a key before the adjoint of ``block``.

        What no iteration has left is what the primal has at its end; the cotangent of what the primal does not use
        after ``block`` is zero.
        """
        if key[0] == "p":
            whole = [loop for loop in self.loops.get(key[1], ()) if loop in self.shape.loops_of[block]]
            return self.forward[self.shape.exit] if mode.issuperset(whole) else None
        kept = key[1] in self.buffered or key[1] in self.iterated
        if key[0] != "c" or key[1] in self.live[block] or block is self.shape.exit or kept:
            return None
        return self._default(key)

    def _jump(self, source: Block, target: Block) -> None:
        source.terminator = Terminator("jump", [], [self.builder.edge(source, target)])
        if target in self.single:
            self.builder.seal(target)

    def _reverse(self, block: Block, mode: Mode) -> None:
        out = self.starts[block, mode]
        self.whole_loops = {loop for loop in self.shape.loops_of[block] if loop not in mode}
        for statement in reversed(block.statements):
            budget.check(2)
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
        if loop not in self.loops.get(key[1], ()):
            return None
        if key[0] == "b":
            return self._looked_up_each(step, key[1])
        if key[0] != "p":
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

    def _looked_up_each(self, step: Block, owner: Variable) -> Operand:
        """The buffer of a list that each iteration has of its own."""
        whole = self.builder.read(("p", owner), step)
        rest = step.statements[:]
        place = next((i for i, s in enumerate(rest, 1) if s.result is whole), 0)
        del step.statements[place:]
        found = self._looked_up(whole, self.program.types[owner], step)
        step.statements += rest[place:]
        return found

    def _cross(self, block: Block, source: Block, edge: Edge, mode: Mode, out: Block) -> None:
        """Go back over an edge, and over blocks in which there is nothing to do."""
        # All that may have a cotangent there, if blocks are passed over.
        wanted: set[Operand] | None = None
        while True:
            self._move(block, edge, out)
            left = [loop for loop in self.shape.loops_of[source] if block not in loop.body]
            if left and source is left[-1].latches[0]:
                # The iteration that left the loop at its latch has a record like the others.
                self._hand_to_header(left[-1], out)
                self._jump(out, self._reversal(left[-1], mode | frozenset(left[:-1]))[0])
                return
            if left or not self._is_branch(source):
                break
            if wanted is None:
                wanted = {*live_from(block, self.live), *edge.args}
            contributing: list[Variable | Statement] = [*source.params, *source.statements]
            if any(self._contributes(x, wanted) for x in contributing):
                break
            block, (source, edge) = source, *self.shape.incoming[source]
        self._jump(out, self._start(source, mode | frozenset(left)))

    def _is_branch(self, block: Block) -> bool:
        """Whether a block has one way in and several out, so that one of these may have used nothing of it."""
        several = len(block.terminator.edges) > 1
        return several and len(self.shape.incoming[block]) == 1

    def _contributes(self, x: Variable | Statement, wanted: set[Operand]) -> bool:
        """Whether there may be something to do for a parameter or a statement, on the way back."""
        if isinstance(x, Statement):
            plan = self.program.plans.get(x)
            if plan in _WITH_BUFFERS or isinstance(plan, OwnPlan):
                return True
            if x.result is None:
                return False
        variable = x.result if isinstance(x, Statement) else x
        if variable not in self.needs or variable is None:
            return False
        if variable in wanted or variable in self.owned or variable in self.iterated or variable in self.buffered:
            return not isinstance(self.program.types[variable], Reference)
        return False

    def _hand_to_header(self, loop: Loop, out: Block) -> None:
        """What the latch would bind to parameters of the header: their cotangents go with those."""
        back = next(e for b, e in self.shape.incoming[loop.header] if b is loop.latches[0])
        taken = [
            (param, path, self._take(arg, path, out))
            for param, arg in back.bound()
            if param in self.needs and isinstance(arg, Variable) and arg in self.needs
            for path in self._paths(param)
        ]
        for param, path, cotangent in taken:
            self._add(param, path, cotangent, out)
