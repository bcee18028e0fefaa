"""Examples of values, with which functions without effects are tried out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autodiff_hook import budget
from autodiff_hook.runtime.native import wants_to_write
from autodiff_hook.transform.specialise.abstract import MISSING, Abstract, Array, List, Number, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import example_of, number_types
from autodiff_hook.transform.specialise.wording import named

_SAMPLES: Final[dict[type, tuple[Any, Any]]] = {
    **{float: (0.5, 1.5), complex: (0.5 + 0.5j, 1.5 - 0.5j), int: (2, 3)},
    **{bool: (True, True), np.bool_: (np.True_, np.True_)},
}
_AXES: Final = 16


def example_for(value: Abstract) -> Any:
    """An example of a value, with which functions are tried out."""
    found = example_of(value)
    if isinstance(value, List):
        return _example_of_list(value)
    if found is MISSING:
        types = number_types(value)
        if types:
            return samples(next(iter(types)))[0]
        raise Refused(f"no example of {named(value)}")
    return found


def _example_of_list(value: List) -> Any:
    """Items of lists that the program makes may have been put in later than the list was."""
    if value.example is not MISSING and value.example:
        return list(value.example)
    return [example_for(value.item)] if value.item is not None else []


def square_for(value: Abstract, length: int) -> Any:
    """An example of an array all of whose lengths are the same, or of an index that it has.

    Matrices are positive definite, and the tridiagonal ones whose bands they are have an inverse.
    """
    if isinstance(value, Tuple) and value.cls is tuple:
        return tuple([square_for(item, length) for item in value.items])
    if isinstance(value, Number) and value.types == frozenset({int}):
        return 0
    if not isinstance(value, Array) or value.ndim is None:
        return example_for(value)
    if value.ndim > _AXES:
        raise Refused(f"an array of {value.ndim} axes")
    unit = np.eye(length, dtype=value.dtype)
    if unit.dtype.kind in "fc":
        unit += 0.5
    return np.zeros((length,) * value.ndim, value.dtype) + unit[(0,) * (2 - value.ndim)]


def tried(run: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a function without effects for examples."""
    _require_small(run, args)
    try:
        if getattr(run, "__module__", None) in _SILENT and not kwargs:
            if _PLAIN.issuperset(map(type, args)):
                return run(*args)
            if _REAL.issuperset(map(type, args)):
                _count(args)
                with np.errstate(all="ignore"):
                    return run(*_given(run, args))
        _count(args)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = run(*_given(run, args), **kwargs)
            return _filled(found) if any([run is each for each in _UNINITIALISED]) else found
    except Exception as error:
        raise Refused(f"{named(run)} raised {type(error).__name__}: {error}") from error


def _count(args: list[Any]) -> None:
    """What is tried out on large arrays takes as long as the operation does when it runs."""
    size = sum([x.size for x in args if type(x) is np.ndarray])
    if size > _AT_ONCE:
        budget.check(size // _AT_ONCE)


def _require_small(run: Callable[..., Any], args: list[Any]) -> None:
    """Refuse to make a large array: a length that a way at hand does not come to may be any number."""
    for lengths in [args[place] for made, place in _MADE_BY_LENGTH if run is made and place < len(args)]:
        given = lengths if isinstance(lengths, (tuple, list)) else (lengths,)
        size = math.prod([int(n) for n in given if isinstance(n, (int, np.integer))])
        if size > _MOST_ITEMS:
            raise Refused(f"an array of {size} items")


_MADE_BY_LENGTH: Final = (
    *[(made, 0) for made in (np.zeros, np.ones, np.empty, np.full, np.arange, np.eye, np.identity)],
    (np.arange, 1),
    (np.linspace, 2),
)
"""What makes arrays of a length that is a number, and where that is among the arguments."""
_MOST_ITEMS: Final = 2**25
_AT_ONCE: Final = 10_000
"""How many elements an operation works on in the time of one step."""
_UNINITIALISED: Final = (np.empty, np.empty_like)
"""What gives arrays of whatever the memory holds, on which others would be tried out."""


def _filled(array: Any) -> Any:
    """An array of numbers that most functions are defined for; also as a matrix."""
    if array.dtype.kind in "biufc":
        array[...] = np.sqrt(np.arange(1.0, array.size + 1.0)).reshape(array.shape)
    return array


_SILENT: Final = ("_operator", "math")
"""The modules whose functions warn of nothing but what arithmetic of NumPy does."""
_PLAIN: Final = frozenset({float, int})
_REAL: Final = frozenset({float, int, np.float64, np.ndarray})


def _given(run: Any, args: list[Any]) -> list[Any]:
    """What a function is tried out on, or one that calls what it is given."""
    return [*map(_copied if any(map(wants_to_write, (run, *args))) else _own, args)]


def _own(value: Any) -> Any:
    """An array that nothing which is tried out can change the original of."""
    if type(value) is np.ndarray:
        value = value.view()
        value.flags.writeable = False
    return value


def _copied(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_copied, value))
    return value.copy("K") if type(value) is np.ndarray else value


def samples(cls: type) -> tuple[Any, Any]:
    """Two numbers of a type."""
    if issubclass(cls, np.number):
        return (cls(0.5), cls(1.5)) if issubclass(cls, np.inexact) else (cls(2), cls(3))
    return _SAMPLES[cls]
