"""Builtins that iterate or call back: zip, map, enumerate, reduce…"""

from __future__ import annotations

import builtins
import functools
from typing import Any

from autodiff_hook import api
from autodiff_hook.errors import Unsupported, located
from autodiff_hook.runtime.controls import Checkpoint
from autodiff_hook.runtime.pushing.comparing import truth
from autodiff_hook.runtime.pushing.context import Result, TangentContext, reaches, some
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pushes
from autodiff_hook.runtime.pushing.items import getitem
from autodiff_hook.runtime.pushing.iteration import (
    Pairs,
    PushIteration,
    get_iter,
    is_iteration,
    is_view,
    iteration,
    python_method,
    value_returned,
)
from autodiff_hook.runtime.pushing.opaque import fail

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def _start(ctx: TangentContext, t: Any, iterables: Any) -> list[Pairs]:
    return [get_iter(ctx, (tangent,), None, iterable)[0] for tangent, iterable in zip(t, iterables)]


@pushes(zip)
def zip_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``zip``."""
    return iteration(ctx, _zip_pairs(_start(ctx, t, args), kwargs.get("strict", False))), None


def _zip_pairs(sources: list[Pairs], strict: bool) -> Pairs:
    for rows in zip(*sources, strict=strict):
        tangents = tuple([tangent for _, tangent in rows])
        yield tuple([item for item, _ in rows]), tangents if some(tangents) else None


@pushes(enumerate)
def enumerate_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``enumerate``."""
    named = dict(zip(("iterable", "start"), args)) | kwargs
    moving = dict(zip((*("iterable", "start")[: len(args)], *kwargs), t))
    source = get_iter(ctx, (moving["iterable"],), None, named["iterable"])[0]
    return iteration(ctx, _enumerate_pairs(source, named.get("start", 0))), None


def _enumerate_pairs(source: Pairs, index: int) -> Pairs:
    for item, tangent in source:
        yield (index, item), None if tangent is None else (None, tangent)
        index += 1


@pushes(map)
def map_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``map``."""
    function, *iterables = args
    return iteration(ctx, _map_pairs(ctx, t[0], function, _start(ctx, t[1:], iterables))), None


def _map_pairs(ctx: TangentContext, tangent: Any, function: Any, sources: list[Pairs]) -> Pairs:
    from autodiff_hook.runtime.pushing.calls import apply

    for rows in zip(*sources):
        tangents = tuple([moving for _, moving in rows])
        yield apply(ctx, (tangent, *tangents), function, tuple([item for item, _ in rows]), {})


@pushes(filter)
def filter_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``filter``."""
    function, iterable = args
    return iteration(ctx, _filter_pairs(ctx, t[0], function, get_iter(ctx, t[1:], None, iterable)[0])), None


def _filter_pairs(ctx: TangentContext, moving: Any, function: Any, source: Pairs) -> Pairs:
    from autodiff_hook.runtime.pushing.calls import apply

    for item, tangent in source:
        value, change = (item, tangent) if function is None else apply(ctx, (moving, tangent), function, (item,), {})
        if truth(ctx, (change,), None, value)[0]:
            yield item, tangent


@pushes(reversed)
def reversed_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``reversed``."""
    sequence = args[0]
    method = python_method(sequence, "__reversed__")
    if method is not None:
        from autodiff_hook.runtime.pushing.calls import apply

        return apply(ctx, (None, t[0]), method, (sequence,), {})
    if is_view(sequence):
        pairs = list(get_iter(ctx, t, None, sequence)[0])
        return iteration(ctx, _given_pairs(pairs[::-1])), None
    if not hasattr(sequence, "__getitem__") or not hasattr(sequence, "__len__") or isinstance(sequence, dict):
        return builtins.reversed(sequence), None
    return iteration(ctx, _reversed_pairs(ctx, t[0], sequence)), None


def _given_pairs(pairs: list[Any]) -> Pairs:
    for pair in pairs:  # noqa: UP028 (differentiated in its turn: without a delegate)
        yield pair


def _reversed_pairs(ctx: TangentContext, tangent: Any, sequence: Any) -> Pairs:
    for index in range(len(sequence) - 1, -1, -1):
        yield getitem(ctx, (tangent, None), None, sequence, index)


@pushes(iter)
def iter_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``iter``."""
    if len(args) == 2:
        return iteration(ctx, _called_pairs(ctx, t[0], *args)), None
    if is_iteration(args[0]):
        return args[0], None
    return iteration(ctx, get_iter(ctx, t, None, args[0])[0]), None


