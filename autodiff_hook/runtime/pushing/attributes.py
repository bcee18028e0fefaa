"""Reading and writing attributes: instance data are slots, properties and descriptors are calls."""

from __future__ import annotations

import functools
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any

from autodiff_hook.registry import registry
from autodiff_hook.runtime import special_attributes
from autodiff_hook.runtime.attributes import ADDRESSES, is_followed
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_after, find_in_type, home_of, is_data_descriptor
from autodiff_hook.runtime.pushing.applying import push_rule
from autodiff_hook.runtime.pushing.context import (
    Result,
    TangentContext,
    holder_of,
    keep,
    keep_attribute,
    kind,
    load,
    load_attribute,
    quiet,
    reaches,
    some,
)
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pushes
from autodiff_hook.runtime.pushing.opaque import fail, failure, is_plain

Plan = tuple[str, Any]


def getattr_(ctx: TangentContext, t: Any, name: str, owner: Any) -> Result:
    """``owner.name``."""
    if quiet(ctx, t):
        return getattr(owner, name), None
    form, found = reading(owner, name)
    return read_by(ctx, t, form, found, name, owner, getattr(owner, name) if is_data(form) else None)


def read_by(ctx: TangentContext, t: Any, form: str, found: Any, name: str, owner: Any, value: Any) -> Result:
    """Read an attribute in the way that ``reading`` has found; ``value`` is what plain data are."""
    from autodiff_hook.runtime.pushing.calls import apply

    if form == "module":
        return value, load(ctx, owner.__dict__, name)
    if form == "reader":
        return apply(ctx, (None, t[0], None), found, (owner, name), {})
    if form == "property":
        return apply(ctx, (None, t[0]), found, (owner,), {})
    if form == "super":
        return apply(ctx, (None, t[0]), found[0], (found[1],), {})
    if form == "field":
        return owner[found], None if t[0] is None else t[0][found]
    if form == "rule":
        return push_rule(ctx, t, found, functools.partial(read, name), (owner,), {})
    if form == "cached":
        value, tangent = apply(ctx, (None, t[0]), found, (owner,), {})
        setattr(owner, name, value)
        keep_attribute(ctx, owner, name, tangent)
        return value, tangent
    if form == "getter":
        return apply(ctx, (None, None, t[0], None), found[1], (found[0], owner, type(owner)), {})
    if name in ADDRESSES and (t[0] is not None or reaches(ctx, owner)):
        fail(find_in_type(type(owner), name), "which tells where the memory of an array is")
    if form == "held":
        return value, t[0] if found == special_attributes.RECEIVER else _held(ctx, owner, found, value)
    if form == "builtin":
        return value, _builtin_tangent(ctx, t[0], name, owner, value)
    if is_bound(value, owner):
        return value, t[0]
    if kind(owner) == "array":
        refuse_copied(ctx, owner, name)
    return value, load(ctx, found, name) if form == "inherited" else load_attribute(ctx, owner, name)


@bookkeeping
def refuse_copied(ctx: TangentContext, array: Any, name: str) -> None:
    """Raise for an attribute with a tangent that NumPy may have copied to a new array (``__array_finalize__``)."""
    known = id(holder_of(array, name)) in ctx.tangents
    if known or not isinstance(find_in_type(type(array), "__array_finalize__"), FunctionType):
        return
    if any(isinstance(slots, dict) and slots.get(name) is not None for _, slots in ctx.tangents.values()):
        raise failure(f"{type(array).__qualname__}.{name}", "an attribute that NumPy copies to new arrays")


def read(name: str, owner: Any) -> Any:
    """``owner.name``, by the name."""
    return getattr(owner, name)


def _held(ctx: TangentContext, owner: Any, slot: Any, value: Any) -> Any:
    """The tangent of what ``introspected`` has found."""
    if slot == "keywords":
        if some([load(ctx, owner, key) for key in value]):
            fail("functools.partial.keywords", "an attribute that has no rule")
        return None
    if slot is not ...:
        return load(ctx, owner, slot)
    tangents = tuple([load(ctx, owner, index) for index in range(len(value or ()))])
    return tangents if some(tangents) else None


@bookkeeping
def is_bound(value: Any, owner: Any) -> bool:
    """Whether ``value`` is a method of ``owner``."""
    receiver = getattr(owner, "__self__", None) if type(owner) is super else owner
    return callable(value) and getattr(value, "__self__", None) is receiver


@bookkeeping
def reading(owner: Any, name: str, plainly: bool = False) -> Plan:
    """How an attribute is read, and the code that does it."""
    cls = type(owner)
    if isinstance(owner, ModuleType):
        return "module", None
    if cls is super:
        found = find_after(owner.__self_class__, owner.__thisclass__, name)
        is_property = isinstance(found, property) and found.fget
        return ("super", (found.fget, owner.__self__)) if is_property else ("plain", None)
    reader = find_in_type(cls, "__getattribute__")
    if isinstance(reader, FunctionType) and not plainly:
        return "reader", reader
    if isinstance(owner, type):
        return "inherited", home_of(owner, name) or owner
    found = find_in_type(cls, name)
    if isinstance(found, property) and found.fget is not None:
        return "property", found.fget
    if type(found).__name__ == "_tuplegetter":
        return "field", cls._fields.index(name)
    held = special_attributes.introspected(owner, name)
    if held is not None:
        return "held", held
    if isinstance(found, (GetSetDescriptorType, MemberDescriptorType)) or type(found).__module__ == "numpy":
        rule = registry.rule(found, (cls,)) if registry.has_rules(found) else None
        return ("builtin", None) if rule is None else ("rule", rule)
    dictionary = getattr(owner, "__dict__", None)
    if isinstance(dictionary, dict) and name in dictionary and not is_data_descriptor(found):
        return "plain", None
    return _reading_by_code(cls, found, name, plainly)


