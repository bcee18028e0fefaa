"""Specialised programs: made at the first gradient of a function, entered through guards afterwards.

A program that is specialised has no effects before its very end. So at any point, a guard that fails or an
exception, it may be given up, and the carried program runs the function from the start.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from sys import gettrace
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from autodiff_hook import budget, config, reports
from autodiff_hook.debugging import NANS
from autodiff_hook.registry import describe, registry
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.attempts import Program, Stopped, came_to, program, refusal, report, suspect, suspicion
from autodiff_hook.runtime.binding import Call, Places, unfolded
from autodiff_hook.runtime.entering import CACHE_SIZE, Entry, entry_of, forget_all, newest, publish, unpublish
from autodiff_hook.runtime.giving_up import gave_up
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.lacking import is_something_there
from autodiff_hook.runtime.lookup import HEAP_TYPE
from autodiff_hook.runtime.preparing import prepare as prepare_session
from autodiff_hook.runtime.programs import Form
from autodiff_hook.runtime.second_order import Postponed
from autodiff_hook.runtime.sharing import ByCode, make_room, making
from autodiff_hook.runtime.specialisations import MANY, Specialisations
from autodiff_hook.runtime.specialised_runtime import Undefined
from autodiff_hook.transform.one_way.trail import Elsewhere
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.program import Given

GENERIC: Final = bool(os.environ.get("AUTODIFF_GENERIC"))
ONE_WAY: Final = bool(os.environ.get("AUTODIFF_ONE_WAY"))
"""Whether every program is followed on the way that it takes, whatever is known of all ways: for tests."""
_FAILURES: Final = 20
_HANDLED: Final = 8
"""After how many failures of a program for all ways that it handles itself each way is followed."""
OPERATIONS: Final = 100_000
"""How many operations a way may have."""
_TRAPS: Final = 20
_LONGEST_REST: Final = 1024
_hopeless: Final[ByCode[bool]] = ByCode(CACHE_SIZE)
"""The code objects that come to what is not understood with arguments like those at hand."""

_known: Final[ByCode[dict[tuple[Form, bool, Any, Any], Specialisations]]] = ByCode(CACHE_SIZE)
_CAPTURES: Final = 64
"""For how many sets of what its functions have captured the programs of one code object are known."""


def is_hopeless(code: CodeType) -> bool:
    """Whether a code object comes to what is not understood."""
    return id(code) in _hopeless.found


def give_up_all(error: Given) -> None:
    """The code objects around a place that is not understood are not tried."""
    for reference in error.chain:
        code = reference()
        if code is not None:
            _hopeless.put(code, True)


def differentiated(
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    form: Form,
    generic: Callable[..., Any],
    error: Exception | None = None,
    tangents: tuple[Any, ...] = (),
    places: Places | None = None,
) -> Any:
    """What a specialised program of ``f`` gives in this form; if there is none, ``generic(f, *args, **kwargs)``.

    ``error`` is what the newest program has raised; ``tangents`` are those of the arguments, in forward mode; at
    ``places`` the arguments are that are differentiated.
    """
    call = None if GENERIC or NANS.on or gettrace() is not None else unfolded(f, args, kwargs, places)
    if call is None or call.shape.names and not args:
        _say_why_not(f)
        return generic(f, *args, **kwargs)
    if tangents:
        call = call.along(tangents)
    known = _specialisations(call, form)
    raised: list[str | None] = []
    result = _specialised(known, call, form, raised, error)
    if result is not MISS:
        return result
    before = time.perf_counter()
    try:
        result = generic(f, *args, **kwargs)
    finally:
        known.calls += 1
        known.ran += time.perf_counter() - before
    if is_something_there() or known.begins_again():
        # Perhaps what it was refused for.
        known.refused.discard(_types(call))
        known.one_way = ONE_WAY
    if raised and known.failures >= _HANDLED and known.follows and not known.one_way:
        _follow(known, call.function)
    for said in raised:
        suspect(call.function, said)
    return result


def _follow(known: Specialisations, f: Any) -> None:
    """Follow what raises where the carried program does not: something handles it, as a context manager may."""
    _unpublish_all(known, f)
    known.entries, known.given_up, known.one_way = [], None, True


def _say_why_not(f: Any) -> None:
    if GENERIC:
        reports.tell("nothing", None, "", "nothing is specialised, because AUTODIFF_GENERIC is set")
    elif NANS.on:
        reports.tell("nothing", None, "", "nothing is specialised while debug_nans is on")
    elif gettrace() is not None:
        why = "nothing is specialised while a debugger or a coverage tool traces the program (sys.settrace)"
        reports.tell("nothing", None, "", why)
    else:
        reports.tell("not typed", None, describe(f), "only what is Python code, without a rule, is")


def _specialised(
    known: Specialisations, call: Call, form: Form, raised: list[str | None], error: Exception | None = None
) -> Any:
    attempts, programs = known.attempts, tuple(known.entries)
    if type(error) is Undefined:
        _rest(known, call.function)
        return MISS
    if known.resting:
        known.resting -= 1
        if not known.resting and programs and programs[0][1] == call.shape:
            publish(call, form, programs[0][0])
            if _specialisations(call, form) is not known:
                # What was cleared meanwhile is out of date.
                unpublish(call.function.__code__, programs[0][0])
        return MISS
    fits = bool(programs) and programs[0][1] == call.shape
    if error is not None and fits and type(error) is not Elsewhere and not _is_of_others(call, form, known):
        _failed(known, call.function, error, raised)
        return MISS
    if known.given_up is not None:
        return MISS
    for entry, shape in programs:
        if shape == call.shape:
            result = _run(entry, known, call, raised)
            if result is not MISS:
                return result
    if not _is_wanted(known, call):
        return MISS
    while True:
        with making(known) as alone:
            if not alone:
                return MISS
            overtaken = known.attempts != attempts
            if not overtaken:
                made, all_ways = _specialise(known, call, form)
                attempts = known.attempts = attempts + 1
        if overtaken:
            return _specialised(known, call, form, raised)
        if made is None:
            return MISS
        undefined = known.undefined
        result = _run(made, known, call, raised, fresh=True, all_ways=all_ways)
        if result is MISS and not all_ways and known.undefined == undefined:
            known.refused.add(_types(call))
            _withdraw(known, call, made)
            refusal(call.function, "the way that was followed is not the one that it takes")
        if result is not MISS or not all_ways or not known.one_way:
            return result


def _specialisations(call: Call, form: Form) -> Specialisations:
    f, works = call.function, call.shape.works
    by_form = _known.found.get(id(f.__code__))
    if by_form is None:
        by_form = _known.add(f.__code__, {})
    key = (form, type(f) is MethodType, works, _code_in(f, call.values))
    known = by_form.get(key)
    if known is None:
        make_room(by_form, _CAPTURES)
        known = by_form.setdefault(key, Specialisations(one_way=ONE_WAY, follows=not works))
    return known


def _is_of_others(call: Call, form: Form, known: Specialisations) -> bool:
    """Whether the program that was entered is for other functions as arguments, and so for others in number, too."""
    entry, others = newest(call, form), _known.found[id(call.function.__code__)].values()
    return any(entry is each for other in list(others) if other is not known for each, _ in other.entries)


def _code_in(f: Any, given: tuple[Any, ...]) -> tuple[int, ...]:
    """The code that a function is given, has captured, is bound to or has by default: another program for each."""
    held = [*_functions(given), *(f.__defaults__ or ()), f.__self__ if type(f) is MethodType else None]
    for cell in f.__closure__ or ():
        with suppress(ValueError):
            held.append(cell.cell_contents)
    codes = [x.__code__ if type(x) is FunctionType else x if issubclass(type(x), type) else type(x) for x in held]
    return tuple([id(x) for x in codes if type(x) is CodeType or x.__flags__ & HEAP_TYPE])


def _functions(values: tuple[Any, ...]) -> list[FunctionType]:
    inner = [x.__func__ if type(x) is MethodType else x for x in values]
    return [x for x in inner if type(x) is FunctionType]


def _is_wanted(known: Specialisations, call: Call) -> bool:
    """Whether another program is to be made, after those that there are."""
    if known.given_up is not None or _types(call) in known.refused:
        return False
    if known.one_way and known.entries:
        # Each further way has to have been asked for twice as often: some programs never take one twice.
        known.missed += 1
        wanted = 1 << len(known.entries)
        if known.missed < wanted:
            refusal(call.function, f"it goes another way now, which is followed when that has happened {wanted} times")
            return False
    if not known.make_room():
        refusal(call.function, f"{MANY} programs have been tried, for other types or ways, for now")
        return False
    return known.allowance() >= known.price


def _types(call: Call) -> tuple[Any, ...]:
    """What a call was refused for."""
    return call.shape, *map(type, call.values)


def forget() -> None:
    """Give everything up: a rule that changed, or a module that was opted in, makes all of it out of date."""
    forget_all()
    _known.clear()
    _hopeless.clear()


registry.when_changed(forget)
config.when_changed(forget)
NANS.listeners.append(forget)


def _run(
    entry: Entry,
    known: Specialisations,
    call: Call,
    raised: list[str | None],
    fresh: bool = False,
    all_ways: bool = False,
) -> Any:
    try:
        return entry(call.function, call.values)
    except Elsewhere:
        return MISS
    except Undefined:
        _rest(known, call.function)
        return MISS
    except Given as error:
        known.traps += 1
        if fresh:
            give_up_all(error)
            if all_ways and known.follows:
                # A program for all ways has come to what is not understood: those that are taken are followed.
                known.one_way = True
                _withdraw(known, call, entry)
                refusal(call.function, came_to(error))
                gave_up(call.function.__code__, error.reason)
                return MISS
        if known.traps >= _TRAPS or fresh:
            _give_up(known, call.function, came_to(error, "what is carried: "))
        return MISS
    except MemoryError:
        raise
    except Exception as error:
        _failed(known, call.function, error, raised)
        return MISS


def _rest(known: Specialisations, f: Any) -> None:
    """Let the next calls be carried, of which a gradient may be nan, too: no function runs twice for long.

    At the second time, programs are made instead whose products keep zeros.
    """
    known.undefined += 1
    for entry, _ in known.entries:
        unpublish(f.__code__, entry)
    if known.undefined == 2:
        known.entries = []
    else:
        known.resting = min(1 << known.undefined, _LONGEST_REST)


def came_to_nan(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], form: Form) -> None:
    """The reverse half of a program has come to a gradient that is nan."""
    call = unfolded(f, args, kwargs)
    if call is not None:
        _rest(_specialisations(call, form), call.function)


def _withdraw(known: Specialisations, call: Call, entry: Entry) -> None:
    """Forget the entry that this thread has made for a call."""
    known.entries = [found for found in known.entries if found != (entry, call.shape)]
    unpublish(call.function.__code__, entry)


def _failed(known: Specialisations, f: Any, error: Exception, raised: list[str | None]) -> None:
    """A specialised program raised: the carried one says what of it is the program's own."""
    raised.append(suspicion(error))
    error.__traceback__ = None  # its frames know the error
    known.failures += 1
    if known.failures == 1:
        reports.tell("run again", f.__code__, f.__qualname__, f"{type(error).__name__}: {error}")
    if known.failures >= _FAILURES:
        _give_up(known, f, Reason(f"it raised {type(error).__name__}: {error}"))


