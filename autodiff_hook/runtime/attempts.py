"""Programs made, whatever goes wrong: the one place where a failure of the specialiser becomes a refusal.

What passes is a lack of memory, an interrupt, and what a program itself raises when it is carried.
"""

from __future__ import annotations

import math
import traceback
from dataclasses import replace
from functools import partial
from time import perf_counter
from types import FunctionType
from typing import Any, Final, NamedTuple

from autodiff_hook import budget, failures, reports
from autodiff_hook.collecting import uncollected
from autodiff_hook.emit import emit
from autodiff_hook.errors import AutodiffError
from autodiff_hook.ir.types import IR
from autodiff_hook.ir.verifier import verify
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.binding import Call
from autodiff_hook.runtime.programs import CUT, HVP, WITH_AUX, Form, Made, joint_ir
from autodiff_hook.runtime.pushforwards import pushforward_ir
from autodiff_hook.runtime.second_order import Postponed, second_order
from autodiff_hook.runtime.tracebacks import DEBUG
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.cut import cut
from autodiff_hook.transform.specialise.program import Given

_IN_ORDER: Final = (
    *(Given, AttributeError, LookupError),
    *(ArithmeticError, ValueError, RecursionError, Warning, AutodiffError),
)
"""What a specialised program may raise where the carried one does not.

On entry it loads what may be gone by now, and it also computes what nobody asks for.
"""


_LONGEST: Final = 200
"""How many letters are told of an error."""


class Stopped(Postponed):
    """The time that making a program may take was over."""


class Program(NamedTuple):
    """A program that can be called, or its two halves."""

    made: Made
    functions: tuple[Any, ...]


def program(call: Call, form: Form, operations: int = 0, seconds: float = math.inf, strong: bool = False) -> Program:
    """A program for calls like this one; ``Refused`` says why there is none.

    With ``operations`` it has the one way that this call takes, if that is no longer. ``strong``: its products keep
    zeros.
    """
    before = perf_counter()
    try:
        with budget.at_most(seconds), uncollected():
            return _program(call, form, operations, strong)
    except budget.OutOfTime:
        stopped = Stopped(f"compiling it takes longer than {seconds:.1f} seconds, for now")
        stopped.seconds = perf_counter() - before
        raise stopped from None
    except Refused as refused:
        refused.seconds = perf_counter() - before
        raise
    except MemoryError:
        raise
    except Exception as error:
        said = _described(error)
        failures.count(f"{place_of(call.function)}: {said}")
        if DEBUG:
            raise
        raise Refused(f"the specialiser failed, which is not the program's fault: {said}") from error


def _program(call: Call, form: Form, operations: int, strong: bool) -> Program:
    if form in HVP:
        made, product = second_order(call, operations, form in WITH_AUX, strong, acts=form == "hvp")
        return Program(made, (product,))
    f = call.function
    pushes = form in ("jvp", "push")
    make = partial(pushforward_ir, acts=form == "jvp") if pushes else partial(joint_ir, form=form)
    made = make(call, one_way=operations, strong=strong)
    before = perf_counter()
    halves: tuple[IR, ...] = (made.ir,)
    if form in CUT:
        halves = cut(made.ir)
        for ir in halves:
            verify(ir)
    codes = [emit(ir, release=True, small=made.small) for ir in halves]
    made.times["emit"] = perf_counter() - before
    return Program(made, tuple(FunctionType(code, f.__globals__, f.__name__) for code in codes))


def suspicion(error: Exception) -> str | None:
    """What a specialised program has raised, if that may not be in order where the carried one raises nothing."""
    return None if isinstance(error, _IN_ORDER) else _described(error)


def suspect(f: Any, said: str | None) -> None:
    """Count a suspicion: the carried program has raised nothing."""
    if said is not None:
        failures.count(f"{place_of(f)}: {said}")
        reports.tell("run again", f.__code__, f.__qualname__, said)
        if DEBUG:
            raise RuntimeError(f"the specialised program of {place_of(f)} raised {said}")


def _described(error: Exception) -> str:
    said = f"{type(error).__name__}: {error}".partition("\n")[0]
    frames = traceback.extract_tb(error.__traceback__)
    said = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
    return f"{said} ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if frames else said


def place_of(f: Any) -> str:
    """A function, and where it is."""
    return f"{f.__qualname__} ({f.__code__.co_filename}:{f.__code__.co_firstlineno})"


def report(f: Any, made: Made, what: str = "") -> None:
    """Tell what was specialised, and how long each stage took."""
    told: dict[str, Any] = {"times": made.times, "inlined": made.inlined, "left": made.left}
    reports.tell("typed", f.__code__, f.__qualname__, what=what, **told)


def refusal(f: Any, reason: Refused | Reason | str) -> None:
    """Tell why a function is carried."""
    times = {"refused": reason.seconds} if isinstance(reason, Refused) else {}
    why = reason.reason if isinstance(reason, Refused) else reason
    reports.tell("not typed", f.__code__, f.__qualname__, why, times=times)


def came_to(error: Given, what: str = "") -> Reason:
    """Why a program has given up."""
    return replace(error.reason, prefix=f"it came to {what}")
