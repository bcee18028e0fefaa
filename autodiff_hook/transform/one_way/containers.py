"""Lists, dicts, sets and tuples on one way through a program: what they hold is known at each step."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Collection, Iterable, Iterator
from types import FunctionType, MappingProxyType
from typing import Any, Final, TypeGuard

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.runtime.kinds import DICTS
from autodiff_hook.runtime.lookup import behind, has_in_type
from autodiff_hook.semantics.equivalents import operating
from autodiff_hook.transform.one_way.hashes import ObjectKey
from autodiff_hook.transform.one_way.held import held_by, is_answered_by_base, is_derived
from autodiff_hook.transform.one_way.identities import is_alone, itself
from autodiff_hook.transform.one_way.operators import is_object, own_method
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised, done, is_container, is_open
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
    Lookup,
    Number,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.constants import members
from autodiff_hook.transform.specialise.lattice import leaves_in, number_types
from autodiff_hook.transform.specialise.lists import WHOLE
from autodiff_hook.transform.specialise.objects import look, written
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.program import LOAD, STRUCTURAL
from autodiff_hook.transform.specialise.wording import named

KEYED: Final = (*DICTS, set, frozenset)


def new(inf: Path, cls: type, content: Any) -> Abstract:
    """The abstract value of a new container."""
    return inf.type_of(inf.made(cls, content))


def held_as(inf: Path, s: Statement, value: Any) -> Abstract:
    """A known value; a list or a set is one of the program's own."""
    if type(value) in (list, set, frozenset):
        return new(inf, type(value), list(map(Constant, value)) if type(value) is list else value)
    return known_as(inf, s, value)


def sequence_of(inf: Path, operand: Operand) -> type | None:
    """Whether a value is a list or a tuple, by the class; None if it is something else."""
    value = inf.type_of(operand)
    if isinstance(value, (Container, Tuple)):
        return value.cls if value.cls in (list, tuple) else None
    return tuple if operand in inf.tuples or isinstance(value, Known) and type(value.value) is tuple else None


_OF_RANGES: Final = ("start", "stop", "step")


def parts(inf: Path, operand: Operand) -> list[Operand]:
    """The items of anything that has a number of them which is known on this way."""
    if operand in inf.iterators:
        return list(inf.iterators[operand])
    known = inf.tuples.get(operand) or inf.given_lists.get(operand)
    if known is not None:
        return known
    value = inf.type_of(members(inf, operand))
    if isinstance(value, Container):
        held = inf.content(operand)
        if value.cls is np.ndarray:
            return [inf.made(np.ndarray, x) if isinstance(x, np.ndarray) else x for x in done(list, held)]
        return list(shown_keys(inf, held)) if value.cls in KEYED else list(held)
    if isinstance(value, Tuple):
        return [Constant(k) for k in value.keys] if value.cls is dict else _taken_apart(inf, operand, value)
    if isinstance(value, Known) and isinstance(value.value, (tuple, str, range, frozenset)):
        return list(map(Constant, value.value))
    if isinstance(value, Instance) and value.cls in (range, str):
        held = [operand] if value.cls is str else [inf.perform("getattr", [operand], x) for x in _OF_RANGES]
        pinned = list(map(inf.pin, held))
        return list(map(Constant, range(*pinned) if value.cls is range else pinned[0]))
    require_items(value, "__iter__")
    if isinstance(value, (List, Array)):
        return elements(inf, operand, value)
    if isinstance(value, Lookup):
        return list(elements_of(inf, operand, value.name, value.receiver))
    if is_adopted(value):
        return parts(inf, inf.adopted(operand, value))
    if isinstance(value, (Fresh, Outside)):
        return list(inf.iterators[inf.perform("get_iter", [operand])])
    raise Refused(f"an iteration over {named(value)}")


def require_items(value: Abstract, method: str) -> None:
    """Raise what Python raises where a number, None or an array without axes is asked for its items."""
    single = number_types(value) is not None or isinstance(value, Known) and value.value is None
    if single or isinstance(value, Array) and not np.ndim(value.example):
        raise Raised(TypeError(f"{named(value)} has no {method}"))


def is_adopted(value: Abstract) -> TypeGuard[Outside]:
    """Whether a value is a container from outside that is looked into on this way."""
    return isinstance(value, Outside) and (is_container(value.cls) or value.cls in (set, frozenset))


