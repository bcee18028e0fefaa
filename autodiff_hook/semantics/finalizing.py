"""Attributes that ``__array_finalize__`` and ``__array_wrap__`` natively hand on from one array to another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, keep_attribute, kind, known, lose, some
from autodiff_hook.runtime.lookup import dictionary_of
from autodiff_hook.runtime.losses import failure


def has_moving(alg: Algebra, array: Any) -> bool:
    """Whether an array has attributes with tokens."""
    held = None if type(array) is np.ndarray else known(alg, dictionary_of(array))
    return held is not None and some(held.values())


def hands_on(alg: Algebra, array: Any) -> bool:
    """Whether code may find something with a token by the attributes of an array."""
    held = None if type(array) is np.ndarray else dictionary_of(array)
    return bool(held) and reaches(alg, held, names=False)


def note_attributes(alg: Algebra, value: Any, sources: Iterable[Any]) -> None:
    """The attributes of a new array are those of one that it was made of if they are the same objects; else unknown."""
    if type(value) is np.ndarray or kind(value) != "array":
        return
    for source in sources:
        if source is not value and kind(source) == "array" and type(source) is not np.ndarray:
            _note_from(alg, value, source)


def _note_from(alg: Algebra, value: Any, source: Any) -> None:
    before, now = dictionary_of(source) or {}, dictionary_of(value) or {}
    held = known(alg, before) or {}
    made = [name for name, item in now.items() if name not in before or before[name] is not item]
    loses = bool(made) and hands_on(alg, source)
    for name, item in now.items():
        token = None if name in made else held.get(name)
        if loses and name in made:
            lost = failure(f"{type(value).__qualname__}.{name}", _MADE_ANEW)
            token = lose(alg, item, alg.unknown(lost))
        if token is not None:
            keep_attribute(alg, value, name, token)


_MADE_ANEW: Final = "an attribute that NumPy copies to new arrays, and that is made anew by Python code"
