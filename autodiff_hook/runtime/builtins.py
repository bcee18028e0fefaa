"""Builtins that iterate or call back: zip, map, enumerate, sorted, reduce…"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from autodiff_hook.errors import Unsupported, located
from autodiff_hook.runtime import sequences
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.handlers import LAZY, handles
from autodiff_hook.runtime.iteration import (
    VIEWS,
    Drained,
    Iteration,
    Pairs,
    advance,
    finished,
    get_iter,
    iteration,
    returned,
)
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.opaque import Loss
from autodiff_hook.runtime.slots import ctx_taint, received

Result = tuple[Any, Pullback | None]
Args = tuple[Any, ...]


class Started:
    """Pullback of starting several iterations at once."""

    __slots__ = ("lead", "pullbacks")

    def __init__(self, pullbacks: list[Pullback | None], lead: int = 0) -> None:
        self.pullbacks, self.lead = pullbacks, lead

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        given = [None if p is None else p(sweep, None)[0] for p in reversed(self.pullbacks)]
        return (*(None,) * self.lead, *reversed(given))


class Step:
    """Pullback of one item that is a tuple of the items of several iterations."""

    __slots__ = ("pullbacks",)

    def __init__(self, pullbacks: list[Pullback | None]) -> None:
        self.pullbacks = pullbacks

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        for index in reversed(range(len(self.pullbacks))):
            pullback = self.pullbacks[index]
            if pullback is not None:
                pullback(sweep, None if cotangent is None else cotangent[index])


def _start(ctx: Context, w: Any, iterables: Any) -> tuple[list[Pairs], list[Pullback | None]]:
    started = [get_iter(ctx, (x,), None, iterable) for x, iterable in zip(w, iterables)]
    return [pairs for pairs, _ in started], [pullback for _, pullback in started]


def _iteration(ctx: Context, pairs: Pairs, started: list[Pullback | None], lead: int = 0, options: int = 0) -> Result:
    pullbacks = [*started, *(None,) * options]
    return iteration(ctx, pairs), Started(pullbacks, lead)


@handles(zip)
def zip_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``zip``."""
    sources, started = _start(ctx, w, args)
    pairs = _zip_pairs(_rows(ctx, args, sources, kwargs.get("strict", False)))
    return _iteration(ctx, pairs, started, options=len(kwargs))


def _rows(ctx: Context, iterables: Any, sources: list[Pairs], strict: bool = False) -> Any:
    """The items of several iterations side by side; what is taken before another has come to its end has happened."""
    if all(kind_of(type(x)) in ("list", "tuple", "array", "inert") for x in iterables[:-1]):
        return zip(*sources, strict=strict)
    return _noted_rows(ctx, sources, strict)


def _noted_rows(ctx: Context, sources: list[Pairs], strict: bool) -> Any:
    row: list[Pullback | None] = []

    def noted(source: Pairs) -> Pairs:
        for pair in source:
            row.append(pair[1])
            yield pair

    try:
        for rows in zip(*map(noted, sources), strict=strict):
            row.clear()
            yield rows
    finally:
        if any(pullback is not None for pullback in row):
            ctx.finished.append(Step(row))


def _zip_pairs(rows_of_pairs: Any) -> Pairs:
    for rows in rows_of_pairs:
        pullbacks = [pullback for _, pullback in rows]
        live = any(p is not None for p in pullbacks)
        yield tuple(item for item, _ in rows), Step(pullbacks) if live else None


@handles(enumerate)
def enumerate_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``enumerate``."""
    values = [*args, *kwargs.values()]
    named = dict(zip(("iterable", "start"), args)) | kwargs
    sources, started = _start(ctx, w, [named["iterable"]])

    def pairs() -> Pairs:
        for index, (item, pullback) in enumerate(sources[0], named.get("start", 0)):
            yield (index, item), None if pullback is None else Step([None, pullback])

    return _iteration(ctx, pairs(), started, options=len(values) - 1)


@handles(map)
def map_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``map``."""
    from autodiff_hook.runtime.calls import apply

    function, *iterables = args
    sources, started = _start(ctx, w[1:], iterables)

    def pairs() -> Pairs:
        for rows in _rows(ctx, iterables, sources):
            pullbacks = [pullback for _, pullback in rows]
            value, pullback = apply(ctx, (w[0], *pullbacks), function, tuple(item for item, _ in rows), {})
            yield value, None if pullback is None else _mapped(pullback, Step([None, *pullbacks]))

    return _iteration(ctx, pairs(), started, lead=1)


def _mapped(pullback: Pullback, step: Step) -> Pullback:
    def mapped_pullback(sweep: Sweep, cotangent: Any) -> None:
        step(sweep, pullback(sweep, cotangent))

    return mapped_pullback


