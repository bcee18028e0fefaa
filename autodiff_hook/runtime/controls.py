"""Control over the reverse sweep: ``stop_gradient``, ``hook``, ``checkpoint``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_hook import api
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.structures import absorb, mark_deep, structure_of, take

Result = tuple[Any, Pullback | None]


class Checkpoint:
    """A function whose intermediate values are recomputed in the reverse sweep."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


@handles(api.stop_gradient)
def stop_gradient(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """A constant copy."""
    return api.stop_gradient(*args, **kwargs), None


@handles(api.hook)
def hook(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """The identity, with a function of the user's on the way back."""
    function, value = args
    result = api.hook(function, value)
    if w[1] is None and not ctx.reaches(value):
        return result, None
    origin, structure = structure_of(ctx, value), structure_of(ctx, result)
    if kind_of(type(result)) not in ("number", "array"):
        mark_deep(ctx, result)

    def hook_pullback(sweep: Sweep, cotangent: Any) -> Any:
        whole = take(sweep, structure, cotangent)
        return None if whole is None else (None, absorb(sweep, origin, function(whole)))

    return result, hook_pullback


@handles(Checkpoint.__call__)
def checkpoint(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """Run without a tape; the reverse sweep runs again with one."""
    from autodiff_hook.runtime.calls import apply

    trial = Context()
    trial.modules, trial.whole_numbers, trial.marks = ctx.modules, ctx.whole_numbers, ctx.marks
    effects = trial.effects
    value, pullback = apply(trial, (None, *w[1:]), args[0].function, args[1:], kwargs)
    if pullback is None or trial.effects != effects or kind_of(type(value)) not in ("number", "array", "tuple"):
        ctx.effects += trial.effects
        return value, None if pullback is None else pullback
    del pullback

    def checkpoint_pullback(sweep: Sweep, cotangent: Any) -> Any:
        again = Context()
        again.modules, again.whole_numbers, again.marks = ctx.modules, ctx.whole_numbers, ctx.marks
        _, recomputed = apply(again, (None, *w[1:]), args[0].function, args[1:], kwargs)
        return recomputed(sweep, cotangent) if recomputed is not None else None

    return value, checkpoint_pullback
