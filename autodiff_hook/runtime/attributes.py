"""Reading and writing attributes: instance data are slots, properties and descriptors are calls."""

from __future__ import annotations

import functools
from collections import namedtuple
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

import numpy as np

from autodiff_hook.registry import registry
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_after, find_in_type, home_of, is_data_descriptor
from autodiff_hook.runtime.memories import hides
from autodiff_hook.runtime.opaque import Loss, live
from autodiff_hook.runtime.slots import Attribute, ctx_taint, dictionary_of, loaded, received, stored
from autodiff_hook.runtime.special_attributes import RECEIVER, content_assigned, held, hold, introspected, is_content

Result = tuple[Any, Pullback | None]

_FLAT: Final = np.ndarray.__dict__["flat"]
_TUPLE_FIELD: Final = type(vars(namedtuple("_Sample", "field"))["field"])


def getattr_(ctx: Context, w: Any, name: str, owner: Any) -> Result:
    """``owner.name``."""
    cls = type(owner)
    if cls is ModuleType:
        value = getattr(owner, name)
        return value, loaded(ctx, owner.__dict__, name, value) if ctx.marks else None
    kind = kind_of(cls)
    if name in ADDRESSES and kind == "array":
        ctx.memories.addresses.append((w[0], owner))
    if w[0] is None and ctx.idle():
        return getattr(owner, name), None
    if kind in ("number", "array", "tuple") and w[0] is None and not (ctx.marks and cls.__dictoffset__):
        if kind != "array" or not ctx.buffers.is_stored(owner):
            return getattr(owner, name), None
    return _lookup(ctx, w[0], name, owner, cls, kind)


ADDRESSES: Final = frozenset({"ctypes", "__array_interface__", "__array_struct__", "__dlpack__"})
"""Attributes of arrays that tell where their memory is."""


def _lookup(ctx: Context, witness: Any, name: str, owner: Any, cls: type, kind: str, plainly: bool = False) -> Result:
    from autodiff_hook.runtime.calls import apply

    if cls is super:
        return _super_attribute(ctx, name, owner)
    reader = find_in_type(cls, "__getattribute__")
    if isinstance(reader, FunctionType) and not plainly:
        return _second(apply(ctx, (None, witness, None), reader, (owner, name), {}))
    found = find_in_type(cls, name) if not isinstance(owner, type) else None
    if isinstance(found, property) and found.fget is not None:
        return _second(apply(ctx, (None, witness), found.fget, (owner,), {}))
    if isinstance(found, _TUPLE_FIELD):
        return _tuple_field(witness, owner, found)
    if name == "__dict__":
        value = getattr(owner, name)
        dictionary_of(ctx, owner, value)
        return value, None
    slot = introspected(owner, name)
    if slot is not None:
        return held(ctx, owner, slot, getattr(owner, name))
    if isinstance(found, (GetSetDescriptorType, MemberDescriptorType)) or type(found).__module__ == "numpy":
        return _builtin_attribute(ctx, witness, name, owner, found)
    dictionary = getattr(owner, "__dict__", None)
    if isinstance(owner, type):
        value = getattr(owner, name)
        return value, _attribute_loaded(ctx, witness, home_of(owner, name) or owner, name, value)
    if isinstance(dictionary, dict) and name in dictionary and not is_data_descriptor(found):
        value = dictionary[name]
        return value, _attribute_loaded(ctx, witness, owner, name, value)
    if isinstance(found, functools.cached_property):
        return _cached_property(ctx, witness, name, owner, found)
    getter = find_in_type(type(found), "__get__") if found is not None else None
    if isinstance(getter, FunctionType) and not isinstance(found, FunctionType):
        value, pullback = apply(ctx, (None, None, witness, None), getter, (found, owner, cls), {})
        return value, None if pullback is None else _Picked(pullback, 2)
    fallback = find_in_type(cls, "__getattr__")
    if found is None and is_followed(fallback) and not plainly:
        return _second(apply(ctx, (None, witness, None), fallback, (owner, name), {}))
    value = object.__getattribute__(owner, name) if plainly else getattr(owner, name)
    if callable(value) and getattr(value, "__self__", None) is owner:
        return value, _receiving(ctx, witness, value)
    if kind in ("number", "array", "tuple") and live(ctx, witness, value):
        return value, Loss(f"{cls.__qualname__}.{name}", "an attribute that has no rule", [])
    home = home_of(cls, name)
    pullback = _attribute_loaded(ctx, None, home, name, value) if home is not None and ctx.marks else None
    return value, pullback or _attribute_loaded(ctx, witness, owner, name, value)


