"""What typed programs with tangents call: tangents taken from the caller, zeros, those of rules, and given back."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.forward import check_tangent
from autodiff_hook.algebras.tangents import refuse_unknown, transpose
from autodiff_hook.registry import NotImplementedCotangent
from autodiff_hook.runtime.mirror import array_gradient, form_of, number_gradient, parts_of, tuple_like

_DOUBLE: Final = np.dtype(float)


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
    if tangent is None:
        return zero_tangent(value)
    form = form_of(value)
    check_tangent(form, value, tangent, where)
    if form == "number":
        return number_gradient(value, tangent)
    if form == "array":
        return np.array(array_gradient(value, tangent))
    if form == "inert":
        return None
    if form == "dict":
        return {key: seeded(item, tangent.get(key), f"{where}[{key!r}]") for key, item in value.items()}
    parts = [seeded(item, tangent[i], f"{where}[{i}]") for i, item in enumerate(value)]
    return parts if form == "list" else tuple(parts)


def zero_tangent(value: Any) -> Any:
    """The tangent of what is constant."""
    form = form_of(value)
    if form == "number":
        return 0.0
    if form == "array":
        return np.zeros(value.shape, value.dtype if value.dtype.kind in "fc" else float)
    if form == "dict":
        return {key: zero_tangent(item) for key, item in value.items()}
    if form not in ("list", "tuple"):
        return None
    items = list(map(zero_tangent, value))
    return items if form == "list" else tuple(items)


def is_made_of_numbers(value: Any) -> bool:
    """Whether all that a value holds are numbers, and arrays of some."""
    form = form_of(value)
    if form in ("list", "tuple", "dict"):
        return all(is_made_of_numbers(item) for _, item in parts_of(value, form))
    return form == "number" or form == "array" and value.size > 0


def given_back(value: Any, tangent: Any) -> Any:
    """The tangent of a result in the form of a gradient of it."""
    cls = type(value)
    if type(tangent) is cls and (cls is float or cls is np.float64):
        return tangent
    if cls is np.ndarray and type(tangent) is cls and value.dtype is tangent.dtype is _DOUBLE:
        return tangent.copy()
    form = form_of(value)
    if form == "number":
        return number_gradient(value, tangent)
    if form == "array":
        return np.array(array_gradient(value, tangent))
    if form == "list":
        return [given_back(item, part) for item, part in zip(value, _parts(value, tangent))]
    if form == "tuple":
        return tuple_like(value, [given_back(item, part) for item, part in zip(value, _parts(value, tangent))])
    if form == "dict":
        return {key: given_back(item, None if tangent is None else tangent[key]) for key, item in parts_of(value, form)}
    return None


def _parts(value: Any, tangent: Any) -> Any:
    return [None] * len(value) if tangent is None else tangent


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
