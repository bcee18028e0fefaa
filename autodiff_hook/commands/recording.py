"""Functions of a running program, each call of which is differentiated as it happens."""

from __future__ import annotations

import inspect
import math
import threading
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.errors import AutodiffError, Unsupported
from autodiff_hook.runtime.preparing import scalar_seed
from autodiff_hook.runtime.pulled import opened
from autodiff_hook.runtime.specialising import differentiated
from autodiff_hook.runtime.tracebacks import without_engine
from autodiff_hook.runtime.trees import tree_leaves
from autodiff_hook.semantics.meanings import apply, means

KEPT: Final = 1000
"""Of how many calls the details are kept: the first ones."""


@dataclass(slots=True)
class Statistic:
    """Numbers that come one after the other."""

    count: int = 0
    last: float = math.nan
    total: float = 0.0
    least: float = math.inf
    most: float = -math.inf

    def add(self, number: float) -> None:
        self.count += 1
        self.last = number
        self.total += number
        self.least, self.most = min(self.least, number), max(self.most, number)

    def to_dict(self) -> dict[str, float]:
        mean = self.total / self.count if self.count else math.nan
        return {"last": self.last, "mean": mean, "min": self.least, "max": self.most}


@dataclass(slots=True)
class Record:
    """What is known of the calls of one function."""

    target: str
    found: str | None = None
    """Why the function is not recorded; None if it is."""
    calls: int = 0
    raised: int = 0
    """How many calls ended in an exception of the program."""
    seconds: float = 0.0
    value: Statistic = field(default_factory=Statistic)
    norms: dict[str, Statistic] = field(default_factory=dict)
    """The norms of the gradients, by argument."""
    errors: Counter[str] = field(default_factory=Counter)
    """Why calls have no gradient, and how many."""
    details: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "function": self.target,
            "not_recorded": self.found,
            "calls": self.calls,
            "raised": self.raised,
            "seconds": self.seconds,
            "value": self.value.to_dict() if self.value.count else None,
            "gradient_norms": {name: norm.to_dict() for name, norm in self.norms.items()},
            "without_gradient": dict(self.errors),
            "first_calls": self.details,
        }