def _called_pairs(ctx: TangentContext, tangent: Any, function: Any, sentinel: Any) -> Pairs:
    from autodiff_hook.runtime.pushing.calls import apply

    pair = apply(ctx, (tangent,), function, (), {})
    while not is_sentinel(pair[0], sentinel):
        yield pair
        pair = apply(ctx, (tangent,), function, (), {})


@bookkeeping
def is_sentinel(value: Any, sentinel: Any) -> bool:
    """Whether ``iter(function, sentinel)`` has come to its end."""
    return sentinel is value or bool(sentinel == value)


@pushes(next)
def next_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``next``."""
    from autodiff_hook.runtime.pushing.calls import apply

    iterator, *default = args
    if is_iteration(iterator):
        found: Result | None = builtins.next(iterator.pairs, None)
        if found is not None:
            return found
        if default:
            return default[0], t[1]
        raise StopIteration(*value_returned(iterator))
    try:
        if python_method(iterator, "__next__") is not None:
            pair = apply(ctx, (None, None), python_method(iterator, "__next__"), (iterator,), {})
        else:
            pair = builtins.next(iterator), None
    except StopIteration:
        if not default:
            raise
        return default[0], t[1]
    return pair


@pushes(PushIteration.__next__)
def next_method(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``iterator.__next__()``."""
    return next_(ctx, t, args, kwargs)


@pushes(PushIteration.send)
def send_method(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``generator.send(value)``: what is sent must be a constant."""
    iterator, value = args
    if t[1] is not None or reaches(ctx, value):
        fail(PushIteration.send, "which hands what is differentiated to a generator")
    pair: Result = iterator.pairs.send(value)
    return pair


@pushes(PushIteration.throw)
def throw_method(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``generator.throw(error)``."""
    return args[0].throw(*args[1:]), None


@pushes(PushIteration.close)
def close_method(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``generator.close()``."""
    args[0].pairs.close()
    return None, None


@pushes(functools.reduce)
def reduce_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``functools.reduce``."""
    from autodiff_hook.runtime.pushing.calls import apply

    function, iterable, *initial = args
    source = get_iter(ctx, t[1:2], None, iterable)[0]
    if initial:
        value, tangent = initial[0], t[2]
    else:
        try:
            value, tangent = builtins.next(source)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    for item, moving in source:
        value, tangent = apply(ctx, (t[0], tangent, moving), function, (value, item), {})
    return value, tangent


def native(function: Any) -> Any:
    """How a callable is pushed forward that only looks at its arguments."""

    def push_native(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
        return function(*args, **kwargs), None

    return push_native


_NATIVE: tuple[Any, ...] = (
    *(list.__len__, list.__contains__, dict.__len__, dict.__contains__, set.__contains__, tuple.__len__),
    *(any, all, list.index, list.count, dict.keys, isinstance, issubclass, hasattr, id, type, callable),
    *(set.__len__, functools.wraps, functools.update_wrapper),
)
for _target in _NATIVE:
    pushes(_target)(native(_target))


@pushes(super)
def super_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``super(cls, self)``, with the tangent of ``self``."""
    return super(*args), t[1] if len(t) > 1 else None


@pushes(api.stop_gradient)
def stop_gradient(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """A constant copy."""
    return api.stop_gradient(*args, **kwargs), None


@pushes(api.hook)
def hook(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """The identity, where nothing has a tangent."""
    if t[1] is not None or reaches(ctx, args[1]):
        refuse_hook()
    return api.hook(*args), None


@bookkeeping
def refuse_hook() -> None:
    """Raise for a function on cotangents in a program that has tangents."""
    raise Unsupported(
        located("hook(fn, x): fn is given cotangents, so it has no forward mode (jvp, hvp, nested gradients)")
    )


@pushes(Checkpoint.__call__)
def checkpoint(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """Forward mode keeps nothing: a plain call."""
    from autodiff_hook.runtime.pushing.calls import apply

    owner, *rest = args
    return apply(ctx, (None, *t[1:]), owner.function, tuple(rest), kwargs)
