"""Sums, products and quotients of real numbers, and of an array and a constant number.

Their partial derivatives are numbers again, which the level below carries. They are most of what loops over numbers
do, and need no rule, no pullback and no transpose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.levels import Pair, parted
from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.semantics.operations import BINARY
from autodiff_hook.strong import times

REAL: Final = frozenset({float, int, np.float64})


PARTIALS: Final[dict[str, Callable[[Any, Any, Any], tuple[Any, Any]]]] = {
    "+": lambda a, b, value: (1.0, 1.0),
    "-": lambda a, b, value: (1.0, -1.0),
    "*": lambda a, b, value: (b, a),
    "/": lambda a, b, value: (1.0 / b, -value / b),
}


def scale_of(t: Any, op: str, a: Any, b: Any) -> Any:
    """The number that tangents are multiplied by in ``a op b`` of an array of floats and a constant number, or None."""
    if t[1] is None:
        array, number, by = a, b, 1.0
    elif t[0] is None:
        array, number, by = b, a, -1.0
    else:
        return None
    if type(array) is not np.ndarray or type(number) not in REAL or array.dtype.char != "d" or not array.ndim:
        return None
    return number if op == "*" else by if op == "-" else 1.0 if op == "+" else None


def arithmetic(alg: Algebra, t: Any, op: str, a: Any, b: Any) -> Result:
    """``a op b`` of numbers, at any level."""
    below = alg.over
    (first, s), (second, u) = parted(alg, t[0]), parted(alg, t[1])
    moves = first is not None or second is not None
    if below is None:
        value = BINARY[op](a, b)
        return value, alg.linear(PARTIALS[op](a, b, value), (first, second)) if moves else None
    value, token = _below(below, s, u, op, a, b)
    if not moves:
        return value, token
    if op == "*":
        partials: Any = (b, u), (a, s)
    elif op == "/":
        inverse, v = _below(below, None, u, "/", 1.0, b)
        slope, w = _below(below, token, v, "*", value, inverse)
        partials = (inverse, v), _below(below, None, w, "*", -1.0, slope)
    else:
        partials = tuple([(partial, None) for partial in PARTIALS[op](a, b, value)])
    return value, Pair(alg, alg.linear(partials, (first, second)), token)


def _below(alg: Algebra, s: Any, u: Any, op: str, a: Any, b: Any) -> Result:
    return (BINARY[op](a, b), None) if s is None and u is None else arithmetic(alg, (s, u), op, a, b)


def scaled(alg: Algebra, partial: Result, given: Result) -> Result:
    """A cotangent or tangent times a partial derivative, with their tokens; zero stays zero."""
    value, token = _below(alg, partial[1], given[1], "*", partial[0], given[0])
    return value if value == value else times(given[0], partial[0]), token


def summed(alg: Algebra, a: Result, b: Result) -> Result:
    """The sum of two numbers, with their tokens."""
    return _below(alg, a[1], b[1], "+", a[0], b[0])
