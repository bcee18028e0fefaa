"""What the algebras compute with cotangents and tangents, as plain Python, so that another algebra can carry it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.registry import rrule


def number_like(value: Any, cotangent: Any) -> Any:
    """A cotangent of a number: a number, real if that is, a float for a float, complex for a complex."""
    if isinstance(cotangent, np.ndarray):
        cotangent = cotangent.sum()
    if not isinstance(value, (complex, np.complexfloating)) and isinstance(cotangent, (complex, np.complexfloating)):
        cotangent = cotangent.real
    return type(value)(cotangent) if type(value) in (float, complex) else cotangent


def array_like(value: Any, cotangent: Any) -> Any:
    """A cotangent of an array: an array of its shape, real if that is and complex if that is."""
    if value.dtype.kind != "c" and np.iscomplexobj(cotangent):
        cotangent = np.real(cotangent)
    elif value.dtype.kind == "c" and not np.iscomplexobj(cotangent):
        cotangent = cotangent + 0j
    if np.shape(cotangent) == value.shape:
        return np.asarray(cotangent)
    return np.broadcast_to(cotangent, value.shape) + 0.0


def hooked(function: Any, make: Any = None) -> Any:
    """The pullback of ``hook``; ``make`` gives the cotangent of a container its form."""

    def hook_pullback(cotangent: Any) -> Any:
        return (function(cotangent if make is None else make(cotangent)),)

    return hook_pullback


def item_pullback(index: int, count: int) -> Any:
    """The pullback of an item of a tuple or list that a rule gave."""

    def from_item(cotangent: Any) -> Any:
        return (tuple([cotangent if i == index else None for i in range(count)]),)

    return from_item


def keyed_pullback(key: Any) -> Any:
    """The pullback of an item of a dict that a rule gave."""

    def from_key(cotangent: Any) -> Any:
        return ({key: cotangent},)

    return from_key


IN_TWO_PLACES: Final = "in two places"
"""How complex numbers are seen that lie among numbers of other types: as two numbers, one after the other."""


def taken(whole: Any, places: Any, seen: Any = None) -> Any:
    """What is at flat ``places``; ``seen``: of complex numbers seen as their parts, or of parts as complex numbers."""
    flat = whole.reshape(-1)
    if seen is IN_TWO_PLACES:
        return flat[places] + 1j * flat[places + 1]
    return (flat if seen is None else viewed(flat, seen))[places]


def replaced(whole: Any, places: Any, part: Any, seen: Any = None) -> Any:
    """A copy of ``whole`` with other content at flat ``places``, the last one where they repeat."""
    result = np.array(whole, order="C")
    put(result, places, part, seen)
    return result


def put(whole: Any, places: Any, part: Any, seen: Any) -> None:
    """Store at flat ``places``."""
    flat = whole.reshape(-1)
    if seen is IN_TWO_PLACES:
        flat[places], flat[places + 1] = np.real(part), np.imag(part)
    else:
        shown = flat if seen is None else flat.view(seen)
        # NumPy stores the real part of its own complex numbers, but not of Python's, which a tangent may be.
        shown[places] = np.real(part) if type(part) is complex and shown.dtype.kind == "f" else part


@rrule(replaced)
def replaced_rule(whole: Any, places: Any, part: Any, seen: Any = None) -> Any:
    """What was overwritten gets nothing; what was written gets the cotangent of its place."""
    shape = np.shape(part)

    def replaced_pullback(ȳ: Any) -> Any:
        return replaced(ȳ, places, 0.0, seen), None, stored_cotangent(ȳ, places, shape, seen), None

    return replaced(whole, places, part, seen), replaced_pullback


def scattered(shape: Any, dtype: Any, places: Any, part: Any, seen: Any = None) -> Any:
    """Zeros to which ``part`` is added at flat ``places``, as often as they say."""
    result = np.zeros(shape, dtype)
    flat = result.reshape(-1)
    if seen is IN_TWO_PLACES:
        np.add.at(flat, places, np.real(part))
        np.add.at(flat, places + 1, np.imag(part))
    else:
        np.add.at(flat if seen is None else flat.view(seen), places, part)
    return result


@rrule(scattered)
def scattered_rule(shape: Any, dtype: Any, places: Any, part: Any, seen: Any = None) -> Any:
    """What was added gets the cotangent of its place."""

    def scattered_pullback(ȳ: Any) -> Any:
        return None, None, None, np.asarray(taken(ȳ, places, seen)), None

    return scattered(shape, dtype, places, part, seen), scattered_pullback


def stored_pullback(places: Any, shape: Any, seen: Any) -> Any:
    """The pullback of a store of what has this shape to flat places of a buffer."""

    def store_pullback(ȳ: Any) -> Any:
        return replaced(ȳ, places, 0.0, seen), stored_cotangent(ȳ, places, shape, seen)

    return store_pullback


def taken_pullback(shape: Any, dtype: Any, places: Any, seen: Any) -> Any:
    """The pullback of a read of flat places of a buffer, which repeat where the view is broadcast."""

    def take_pullback(ȳ: Any) -> Any:
        return (scattered(shape, dtype, places, ȳ, seen),)

    return take_pullback


def reshaped_pullback(shape: Any) -> Any:
    """The pullback of another shape for a buffer."""

    def reshape_pullback(ȳ: Any) -> Any:
        return (np.reshape(ȳ, shape),)

    return reshape_pullback


def stored_cotangent(ȳ: Any, places: Any, shape: Any, seen: Any) -> Any:
    """The cotangent of what was broadcast to ``places``."""
    given = np.asarray(taken(ȳ, places, seen) * lasting(places))
    if shape == ():
        return given.sum()
    lead = given.ndim - len(shape)
    axes = [i for i, length in enumerate(shape, lead) if length == 1 and i >= 0 and given.shape[i] != 1]
    return given.sum((*range(lead), *axes)).reshape(shape)


def lasting(places: Any) -> Any:
    """1 for each of ``places`` that no later one repeats, else 0."""
    order = np.arange(np.size(places)).reshape(np.shape(places))
    last: dict[int, int] = {}
    for number, place in enumerate(np.ravel(places).tolist()):
        last[place] = number
    return np.isin(order, list(last.values())).astype(float) if len(last) != order.size else 1.0


def stored_part(out: Any, ufunc: Any, *args: Any, where: Any = True, **options: Any) -> Any:
    """``ufunc(*args, out=out, where=where)``."""
    chosen = np.broadcast_to(np.asarray(where, bool), out.shape)
    # What the class of the array says of stores is not asked.
    held = out if type(out) is np.ndarray else np.ndarray.view(out, np.ndarray)
    held[chosen] = ufunc(*[np.broadcast_to(x, out.shape)[chosen] for x in args], **options)
    return out


def viewed(array: Any, dtype: Any) -> Any:
    """Complex numbers as their parts, or parts as complex numbers."""
    return array.view(dtype)


@rrule(viewed)
def viewed_rule(array: Any, dtype: Any) -> Any:
    """The parts of a cotangent are those of the parts."""

    def viewed_pullback(ȳ: Any) -> Any:
        if array.dtype.kind == "c":
            return ȳ[..., ::2] + 1j * ȳ[..., 1::2], None
        return np.reshape(np.stack((np.real(ȳ), np.imag(ȳ)), -1), array.shape), None

    return viewed(array, dtype), viewed_pullback