def _taken_apart(inf: Path, operand: Operand, value: Tuple) -> list[Operand]:
    found = [_taken(inf, operand, value, i) for i in range(len(value.items))]
    table = inf.given_lists if value.cls is list else inf.tuples
    table[operand] = found
    return found


def _taken(inf: Path, operand: Operand, value: Tuple, index: int) -> Operand:
    item = value.items[index]
    if isinstance(item, Known):
        return Constant(item.value)
    held = any(isinstance(x, (Outside, List)) for x in leaves_in(item))
    if held and value.example is not MISSING:
        return inf.world.part(inf.final(operand), value.example, index, True)
    part = inf.emit("getitem", operand, Constant(index), abstract=item, plan=STRUCTURAL)
    if operand in inf.own:
        inf.own.add(part)
    inf.views.setdefault(operand, []).append(part)
    return part


def elements(inf: Path, operand: Operand, value: List | Array) -> list[Operand]:
    """The items of a list of numbers, or the rows of an array: their number is guarded."""
    count = guarded_length(inf, operand, value)
    if isinstance(value, List):
        return [inf.emit("getitem", operand, Constant(i), abstract=item_at(value, i), plan=LOAD) for i in range(count)]
    return [inf.perform("getitem", [operand, Constant(i)]) for i in range(count)]


def elements_of(inf: Path, operand: Operand, name: str, array: Operand) -> Iterator[Operand]:
    """``array.flat`` as the iterator that it is: over elements, each as it is when the iteration comes to it."""
    if name != "flat":
        raise Refused("an iteration over a method")
    count = inf.pin(inf.perform("getattr", [array], "size"))

    def elements() -> Iterator[Operand]:
        for i in range(count):
            yield inf.perform("getitem", [inf.perform("call_method", [array], ("ravel", ())), Constant(i)])

    inf.iterators[operand] = found = elements()
    return found


def guarded_length(inf: Path, operand: Operand, value: List | Array | Instance | Outside) -> int:
    """The length of a list of numbers or an array, guarded."""
    if isinstance(value, Array) and (value.scalar or not value.ndim):
        raise Refused("an iteration over an array or a scalar")
    operand = inf.present(operand)
    if operand not in inf.lengths:
        known = Number(INT.types, example=len(value.example))
        inf.lengths[operand] = inf.pin(inf.emit("call", Constant(len), operand, abstract=known, data=()))
    return inf.lengths[operand]


def item_at(value: List, index: int) -> Abstract:
    """What is known of an item of a list of numbers."""
    assert isinstance(value.item, Number)
    return Number(value.item.types, example=value.example[index])


def build(inf: Path, s: Statement) -> Abstract:
    """``[…]`` and ``{…}``."""
    if s.op == "build_map":
        keys = [as_key(inf, k) for k in s.operands[::2]]
        return new(inf, dict, dict(zip(keys, s.operands[1::2])))
    if s.op == "build_set":
        return new(inf, set, set(items_of_set(inf, s.operands)))
    return new(inf, list, list(s.operands))


def items_of_set(inf: Path, operands: Iterable[Operand]) -> list[Any]:
    """What a set of some values holds, in the order in which it gets it."""
    held: dict[Any, None] = {}
    for operand in operands:
        held.setdefault(as_item(inf, operand, held))
    return list(held)


def are_sets(inf: Path, operands: list[Operand]) -> bool:
    """Whether all of some values are sets, and not all of them constants."""
    values = [inf.type_of(x) for x in operands]
    sets = [x for x in values if isinstance(x, (Container, Outside)) and x.cls in (set, frozenset)]
    constants = [x for x in values if isinstance(x, Known) and type(x.value) is frozenset]
    return bool(sets) and len(sets) + len(constants) == len(values)


def taken_at_once(inf: Path, source: Operand) -> Any:
    """The set or dict that a set makes room for before it takes the first item; None if it is no such, or not known.

    The order of a set that is filled item by item may be another one.
    """
    value, held = inf.type_of(source), None
    if is_adopted(value) and value.cls in (set, frozenset, dict):
        source = inf.adopted(source, value)
        value = inf.type_of(source)
    if isinstance(value, Container) and value.cls in (set, frozenset, dict):
        held = inf.content(source)
    elif isinstance(value, Known) and type(value.value) is frozenset:
        held = value.value
    elif isinstance(value, Tuple) and value.cls is dict:
        held = dict.fromkeys(value.keys)
    return None if held is None or any(is_open(x) and not is_itself(inf, x) or x != x for x in held) else held


