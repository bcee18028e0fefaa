"""Specialised programs: made at the first gradient of a function, entered through guards afterwards.

A program that is specialised has no effects before its very end. So at any point, a guard that fails or an
exception, it may be given up, and the generic path runs the function from the start.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, MethodType
from typing import Any, Final

from autodiff_hook import config
from autodiff_hook.emit import emit
from autodiff_hook.ir.types import IR
from autodiff_hook.ir.verifier import VerificationError, verify
from autodiff_hook.registry import registry
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.handlers import HANDLERS
from autodiff_hook.runtime.programs import Form, Made, joint_ir
from autodiff_hook.runtime.session import prepare as prepare_session
from autodiff_hook.runtime.tracebacks import DEBUG
from autodiff_hook.transform.one_way.trail import Elsewhere, TooLong
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.cut import cut
from autodiff_hook.transform.specialise.infer import Given

GENERIC: Final = bool(os.environ.get("AUTODIFF_GENERIC"))
ONE_WAY: Final = bool(os.environ.get("AUTODIFF_ONE_WAY"))
"""Whether every program is followed on the way that it takes, whatever is known of all ways: for tests."""
_SPECIALISATIONS: Final = 8
_FAILURES: Final = 20
_CACHE_SIZE: Final = 2048
_SHORT: Final = 4500
_LONG: Final = 20000
"""How many operations a way may have: at the first call of a function, and after some calls."""
_PATIENCE: Final = 3
_TRAPS: Final = 20
Entry = Callable[[Any, tuple[Any, ...]], Any]


@dataclass(slots=True)
class Specialisations:
    """What has been specialised of one code object, newest first."""

    entries: list[Entry] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    refused: set[tuple[type, ...]] = field(default_factory=set)
    one_way: bool = ONE_WAY
    limit: int = _SHORT
    fresh: bool = False
    traps: int = 0
    failures: int = 0
    missed: int = 0
    waiting: int = 0
    given_up: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


hopeless: Final[set[int]] = set()
"""The ids of code objects that come to what is not understood with arguments like those at hand."""

_gradients: Final[dict[int, Entry]] = {}
_known: Final[dict[tuple[int, str, bool], Specialisations]] = {}


def entries() -> dict[int, Entry]:
    """The newest entry of each code object, by identity."""
    return _gradients


def specialised(f: Any, args: tuple[Any, ...], error: Exception | None = None, form: Form = "gradient") -> Any:
    """What a specialised program of ``f`` gives in this form; ``MISS`` if there is none for these arguments.

    ``error`` is what the newest one has raised.
    """
    if GENERIC or not _is_code(f):
        return MISS
    key = (id(f.__code__), form, type(f) is MethodType)
    known = _known.get(key)
    if known is None:
        while len(_known) >= _CACHE_SIZE:
            # A program holds the globals of its function, so it may hold the code that its place is given up with.
            _forget(next(iter(_known))[0])
        known = _known.setdefault(key, Specialisations())
        weakref.finalize(f.__code__, _forget, id(f.__code__)).atexit = False
    elif error is not None and known.entries and known.counts[0] == len(args) and type(error) is not Elsewhere:
        _failed(known, f, error)
        return MISS
    if known.given_up is not None:
        return MISS
    for entry, count in zip(known.entries, known.counts):
        if count == len(args):
            result = _run(entry, known, f, args)
            if result is not MISS:
                return result
    if known.waiting > 0:
        # To follow a long way takes seconds: only what is called time and again is worth it.
        known.waiting -= 1
        if known.waiting:
            return MISS
        known.limit = _LONG
    tried = len(known.entries) + len(known.refused)
    if known.one_way and known.entries:
        # Each further way has to have been asked for twice as often: some programs never take one twice.
        known.missed += 1
        if known.missed < 1 << len(known.entries):
            return MISS
    if tried >= _SPECIALISATIONS or known.given_up is not None or tuple(map(type, args)) in known.refused:
        return MISS
    while True:
        with known.lock:
            made = _specialise(known, f, args, form)
        if made is None:
            return MISS
        tried_all = not known.one_way
        known.fresh = True
        result = _run(made, known, f, args)
        known.fresh = False
        if result is MISS and known.one_way and not tried_all and known.entries and known.entries[0] is made:
            known.refused.add(tuple(map(type, args)))
            _withdraw(known, f)
            refusal(f, Refused("the way that was followed is not taken again"))
        if result is not MISS or not tried_all or not known.one_way:
            return result


def _is_code(f: Any) -> bool:
    """Whether a callable is a Python function, or a method bound to an object, that nothing else is known of."""
    function = f.__func__ if type(f) is MethodType else f
    if type(function) is not FunctionType or id(function) in HANDLERS:
        return False
    return not registry.has_rules(function) and not registry.is_constant(function)


def _quietly(entry: Entry) -> Entry:
    """An entry during which NumPy does not warn."""
    import numpy as np

    def quiet_entry(f: Any, args: tuple[Any, ...]) -> Any:
        if not {"raise", "call"}.isdisjoint(np.geterr().values()):
            return MISS
        with np.errstate(all="ignore"):
            return entry(f, args)

    return quiet_entry


def _forget(key: int) -> None:
    _gradients.pop(key, None)
    hopeless.discard(key)
    for form in ("gradient", "value", "pullback"):
        for bound in (False, True):
            _known.pop((key, form, bound), None)


def _out_of_date() -> None:
    """A rule that changed, or a module that was opted in, makes all of it out of date."""
    _gradients.clear()
    _known.clear()
    hopeless.clear()


registry.when_changed(_out_of_date)
config.when_changed(_out_of_date)


def _run(entry: Entry, known: Specialisations, f: Any, args: tuple[Any, ...]) -> Any:
    try:
        return entry(f, args)
    except Elsewhere:
        return MISS
    except Given as error:
        known.traps += 1
        if known.fresh:
            hopeless.update(error.chain)
            if not known.one_way:
                _try_one_way(known, f, error)
                return MISS
        if known.traps >= _TRAPS or known.fresh:
            _give_up(known, f, f"it came to what is left to the generic path: {error.reason}")
        return MISS
    except Exception as error:
        _failed(known, f, error)
        return MISS


def _try_one_way(known: Specialisations, f: Any, error: Given) -> None:
    """A program for all ways has come to what is not understood: the ways that are taken are followed one by one."""
    known.one_way = True
    _withdraw(known, f)
    refusal(f, Refused(f"it came to {error.reason}"))


def _withdraw(known: Specialisations, f: Any) -> None:
    """Forget the newest entry."""
    del known.entries[0], known.counts[0]
    _gradients.pop(id(f.__code__), None)


def _failed(known: Specialisations, f: Any, error: Exception) -> None:
    """A specialised program raised: the generic path says what of it is the program's own."""
    known.failures += 1
    if known.failures == 1:
        config.trace(f"run again on the generic path: {f.__qualname__} raised {type(error).__name__}: {error}")
    if known.failures >= _FAILURES:
        _give_up(known, f, f"it raised {type(error).__name__}: {error}")


