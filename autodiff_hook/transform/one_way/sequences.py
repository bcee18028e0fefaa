"""Lists, tuples and dicts as wholes, on one way: their length and truth, what is in them, sums, sorting."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import FunctionType
from typing import Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.runtime.kinds import DICTS
from autodiff_hook.runtime.lookup import has_in_type
from autodiff_hook.semantics.operations import NAMES
from autodiff_hook.transform.one_way import namespaces
from autodiff_hook.transform.one_way.asked import is_asked, require_count
from autodiff_hook.transform.one_way.containers import (
    KEYED,
    UNKNOWN,
    as_item,
    as_key,
    changeable,
    guarded_length,
    is_adopted,
    is_itself,
    is_mapping,
    known_value,
    new,
    opened,
    parts,
    require_items,
    seen_through,
    sequence_of,
)
from autodiff_hook.transform.one_way.growing import extend
from autodiff_hook.transform.one_way.held import held_by
from autodiff_hook.transform.one_way.keys import key_in
from autodiff_hook.transform.one_way.operators import is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise import following
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Container,
    Fresh,
    Instance,
    Known,
    Number,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.abstract import Iterator as IteratorOf
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import example_of, inert_class, is_none, number_types
from autodiff_hook.transform.specialise.lists import WHOLE
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.wording import named


def length(inf: Path, operand: Operand) -> int | None:
    """The number of items of a container."""
    value = inf.type_of(operand)
    if is_asked(value):
        return require_count(inf, operand, len(example_of(value)))
    if is_adopted(value):
        operand = inf.adopted(operand, value)
        value = inf.type_of(operand)
    held = held_by(inf, operand, "__len__") or seen_through(inf, operand)
    if held is not None:
        return length(inf, held)
    if isinstance(value, Container):
        return len(inf.content(operand))
    if isinstance(value, Known) and isinstance(value.value, (str, tuple, range, frozenset)):
        return len(value.value)
    if isinstance(value, Tuple):
        return len(value.items)
    if isinstance(value, (Instance, Outside)) and value.cls is np.ndarray and value.example.ndim:
        return guarded_length(inf, operand, value)
    return None


def require_length(inf: Path, operand: Operand) -> None:
    """Raise what Python raises where something that has no length is asked for it."""
    value = inf.type_of(operand)
    require_items(value, "__len__")
    if is_object(value) and look(inf, value.cls, "__len__") is None and not has_in_type(value.cls, "__len__"):
        raise Raised(TypeError(f"{named(value)} has no __len__"))


def contains(inf: Path, s: Statement) -> Abstract | None:
    """``item in container``."""
    named = namespaces.contains(inf, s)
    if named is not None:
        return named
    item, owner = s.operands
    value = inf.type_of(owner)
    if is_none(value):
        raise Raised(TypeError("argument of type 'NoneType' is not iterable"))
    if isinstance(value, Outside) and is_mapping(inf, owner, "__contains__"):
        held = inf.world.holds(inf.final(owner), value.example, key_in(inf, value.example, item))
        return known_as(inf, s, held == (s.op == "in"))
    if isinstance(value, (Fresh, Outside)) and not is_adopted(value):
        return _contained(inf, s, value)
    if is_adopted(value):
        owner = inf.adopted(owner, value)
        value = inf.type_of(owner)
    if isinstance(value, Container) and value.cls in KEYED and _is_hashed(inf, value, item):
        held = inf.content(owner)
        key = as_key(inf, item) if value.cls in DICTS else as_item(inf, item, held)
        return known_as(inf, s, (key in held) == (s.op == "in"))
    kind = inf.type_of(item)
    if isinstance(value, Container) and value.cls in KEYED and isinstance(kind, Container) and kind.cls in _UNHASHABLE:
        raise Raised(TypeError(f"unhashable type: {kind.cls.__name__!r}"))
    constant = isinstance(value, Known) and type(value.value) is tuple and is_object(inf.type_of(item))
    if isinstance(value, (Container, Tuple)) or owner in inf.tuples or constant:
        return _found_among(inf, s, owner, item)
    return None


_UNHASHABLE: Final = frozenset({list, dict, *DICTS})


def _found_among(inf: Path, s: Statement, owner: Operand, item: Operand) -> Abstract:
    place = next(found(inf, parts(inf, owner), item), None)
    return known_as(inf, s, (place is not None) == (s.op == "in"))


def _contained(inf: Path, s: Statement, value: Fresh | Outside) -> Abstract:
    """``item in owner`` of an object: what its class says, or whether an iteration comes to it."""
    item, owner = s.operands
    method = look(inf, value.cls, "__contains__")
    if type(method) is FunctionType:
        answer = inf.perform("truth", [inf.call(Constant(method), [owner, item])])
        return alias(inf, s, answer if s.op == "in" else inf.perform("not", [answer]))
    if method is not None:
        raise Refused(f"what is in {named(value)}")
    return _found_among(inf, s, owner, item)


def _is_hashed(inf: Path, value: Container, item: Operand) -> bool:
    kinds = (Known, Instance, Fresh)
    return value.cls not in DICTS or item in inf.tuples or is_itself(inf, item) or isinstance(inf.type_of(item), kinds)


def found(inf: Path, held: list[Operand], item: Operand) -> Iterator[int]:
    """Where a number, a string or a constant is in a list: each comparison decides about the way."""
    for place, other in enumerate(held):
        if inf.final(other) is inf.final(item):
            yield place
            continue
        values = inf.type_of(other), inf.type_of(item)
        if any(map(is_none, values)) and any(map(_is_no_none, values)):
            continue
        both = opened(inf, [other, item])
        kinds = [sequence_of(inf, x) for x in both]
        if None not in kinds:
            if kinds[0] is not kinds[1]:
                continue
            for each in both:
                parts(inf, each)  # a tuple whose parts are taken is compared by them
        elif any(kind is not None for kind in kinds) and any(map(_equals_no_sequence, values)):
            continue
        elif not all(map(_is_comparable, values)):
            raise Refused("a search in what is not known")
        if inf.pin(inf.perform("compare", both, "==")):
            yield place


def _is_comparable(value: Abstract) -> bool:
    if isinstance(value, Instance):
        return value.cls is str or issubclass(value.cls, np.dtype)
    return isinstance(value, (Known, Number)) or is_object(value)


def _equals_no_sequence(value: Abstract) -> bool:
    """Whether a value is a constant, a class or a type of annotations that equals no tuple and no list."""
    cls = type(value.value) if isinstance(value, Known) else None
    return cls is not None and cls.__module__ in ("builtins", "types", "typing") and not issubclass(cls, (tuple, list))


def _is_no_none(value: Abstract) -> bool:
    """Whether a value is of a class of Python's whose objects do not equal None."""
    return isinstance(value, (Tuple, Container, Instance)) and value.cls in (list, tuple, dict, str, bytes)


