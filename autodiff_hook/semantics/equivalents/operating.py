"""Functions of ``operator`` that are no operators, products with a start, and batches."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any, Final

from autodiff_hook.registry import nondifferentiable
from autodiff_hook.semantics.equivalents import product_of


def require_sequence(a: Any) -> None:
    """Raise what concatenation does for what is no sequence."""
    if not hasattr(type(a), "__getitem__"):
        raise TypeError(f"{type(a).__name__!r} object can't be concatenated")


def holds(value: Any) -> Any:
    """Whether an object holds that says so itself."""
    answer = value.__bool__()
    if type(answer) is not bool:
        raise TypeError(f"__bool__ should return bool, returned {type(answer).__name__}")
    return answer


def fails(value: Any) -> Any:
    """``not value`` of such an object."""
    return not holds(value)


def length(value: Any, method: Any) -> Any:
    """``len(value)`` of an object that says it itself."""
    return counted(method(value))


def counted(count: Any) -> Any:
    """What ``__len__`` returned."""
    if type(count) is not int:
        count = operator.index(count)
    if count < 0:
        raise ValueError("__len__() should return >= 0")
    return count


def is_filled(value: Any) -> Any:
    """Whether an object holds that has a length."""
    return len(value) > 0


def is_empty(value: Any) -> Any:
    """``not value`` of such an object."""
    return len(value) == 0


def operated(a: Any, b: Any, first: Any, second: Any) -> Any:
    """An operator, of which ``a`` is asked first."""
    result = first(a, b)
    if result is NotImplemented:
        result = second(b, a)
        if result is NotImplemented:
            raise TypeError("unsupported operand types")
    return result


def equal(a: Any, b: Any, first: Any, second: Any) -> Any:
    """``a == b``, of which ``a`` is asked first."""
    result = first(a, b)
    if result is NotImplemented:
        result = NotImplemented if second is None else second(b, a)
    return a is b if result is NotImplemented else result


def differs(a: Any, b: Any) -> Any:
    """``a != b`` as ``object.__ne__`` answers for a class that has an ``__eq__``."""
    equal: Any = type(a).__eq__
    result = equal(a, b)
    return result if result is NotImplemented else not result


@nondifferentiable
def held(owner: Any, name: Any) -> Any:
    """What an object itself holds by a name."""


def remembered(owner: Any, compute: Any, name: Any) -> Any:
    """A ``cached_property``, which holds None until it is asked for."""
    value = held(owner, name)
    if value is None:
        value = compute(owner)
        if value is None:
            raise TypeError("what is remembered is None")
        object.__setattr__(owner, name, value)
    return value


def made(cls: Any, new: Any, init: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a class with a ``__new__`` of its own, which may make an object of a derived class."""
    made = new(cls, *args, **kwargs)
    if type(made) is cls:
        if init is not None:
            initialise(made, init, *args, **kwargs)
    elif isinstance(made, cls):
        initialise(made, type(made).__init__, *args, **kwargs)
    return made


def initialise(made: Any, init: Any, /, *args: Any, **kwargs: Any) -> None:
    """A call of an ``__init__`` that may return something."""
    if init(made, *args, **kwargs) is not None:
        raise TypeError("__init__() should return None")


def concat(a: Any, b: Any) -> Any:
    """``operator.concat``."""
    require_sequence(a)
    return a + b


def iconcat(a: Any, b: Any) -> Any:
    """``operator.iconcat``."""
    require_sequence(a)
    a += b
    return a


def call(obj: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``operator.call``."""
    return obj(*args, **kwargs)


def batched(iterable: Any, n: Any, *, strict: Any = False) -> Any:
    """``itertools.batched``."""
    if n < 1:
        raise ValueError("n must be at least one")
    batch: list[Any] = []
    for item in iterable:
        batch.append(item)
        if len(batch) == n:
            yield tuple(batch)
            batch = []
    if batch and strict:
        raise ValueError("batched(): incomplete batch")
    if batch:
        yield tuple(batch)


IMMEDIATE: Final[list[tuple[Any, Callable[..., Any]]]] = [
    (operator.concat, concat),
    (operator.iconcat, iconcat),
    *([(vars(operator)["call"], call)] if hasattr(operator, "call") else []),
]

LATER: Final[list[tuple[Any, Callable[..., Any]]]] = [
    *([(vars(itertools)["batched"], batched)] if hasattr(itertools, "batched") else [])
]
"""What looks into its arguments only as it is iterated over."""

WITH_OPTIONS: Final[list[tuple[Any, Callable[..., Any]]]] = [(math.prod, product_of)]


def converted(value: Any, method: Any, kind: type) -> Any:
    """``float(a)``."""
    number = method(value)
    if not isinstance(number, kind):
        raise TypeError(f"{method.__name__} returned non-{kind.__name__} (type {type(number).__name__})")
    return kind(number)


def overridden(method: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``__array_ufunc__`` or ``__array_function__`` of the only class that has it."""
    result = method(*args, **kwargs)
    if result is NotImplemented:
        raise TypeError("a class that says what functions are says nothing of this one")
    return result