def _give_up(known: Specialisations, f: Any, reason: str) -> None:
    known.given_up = reason
    _gradients.pop(id(f.__code__), None)
    config.trace(f"not specialised any more: {f.__qualname__}: {known.given_up}")


def report(f: FunctionType, times: dict[str, float], what: str = "") -> None:
    """Say under AUTODIFF_TRACE what was specialised, and how many milliseconds each stage took."""
    stages = ", ".join(f"{stage} {1000 * t:.1f}" for stage, t in times.items())
    total = 1000 * sum(times.values())
    place = f"{f.__code__.co_filename}:{f.__code__.co_firstlineno}"
    config.trace(f"specialised {f.__qualname__}{what} ({place}) in {total:.1f} ms: {stages}")


def refusal(f: FunctionType, reason: Exception) -> str:
    """Say why a function is left to the generic path."""
    said = f"{type(reason).__name__}: {reason}".partition("\n")[0]
    config.trace(f"not specialised: {f.__qualname__} ({f.__code__.co_filename}:{f.__code__.co_firstlineno}): {said}")
    return said


def _specialise(known: Specialisations, f: Any, args: tuple[Any, ...], form: Form) -> Entry | None:
    """A program for all ways through ``f``, or if there is none, for the way that it takes with these arguments."""
    prepare_session()
    made = None
    while made is None:
        try:
            made = joint_ir(f, args, form, known.limit if known.one_way else 0)
        except TooLong as reason:
            refusal(f, reason)
            known.waiting = _PATIENCE if known.limit == _SHORT else -1
            if known.waiting < 0:
                known.refused.add(tuple(map(type, args)))
            return None
        except Exception as reason:
            # What fails here is the specialiser, not the program: the generic path does without it.
            if (DEBUG or ONE_WAY) and not isinstance(reason, (Refused, VerificationError)):
                raise
            refusal(f, reason)
            if known.one_way:
                known.refused.add(tuple(map(type, args)))
                return None
            known.one_way = True
    before = time.perf_counter()
    entry = _pulling(f, made) if form == "pullback" else _emitted(f, made.ir, made)
    made.times["emit"] = time.perf_counter() - before
    if made.quiet:
        entry = _quietly(entry)
    report(f, made.times, " for one way" if known.one_way else "")
    known.entries.insert(0, entry)
    known.counts.insert(0, len(args))
    if form == "gradient" and type(f) is FunctionType:
        _gradients[id(f.__code__)] = entry
    return entry


def _emitted(f: Any, ir: IR, made: Made) -> Any:
    return FunctionType(emit(ir, release=True, small=made.small), f.__globals__, f.__name__)


def _pulling(f: Any, made: Made) -> Entry:
    """Value and pullback, by a program that is cut in two."""
    forward_ir, reverse_ir = cut(made.ir)
    verify(forward_ir)
    verify(reverse_ir)
    forward, reverse = _emitted(f, forward_ir, made), _emitted(f, reverse_ir, made)

    def pulled(f: Any, args: tuple[Any, ...]) -> Any:
        found = forward(f, args)
        return found if found is MISS else (found[0], partial(reverse, found[1]))

    return pulled
