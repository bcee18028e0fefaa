"""Lists, dicts, sets and tuples on one way through a program: what they hold is known at each step."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import (
    INT,
    MISSING,
    Abstract,
    Array,
    Container,
    Fresh,
    Instance,
    Known,
    List,
    Number,
    Outside,
    Tuple,
    example_of,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import LOAD, STRUCTURAL
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias, known_as


def new(inf: Path, cls: type, content: Any) -> Abstract:
    """The abstract value of a new container."""
    return inf.type_of(inf.made(cls, content))


def parts(inf: Path, operand: Operand) -> list[Operand]:
    """The items of anything that has a number of them which is known on this way."""
    if operand in inf.iterators:
        return list(inf.iterators[operand])
    if operand in inf.tuples:
        return inf.tuples[operand]
    value = inf.type_of(operand)
    if isinstance(value, Container):
        held = inf.content(operand)
        return list(map(Constant, held)) if value.cls in (dict, set, frozenset) else list(held)
    if isinstance(value, Tuple):
        return [Constant(k) for k in value.keys] if value.cls is dict else _taken_apart(inf, operand, value)
    if isinstance(value, Known) and isinstance(value.value, (tuple, str, range, frozenset)):
        return list(map(Constant, value.value))
    if isinstance(value, Instance) and value.cls in (range, str):
        return [Constant(x) for x in value.example] if value.cls is range else [Constant(x) for x in inf.pin(operand)]
    if isinstance(value, (List, Array)):
        return _elements(inf, operand, value)
    if isinstance(value, Outside) and (is_container(value.cls) or value.cls in (set, frozenset)):
        return parts(inf, adopted(inf, operand, value))
    raise Refused(f"an iteration over {value!r}")


def is_container(cls: type) -> bool:
    """Whether objects of a class are lists, tuples or dicts, and looked into like such."""
    if cls in (list, tuple, dict):
        return True
    return issubclass(cls, tuple) and all(getattr(cls, name, None) is getattr(tuple, name, None) for name in _LOOKS)


_LOOKS: Final = ("__iter__", "__getitem__", "__len__", "__bool__", "__contains__", "__eq__", "__add__", "__mul__")


def _taken_apart(inf: Path, operand: Operand, value: Tuple) -> list[Operand]:
    found = inf.tuples[operand] = [_taken(inf, operand, value, i) for i in range(len(value.items))]
    return found


def _taken(inf: Path, operand: Operand, value: Tuple, index: int) -> Operand:
    item = value.items[index]
    if isinstance(item, Known):
        return Constant(item.value)
    if isinstance(item, (Outside, List)) and value.example is not MISSING:
        return inf.world.part(inf.final(operand), value.example, index, True)
    part = inf.emit("getitem", operand, Constant(index), abstract=item, plan=STRUCTURAL)
    inf.views.setdefault(operand, []).append(part)
    return part


def _elements(inf: Path, operand: Operand, value: List | Array) -> list[Operand]:
    """The items of a list of numbers, or the rows of an array: their number is guarded."""
    count = guarded_length(inf, operand, value)
    if isinstance(value, List):
        return [inf.emit("getitem", operand, Constant(i), abstract=_item(value, i), plan=LOAD) for i in range(count)]
    return [inf.perform("getitem", [operand, Constant(i)]) for i in range(count)]


def guarded_length(inf: Path, operand: Operand, value: List | Array) -> int:
    """The length of a list of numbers or an array, guarded."""
    if isinstance(value, Array) and (value.scalar or not value.ndim):
        raise Refused("an iteration over an array or a scalar")
    operand = inf.present(operand)
    if operand not in inf.lengths:
        known = Number(INT.types, example=len(value.example))
        inf.lengths[operand] = inf.pin(inf.emit("call", Constant(len), operand, abstract=known, data=()))
    return inf.lengths[operand]


def _rows(inf: Path, operand: Operand, value: Array) -> Iterator[Operand]:
    """The rows of an array, each as it is when the iteration comes to it."""
    for i in range(guarded_length(inf, operand, value)):
        yield inf.perform("getitem", [operand, Constant(i)])


def _item(value: List, index: int) -> Abstract:
    assert isinstance(value.item, Number)
    return Number(value.item.types, example=value.example[index])


def adopted(inf: Path, operand: Operand, value: Outside) -> Operand:
    """A list, tuple or dict from outside, with what it holds loaded on entry."""
    if operand not in inf.aliased:
        example = value.example
        inf.world.length(inf.final(operand), example)
        if value.cls in (set, frozenset):
            content: Any = set(example)
        elif issubclass(value.cls, dict):
            content = {k: inf.world.part(inf.final(operand), example, k, True) for k in example}
        else:
            content = [inf.world.part(inf.final(operand), example, i, True) for i in range(len(example))]
        if issubclass(value.cls, tuple):
            inf.aliased[operand] = inf.perform("build_tuple", content)
        else:
            inf.aliased[operand] = inf.made(value.cls, content, origin=operand)
    return inf.aliased[operand]


def build(inf: Path, s: Statement) -> Abstract:
    """``[…]`` and ``{…}``."""
    if s.op == "build_map":
        keys = [inf.pin(k) for k in s.operands[::2]]
        return new(inf, dict, dict(zip(keys, s.operands[1::2])))
    if s.op == "build_set":
        return new(inf, set, set(map(inf.pin, s.operands)))
    return new(inf, list, list(s.operands))


def changeable(inf: Path, operand: Operand) -> Operand:
    """The container that an operand is, or that stands for it."""
    value = inf.type_of(operand)
    if isinstance(value, Container):
        return operand
    if operand in inf.aliased:
        return inf.aliased[operand]
    if isinstance(value, Outside) and value.cls in (list, dict, set, frozenset):
        return adopted(inf, operand, value)
    if isinstance(value, Tuple) and value.cls is dict:
        inf.aliased[operand] = inf.made(dict, pairs(inf, operand), origin=operand)
    elif isinstance(value, List) or isinstance(value, Tuple) and value.cls is list:
        inf.aliased[operand] = inf.made(list, parts(inf, operand), origin=operand)
    else:
        raise Refused(f"a change of {value!r}")
    return inf.aliased[operand]


def list_append(inf: Path, s: Statement) -> Abstract:
    """``items.append(value)`` of a comprehension."""
    inf.changed(s.operands[0]).append(s.operands[1])
    return known_as(inf, s, None)


def set_add(inf: Path, s: Statement) -> Abstract:
    """``{value for …}``."""
    inf.changed(s.operands[0]).add(inf.pin(s.operands[1]))
    return known_as(inf, s, None)


def set_update(inf: Path, s: Statement) -> Abstract:
    """``{*values}``."""
    inf.changed(s.operands[0]).update(map(inf.pin, parts(inf, s.operands[1])))
    return known_as(inf, s, None)


def list_extend(inf: Path, s: Statement) -> Abstract:
    """``[*items]``."""
    inf.changed(s.operands[0]).extend(parts(inf, s.operands[1]))
    return known_as(inf, s, None)


def list_to_tuple(inf: Path, s: Statement) -> Abstract:
    """``(*items,)``."""
    return alias(inf, s, inf.perform("build_tuple", parts(inf, s.operands[0])))


def map_add(inf: Path, s: Statement) -> Abstract:
    """``{key: value for …}``."""
    inf.changed(s.operands[0])[inf.pin(s.operands[1])] = s.operands[2]
    return known_as(inf, s, None)


def dict_update(inf: Path, s: Statement) -> Abstract:
    """``{**mapping}``."""
    inf.changed(s.operands[0]).update(pairs(inf, s.operands[1]))
    return known_as(inf, s, None)


def pairs(inf: Path, operand: Operand) -> dict[Any, Operand]:
    """What a dict holds."""
    value = inf.type_of(operand)
    if isinstance(value, Container) and value.cls is dict:
        return dict(inf.content(operand))
    if isinstance(value, Outside) and value.cls is dict:
        return dict(inf.content(adopted(inf, operand, value)))
    if isinstance(value, Tuple) and value.cls is dict:
        return {k: part_of_dict(inf, operand, value, k) for k in value.keys}
    return {inf.pin((two := parts(inf, item))[0]): two[1] for item in parts(inf, operand)}


def getitem(inf: Path, s: Statement) -> Abstract | None:
    """``owner[key]`` of a container or a tuple; None if it is of neither."""
    owner, key = s.operands
    value = inf.type_of(owner)
    if isinstance(value, Outside) and is_container(value.cls):
        inf.pin(key)
        if value.cls is dict:
            if not inf.world.holds(inf.final(owner), value.example, inf.pin(key)):
                raise Raised(KeyError(inf.pin(key)))
            inf.peeked.add(owner)
            return alias(inf, s, inf.world.part(inf.final(owner), value.example, inf.pin(key), True))
        owner = adopted(inf, owner, value)
        value = inf.type_of(owner)
    if isinstance(value, Known) and type(value.value) in (str, tuple, range) and _is_key(inf.type_of(key)):
        return known_as(inf, s, _at(value.value, inf.pin(key)))
    sequence = owner in inf.tuples or isinstance(value, Container) and value.cls is list
    if sequence or isinstance(value, Tuple) and value.cls is not dict:
        where = _place(inf, key)
        held = parts(inf, owner)
        if isinstance(where, slice):
            chosen = held[where]
            tuple_like = owner in inf.tuples or isinstance(value, Tuple) and value.cls is tuple
            return alias(inf, s, inf.perform("build_tuple", chosen)) if tuple_like else new(inf, list, chosen)
        return alias(inf, s, _at(held, where))
    if isinstance(value, List):
        return _of_list(inf, s, value)
    if isinstance(value, Number) and all(issubclass(cls, np.generic) for cls in value.types):
        return alias(inf, s, inf.perform("getitem", [inf.call(Constant(np.asarray), [owner]), key]))
    if isinstance(value, Container) and value.cls is dict:
        return alias(inf, s, _at(inf.content(owner), inf.pin(key)))
    if isinstance(value, Tuple):
        return alias(inf, s, part_of_dict(inf, owner, value, inf.pin(key)))
    return None


def part_of_dict(inf: Path, operand: Operand, value: Tuple, key: Any) -> Operand:
    """An item of a dict whose keys are known: the same operand each time."""
    if key not in value.keys:
        raise Raised(KeyError(key))
    found = inf.loaded_items.get((operand, key))
    if found is None:
        item = value.items[value.keys.index(key)]
        if isinstance(item, Known):
            found = Constant(item.value)
        else:
            found = inf.emit("getitem", operand, Constant(key), abstract=item, plan=STRUCTURAL)
            inf.views.setdefault(operand, []).append(found)
        inf.loaded_items[operand, key] = found
    return found


def _of_list(inf: Path, s: Statement, value: List) -> Abstract:
    """``items[key]`` of a list of numbers."""
    owner, key = s.operands
    index = _place(inf, key)
    if type(index) is not int:
        return new(inf, list, _elements(inf, owner, value)[index])
    if not -len(value.example) <= index < len(value.example):
        guarded_length(inf, owner, value)
        raise Raised(IndexError)
    found = inf.emit("getitem", owner, Constant(index), abstract=_item(value, index), plan=LOAD)
    return alias(inf, s, found)


def _is_key(value: Abstract) -> bool:
    return isinstance(value, (Known, Number))


def _place(inf: Path, key: Operand) -> Any:
    """An index, a key or a slice: it decides about the way."""
    return slice(*map(inf.pin, inf.slices[key])) if key in inf.slices else inf.pin(key)


def _at(held: Any, where: Any) -> Any:
    try:
        return held[where]
    except (IndexError, KeyError) as error:
        raise Raised(error) from None


def setitem(inf: Path, s: Statement) -> Abstract:
    """``owner[key] = value`` of a container."""
    owner, key, value = s.operands
    owner = changeable(inf, owner)
    where, held = _place(inf, key), inf.changed(owner)
    if isinstance(where, slice):
        held[where] = parts(inf, value)
    else:
        try:
            held[where] = value
        except IndexError as error:
            raise Raised(error) from None
    return known_as(inf, s, None)


def delitem(inf: Path, s: Statement) -> Abstract:
    """``del owner[key]`` of a container."""
    owner, key = s.operands
    owner = changeable(inf, owner)
    try:
        del inf.changed(owner)[inf.pin(key)]
    except (IndexError, KeyError) as error:
        raise Raised(error) from None
    return known_as(inf, s, None)


def unpack(inf: Path, s: Statement) -> Abstract:
    """``a, *b = values``."""
    before, after = s.data
    items = (
        parts(inf, s.operands[0]) if s.operands[0] not in inf.iterators else _some(inf, s.operands[0], before, after)
    )
    if len(items) < before + (after or 0) or after is None and len(items) > before:
        raise Raised(ValueError("a number of values that cannot be unpacked"))
    if after is not None:
        stop = len(items) - after
        items = [*items[:before], inf.made(list, items[before:stop]), *items[stop:]]
    return alias(inf, s, inf.perform("build_tuple", items))


def _some(inf: Path, operand: Operand, before: int, after: int | None) -> list[Operand]:
    iterator = inf.iterators[operand]
    return list(iterator) if after is not None else list(islice(iterator, before + 1))


def project(inf: Path, s: Statement) -> Abstract | None:
    """A part of a tuple."""
    return alias(inf, s, parts(inf, s.operands[0])[s.data])


def get_iter(inf: Path, s: Statement) -> Abstract:
    """The beginning of an iteration."""
    return alias(inf, s, inf.iterator(items(inf, s.operands[0])))


def items(inf: Path, operand: Operand) -> Iterator[Operand]:
    """The items of an iteration, as it comes to them."""
    if operand in inf.iterators:
        return inf.iterators[operand]
    value = inf.type_of(operand)
    if isinstance(value, Container):
        held = inf.content(operand)
        return _live(held) if value.cls is list else _viewed(Keys(held) if value.cls in KEYED else held)
    if isinstance(value, Array):
        return _rows(inf, operand, value)
    if isinstance(value, (Outside, Tuple, List)) and getattr(value, "cls", list) is list:
        return _live(inf.content(changeable(inf, operand)))
    if isinstance(value, (Fresh, Outside)) and not is_container(value.cls):
        return _of_object(inf, operand, value)
    return iter(parts(inf, operand))


def _of_object(inf: Path, operand: Operand, value: Fresh | Outside) -> Iterator[Operand]:
    """The items of an object whose class says how it is iterated over."""
    begin = look(inf, value.cls, "__iter__")
    if not isinstance(begin, FunctionType):
        raise Refused(f"an iteration over {value!r}")
    started = inf.call(Constant(begin), [operand])
    kind = inf.type_of(started)
    if not isinstance(kind, (Fresh, Outside)) or is_container(kind.cls):
        return items(inf, started)
    step = look(inf, kind.cls, "__next__")
    if not isinstance(step, FunctionType):
        raise Refused(f"an iteration over {kind!r}")
    return _stepped(inf, started, step)


def _stepped(inf: Path, operand: Operand, step: FunctionType) -> Iterator[Operand]:
    while True:
        try:
            item = inf.call(Constant(step), [operand])
        except Raised as raised:
            if not issubclass(raised.cls, StopIteration):
                raise
            return
        yield item


def _viewed(held: Any) -> Iterator[Operand]:
    """The items of a dict, which must not grow or shrink meanwhile."""
    try:
        yield from held
    except RuntimeError as error:
        raise Raised(error) from None


KEYED: Final = (dict, set, frozenset)
_EMPTY: Final[dict[Any, Any]] = {}
KEYS: Final = type(_EMPTY.keys())
VALUES: Final = type(_EMPTY.values())
ITEMS: Final = type(_EMPTY.items())


class Keys:
    """The keys of a dict as they are at each moment."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __len__(self) -> int:
        return len(self.held)

    def __iter__(self) -> Iterator[Operand]:
        return map(Constant, self.held)


