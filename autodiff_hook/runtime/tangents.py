"""What typed programs with tangents call: tangents taken from the caller, zeros, those of rules, and given back."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.forward import check_tangent
from autodiff_hook.algebras.tangents import refuse_unknown, transpose
from autodiff_hook.registry import NotImplementedCotangent
from autodiff_hook.runtime.mirror import array_gradient, form_of, number_gradient, parts_of, tuple_like

_DOUBLE: Final = np.dtype(float)
_CONTAINERS: Final = ("list", "tuple", "dict")


def seeded(value: Any, tangent: Any, where: str) -> Any:
    """The tangent of an argument as a program takes it: floats, arrays of its own, and containers of these."""
    cls = type(value)
    if cls is float and type(tangent) is float:
        return tangent
    if cls is np.ndarray and type(tangent) is cls and value.dtype is tangent.dtype is _DOUBLE:
        if value.shape == tangent.shape:
            return tangent.copy()
    elif cls is list and type(tangent) is list and len(value) == len(tangent):
        items = [0.0 if x is None else x for x in tangent]
        if {float} == set(map(type, value)) == set(map(type, items)):
            return items
    _check(value, tangent, where)
    return given_back(value, tangent)


def _check(value: Any, tangent: Any, where: str) -> None:
    """Raise for what is not in the form of a gradient of ``value``."""
    if tangent is None:
        return
    form = form_of(value)
    check_tangent(form, value, tangent, where)
    if form in _CONTAINERS:
        for key, item in parts_of(value, form):
            _check(item, tangent.get(key) if form == "dict" else tangent[key], f"{where}[{key!r}]")


def zero_tangent(value: Any) -> Any:
    """The tangent of what is constant."""
    return given_back(value, None)


def is_made_of_numbers(value: Any) -> bool:
    """Whether all that a value holds are numbers, and arrays of some."""
    form = form_of(value)
    if form in _CONTAINERS:
        return all(is_made_of_numbers(item) for _, item in parts_of(value, form))
    return form == "number" or form == "array" and value.size > 0


def given_back(value: Any, tangent: Any) -> Any:
    """The tangent of a value in the form of a gradient of it, an array of its own; None is zero."""
    cls = type(value)
    if type(tangent) is cls and (cls is float or cls is np.float64):
        return tangent
    if cls is np.ndarray and type(tangent) is cls and value.dtype is tangent.dtype is _DOUBLE:
        return tangent.copy()
    form = form_of(value)
    if form == "number":
        return number_gradient(value, tangent)
    if form == "array":
        return array_gradient(value, tangent)
    if form == "dict":
        return {key: given_back(item, None if tangent is None else tangent.get(key)) for key, item in value.items()}
    if form not in _CONTAINERS:
        return None
    parts = [given_back(item, None if tangent is None else tangent[i]) for i, item in enumerate(value)]
    return parts if form == "list" else tuple_like(value, parts)


def partial(derivative: Any) -> Any:
    """A partial derivative that a pullback gave, None being zero."""
    if isinstance(derivative, NotImplementedCotangent):
        raise derivative.fail()
    return 0.0 if derivative is None else derivative


def transposed(pullback: Any, value: Any, tangents: Any) -> Any:
    """The tangent of what a rule gave, by the transpose of its pullback."""
    found = transpose(pullback, value, tangents)
    refuse_unknown(found)
    return completed(value, found)


def completed(value: Any, tangent: Any) -> Any:
    """A tangent with zeros where it has None."""
    if tangent is None:
        return zero_tangent(value)
    if type(tangent) in (tuple, list):
        return type(tangent)([completed(item, part) for item, part in zip(value, tangent)])
    return tangent


TANGENTS: Final[dict[str, Any]] = {
    "partial": partial,
    "zero_tangent": zero_tangent,
    "transposed": transposed,
}