def _unpublish_all(known: Specialisations, f: Any) -> None:
    for entry, _ in known.entries:
        unpublish(f.__code__, entry)


def _give_up(known: Specialisations, f: Any, reason: Reason) -> None:
    known.given_up = reason
    _unpublish_all(known, f)
    reports.tell("not typed any more", f.__code__, f.__qualname__, reason)


def given_up(code: CodeType) -> list[Reason]:
    """Why what was specialised of a code object before is not used any more."""
    known = _known.found.get(id(code), {}).values()
    return [each.given_up for each in list(known) if each.given_up is not None]


def _specialise(known: Specialisations, call: Call, form: Form) -> tuple[Entry | None, bool]:
    """A program for all ways through a function, or if there is none, for the way that this call takes."""
    f = call.function
    prepare_session()
    code, versions = f.__code__, _versions()
    made, all_ways = None, not known.one_way
    while made is None:
        try:
            made = _attempted(known, call, form)
        except Postponed as reason:
            refusal(f, reason)
            return None, all_ways
        except Refused as reason:
            refusal(f, reason)
            if all_ways:
                gave_up(code, reason.reason)
            if not all_ways or not known.follows:
                known.refused.add(_types(call))
                return None, all_ways
            known.one_way, all_ways = True, False
    report(f, made.made, "" if all_ways else "for one way")
    entry = entry_of(made, form)
    if f.__code__ is not code:
        return None, all_ways
    known.entries.insert(0, (entry, call.shape))
    publish(call, form, entry)
    if versions != _versions():
        # The change that made it out of date may have come before it was put there.
        unpublish(code, entry)
    return entry, all_ways


def _versions() -> tuple[int, int]:
    return registry.version, config.version


def _attempted(known: Specialisations, call: Call, form: Form) -> Program:
    """A program, within the time that making one may take."""
    allowance, before = known.allowance(), budget.spent()
    try:
        made = _for_others(known, call, form, allowance) or _program(known, call, form, allowance)
    except Stopped:
        known.price = 2 * allowance
        raise
    finally:
        known.cost, known.since = budget.spent() - before, known.ran
        if known.one_way:
            known.spent += known.cost
    return made


def _for_others(known: Specialisations, call: Call, form: Form, allowance: float) -> Program | None:
    """A further program, for whatever other functions are made with the same code; None if that is not to be had."""
    if not known.entries or form in ("split", "apart"):
        return None
    try:
        return _program(known, call._replace(anew=True), form, allowance)
    except Stopped:
        raise
    except Refused:
        return None


def _program(known: Specialisations, call: Call, form: Form, allowance: float) -> Program:
    return program(call, form, OPERATIONS if known.one_way else 0, allowance, known.undefined > 1)
