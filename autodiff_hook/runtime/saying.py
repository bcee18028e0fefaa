"""What a program says: put together where it says it, and said at the end, where nothing can fail any more."""

from __future__ import annotations

import io
import logging
import sys
import warnings
from collections.abc import Callable
from itertools import groupby
from types import FunctionType
from typing import Any, Final, NamedTuple

from autodiff_hook.errors import LIBRARIES
from autodiff_hook.transform.improve.shortcuts import effects
from autodiff_hook.transform.specialise.program import Given

_CONSOLES: Final = (*LIBRARIES, "_pytest", "ipykernel")
"""Whose streams and handlers do nothing but write."""


class Said(NamedTuple):
    """What is to be said: ``act(*args)``, or a text to be written to a stream."""

    act: Callable[..., Any] | None
    args: tuple[Any, ...]
    stream: Any = None


class Place:
    """A line of the source."""

    def __init__(self, filename: str, line: int, name: str, globals_: dict[str, Any]) -> None:
        self.filename, self.line, self.name, self.globals = filename, line, name, globals_


_NOTHING: Final = Said(None, ())


def say(said: list[Said]) -> None:
    """Say all of it. What goes to one stream is written at once, so nothing is if it cannot be."""
    for stream, group in groupby(said, lambda each: each.stream):
        texts = []
        for act, args, _ in group:
            if stream is not None:
                texts.append(args)
            elif act is not None:
                act(*args)
        if texts:
            stream.write("".join([text for text, _ in texts]))
            if any(flush for _, flush in texts):
                stream.flush()


def printed(
    place: Place, *values: Any, sep: str | None = None, end: str | None = None, file: Any = None, flush: bool = False
) -> Said:
    """``print(*values)``."""
    stream = sys.stdout if file is None else file
    if stream is None:
        return _NOTHING
    _require_plain(stream, "write", "flush")
    text = io.StringIO()
    print(*values, sep=sep, end=end, file=text)
    return Said(None, (text.getvalue(), flush), stream)


def written(place: Place, stream: Any, text: str) -> Said:
    """``stream.write(text)``."""
    _require_open(stream)
    return Said(None, (text, False), stream)


def flushed(place: Place, stream: Any) -> Said:
    """``stream.flush()``."""
    _require_open(stream)
    return Said(None, ("", True), stream)


def _require_open(stream: Any) -> None:
    _require_plain(stream, "write", "flush")
    if stream.closed or not stream.writable():
        raise Given("a stream that cannot be written to")


def warned(place: Place, message: str, category: type[Warning] | None = None, stacklevel: int = 1) -> Said:
    """``warnings.warn(message)``, for the line where the program gives the warning."""
    category, module = category or UserWarning, place.globals.get("__name__") or "<unknown>"
    own = warnings.showwarning is not warnings._showwarning_orig  # type: ignore[attr-defined]
    if own or _is_error(message, category, module, place.line):
        raise Given("a warning is an error, or shown by code of its own")
    registry = place.globals.setdefault("__warningregistry__", {})
    return Said(warnings.warn_explicit, (message, category, place.filename, place.line, module, registry))


def _is_error(message: str, category: type[Warning], module: str, line: int) -> bool:
    """Whether a warning is raised; the texts of filters are patterns, or those of modules."""
    filters = getattr(warnings, "_get_filters", lambda: warnings.filters)()
    for action, text, kind, home, number in filters:
        if text is not None and not text.match(message) or not issubclass(category, kind) or number not in (0, line):
            continue
        if home is None or (home == module if isinstance(home, str) else home.match(module)):
            return bool(action == "error")
    return bool(warnings.defaultaction == "error")  # type: ignore[attr-defined]


def logged(place: Place, level: int, logger: Any, message: Any, *args: Any, **options: Any) -> Said:
    """``logger.log(level, message, *args)``."""
    if not asked(logger, level):
        return _NOTHING
    if options or logging.getLogRecordFactory() is not logging.LogRecord:
        raise Given("something is logged with options, or in a form of its own")
    _require_plain_handlers(logger)
    record = logger.makeRecord(
        logger.name, level, place.filename, place.line, message, args, None, place.name, None, None
    )
    if not all(type(x) in (int, float, bool, str, type(None)) for x in args):
        # What it shows may change.
        record.msg, record.args = record.getMessage(), None
    return Said(logger.handle, (record,))


def silent(logger: Any, level: int) -> None:
    """Give up if a logger would say something."""
    if asked(logger, level):
        raise Given("something is logged")


def asked(logger: Any, level: int) -> bool:
    """``logger.isEnabledFor(level)``."""
    if type(logger) not in (logging.Logger, logging.RootLogger):
        raise Given("a logger of a class of its own")
    return bool(logger.isEnabledFor(level))


def _require_plain_handlers(logger: logging.Logger) -> None:
    """Give up if somebody but the console is told, who may do something of which the program takes notice."""
    here: logging.Logger | None = logger
    while here is not None:
        for handler in here.handlers:
            _require_plain(handler, "emit", "handle", "format", "filter")
            _require_plain(handler.formatter, "format")
            _require_plain(getattr(handler, "stream", None), "write", "flush")
        if any(handler.filters for handler in here.handlers) or here is logger and here.filters:
            raise Given("what is logged is looked at by code of its own")
        here = here.parent if here.propagate else None


def _require_plain(owner: Any, *names: str) -> None:
    """Give up if methods that are called at the end are neither written in C nor those of a console."""
    for name in names:
        method = getattr(type(owner), name, None)
        home = str(getattr(method, "__module__", None)).partition(".")[0]
        if name in getattr(owner, "__dict__", ()) or type(method) is FunctionType and home not in _CONSOLES:
            raise Given(f"{name} of a {type(owner).__qualname__}")


effects(printed, written, flushed, warned, logged, silent, say)
