"""Dicts: every method as a movement of slots."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.growing import calls_setitem, grown, pairing, plain_dict, put
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.items import Copied, getitem, removed
from autodiff_hook.runtime.iteration import ItemOfPair
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import MISSING, find_in_type
from autodiff_hook.runtime.slots import Attribute, dictionary_of, loaded, stored

Result = tuple[Any, Pullback | None]
Args = tuple[Any, ...]


def _first_of(pullback: Pullback | None, count: int) -> Pullback | None:
    """A pullback without cotangents to give, for a call of ``count`` operands."""
    return pullback


@handles(dict.get)
def dict_get(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.get``."""
    owner, key, *default = args
    if dict.__contains__(owner, key):
        value = dict.__getitem__(owner, key)
        return value, loaded(ctx, owner, key, value)
    return (default[0] if default else None), _default(args, w)


def _default(args: Args, w: Any) -> Pullback | None:
    if len(args) < 3 or w[2] is None:
        return None

    def default_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return None, None, cotangent

    return default_pullback


@handles(dict.pop, OrderedDict.pop)
def dict_pop(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.pop``."""
    owner, key = args[:2]
    if dict.__contains__(owner, key):
        value = plain_dict(owner).pop(owner, key)
        return value, _taken_out(ctx, owner, key, value)
    return plain_dict(owner).pop(*args), _default(args, w)


@handles(dict.setdefault, OrderedDict.setdefault)
def dict_setdefault(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.setdefault``."""
    owner, key = args[:2]
    if dict.__contains__(owner, key):
        return dict_get(ctx, w, args[:2], kwargs)
    store = put(ctx, w[2] if len(args) > 2 else None, owner, key, args[2] if len(args) > 2 else None)
    value = dict.__getitem__(owner, key)
    load = loaded(ctx, owner, key, value)
    if store is None and load is None:
        return value, None

    def setdefault_pullback(sweep: Sweep, cotangent: Any) -> Any:
        if load is not None:
            load(sweep, cotangent)
        return (None, None, *store(sweep, None)) if store is not None else None

    return value, setdefault_pullback


@handles(dict.update, OrderedDict.update)
def dict_update(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.update``; also unpacking into a dict display."""
    owner, *others = args
    stores: list[tuple[int | None, Any]] = []
    pullbacks: list[Pullback] = []
    for other in others:
        pullback = _merge(ctx, owner, other)
        if pullback is not None:
            pullbacks.append(pullback)
    for index, (name, value) in enumerate(kwargs.items()):
        store = put(ctx, w[len(args) + index], owner, name, value)
        if store is not None:
            stores.append((len(args) + index, store))
    if not stores and not pullbacks:
        return None, None

    def update_pullback(sweep: Sweep, cotangent: Any) -> Any:
        result: list[Any] = [None] * (len(args) + len(kwargs))
        for place, store in reversed(stores):
            result[place] = store(sweep, None)[0]
        for pullback in reversed(pullbacks):
            pullback(sweep, None)
        return tuple(result)

    return None, update_pullback


def _merge(ctx: Context, owner: dict[Any, Any], other: Any) -> Pullback | None:
    if kind_of(type(other)) == "dict" and not calls_setitem(owner):
        plain_dict(owner).update(owner, other)
        return _copied_keys(ctx, owner, other, list(dict.keys(other)))
    if hasattr(other, "keys"):
        return _merge_mapping(ctx, owner, other)
    return grown(ctx, (None,), (other,), pairing(ctx, owner))


def _merge_mapping(ctx: Context, owner: dict[Any, Any], other: Any, admit: Callable[[Any], None] | None = None) -> Any:
    """Take over what an object with ``keys`` and ``__getitem__`` has."""
    from autodiff_hook.runtime.calls import call_method

    keys, asked = call_method(ctx, (None,), ("keys", ()), other)

    def take(key: Any, pullback: Pullback | None) -> Pullback | None:
        if admit is not None:
            admit(key)
        value, read = getitem(ctx, (None, None), None, other, key)
        store = put(ctx, read, owner, key, value)
        return None if store is None and read is None else _Read(store, read)

    taken = grown(ctx, (None,), (keys,), take, lead=0)
    return effects_of([x for x in (asked, taken) if x is not None])


class _Read:
    """One item that was read of a mapping and stored; its key has no cotangent."""

    __slots__ = ("read", "store")

    def __init__(self, store: Pullback | None, read: Pullback | None) -> None:
        self.store, self.read = store, read

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        given = self.store(sweep, None) if self.store is not None else None
        if self.read is not None:
            self.read(sweep, None if given is None else given[0])


def _copied_keys(ctx: Context, owner: dict[Any, Any], other: dict[Any, Any], keys: list[Any]) -> Pullback | None:
    """Note that slots of a dict were stored to from those of another."""
    origin: Any = ctx.dictionaries[id(other)][0] if id(other) in ctx.dictionaries else other
    return _copied_from(ctx, owner, keys, origin, [Attribute(key) for key in keys] if origin is not other else keys)


def copied_attributes(ctx: Context, target: dict[str, Any], owner: Any) -> Pullback | None:
    """Note that a dict was filled with attributes of an object."""
    return _copied_from(ctx, target, list(target), owner, [Attribute(name) for name in target])


def attributes_from(ctx: Context, owner: Any, source: dict[str, Any]) -> Pullback | None:
    """Note that an object was given the items of a dict as its attributes."""
    keys = list(source)
    origin: Any = ctx.dictionaries[id(source)][0] if id(source) in ctx.dictionaries else source
    names = [Attribute(key) for key in keys]
    return _copied_from(ctx, owner, names, origin, names if origin is not source else keys)


def _copied_from(ctx: Context, owner: Any, keys: list[Any], origin: Any, origins: list[Any]) -> Pullback | None:
    if id(owner) in ctx.dictionaries:
        owner, keys = ctx.dictionaries[id(owner)][0], [Attribute(key) for key in keys]
    source, target = ctx.marks.get(id(origin)), ctx.marks.get(id(owner))
    if source is None and target is None:
        return None
    ctx.effects += 1
    live = {key for key, of in zip(keys, origins) if source is not None and source.covers(of)}
    ctx.move(owner, lambda before: before.difference(keys) | live)
    if source is not None and source.keys is None:
        ctx.mark_all(owner)
    if source is not None and source.loss is not None:
        ctx.mark_all(owner).loss = source.loss
    return Copied(owner, origin, list(zip(keys, origins)), 0)


@handles(dict)
def make_dict(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict(...)``."""
    result: dict[Any, Any] = {}
    _, pullback = dict_update(ctx, (None, *w), (result, *args), kwargs)
    if pullback is None:
        return result, None

    def dict_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return pullback(sweep, None)[1:]

    return result, dict_pullback


@handles(defaultdict.__init__)
def default_dict_init(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``defaultdict.__init__``: the factory, then what ``dict`` takes."""
    owner, *rest = args
    defaultdict.__init__(owner, *rest[:1])
    _, pullback = dict_update(ctx, (w[0], *w[1 + len(rest[:1]) :]), (owner, *rest[1:]), kwargs)
    if pullback is None or not rest:
        return None, pullback

    def default_dict_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, None)
        return given and (given[0], None, *given[1:])

    return None, default_dict_pullback


@handles(dict.copy)
def dict_copy(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.copy``."""
    return make_dict(ctx, w, args, {})


def _viewing(native: Callable[[Any], Any]) -> Any:
    def view_handler(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
        return native(args[0]), None

    return view_handler


for _method in (dict.values, dict.items, OrderedDict.values, OrderedDict.items, OrderedDict.keys):
    handles(_method)(_viewing(_method))


@handles(dict.clear, OrderedDict.clear)
def dict_clear(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.clear``."""
    keys = list(dict.keys(args[0]))
    plain_dict(args[0]).clear(args[0])
    return None, _all_removed(ctx, args[0], keys)


def _all_removed(ctx: Context, owner: Any, keys: list[Any]) -> Pullback | None:
    effects = [effect for key in keys if (effect := removed(ctx, owner, key)) is not None]
    if not effects:
        return None

    def removed_pullback(sweep: Sweep, cotangent: Any) -> None:
        for effect in effects:
            effect(sweep, None)

    return removed_pullback


@handles(dict.popitem, OrderedDict.popitem)
def dict_popitem(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.popitem``."""
    owner, *last = args
    key, value = plain_dict(owner).popitem(owner, *last, **kwargs)
    pullback = _taken_out(ctx, owner, key, value)
    return (key, value), None if pullback is None else ItemOfPair(pullback)


def _taken_out(ctx: Context, owner: Any, key: Any, value: Any) -> Pullback | None:
    """The pullback of a value that was taken out of a dict."""
    load, gone = loaded(ctx, owner, key, value), removed(ctx, owner, key)
    if gone is None:
        return load

    def taken_pullback(sweep: Sweep, cotangent: Any) -> None:
        gone(sweep, None)
        if load is not None:
            load(sweep, cotangent)

    return taken_pullback


@handles(OrderedDict.move_to_end)
def move_to_end(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``OrderedDict.move_to_end``."""
    return args[0].move_to_end(*args[1:], **kwargs), None


def merged(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict | dict``: a new dict."""
    a, b = args
    result = a | b
    pullbacks = [
        pullback
        for source in (a, b)
        if (pullback := _copied_keys(ctx, result, source, [k for k in source if source is b or k not in b])) is not None
    ]
    return result, effects_of(pullbacks)


handles(dict.__or__, OrderedDict.__or__)(merged)


def effects_of(pullbacks: list[Pullback]) -> Pullback | None:
    if not pullbacks:
        return None

    def effects_pullback(sweep: Sweep, cotangent: Any) -> None:
        for pullback in reversed(pullbacks):
            pullback(sweep, None)

    return effects_pullback


@handles(dict.__ior__, OrderedDict.__ior__)
def dict_ior(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict |= mapping or pairs``."""
    _, pullback = dict_update(ctx, w, args, kwargs)
    return args[0], pullback


@handles(find_in_type(dict, "fromkeys"), find_in_type(OrderedDict, "fromkeys"))
def dict_fromkeys(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.fromkeys(keys, value)``."""
    cls, keys, *value = args
    result = cls.fromkeys(keys, *value)
    if len(w) < 3 or w[2] is None:
        return result, None
    for key in result:
        ctx.mark(result, key)
    ctx.effects += 1

    def fromkeys_pullback(sweep: Sweep, cotangent: Any) -> Any:
        total = None
        for key in list(sweep.peek(result)):
            total = accumulate(total, sweep.pop(result, key))
        return None, None, total

    return result, fromkeys_pullback


def match_keys(ctx: Context, w: Any, data: Any, subject: Any, keys: Any) -> Result:
    """The values of ``case {key: …}``, as a tuple; None if a key is missing."""
    from autodiff_hook.runtime.calls import call_method

    found = []
    for key in keys:
        value, pullback = call_method(ctx, (None,) * 3, ("get", ()), subject, key, MISSING)
        if value is MISSING:
            return None, None
        found.append((value, pullback))
    values = tuple(value for value, _ in found)
    if all(pullback is None for _, pullback in found):
        return values, None

    def match_pullback(sweep: Sweep, cotangent: Any) -> None:
        for (_, pullback), part in zip(found, cotangent or ()):
            if pullback is not None:
                pullback(sweep, part)

    return values, match_pullback


@handles(vars)
def vars_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``vars(object)``."""
    found = vars(*args)
    dictionary_of(ctx, args[0], found)
    return found, None


def map_add(ctx: Context, w: Any, data: Any, owner: Any, key: Any, value: Any) -> Result:
    """One item of a dict comprehension."""
    owner[key] = value
    return None, stored(ctx, w[2], owner, key, value, 2, 3)


def dict_merge(ctx: Context, w: Any, data: Any, owner: Any, other: Any, function: Any) -> Result:
    """Keyword arguments for a call, put together."""

    def admit(key: Any) -> None:
        if key in owner:
            name = getattr(function, "__qualname__", function)
            raise TypeError(f"{name}() got multiple values for keyword argument '{key}'")

    if kind_of(type(other)) != "dict":
        if not hasattr(other, "keys"):
            name = getattr(function, "__qualname__", function)
            raise TypeError(f"{name}() argument after ** must be a mapping, not {type(other).__name__}")
        return None, _merge_mapping(ctx, owner, other, admit)
    for key in other:
        admit(key)
    return None, _merge(ctx, owner, other)
