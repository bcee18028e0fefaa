"""Warnings and loggers: what they are told is a constant, unless the program reads it where it was told to."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from types import FrameType, FunctionType
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.errors import is_engine
from autodiff_hook.runtime.losses import failure
from autodiff_hook.runtime.native import STANDARD, package_of
from autodiff_hook.semantics.files import note_written
from autodiff_hook.semantics.meanings import LAZY, Args, Kwargs, Meaning, apply, means
from autodiff_hook.semantics.opaque import call_showing, forgetting, loses

_TOLD: Final = "which hands what it is told to code that stores it"
_LEVELS: Final = ("debug", "info", "warning", "error", "exception", "critical", "log")


def _told(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs, hearers: list[Any]) -> Result:
    """Tell it natively: what ``hearers`` store meanwhile is unknown."""
    tell = partial(_from_program, function)
    if not loses(alg, t, None, args, kwargs):
        return call_showing(alg, tell, args, kwargs)
    unknown = alg.unknown(failure(function, _TOLD))
    with forgetting(alg, hearers, unknown):
        return call_showing(alg, tell, args, kwargs)


def _from_program(function: Any, *args: Any, **options: Any) -> Any:
    """Call what names the line of its caller, or of one further up: frames of the engine do not count."""
    if function is warnings.warn:
        options, args = {**dict(zip(("category", "stacklevel", "source"), args[1:])), **options}, args[:1]
    left, passed = options.get("stacklevel", 1), 0
    frame: FrameType | None = sys._getframe()
    while frame is not None and left > 0:
        passed += 1
        left -= not is_engine(frame)
        frame = frame.f_back
    return function(*args, **{**options, "stacklevel": passed})


@means(warnings.warn)
def warn(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``warnings.warn``: a text is made a warning here, which keeps its derivative."""
    if args and type(args[0]) is str and t[0] is not None:
        category = kwargs.get("category", args[1] if len(args) > 1 else None) or UserWarning
        args = (apply(alg, (None, t[0]), category, (args[0],), {})[0], *args[1:])
        t = (None, *t[1:])
    shown: Any = warnings.showwarning
    hearers = [shown] if type(shown) is not FunctionType or package_of(shown) not in STANDARD else []
    return _told(alg, t, warnings.warn, args, kwargs, hearers)


def logging_by(function: Any, of_root: bool) -> Meaning:
    """A function or method that logs."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        logger: Any = logging.root if of_root else args[0]
        heard = list(_heard_by(getattr(logger, "logger", logger)))
        if loses(alg, t, None, args, kwargs):
            for handler in heard:
                if getattr(handler, "stream", None) is not None:
                    note_written(alg, handler.stream, function)
        return _told(alg, t, function, args, kwargs, [x for x in heard if package_of(type(x)) not in STANDARD])

    return carried


def _heard_by(logger: Any) -> Iterator[Any]:
    """The filters and handlers that a logger hands its records to."""
    while logger is not None:
        yield from logger.filters
        for handler in logger.handlers:
            yield handler
            yield from handler.filters
        logger = logger.parent if logger.propagate else None


LAZY.add(id(warnings.warn))
for _name in _LEVELS:
    for _owner in (logging, logging.Logger, logging.LoggerAdapter):
        _function = getattr(_owner, _name)
        means(_function)(logging_by(_function, of_root=_owner is logging))
        LAZY.add(id(_function))
