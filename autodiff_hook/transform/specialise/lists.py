"""Lists of numbers, arrays, tuples and lists, and iterations over what has derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.analysis import definitions, statements_of
from autodiff_hook.ir.types import Args, Block, Constant, Operand, Statement, Variable
from autodiff_hook.records import record
from autodiff_hook.transform.specialise.abstract import (
    MISSING,
    Abstract,
    Array,
    Dict,
    Instance,
    Known,
    List,
    Number,
    Reference,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Changes, Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import (
    built_class,
    codes_in,
    content_of,
    differentiable,
    example_of,
    is_number_of,
    item_like,
)
from autodiff_hook.transform.specialise.merging import ask_for_any_length, ask_for_objects
from autodiff_hook.transform.specialise.places import ask_for_copy, ask_to_append
from autodiff_hook.transform.specialise.plans import alias, pure, require_inert, spread
from autodiff_hook.transform.specialise.program import APPEND, DROP, ITEMS, PARTS, PURE, TAKE, Given, Program

_EXAMPLES = 2
_LENGTH = 64
"""How many items examples of lists have, which recursion would double again and again."""
WHOLE: Final = frozenset({int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])})
"""The types of indices."""


def begin(inf: Inference, s: Statement) -> Abstract:
    """``[]``."""
    inf.plans[s] = PURE
    return new(inf, s, [])


def new(inf: Inference, s: Statement, example: list[Any], *items: Abstract) -> List:
    """A list that a statement makes."""
    before = inf.types.get(s.made)
    made = before if isinstance(before, List) else List(Site(), example=example[:_LENGTH])
    for item in items:
        put(inf, made, item)
    return made


def append(inf: Inference, s: Statement) -> Abstract:
    """``items.append(value)``."""
    owner, value = map(inf.type_of, s.operands)
    if not isinstance(owner, List):
        raise Refused("something else than a list is appended to")
    if owner.site.given:
        ask_to_append(inf, inf.final(s.operands[0]), owner.example)
    require_own(inf, s, owner)
    put(inf, owner, value)
    # The example of a list that was given may be that list itself.
    if not owner.site.given and len(owner.example) < _EXAMPLES and example_of(value) is not MISSING:
        owner.example.append(example_of(value))
    inf.plans[s] = APPEND
    return Known(None)


def extend(inf: Inference, s: Statement, owner: Operand, parts: list[Operand]) -> None:
    """Append several values in the place of a statement, which is the owner or None afterwards."""
    s.op, s.operands, s.data = "same", [owner if s.op == "inplace" else Constant(None)], None
    for part in parts:
        step = Statement("list_append", [owner, part], None, None, s.position)
        inf.block.statements.insert(inf.index, step)
        append(inf, step)
        inf.index = inf.block.statements.index(step) + 1


def pop(inf: Inference, s: Statement) -> Abstract:
    """``items.pop()``: the last item is read, and dropped."""
    read = Statement("getitem", [s.operands[0], Constant(-1)], s.result, None, s.position)
    # What is refused now is tried again when more is known of the items: until then the statement stays as it is.
    item = inf.evaluate(inf, read)
    s.op, s.operands, s.data, s.result = "delitem", list(read.operands), None, None
    if read.result is not None:
        inf.insert(read, item)
    return drop(inf, s)


def drop(inf: Inference, s: Statement) -> Abstract:
    """``del items[-1]``, and ``del items[key]`` of a dict."""
    owner, key = map(inf.type_of, s.operands)
    if isinstance(owner, Tuple):
        ask_for_changes(inf, s.operands[0])
    last = isinstance(s.operands[1], Constant) and isinstance(key, Known) and key.value == -1
    of_dict = isinstance(owner, Dict) and built_class(owner) is None
    if not isinstance(owner, (List, Dict)) or not (last if isinstance(owner, List) else of_dict):
        raise Refused("an item is deleted that is not the last one of a list")
    require_own(inf, s, owner)
    inf.plans[s] = DROP
    return Known(None)


def put(inf: Inference, owner: List | Dict, value: Abstract, key: str | None = None) -> None:
    """A list has an item like ``value``, or a dict by a key."""
    site = owner.site
    before = site.item if key is None else site.named.get(key)
    places = [] if inf.one_way else _places_in(value)
    if places:
        raise Changes("a list that is written out is put into another", *places)
    ask_for_objects(inf, value)
    item = item_like(value)
    if key is not None and before is not None:
        ask_for_any_length(key, before, value)
    after = item if item is None or before is None else item_like(inf.joined(before, item))
    if after is None:
        raise Refused("a list of other things than numbers, arrays, tuples or lists is built")
    inf.stale = inf.stale or before != after
    if key is None:
        site.item = after
    else:
        site.named[key] = after


def _places_in(value: Abstract) -> list[Any]:
    """Where the lists and dicts are written out that a value is, or has among its parts."""
    if not isinstance(value, Tuple):
        return []
    return [value.place] if value.place is not None else [x for item in value.items for x in _places_in(item)]


def item_of_list(owner: List) -> Abstract:
    """What is known of the items."""
    if owner.item is None:
        raise Refused("an item of a list that nothing is appended to so far")
    return owner.item


def _items_of(owner: List) -> list[Abstract]:
    """The same of a list to which nothing may be appended so far."""
    return [] if owner.item is None else [owner.item]


def into_list(inf: Inference, s: Statement, owner: List) -> None:
    """``items[key] = value``."""
    key, value = map(inf.type_of, s.operands[1:])
    if not is_number_of(key, WHOLE):
        raise Refused("a part of a list is assigned")
    require_own(inf, s, owner)
    put(inf, owner, value)


def require_own(inf: Inference, s: Statement, kind: List | Dict) -> None:
    """What is changed is the program's own; where that is not certain, the program looks when it comes there."""
    owner = inf.final(s.operands[0])
    if isinstance(kind, List):
        require_lists(kind)
    if not kind.site.given or s in inf.checked:
        return
    if inf.is_from_outside(owner):
        ask_for_copy(inf, owner)
        raise Refused("what is changed is somebody else's")
    made = maker(inf, owner)
    if made is None or inf.plans.get(made) not in (PURE, ITEMS, PARTS):
        check = Statement("call", [Constant(own), inf.given, owner], None, ())
        inf.insert(check, plan=PURE)
    inf.checked.add(s)


