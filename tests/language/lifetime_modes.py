"""The ways in which the tests of lifetimes differentiate a function of one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from autodiff_hook import gradient, jvp, pullback
from autodiff_hook.algebras import typed as typed_calls
from autodiff_hook.api import generic_withgradient

AT, STEP = 1.7, 1e-6


def slope(f: Callable[[float], float]) -> float:
    return (f(AT + STEP) - f(AT - STEP)) / (2 * STEP)


def carried(f: Any) -> list[float]:
    with patch.object(typed_calls, "GENERIC", True):
        return [generic_withgradient(f, AT)[1][0]]


def _pulled_twice(f: Any) -> list[float]:
    _, back = pullback(f, AT)
    return [back(1.0)[0], back(1.0)[0]]


def _twice_differentiated(f: Any) -> list[float]:
    jvp(lambda x: gradient(f, x)[0], (AT,), (1.0,))
    return []


MODES: dict[str, Callable[[Any], list[float]]] = {
    "typed": lambda f: [gradient(f, AT)[0]],
    "carried": carried,
    "pullback": _pulled_twice,
    "jvp": lambda f: [jvp(f, (AT,), (1.0,))[1]],
    "hvp": _twice_differentiated,
}
"""Each gives the derivatives that it finds, which are all the same."""
