"""Context managers of libraries on one way through a program: locks, and those that say what is warned about.

Where a program asks for silence, all of it runs silently; its numbers are the same.
"""

from __future__ import annotations

import warnings
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Statement
from autodiff_hook.transform.one_way import containers
from autodiff_hook.transform.one_way.containers import known_value
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import ANY, Abstract, Bound, Fresh, Known, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.managers import (
    ERRSTATE,
    LOCKED,
    RECORDED,
    WARNINGS,
    Silence,
    is_of_errors,
    is_silence,
    says_of_errors,
)
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.results import LOCKS
from autodiff_hook.transform.specialise.wording import named

_FILTERS: Final = (warnings.simplefilter, warnings.filterwarnings)
_HARMLESS: Final = ("ignore", "default", "once", "always", "module")


def managed_call(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """A call that makes, ends or belongs to such a manager; None if it is none."""
    if is_silence(function):
        inf.silences.remove(function)
        return known_as(inf, s, None)
    values = [known_value(inf, x) for x in kwargs.values()]
    if function is np.seterr and not args:
        return _errors_set(inf, kwargs, values)
    if type(function) is FunctionType and function.__code__ is _DECORATED:
        return _decorated(inf, s, function, args, kwargs)
    if is_of_errors(inf, function, args, values):
        return known_as(inf, s, ERRSTATE)
    if (
        function is warnings.catch_warnings
        and not args
        and set(kwargs) <= {"record"}
        and values in ([], [False], [True])
    ):
        return known_as(inf, s, RECORDED if values == [True] else WARNINGS)
    if function is warnings.warn and inf.silences:
        raise Refused("a warning where something is said of warnings")
    filters = any(function is x for x in _FILTERS)
    if filters and args and any(x is WARNINGS or x is RECORDED for x in inf.silences):
        action = known_value(inf, args[0])
        if action == "error" and function is warnings.simplefilter and not kwargs:
            of_casts = [known_value(inf, x) for x in args[1:]] == [np.exceptions.ComplexWarning]
            inf.strict, inf.strict_if_complex = inf.strict or not of_casts, inf.strict_if_complex or of_casts
        else:
            inf.strict = inf.strict or action == "error"
        return known_as(inf, s, None) if action in (*_HARMLESS, "error") else None
    return None


_DECORATED: Final = np.errstate()(known_value).__code__


def _decorated(inf: Path, s: Statement, function: FunctionType, args: Args, kwargs: Kwargs) -> Abstract | None:
    """A call of a function that ``@np.errstate(…)`` stands before."""
    held = {name: cell.cell_contents for name, cell in zip(_DECORATED.co_freevars, function.__closure__ or ())}
    said = [getattr(held["self"], f"_{name}", None) for name in ("all", *_ERRORS)]
    if not says_of_errors(inf, [x for x in said if x is not None]):
        return None
    inf.quiet = True
    return alias(inf, s, inf.call(Constant(held["func"]), args, kwargs))


class Before(Silence):
    """What was done about errors of floats before ``np.seterr`` said something else: nothing is known of it."""

    def __init__(self, inf: Path) -> None:
        super().__init__("seterr")
        self.kept = {name: inf.token(name, ANY) for name in _ERRORS}


def _errors_set(inf: Path, kwargs: Kwargs, values: list[Any]) -> Abstract | None:
    """``np.seterr``: a program that puts back at its end what it has found says no more than a context manager."""
    last = inf.silences[-1] if inf.silences else None
    if isinstance(last, Before) and {name: inf.final(x) for name, x in kwargs.items()} == last.kept:
        inf.silences.pop()
        before = Before(inf)
    elif says_of_errors(inf, values):
        before = Before(inf)
        inf.quiet = True
        if not any(x is ERRSTATE for x in inf.silences):  # whose end puts all of it back
            inf.silences.append(before)
    else:
        return None
    return containers.new(inf, dict, dict(before.kept))


_ERRORS: Final = tuple(np.geterr())


def enter(inf: Path, s: Statement) -> Abstract:
    """The beginning of ``with``: how it will end, and the value."""
    manager = s.operands[0]
    value = inf.type_of(manager)
    if isinstance(value, Known) and type(value.value) in LOCKS:
        inf.locks[id(value.value)] = value.value
        inf.silences.append(LOCKED)
        return alias(inf, s, inf.perform("build_tuple", [Constant(LOCKED), Constant(True)]))
    if isinstance(value, Known) and is_silence(value.value):
        inf.quiet = True
        inf.silences.append(value.value)
        entered = inf.token("warnings", ANY) if value.value is RECORDED else Constant(None)
        return alias(inf, s, inf.perform("build_tuple", [manager, entered]))
    if not isinstance(value, (Fresh, Outside)):
        raise Refused(f"a context manager {named(value)}")
    begin, end = look(inf, value.cls, "__enter__"), look(inf, value.cls, "__exit__")
    if not callable(begin) or not callable(end):
        raise Refused(f"a context manager {named(value)}")
    ending = inf.token("exit", Bound(end, manager))
    return alias(inf, s, inf.perform("build_tuple", [ending, inf.call(Constant(begin), [manager])]))
