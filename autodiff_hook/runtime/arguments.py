"""Abstract values of arguments, and of what stands outside of a program."""

from __future__ import annotations

import enum
from collections.abc import Container, Sequence
from functools import reduce
from types import BuiltinFunctionType, FunctionType, GenericAlias, ModuleType, SimpleNamespace, UnionType
from typing import Any, Final

import numpy as np

from autodiff_hook.registry import registry
from autodiff_hook.runtime.altering import GENERATORS
from autodiff_hook.runtime.fitting import default_of
from autodiff_hook.runtime.given_functions import BY_CODE, by_code, is_anew, is_lasting
from autodiff_hook.runtime.kinds import MAPPINGS, kind_of
from autodiff_hook.runtime.lookup import HEAP_TYPE, find_in_type
from autodiff_hook.runtime.mirror import form_of
from autodiff_hook.runtime.native import OF_CYTHON, compiled_from
from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    Abstract,
    Array,
    Dict,
    Instance,
    Known,
    List,
    Mixed,
    Number,
    Optional,
    Outside,
    Record,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.families import tag_of
from autodiff_hook.transform.specialise.lattice import codes_in, is_plain_key, join, number_types
from autodiff_hook.transform.specialise.objects import lookup
from autodiff_hook.transform.specialise.places import assigned_to
from autodiff_hook.transform.specialise.results import abstract_of, is_fixed


def constant_kind(value: Any) -> bool:
    """Whether code refers to a value by identity: a function, a class, a module."""
    return issubclass(type(value), (FunctionType, type, ModuleType, BuiltinFunctionType, UnionType, GenericAlias)) or (
        type(value).__module__ == "typing"
        or callable(value)
        and type(value).__module__ in ("numpy", "builtins", "functools", "operator", "autodiff_hook.operators")
        or type(value).__name__ in OF_CYTHON
        or compiled_from(value) is not None
        or id(find_in_type(type(value), "__call__")) in DEFINITIONS
        or kind_of(type(value)) == "object"
        and callable(value)
        and registry.has_rules(value)
    )


def is_known(value: Any) -> bool:
    """Whether a value is guarded to be this one."""
    inert = value is None or issubclass(type(value), (bool, np.bool_, str, enum.Enum))
    return inert or constant_kind(value) or is_fixed(value)


class Unread:
    """Stands for a part of an argument that a program is not given: one that reads it is refused."""


def _require_read(*values: Any) -> None:
    if any([value is Unread for value in values]):
        raise Refused("a part of an argument of which no copy can be made")


_KEYS: Final = 12
"""A dict with more keys is not known in all its parts."""
_CLASSES: Final = 12
"""Of how many classes objects may be that come by one name."""
_NAMES: Final = 64
"""How many names items may have by which each is of its own kind."""


def described(value: Any, one_way: bool = False, by_any_key: bool = False) -> Abstract:
    """The abstract value of an argument, or of data in a global or a closure cell."""
    _require_read(value)
    if is_known(value):
        return Known(value)
    if type(value) is frozenset and not one_way and {float, int, *_INERT}.issuperset(map(type, value)):
        return Known(value)
    if type(value) is tuple:
        return Tuple(tuple(described(x, one_way) for x in value), example=value)
    if type(value) in (list, dict) or type(value) in MAPPINGS and not one_way:
        found = _of_one_kind(value, one_way)
        if found is not None and (type(value) is not dict or by_any_key):
            return found
    try:
        return abstract_of(value)
    except Refused:
        return Outside(type(value), example=value)


def _of_one_kind(value: Any, one_way: bool) -> Abstract | None:
    """A list or a dict whose items are of one kind; on one way, numbers of one type."""
    if one_way and (type(value) is dict or set(map(type, value)) not in ({float}, {int})):
        return None
    found = common([value])
    return None if isinstance(found, Dict) and found.site.named else found


_INERT: Final = (str, bool, type(None))


def common(held: Sequence[Any]) -> Abstract | None:
    """What is known of all of some values; None if they are of several kinds."""
    types, first = set(map(type, held)), held[0]
    if type in types:
        _require_read(*held)
    if types <= {float, int}:
        return Number(frozenset(types), example=first)
    if type(None) in types and len(types) > 1:
        content = common([x for x in held if x is not None])
        return None if content is None or isinstance(content, Known) else Optional(content, example=content.example)
    if len(types) > 1:
        return _mixed(held) if all(map(is_plain_object, held)) else None
    (cls,) = types
    if constant_kind(first):
        # What a function has captured is differentiated with it.
        if not all([constant_kind(x) and form_of(x) == "inert" for x in held]):
            return None
        kinds: list[Abstract] = list(map(Known, held))
        together = reduce(join, kinds)
        return together if codes_in(together) else None
    if (cls is tuple or _is_named(cls)) and len(set(map(len, held))) == 1:
        items = tuple(map(common, zip(*held)))
        return None if None in items else Tuple(items, cls, example=first)  # type: ignore[arg-type]
    if cls is list or cls in (dict, *MAPPINGS):
        return _containers(cls, held)
    if cls in _INERT or issubclass(cls, enum.Enum):
        return Instance(cls, example=first)
    if is_plain_object(first):
        site = Site(given=True)
        site.examples.extend(held)
        return Record(site, cls, example=first)
    try:
        kinds = list(map(abstract_of, held))
    except Refused:
        return None
    alike = all(kind == kinds[0] for kind in kinds)
    numbers = number_types(kinds[0]) is not None
    return kinds[0] if alike and (numbers or isinstance(kinds[0], Array) and kinds[0].ndim) else None


