"""Iterating with derivatives: every item comes with the pullback of having got it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, Final

from autodiff_hook.errors import Unsupported, located
from autodiff_hook.runtime.buffers import Part, dense
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.slots import loaded, received

Pairs = Iterator[tuple[Any, Any]]


class Iteration:
    """An iterator whose items may carry derivatives: user code sees the items, a rule also the pullbacks."""

    __slots__ = ("context", "pairs")

    def __init__(self, pairs: Pairs, context: Context) -> None:
        self.pairs, self.context = pairs, context

    def __iter__(self) -> Iteration:
        return self

    def __next__(self) -> Any:
        effects = self.context.effects
        try:
            return next(self.pairs)[0]
        except StopIteration as stop:
            raise StopIteration(*returned(stop)) from None
        finally:
            if self.context.effects != effects:
                self.context.lost = located(
                    "an iterator that stores what carries a derivative was consumed by code that is not differentiated"
                )

    def send(self, value: Any) -> Any:
        """A generator's ``send``, of which only ``send(None)`` is differentiated."""
        if value is not None:
            raise Unsupported(
                located("send to a generator is not differentiated: pass values through a list or an object")
            )
        return next(self)

    def throw(self, *error: Any) -> Any:
        """A generator's ``throw``, which is not differentiated."""
        raise Unsupported(located("throw into a generator is not differentiated"))

    def close(self) -> None:
        """A generator's ``close``."""
        close = getattr(self.pairs, "close", None)
        if close is not None:
            close()


def returned(stop: StopIteration) -> tuple[Any, ...]:
    """The arguments of the ``StopIteration`` that user code is to see."""
    return () if stop.value is None or stop.value.value is None else (stop.value.value,)


def iteration(ctx: Context, pairs: Pairs) -> Iteration:
    """An iterator for user code, which derivatives may come out of."""
    made = Iteration(pairs, ctx)
    ctx.mark_all(made)
    ctx.effects += 1
    return made


class Drained:
    """What a consumer took from an iteration.

    As a pullback it hands the items' cotangents back and returns that of the iterable; ``started`` is the pullback
    of having started.
    """

    __slots__ = ("end", "pullbacks", "started", "values")

    def __init__(self, ctx: Context, pairs: Pairs, started: Pullback | None = None) -> None:
        self.started, self.end = started, None
        before = len(ctx.finished)
        taken: list[tuple[Any, Any]] = []
        try:
            for pair in pairs:
                taken.append(pair)
        except BaseException:
            self._note(taken)
            interrupted(ctx, self, self.pullbacks, before)
            raise
        self._note(taken)
        self.end = finished(ctx)

    def _note(self, taken: list[tuple[Any, Any]]) -> None:
        self.values = tuple([value for value, _ in taken])
        self.pullbacks = [pullback for _, pullback in taken]

    def is_constant(self) -> bool:
        """Whether nothing that was taken carries a derivative."""
        return self.started is None and self.end is None and all(pullback is None for pullback in self.pullbacks)

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        if self.end is not None:
            self.end(sweep, None)
        for index in reversed(range(len(self.pullbacks))):
            pullback = self.pullbacks[index]
            if pullback is not None:
                pullback(sweep, None if cotangent is None else cotangent[index])
        return self.started(sweep, None)[0] if self.started is not None else None


def interrupted(ctx: Context, done: Pullback, pullbacks: list[Any], before: int) -> None:
    """What an operation did before it raised is undone where the handler begins, before what ended meanwhile."""
    if any(pullback is not None for pullback in pullbacks):
        ctx.finished.insert(before, done)


def finished(ctx: Context) -> Pullback | None:
    """The pullback of what generators did between their last ``yield`` and their end, just now."""
    if not ctx.finished:
        return None
    ended = tuple(ctx.finished)
    ctx.finished.clear()

    def finished_pullback(sweep: Sweep, cotangent: Any) -> None:
        for pullback in reversed(ended):
            pullback(sweep, None)

    return finished_pullback


def exhausted(ctx: Context, w: Any, data: Any, *pairs: Pairs) -> tuple[None, Pullback | None]:
    """A loop, or a handler, has come to the end of an iterator."""
    return None, finished(ctx) if ctx.finished else None


