"""Lists that the program makes and appends to, and iterations over lists whose items carry derivatives."""

from __future__ import annotations

from dataclasses import dataclass

from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import (
    MISSING,
    Abstract,
    Array,
    Known,
    List,
    Number,
    OwnList,
    Tuple,
    example_of,
    join,
    number_types,
)
from autodiff_hook.transform.specialise.bodies import ListsWanted, Refused
from autodiff_hook.transform.specialise.infer import APPEND, Inference, Program

_EXAMPLES = 2


def begin(inf: Inference, s: Statement) -> Abstract:
    """``[]``."""
    assert s.result is not None
    inf.plans[s] = "pure"
    before = inf.types.get(s.result)
    return before if isinstance(before, OwnList) else OwnList(s.result, example=[])


def append(inf: Inference, s: Statement) -> Abstract:
    """``items.append(value)``."""
    owner, value = map(inf.type_of, s.operands)
    if not isinstance(owner, OwnList):
        raise Refused("a list of other things than numbers is built")
    put(inf, owner, value)
    inf.plans[s] = APPEND
    return Known(None)


def put(inf: Inference, owner: OwnList, value: Abstract) -> None:
    """A list has an item like ``value``."""
    item = item_like(value)
    before = inf.lists.get(owner.made)
    after = item if item is None or before is None else item_like(join(before, item))
    if after is None:
        raise Refused("a list of other things than numbers or arrays is built")
    inf.stale = inf.stale or before != after
    inf.lists[owner.made] = after
    if len(owner.example) < _EXAMPLES and example_of(value) is not MISSING:
        owner.example.append(example_of(value))


def item_like(value: Abstract) -> Abstract | None:
    """What is known of an item of a list that may change: a number or an array; None if it is something else."""
    types = number_types(value)
    if types is not None:
        return Number(types, example=example_of(value))
    return value if isinstance(value, Array) and value.ndim and not value.scalar else None


def item_of_own(inf: Inference, owner: OwnList) -> Abstract:
    """What is known of the items."""
    found = inf.lists.get(owner.made)
    if found is None:
        raise Refused("an item of a list that nothing is appended to so far")
    return found


@dataclass(slots=True)
class Source:
    """Where a part of the items of an iteration comes from."""

    path: tuple[int, ...]
    owner: Variable
    backwards: bool = False


@dataclass(slots=True)
class Iteration:
    """A ``for`` over lists with derivatives: it is given indices."""

    start: Statement
    landing: Block
    sources: list[Source]


def iterations(program: Program, blocks: list[Block], needs: set[Variable]) -> list[Iteration]:
    """The iterations whose items need cotangents; ``Refused`` for those that are not understood."""
    made = {s.result: s for b in blocks for s in b.statements if s.result is not None}
    found = []
    for block in blocks:
        terminator = block.terminator
        if terminator is None or terminator.kind != "next":
            continue
        landing = terminator.edges[0].target
        if landing.params[0] not in needs:
            continue
        start = made.get(terminator.operands[0])  # type: ignore[arg-type]
        if start is None or start.op != "get_iter":
            raise Refused("an iteration that begins elsewhere")
        found.append(Iteration(start, landing, sources(program, start.operands[0], made, (), needs)))
    return found


def sources(
    program: Program,
    operand: Operand,
    made: dict[Variable, Statement],
    path: tuple[int, ...],
    needs: set[Variable],
) -> list[Source]:
    """Where the items of an iteration over ``operand`` come from."""
    if not isinstance(operand, Variable) or operand not in needs:
        return []
    abstract = program.types[operand]
    if isinstance(abstract, (List, OwnList)) or isinstance(abstract, Array) and abstract.ndim == 1:
        return [Source(path, operand)]
    s = made.get(operand)
    function = s.operands[0].value if s is not None and s.op == "call" and isinstance(s.operands[0], Constant) else None
    if s is not None and s.op == "get_iter":
        return sources(program, s.operands[0], made, path, needs)
    if s is not None and function is zip:
        parts = [sources(program, x, made, (*path, i), needs) for i, x in enumerate(s.operands[1:])]
        return [source for part in parts for source in part]
    if s is not None and function is enumerate:
        return sources(program, s.operands[1], made, (*path, 1), needs)
    if s is not None and function is reversed:
        inner = sources(program, s.operands[1], made, path, needs)
        return [Source(x.path, x.owner, not x.backwards) for x in inner]
    if isinstance(abstract, Tuple) and abstract.cls is list and not program.displays:
        raise ListsWanted("an iteration over a list that is written out")
    raise Refused("an iteration over what is differentiated")