class Items(Keys):
    """The pairs of a dict as they are at each moment."""

    def __init__(self, inf: Path, held: dict[Any, Operand]) -> None:
        super().__init__(held)
        self.inf = inf

    def __iter__(self) -> Iterator[Operand]:
        return (self.inf.perform("build_tuple", [Constant(k), v]) for k, v in self.held.items())


def _live(held: list[Operand]) -> Iterator[Operand]:
    index = 0
    while index < len(held):
        yield held[index]
        index += 1


def backwards(inf: Path, operand: Operand) -> Iterator[Operand]:
    """The items from the last to the first, as the iteration comes to them."""
    value = inf.type_of(operand)
    if not isinstance(value, Container) or value.cls is not list:
        yield from parts(inf, operand)[::-1]
        return
    held = inf.content(operand)
    index = len(held) - 1
    while 0 <= index < len(held):
        yield held[index]
        index -= 1


def length(inf: Path, operand: Operand) -> int | None:
    """The number of items of a container."""
    value = inf.type_of(operand)
    if isinstance(value, Outside) and is_container(value.cls):
        operand = adopted(inf, operand, value)
        value = inf.type_of(operand)
    if isinstance(value, Container):
        return len(inf.content(operand))
    if isinstance(value, Known) and isinstance(value.value, (str, tuple, range, frozenset)):
        return len(value.value)
    if isinstance(value, Tuple):
        return len(value.items)
    return None


