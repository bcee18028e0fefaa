"""What a differentiation needs around it: rules that the configuration names, and room for recursion."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable
from itertools import compress
from operator import not_
from types import FrameType
from typing import Any, Final

import numpy as np

from autodiff_hook import config
from autodiff_hook.errors import ConfigError, Unsupported
from autodiff_hook.registry import describe, registry
from autodiff_hook.runtime.kinds import kind_of


class _DeeperRecursion:
    """Room for the frames of the engine between those of the user, while anything is differentiated."""

    FACTOR = 10

    def __init__(self) -> None:
        self._depths: dict[int, tuple[int, FrameType]] = {}
        """How often each thread is within, and the frame that was the first."""
        self._limit = self._raised = 0

    def __enter__(self) -> None:
        thread, caller = threading.get_ident(), sys._getframe(1)
        depth, first = self._depths.get(thread, (0, caller))
        # An interrupt may have come just before the end of what was the first.
        found = (depth + 1, first) if _is_running(first, caller) else (1, caller)
        self._depths[thread] = found
        limit = sys.getrecursionlimit()
        if limit != self._raised:
            self._limit, self._raised = limit, limit * self.FACTOR
            sys.setrecursionlimit(self._raised)

    def __exit__(self, *error: object) -> None:
        thread = threading.get_ident()
        depth, first = self._depths[thread]
        if depth > 1:
            self._depths[thread] = depth - 1, first
        else:
            del self._depths[thread]
            self._restore()

    def _restore(self) -> None:
        if sys.getrecursionlimit() == self._raised:
            # One call of C, so no other thread comes between the question whether anybody is left and the answer.
            any(map(sys.setrecursionlimit, compress((self._limit,), map(not_, (self._depths,)))))

    def keep_own(self) -> None:
        """In a child process there is only the thread that forked."""
        thread = threading.get_ident()
        self._depths = {thread: self._depths[thread]} if thread in self._depths else {}
        self._restore()


def _is_running(frame: FrameType, caller: FrameType | None) -> bool:
    while caller is not None and caller is not frame:
        caller = caller.f_back
    return caller is frame


deeper_recursion = _DeeperRecursion()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=deeper_recursion.keep_own)


_MEANINGS: Final = (
    "autodiff_hook.semantics.controls",
    "autodiff_hook.semantics.derivatives",
    "autodiff_hook.runtime.within",
    "autodiff_hook.runtime.within_maps",
    "autodiff_hook.runtime.native_calls",
)
"""What says what functions of ``api`` mean, which comes later than this module."""

_prepared = -1


def prepare() -> None:
    """Apply what the configuration says of rules: load packs, declare constants."""
    global _prepared
    version = config.version
    if _prepared == version:
        return
    config.check()
    for name in _MEANINGS:
        importlib.import_module(name)
    for name in config.rule_modules():
        _import(name, "rules")
    for name in config.nondifferentiable_names():
        registry.add_constant(_resolve(name))
    _prepared = version


def _import(name: str, key: str) -> Any:
    """Import a module for ``key`` of ``[tool.autodiff]``."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        what = f"the module {name!r} cannot be imported: {type(error).__name__}: {error}"
        raise ConfigError(f"{config.pyproject_path()}: [tool.autodiff] {key}: {what}") from error


def _resolve(dotted: str) -> Any:
    """The callable of this name, whose modules are imported."""
    parts = dotted.split(".")
    found = _import(parts[0], "nondifferentiable")
    for index, part in enumerate(parts[1:], 2):
        if not hasattr(found, part):
            _import(".".join(parts[:index]), "nondifferentiable")
        found = getattr(found, part)
    return found


def require_aux(found: Any, f: Callable[..., Any]) -> None:
    """Raise if what a function has returned is not made of a value and of what has no derivative."""
    if not isinstance(found, tuple) or len(found) != 2:
        raise Unsupported(
            f"with has_aux=True, {describe(f)} has to return a pair (value, aux), but it returned a "
            f"{type(found).__qualname__}{f' of {len(found)}' if isinstance(found, tuple) else ''}"
        )


NO_SCALAR: Final = "a value that is no real scalar"
"""What ``Unsupported`` is about where a function has no gradient, but a pullback."""


def with_axes(value: Any, cotangent: Any) -> Any:
    """A cotangent in which what belongs to arrays of no axes is arrays, too: pullbacks ask for their methods."""
    if type(value) in (tuple, list) and type(cotangent) in (tuple, list):
        return type(cotangent)(map(with_axes, value, cotangent))
    is_number = isinstance(value, np.ndarray) and kind_of(type(cotangent)) == "number"
    return np.asarray(cotangent) if is_number else cotangent


def scalar_seed(value: Any, f: Callable[..., Any]) -> Any:
    """The cotangent 1 of a real scalar; an error for anything else."""
    kind = kind_of(type(value))
    if kind == "number" and not isinstance(value, complex):
        if type(value).__module__ != "numpy":
            return 1.0
        if value.dtype.kind in "f":
            return value.dtype.type(1)
        if value.dtype.kind in "iu":
            return 1.0
    if kind == "array" and value.size == 1 and value.dtype.kind in "fiu":
        return np.ones(value.shape, value.dtype if value.dtype.kind == "f" else float)
    shape = f" of shape {value.shape}" if kind == "array" else ""
    raise Unsupported(
        f"gradient needs a function with a real scalar value (a number or an array with one element), but "
        f"{describe(f)} returned {type(value).__qualname__}{shape}; use autodiff_hook.pullback with a cotangent of "
        f"that form, or autodiff_hook.jacobian",
        NO_SCALAR,
    )
