"""Containers that take items one by one, as CPython does: each is there before the next is asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any

from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.items import setitem, unpack
from autodiff_hook.runtime.iteration import Pairs, finished, get_iter, interrupted, sized
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.slots import stored

Put = Callable[[Any, Pullback | None], Pullback | None]


class Grown:
    """Pullback of having put the items of some iterables, one after another, into a container.

    ``put(item, pullback)`` stores an item and gives the pullback of that, whose first cotangent is the item's.
    """

    __slots__ = ("steps",)

    def __init__(self, ctx: Context, witnesses: Any, sources: Any, put: Put, hinted: bool) -> None:
        self.steps: list[Pullback] = []
        before = len(ctx.finished)
        try:
            for index, source in enumerate(sources):
                pairs, started = get_iter(ctx, (witnesses[index],), None, source)
                self._take(ctx, index, pairs, sized(ctx, source, started) if hinted else started, put)
        except BaseException:
            interrupted(ctx, self, self.steps, before)
            raise

    def _take(self, ctx: Context, index: int, pairs: Pairs, started: Pullback | None, put: Put) -> None:
        if started is not None:
            self.steps.append(_Begun(started, index))
        for item, pullback in pairs:
            store = put(item, pullback)
            if store is not None or pullback is not None:
                self.steps.append(_Put(store, pullback))
        end = finished(ctx)
        if end is not None:
            self.steps.append(end)

    def __call__(self, sweep: Sweep, cotangent: Any) -> dict[int, Any]:
        """The cotangents of the iterables, by their place."""
        given: dict[int, Any] = {}
        for step in reversed(self.steps):
            step(sweep, given)
        return given


class _Begun:
    """The beginning of an iteration: its pullback gives the cotangent of the iterable."""

    __slots__ = ("index", "started")

    def __init__(self, started: Pullback, index: int) -> None:
        self.started, self.index = started, index

    def __call__(self, sweep: Sweep, given: dict[int, Any]) -> None:
        given[self.index] = self.started(sweep, None)[0]


class _Put:
    """One item: what its slot has received is the cotangent that the iterator gets back."""

    __slots__ = ("pullback", "store")

    def __init__(self, store: Pullback | None, pullback: Pullback | None) -> None:
        self.store, self.pullback = store, pullback

    def __call__(self, sweep: Sweep, given: Any) -> None:
        received = self.store(sweep, None) if self.store is not None else None
        if self.pullback is not None:
            self.pullback(sweep, None if received is None else received[0])


def grown(ctx: Context, w: Any, sources: Any, put: Put, lead: int = 1, hinted: bool = False) -> Pullback | None:
    """Put the items of ``sources`` into a container; the pullback's cotangents come after ``lead`` others.

    With ``hinted`` each source is asked for its length first, as lists do.
    """
    found = Grown(ctx, w, sources, put, hinted)
    if not found.steps:
        return None
    count = len(sources)

    def grown_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = found(sweep, None)
        return (*(None,) * lead, *(given.get(index) for index in range(count)))

    return grown_pullback


def appending(ctx: Context, owner: list[Any]) -> Put:
    """How an item is appended to a list."""

    def append(item: Any, pullback: Pullback | None) -> Pullback | None:
        list.append(owner, item)
        return stored(ctx, pullback, owner, list.__len__(owner) - 1, item, 0, 1)

    return append


def adding(ctx: Context, owner: set[Any]) -> Put:
    """How an item is added to a set, where a member that is there already stays."""

    def add(item: Any, pullback: Pullback | None) -> Pullback | None:
        if set.__contains__(owner, item):
            return None
        set.add(owner, item)
        return stored(ctx, pullback, owner, item, item, 0, 1)

    return add


def pairing(ctx: Context, owner: dict[Any, Any]) -> Put:
    """How a pair of key and value is put into a dict."""

    def assign(pair: Any, pullback: Pullback | None) -> Pullback | None:
        (key, value), taken = unpack(ctx, (pullback,), (2, None), pair)
        store = put(ctx, taken, owner, key, value)
        return None if store is None and taken is None else _OfPair(store, taken)

    return assign


def put(ctx: Context, witness: Pullback | None, owner: dict[Any, Any], key: Any, value: Any) -> Pullback | None:
    """Store a value in a dict as its own methods do; the pullback gives the cotangent of the value."""
    if not calls_setitem(owner):
        plain_dict(owner).__setitem__(owner, key, value)
        return stored(ctx, witness, owner, key, value, 0, 1)
    _, pullback = setitem(ctx, (None, None, witness), None, owner, key, value)
    if pullback is None:
        return None

    def put_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, None)
        return (None,) if given is None else given[2:]

    return put_pullback


def calls_setitem(owner: Any) -> bool:
    """Whether the methods of an ordered dict store by a ``__setitem__`` of its class."""
    return isinstance(owner, OrderedDict) and isinstance(find_in_type(type(owner), "__setitem__"), FunctionType)


def plain_dict(owner: dict[Any, Any]) -> Any:
    """The builtin class whose methods change a dict, whatever its own class makes of their names."""
    return OrderedDict if isinstance(owner, OrderedDict) else dict


class _OfPair:
    """The cotangent of a pair from that of its value."""

    __slots__ = ("store", "taken")

    def __init__(self, store: Pullback | None, taken: Pullback | None) -> None:
        self.store, self.taken = store, taken

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        given = self.store(sweep, None)[0] if self.store is not None else None
        return None if self.taken is None else self.taken(sweep, None if given is None else (None, given))
