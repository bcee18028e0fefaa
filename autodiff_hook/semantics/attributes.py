"""Reading attributes: instance data are slots, properties and descriptors are calls."""

from __future__ import annotations

import contextlib
import functools
from types import (
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import (
    Algebra,
    Result,
    holder_of,
    idle,
    keep,
    keep_all,
    keep_attribute,
    kind,
    load,
    load_attribute,
    lose,
    some,
)
from autodiff_hook.registry import registry
from autodiff_hook.runtime.kinds import WRITTEN, kind_of
from autodiff_hook.runtime.lookup import (
    dictionary_of,
    find_in_type,
    has_in_type,
    home_after,
    home_of,
    is_data_descriptor,
    is_plainly,
    keeps_elsewhere,
)
from autodiff_hook.runtime.losses import NOT_PYTHON, failure
from autodiff_hook.runtime.memories import hides
from autodiff_hook.semantics import special_attributes
from autodiff_hook.semantics.exceptions import raising
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means
from autodiff_hook.semantics.opaque import call_opaque, fail, is_plain
from autodiff_hook.semantics.rules import call_rule
from autodiff_hook.semantics.special_attributes import BASE

ADDRESSES: Final = frozenset({"ctypes", "__array_interface__", "__array_struct__", "__dlpack__"})
"""Attributes of arrays that tell where their memory is."""
_CONTAINERS: Final = (dict, list, set)

Plan = tuple[str, Any]
_PLAINLY: Final[Any] = object.__getattribute__


def getattr_(alg: Algebra, t: Any, name: str, owner: Any) -> Result:
    """``owner.name``."""
    cls = type(owner)
    if cls.__getattribute__ is _PLAINLY and not has_in_type(cls, name):
        dictionary = dictionary_of(owner)
        if type(dictionary) is dict and name in dictionary:
            value = dictionary[name]
            entry = alg.shadows.get(id(dictionary))
            # An object may die with this call, and nobody else is to hold its dict then.
            dictionary = None
            token = None if entry is None else entry[1].get(name)
            if token is not None or t[0] is None and idle(alg):
                return value, token
            return value, _load(alg, owner, owner, name, value)
    if name == "f_locals" and cls is FrameType:
        return locals_of(alg, owner), None
    if t[0] is None and idle(alg):
        return getattr(owner, name), None
    form, found = reading(owner, name)
    fallback = find_in_type(cls, "__getattr__")
    if form == "module" and is_followed(of_module := owner.__dict__.get("__getattr__")) and not _has(owner, name):
        return apply(alg, (None, None), of_module, (name,), {})
    if not is_followed(fallback):
        if not is_data(form):
            return read_by(alg, t, form, found, name, owner, None)
        value = getattr(owner, name) if t[0] is None else raising(alg, (t[0], None), getattr, owner, name)
        return read_by(alg, t, form, found, name, owner, value)
    # What CPython does: the fallback is called whatever raises AttributeError, and runs when that has been handled.
    with contextlib.suppress(AttributeError):
        return read_by(alg, t, form, found, name, owner, _natively(owner, name) if is_data(form) else None)
    return apply(alg, (None, t[0], None), fallback, (owner, name), {})


def locals_of(alg: Algebra, frame: FrameType) -> Any:
    """The variables that a frame shows: nobody knows their tokens."""
    found = frame.f_locals
    unknown = alg.unknown(failure(FrameType.__dict__["f_locals"], "which shows the variables of a frame"))
    if type(found) is not dict:
        lose(alg, found, unknown)
    else:
        keep_all(alg, found, {name: lose(alg, value, unknown) for name, value in found.items()})
    return found


def _has(module: ModuleType, name: str) -> bool:
    """Whether a module has an attribute itself."""
    return name in module.__dict__ or find_in_type(type(module), name) is not None


def _natively(owner: Any, name: str) -> Any:
    """``owner.name``, without the fallback of its class."""
    cls: Any = type(owner)
    return cls.__getattribute__(owner, name)


def read_by(alg: Algebra, t: Any, form: str, found: Any, name: str, owner: Any, value: Any) -> Result:
    """Read an attribute in the way that ``reading`` has found; ``value`` is what plain data are."""
    if form == "module":
        return value, load(alg, owner.__dict__, name, value)
    if form == "reader":
        return apply(alg, (None, t[0], None), found, (owner, name), {})
    if form == "property":
        return apply(alg, (None, t[0]), found, (owner,), {})
    if form == "super":
        inner, code, receiver = found
        return read_by(alg, t, inner, code, name, receiver, None)
    if form == "kept":
        value = dictionary_of(owner)[name]
        return value, load_attribute(alg, owner, name, value)
    if form == "field":
        # As the class of named tuples reads it, whatever ``__getitem__`` says.
        return tuple.__getitem__(owner, found), None if t[0] is None else t[0][found]
    if form == "rule":
        return call_rule(alg, t, found, functools.partial(read, name), (owner,), {})
    if form == "cached":
        value, token = apply(alg, (None, t[0]), found, (owner,), {})
        dictionary_of(owner)[name] = value
        keep_attribute(alg, owner, name, token)
        return value, token
    if form == "getter":
        return apply(alg, (None, None, t[0], None), found[1], (found[0], owner, type(owner)), {})
    if name in ADDRESSES and kind(owner) == "array":
        alg.memories.addresses.append((t[0], owner))
    if name in ADDRESSES and (t[0] is not None or reaches(alg, owner)):
        fail(find_in_type(type(owner), name), "which tells where the memory of an array is")
    if form == "held":
        return value, t[0] if found == special_attributes.RECEIVER else _held(alg, owner, found, value)
    if form == "builtin":
        return value, _builtin_token(alg, t[0], name, owner, value)
    if is_bound(value, owner):
        return value, t[0]
    return value, _load(alg, owner, found if form == "inherited" else owner, name, value)


def _load(alg: Algebra, owner: Any, home: Any, name: str, value: Any) -> Any:
    """The token of an attribute that ``home`` has, the owner or a class of it."""
    if kind(owner) == "array" and _may_be_copied(alg, owner, name):
        lost = failure(f"{type(owner).__qualname__}.{name}", "an attribute that NumPy copies to new arrays")
        return lose(alg, value, alg.unknown(lost))
    return load_attribute(alg, home, name, value)


def _may_be_copied(alg: Algebra, array: Any, name: str) -> bool:
    """Whether NumPy may have copied an attribute with a token to a new array (``__array_finalize__``)."""
    known = id(holder_of(array, name)) in alg.shadows
    if known or type(find_in_type(type(array), "__array_finalize__")) is not FunctionType:
        return False
    return any(isinstance(slots, dict) and slots.get(name) is not None for _, slots, *_ in list(alg.shadows.values()))


def read(name: str, owner: Any) -> Any:
    """``owner.name``, by the name."""
    return getattr(owner, name)


def _held(alg: Algebra, owner: Any, slot: Any, value: Any) -> Any:
    """The token of what ``introspected`` has found."""
    if slot == "keywords":
        keep_all(alg, value, {key: load(alg, owner, key, item) for key, item in value.items()})
        return None
    if slot is not ...:
        return load(alg, owner, slot, value)
    tokens = tuple([load(alg, owner, index, item) for index, item in enumerate(value or ())])
    return tokens if some(tokens) else None


def is_bound(value: Any, owner: Any) -> bool:
    """Whether ``value`` is a method of ``owner``."""
    receiver = getattr(owner, "__self__", None) if type(owner) is super else owner
    return callable(value) and getattr(value, "__self__", None) is receiver


def reading(owner: Any, name: str, plainly: bool = False) -> Plan:
    """How an attribute is read, and the code that does it."""
    cls = type(owner)
    if isinstance(owner, ModuleType):
        return "module", None
    if cls is super:
        return _reading_after(owner, name)
    if cls.__getattribute__ is not _PLAINLY and not plainly:
        reader = find_in_type(cls, "__getattribute__")
        if type(reader) is FunctionType:
            return "reader", reader
    if isinstance(owner, type):
        of_metaclass = find_in_type(cls, name)
        if is_plainly(of_metaclass, property) and of_metaclass.fget is not None:
            return "property", of_metaclass.fget
        return "inherited", home_of(owner, name) or owner
    found = find_in_type(cls, name)
    if is_plainly(found, property) and found.fget is not None:
        return "property", found.fget
    if type(found).__name__ == "_tuplegetter":
        return "field", cls._fields.index(name)
    held = special_attributes.introspected(owner, name)
    if held is not None:
        return "held", held
    if isinstance(found, (GetSetDescriptorType, MemberDescriptorType)):
        home = getattr(found, "__objclass__", None)
        owned = home if home is float or home is complex else cls
        rule = registry.rule(found, (owned,)) if registry.has_rules(found) else None
        return ("builtin", None) if rule is None else ("rule", rule)
    dictionary = dictionary_of(owner)
    if isinstance(dictionary, dict) and name in dictionary and not is_data_descriptor(found):
        return "plain", None
    return _reading_by_code(cls, found, name)


def _reading_after(owner: Any, name: str) -> Plan:
    """How an attribute of ``super(...)`` is read; what the code of a descriptor is given is behind it."""
    receiver = owner.__self__
    home = home_after(owner.__self_class__, owner.__thisclass__, name)
    found = None if home is None else home.__dict__[name]
    data: Plan = ("plain", None) if home is None else ("inherited", home)
    if receiver is owner.__self_class__:
        return data
    if is_plainly(found, property) and found.fget is not None:
        return "super", ("property", found.fget, receiver)
    if is_plainly(found, functools.cached_property):
        return "super", ("kept" if name in dictionary_of(receiver) else "cached", found.func, receiver)
    getter = find_in_type(type(found), "__get__") if found is not None else None
    if type(getter) is FunctionType:
        return "super", ("getter", (found, getter), receiver)
    return data


def _reading_by_code(cls: type, found: Any, name: str) -> Plan:
    if is_plainly(found, functools.cached_property):
        return "cached", found.func
    getter = find_in_type(type(found), "__get__") if found is not None else None
    if type(getter) is FunctionType and type(found) is not FunctionType or keeps_elsewhere(found):
        return "getter", (found, getter)
    home = home_of(cls, name)
    return ("plain", None) if home is None else ("inherited", home)


def _builtin_token(alg: Algebra, token: Any, name: str, owner: Any, value: Any) -> Any:
    """The token of an attribute that is not Python code; an error if it has one that is not known."""
    if token is not None and not is_plain(value) and matters(owner, name, value):
        fail(find_in_type(type(owner), name), "an attribute that has no rule")
    if token is not None and issubclass(type(owner), WRITTEN) and alg.is_unknown(token) and not is_plain(value):
        return lose(alg, value, token)
    if alg.buffers and hides(owner) and not is_plain(value) and reaches(alg, owner):
        return lose(alg, value, alg.unknown(failure(find_in_type(type(owner), name), "which may read what was stored")))
    if type(value) is np.flatiter:
        keep(alg, value, BASE, token)
    if name in _OF_MEMORY and value is not None and _in_memory(alg, owner, token) is not None:
        return lose(alg, value, alg.unknown(failure(find_in_type(type(owner), name), "an attribute that has no rule")))
    return load_attribute(alg, owner, name, value)


_OF_MEMORY: Final = ("base", "data")
"""Attributes of arrays, and of numbers of NumPy's, that show what is in their memory."""


def _in_memory(alg: Algebra, owner: Any, token: Any) -> Any:
    form = kind(owner)
    return alg.read(owner, token) if form == "array" else token if form == "number" else None


def matters(owner: Any, name: str, value: Any) -> bool:
    """Whether an attribute of a number, array or tuple with a token can have one."""
    cls = type(owner)
    descriptor = find_in_type(cls, name)
    if kind_of(cls) not in ("number", "array", "tuple") or isinstance(descriptor, MemberDescriptorType):
        return False
    return not registry.is_constant(descriptor) and kind_of(type(value)) in ("number", "array")


@means(getattr)
def carried_getattr(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner, name, *default = args
    try:
        return getattr_(alg, t[:1], name, owner)
    except AttributeError:
        if not default:
            raise
        return default[0], t[2]


@means(hasattr)
def carried_hasattr(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``hasattr``: the attribute is read, and that may store something."""
    with contextlib.suppress(AttributeError):
        getattr_(alg, t[:1], args[1], args[0])
        return True, None
    return False, None


@means(object.__getattribute__)
def carried_plain_getattr(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``object.__getattribute__``, past what a class makes of it."""
    owner, name = args
    form, found = reading(owner, name, plainly=True)
    return read_by(alg, t, form, found, name, owner, object.__getattribute__(owner, name) if is_data(form) else None)


def is_data(form: str) -> bool:
    """Whether reading an attribute in this way runs no code."""
    return form in ("plain", "inherited", "builtin", "module", "held")


@means(vars)
def carried_vars(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    if not args:
        return call_opaque(alg, t, vars, args, kwargs, NOT_PYTHON)
    try:
        return getattr_(alg, t, "__dict__", args[0])
    except AttributeError:
        raise TypeError("vars() argument must have __dict__ attribute") from None


def is_followed(method: Any) -> bool:
    """Whether a hook of a class is Python code, or a method of a container as in ``__setattr__ = dict.__setitem__``."""
    borrowed = isinstance(method, (WrapperDescriptorType, MethodDescriptorType)) and method.__objclass__ in _CONTAINERS
    return borrowed or type(method) is FunctionType
