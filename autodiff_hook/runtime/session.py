"""One differentiation, from the arguments to a pullback in their form."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Callable
from itertools import compress
from operator import not_
from types import FrameType, FunctionType, MethodType
from typing import Any

from autodiff_hook import config
from autodiff_hook.errors import ConfigError, Unsupported
from autodiff_hook.registry import describe, registry
from autodiff_hook.runtime import functions
from autodiff_hook.runtime.calls import apply
from autodiff_hook.runtime.checking import require_cotangent
from autodiff_hook.runtime.context import Context, Sweep
from autodiff_hook.runtime.engine import CARRIED
from autodiff_hook.runtime.given import Given
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.mirror import Mirror, mirror_of, whole_numbers_in
from autodiff_hook.runtime.opaque import arrays_in
from autodiff_hook.runtime.structures import absorb, mark_deep, structure_of
from autodiff_hook.runtime.table import TABLE
from autodiff_hook.runtime.tracebacks import without_engine

assert TABLE, "importing the table registers the handlers"

Grads = tuple[Any, ...]


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


_ALL_AT_ONCE = contextlib.nullcontext()


class Session:
    """A forward pass of ``f`` at ``args``, and what its reverse sweeps need."""

    def __init__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], of_function: bool = False) -> None:
        if not callable(f):
            raise Unsupported(f"the function to differentiate is not callable: {f!r}")
        if kwargs and not args and not of_function:
            name = next(iter(kwargs))
            raise Unsupported(
                f"{describe(f)} was called with keyword arguments alone, which are constants: pass by position what is "
                f"to be differentiated, or if it can only be named, gradient(lambda {name}: f({name}={name}), ...)"
            )
        prepare()
        self._turn = threading.RLock()
        self.call = (f, args, kwargs)
        known: dict[int, Mirror] = {}
        self.mirrors = [mirror_of(x, known) for x in args]
        self.of_function = mirror_of(f, known) if of_function else None
        ctx = self.context = Context()
        ctx.given = Given(f, self.mirrors)
        ctx.modules.add(module_of(f))
        ctx.whole_numbers = any(map(whole_numbers_in, args))
        for value in args:
            mark_deep(ctx, value)
            for array in arrays_in(ctx, value):
                ctx.buffers.given(array)
        if of_function:
            _mark_captured(ctx, f)
        witnesses = [True if kind_of(type(x)) in ("number", "array", "tuple") else None for x in args]
        try:
            with deeper_recursion:
                self.value, self.pullback = apply(ctx, (None, *witnesses, *(None,) * len(kwargs)), f, args, kwargs)
        except BaseException as error:
            error.__traceback__ = without_engine(error.__traceback__)
            raise
        self.structure = structure_of(ctx, self.value)

    def back(self, cotangent: Any) -> Grads:
        """The gradients of the arguments, in their form, for one cotangent of the value."""
        try:
            require_cotangent(self.value, cotangent)
            sweep = Sweep(self.context)
            # What a sweep puts back into memory is seen by others: they take turns.
            with self._turn if self.context.buffers.overwritten else _ALL_AT_ONCE:
                return sweep.buffers.swept(self._gradients, sweep, cotangent)
        except BaseException as error:
            error.__traceback__ = without_engine(error.__traceback__)
            raise

    def _gradients(self, sweep: Sweep, cotangent: Any) -> Grads:
        edge = absorb(sweep, self.structure, cotangent)
        with deeper_recursion:
            given = self.pullback(sweep, edge) if self.pullback is not None else None
        given = given or (None,) * (1 + len(self.mirrors))
        done: dict[int, Any] = {}
        grads = tuple(m.gradient(sweep, c, done) for m, c in zip(self.mirrors, given[1:]))
        if self.of_function is None:
            return grads
        return (self.of_function.gradient(sweep, given[0], done), *grads)


def _mark_captured(ctx: Context, f: Any) -> None:
    if isinstance(f, MethodType):
        mark_deep(ctx, f.__self__)
        f = f.__func__
    for cell in getattr(f, "__closure__", None) or ():
        ctx.mark_all(cell)


def module_of(f: Any) -> str:
    """The name of the module that a callable was defined in."""
    while not isinstance(f, FunctionType):
        if isinstance(f, functools.partial):
            f = f.func
        elif isinstance(f, MethodType):
            f = f.__func__
        elif hasattr(f, "__wrapped__"):
            f = f.__wrapped__
        else:
            cls = f if isinstance(f, type) else type(f)
            return str(cls.__module__)
    found = functions.module_of(f)
    # What wraps a function for the engine stands for that.
    return module_of(f.__wrapped__) if functions.is_own(found) and hasattr(f, "__wrapped__") else found


_HANDLERS = (
    "autodiff_hook.runtime.controls",
    "autodiff_hook.runtime.pushing.nested",
    "autodiff_hook.runtime.splitting",
    *(("autodiff_hook.semantics.derivatives",) if CARRIED else ()),
)
"""What registers handlers of functions in ``api``, which comes later than this module."""

_prepared = -1


def prepare() -> None:
    """Apply what the configuration says of rules: load packs, declare constants."""
    global _prepared
    version = config.version
    if _prepared == version:
        return
    import importlib

    config.check()
    for name in _HANDLERS:
        importlib.import_module(name)
    for name in config.rule_modules():
        _import(name, "rules")
    for name in config.nondifferentiable_names():
        registry.add_constant(_resolve(name))
    _prepared = version


def _import(name: str, key: str) -> Any:
    """Import a module for ``key`` of ``[tool.autodiff]``."""
    import importlib

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
        import numpy as np

        return np.ones(value.shape, value.dtype if value.dtype.kind == "f" else float)
    shape = f" of shape {value.shape}" if kind == "array" else ""
    raise Unsupported(
        f"gradient needs a function with a real scalar value (a number or an array with one element), but "
        f"{describe(f)} returned {type(value).__qualname__}{shape}; use autodiff_hook.pullback with a cotangent of "
        f"that form, or autodiff_hook.jacobian"
    )