def _mixed(held: Sequence[Any]) -> Mixed | None:
    """What is known of objects of several classes."""
    by_class: dict[type, list[Any]] = {}
    for value in held:
        by_class.setdefault(type(value), []).append(value)
    if len(by_class) > _CLASSES:
        return None
    site = Site(given=True)
    for cls, values in by_class.items():
        found = common(values)
        assert found is not None
        site.named[tag_of(cls)] = found
    return Mixed(site, frozenset(by_class), example=held[0])


def _is_named(cls: type) -> bool:
    """Whether a class is one of named tuples whose items are got as those of others."""
    if not issubclass(cls, tuple) or not hasattr(cls, "_fields"):
        return False
    return all([lookup(cls, name) is getattr(tuple, name) for name in ("__getitem__", "__iter__", "__len__")])


def _containers(cls: type, held: Sequence[Any]) -> Abstract | None:
    """What is known of lists, or of dicts whose keys no code compares: of all items, else of those by each name."""
    inner = [x for value in held for x in (value if cls is list else value.values())]
    item = common(inner) if inner else None
    if cls is list:
        return None if inner and item is None else List(Site(item, given=True), example=held[0])
    made_by = default_of(held[0])
    if any([default_of(value) is not made_by for value in held]) or form_of(made_by) != "inert":
        return None
    keys = [key for value in held for key in value]
    key = common(keys) if keys else None
    if keys and (key is None or not is_plain_key(key)):
        return None
    site = Site(item, True, key)
    if cls is not dict:
        site.stand_for(cls, made_by)
    if inner and item is None:
        names = dict.fromkeys(keys)
        if set(map(type, keys)) != {str} or len(names) > _NAMES:
            return None
        site.named |= {name: common([x[name] for x in held if name in x]) or ANY for name in names}
    return Dict(site, example=held[0])


def is_plain_object(value: Any) -> bool:
    """Whether a value is an object of a class written in Python, with attributes that are looked up plainly."""
    cls = type(value)
    if cls is SimpleNamespace:
        return True
    if kind_of(cls) != "object" or issubclass(cls, enum.Enum) or not cls.__flags__ & HEAP_TYPE:
        return False
    try:
        lookup(cls, "__dict__")
    except Refused:
        return False
    return cls.__module__.partition(".")[0] not in _NATIVE


_NATIVE: Final = ("builtins", "numpy", "functools", "collections", "itertools", "operator", "types")


def arguments(args: tuple[Any, ...], one_way: bool, changed: Container[Any], shared: bool) -> list[Abstract]:
    """The abstract values of arguments, of which some lists or dicts are ``shared``: passed in two places.

    Dicts at the places that are ``changed`` may be asked for any key.
    """
    if shared:
        return [
            _outside(x) if type(x) in (list, dict, tuple) else argument(x, one_way, changed, ("argument", i))
            for i, x in enumerate(args)
        ]
    found = [argument(x, one_way, changed, ("argument", i)) for i, x in enumerate(args)]
    if not any(isinstance(x, (*BY_CODE, Outside)) for x in found):
        return found
    # A list may be what an object or a function holds that is passed, too: what is read of it belongs to both.
    return [_outside(v) if isinstance(x, (Tuple, List, Dict)) else x for v, x in zip(args, found)]


def _outside(value: Any) -> Outside:
    """What has parts that are loaded as the program reads them."""
    return Outside(type(value), example=value)


def are_shared(args: tuple[Any, ...]) -> bool:
    """Whether some lists or dicts are passed in two places."""
    seen, left = set[int](), list(args)
    while left:
        value = left.pop()
        if type(value) in (list, dict):
            if id(value) in seen:
                return True
            seen.add(id(value))
        if type(value) in (tuple, dict, list):
            left += value.values() if type(value) is dict else value
    return False


def argument(value: Any, one_way: bool, changed: Container[Any], place: Any) -> Abstract:
    """The abstract value of an argument.

    What has parts with derivatives is known in all its parts; or if there are objects among them, it is ``Outside``,
    and parts are loaded as the program reads them.
    """
    if is_anew(value):
        return by_code(value)
    if constant_kind(value) and not issubclass(type(value), type) and not is_lasting(value):
        raise Refused("a callable as an argument that is made anew, or has captured something")
    named = type(value) is dict and all(type(key) is str for key in value)
    if named or type(value) is dict and not one_way:
        found = described(value, one_way, by_any_key=place in changed or len(value) > _KEYS or not named)
        if isinstance(found, Dict):
            return found
        if not named:
            raise Refused("an argument of type dict, whose keys or items are of several kinds")
        return _of_parts(value, tuple(value.values()), tuple(value), one_way, changed, place)
    if type(value) is tuple or type(value) is list and one_way:
        return _of_parts(value, tuple(value), (), one_way, changed, place)
    found = described(value, one_way)
    if isinstance(found, Known) and type(value) is frozenset:
        raise Refused("a frozenset as an argument, which may be made anew")
    if isinstance(found, Tuple) and found.cls is list:
        found = Outside(list, example=value)
    whole = one_way or type(value) in GENERATORS or assigned_to(value) in changed
    if isinstance(found, Outside) and not whole:
        together = common([value])
        if isinstance(together, (Record, List)):
            return together
        raise Refused(f"an argument of type {type(value).__qualname__}")
    return found


def _of_parts(
    value: Any, parts: tuple[Any, ...], keys: tuple[str, ...], one_way: bool, changed: Container[Any], place: Any
) -> Abstract:
    items = tuple(argument(x, one_way, changed, (*place, i)) for i, x in enumerate(parts))
    if any(isinstance(item, Outside) for item in items):
        return Outside(type(value), example=value)
    return Tuple(items, type(value), keys, example=value, place=None if type(value) is tuple else place)