def is_itself(inf: Path, key: Any) -> bool:
    """Whether a key is an object, or the identity of one, that no other key equals."""
    return isinstance(key, Variable) and (is_alone(inf, key) or key in inf.identities.values())


def as_key(inf: Path, operand: Operand) -> Any:
    """What an operand is as a key: its value, which decides about the way; an object that is like no other, itself."""
    if is_alone(inf, operand):
        return itself(inf, operand)
    if is_itself(inf, operand):
        return operand
    if own_method(inf, operand, "__hash__"):
        return ObjectKey(inf, operand)
    if operand in inf.tuples:
        return tuple([as_key(inf, x) for x in inf.tuples[operand]])
    return inf.pin_key(operand)


def as_place(inf: Path, operand: Operand, held: Any) -> Any:
    """What an operand is as a key of what is held: of a sequence, the index that ``__index__`` of an object gives."""
    value = inf.type_of(operand)
    if not is_object(value) or not isinstance(held, (list, tuple, deque)):
        return as_key(inf, operand)
    method = written(inf, value.cls, "__index__")
    if method is not None:
        return inf.pin(inf.call(Constant(operating.converted), [operand, Constant(method), Constant(int)]))
    if has_in_type(value.cls, "__index__"):
        raise Refused(f"{named(value)} as an index")
    raise Raised(TypeError(f"indices must be integers or slices, not {value.cls.__name__}"))


def shown_keys(inf: Path, held: Collection[Any]) -> Iterator[Operand]:
    """The keys of a dict, or what a set holds."""
    if isinstance(held, (set, frozenset)) and len(held) > 1 and any(map(is_open, held)):
        raise Refused("an iteration over a set of what is not known, whose order is its own")
    return map(inf.shown, held)


def as_item(inf: Path, operand: Operand, held: Collection[Any]) -> Any:
    """What an operand is in a set: a key, or a number that is not known.

    Whether such a number equals one that is there decides about the way.
    """
    value = inf.type_of(operand)
    types = number_types(value)
    whole = isinstance(value, Known) or types is not None and types <= WHOLE | {bool}
    if types is None or whole and not any(isinstance(x, Variable) for x in held):
        return as_key(inf, operand)
    if not _is_equal(inf, operand, operand):
        raise Refused("nan in a set")
    others = [(x, x if isinstance(x, Variable) else Constant(x)) for x in held]
    numbers = [(x, other) for x, other in others if number_types(inf.type_of(other))]
    same = [x for x, other in numbers if other is inf.final(operand) or _is_equal(inf, other, operand)]
    return same[0] if same else value.value if isinstance(value, Known) else inf.final(operand)


def _is_equal(inf: Path, a: Operand, b: Operand) -> bool:
    return bool(inf.pin(inf.perform("truth", [inf.perform("compare", [a, b], "==")])))


def in_any_order(inf: Path, operand: Operand) -> Operand:
    """A list of the numbers in a set, some of which are not known, for what does not ask for their order."""
    value = inf.type_of(operand)
    is_set = isinstance(value, Container) and value.cls in (set, frozenset)
    if not is_set or known_value(inf, operand) is not UNKNOWN:
        return operand
    held = [x if isinstance(x, Variable) else Constant(x) for x in inf.content(operand)]
    return inf.made(list, held) if all(number_types(inf.type_of(x)) for x in held) else operand


def changeable(inf: Path, operand: Operand) -> Operand:
    """The container that an operand is, or that stands for it."""
    value = inf.type_of(operand)
    if isinstance(value, Container):
        return operand
    if operand in inf.aliased:
        return inf.aliased[operand]
    if isinstance(value, Outside) and value.cls in (list, dict, set, frozenset):
        return inf.adopted(operand, value)
    if isinstance(value, Tuple) and value.cls is dict:
        inf.aliased[operand] = inf.made(dict, pairs(inf, operand), origin=operand)
    elif isinstance(value, List) or isinstance(value, Tuple) and value.cls is list:
        inf.aliased[operand] = inf.made(list, parts(inf, operand), origin=operand)
    else:
        raise Refused(f"a change of {named(value)}")
    return inf.aliased[operand]


def opened(inf: Path, operands: list[Operand]) -> list[Operand]:
    """Lists from outside with what they hold, where nothing but lists is compared or joined."""
    values = [inf.type_of(x) for x in operands]
    if not all(isinstance(v, List) or getattr(v, "cls", None) is list for v in values):
        return operands
    return [changeable(inf, x) if isinstance(v, (List, Outside)) else x for x, v in zip(operands, values)]


