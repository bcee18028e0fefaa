"""What runs where an object dies while a program is carried: it is carried, too, so what it stores has its tokens.

The interpreter calls ``__del__`` itself. So the method of a class that is met while something is carried is wrapped,
once: where nothing is carried, the wrapper does what the method does.
"""

from __future__ import annotations

import functools
import threading
import weakref
from functools import partial
from types import FunctionType, TracebackType
from typing import Any, Final

from autodiff_hook.errors import AutodiffError
from autodiff_hook.runtime.lookup import home_of
from autodiff_hook.semantics.meanings import TABLE


class _Running(threading.local):
    """The algebra that carries what runs on this thread."""

    algebra: Any = None


_running: Final = _Running()
SEEN: Final[dict[int, weakref.ref[type]]] = {}
"""The classes that were met."""


class Carrying:
    """While this is entered, an algebra carries what runs on this thread."""

    __slots__ = ("_algebra", "_before")

    def __init__(self, algebra: Any) -> None:
        self._algebra = algebra

    def __enter__(self) -> None:
        self._before = _running.algebra
        _running.algebra = self._algebra

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _running.algebra = self._before
        if error is None:
            self._algebra.lifetimes.check()


def watch(cls: type) -> None:
    """Let the ``__del__`` of a class be carried where its instances die."""
    if id(cls) in SEEN:
        return
    SEEN[id(cls)] = weakref.ref(cls, partial(SEEN.pop, id(cls)))
    home = home_of(cls, "__del__")
    method = None if home is None else home.__dict__["__del__"]
    if type(method) is FunctionType and method.__code__ is not _CODE:
        type.__setattr__(home, "__del__", _wrapped(method))


def _wrapped(method: Any) -> Any:
    @functools.wraps(method)
    def finalize(self: Any) -> None:
        run(method, self)

    return finalize


def run(method: Any, *given: Any) -> None:
    """Call what the interpreter calls where something dies, carried if that is what this thread does."""
    if _running.algebra is None:
        method(*given)
    else:
        _carry(_running.algebra, method, given)


_CODE: Final = _wrapped(watch).__code__


def _carry(algebra: Any, method: Any, given: tuple[Any, ...]) -> None:
    """Run a finalizer with tokens. The interpreter drops what it raises, so an error about derivatives is kept."""
    try:
        TABLE["call"](algebra, (None,) * (1 + len(given)), (), method, *given)
    except AutodiffError as error:
        algebra.lifetimes.failed(error)