def build_slice(inf: Path, s: Statement) -> None:
    """``start:stop:step``: the parts decide where a list is cut."""
    kinds = [number_types(inf.type_of(x)) for x in s.operands]
    if any(types is not None and not types <= WHOLE | {bool} for types in kinds):
        if all(isinstance(inf.type_of(x), Known) for x in s.operands):
            return
        raise Refused("a slice of numbers that are not whole")
    inf.slices[s.made] = list(s.operands)


_OF_LISTS: Final = ("+", "*")
"""The operators by which lists are changed in place."""


def joined(inf: Path, s: Statement) -> Abstract | None:
    """``a + b`` and ``a * n`` of lists and tuples; None if they are not such."""
    if s.op == "binary" and s.data in _OF_LISTS:
        s.operands = opened(inf, s.operands)
    kinds = [sequence_of(inf, x) for x in s.operands]
    extended = s.op == "inplace" and kinds[0] is list
    if extended and s.data not in _OF_LISTS:
        return alias(inf, s, inf.perform("binary", list(s.operands), s.data))
    if extended and _is_asked(inf, s.operands[1], f"__r{NAMES[s.data]}__"):
        raise Refused("a list is added to by what may make something else of it")
    if s.data == "+" and extended:
        owner = changeable(inf, s.operands[0])
        extend(inf, owner, s.operands[1])
        return alias(inf, s, owner)
    if s.data == "+" and kinds[0] is not None and kinds[0] is kinds[1]:
        return _as(inf, s, kinds[0], [x for operand in s.operands for x in parts(inf, operand)])
    if s.data == "*" and (kinds[0] is None) != (kinds[1] is None):
        place = 0 if kinds[0] is not None else 1
        count = inf.type_of(s.operands[1 - place])
        cls = kinds[place]
        if isinstance(count, (Known, Number)) and type(example_of(count)) in WHOLE and cls is not None:
            repeated = parts(inf, s.operands[place]) * inf.pin(s.operands[1 - place])
            return _changed(inf, s, repeated) if extended and place == 0 else _as(inf, s, cls, repeated)
    return None