def list_to_tuple(inf: Path, s: Statement) -> Abstract:
    """``(*items,)``."""
    return alias(inf, s, inf.perform("build_tuple", parts(inf, s.operands[0])))


def pairs(inf: Path, operand: Operand) -> dict[Any, Operand]:
    """What a dict holds."""
    value = inf.type_of(operand)
    if isinstance(value, Container) and value.cls in DICTS:
        return dict(inf.content(operand))
    if isinstance(value, Outside) and value.cls in (dict, OrderedDict):
        return dict(inf.content(inf.adopted(operand, value)))
    if isinstance(value, Tuple) and value.cls is dict:
        return {k: part_of_dict(inf, operand, value, k) for k in value.keys}
    derived = held_by(inf, operand, "__iter__") or seen_through(inf, operand)
    if derived is not None:
        return pairs(inf, derived)
    if has_keys(value):
        keys, item = (look(inf, value.cls, name) for name in ("keys", "__getitem__"))
        if not type(keys) is type(item) is FunctionType:
            raise Refused("a dict of what has keys")
        found = parts(inf, inf.call(Constant(keys), [operand]))
        return {as_key(inf, key): inf.call(Constant(item), [operand, key]) for key in found}
    rows = [parts(inf, row) for row in parts(inf, operand)]
    if any(len(row) != 2 for row in rows):
        raise Refused("a dict of what are no pairs")
    return {as_key(inf, key): held for key, held in rows}


def pairs_for(inf: Path, cls: type, operand: Operand) -> dict[Any, Operand]:
    """What a new dict of a class takes over of another one: an ordered dict asks it for its keys and for each item."""
    value = inf.type_of(operand)
    if cls is OrderedDict and is_derived(value) and issubclass(value.cls, dict):
        if not all([is_answered_by_base(inf, value.cls, x) for x in ("keys", "__getitem__")]):
            raise Refused(f"the items of {named(value)} are asked for")
    return pairs(inf, operand)


def has_keys(value: Abstract) -> TypeGuard[Fresh | Outside]:
    """Whether a value is a mapping by its class: what is no dict, and has a method for its keys."""
    return isinstance(value, (Fresh, Outside)) and value.cls is not dict and has_in_type(value.cls, "keys")


def is_mapping(inf: Path, operand: Operand, asked: str) -> bool:
    """Whether an object from outside answers to what is asked as the dict, or the view of one, that it was on entry."""
    value = inf.type_of(operand)
    if not isinstance(value, Outside):
        return False
    if value.cls is MappingProxyType:
        inf.require_as_on_entry(operand)
    if is_derived(value) and issubclass(value.cls, dict):
        return all([is_answered_by_base(inf, value.cls, x) for x in (asked, "__getitem__", "__contains__")])
    return value.cls is dict or value.cls is MappingProxyType and type(behind(value.example)) in _SHOWN


_SHOWN: Final = (dict, OrderedDict)
"""What a view is looked through for."""


def seen_through(inf: Path, operand: Operand) -> Operand | None:
    """The dict that a view from outside shows, as it was on entry; None if a value is no such view."""
    value = inf.type_of(operand)
    if not isinstance(value, Outside) or value.cls is not MappingProxyType:
        return None
    if type(behind(value.example)) not in _SHOWN:
        return None
    inf.shown_whole.append(operand)
    inf.require_as_on_entry(operand)
    return inf.adopted(operand, value)


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


UNKNOWN: Final = object()
"""What ``known_value`` says of a value that is not known."""


def known_value(inf: Path, operand: Operand) -> Any:
    """A known value, in whatever lists, tuples and dicts; ``UNKNOWN`` if it is not known."""
    value = inf.type_of(operand)
    if isinstance(value, Known):
        return value.value
    if isinstance(value, Container) and value.cls in (set, frozenset):
        held = inf.content(operand)
        return UNKNOWN if any(map(is_open, held)) else value.cls(held)
    if isinstance(value, Container) and value.cls is dict:
        items = {key: known_value(inf, x) for key, x in inf.content(operand).items()}
        return UNKNOWN if any(is_open(key) or items[key] is UNKNOWN for key in items) else items
    if operand in inf.tuples or isinstance(value, Container) and value.cls is list:
        held = [known_value(inf, x) for x in parts(inf, operand)]
        if all(x is not UNKNOWN for x in held):
            return tuple(held) if operand in inf.tuples else held
    return UNKNOWN