def contains(inf: Path, s: Statement) -> Abstract | None:
    """``item in container``."""
    item, owner = s.operands
    value = inf.type_of(owner)
    if isinstance(value, Outside) and value.cls is dict:
        held = inf.world.holds(inf.final(owner), value.example, inf.pin(item))
        return known_as(inf, s, held == (s.op == "in"))
    if isinstance(value, Outside) and (is_container(value.cls) or value.cls in (set, frozenset)):
        owner = adopted(inf, owner, value)
        value = inf.type_of(owner)
    if isinstance(value, Container) and value.cls in KEYED and _is_hashed(inf, value, item):
        return known_as(inf, s, (inf.pin(item) in inf.content(owner)) == (s.op == "in"))
    if isinstance(value, (Container, Tuple)) or owner in inf.tuples:
        place = next(found(inf, parts(inf, owner), item), None)
        return known_as(inf, s, (place is not None) == (s.op == "in"))
    return None


def _is_hashed(inf: Path, value: Container, item: Operand) -> bool:
    return value.cls is not dict or isinstance(inf.type_of(item), (Known, Instance))


def found(inf: Path, held: list[Operand], item: Operand) -> Iterator[int]:
    """Where a number, a string or a constant is in a list: each comparison decides about the way."""
    for place, other in enumerate(held):
        if other is item:
            yield place
            continue
        values = inf.type_of(other), inf.type_of(item)
        if not all(isinstance(v, (Known, Number)) or isinstance(v, Instance) and v.cls is str for v in values):
            raise Refused("a search in what is not known")
        if inf.pin(inf.perform("compare", [other, item], "==")):
            yield place