def own(given: set[int], container: Any) -> None:
    """Give up if what is to be changed is not the program's own."""
    if id(container) in given:
        raise Given("what is changed is somebody else's")


def maker(inf: Inference, operand: Operand) -> Statement | None:
    """The statement that makes an operand."""
    return next((s for s in statements_of(inf.program.blocks) if s.result is operand), None)


def ask_for_changes(inf: Inference, owner: Operand) -> None:
    """A list or a dict is changed: if it is written out, the program is followed again with one that may be."""
    value = inf.type_of(owner)
    if isinstance(value, Tuple) and value.place is not None and not inf.one_way:
        raise Changes("a list or a dict that is written out is changed", value.place)


def repeated(inf: Inference, s: Statement) -> Abstract | None:
    """``[x] * n``; None if it is something else."""
    for items, count in (s.operands, s.operands[::-1]):
        kinds, times = inf.type_of(items), inf.type_of(count)
        if isinstance(kinds, Tuple) and kinds.cls is list and kinds.items and is_number_of(times, {int}):
            return made_of(inf, s, kinds.items)
        if isinstance(kinds, List) and is_number_of(times, {int}) and not inf.one_way:
            require_lists(kinds)
            return made_of(inf, s, (item_of_list(kinds),))
    return None


def made_of(inf: Inference, s: Statement, items: tuple[Abstract, ...]) -> Abstract | None:
    """A list that may be changed; None if the items are of several kinds."""
    if inf.one_way or not items:
        return None
    places = [x for item in items for x in _places_in(item)]
    if places:
        raise Changes("a list that is written out is put into another", *places)
    ask_for_objects(inf, *items)
    if item_like(reduce(inf.joined, items)) is None:
        return None
    made = new(inf, s, [example_of(x) for x in items], *items)
    inf.plans[s] = ITEMS
    return made


def listed(inf: Inference, s: Statement, operand: Operand) -> Operand:
    """What is iterated over: a tuple of items of one kind that may have derivatives becomes a list before."""
    kind = inf.type_of(operand)
    if (
        inf.one_way
        or not isinstance(kind, Tuple)
        or kind.cls is not tuple
        or not differentiable(kind)
        or s in inf.classes
    ):
        return operand
    if not kind.items or item_like(reduce(inf.joined, kind.items)) is None:
        return operand
    parts = spread(inf, operand)
    made = Statement("build_list", parts, Variable(), None, s.position)
    inf.insert(made, made_of(inf, made, kind.items))
    inf.listed.add(made)
    return made.made


def slice_of(inf: Inference, s: Statement, owner: List) -> Abstract:
    """``items[a:b]``."""
    inf.plans[s] = PARTS
    made = new(inf, s, list(owner.example), *_items_of(owner))
    if owner.site.cls is not None and s.data != _COPIED:
        made.site.stand_for(owner.site.cls)
    return made


def sum_of(inf: Inference, s: Statement) -> Abstract | None:
    """``a + b`` of lists; None if one is something else."""
    kinds = [inf.type_of(x) for x in s.operands]
    if inf.one_way or not any(isinstance(kind, List) for kind in kinds):
        return None
    for operand, kind in zip(s.operands, kinds):
        if not isinstance(kind, List):
            ask_for_changes(inf, operand)
            return None
    inf.plans[s] = PARTS
    first, second = kinds
    assert isinstance(first, List) and isinstance(second, List)
    require_lists(first, second)
    return new(inf, s, [*first.example, *second.example], *_items_of(first), *_items_of(second))


def as_tuple(items: list[Any]) -> tuple[Any, ...]:
    """The tuple that a list stands for, for what is asked of it as a whole."""
    return tuple(items)


def shown_as_tuple(inf: Inference, s: Statement, args: Args) -> Abstract:
    """A call of ``as_tuple``."""
    kind = inf.type_of(args[0])
    if not isinstance(kind, List):
        return alias(inf, s, args[0])
    require_inert(*_items_of(kind))
    return pure(inf, s, Instance(tuple, example=tuple(kind.example)))


