"""Functions of numbers within programs of the generic path: specialised apart, forward and reverse.

A function that is called with numbers alone, and whose value is made of numbers, has no part in what
the generic path keeps track of (references, arrays), unless it reads data from outside.
"""

from __future__ import annotations

import sys
import weakref
from types import FunctionType
from typing import Any, Final

from autodiff_hook import config
from autodiff_hook.emit import emit
from autodiff_hook.ir.verifier import VerificationError, verify
from autodiff_hook.registry import registry
from autodiff_hook.runtime import functions
from autodiff_hook.runtime.context import Context, Sweep
from autodiff_hook.runtime.cotangents import run
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.programs import joint_ir
from autodiff_hook.runtime.specialising import GENERIC, hopeless, refusal, report
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.cut import cut
from autodiff_hook.transform.specialise.infer import Given

_MISSES: Final = 20
_TYPES: Final[set[type]] = {float, int, bool, str, type(None)}


class Split:
    """Forward and reverse of one code object: made at its first call, so that every call gives the same digits."""

    __slots__ = ("count", "forward", "given_up", "misses", "reads_outside", "reverse", "used")

    def __init__(self) -> None:
        self.misses = self.count = 0
        self.given_up = self.reads_outside = self.used = False
        self.forward: Any = None
        self.reverse: Any = None


class SplitPullback:
    """The reverse of one call; the first cotangent is that of the function.

    If it raises, the generic path runs the call again, which has no effects, and goes backwards: it knows
    which cotangents are asked for, and says where an error belongs.
    """

    __slots__ = ("call", "residuals", "reverse")

    def __init__(self, reverse: Any, residuals: tuple[Any, ...], call: tuple[Any, ...]) -> None:
        self.reverse, self.residuals, self.call = reverse, residuals, call

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        if cotangent is None:
            return None
        try:
            return (None, *self.reverse(self.residuals, cotangent))
        except Exception:
            ctx, w, function, args = self.call
        _, pullback = functions.enter_generic(ctx, w, function, args, {})
        return None if pullback is None else run(pullback, sweep, cotangent)


_splits: Final[dict[int, Split]] = {}


def called(ctx: Context, w: Any, function: FunctionType, args: tuple[Any, ...]) -> Any:
    """Value and pullback of a call by a specialised program; None if there is none for it."""
    code = function.__code__
    split = _splits.get(id(code))
    if split is None:
        split = _splits.setdefault(id(code), Split())
        weakref.finalize(code, _splits.pop, id(code), None).atexit = False
        split.given_up = id(code) in hopeless
    if split.given_up or not _TYPES.issuperset(map(type, args)) or all(x is None for x in w[1:]):
        return None
    if split.forward is None:
        if sys.gettrace() is not None or not _make(split, function, args):
            return None
    if split.reads_outside and not ctx.idle() or split.count != len(args):
        return None
    try:
        result = split.forward(function, args)
    except Given as error:
        if not split.used:
            hopeless.update(error.chain)
            split.given_up = True
            refusal(function, Refused(f"it came to what is left to the generic path: {error.reason}"))
        result = MISS
    except Exception:
        # The generic path runs the function again, and raises what is the program's own.
        result = MISS
    if result is MISS:
        split.misses += 1
        split.given_up = split.given_up or split.misses > _MISSES
        return None
    split.used = True
    value, residuals = result
    return value, SplitPullback(split.reverse, residuals, (ctx, w, function, args))


def _make(split: Split, function: FunctionType, args: tuple[Any, ...]) -> bool:
    try:
        made = joint_ir(function, args, "split")
        forward, reverse = cut(made.ir)
        verify(forward)
        verify(reverse)
    except (Refused, VerificationError) as reason:
        refusal(function, reason)
        split.given_up = True
        return False
    split.reads_outside, split.count = made.reads_outside, len(args)
    split.reverse = FunctionType(emit(reverse, release=True, small=made.small), function.__globals__, function.__name__)
    split.forward = FunctionType(emit(forward, release=True, small=made.small), function.__globals__, function.__name__)
    report(function, made.times, " apart")
    return True


def _numpy_too() -> None:
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        _TYPES.add(numpy.float64)


if not GENERIC:
    _numpy_too()
    functions.shortcuts.append(called)
    registry.when_changed(_splits.clear)
    config.when_changed(_splits.clear)