def _reading_by_code(cls: type, found: Any, name: str, plainly: bool) -> Plan:
    if isinstance(found, functools.cached_property):
        return "cached", found.func
    getter = find_in_type(type(found), "__get__") if found is not None else None
    if isinstance(getter, FunctionType) and not isinstance(found, FunctionType):
        return "getter", (found, getter)
    fallback = find_in_type(cls, "__getattr__")
    if found is None and is_followed(fallback) and not plainly:
        return "reader", fallback
    home = home_of(cls, name)
    return ("plain", None) if home is None else ("inherited", home)


def _builtin_tangent(ctx: TangentContext, tangent: Any, name: str, owner: Any, value: Any) -> Any:
    """The tangent of an attribute that is not Python code; an error if it has one that is not known."""
    if tangent is not None and not is_plain(value) and matters(owner, name, value):
        fail(find_in_type(type(owner), name), "an attribute that has no rule")
    return load_attribute(ctx, owner, name)


@bookkeeping
def matters(owner: Any, name: str, value: Any) -> bool:
    """Whether an attribute of a number, array or tuple with a tangent can have one."""
    cls = type(owner)
    descriptor = find_in_type(cls, name)
    if kind_of(cls) not in ("number", "array", "tuple") or isinstance(descriptor, MemberDescriptorType):
        return False
    return not registry.is_constant(descriptor) and kind_of(type(value)) in ("number", "array")


def setattr_(ctx: TangentContext, t: Any, name: str, owner: Any, value: Any) -> Result:
    """``owner.name = value``."""
    from autodiff_hook.runtime.pushing.calls import apply

    if quiet(ctx, t):
        setattr(owner, name, value)
        return None, None
    if is_content(owner, name) and (t[0] is not None or t[1] is not None or reaches(ctx, (owner, value))):
        refuse_content(name)
    form, found = writing(owner, name)
    if form == "writer":
        apply(ctx, (None, t[0], None, t[1]), found, (owner, name, value), {})
    elif form == "property":
        apply(ctx, (None, t[0], t[1]), found, (owner, value), {})
    elif form == "setter":
        apply(ctx, (None, None, t[0], t[1]), found[1], (found[0], owner, value), {})
    else:
        setattr(owner, name, value)
        if form == "held":
            _hold(ctx, owner, found, value, t[1])
        else:
            keep_attribute(ctx, owner, name, t[1])
    return None, None


def _hold(ctx: TangentContext, owner: Any, slot: Any, value: Any, tangent: Any) -> None:
    if slot is not ...:
        keep(ctx, owner, slot, tangent)
        return
    for index in range(len(value or ())):
        keep(ctx, owner, index, None if tangent is None else tangent[index])


is_content = bookkeeping(special_attributes.is_content)


@bookkeeping
def refuse_content(name: str) -> None:
    """Raise for the assignment to an attribute that says what an array holds."""
    raise special_attributes.content_assigned(name)


@bookkeeping
def writing(owner: Any, name: str) -> Plan:
    """How an attribute is written, and the code that does it."""
    cls = type(owner)
    if isinstance(owner, ModuleType):
        return "module", None
    writer = find_in_type(cls, "__setattr__")
    if is_followed(writer):
        return "writer", writer
    found = find_in_type(cls, name)
    if isinstance(found, property) and found.fset is not None:
        return "property", found.fset
    held = special_attributes.introspected(owner, name)
    if held is not None:
        return "held", held
    setter = find_in_type(type(found), "__set__") if found is not None else None
    return ("setter", (found, setter)) if isinstance(setter, FunctionType) else ("plain", None)


def delattr_(ctx: TangentContext, t: Any, name: str, owner: Any) -> Result:
    """``del owner.name``."""
    from autodiff_hook.runtime.pushing.calls import apply

    deleter = find_in_type(type(owner), "__delattr__")
    if is_followed(deleter) and not quiet(ctx, t):
        apply(ctx, (None, t[0], None), deleter, (owner, name), {})
        return None, None
    holder = holder_of(owner, name)
    delattr(owner, name)
    keep(ctx, holder, name, None)
    return None, None


@pushes(getattr)
def push_getattr(ctx: TangentContext, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """The builtin ``getattr``."""
    owner, name, *default = args
    try:
        return getattr_(ctx, t[:1], name, owner)
    except AttributeError:
        if not default:
            raise
        return default[0], t[2]


@pushes(setattr)
def push_setattr(ctx: TangentContext, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """The builtin ``setattr``."""
    owner, name, value = args
    return setattr_(ctx, (t[0], t[2]), name, owner, value)


@pushes(object.__setattr__)
def push_plain_setattr(ctx: TangentContext, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``object.__setattr__``."""
    owner, name, value = args
    object.__setattr__(owner, name, value)
    keep_attribute(ctx, owner, name, t[2])
    return None, None


@pushes(object.__getattribute__)
def push_plain_getattr(ctx: TangentContext, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``object.__getattribute__``, past what a class makes of it."""
    owner, name = args
    form, found = reading(owner, name, plainly=True)
    return read_by(ctx, t, form, found, name, owner, object.__getattribute__(owner, name) if is_data(form) else None)


@bookkeeping
def is_data(form: str) -> bool:
    """Whether reading an attribute in this way runs no code."""
    return form in ("plain", "inherited", "builtin", "module", "held")


@pushes(delattr)
def push_delattr(ctx: TangentContext, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """The builtin ``delattr``."""
    return delattr_(ctx, t[:1], args[1], args[0])


@pushes(vars)
def push_vars(ctx: TangentContext, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``vars(object)``."""
    return args[0].__dict__, None
