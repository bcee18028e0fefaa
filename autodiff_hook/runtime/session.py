"""One differentiation, from the arguments to a pullback in their form."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from autodiff_hook import config
from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import describe, registry
from autodiff_hook.runtime.calls import apply
from autodiff_hook.runtime.context import Context, Sweep
from autodiff_hook.runtime.functions import module_name
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

    FACTOR = 4

    def __init__(self) -> None:
        self._lock, self._users, self._limit = threading.Lock(), 0, 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._limit = sys.getrecursionlimit()
                sys.setrecursionlimit(self._limit * self.FACTOR)
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users and sys.getrecursionlimit() == self._limit * self.FACTOR:
                sys.setrecursionlimit(self._limit)


deeper_recursion = _DeeperRecursion()


class Session:
    """A forward pass of ``f`` at ``args``, and what its reverse sweeps need."""

    def __init__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], of_function: bool = False) -> None:
        if not callable(f):
            raise Unsupported(f"the function to differentiate is not callable: {f!r}")
        prepare()
        self.call = (f, args, kwargs)
        known: dict[int, Mirror] = {}
        self.mirrors = [mirror_of(x, known) for x in args]
        self.of_function = mirror_of(f, known) if of_function else None
        ctx = self.context = Context()
        ctx.modules.add(module_of(f))
        ctx.whole_numbers = any(map(whole_numbers_in, args))
        for value in args:
            mark_deep(ctx, value)
            for array in arrays_in(value):
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
        sweep: Sweep | None = None
        try:
            sweep = Sweep(self.context)
            edge = absorb(sweep, self.structure, cotangent)
            with deeper_recursion:
                given = self.pullback(sweep, edge) if self.pullback is not None else None
            given = given or (None,) * (1 + len(self.mirrors))
            done: dict[int, Any] = {}
            grads = tuple(m.gradient(sweep, c, done) for m, c in zip(self.mirrors, given[1:]))
            if self.of_function is None:
                return grads
            return (self.of_function.gradient(sweep, given[0], done), *grads)
        except BaseException as error:
            error.__traceback__ = without_engine(error.__traceback__)
            raise
        finally:
            if sweep is not None:
                sweep.buffers.restore()


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
    return module_name(f.__globals__)


_HANDLERS = (
    "autodiff_hook.runtime.controls",
    "autodiff_hook.runtime.pushing.nested",
    "autodiff_hook.runtime.splitting",
)
"""What registers handlers of functions in ``api``, which comes later than this module."""

_prepared = -1
_prepare_lock = threading.Lock()


def prepare() -> None:
    """Apply what the configuration says of rules: load packs, declare constants."""
    global _prepared
    if _prepared == config.version:
        return
    import importlib

    for name in (*_HANDLERS, *config.rule_modules()):
        importlib.import_module(name)
    for name in config.nondifferentiable_names():
        registry.add_constant(_resolve(name))
    with _prepare_lock:
        _prepared = config.version


def _resolve(dotted: str) -> Any:
    import importlib

    from autodiff_hook.errors import ConfigError

    module, _, rest = dotted.partition(".")
    try:
        found: Any = importlib.import_module(module)
        for part in filter(None, rest.split(".")):
            if not hasattr(found, part):
                importlib.import_module(f"{found.__name__}.{part}")
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"nondifferentiable: {dotted!r} cannot be found: {error}") from error
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
