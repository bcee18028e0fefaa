"""Regions: parts of a function that is carried, each of which is given a function of its own and may be typed.

Where a typed program gives up is known as a place in the source. A region is the largest part around a loop, or a few
calls, that has no such place. Control enters it at one block, and leaves it for one other block, or by returning; what
it is given are the parameters of its function, and what is used behind it is what that returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from types import CodeType
from typing import Final

from autodiff_hook.ir.analysis import (
    closure,
    defined_in,
    dominates,
    dominators,
    free_variables,
    natural_loops,
    reachable,
    reverse_postorder,
    statements_of,
    successors,
)
from autodiff_hook.ir.types import (
    CANNOT_RAISE,
    IR,
    RECEIVED,
    TERMINATORS_THAT_RAISE,
    UNBOUND,
    Args,
    Block,
    Constant,
    Edge,
    Operand,
    Position,
    Statement,
    Terminator,
    Variable,
)
from autodiff_hook.transform.generic.outlining import Outlining, begun, cells_of, used_behind

_CALLS: Final = frozenset({"call", "call_method", "call_ex", "call_loaded"})
_SEVERAL: Final = 2
_LARGEST: Final = 400
"""How many blocks a function may have."""
_PLAIN: Final = frozenset({"jump", "return"})
_STAYING: Final = frozenset("yield yield_from_iter awaitable cleanup_throw store_global delete_global".split())
_OF_THE_FRAME: Final = frozenset({"super", "warn", "warn_explicit", "stack", "locals", "vars", "dir", "eval", "exec"})
"""Names of what may look at the frame that calls it."""
_OF_OBJECTS: Final = frozenset("getattr call_method load_method setattr delattr forget".split())
"""What is done to what may be an object, whose death can be observed."""
_STORES: Final = frozenset("setattr setitem delattr delitem cell_set cell_del".split())
_CHANGING: Final = frozenset(
    "append extend insert pop remove clear update setdefault add discard popleft appendleft".split()
)
"""The methods that change what they are of."""
_READING: Final = frozenset({"getattr", "getitem", "check"})
_LOADS: Final = _READING | {"global", "cell_get"}
_KEPT: Final = frozenset({"get_iter", "yield_from_iter", "aiter", "enter", "load_method", "push_exc"})
"""What makes things that no function may be given: iterators, methods of the engine, what is being handled."""


def give_functions(ir: IR, places: Set[Position]) -> list[CodeType]:
    """Let the regions of ``ir`` around the ``places`` be calls of functions of their own: the code of these."""
    if len(ir.blocks) > _LARGEST:
        return []
    _set_apart_entry(ir)
    staying = _staying(ir, places)
    blocks = [piece for block in ir.blocks for piece in _pieces(block, staying)]
    left = {block for block in blocks if _ends_at(block, places) or not staying.isdisjoint(block.statements)}
    ir.blocks = blocks
    if not left:
        # The whole function would be a region, which calls itself.
        return []
    found = [*_Finder(ir, left).regions()]
    made = [Outlining(ir, *region).replace() for region in found]
    ir.blocks = reachable(ir.blocks)
    return made


def _set_apart_entry(ir: IR) -> None:
    """Let the first block do nothing but make cells."""
    entry = ir.entry
    count = next((i for i, s in enumerate(entry.statements) if s.op != "make_cell"), len(entry.statements))
    rest = Block([], entry.statements[count:], entry.terminator, entry.handler)
    first = Block(entry.params, entry.statements[:count], Terminator("jump", [], [Edge(rest)]))
    ir.blocks[:1] = [first, rest]


def _staying(ir: IR, places: Set[Position]) -> set[Statement]:
    """What is in no region: what stands at the places, or computes in the same line, and what looks at its frame."""
    lines = {place.line for place in places}
    found = set()
    for s in list(statements_of(ir.blocks)):
        name = s.data[0] if s.op == "call_method" else s.data
        beside = s.position is not None and s.position.line in lines and s.op != "get_iter"
        looks = s.op in ("global", "getattr", "call_method", "load_method") and name in _OF_THE_FRAME
        if beside or looks or s.op in _STAYING or s.position in places:
            found.add(s)
    return found


def _ends_at(block: Block, places: Set[Position]) -> bool:
    return block.terminator.kind not in _PLAIN and block.terminator.position in places


def _pieces(block: Block, staying: set[Statement]) -> list[Block]:
    """A block cut in front of and behind the statements that stay; with an exception edge it is as small as can be."""
    if block.handler is not None:
        return [block]
    found = [block]
    statements, block.statements = block.statements, []
    for s in statements:
        before = found[-1].statements
        if before and (s in staying) != (before[-1] in staying):
            rest = Block(terminator=found[-1].terminator)
            found[-1].terminator = Terminator("jump", [], [Edge(rest)], s.position)
            found.append(rest)
        found[-1].statements.append(s)
    return found


class _Finder:
    """Finds the regions of a function, outer loops first; those in ``left`` are in none."""

    def __init__(self, ir: IR, left: set[Block]) -> None:
        self.ir, self.left = ir, left
        self.order = reverse_postorder(ir)
        self.idom = dominators(ir, self.order)
        self.unbound = _unbound(ir)
        self.kept = {s.result for s in statements_of(ir.blocks) if s.op in _KEPT}
        self.cells = cells_of(ir)
        read = [s for s in statements_of(ir.blocks) if s.op in _READING and s.result is not None]
        self.read_from: dict[Operand, Operand] = {s.made: s.operands[0] for s in read}

    def regions(self) -> Iterator[tuple[Block, list[Block], Block | None]]:
        """The first block, all blocks, and the block behind them, which is None where the region returns."""
        taken: set[Block] = set()
        for first, body in self._worth():
            if taken.isdisjoint(body) and self.left.isdisjoint(body):
                found = self._around(first, body, taken)
                if found is not None:
                    taken.update(found[1])
                    yield found

    def _worth(self) -> Iterator[tuple[Block, set[Block]]]:
        """What regions are looked for around: loops, and what calls several functions outside of these."""
        inside = set[Block]()
        for loop in natural_loops(self.ir):
            inside |= loop.body
            yield loop.header, loop.body
        for block in self.order:
            if block not in inside and sum([s.op in _CALLS for s in block.statements]) >= _SEVERAL:
                yield block, {block}

    def _around(
        self, first: Block, body: set[Block], taken: set[Block]
    ) -> tuple[Block, list[Block], Block | None] | None:
        """The largest region that has all of ``body``, where control comes to ``first``."""
        entries = [first]
        while self.idom[entries[-1]] is not entries[-1]:
            entries.append(self.idom[entries[-1]])
        for entry in reversed(entries):
            if entry not in self.left and entry not in taken:
                rest = [*closure([entry], successors)]
                if self._may_be(entry, rest, None, taken):
                    return entry, rest, None
                for region, leads_to in reversed(self._grown(entry, taken)):
                    if body.issubset(region) and self._may_be(entry, region, leads_to, taken):
                        return entry, region, leads_to
        return None

    def _grown(self, entry: Block, taken: set[Block]) -> list[tuple[list[Block], Block]]:
        """The blocks behind the first one, more and more of them, wherever they lead to one block alone."""
        found = list[tuple[list[Block], Block]]()
        region, ahead, handlers = dict[Block, None](), {entry: None}, set[Block]()
        for block in self.order:
            refused = block in self.left or block in taken or block.terminator.kind == "return"
            met = block in ahead or block in handlers
            if not met or refused or not dominates(self.idom, entry, block):
                continue
            region[block] = None
            if block.handler is not None:
                handlers.add(block.handler.target)
            following = [edge.target for edge in block.terminator.edges]
            ahead = dict.fromkeys(x for x in [*ahead, *following] if x not in region)
            if len(ahead) == 1:
                found.append(([*region], next(iter(ahead))))
        return found

    def _may_be(self, entry: Block, region: list[Block], leads_to: Block | None, taken: set[Block]) -> bool:
        inside = set(region)
        if not self.left.isdisjoint(inside) or not taken.isdisjoint(inside):
            return False
        if not all(dominates(self.idom, entry, block) for block in region):
            return False
        others = [block for block in self.order if block not in inside]
        if any(x in inside and x is not entry for block in others for x in successors(block)):
            return False
        ways = [way for block in region for way in zip(block.terminator.edges, RECEIVED.get(block.terminator.kind, ()))]
        leaving = [(edge, count) for edge, count in ways if edge.target not in inside]
        if any(edge.target is not leads_to or count for edge, count in leaving):
            return False
        if not _is_covered_alike(region, inside):
            return False
        if entry is self.ir.entry or leads_to is None and self.ir.kind != "function":
            return False
        if self._ends_objects(entry, region) or self._changes_others(region, leads_to):
            return False
        passed: list[Operand] = [*free_variables(region), *entry.params, *used_behind(self.ir, region)]
        passed += [x for edge, _ in leaving for x in edge.args]
        given = [x for x in passed if x not in self.cells]
        made = {s.result for s in statements_of(region)}
        return self.unbound.isdisjoint(given) and self.kept.isdisjoint(given) and made.isdisjoint(self.cells)

    def _changes_others(self, region: list[Block], leads_to: Block | None) -> bool:
        """Whether the region changes what it has not made, which no program of its own may do."""
        statements = list(statements_of(region))
        made = {s.result for s in statements if s.op not in _LOADS}
        made.update(p for block in region[1:] for p in block.params)
        others = {self._holder(s.operands[0]) for s in statements if _stores(s)} - made
        return bool(others) and not others <= begun(self.ir, region, leads_to).keys()

    def _holder(self, operand: Operand) -> Operand:
        """What something was read out of, and that was read out of, and so on."""
        while operand in self.read_from:
            operand = self.read_from[operand]
        return operand

    def _ends_objects(self, entry: Block, region: list[Block]) -> bool:
        """Whether the region assigns a variable again, or deletes it, that may hold an object it is given."""
        statements = list(statements_of(region))
        made = {s.result for s in statements} | {p for block in region[1:] for p in block.params}
        assigned = _names([*made, *(s.operands[0] for s in statements if s.op == "forget")])
        owners = _names(s.operands[0] for s in statements if s.op in _OF_OBJECTS)
        return not assigned.isdisjoint(owners & _names([*entry.params, *free_variables(region)]))


def _names(operands: Iterable[Operand | None]) -> set[str]:
    """The user's names of those that have one."""
    return {x.name for x in operands if isinstance(x, Variable) and x.name is not None}


