"""Functions of numbers within carried programs: specialised apart, forward and reverse.

A function that is called with numbers alone, and whose value is made of numbers, has no part in what
a carried program keeps track of (references, arrays), unless it reads data from outside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, NamedTuple

from autodiff_hook import config
from autodiff_hook.registry import registry
from autodiff_hook.runtime.attempts import came_to, program, refusal, report
from autodiff_hook.runtime.binding import Call
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.sharing import ByCode, making
from autodiff_hook.runtime.specialising import GENERIC, give_up_all, is_hopeless
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Given

_MISSES: Final = 20
_CACHE_SIZE: Final = 8192
_TYPES: Final[set[type]] = {float, int, bool, str, type(None)}


class Halves(NamedTuple):
    """The two halves of one program, which go together: another function with this code has other defaults."""

    forward: Any
    reverse: Any
    arity: int
    reads_outside: bool
    callees: tuple[FunctionType, ...]


class Split:
    """What is specialised of one code object: made at its first call, so that every call gives the same digits."""

    __slots__ = ("given_up", "halves", "misses", "used")

    def __init__(self, given_up: bool) -> None:
        self.given_up, self.used, self.misses = given_up, False, 0
        self.halves: Halves | None = None


_splits: Final[ByCode[Split]] = ByCode(_CACHE_SIZE)
_known: Final = _splits.found


def ran(function: FunctionType, args: tuple[Any, ...], live: Callable[[Halves], bool]) -> Any:
    """Value, residuals and reverse half of a call by a specialised program; None if there is none for it.

    ``live`` says whether what it reads beside its arguments carries derivatives.
    """
    code = function.__code__
    split = _known.get(id(code))
    if split is None:
        split = _splits.add(code, Split(is_hopeless(code)))
    if split.given_up or not _TYPES.issuperset(map(type, args)):
        return None
    halves = split.halves
    if halves is None:
        halves = _halves(split, function, args) if sys.gettrace() is None else None
    if halves is None or halves.arity != len(args) or live(halves):
        return None
    try:
        result = halves.forward(function, args)
    except Given as error:
        if not split.used:
            give_up_all(error)
            split.given_up = True
            refusal(function, came_to(error, "what is carried: "))
        result = MISS
    except MemoryError:
        raise
    except Exception:
        # The carried program runs the function again, and raises what is the program's own.
        result = MISS
    if result is MISS:
        split.misses += 1
        split.given_up = split.given_up or split.misses > _MISSES
        return None
    split.used = True
    return (*result, halves.reverse)


def _halves(split: Split, function: FunctionType, args: tuple[Any, ...]) -> Halves | None:
    with making(split) as alone:
        if alone and split.halves is None and not split.given_up:
            split.halves = _made(function, args)
            split.given_up = split.halves is None
    return split.halves


def _made(function: FunctionType, args: tuple[Any, ...]) -> Halves | None:
    try:
        made, (forward, reverse) = program(Call.plain(function, args), "split")
    except Refused as reason:
        refusal(function, reason)
        return None
    report(function, made, "apart")
    callees = tuple(f for f in made.functions if f.__defaults__ or f.__kwdefaults__)
    return Halves(forward, reverse, len(args), made.reads_outside, callees)


def _numpy_too() -> None:
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        _TYPES.add(numpy.float64)


forget: Final = _splits.clear
if not GENERIC:
    _numpy_too()
    registry.when_changed(forget)
    config.when_changed(forget)
