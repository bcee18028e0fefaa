"""Dicts, and the proxies that show them: every method on the primal and on the tokens of its slots."""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict
from types import FunctionType, MappingProxyType
from typing import Any

from autodiff_hook.algebras.shadows import (
    Algebra,
    Result,
    Token,
    drop_key,
    keep,
    keep_key,
    keep_keys,
    kind,
    known,
    load,
    load_key,
    note_made,
    some,
)
from autodiff_hook.runtime.lookup import behind, find_in_type
from autodiff_hook.semantics.items import getitem, materialised, setitem, unpack
from autodiff_hook.semantics.iteration import get_iter, plain_dict, python_method
from autodiff_hook.semantics.keys import load_by
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, apply, call_method, giving_owner, means, natively
from autodiff_hook.semantics.opaque import call_opaque


@means(dict.get)
def dict_get(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner, key, *default = args
    if dict.__contains__(owner, key):
        value = dict.__getitem__(owner, key)
        return value, load_by(alg, owner, key, t[1], value)
    return (default[0], t[2]) if default else (None, None)


@means(dict.pop, OrderedDict.pop)
def dict_pop(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner, key, *default = args
    cls = plain_dict(owner)
    if not dict.__contains__(owner, key):
        return cls.pop(owner, key, *default), t[2] if default else None
    token, found = load_by(alg, owner, key, t[1], dict.__getitem__(owner, key)), known(alg, owner)
    if found is not None:
        drop_key(found, key)
    return cls.pop(owner, key), token


@means(dict.popitem, OrderedDict.popitem)
def dict_popitem(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner, *options = args
    if not dict.__len__(owner):
        return plain_dict(owner).popitem(owner), None
    key = end_key(owner, *options, **kwargs)
    moving = load_key(alg, owner, key)
    value, token = dict_pop(alg, (None, None), (owner, key), {})
    return (key, value), (moving, token) if some((moving, token)) else None


def end_key(owner: Any, last: bool = True) -> Any:
    """The key that was inserted last, or first."""
    cls = plain_dict(owner)
    return next(cls.__reversed__(owner) if last else cls.__iter__(owner))


@means(dict.clear, OrderedDict.clear)
def dict_clear(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner = args[0]
    found = known(alg, owner)
    for key in list(dict.keys(owner)):
        plain_dict(owner).pop(owner, key)
        if found is not None:
            drop_key(found, key)
    return None, None


@means(dict.setdefault, OrderedDict.setdefault)
def dict_setdefault(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner, key, *default = args
    if not dict.__contains__(owner, key):
        value, token = (default[0], t[2]) if default else (None, None)
        put(alg, owner, key, value, t[1], token)
    value = dict.__getitem__(owner, key)
    return value, load_by(alg, owner, key, t[1], value)


@means(dict.update, OrderedDict.update)
def dict_update(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.update``."""
    owner, *others = args
    for other, token in zip(others, t[1:]):
        _merge(alg, owner, other, token)
    for (name, value), token in zip(kwargs.items(), t[len(args) :]):
        put(alg, owner, name, value, None, token)
    return None, None


def dict_spread(alg: Algebra, t: Any, data: Any, owner: Any, other: Any) -> Result:
    """``{**other}``: what holds pairs is no mapping."""
    if not hasattr(other, "keys"):
        raise TypeError(f"{type(other).__name__!r} object is not a mapping")
    return dict_update(alg, t, (owner, other), {})


def put(alg: Algebra, owner: dict[Any, Any], key: Any, value: Any, moving: Any, token: Any) -> None:
    """Store a value in a dict as its own methods do; ``moving`` is the token of the key."""
    if calls_setitem(owner):
        setitem(alg, (None, moving, token), None, owner, key, value)
        return
    keep_key(alg, owner, key, moving)
    if python_method(owner, "__setitem__") is None:
        owner[key] = value
    else:
        plain_dict(owner).__setitem__(owner, key, value)
    keep(alg, owner, key, token)


def _merge(alg: Algebra, owner: dict[Any, Any], other: Any, moving: Token) -> None:
    if _is_taken_whole(owner, other):
        for key in list(other):
            value = dict.__getitem__(other, key)
            put(alg, owner, key, value, load_key(alg, other, key), load(alg, other, key, value))
    elif hasattr(other, "keys"):
        _merge_mapping(alg, owner, other)
    else:
        for item, token in get_iter(alg, (moving,), None, other)[0]:
            (key, value), parts = unpack(alg, (token,), (2, None), item)
            put(alg, owner, key, value, *((None, None) if parts is None else parts))


def _is_taken_whole(owner: Any, other: Any) -> bool:
    """Whether a dict takes over what another one has, and does not ask that for its keys and for each item."""
    cls = type(other)
    if kind(other) != "dict" or cls in (dict, OrderedDict, defaultdict):
        return kind(other) == "dict"
    return not isinstance(owner, OrderedDict) and find_in_type(cls, "__iter__") is dict.__iter__


def _merge_mapping(alg: Algebra, owner: dict[Any, Any], other: Any, function: Any = None) -> None:
    """Take over what an object with ``keys`` and ``__getitem__`` has; for a call of ``function``, only new keys."""
    keys, token = call_method(alg, (None,), ("keys", ()), other)
    for key, moving in get_iter(alg, (token,), None, keys)[0]:
        if function is not None:
            admit(owner, key, function)
        value, token = getitem(alg, (None, moving), None, other, key)
        put(alg, owner, key, value, moving, token)


def admit(owner: Any, key: Any, function: Any) -> None:
    """Raise what Python raises for a keyword that is given twice."""
    if key in owner:
        name = getattr(function, "__qualname__", function)
        raise TypeError(f"{name}() got multiple values for keyword argument '{key}'")


def require_mapping(other: Any, function: Any) -> None:
    """Raise what Python raises for ``**other`` of something else."""
    if not hasattr(other, "keys"):
        name = getattr(function, "__qualname__", function)
        raise TypeError(f"{name}() argument after ** must be a mapping, not {type(other).__name__}")


@means(dict, dict.copy)
def make_dict(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    result: dict[Any, Any] = {}
    note_made(alg, result)
    dict_update(alg, (None, *t), (result, *args), kwargs)
    return result, None


@means(OrderedDict.copy)
def copy_ordered(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``OrderedDict.copy``: an object of the class, which is made of nothing and given the items one by one."""
    (owner,) = args
    made, _ = apply(alg, (None,), type(owner), (), {})
    for key in list(owner):
        value, token = getitem(alg, (t[0], None), None, owner, key)
        setitem(alg, (None, load_key(alg, owner, key), token), None, made, key, value)
    return made, None


@means(defaultdict)
def make_defaultdict(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``defaultdict(default_factory, ...)``; what it makes of a missing key it makes when it is asked."""
    result: defaultdict[Any, Any] = defaultdict(*args[:1])
    note_made(alg, result)
    lead = len(args[:1])
    dict_update(alg, (None, *t[lead:]), (result, *args[lead:]), kwargs)
    return result, None


for _method in (dict.values, dict.items, dict.keys, OrderedDict.values, OrderedDict.items, OrderedDict.keys):
    # Views are the dict's own; what is iterated over is looked up when it is reached.
    natively(_method)
natively(OrderedDict.move_to_end)


@means(dict.__or__, OrderedDict.__or__, defaultdict.__or__)
def merged(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict | dict``: a new dict."""
    a, b = args
    if not isinstance(b, dict) and find_in_type(type(b), "__ror__") is None:
        return a | b, None  # which raises
    if not (_is_taken_whole({}, a) and _is_taken_whole({}, b)):
        return _merged_by_keys(alg, t, a, b, a)
    result = a | b
    for key in result:
        keep(alg, result, key, load(alg, b if key in b else a, key, result[key]))
    for source in (b, a):
        keep_keys(alg, result, source, [load_key(alg, source, key) for key in source])
    return result, None


@means(dict.__ror__, OrderedDict.__ror__, defaultdict.__ror__)
def merged_into(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict | dict``, asked of the second."""
    b, a = args
    whole = _is_taken_whole({}, a) and _is_taken_whole({}, b)
    return merged(alg, t[::-1], (a, b), kwargs) if whole else _merged_by_keys(alg, t[::-1], a, b, b)


def _merged_by_keys(alg: Algebra, t: Any, a: Any, b: Any, owner: Any) -> Result:
    """``a | b`` where one of them is asked for its items; ``owner`` is the one whose method it is."""
    if isinstance(owner, defaultdict):
        return call_opaque(alg, t, operator.or_, (a, b), {}, "of what says itself what it holds")
    cls = type(owner) if isinstance(owner, OrderedDict) else dict
    made, _ = apply(alg, (None, t[0]), cls, (a,), {})
    apply(alg, (None, None, t[1]), cls.update, (made, b), {})
    return made, None


means(dict.__ior__, OrderedDict.__ior__)(giving_owner(dict_update))


@means(find_in_type(dict, "fromkeys"), find_in_type(OrderedDict, "fromkeys"))
def dict_fromkeys(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    cls, keys, *value = args
    keys, moving = materialised(alg, t[1], keys)
    result = cls.fromkeys(keys, *value)
    for key in result:
        keep(alg, result, key, t[2] if value else None)
    keep_keys(alg, result, keys, moving)
    return result, None


def map_add(alg: Algebra, t: Any, data: Any, owner: Any, key: Any, value: Any) -> Result:
    """One item of a dict comprehension."""
    keep_key(alg, owner, key, t[1])
    owner[key] = value
    keep(alg, owner, key, t[2])
    return None, None


def dict_merge(alg: Algebra, t: Any, data: Any, owner: Any, other: Any, function: Any) -> Result:
    """Keyword arguments for a call, put together."""
    if not _is_taken_whole(owner, other):
        require_mapping(other, function)
        _merge_mapping(alg, owner, other, function)
        return None, None
    for key in other:
        admit(owner, key, function)
    _merge(alg, owner, other, None)
    return None, None


def calls_setitem(owner: Any) -> bool:
    """Whether the methods of an ordered dict store by a ``__setitem__`` of its class."""
    return isinstance(owner, OrderedDict) and type(find_in_type(type(owner), "__setitem__")) is FunctionType


natively(MappingProxyType)


def asking(name: str) -> Meaning:
    """A method of ``types.MappingProxyType``: that of the mapping behind it."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        proxy, *rest = args
        return call_method(alg, t, (name, tuple(kwargs)), behind(proxy), *rest, *kwargs.values())

    return carried


for _name in ("get", "keys", "values", "items", "copy", "__getitem__", "__iter__", "__reversed__"):
    means(vars(MappingProxyType)[_name])(asking(_name))


@means(vars(MappingProxyType)["__or__"])
def proxy_or(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``a | b`` where one is a proxy."""
    a, b = [behind(x) if type(x) is MappingProxyType else x for x in args]
    return call_method(alg, t, ("__or__", ()), a, b)
