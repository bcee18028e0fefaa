"""What the interpreter calls by itself while a program is carried: it is carried, too, so what it stores has tokens.

That is ``__del__`` where an object dies, and what a dict asks of its keys, ``in`` and ``sorted`` of items, a slice of
its bounds. So these methods of a class that is met while something is carried are wrapped, once, unless they only
read: where nothing is carried, the wrapper does what the method does.
"""

from __future__ import annotations

import threading
import weakref
from functools import partial
from types import FunctionType, TracebackType
from typing import Any, Final

from autodiff_hook.errors import LIBRARIES, AutodiffError, Unsupported, located
from autodiff_hook.runtime.lookup import home_of, native_method, standing_for, wrapped_by
from autodiff_hook.runtime.native import STANDARD, package_of
from autodiff_hook.runtime.reading import only_reads
from autodiff_hook.semantics.meanings import TABLE
from autodiff_hook.semantics.scope import in_scope


class _Running(threading.local):
    """The algebra that carries what runs on this thread, and whether native code runs that it knows all about."""

    algebra: Any = None
    native: bool = False


_running: Final = _Running()
SEEN: Final[dict[int, weakref.ref[type]]] = {}
"""The classes that were met."""


class Carrying:
    """While this is entered, an algebra carries what runs on this thread."""

    __slots__ = ("_algebra", "_before")

    def __init__(self, algebra: Any) -> None:
        self._algebra = algebra

    def __enter__(self) -> None:
        self._before = _running.algebra, _running.native
        _running.algebra, _running.native = self._algebra, False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _running.algebra, _running.native = self._before
        if error is None:
            self._algebra.lifetimes.check()


def run_natively(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call what reaches no token, or whose caller compares all that it reaches: others' code is not carried there."""
    before, _running.native = _running.native, True
    try:
        return call_natively(function, args, kwargs)
    finally:
        _running.native = before


def call_natively(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call as the program does: some types of native code take a dict of keywords for one that is not empty."""
    return function(*args, **kwargs) if kwargs else function(*args)


def watch(cls: type) -> None:
    """Let the special methods of a class that are called natively be carried, if what they store may matter."""
    if id(cls) in SEEN:
        return
    for name in ("__del__", *_ASKED):
        home = home_of(cls, name)
        method = None if home is None else home.__dict__[name]
        if type(method) is not FunctionType or wrapped_by(method) is not method:
            continue
        assign = native_method(type(home), "__setattr__")
        if name == "__del__":
            if assign is not type.__setattr__:
                raise Unsupported(located(f"__del__ of {cls.__qualname__}, whose class {type(cls).__name__} is C code"))
            assign(home, name, standing_for(method, run))
        elif package_of(home) not in _OWN and not only_reads(method):
            assign(home, name, standing_for(method, ask))
    # Other threads go on only when this is done.
    SEEN[id(cls)] = weakref.ref(cls, partial(SEEN.pop, id(cls)))


def is_asked_in_secret(value: Any) -> bool:
    """Whether it makes no difference how often a value is asked for its hash, and for what it equals."""
    cls = type(value)
    if cls is tuple or cls is frozenset:
        return all(map(is_asked_in_secret, value))
    watch(cls)
    homes = [(name, home_of(cls, name)) for name in ("__hash__", "__eq__")]
    methods = [home.__dict__[name] for name, home in homes if home is not None]
    return all([type(method) is not FunctionType or wrapped_by(method) is method for method in methods])


_ASKED: Final = (
    *("__hash__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
    *("__bool__", "__len__", "__index__"),
)
"""What dicts, sets, lists, slices and conditions of native code ask."""
_OWN: Final = (STANDARD | LIBRARIES | {"autodiff_hook", "autodiff_rules"}) - {"builtins"}
"""Packages whose methods keep nothing of the program's; ``exec`` makes classes that say that they are of builtins."""


def ask(method: Any, *given: Any) -> Any:
    """Call what native code asks of an object, carried if that is what this thread does."""
    algebra = _running.algebra
    if algebra is None or _running.native and not in_scope(algebra, method):
        return method(*given)
    return _carried(algebra, method, given)


def run(method: Any, *given: Any) -> None:
    """Call what the interpreter calls where something dies; it drops what that raises, so errors of ours are kept."""
    algebra = _running.algebra
    try:
        method(*given) if algebra is None else _carried(algebra, method, given)
    except AutodiffError as error:
        if algebra is None:
            raise
        algebra.lifetimes.failed(error)


def _carried(algebra: Any, method: Any, given: tuple[Any, ...]) -> Any:
    before, _running.native = _running.native, False
    try:
        return TABLE["call"](algebra, (None,) * (1 + len(given)), (), method, *given)[0]
    finally:
        _running.native = before