def build_slice(inf: Path, s: Statement) -> None:
    """``start:stop:step``: the parts decide where a list is cut."""
    assert s.result is not None
    inf.slices[s.result] = list(s.operands)


def joined(inf: Path, s: Statement) -> Abstract | None:
    """``a + b`` and ``a * n`` of lists and tuples; None if they are not such."""
    kinds = [_sequence(inf, x) for x in s.operands]
    extended = s.op == "inplace" and kinds[0] is list
    if s.data == "+" and kinds[0] is not None and (extended or kinds[0] is kinds[1]):
        both = [x for operand in s.operands for x in parts(inf, operand)]
        return _changed(inf, s, both) if extended else _as(inf, s, kinds[0], both)
    if s.data == "*" and (kinds[0] is None) != (kinds[1] is None):
        place = 0 if kinds[0] is not None else 1
        count = inf.type_of(s.operands[1 - place])
        cls = kinds[place]
        if isinstance(count, (Known, Number)) and type(example_of(count)) is int and cls is not None:
            repeated = parts(inf, s.operands[place]) * inf.pin(s.operands[1 - place])
            return _changed(inf, s, repeated) if extended and place == 0 else _as(inf, s, cls, repeated)
    return None


def _changed(inf: Path, s: Statement, held: list[Operand]) -> Abstract:
    """A list that is changed in place."""
    owner = changeable(inf, s.operands[0])
    inf.changed(owner)[:] = held
    return alias(inf, s, owner)


def _sequence(inf: Path, operand: Operand) -> type | None:
    value = inf.type_of(operand)
    if isinstance(value, Container):
        return list if value.cls is list else None
    if isinstance(value, Tuple) and value.cls in (list, tuple):
        return value.cls
    return tuple if isinstance(value, Known) and type(value.value) is tuple else None


def _as(inf: Path, s: Statement, cls: type, held: list[Operand]) -> Abstract:
    return alias(inf, s, inf.perform("build_tuple", held)) if cls is tuple else new(inf, list, held)


def truth(inf: Path, s: Statement) -> Abstract | None:
    """The truth of a container, or of an object."""
    operand = s.operands[0]
    value = inf.type_of(operand)
    if isinstance(value, (Fresh, Outside)) and not is_container(value.cls):
        method = look(inf, value.cls, "__bool__") or look(inf, value.cls, "__len__")
        if method is None:
            return known_as(inf, s, s.op == "truth")
        if not isinstance(method, FunctionType):
            raise Refused(f"the truth of {value!r}")
        return alias(inf, s, inf.perform(s.op, [inf.call(Constant(method), [operand])]))
    count = length(inf, operand)
    return None if count is None else known_as(inf, s, bool(count) == (s.op == "truth"))
