"""Attributes that ``__array_finalize__`` and ``__array_wrap__`` natively hand on from one array to another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autodiff_hook.algebras.shadows import Algebra, keep_attribute, kind, known, lose, some
from autodiff_hook.runtime.losses import failure


def hands_on(alg: Algebra, array: Any) -> bool:
    """Whether an array has attributes with tokens."""
    held = known(alg, getattr(array, "__dict__", None)) if type(array) is not np.ndarray else None
    return held is not None and some(held.values())


def note_attributes(alg: Algebra, value: Any, sources: Iterable[Any]) -> None:
    """The attributes of a new array are those of one that it was made of if they are the same objects; else unknown."""
    if type(value) is np.ndarray or kind(value) != "array":
        return
    for source in sources:
        if source is not value and kind(source) == "array" and hands_on(alg, source):
            _note_from(alg, value, source)


def _note_from(alg: Algebra, value: Any, source: Any) -> None:
    before, held = source.__dict__, known(alg, source.__dict__)
    for name, item in getattr(value, "__dict__", {}).items():
        token = held.get(name)
        if before.get(name) is not item or name not in before:
            reason = "an attribute that NumPy copies to new arrays, and that is made anew by Python code"
            token = lose(alg, item, alg.unknown(failure(f"{type(value).__qualname__}.{name}", reason)))
        if token is not None:
            keep_attribute(alg, value, name, token)
