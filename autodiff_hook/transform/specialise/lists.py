"""Lists that the program makes and appends to, and iterations over lists whose items carry derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import (
    MISSING,
    Abstract,
    Array,
    Instance,
    Known,
    List,
    Number,
    OwnDict,
    OwnList,
    Tuple,
    example_of,
    inert_class,
    join,
    number_types,
)
from autodiff_hook.transform.specialise.bodies import Changes, Refused
from autodiff_hook.transform.specialise.infer import APPEND, ITEMS, Inference, Program

_EXAMPLES = 2
WHOLE: Final = frozenset({int, np.int64})
"""The types of indices."""


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


def put(inf: Inference, owner: OwnList | OwnDict, value: Abstract, key: Any = None) -> None:
    """A list has an item like ``value``, or a dict by a key."""
    item = item_like(value)
    slot = slot_of(owner, key)
    before = inf.items.get(slot)
    after = item if item is None or before is None else item_like(join(before, item))
    if after is None:
        raise Refused("a list of other things than numbers or arrays is built")
    inf.stale = inf.stale or before != after
    inf.items[slot] = after
    if isinstance(owner, OwnList) and len(owner.example) < _EXAMPLES and example_of(value) is not MISSING:
        owner.example.append(example_of(value))


def slot_of(owner: OwnList | OwnDict, key: Any = None) -> Any:
    """Where it is kept what the items of a list are, or what a dict has by a key."""
    return owner.made if isinstance(owner, OwnList) else (owner.made, key)


def item_like(value: Abstract) -> Abstract | None:
    """What is known of an item of a list that may change: a number or an array; None if it is something else."""
    types = number_types(value)
    if types is not None:
        return Number(types, example=example_of(value))
    if isinstance(value, OwnList):
        return value
    if inert_class(value) is not None:
        return Instance(inert_class(value), example=example_of(value))  # type: ignore[arg-type]
    return value if isinstance(value, Array) and value.ndim and not value.scalar else None


def item_of_own(inf: Inference, owner: OwnList) -> Abstract:
    """What is known of the items."""
    found = inf.items.get(owner.made)
    if found is None:
        raise Refused("an item of a list that nothing is appended to so far")
    return found


def into_list(inf: Inference, owner: OwnList, key: Abstract, value: Abstract) -> None:
    """``items[key] = value``."""
    if not (number_types(key) or {None}) <= WHOLE:
        raise Refused("a part of a list is assigned")
    put(inf, owner, value)


def maker(inf: Inference, operand: Operand) -> Statement | None:
    """The statement that makes an operand."""
    return next((s for b in inf.program.blocks for s in b.statements if s.result is operand), None)


def ask_for_changes(inf: Inference, owner: Operand) -> None:
    """A list or a dict is changed: if it is written out, the program is followed again with one that may be."""
    value, made = inf.type_of(owner), maker(inf, inf.final(owner))
    if isinstance(value, Tuple) and value.cls in (list, dict) and made is not None and not inf.one_way:
        raise Changes("a list or a dict that is written out is changed", made.position)


def repeated(inf: Inference, s: Statement) -> Abstract | None:
    """``[x] * n``; None if it is something else."""
    for items, count in (s.operands, s.operands[::-1]):
        kinds, times = inf.type_of(items), inf.type_of(count)
        if isinstance(kinds, Tuple) and kinds.cls is list and kinds.items and number_types(times) == frozenset({int}):
            return made_of(inf, s, kinds.items)
        if isinstance(kinds, OwnList) and number_types(times) == frozenset({int}):
            return made_of(inf, s, (item_of_own(inf, kinds),))
    return None


def made_of(inf: Inference, s: Statement, items: tuple[Abstract, ...]) -> Abstract | None:
    """A list of numbers or arrays that may be changed; None if these are something else."""
    if inf.one_way or not items or item_like(reduce(join, items)) is None:
        return None
    assert s.result is not None
    before = inf.types.get(s.result)
    made = before if isinstance(before, OwnList) else OwnList(s.result, example=[example_of(x) for x in items])
    put(inf, made, reduce(join, items))
    inf.plans[s] = ITEMS
    return made


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
    if isinstance(abstract, Tuple) and abstract.cls is list and s is not None:
        raise Changes("an iteration over a list that is written out", s.position)
    raise Refused("an iteration over what is differentiated")
