"""How many items the result of a library's function has: as many as in the example, if other lengths give as many."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Final, TypeGuard

import numpy as np

from autodiff_hook.runtime.native import package_of
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.trying import example_for, tried
from autodiff_hook.transform.specialise.wording import named


def has_count(value: Abstract) -> TypeGuard[Tuple]:
    """Whether a result is a tuple or a list, the number of whose items may depend on the lengths of arrays."""
    return isinstance(value, Tuple) and value.cls in (tuple, list)


def require_count(
    run: Callable[..., Any], types: list[Abstract], named_types: dict[str, Abstract], result: Abstract
) -> None:
    """Refuse a tuple or a list that has another number of items where arrays have other lengths, or more axes."""
    arrays = [t for t in (*types, *named_types.values()) if isinstance(t, Array)]
    if not has_count(result) or not arrays or package_of(getattr(run, "__objclass__", run)) not in _CHECKING:
        return
    counts = set()
    for change in (_shorter, _longer, *([_deeper] if any(t.ndim is None for t in arrays) else ())):
        with contextlib.suppress(Refused):
            options = {k: change(t) for k, t in named_types.items()}
            counts.add(_counts(tried(run, list(map(change, types)), options)))
    if counts != {_counts(result.example)}:
        raise Refused(f"a call of {named(run)}, whose result may have another length")


_CHECKING: Final = ("numpy", "builtins")
"""Packages whose functions look at the lengths of what they are given: compiled code of others reads beyond the end."""


def _counts(value: Any) -> Any:
    """How many items a tuple or a list has, and these."""
    return tuple(map(_counts, value)) if type(value) in (tuple, list) else None


def _shorter(value: Abstract) -> Any:
    """An example of a value; of an array, one that is shorter along all axes that allow it."""
    example = example_for(value)
    return example[tuple([slice(max(n - 1, 1)) for n in example.shape])] if isinstance(value, Array) else example


def _deeper(value: Abstract) -> Any:
    """An example of a value; of an array that may have any number of axes, one that has one more."""
    example = example_for(value)
    return example[None] if isinstance(value, Array) and value.ndim is None else example


def _longer(value: Abstract) -> Any:
    """An example of a value; of an array, one that is longer along its short axes, or else along the first."""
    example = example_for(value)
    if not isinstance(value, Array) or not np.ndim(example):
        return example
    if min(example.shape) > 1:
        return np.concatenate([example, example])
    return np.resize(example, [max(n, 2) for n in example.shape])