class Collected:
    """Pullback of starting to iterate over a value: the cotangents that its items received."""

    __slots__ = ("finish", "token")

    def __init__(self, token: object, finish: Callable[[dict[Any, Any]], Any]) -> None:
        self.token, self.finish = token, finish

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any]:
        found = dict(sweep.peek(self.token))
        sweep.shadow(self.token).clear()
        return (self.finish(found) if found else None,)


class Item:
    """Pullback of one item of a value."""

    __slots__ = ("index", "token")

    def __init__(self, token: object, index: Any) -> None:
        self.token, self.index = token, index

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        sweep.add(self.token, self.index, cotangent)


def get_iter(ctx: Context, w: Any, data: Any, value: Any) -> tuple[Pairs, Pullback | None]:
    """Start an iteration; the iterator yields pairs of item and pullback."""
    cls = type(value)
    if cls is Iteration:
        return value.pairs, None
    if cls is list:
        return list_pairs(ctx, value), None
    if isinstance(value, VIEWS):
        return _view_pairs(ctx, value), None
    kind = kind_of(cls)
    if kind == "array" and value.dtype.kind in "fciu" and value.ndim:
        active = w[0] is not None or ctx.buffers.is_stored(value)
        return _array_pairs(ctx, value) if active else (_constant_pairs(ctx, value), None)
    if kind == "array" and value.dtype.kind in "OV" and (w[0] is not None or ctx.buffers.is_stored(value)):
        from autodiff_hook.runtime.items import element_of

        return ((item, element_of(ctx, value, item)) for item in value), None
    if isinstance(find_in_type(cls, "__iter__"), FunctionType):
        return _object_pairs(ctx, w, value)
    if kind == "list":
        return list_pairs(ctx, value), None
    if kind == "tuple" and w[0] is not None:
        return _tuple_pairs(ctx, value)
    if kind == "set":
        return ((item, loaded(ctx, value, item, item)) for item in iter(value)), None
    if kind == "object":
        return (_watched_pairs(ctx, value), None) if ctx.idle() else _object_pairs(ctx, w, value)
    return _plain_pairs(value), None


VIEWS: Final[tuple[type, ...]] = (type({}.values()), type({}.items()))


def viewed(view: Any) -> Any:
    """The dict behind a view of its values or items."""
    return gc.get_referents(view)[0]


def _view_pairs(ctx: Context, view: Any) -> Pairs:
    owner, pairs = viewed(view), isinstance(view, VIEWS[1])
    for key, value in owner.items():
        load = loaded(ctx, owner, key, value) if ctx.marks else None
        if pairs:
            yield (key, value), None if load is None else ItemOfPair(load)
        else:
            yield value, load


class ItemOfPair:
    """Pullback of an item ``(key, value)`` of a dict."""

    __slots__ = ("load",)

    def __init__(self, load: Pullback) -> None:
        self.load = load

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        if cotangent is not None:
            self.load(sweep, cotangent[1])


def _plain_pairs(value: Any) -> Pairs:
    iterator = iter(value)
    return ((item, None) for item in iterator)


def list_pairs(ctx: Context, items: list[Any]) -> Pairs:
    index = 0
    while index < list.__len__(items):
        item = list.__getitem__(items, index)
        yield item, loaded(ctx, items, index, item) if ctx.marks else None
        index += 1


def _tuple_pairs(ctx: Context, items: tuple[Any, ...]) -> tuple[Pairs, Pullback]:
    token = object()

    def collect(found: dict[Any, Any]) -> tuple[Any, ...]:
        return tuple(found.get(i) for i in range(len(items)))

    return ((item, Item(token, i)) for i, item in enumerate(items)), Collected(token, collect)


def _array_pairs(ctx: Context, array: Any) -> tuple[Pairs, Pullback]:
    import numpy as np

    token = object()
    dtype = array.dtype if array.dtype.kind in "fc" else np.dtype(float)

    def collect(found: dict[Any, Any]) -> Any:
        whole = np.zeros(array.shape, dtype)
        for index, cotangent in found.items():
            whole[index] = dense(cotangent)
        return whole

    return ((item, _array_item(ctx, array, token, i)) for i, item in enumerate(array)), Collected(token, collect)