def _is_asked(inf: Path, operand: Operand, method: str) -> bool:
    """Whether an operand comes before a list, which is no number to Python."""
    value = inf.type_of(operand)
    if isinstance(value, (Fresh, Outside)):
        return look(inf, value.cls, method) is not None
    return isinstance(value, Array) or any(issubclass(cls, np.generic) for cls in number_types(value) or ())


def _changed(inf: Path, s: Statement, held: list[Operand]) -> Abstract:
    """A list that is changed in place."""
    owner = changeable(inf, s.operands[0])
    inf.changed(owner)[:] = held
    return alias(inf, s, owner)


def _as(inf: Path, s: Statement, cls: type, held: list[Operand]) -> Abstract:
    return alias(inf, s, inf.perform("build_tuple", held)) if cls is tuple else new(inf, list, held)


_FLOAT_TRUTH: Final = float.__dict__["__bool__"]


def truth(inf: Path, s: Statement) -> Abstract | None:
    """The truth of a container, an iterator or an object."""
    operand = s.operands[0]
    value = inf.type_of(operand)
    if isinstance(value, IteratorOf):
        return known_as(inf, s, s.op == "truth")
    if isinstance(value, Fresh) and value.made in inf.numbers and look(inf, value.cls, "__bool__") is _FLOAT_TRUTH:
        return alias(inf, s, inf.perform(s.op, [inf.plain(operand)]))
    seen = seen_through(inf, operand)
    if seen is not None:
        return alias(inf, s, inf.perform(s.op, [seen]))
    if isinstance(value, (Fresh, Outside)) and not is_adopted(value):
        method = look(inf, value.cls, "__bool__") or look(inf, value.cls, "__len__")
        if method is None:
            return known_as(inf, s, s.op == "truth")
        asked = following.truth(inf, value, s.op == "not")
        if asked is None or type(method) is not FunctionType:
            raise Refused(f"the truth of {named(value)}")
        return alias(inf, s, inf.call(Constant(asked), [operand]))
    if isinstance(value, (Instance, Outside)) and value.cls is np.ndarray:
        raise Refused("the truth of an array of what is no number")
    count = length(inf, operand)
    return None if count is None else known_as(inf, s, bool(count) == (s.op == "truth"))


def order_of(inf: Path, s: Statement, args: Args) -> Abstract:
    """The places of keys in their order: each comparison decides about the way."""
    keys, backwards = parts(inf, args[0]), inf.pin(args[1])
    if not isinstance(backwards, int):
        raise Raised(TypeError(f"{type(backwards).__name__!r} object cannot be interpreted as an integer"))
    backwards = bool(backwards)
    known = [known_value(inf, k) for k in keys]
    order = list(range(len(keys)))
    if all(v is not UNKNOWN for v in known):
        order.sort(key=known.__getitem__, reverse=backwards)
    else:

        def difference(i: int, j: int) -> int:
            # Sorting asks for nothing but "<", and here in the order in which it does so in the plain run.
            return -1 if _precedes(inf, keys[i], keys[j]) else 0

        order.sort(key=functools.cmp_to_key(difference), reverse=backwards)
    return new(inf, list, list(map(Constant, order)))


def _precedes(inf: Path, a: Operand, b: Operand) -> bool:
    """Whether a key is less than another one."""
    for operand in (a, b):
        value = inf.type_of(operand)
        is_text = inert_class(value) is str
        if number_types(value) is None and not is_object(value) and not is_text and sequence_of(inf, operand) is None:
            raise Refused("a sequence that is sorted")
    return bool(inf.pin(inf.perform("truth", [inf.perform("compare", [a, b], "<")])))
