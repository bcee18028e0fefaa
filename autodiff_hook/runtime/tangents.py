"""What typed programs with tangents call: tangents taken from the caller, zeros, those of rules, and given back."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.forward import check_tangent, require_one
from autodiff_hook.algebras.tangents import refuse_unknown, transpose
from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.mirror import array_gradient, form_of, number_gradient, parts_of, tuple_like
from autodiff_hook.runtime.slots import Attribute
from autodiff_hook.tangent import Tangent
from autodiff_hook.transform.specialise.program import Given

Slot = tuple[int | None, Any]
"""The identity of what holds something, or None for the arguments, and the key there."""
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
        kinds = set(map(type, value))
        if {float} == kinds == set(map(type, items)):
            return items
        if kinds == {list}:
            return [seeded(*row, f"{where}[{i}]") for i, row in enumerate(zip(value, tangent))]
    _check(value, tangent, where)
    return given_back(value, tangent)


def _check(value: Any, tangent: Any, where: str) -> None:
    """Raise for what is not in the form of a gradient of ``value``."""
    if tangent is None:
        return
    form = form_of(value)
    check_tangent(form, value, tangent, where)
    if form in _CONTAINERS:
        parts = _parts_of_given(tangent)
        for key, item in parts_of(value, form):
            _check(item, parts.get(key) if form == "dict" else parts[key], f"{where}[{key!r}]")


def _parts_of_given(tangent: Any) -> Any:
    return tangent._fields if isinstance(tangent, Tangent) else tangent


class Moved:
    """The tangents of the attributes of an object, under their names."""


_MADE: Final[dict[str, Any]] = {"list": list, "dict": dict, "object": Moved}


class WithoutSlots(Given):
    """An argument holds an array with parts, which have no slots."""

    reason = Reason("an array of objects or records among the arguments")


def slot_tangents(values: tuple[Any, ...], tangents: tuple[Any, ...]) -> dict[Slot, Any]:
    """The tangents of numbers, arrays and tuples that arguments hold, as they are given, by the slots that hold them.

    None is nothing; a slot that has several names has one tangent.
    """
    found: dict[Slot, Any] = {}
    seen = set[tuple[int, int]]()
    for i, (value, tangent) in enumerate(zip(values, tangents)):
        _note(found, (None, i), value, tangent, f"tangents[{i}]", seen)
    return found


def _note(found: dict[Slot, Any], slot: Slot, value: Any, tangent: Any, where: str, seen: set[tuple[int, int]]) -> None:
    if tangent is None:
        return
    form = form_of(value)
    check_tangent(form, value, tangent, where)
    parts = _parts_of_given(tangent)
    if form in ("number", "array"):
        require_one(found.get(slot), tangent, where)
        found[slot] = tangent
    elif form == "tuple":
        made, held = [], found.get(slot) or (None,) * len(value)
        for i, row in enumerate(zip(value, parts, held)):
            made.append(_noted(found, *row, f"{where}[{i}]", seen))
        found[slot] = tuple(made)
    elif form not in ("list", "dict", "object"):
        raise WithoutSlots
    elif (id(value), id(tangent)) not in seen:
        seen.add((id(value), id(tangent)))
        for key, part in parts_of(value, form):
            given = parts[key] if form == "list" else parts.get(key)
            if given is None:
                continue
            if type(part) is type(given) is float and found.setdefault(_slot(form, value, key), given) == given:
                continue
            name = f".{key}" if form == "object" else f"[{key!r}]"
            _note(found, _slot(form, value, key), part, given, where + name, seen)


def as_given(value: Any, known: dict[int, Any]) -> Any:
    """What a value holds, and under which names, in new containers; ``known`` are those that were made before."""
    form = form_of(value)
    if form == "tuple":
        return tuple([as_given(item, known) for item in value])
    if form not in _MADE:
        return value
    if id(value) not in known:
        made = known[id(value)] = _MADE[form]()
        for key, part in parts_of(value, form):
            _hold(made, form, key, as_given(part, known))
    return known[id(value)]


def given_once(values: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tangents that are given for arguments, each under the first of the names that the values have."""
    try:
        found = slot_tangents(values, tangents)
    except WithoutSlots:
        return tangents
    seen = set[int]()
    return tuple([_first_given(found, value, found.get((None, i)), seen) for i, value in enumerate(values)])