def _cached_property(ctx: Context, witness: Any, name: str, owner: Any, found: Any) -> Result:
    """The first access: a call, and a store of what it gives."""
    from autodiff_hook.runtime.calls import apply

    value, called = _second(apply(ctx, (None, witness), found.func, (owner,), {}))
    owner.__dict__[name] = value
    store = stored(ctx, called, owner, Attribute(name), value, 0, 1)
    if store is None:
        return value, called

    def cached_pullback(sweep: Sweep, cotangent: Any) -> Any:
        total = accumulate(cotangent, store(sweep, None)[0])
        return called(sweep, total) if called is not None else None

    return value, cached_pullback


def match_class(ctx: Context, w: Any, count: int, subject: Any, cls: Any, names: tuple[str, ...]) -> Result:
    """``case cls(…)``: a tuple of the matched attributes, None if it does not match."""
    plan = matched_names(count, subject, cls, names)
    if plan is None:
        return None, None
    try:
        found = [(subject, w[0] and itself) if name is None else getattr_(ctx, w[:1], name, subject) for name in plan]
    except AttributeError:
        return None, None
    values = tuple(value for value, _ in found)
    if all(pullback is None for _, pullback in found):
        return values, None

    def match_pullback(sweep: Sweep, cotangent: Any) -> Any:
        total = None
        for (_, pullback), part in reversed(list(zip(found, cotangent or (None,) * len(found)))):
            given = pullback(sweep, part) if pullback is not None else None
            total = accumulate(total, given[0] if given else None)
        return total, None, None

    return values, match_pullback


def itself(sweep: Sweep, cotangent: Any) -> tuple[Any]:
    return (cotangent,)


def matched_names(count: int, subject: Any, cls: Any, names: tuple[str, ...]) -> list[str | None] | None:
    """The attributes that a class pattern binds, None being the subject itself; None if it does not match."""
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(subject, cls):
        return None
    known: tuple[str, ...] | None = getattr(cls, "__match_args__", None)
    if known is None and cls.__flags__ & _MATCH_SELF and count == 1:
        return [None, *names]
    _check_count(cls, known or (), count)
    return [*(known or ())[:count], *names]


_MATCH_SELF: Final = 1 << 22
"""The flag of builtin classes whose pattern ``cls(x)`` binds the subject itself."""


def _check_count(cls: type, known: tuple[str, ...], count: int) -> None:
    if count > len(known):
        plural = "" if len(known) == 1 else "s"
        raise TypeError(f"{cls.__name__}() accepts {len(known)} positional sub-pattern{plural} ({count} given)")


def _tuple_field(witness: Any, owner: Any, field: Any) -> Result:
    """A field of a named tuple: the item that it stands for."""
    from autodiff_hook.runtime.items import tuple_item

    value, pullback = tuple_item(owner, field.__reduce__()[1][0], witness)
    return value, pullback