def _stores(s: Statement) -> bool:
    return s.op in _STORES or s.op == "call_method" and s.data[0] in _CHANGING


def _is_covered_alike(region: list[Block], inside: set[Block]) -> bool:
    """Whether there is no handler of what a region raises and does not handle, or one that is handed the same."""
    around = [None if b.handler is None or b.handler.target in inside else b.handler for b in region]
    handlers = [handler for handler in around if handler is not None]
    if not handlers:
        return True
    made = defined_in(region)
    first = handlers[0]
    same = all(x.target is first.target and _same(x.args, first.args) for x in handlers)
    open_ = [block for block, handler in zip(region, around) if handler is None and block.handler is None]
    return same and made.isdisjoint(first.args) and not any(map(_may_raise, open_))


def _same(args: Args, others: list[Operand]) -> bool:
    pairs = zip(args, others)
    return all(x is y or isinstance(x, Constant) and isinstance(y, Constant) and x.value is y.value for x, y in pairs)


def _may_raise(block: Block) -> bool:
    kind = block.terminator.kind
    return kind in TERMINATORS_THAT_RAISE or any(s.op not in CANNOT_RAISE for s in block.statements)


def _unbound(ir: IR) -> set[Operand]:
    """What may be ``UNBOUND``."""
    flows = dict[Operand, list[Operand]]()
    found: list[Operand] = []
    for block in ir.blocks:
        for edge in block.edges():
            for param, arg in edge.bound():
                flows.setdefault(arg, []).append(param)
                if isinstance(arg, Constant) and arg.value is UNBOUND:
                    found += [arg, param]
    return set(closure(found, lambda x: flows.get(x, ())))