@handles(filter)
def filter_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``filter``."""
    function, iterable = args
    sources, started = _start(ctx, w[1:], [iterable])

    def pairs() -> Pairs:
        before: list[Pullback] = []
        for item, pullback in sources[0]:
            kept, called = (item, None) if function is None else _called_on(ctx, function, item, pullback)
            if called is not None:
                pullback = _tested(called, pullback)
            if kept:
                yield item, _all_of([*before, pullback]) if before else pullback
                before = []
            elif called is not None:
                before.append(pullback)
        if before:
            ctx.finished.append(_all_of(before))

    return _iteration(ctx, pairs(), started, lead=1)


def _called_on(ctx: Context, function: Any, item: Any, witness: Pullback | None) -> Result:
    """The truth of ``function(item)``, and the pullback if the call had effects."""
    from autodiff_hook.runtime.calls import apply

    effects = ctx.effects
    value, pullback = apply(ctx, (None, witness), function, (item,), {})
    return bool(value), pullback if ctx.effects != effects else None


def _all_of(pullbacks: list[Pullback | None]) -> Pullback:
    def all_pullback(sweep: Sweep, cotangent: Any) -> None:
        for pullback in reversed(pullbacks):
            if pullback is not None:
                pullback(sweep, cotangent)
            cotangent = None

    return all_pullback


def _tested(called: Pullback, pullback: Pullback | None) -> Pullback:
    def tested_pullback(sweep: Sweep, cotangent: Any) -> None:
        given = called(sweep, None)
        total = accumulate(cotangent, None if given is None else given[1])
        if pullback is not None:
            pullback(sweep, total)

    return tested_pullback


@handles(reversed)
def reversed_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``reversed``."""
    from autodiff_hook.runtime.items import call_special, getitem

    sequence = args[0]
    method = find_in_type(type(sequence), "__reversed__")
    if isinstance(method, FunctionType):
        return call_special(ctx, w, method, (sequence,))
    if isinstance(sequence, VIEWS):
        pairs_of_view, started = get_iter(ctx, w, None, sequence)
        return _iteration(ctx, (pair for pair in list(pairs_of_view)[::-1]), [started])
    if not hasattr(sequence, "__getitem__") or not hasattr(sequence, "__len__") or isinstance(sequence, dict):
        return builtins.reversed(sequence), None
    if w[0] is None or kind_of(type(sequence)) not in ("tuple", "array"):

        def pairs() -> Pairs:
            for index in range(len(sequence) - 1, -1, -1):
                value, pullback = getitem(ctx, (None, None), None, sequence, index)
                yield value, None if pullback is None else _first_only(pullback)

        return _iteration(ctx, pairs(), [None])
    pairs_of_tuple, started = get_iter(ctx, w, None, tuple(builtins.reversed(sequence)))

    def reversed_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = started(sweep, None)[0] if started is not None else None
        return (None if given is None else _flipped(sequence, given),)

    return iteration(ctx, pairs_of_tuple), reversed_pullback


def _first_only(pullback: Pullback) -> Pullback:
    def item_pullback(sweep: Sweep, cotangent: Any) -> None:
        pullback(sweep, cotangent)

    return item_pullback


def _flipped(sequence: Any, given: tuple[Any, ...]) -> Any:
    if isinstance(sequence, tuple):
        return given[::-1]
    import numpy as np

    rows = [np.zeros(sequence.shape[1:]) if g is None else g for g in given[::-1]]
    return np.array(rows, dtype=sequence.dtype if sequence.dtype.kind in "fc" else float)


@handles(iter)
def iter_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``iter``."""
    from autodiff_hook.runtime.calls import apply

    if len(args) == 2:

        def called() -> Pairs:
            while True:
                effects = ctx.effects
                value, pullback = apply(ctx, (None,), args[0], (), {})
                if args[1] is value or args[1] == value:
                    break
                yield value, pullback
            if ctx.effects != effects:
                ctx.finished.append(pullback)

        return _iteration(ctx, called(), [None, None])
    if isinstance(args[0], Iteration):
        return args[0], None
    pairs, started = get_iter(ctx, w, None, args[0])
    if isinstance(find_in_type(type(args[0]), "__next__"), FunctionType):
        return args[0], started
    return iteration(ctx, pairs), started if started is not None else Started([None])


@handles(next)
def next_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``next``."""
    iterator = args[0]
    try:
        if isinstance(find_in_type(type(iterator), "__next__"), FunctionType) and type(iterator) is not Iteration:
            value, pullback = advance(ctx, iterator)
        elif kind_of(type(iterator)) == "array":
            raise Unsupported(
                located(
                    "next() of the flat iterator of an array is not differentiated; run over it with a loop, or take "
                    "items of array.ravel()"
                )
            )
        else:
            source, _ = get_iter(ctx, w[:1], None, iterator)
            value, pullback = builtins.next(source)
    except StopIteration as stop:
        if len(args) < 2:
            raise _as_seen(ctx, stop) if type(iterator) is Iteration else stop from None
        return args[1], _after(finished(ctx), None if w[1] is None else _default_pullback)
    return value, None if pullback is None else _first_only(pullback)