@handles(super)
def super_(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``super(cls, self)``; if ``self`` is a value with a derivative, it is a slot of the proxy."""
    proxy = super(*args)
    return proxy, _receiving(ctx, w[1] if len(args) > 1 else None, proxy, operands=2, place=1)


def _super_attribute(ctx: Context, name: str, proxy: Any) -> Result:
    """``super().name``: a property runs on the instance, anything else is as Python has it."""
    from autodiff_hook.runtime.calls import apply

    owner = proxy.__self__
    load = loaded(ctx, proxy, RECEIVER, owner) if ctx.marks else None
    found = find_after(proxy.__self_class__, proxy.__thisclass__, name)
    if isinstance(found, property) and found.fget is not None:
        value, pullback = apply(ctx, (None, load), found.fget, (owner,), {})
        return value, None if pullback is None else _FromProxy(pullback, load, 1)
    value = getattr(proxy, name)
    if load is None:
        return value, None
    if callable(value) and getattr(value, "__self__", None) is owner:
        bound = _receiving(ctx, load, value)
        return value, None if bound is None else _FromProxy(bound, load, 0)
    value, pullback = _builtin_attribute(ctx, load, name, owner, found)
    return value, None if pullback is None else _FromProxy(pullback, load, 0)


class _FromProxy:
    """A pullback of an attribute of a ``super()`` proxy: what it gives the instance goes to the slot of the proxy."""

    __slots__ = ("load", "place", "pullback")

    def __init__(self, pullback: Pullback, load: Pullback | None, place: int) -> None:
        self.pullback, self.load, self.place = pullback, load, place

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        given = self.pullback(sweep, cotangent)
        if given is not None and self.load is not None:
            self.load(sweep, given[self.place])


class _Picked:
    """A pullback of a call reduced to the cotangent of one operand."""

    __slots__ = ("index", "pullback")

    def __init__(self, pullback: Pullback, index: int) -> None:
        self.pullback, self.index = pullback, index

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        given = self.pullback(sweep, cotangent)
        return None if given is None else (given[self.index],)


def _second(result: Result) -> Result:
    value, pullback = result
    return value, None if pullback is None else _Picked(pullback, 1)


def _receiving(ctx: Context, witness: Any, holder: Any, operands: int = 1, place: int = 0) -> Pullback | None:
    """The pullback of binding a value to a method or proxy, of which it is a slot; None if it is a constant."""
    if witness is None or kind_of(type(holder.__self__)) not in ("number", "array", "tuple"):
        return None
    ctx.mark(holder, RECEIVER)
    ctx.effects += 1

    def binding_pullback(sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        given: list[Any] = [None] * operands
        given[place] = accumulate(cotangent, sweep.pop(holder, RECEIVER))
        return tuple(given)

    return binding_pullback


def _attribute_loaded(ctx: Context, witness: Any, owner: Any, name: str, value: Any) -> Pullback | None:
    pullback = loaded(ctx, owner, Attribute(name), value)
    if pullback is None and not isinstance(witness, Loss) and hides(owner) and ctx.reaches(owner):
        witness = Loss(f"{type(owner).__qualname__}.{name}", "of a native object that may remember an array", [])
    if pullback is None and _is_copied_natively(ctx, owner, name):
        witness = Loss(f"{type(owner).__qualname__}.{name}", "an attribute that NumPy copies to new arrays", [])
    if pullback is None and isinstance(witness, Loss):
        return received(ctx, value, witness, deep=True)
    return pullback


def _is_copied_natively(ctx: Context, owner: Any, name: str) -> bool:
    """Whether ``__array_finalize__`` may have copied an attribute with a derivative to an array."""
    if not ctx.marks or not isinstance(find_in_type(type(owner), "__array_finalize__"), FunctionType):
        return False
    slot = Attribute(name)
    return any(type(mark.reference) is type(owner) and mark.covers(slot) for mark in ctx.marks.values())


def _builtin_attribute(ctx: Context, witness: Any, name: str, owner: Any, descriptor: Any) -> Result:
    from autodiff_hook.runtime.applying import apply_rule
    from autodiff_hook.runtime.calls import apply

    if descriptor is _FLAT and owner.flags.c_contiguous:
        return _second(apply(ctx, (None, witness, None), np.reshape, (owner, -1), {}))
    rule = registry.rule(descriptor, (type(owner),)) if registry.has_rules(descriptor) else None
    if rule is not None:
        return apply_rule(ctx, (witness,), 0, rule, descriptor.__get__, (owner,), {})
    value = getattr(owner, name)
    if isinstance(descriptor, MemberDescriptorType) or kind_of(type(owner)) not in ("number", "array", "tuple"):
        return value, _attribute_loaded(ctx, witness, owner, name, value)
    if registry.is_constant(descriptor) or not live(ctx, witness, owner):
        return value, None
    loss = Loss(descriptor, "an attribute that has no rule", [])
    ctx_taint(ctx, value, loss)
    return value, loss if live(ctx, witness, value) else None


def setattr_(ctx: Context, w: Any, name: str, owner: Any, value: Any) -> tuple[None, Pullback | None]:
    """``owner.name = value``."""
    from autodiff_hook.runtime.calls import apply

    if w[1] is None and ctx.idle():
        setattr(owner, name, value)
        return None, None
    cls = type(owner)
    writer = find_in_type(cls, "__setattr__")
    if is_followed(writer):
        _, pullback = apply(ctx, (None, w[0], None, w[1]), writer, (owner, name, value), {})
        return None, _value_of_call(pullback, 3)
    return set_plainly(ctx, w, name, owner, value)


def is_followed(method: Any) -> bool:
    """Whether a hook of a class is Python code, or a method of a container as in ``__setattr__ = dict.__setitem__``."""
    borrowed = isinstance(method, (WrapperDescriptorType, MethodDescriptorType)) and method.__objclass__ in _CONTAINERS
    return borrowed or isinstance(method, FunctionType)


_CONTAINERS: Final = (dict, list, set)


def set_plainly(ctx: Context, w: Any, name: str, owner: Any, value: Any) -> tuple[None, Pullback | None]:
    """``object.__setattr__(owner, name, value)``."""
    from autodiff_hook.runtime.calls import apply

    found = find_in_type(type(owner), name)
    if is_content(owner, name):
        buffers = ctx.buffers
        given = live(ctx, w[1], value) or ctx.reaches(value)
        if w[0] is not None or given or buffers.is_held(owner) or buffers.is_stored(owner):
            raise content_assigned(name)
    if isinstance(found, property) and found.fset is not None:
        _, pullback = apply(ctx, (None, w[0], w[1]), found.fset, (owner, value), {})
        return None, _value_of_call(pullback, 2)
    slot = introspected(owner, name)
    if slot is not None:
        return None, hold(ctx, w[1], owner, name, slot, value)
    setter = find_in_type(type(found), "__set__") if found is not None else None
    if isinstance(setter, FunctionType):
        _, pullback = apply(ctx, (None, None, w[0], w[1]), setter, (found, owner, value), {})
        return None, _value_of_call(pullback, 3)
    if isinstance(find_in_type(type(owner), "__setattr__"), FunctionType):
        object.__setattr__(owner, name, value)
    else:
        setattr(owner, name, value)
    if isinstance(owner, ModuleType):
        return None, stored(ctx, w[1], owner.__dict__, name, value, 1, 2)
    if name == "__dict__":
        return None, _attributes_given(ctx, owner, value)
    return None, stored(ctx, w[1], owner, Attribute(name), value, 1, 2)


def _attributes_given(ctx: Context, owner: Any, dictionary: dict[str, Any]) -> Pullback | None:
    """``owner.__dict__ = dictionary``: from now on the items of the dict are the attributes of the object."""
    from autodiff_hook.runtime.mappings import attributes_from

    pullback = attributes_from(ctx, owner, dictionary)
    dictionary_of(ctx, owner, dictionary)
    return pullback


def _value_of_call(pullback: Pullback | None, index: int) -> Pullback | None:
    if pullback is None:
        return None

    def setter_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, None)
        return None if given is None else (None, given[index])

    return setter_pullback


def delattr_(ctx: Context, w: Any, name: str, owner: Any) -> tuple[None, Pullback | None]:
    """``del owner.name``."""
    from autodiff_hook.runtime.items import call_special, removed

    cls = type(owner)
    eraser, found = find_in_type(cls, "__delattr__"), find_in_type(cls, name)
    if is_followed(eraser):
        return None, call_special(ctx, (w[0], None), eraser, (owner, name))[1]
    if isinstance(found, property) and found.fdel is not None:
        return None, call_special(ctx, w, found.fdel, (owner,))[1]
    delattr(owner, name)
    return None, removed(ctx, owner, Attribute(name))


def read_plainly(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``object.__getattribute__``: past what the class makes of it."""
    owner, name = args
    value, pullback = _lookup(ctx, w[0], name, owner, type(owner), kind_of(type(owner)), plainly=True)
    return value, None if pullback is None else _First(pullback, 2)


def handle_getattr(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """The builtin ``getattr``."""
    owner, name, *default = args
    try:
        value, pullback = getattr_(ctx, w[:1], name, owner)
    except AttributeError:
        if not default:
            raise
        return default[0], _Placed(2, 3) if w[2] is not None else None
    return value, None if pullback is None else _First(pullback, len(args))


def handle_setattr(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """The builtin ``setattr``."""
    return _handle_setter(ctx, w, args, setattr_)


def handle_plain_setattr(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``object.__setattr__``."""
    return _handle_setter(ctx, w, args, set_plainly)


def _handle_setter(ctx: Context, w: Any, args: tuple[Any, ...], setter: Any) -> Result:
    owner, name, value = args
    _, pullback = setter(ctx, (w[0], w[2]), name, owner, value)
    if pullback is None:
        return None, None

    def setattr_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, None)
        return given and (given[0], None, given[1])

    return None, setattr_pullback


def handle_delattr(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """The builtin ``delattr``."""
    owner, name = args
    _, pullback = delattr_(ctx, w[:1], name, owner)
    return None, None if pullback is None else _First(pullback, 2)


class _Placed:
    """A pullback that hands the cotangent to one of several operands."""

    __slots__ = ("count", "position")

    def __init__(self, position: int, count: int) -> None:
        self.position, self.count = position, count

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        result: list[Any] = [None] * self.count
        result[self.position] = cotangent
        return tuple(result)


class _First:
    """A pullback of one operand, for a call in which it is the first of several."""

    __slots__ = ("count", "pullback")

    def __init__(self, pullback: Pullback, count: int) -> None:
        self.pullback, self.count = pullback, count

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        given = self.pullback(sweep, cotangent)
        return (given[0] if given else None, *(None,) * (self.count - 1))
