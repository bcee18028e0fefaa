"""Generators: the body of one stands around the body of the loop that it produces items for.

Where the generator yields, the body of the loop begins; where that goes on to the next item, the generator is resumed.
So both run in Python's order, and neither a generator nor a list of its items is made. A loop over what yields in
several places is copied for each. What uses up a generator at once is given a list, made where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autodiff_hook.ir.analysis import (
    Loop,
    closure,
    count_uses,
    dominates,
    dominators,
    natural_loops,
    places_of,
    reverse_postorder,
    statements_of,
)
from autodiff_hook.ir.substituting import copy_blocks, substitute
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Signature, Statement, Terminator, Variable
from autodiff_hook.records import record
from autodiff_hook.transform.specialise.abstract import Producer
from autodiff_hook.transform.specialise.bodies import Body, Parameters, Refused, cleans_up, lifted
from autodiff_hook.transform.specialise.versions import Versions

if TYPE_CHECKING:
    from autodiff_hook.transform.specialise.infer import Inference

_MOST = 12
"""Of how many yields a generator is followed."""


@record(frozen=True)
class Suspended:
    """A call of a generator function, which has not begun."""

    code: Any
    globals: dict[str, Any]
    call: Parameters
    cells: list[Operand]
    chain: tuple[Any, ...]


def begin(inf: Inference, s: Statement, suspended: Suspended) -> None:
    """Let the call at hand make a generator."""
    block = inf.block
    s.op, s.data = "suspend", suspended
    inf.suspended.add(s)
    inf.index = block.statements.index(s)
    rest = Block([], block.statements[inf.index + 1 :], block.terminator, block.handler)
    del block.statements[inf.index + 1 :]
    block.terminator = Terminator("jump", [], [Edge(rest)], s.position)
    inf.add(block, rest)
    made(inf, s)
    inf.ends.leave(block)


def made(inf: Inference, s: Statement) -> Producer:
    """The generator that a statement makes."""
    inf.leave_nothing(s)
    found = Producer(s)
    inf.types[s.made] = found
    return found


def weave(inf: Inference, block: Block, produced: Producer) -> None:
    """Let the loop whose header is ``block`` run over what a generator yields."""
    if produced.made not in inf.suspended:
        raise Refused("a generator of the program around is used")
    if any(made is produced.made for made, _ in inf.consumed):
        raise Refused("a generator is used more than once")
    code = produced.made.data.code
    if cleans_up(lifted(code, generators=True)):
        raise Refused(f"{code.co_qualname} is a generator with try or with")
    _Weaving(inf, block, produced).run()


def confirm(inf: Inference) -> None:
    """``Refused`` if a generator is used up in another loop than it is made in."""
    if not inf.consumed:
        return
    ir = IR("", Signature(), blocks=inf.program.blocks)
    loops = natural_loops(ir)
    homes = places_of(ir.blocks)
    for made, header in inf.consumed:
        # What is not there any more is behind a place where the program gives up.
        if made in homes and _around(loops, homes[made]) != _around(loops, header):
            raise Refused("a generator is used in another loop than it is made in")


def _around(loops: list[Loop], block: Block) -> list[Loop]:
    return [loop for loop in loops if block in loop.body]


def resumable(inf: Inference, made: Suspended) -> Body:
    """The body of a generator that is sent nothing, in which what is delegated to is iterated over."""
    body = inf._copy(made.code, made.globals, generators=True)
    if len(made.call.values) != len(body.params) or len(made.cells) != len(body.frees):
        raise Refused(f"a call of {made.code.co_qualname} that does not fit")
    body.blocks[0].params = []
    sent: dict[Operand, Operand] = {}
    for block in body.blocks:
        for s in block.statements:
            if s.op == "yield" and s.result is not None:
                sent[s.result] = Constant(None)
    substitute(body.blocks, sent)
    returned = {e.target.params[0] for b in body.blocks if (e := _delegate(b)) is not None}
    if not returned.isdisjoint(count_uses(body.blocks)):
        raise Refused("what a generator returns is used")
    return body


class _Weaving:
    def __init__(self, inf: Inference, header: Block, produced: Producer) -> None:
        self.inf, self.header, self.made = inf, header, produced.made
        self.suspended: Suspended = produced.made.data
        terminator = header.terminator
        self.item, self.end = terminator.edges
        self.position = terminator.position
        self.blocks = inf.program.blocks
        self.origin: dict[Variable, Variable] = {}

    def run(self) -> None:
        inf, header = self.inf, self.header
        if self.item.target in inf.visited:
            raise Refused("an iteration over what was not known to be a generator")
        back = self._back_edges()
        if back and header.statements:
            raise Refused("an iteration whose header does more than to ask for the next item")
        inside = self._inside(back)
        body = resumable(inf, self.suspended)
        inf._bind(body, self.suspended.call, self.suspended.cells, header)
        yields = [s for s in statements_of(body.blocks) if s.op == "yield"]
        if len(yields) > _MOST:
            raise Refused(f"{self.suspended.code.co_qualname} yields in many places")
        inf._admit(body, self.suspended.chain, self.suspended.globals, inf.block)
        params = list(header.params)
        header.terminator = Terminator("jump", [], [Edge(body.blocks[0])], self.position)
        for b in body.blocks:
            if b.terminator.kind == "return":
                b.terminator = Terminator(
                    "jump", [], [Edge(self.end.target, list(self.end.args))], b.terminator.position
                )
        copies = [self._copy(inside) for _ in yields[1:]] if back else []
        for number, s in enumerate(yields):
            mapping = copies[number - 1] if number and back else {}
            edges = self._copied_edges(back, mapping)
            self._yield(s, edges, params, mapping)
        inf.consumed.append((self.made, header))
        if self.origin:
            reached = reverse_postorder(IR("", Signature(), blocks=self.blocks))
            Versions(reached, self.origin).settle()

    def _back_edges(self) -> list[tuple[Block, Edge]]:
        """The edges by which the loop goes on to the next item."""
        ir = IR("", Signature(), blocks=self.blocks)
        order = reverse_postorder(ir)
        immediate = dominators(ir, order)
        return [
            (b, e) for b in order for e in b.edges() if e.target is self.header and dominates(immediate, self.header, b)
        ]

    def _inside(self, back: list[tuple[Block, Edge]]) -> list[Block]:
        """The blocks of the loop, without its header."""
        incoming: dict[Block, list[Block]] = {}
        for b in self.blocks:
            for e in b.edges():
                incoming.setdefault(e.target, []).append(b)
        found = closure([b for b, _ in back], lambda b: incoming.get(b, ()), (self.header,))
        return [b for b in self.blocks if b in found and b is not self.header]

    def _copy(self, inside: list[Block]) -> dict[Block, Block]:
        """A copy of the blocks of the loop."""
        blocks, names = copies(self.inf, inside)
        for old, name in names.items():
            assert isinstance(old, Variable) and isinstance(name, Variable)
            self.origin |= {old: self.origin.get(old, old), name: self.origin.get(old, old)}
        return blocks

    def _copied_edges(self, back: list[tuple[Block, Edge]], mapping: Mapping[Block, Block]) -> list[Edge]:
        """The edges to the next item in a copy of the loop."""
        if not mapping:
            return [edge for _, edge in back]
        copies = {mapping[b] for b, _ in back}
        return [e for b in copies for e in b.edges() if e.target is self.header]

    def _yield(self, s: Statement, back: list[Edge], params: list[Variable], mapping: Mapping[Block, Block]) -> None:
        """Let the body of the loop stand in the place of a yield."""
        inf = self.inf
        home = next(b for b in inf.program.blocks if s in b.statements)
        place = home.statements.index(s)
        resumed = Block([Variable(p.name) for p in params], home.statements[place + 1 :], home.terminator)
        item = s.operands[0]
        edge = Edge(mapping.get(self.item.target, self.item.target), [item, *self.item.args])
        home.terminator = Terminator("jump", [], [edge], s.position)
        del home.statements[place:]
        inf.add(home, resumed)
        for e in back:
            e.target = resumed
        for old, new in zip(params, resumed.params):
            self.origin |= {old: old, new: old}


def copies(inf: Inference, inside: list[Block]) -> tuple[dict[Block, Block], dict[Operand, Operand]]:
    """Copies of some blocks of the program, and the names that they have for what the blocks define."""
    names: dict[Operand, Operand] = {}
    blocks = copy_blocks(inside, names)
    for b, new in blocks.items():
        inf.add(b, new)
    rename_tests(inf, names)
    inf.size += sum(len(b.statements) + 1 for b in inside)
    return blocks, names


def rename_tests(inf: Inference, names: Mapping[Operand, Operand]) -> None:
    """What is known of names is known of those in a copy."""
    for old, name in names.items():
        if old in inf.tests:
            inf.tests[name] = _renamed(inf.tests[old], names)  # type: ignore[index]


def _renamed(test: Any, names: Mapping[Operand, Operand]) -> Any:
    classes = None if test.classes is None else names.get(test.classes, test.classes)
    return replace(test, variable=names.get(test.variable, test.variable), classes=classes)


def _delegate(block: Block) -> Edge | None:
    """``yield from``: what is sent is None, so this is an iteration; the edge that is taken at its end."""
    for s in block.statements:
        if s.op == "yield_from_iter":
            s.op = "get_iter"
    t = block.terminator
    if t is None or t.kind != "send":
        return None
    item, end = t.edges
    end = Edge(end.target, [Constant(None), *end.args])
    block.terminator = Terminator("next", [t.operands[0]], [item, end], t.position)
    return end
