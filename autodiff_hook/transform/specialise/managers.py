"""Context managers: ``np.errstate``, locks, and those of classes that are written in Python.

Where a program asks for silence, all of it runs silently; its numbers are the same. Where it asks for errors of floats
to be raised, all of it raises them. A program that raises is run again carried, so what a manager does with an
exception is seen then.
"""

from __future__ import annotations

import warnings
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Statement, Variable
from autodiff_hook.semantics.equivalents import managing
from autodiff_hook.transform.specialise.abstract import Abstract, Bound, Fresh, Known, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.results import LOCKS
from autodiff_hook.transform.specialise.wording import named


class Silence:
    """What stands for the end of something, as a context manager does."""

    def __init__(self, name: str) -> None:
        self.name = name


LOCKED: Final = Silence("a lock")
ERRSTATE: Final = np.errstate()
"""What stands for all like it, and for its end: a program may ask of what class it is."""
WARNINGS: Final = warnings.catch_warnings()
RECORDED: Final = warnings.catch_warnings(record=True)


def is_silence(value: Any) -> bool:
    """Whether a known value stands for a manager that silences, or for an end."""
    return isinstance(value, Silence) or any(value is x for x in (ERRSTATE, WARNINGS, RECORDED))


def is_of_errors(inf: Inference, function: Any, args: Args, values: list[Any]) -> bool:
    """Whether a call makes an ``np.errstate`` that silences, or lets errors be raised."""
    return function is np.errstate and not args and says_of_errors(inf, values)


def says_of_errors(inf: Inference, values: list[Any]) -> bool:
    """Note what is to be done about errors of floats, if that is to say so, to raise them, or nothing."""
    if not all(type(v) is str and v in ("ignore", "warn", "raise") for v in values):
        return False
    inf.strict = inf.strict or "raise" in values
    return True


def locked(inf: Inference, s: Statement, lock: Any) -> Abstract | None:
    """``with lock``: all of the program holds the lock, so what it reads of others is of one moment."""
    inf.locks[id(lock)] = lock
    s.op, s.operands = "build_tuple", [Constant(LOCKED), Constant(True)]
    return inf.evaluate(inf, s)


def enter(inf: Inference, s: Statement) -> Abstract | None:
    """The beginning of ``with``: how it will end, and the value."""
    manager = s.operands[0]
    value = inf.type_of(manager)
    if isinstance(value, Known) and type(value.value) in LOCKS:
        return locked(inf, s, value.value)
    if isinstance(value, Known) and is_silence(value.value):
        inf.quiet = True
        s.op, s.operands = "build_tuple", [manager, Constant(None)]
        return inf.evaluate(inf, s)
    begin: Any
    end: Any
    if isinstance(value, Bound) and value.function is managing.manager:
        manager, begin, end = value.receiver, managing.begun, managing.ended
    elif isinstance(value, (Fresh, Outside)):
        begin, end = look(inf, value.cls, "__enter__"), look(inf, value.cls, "__exit__")
    else:
        raise Refused(f"a context manager {named(value)}")
    if type(begin) is not FunctionType or type(end) is not FunctionType:
        raise Refused(f"a context manager {named(value)}")
    begun, ending = Statement("call", [Constant(begin), manager], Variable(), (), s.position), Variable()
    inf.types[ending] = Bound(end, manager)
    s.op, s.operands = "build_tuple", [ending, begun.made]
    inf.block.statements.insert(inf.index, begun)
    found = inf.evaluate(inf, begun)
    if found is None:
        # The body of __enter__ stands in its place, and what follows behind that.
        return None
    inf.types[begun.made] = found
    inf.index += 1
    return inf.evaluate(inf, s)