def _first_given(found: dict[Slot, Any], value: Any, given: Any, seen: set[int]) -> Any:
    form = form_of(value)
    if form == "tuple":
        return tuple([_first_given(found, *row, seen) for row in zip(value, given or (None,) * len(value))])
    if form not in _MADE:
        return given
    if id(value) in seen:
        return None
    seen.add(id(value))
    parts = list(parts_of(value, form))
    items = [_first_given(found, item, found.get(_slot(form, value, key)), seen) for key, item in parts]
    return items if form == "list" else {key: item for (key, _), item in zip(parts, items)}


def _noted(found: dict[Slot, Any], value: Any, tangent: Any, held: Any, where: str, seen: set[tuple[int, int]]) -> Any:
    """What is given for an item of a tuple."""
    found[None, None] = held
    _note(found, (None, None), value, tangent, where, seen)
    return found.pop((None, None), None)


def _slot(form: str, value: Any, key: Any) -> Slot:
    return id(value), Attribute(key) if form == "object" else key


def tangent_at(
    found: dict[Slot, Any], owner: Any, key: Any, path: tuple[tuple[int, int], ...], value: Any, known: dict[int, Any]
) -> Any:
    """The tangent of what is in a slot, at a place in tuples there, as a program takes it.

    ``known`` are those of lists, dicts and objects that were made before.
    """
    given = found.get((None if owner is None else id(owner), key))
    for _, place in path:
        given = None if given is None else given[place]
    return _built(found, value, given, known)


def _built(found: dict[Slot, Any], value: Any, given: Any, known: dict[int, Any]) -> Any:
    form = form_of(value)
    if form == "tuple":
        given = given or (None,) * len(value)
        return tuple([_built(found, item, part, known) for item, part in zip(value, given)])
    if form not in _MADE:
        return given_back(value, given)
    if id(value) in known:
        return known[id(value)]
    made = known[id(value)] = _MADE[form]()
    for key, part in parts_of(value, form):
        tangent = found.get(_slot(form, value, key))
        if type(part) is not float or type(tangent) is not float:
            tangent = 0.0 if tangent is None and type(part) is float else _built(found, part, tangent, known)
        _hold(made, form, key, tangent)
    return made


def _hold(made: Any, form: str, key: Any, item: Any) -> None:
    if form == "list":
        made.append(item)
    elif form == "dict":
        made[key] = item
    else:
        setattr(made, key, item)


def zero_tangent(value: Any, known: dict[int, Any] | None = None) -> Any:
    """The tangent of what is constant."""
    return _built({}, value, None, {} if known is None else known)


def is_made_of_numbers(value: Any, around: tuple[int, ...] = ()) -> bool:
    """Whether all that a value holds are numbers, and arrays of some; ``around``: the ids of what it is in."""
    form = form_of(value)
    if form in _CONTAINERS:
        inside = (*around, id(value))
        return id(value) not in around and all(is_made_of_numbers(x, inside) for _, x in parts_of(value, form))
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


def partial(derivative: Any, value: Any = 0.0) -> Any:
    """A partial derivative of ``value`` that a pullback gave, None being zero."""
    if isinstance(derivative, NotImplementedCotangent):
        raise derivative.fail()
    return zero_tangent(value) if derivative is None else derivative


def units(value: Any, unit: Any) -> Any:
    """A cotangent like an array, of one number."""
    return np.full(value.shape, unit)


def along_slope(slope: Any, tangent: Any) -> Any:
    """What a tangent contributes to a real value that has this gradient."""
    return (slope.conjugate() * tangent).real


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
    "units": units,
    "along_slope": along_slope,
    "transposed": transposed,
}