handles(Iteration.__next__)(next_)


def _as_seen(ctx: Context, stop: StopIteration) -> StopIteration:
    """The exception for user code; the value in it has lost its derivatives."""
    seen = StopIteration(*returned(stop))
    if stop.value is not None and (stop.value.witness is not None or ctx.reaches(stop.value.value)):
        ctx_taint(ctx, seen, Loss(next, "which hands over what a generator returned", []))
    return seen


@handles(Iteration.send)
def send_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``generator.send``."""
    return next_(ctx, w[:1], args[:1], {}) if args[1] is None else args[0].send(args[1])


@handles(Iteration.close)
def close_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``generator.close``."""
    return args[0].close(), None


handles(Iteration.throw)(lambda ctx, w, args, kwargs: args[0].throw(*args[1:]))


def _after(end: Pullback | None, pullback: Pullback | None) -> Pullback | None:
    """A pullback that first undoes what generators did at their end."""
    if end is None:
        return pullback

    def after_pullback(sweep: Sweep, cotangent: Any) -> Any:
        end(sweep, None)
        return None if pullback is None else pullback(sweep, cotangent)

    return after_pullback


def _default_pullback(sweep: Sweep, cotangent: Any) -> Any:
    return None, cotangent


@handles(functools.reduce)
def reduce_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``functools.reduce``."""
    from autodiff_hook.runtime.calls import apply

    function = args[0]
    (source,), (started,) = _start(ctx, w[1:2], args[1:2])
    if len(args) > 2:
        value, pullback = args[2], w[2]
        first = None
    else:
        try:
            value, first = builtins.next(source)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
        pullback = first
    steps: list[tuple[Pullback | None, Pullback | None]] = []
    for item, item_pullback in source:
        value, pullback = apply(ctx, (None, pullback, item_pullback), function, (value, item), {})
        steps.append((pullback, item_pullback))
    end = finished(ctx)

    def reduce_pullback(sweep: Sweep, cotangent: Any) -> Any:
        if end is not None:
            end(sweep, None)
        for step, item_pullback in reversed(steps):
            given = (step(sweep, cotangent) if step is not None else None) or (None, None, None)
            if item_pullback is not None:
                item_pullback(sweep, given[2])
            cotangent = given[1]
        if first is not None:
            first(sweep, cotangent)
        before = started(sweep, None)[0] if started is not None else None
        return (None, before, cotangent)[: len(args)]

    return value, reduce_pullback if steps or pullback is not None or end is not None else None


@handles(list)
def list_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list(...)``."""
    return sequences.copy_of(ctx, w, args, list)


@handles(tuple)
def tuple_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``tuple(...)``."""
    return sequences.copy_of(ctx, w, args, tuple)


LAZY.update(map(id, (zip, enumerate, map, filter, reversed, iter)))

_LIST_METHODS: dict[Any, Callable[..., Result]] = {
    list.append: sequences.list_append,
    list.insert: sequences.list_insert,
    list.extend: sequences.list_extend,
    list.__iadd__: sequences.list_iadd,
    list.__imul__: sequences.list_imul,
    list.pop: sequences.list_pop,
    list.remove: sequences.list_remove,
    list.clear: sequences.list_clear,
    list.reverse: sequences.list_reverse,
    list.sort: sequences.list_sort,
    list.copy: sequences.list_copy,
    sorted: sequences.sorted_,
}
for _target, _handler in _LIST_METHODS.items():
    handles(_target)(_handler)


def native(function: Any) -> Callable[..., Result]:
    """The handler of a callable that only looks at its arguments."""

    def native_handler(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
        return function(*args, **kwargs), None

    return native_handler


for _target in (
    *(list.__len__, list.__contains__, dict.__len__, dict.__contains__, set.__len__, set.__contains__, tuple.__len__),
    list.index,
    list.count,
    dict.keys,
    isinstance,
    issubclass,
    hasattr,
    id,
    type,
    callable,
):
    handles(_target)(native(_target))


def _searching(wanted: bool) -> Callable[..., Result]:
    """The handler of ``any`` and ``all``: they look for a true, or a false, item."""

    def search(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
        (iterable,) = args
        pairs, started = get_iter(ctx, w, None, iterable)
        found = not wanted

        def until() -> Pairs:
            nonlocal found
            for item, pullback in pairs:
                yield item, pullback
                if bool(item) is wanted:
                    found = wanted
                    return

        drained = Drained(ctx, until(), started)
        if drained.is_constant():
            return found, None

        def search_pullback(sweep: Sweep, cotangent: Any) -> Any:
            return (drained(sweep, None),)

        return found, search_pullback

    return search


handles(any)(_searching(True))
handles(all)(_searching(False))


def first_marked(ctx: Context, value: Any, pullback: Pullback) -> Pullback | None:
    """The pullback of a value handed out by native code."""
    return received(ctx, value, pullback, deep=True)
