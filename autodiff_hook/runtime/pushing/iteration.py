"""Iterating with tangents: every item comes with its own."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

from autodiff_hook.runtime.iteration import VIEWS
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.opaque import Loss
from autodiff_hook.runtime.pushing.arrays import array_tangent
from autodiff_hook.runtime.pushing.context import Result, TangentContext, kind, known, load, reaches
from autodiff_hook.runtime.pushing.handlers import bookkeeping

Pairs = Iterator[tuple[Any, Any]]


class PushIteration:
    """An iterator whose items may have tangents: user code sees the items."""

    def __init__(self, pairs: Any, returned: dict[str, Any] | None = None) -> None:
        self.pairs, self.returned = pairs, returned

    def __iter__(self) -> PushIteration:
        return self

    def __next__(self) -> Any:
        return step(self)[0]

    def send(self, value: Any) -> Any:
        """Like a generator's."""
        return self.pairs.send(value)[0]

    def throw(self, *error: Any) -> Any:
        """Like a generator's."""
        return (self.pairs if self.returned is None else self.returned["generator"]).throw(*error)[0]

    def close(self) -> None:
        """Like a generator's."""
        self.pairs.close()


def step(iterator: PushIteration) -> Result:
    """The next item and its tangent."""
    pair: Result | None = next(iterator.pairs, None)
    if pair is None:
        raise StopIteration(*value_returned(iterator))
    return pair


@bookkeeping
def value_returned(iterator: PushIteration) -> tuple[Any, ...]:
    """What a generator has returned, without its tangent; nothing if that is None."""
    value = None if iterator.returned is None else iterator.returned.get("value")
    return () if value is None else (value,)


def generated(ctx: TangentContext, generator: Any) -> PushIteration:
    """An iterator over what a generated generator yields."""
    returned = {"generator": generator}
    ctx.iterates = True
    return PushIteration(_generated_pairs(generator, returned), returned)


def _generated_pairs(generator: Any, returned: dict[str, Any]) -> Any:
    sent = None
    while True:
        try:
            pair = generator.send(sent)
        except StopIteration as stop:
            returned["value"] = None if stop.value is None else stop.value[0]
            return
        sent = yield pair


def iteration(ctx: TangentContext, pairs: Pairs) -> PushIteration:
    """An iterator for user code; from now on calls matter that nothing with a tangent goes into."""
    ctx.iterates = True
    return PushIteration(pairs)


@bookkeeping
def is_iteration(value: Any) -> bool:
    """Whether ``value`` is an iterator of ours."""
    return type(value) is PushIteration


@bookkeeping
def is_view(value: Any) -> bool:
    """Whether ``value`` is a view of the values or items of a dict."""
    return isinstance(value, VIEWS)


@bookkeeping
def viewed(view: Any) -> tuple[Any, bool]:
    """The dict behind a view, and whether that shows items."""
    return gc.get_referents(view)[0], isinstance(view, VIEWS[1])


def get_iter(ctx: TangentContext, t: Any, data: Any, value: Any) -> Result:
    """Start an iteration; the iterator yields pairs of item and tangent."""
    if is_iteration(value):
        return value.pairs, None
    form = how(ctx, value, t[0] is not None)
    if form == "list":
        return list_pairs(ctx, value), None
    if form == "tuple":
        return _tuple_pairs(value, t[0]), None
    if form == "array":
        return _array_pairs(ctx, value, t[0]), None
    if form == "set":
        return _set_pairs(ctx, value), None
    if form == "view":
        return _view_pairs(ctx, value), None
    if form == "object":
        return _object_pairs(ctx, value)
    if form == "sequence":
        return _sequence_pairs(ctx, value), None
    if form == "lossy":
        return _lossy_pairs(iter(value)), None
    return plain_pairs(iter(value)), None


@bookkeeping
def how(ctx: TangentContext, value: Any, moves: bool) -> str:
    """How to iterate over ``value``."""
    form = kind(value)
    python = python_method(value, "__iter__") or python_method(value, "__next__")
    if python is None and (form == "list" or form == "tuple" and moves):
        return form
    if form == "array":
        return "array" if value.ndim and (moves or ctx.arrays) else "plain"
    if form == "set":
        return "set" if known(ctx, value) else "plain"
    if isinstance(value, VIEWS):
        return "view"
    idle = not ctx.tangents and not ctx.arrays and not ctx.iterates and not moves
    if idle:
        return "plain"
    if python is not None:
        return "object"
    if form == "object" and find_in_type(type(value), "__iter__") is None:
        return "sequence"
    return "lossy" if form == "object" and reaches(ctx, value) else "plain"


@bookkeeping
def python_method(value: Any, name: str) -> Any:
    """The special method of the type of ``value``, if it is written in Python."""
    from types import FunctionType

    found = find_in_type(type(value), name)
    return found if isinstance(found, FunctionType) else None


def plain_pairs(iterator: Any) -> Pairs:
    """Items without tangents."""
    for item in iterator:
        yield item, None


def _lossy_pairs(iterator: Any) -> Pairs:
    """Items of something that tangents can be reached from, but not by item."""
    for item in iterator:
        check_item(iterator, item)
        yield item, None


@bookkeeping
def check_item(iterator: Any, item: Any) -> None:
    """Raise for a value that may have a tangent which is lost."""
    if kind(item) in ("number", "array", "tuple"):
        raise Loss(type(iterator), "an iterator that is not Python code", []).error()


def _sequence_pairs(ctx: TangentContext, value: Any) -> Pairs:
    """The items of an object that has only ``__getitem__``."""
    from autodiff_hook.runtime.pushing.items import getitem

    index = 0
    while True:
        try:
            pair = getitem(ctx, (None, None), None, value, index)
        except IndexError:
            return
        yield pair
        index += 1


def list_pairs(ctx: TangentContext, items: list[Any]) -> Pairs:
    index = 0
    while index < list.__len__(items):
        yield list.__getitem__(items, index), load(ctx, items, index)
        index += 1


def _tuple_pairs(items: tuple[Any, ...], tangents: tuple[Any, ...]) -> Pairs:
    for index in range(len(items)):
        yield items[index], tangents[index]


def _array_pairs(ctx: TangentContext, array: Any, tangent: Any) -> Pairs:
    for index in range(len(array)):
        moving = array_tangent(ctx, array, tangent)
        yield array[index], None if moving is None else moving[index]


def _set_pairs(ctx: TangentContext, items: Any) -> Pairs:
    for item in items:
        yield item, load(ctx, items, item)


def _view_pairs(ctx: TangentContext, view: Any) -> Pairs:
    owner, items = viewed(view)
    for key in owner:
        moving = load(ctx, owner, key)
        if items:
            yield (key, owner[key]), None if moving is None else (None, moving)
        else:
            yield owner[key], moving


def _object_pairs(ctx: TangentContext, value: Any) -> Result:
    """An iterable or an iterator written as a class."""
    from autodiff_hook.runtime.pushing.calls import apply

    method = python_method(value, "__iter__")
    if method is None:
        return stepped(ctx, value), None
    iterator, tangent = apply(ctx, (None, None), method, (value,), {})
    if iterator is value:
        return stepped(ctx, value), None
    return get_iter(ctx, (tangent,), None, iterator)


def stepped(ctx: TangentContext, iterator: Any) -> Pairs:
    """The items of an iterator with a ``__next__`` of Python code."""
    from autodiff_hook.runtime.pushing.calls import apply

    step = python_method(iterator, "__next__")
    while True:
        try:
            pair = apply(ctx, (None, None), step, (iterator,), {})
        except StopIteration:
            return
        yield pair
