"""Dicts: every method on the primal and on the tangents of its slots."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from autodiff_hook.runtime import growing
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.pushing.context import Result, TangentContext, keep, kind, known, load
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pushes
from autodiff_hook.runtime.pushing.items import getitem, setitem, unpack
from autodiff_hook.runtime.pushing.iteration import get_iter, python_method

Args = tuple[Any, ...]
Kwargs = dict[str, Any]

plain_dict = bookkeeping(growing.plain_dict)
calls_setitem = bookkeeping(growing.calls_setitem)


@pushes(dict.get)
def dict_get(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.get``."""
    owner, key, *default = args
    if dict.__contains__(owner, key):
        return dict.__getitem__(owner, key), load(ctx, owner, key)
    return (default[0], t[2]) if default else (None, None)


@pushes(dict.pop, OrderedDict.pop)
def dict_pop(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.pop``."""
    owner, key, *default = args
    cls = plain_dict(owner)
    if not dict.__contains__(owner, key):
        return cls.pop(owner, key, *default), t[2] if default else None
    found = known(ctx, owner)
    return cls.pop(owner, key), None if found is None else found.pop(key, None)


@pushes(dict.popitem, OrderedDict.popitem)
def dict_popitem(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.popitem``."""
    owner, *options = args
    if not dict.__len__(owner):
        return plain_dict(owner).popitem(owner), None
    key = end_key(owner, *options, **kwargs)
    value, tangent = dict_pop(ctx, (None, None), (owner, key), {})
    return (key, value), None if tangent is None else (None, tangent)


@bookkeeping
def end_key(owner: Any, last: bool = True) -> Any:
    """The key that was inserted last, or first."""
    cls = plain_dict(owner)
    return next(cls.__reversed__(owner) if last else cls.__iter__(owner))


@pushes(dict.clear, OrderedDict.clear)
def dict_clear(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.clear``."""
    owner = args[0]
    found = known(ctx, owner)
    for key in list(dict.keys(owner)):
        plain_dict(owner).pop(owner, key)
        if found is not None:
            found.pop(key, None)
    return None, None


@pushes(dict.setdefault, OrderedDict.setdefault)
def dict_setdefault(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.setdefault``."""
    owner, key, *default = args
    if dict.__contains__(owner, key):
        return dict.__getitem__(owner, key), load(ctx, owner, key)
    value, tangent = (default[0], t[2]) if default else (None, None)
    put(ctx, owner, key, value, tangent)
    return dict.__getitem__(owner, key), load(ctx, owner, key)


@pushes(dict.update, OrderedDict.update)
def dict_update(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.update``; also unpacking into a dict display."""
    owner, *others = args
    for other in others:
        _merge(ctx, owner, other)
    for (name, value), tangent in zip(kwargs.items(), t[len(args) :]):
        put(ctx, owner, name, value, tangent)
    return None, None


def put(ctx: TangentContext, owner: dict[Any, Any], key: Any, value: Any, tangent: Any) -> None:
    """Store a value in a dict as its own methods do."""
    if calls_setitem(owner):
        setitem(ctx, (None, None, tangent), None, owner, key, value)
        return
    if python_method(owner, "__setitem__") is None:
        owner[key] = value
    else:
        plain_dict(owner).__setitem__(owner, key, value)
    keep(ctx, owner, key, tangent)


def _merge(ctx: TangentContext, owner: dict[Any, Any], other: Any) -> None:
    if kind(other) == "dict":
        for key in list(dict.keys(other)):
            put(ctx, owner, key, dict.__getitem__(other, key), load(ctx, other, key))
    elif hasattr(other, "keys"):
        _merge_mapping(ctx, owner, other)
    else:
        for item, tangent in get_iter(ctx, (None,), None, other)[0]:
            (key, value), parts = unpack(ctx, (tangent,), (2, None), item)
            put(ctx, owner, key, value, None if parts is None else parts[1])


def _merge_mapping(ctx: TangentContext, owner: dict[Any, Any], other: Any, function: Any = None) -> None:
    """Take over what an object with ``keys`` and ``__getitem__`` has; for a call of ``function``, only new keys."""
    from autodiff_hook.runtime.pushing.calls import call_method

    keys = call_method(ctx, (None,), ("keys", ()), other)[0]
    for key, _ in get_iter(ctx, (None,), None, keys)[0]:
        if function is not None:
            admit(owner, key, function)
        value, tangent = getitem(ctx, (None, None), None, other, key)
        put(ctx, owner, key, value, tangent)


@bookkeeping
def admit(owner: Any, key: Any, function: Any) -> None:
    """Raise what Python raises for a keyword that is given twice."""
    if key in owner:
        name = getattr(function, "__qualname__", function)
        raise TypeError(f"{name}() got multiple values for keyword argument '{key}'")


@bookkeeping
def require_mapping(other: Any, function: Any) -> None:
    """Raise what Python raises for ``**other`` of something else."""
    if not hasattr(other, "keys"):
        name = getattr(function, "__qualname__", function)
        raise TypeError(f"{name}() argument after ** must be a mapping, not {type(other).__name__}")


@pushes(dict)
def make_dict(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict(...)``."""
    result: dict[Any, Any] = {}
    dict_update(ctx, (None, *t), (result, *args), kwargs)
    return result, None


@pushes(dict.copy)
def dict_copy(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.copy``."""
    return make_dict(ctx, t, args, {})


class Viewing:
    """Views are the dict's own; what is iterated over is looked up when it is reached."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def push(self, ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The pusher."""
        return self.function(*args), None


for _method in (dict.values, dict.items, OrderedDict.values, OrderedDict.items, OrderedDict.keys):
    pushes(_method)(Viewing(_method).push)


@pushes(dict.__or__, OrderedDict.__or__)
def merged(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict | dict``: a new dict."""
    a, b = args
    result = a | b
    for key in result:
        keep(ctx, result, key, load(ctx, b if key in b else a, key))
    return result, None


@pushes(dict.__ior__, OrderedDict.__ior__)
def dict_ior(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict |= mapping or pairs``."""
    dict_update(ctx, t, args, kwargs)
    return args[0], None


@pushes(OrderedDict.move_to_end)
def move_to_end(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``OrderedDict.move_to_end``."""
    return args[0].move_to_end(*args[1:], **kwargs), None


@pushes(find_in_type(dict, "fromkeys"), find_in_type(OrderedDict, "fromkeys"))
def dict_fromkeys(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.fromkeys(keys, value)``."""
    cls, keys, *value = args
    result = cls.fromkeys(keys, *value)
    for key in result:
        keep(ctx, result, key, t[2] if value else None)
    return result, None


def map_add(ctx: TangentContext, t: Any, data: Any, owner: Any, key: Any, value: Any) -> Result:
    """One item of a dict comprehension."""
    owner[key] = value
    keep(ctx, owner, key, t[2])
    return None, None


def dict_merge(ctx: TangentContext, t: Any, data: Any, owner: Any, other: Any, function: Any) -> Result:
    """Keyword arguments for a call, put together."""
    if kind(other) != "dict":
        require_mapping(other, function)
        _merge_mapping(ctx, owner, other, function)
        return None, None
    for key in other:
        admit(owner, key, function)
    _merge(ctx, owner, other)
    return None, None
