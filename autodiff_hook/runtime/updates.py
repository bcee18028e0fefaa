"""Stores into arrays as values: what specialised programs make of ``array[key] = value``."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.registry import LINEAR, frule, registry, rrule
from autodiff_hook.transform.improve.shortcuts import fresh


def updated(array: Any, key: Any, value: Any) -> Any:
    """A copy of ``array``, laid out as it is, in which ``value`` is stored at ``key``."""
    # The cotangent of an array without axes may be a scalar.
    result = array.copy("K") if isinstance(array, np.ndarray) else np.array(array)
    result[key] = value
    return result


def stored_cotangent(cotangent: Any, array: Any, key: Any, value: Any) -> Any:
    """The cotangent of a stored value, summed over what it was broadcast to; None if it is cut off by the store."""
    if type(key) is int and isinstance(value, float) and array.dtype.kind == "f" and array.ndim == 1:
        return float(cotangent[key].real)
    if array.dtype.kind not in "fc" and np.asarray(value).dtype.kind in "fc":
        return None
    whole = np.asarray(cotangent)
    found = sum_to_shape(winners(whole, key, np.array(whole[key])), np.shape(value))
    if np.iscomplexobj(found) and not np.iscomplexobj(value):
        found = found.real
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return np.asarray(found, value.dtype)
    return found.item() if isinstance(value, (int, float)) and not isinstance(value, np.generic) else found


def winners(view: Any, key: Any, taken: Any) -> Any:
    """``taken`` without the entries of repeated indices that later ones overwrote."""
    keys = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(k, (list, np.ndarray)) and np.asarray(k).dtype.kind in "iu" for k in keys):
        return taken
    order = np.arange(taken.size).reshape(taken.shape)
    last = np.zeros(view.shape, int)
    last[key] = order
    return np.where(last[key] == order, taken, 0)


def surviving(cotangents: Any, key: Any, taken: Any) -> Any:
    """``winners``, which looks through all of the array only if places are repeated."""
    keys = key if isinstance(key, tuple) else (key,)
    if all(isinstance(k, (int, np.integer, np.ndarray)) for k in keys):
        places = np.broadcast_arrays(*(np.asarray(k) % n for k, n in zip(keys, cotangents.shape)))
        numbers = np.ravel_multi_index(tuple(places), cotangents.shape[: len(keys)])
        if len(np.unique(numbers)) == numbers.size:
            return taken
    return winners(cotangents, key, taken)


def sum_to_shape(cotangent: Any, shape: tuple[int, ...]) -> Any:
    """A cotangent summed over the axes along which a value of ``shape`` was broadcast."""
    if cotangent.shape == shape != ():
        return cotangent
    lead = cotangent.ndim - len(shape)
    if lead < 0:
        return cotangent.reshape(shape)
    axes = tuple(range(lead)) + tuple(
        lead + i for i, length in enumerate(shape) if length == 1 and cotangent.shape[lead + i] != 1
    )
    summed = cotangent.sum(axis=axes, keepdims=True) if axes else cotangent
    result = summed.reshape(shape)
    return result[()] if shape == () else result


@rrule(updated)
def updated_rule(array: Any, key: Any, value: Any) -> Any:
    def updated_pullback(c: Any) -> Any:
        return updated(c, key, 0.0), None, stored_cotangent(c, array, key, value)

    return updated(array, key, value), updated_pullback


@rrule(stored_cotangent)
def stored_cotangent_rule(cotangent: Any, array: Any, key: Any, value: Any) -> Any:
    def stored_cotangent_pullback(c: Any) -> Any:
        return updated(np.zeros_like(cotangent), key, c), None, None, None

    return stored_cotangent(cotangent, array, key, value), stored_cotangent_pullback


registry.trust(updated_rule)
registry.trust(stored_cotangent_rule)
frule(stored_cotangent, LINEAR)
frule(
    updated,
    lambda ẋ, y, array, key, value: updated(ẋ, key, 0.0),
    None,
    lambda ẋ, y, array, key, value: updated(np.zeros_like(y), key, ẋ),
)
fresh(updated)
