"""Forward mode on typed programs: beside each value that needs one, its tangent, computed where the value is.

Control flow is the primal's. Lists, dicts and arrays that the program makes and changes have others beside them, of
tangents, which are made and changed in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from autodiff_hook import budget
from autodiff_hook.ir.analysis import count_uses, statements_of
from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import Block, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.improve.pairs import calls
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Iterator,
    List,
    Number,
    Optional,
    Reference,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.activity import part_taken
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.invariants import item_or_none
from autodiff_hook.transform.specialise.joint_primal import ZERO
from autodiff_hook.transform.specialise.lattice import content_of, differentiable
from autodiff_hook.transform.specialise.lists import Source
from autodiff_hook.transform.specialise.prepare import Shape
from autodiff_hook.transform.specialise.program import (
    APPEND,
    COPY,
    DROP,
    IN_ITS_ORDER,
    ITEMS,
    LOAD,
    PARTS,
    PURE,
    READ,
    STORE,
    STRUCTURAL,
    TAKE,
    Plan,
    Program,
    RulePlan,
)
from autodiff_hook.transform.specialise.pushed_rules import Path, Rules


class Pushed(NamedTuple):
    """A program with tangents: where it ends, its value and the tangent of that."""

    builder: Builder
    last: Block
    value: Variable
    tangent: Operand


class Pushforward(Rules):
    """Copies a prepared program, with the tangents of what needs them."""

    def __init__(self, program: Program, shape: Shape, needs: set[Variable], runtime: Mapping[str, Any]) -> None:
        super().__init__(program, shape, needs, runtime)
        self.ends: dict[Block, Block] = {}
        self.given = set[Variable]()
        self.primal: list[Statement] = []
        """The statements that are not of tangents."""
        seen = set[Site]()
        for variable in needs:
            _require_plain(program.types[variable], seen)

    def build(self, seeds: Mapping[Variable, Operand], aim: Path = ()) -> Pushed:
        """The program; ``seeds`` are the tangents of its parameters, ``aim`` leads to what the tangent is of."""
        blocks = self.shape.ir.blocks
        for block in blocks:
            self.forward[block] = self.builder.block()
        self._connect()
        first = self.forward[blocks[0]]
        self.given = self.needs - _defined(blocks)
        for variable in self.given & count_uses(blocks).keys():
            self._spread(variable, seeds.get(variable) or self._zero(variable, (), first), first)
        for block in blocks:
            self._forward(block)
        for block in blocks:
            self._bind(block)
        value, last = self.shape.exit.params[0], self.ends[self.shape.exit]
        tangent = self._whole(value, aim, last)
        self.builder.seal_rest()
        return Pushed(self.builder, last, value, tangent)

    def _define(self, variable: Variable, block: Block, out: Block) -> None:
        """All values are where they are used: nothing is read later."""

    def _forward(self, block: Block) -> None:
        out = self.forward[block]
        out.params = list(block.params)
        iteration = self.landings.get(block)
        if iteration is not None:
            self._take_index(block, out)
            self._push_item(iteration.sources, block, out)
        for param in self._bound(block):
            for path in self._moving(param):
                tangent = Variable(param.name)
                self.tangents[param, path] = tangent
                out.params.append(tangent)
        terminator, out.terminator = out.terminator, Terminator("open")
        for statement in block.statements:
            budget.check()
            start = len(out.statements)
            self._statement(statement, block, out)
            self.primal += out.statements[start:]
            out = self._push(statement, out)
        out.terminator, self.ends[block] = terminator, out

    def _bound(self, block: Block) -> list[Variable]:
        """The parameters that edges bind, with tangents."""
        bound = block.params[1:] if block in self.landings else block.params
        return [p for p in bound if p in self.needs and p not in self.given]

    def _bind(self, block: Block) -> None:
        """What the edges out of a block bind, with the tangents."""
        out = self.ends[block]
        if block is self.shape.exit:
            return
        for edge, new in zip(block.terminator.edges, out.terminator.edges):
            new.args = [*edge.args, *self._passed(edge, out)]

    def _passed(self, edge: Edge, out: Block) -> list[Operand]:
        given = dict(edge.bound())
        return [self._tangent(given[p], path, out) for p in self._bound(edge.target) for path in self._moving(p)]

    def _push_item(self, sources: list[Source], block: Block, out: Block) -> None:
        """The tangent of an item is at its place in the list of tangents."""
        item = block.params[0]
        for source in sources:
            index = self._place(source, block, out)
            whole = self._whole(source.owner, (), out)
            self._spread(item, self.builder.emit(out, "getitem", whole, index), out, source.path)
        for path in self._moving(item):
            if (item, path) not in self.tangents:
                self.tangents[item, path] = self._zero(item, path, out)

    def _push(self, s: Statement, out: Block) -> Block:
        """The tangent of what a statement makes, or changes; where to go on."""
        plan = self.program.plans.get(s)
        if plan in (APPEND, STORE, DROP):
            if s.operands[0] in self.needs:
                self._push_change(s, out)
            return out
        if s.result is None or s.result not in self.needs:
            return out
        if isinstance(plan, RulePlan):
            return self._push_rule(s, plan, out)
        if plan == STRUCTURAL:
            self._push_structural(s, out)
        elif plan == PURE:
            self._push_beginning(s, out)
        elif plan == ITEMS:
            self._push_items(s, out)
        elif plan in (LOAD, READ, TAKE, PARTS, COPY):
            self._push_reading(s, plan, out)
        else:
            raise Refused(f"{s.op} has no tangent", s)
        return out

    def _push_structural(self, s: Statement, out: Block) -> None:
        for path in self._moving(s.made):
            self.tangents[s.made, path] = self._tangent(*part_taken(s, path, self.program), out)

    def _push_beginning(self, s: Statement, out: Block) -> None:
        """An empty list or dict, or an array that the program fills."""
        kind = self.program.types[s.made]
        if isinstance(kind, Iterator):
            return
        if isinstance(kind, Array) and s.made in self.memory.stored:
            self.tangents[s.made, ()] = self._zero(s.made, (), out)
        elif s.op in ("build_list", "build_map") and not s.operands:
            self.tangents[s.made, ()] = self.builder.emit(out, s.op)
        else:
            raise Refused(f"{s.op} has no tangent", s)

    def _push_items(self, s: Statement, out: Block) -> None:
        """A list or a dict of items, written out or repeated."""
        operands = list(s.operands)
        if s.op == "build_map":
            operands[1::2] = [self._whole(x, (), out) for x in s.operands[1::2]]
        elif s.op == "build_list":
            operands = [self._whole(x, (), out) for x in s.operands]
        else:
            operands = [
                self._whole(x, (), out) if isinstance(self.program.type_of(x), (Tuple, List)) else x for x in s.operands
            ]
        self.tangents[s.made, ()] = self.builder.emit(out, s.op, *operands, data=s.data)

    def _push_reading(self, s: Statement, plan: Plan, out: Block) -> None:
        """Items and parts: those of the tangents at the same places."""
        result, builder = s.result, self.builder
        assert result is not None
        if plan == PARTS and s.op != "getitem":
            operands = [self._whole(x, (), out) if self._holds_slopes(x) else x for x in s.operands]
            self.tangents[result, ()] = builder.emit(out, s.op, *operands, data=s.data)
        elif plan == TAKE:
            whole = self._whole(s.operands[0], (), out)
            parts = builder.emit(out, "unpack", whole, data=s.data)
            for index in range(s.data[0]):
                self._spread(result, builder.emit(out, "project", parts, data=index), out, (index,))
        elif plan == COPY:
            whole = self._whole(s.operands[0], (), out)
            self.tangents[result, ()] = builder.emit(out, "call_method", whole, IN_ITS_ORDER, data=("copy", ()))
        else:
            early = calls(s, item_or_none)
            if not early and s.op not in ("getitem", "getattr"):
                raise Refused(f"{s.op} has no tangent", s)
            owner, *key = s.operands[1:] if early else s.operands[-2:]
            called = s.operands[:1] if early else ()
            part = builder.emit(out, s.op, *called, self._whole(owner, (), out), *key, data=s.data)
            if result in self.memory.copied:
                part = builder.emit(out, "call_method", part, IN_ITS_ORDER, data=("copy", ()))
            self._spread(result, part, out)

    def _holds_slopes(self, operand: Operand) -> bool:
        """Whether a list has tangents: one of other things, or of none, is in the place of its own."""
        kind = content_of(self.program.type_of(operand))
        return isinstance(operand, Variable) and not (isinstance(kind, Reference) and not differentiable(kind))

    def _push_change(self, s: Statement, out: Block) -> None:
        """What is appended, stored or dropped: its tangent, too."""
        owner, value = s.operands[0], s.operands[-1]
        assert isinstance(owner, Variable)
        whole = self._whole(owner, (), out)
        if self.program.plans.get(s) == DROP:
            self.builder.emit(out, s.op, whole, value, result=False)
            return
        if isinstance(self.program.types[owner], Array) and value not in self.needs:
            tangent: Operand = ZERO
        else:
            tangent = self._whole(value, (), out)
        self.builder.emit(out, s.op, whole, *s.operands[1:-1], tangent, data=s.data, result=False)


def _defined(blocks: list[Block]) -> set[Variable]:
    """What statements and edges define."""
    params = {p for block in blocks[1:] for p in block.params}
    return params | {s.result for s in statements_of(blocks) if s.result is not None}


def _require_plain(value: Abstract, seen: set[Site]) -> None:
    """Refuse tangents of what they are not defined for; ``seen`` are the sites that were looked through."""
    if isinstance(value, Optional) and isinstance(value.content, Tuple):
        raise Refused("a tangent of a tuple that may be absent")
    value = content_of(value)
    if isinstance(value, Tuple):
        for item in value.items:
            _require_plain(item, seen)
    elif isinstance(value, Reference):
        if value.site.root() not in seen:
            seen.add(value.site.root())
            for kind in value.site.kinds():
                _require_plain(kind, seen)
    elif isinstance(value, Array):
        if value.dtype is None or value.dtype.kind not in "fcb":
            raise Refused("a tangent of an array that is not of floats")
    elif differentiable(value) and not isinstance(value, (Iterator, Number)):
        raise Refused("a tangent of an object")