class Recorder:
    """Differentiates the calls of one function.

    The function stays the object that it is, so whoever has it already is recorded, too; its code is replaced.
    """

    def __init__(self, target: str, told: Any, keys: Sequence[Any] = ()) -> None:
        self.record = Record(target + "".join(f"[{key}]" for key in keys), "its module was not imported")
        self.module, _, self.name = target.partition(":")
        self._keys = keys
        """Which item of the value is differentiated."""
        self.told = told
        self._lock = threading.Lock()
        self._thread = threading.local()
        self._replaced: list[tuple[FunctionType, CodeType]] = []

    def look(self, module: ModuleType) -> None:
        """Record the function, if it is of this module."""
        if module.__name__ == self.module:
            first, *rest = self.name.split(".")
            if first in module.__dict__:
                self.found(module.__dict__[first], rest)
            else:
                self.record.found = f"module {self.module} has no {first!r}"

    def found(self, value: Any, rest: list[str]) -> None:
        """Record the function that is reached from ``value`` by attributes."""
        for name in rest:
            try:
                value = inspect.getattr_static(value, name)
            except AttributeError:
                self.record.found = f"{value!r} has no attribute {name!r}"
                return
        function = _python_function(value)
        if function is None:
            self.record.found = f"it is no Python function but a {type(value).__name__}"
        elif all(function is not known for known, _ in self._replaced):
            self.record.found = None
            self._replace(function)

    def stop(self) -> None:
        """Give the function its own code back."""
        while self._replaced:
            function, code = self._replaced.pop()
            function.__code__ = code

    def _replace(self, function: FunctionType) -> None:
        code = function.__code__
        original = FunctionType(
            code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        original.__kwdefaults__, original.__qualname__ = function.__kwdefaults__, function.__qualname__
        original.__module__ = function.__module__
        parameters = inspect.signature(original)

        record = partial(self._called, original, parameters)

        @means(record)
        def plainly(alg: Any, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            # Within a derivative it is what it was.
            return apply(alg, (None, *t), original, args, kwargs)

        self._replaced.append((function, code))
        function.__code__ = _calling(record, code)

    def _called(self, f: Any, parameters: inspect.Signature, /, *args: Any, **kwargs: Any) -> Any:
        if getattr(self._thread, "busy", False):
            return f(*args, **kwargs)
        if kwargs:
            args, kwargs = _by_position(parameters, args, kwargs)
        self._thread.busy = True
        before = time.perf_counter()
        try:
            if self._keys:
                value, number, found = _of_item(f, args, kwargs, self._keys)
            else:
                value, found = differentiated(f, args, kwargs, "value", _value_and_gradients)
                number = value
        except BaseException as error:
            error.__traceback__ = without_engine(error.__traceback__)
            with self._lock:
                self.record.calls += 1
                self.record.raised += 1
            raise
        finally:
            self._thread.busy = False
        with self._lock:
            self._add(parameters, number, found, time.perf_counter() - before)
        self.told()
        return value

    def _add(self, parameters: inspect.Signature, value: Any, found: Any, seconds: float) -> None:
        record = self.record
        record.calls += 1
        record.seconds += seconds
        detail: dict[str, Any] = {"seconds": seconds}
        if isinstance(found, AutodiffError):
            detail["without_gradient"] = str(found)
            record.errors[str(found)] += 1
        else:
            detail["value"] = number = float(value)
            record.value.add(number)
            detail["gradient_norms"] = norms = _norms(parameters, found)
            for name, norm in norms.items():
                record.norms.setdefault(name, Statistic()).add(norm)
        if len(record.details) < KEPT:
            record.details.append(detail)


def _value_and_gradients(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Value and gradients; in the place of gradients that there are not, the error that says why."""
    session = Reverse(f, args, kwargs)
    try:
        return session.value, session.back(scalar_seed(session.value, f))
    except AutodiffError as error:
        return session.value, error


def _of_item(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], keys: Sequence[Any]) -> tuple[Any, Any, Any]:
    """The value, an item of it, and the gradients of that."""
    session = opened(f, args, kwargs)
    item = session.value
    holders: list[tuple[Any, Any]] = []
    for key in keys:
        try:
            holders.append((item, key))
            item = item[key]
        except (TypeError, LookupError) as error:
            return session.value, None, Unsupported(f"the value has no item {key!r}: {type(error).__name__}: {error}")
    try:
        seed = scalar_seed(item, f)
        for holder, key in reversed(holders):
            seed = {key: seed} if isinstance(holder, dict) else _placed(seed, key, holder)
        return session.value, item, session.back(seed)
    except AutodiffError as error:
        return session.value, None, error


def _placed(seed: Any, key: Any, holder: Any) -> Any:
    """A cotangent of a list, tuple or array with one item."""
    if not isinstance(holder, np.ndarray):
        return [seed if index == key % len(holder) else None for index in range(len(holder))]
    whole = np.zeros(holder.shape, holder.dtype if holder.dtype.kind == "f" else float)
    whole[key] = seed
    return whole


def _norms(parameters: inspect.Signature, gradients: tuple[Any, ...]) -> dict[str, float]:
    """The Euclidean norm of each gradient that there is, by the name of the parameter."""
    names = [p.name for p in parameters.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = [p.name for p in parameters.parameters.values() if p.kind is p.VAR_POSITIONAL]
    names += [f"{name}[{index}]" for name in rest for index in range(len(gradients) - len(names))]
    return {name: norm(gradient) for name, gradient in zip(names, gradients) if gradient is not None}


def norm(tree: Any) -> float:
    """The Euclidean norm of all numbers and arrays in a gradient."""
    return math.sqrt(sum(float(np.vdot(leaf, leaf).real) for leaf in tree_leaves(tree)))


def _by_position(
    parameters: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call with as few named arguments as can be: these count as constants."""
    try:
        bound = parameters.bind(*args, **kwargs)
    except TypeError:
        return args, kwargs
    return bound.args, bound.kwargs


def _python_function(value: Any) -> FunctionType | None:
    """The Python function that a function, method, property or cache is made of."""
    while type(value) is not FunctionType:
        if isinstance(value, property):
            value = value.fget
        elif hasattr(value, "__func__"):
            value = value.__func__
        elif type(value).__name__ == "_lru_cache_wrapper":
            value = value.__wrapped__
        else:
            return None
    return value


_MARK: Final = "autodiff_hook: what is called"


def _calling(record: Any, code: CodeType) -> CodeType:
    """Code that calls ``record``, for a function with the free variables of ``code``."""
    free = ", ".join(code.co_freevars)
    reading = f" if 1 else ({free},)" if free else ""
    source = f"def make({free}):\n def f(*args, **kwargs): return {_MARK!r}(*args, **kwargs){reading}\n return f"
    namespace: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # that a text is called, which is replaced
        exec(source, namespace)
    made = namespace["make"](*code.co_freevars).__code__
    constants = tuple(record if constant == _MARK else constant for constant in made.co_consts)
    called: CodeType = made.replace(
        co_consts=constants,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )
    return called