def _constant_pairs(ctx: Context, array: Any) -> Pairs:
    """The items of an array without derivatives, unless such are stored into it before an item is taken."""
    return ((x, Part(array, i, stored=True) if ctx.buffers.is_stored(array) else None) for i, x in enumerate(array))


def _array_item(ctx: Context, array: Any, token: object, index: int) -> Pullback:
    return Part(array, index, stored=True) if ctx.buffers.is_stored(array) else Item(token, index)


def _object_pairs(ctx: Context, w: Any, value: Any) -> tuple[Pairs, Pullback | None]:
    """An iterable or an iterator written as a class, or an iterator that a native call returned."""
    from autodiff_hook.runtime.calls import apply

    method = find_in_type(type(value), "__iter__")
    if isinstance(method, FunctionType):
        iterator, pullback = apply(ctx, (None, w[0]), method, (value,), {})
        if iterator is value:
            return stepped(ctx, value), _Started(pullback, None)
        pairs, inner = get_iter(ctx, (pullback,), None, iterator)
        return pairs, _Started(pullback, inner)
    if isinstance(find_in_type(type(value), "__next__"), FunctionType):
        return stepped(ctx, value), None
    if method is None and isinstance(find_in_type(type(value), "__getitem__"), FunctionType):
        return _indexed(ctx, value), None
    mark = ctx.marks.get(id(value))
    if mark is not None and mark.loss is not None:
        loss = mark.loss
        return ((item, received(ctx, item, loss, deep=True)) for item in iter(value)), None
    return _watched_pairs(ctx, value), None


def _watched_pairs(ctx: Context, value: Any) -> Pairs:
    """The items of an iterator of native code: it may read an array that has been written to meanwhile."""
    from autodiff_hook.runtime.opaque import Loss

    for item in iter(value):
        loss = None
        if ctx.buffers.stored and kind_of(type(item)) != "inert" and ctx.reaches(value):
            loss = received(ctx, item, Loss(type(value), "which reads an array that is written to", []), deep=True)
        yield item, loss


def sized(ctx: Context, value: Any, started: Pullback | None) -> Pullback | None:
    """Ask how many items there may be, as lists and tuples do before they take any; ``started`` with that."""
    from autodiff_hook.runtime.calls import apply

    for name in ("__len__", "__length_hint__"):
        method = find_in_type(type(value), name)
        if isinstance(method, FunctionType):
            effects = ctx.effects
            try:
                _, asked = apply(ctx, (None, None), method, (value,), {})
            except TypeError:
                continue
            return _Sized(started, asked) if asked is not None and ctx.effects != effects else started
        if method is not None and name == "__len__":
            break
    return started


class _Sized:
    """Pullback of the beginning of an iteration whose iterable was then asked for its length."""

    __slots__ = ("asked", "started")

    def __init__(self, started: Pullback | None, asked: Pullback) -> None:
        self.started, self.asked = started, asked

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any]:
        self.asked(sweep, None)
        given: tuple[Any] = self.started(sweep, None) if self.started is not None else (None,)
        return given


def stepped(ctx: Context, iterator: Any) -> Pairs:
    """The items of an iterator written as a class."""
    while True:
        try:
            item = advance(ctx, iterator)
        except StopIteration:
            return
        yield item


def advance(ctx: Context, iterator: Any) -> tuple[Any, Pullback | None]:
    """Call ``__next__`` of an iterator written as a class."""
    from autodiff_hook.runtime.calls import apply

    return apply(ctx, (None, None), find_in_type(type(iterator), "__next__"), (iterator,), {})


def _indexed(ctx: Context, value: Any) -> Pairs:
    """The items of an object that only has ``__getitem__``."""
    from autodiff_hook.runtime.items import getitem

    index = 0
    while True:
        try:
            item = getitem(ctx, (None, None), None, value, index)
        except (IndexError, StopIteration):
            return
        yield item
        index += 1


class _Started:
    """Pullback of the first step of an iteration that calls ``__iter__``."""

    __slots__ = ("inner", "made")

    def __init__(self, made: Pullback | None, inner: Pullback | None) -> None:
        self.made, self.inner = made, inner

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any]:
        collected = self.inner(sweep, None)[0] if self.inner is not None else None
        given = self.made(sweep, collected) if self.made is not None else None
        return (given[1] if given is not None else None,)