def require_lists(*kinds: List) -> None:
    """Refuse lists that are tuples for the program."""
    if any(kind.site.cls is not None for kind in kinds):
        raise Refused("an operation on what only stands for a tuple")


def copy_of(inf: Inference, s: Statement, owner: Operand) -> Abstract | None:
    """``list(items)`` and ``items.copy()``; None of something else."""
    kind = inf.type_of(owner)
    if not isinstance(kind, List) or inf.one_way:
        return None
    s.op, s.operands, s.data = "getitem", [owner, Constant(slice(None))], _COPIED
    inf.plans[s] = PARTS
    return new(inf, s, list(kind.example), *_items_of(kind))


_COPIED: Final = "copied"
"""All items, where what they are in is not of the class of what has them."""


def taken_apart(inf: Inference, s: Statement, owner: List, count: int) -> Abstract:
    """``a, b = items``."""
    inf.plans[s] = TAKE
    return Tuple((item_of_list(owner),) * count)


@record
class Source:
    """Where a part of the items of an iteration comes from."""

    path: tuple[int, ...]
    owner: Variable
    backwards: Statement | None = None
    """What turns a list round."""
    key: tuple[int, ...] | None = None
    """Where the key is, of an item of a dict."""
    keys: Variable | None = None
    """A list of all keys, made where the iteration begins, of values of a dict."""


@record
class Iteration:
    """A ``for`` over lists with derivatives: it is given indices."""

    start: Statement
    landing: Block
    sources: list[Source]


def iterations(
    program: Program, blocks: list[Block], needs: set[Variable], numbered: Callable[[Abstract], bool]
) -> list[Iteration]:
    """The iterations over what has derivatives whose items are ``numbered``; ``Refused`` if one is not understood."""
    made = definitions(statements_of(blocks))
    found = []
    for block in blocks:
        terminator = block.terminator
        if terminator.kind != "next":
            continue
        landing = terminator.edges[0].target
        if landing.params[0] not in needs or not numbered(program.types[landing.params[0]]):
            continue
        start = made.get(terminator.operands[0])
        if start is None or start.op != "get_iter":
            raise Refused("an iteration that begins elsewhere")
        found.append(Iteration(start, landing, sources(program, start.operands[0], made, (), needs)))
    return found


def view_of(s: Statement) -> str | None:
    """Which view of a dict a statement makes."""
    return s.data[0] if s.op == "call_method" and s.data[0] in ("items", "values") else None


def has_slots(value: Abstract) -> bool:
    """Whether a value has parts whose cotangents are kept where it is, not with what it refers to."""
    value = content_of(value)
    if isinstance(value, Tuple):
        return any(map(has_slots, value.items))
    return not isinstance(value, (Reference, Instance)) and not codes_in(value)


def sources(
    program: Program, operand: Operand, made: dict[Operand, Statement], path: tuple[int, ...], needs: set[Variable]
) -> list[Source]:
    """Where the items of an iteration over ``operand`` come from."""
    if not isinstance(operand, Variable) or operand not in needs:
        return []
    abstract = program.types[operand]
    if isinstance(abstract, List) or isinstance(abstract, Array) and abstract.ndim:
        return [Source(path, operand)]
    s = made.get(operand)
    function = None if s is None else s.callee
    if s is not None and view_of(s) == "items" and isinstance(s.operands[0], Variable):
        return [Source((*path, 1), s.operands[0], key=(*path, 0))]
    if s is not None and view_of(s) == "values" and isinstance(s.operands[0], Variable):
        return [Source(path, s.operands[0], keys=Variable("keys"))]
    if s is not None and s.op == "get_iter":
        return sources(program, s.operands[0], made, path, needs)
    if s is not None and function is zip:
        parts = [sources(program, x, made, (*path, i), needs) for i, x in enumerate(s.operands[1:])]
        return [source for part in parts for source in part]
    if s is not None and function is enumerate:
        return sources(program, s.operands[1], made, (*path, 1), needs)
    if s is not None and function is reversed:
        inner = sources(program, s.operands[1], made, path, needs)
        return [x if x.key is not None else Source(x.path, x.owner, s, keys=x.keys) for x in inner]
    if isinstance(abstract, Tuple) and abstract.cls is list and abstract.place is not None:
        raise Changes("an iteration over a list that is written out", abstract.place)
    raise Refused("an iteration over what is differentiated")


def slots_pattern(value: Abstract | None) -> Any:
    """Of what form the cotangents of an item are: those of a tuple are a list."""
    value = None if value is None else content_of(value)
    if isinstance(value, Tuple):
        return tuple(map(slots_pattern, value.items))
    return 0.0


def is_flat(value: Abstract) -> bool:
    """Whether a list or a dict holds numbers or texts only."""
    if isinstance(value, Tuple):
        return all(isinstance(item, (Number, Instance, Known)) for item in value.items)
    return isinstance(value, (List, Dict)) and all(isinstance(x, (Number, Instance)) for x in value.site.kinds())
