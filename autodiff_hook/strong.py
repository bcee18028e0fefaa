"""Products whose zeros are strong: zero times what is infinite or nan is zero.

Rules whose local derivative may be infinite or nan write products of it and the cotangent with these. What is zero in
the cotangent stays zero then; and because the tangent of forward mode meets the same factors in another order, so does
what is zero in the derivative. Typed programs have plain products in their place, and look whether a gradient is nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, Final

import numpy as np

from autodiff_hook.tangent import Tangent


def times(cotangent: Any, derivative: Any) -> Any:
    """``cotangent * derivative``, but zero wherever one of them is exactly zero.

    >>> times(0.0, float("inf")), times(0.5, float("inf")), times(0.5, 4.0)
    (0.0, inf, 2.0)
    """
    if type(cotangent) is float and type(derivative) is float:
        product = cotangent * derivative
        return product if product == product or cotangent and derivative else 0.0
    product = cotangent * derivative
    return product if is_plain(product) else _zeroed(product, (cotangent == 0) | (derivative == 0))


def over(cotangent: Any, divisor: Any) -> Any:
    """``cotangent / divisor``, but zero wherever the cotangent is exactly zero, or the divisor infinite.

    >>> with quietly():
    ...     over(np.array([0.0, 3.0]), np.array([0.0, 2.0]))
    array([0. , 1.5])
    """
    if type(cotangent) is float and type(divisor) is float:
        quotient = cotangent / divisor if cotangent else 0.0
        return quotient if quotient == quotient or not math.isinf(divisor) else 0.0
    quotient = cotangent / divisor
    return quotient if is_plain(quotient) else _zeroed(quotient, (cotangent == 0) | np.isinf(divisor))


def contraction(product: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """``product(a, b)``, a bilinear sum of products of real arrays, without the terms in which one factor is zero.

    One of the two is a cotangent; the other one may hold what is infinite or nan.

    >>> with quietly():
    ...     contraction(np.dot, np.array([[0.0, 1.0]]), np.array([[np.inf], [2.0]]))
    array([[2.]])
    """
    plain = product(a, b)
    return plain if is_plain(plain) else with_value(plain, skipping(product, a, b))


def quietly() -> np.errstate:
    """While a derivative is computed NumPy does not warn of what is infinite or nan in it: the primal has done so."""
    return np.errstate(divide="ignore", invalid="ignore")


def is_plain(value: Any) -> bool:
    """Whether nothing in a value is nan."""
    if isinstance(value, np.ndarray):
        kind = value.dtype.kind
        if kind not in "fc":
            return True
        # A sum of squares is infinite, and not nan, if it is too large; and no warning is given.
        row = value if value.ndim == 1 else value.ravel("K")
        value = row.dot(row) if kind == "f" and row.__class__ is np.ndarray else np.vdot(row, row)
    return bool(value == value)


def has_nan(value: Any) -> bool:
    """Whether a number or array is nan, or what lies in tuples, lists, dicts and tangents, in circles or not."""
    pending, seen = [value], set[int]()
    while pending:
        part = pending.pop()
        cls = type(part)
        if cls is float:
            if part != part:
                return True
        elif cls is Tangent and len(part) <= _FEW and id(part) not in seen:
            seen.add(id(part))
            pending += part._fields.values()
        elif isinstance(part, _WHOLE):
            if id(part) not in seen:
                seen.add(id(part))
                pending += _parts(part)
        elif isinstance(part, (float, complex, np.generic, np.ndarray)) and not is_plain(part):
            return True
    return False


def _parts(whole: Any) -> Iterable[Any]:
    if isinstance(whole, Tangent):
        whole = whole._fields
    items = whole.values() if isinstance(whole, dict) else whole
    kinds = {*map(type, items)}
    if len(kinds) == 1 and type(whole) in _INSIDE and (inside := _INSIDE.get(*kinds)) is not None:
        items = [*chain.from_iterable(map(inside, items))]
        kinds = {*map(type, items)}
    if kinds <= _NUMBERS and (total := sum(filter(None, items))) == total:
        return ()
    return items


_FEW: Final = 8
"""How many numbers are looked at one by one."""
_WHOLE: Final = (tuple, list, dict, Tangent)
_NUMBERS: Final = frozenset({float, int, type(None)})
_INSIDE: Final[dict[type, Callable[[Any], Iterable[Any]]]] = {
    **{list: iter, tuple: iter, dict: dict.values},
    Tangent: lambda x: x._fields.values(),
}
"""What is in the items of a list or a dict: many small ones are looked at together."""


def skipping(product: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """A bilinear sum of products without the terms in which one factor is zero."""

    def finite(x: Any) -> Any:
        return np.where(np.isfinite(x), x, 0.0)

    def count(x: Any, y: Any) -> Any:
        return product(np.asarray(x, float), np.asarray(y, float))

    total = product(finite(a), finite(b))
    if np.iscomplexobj(total):
        lost = count(a != 0, ~np.isfinite(b)) + count(~np.isfinite(a), b != 0)
        return np.where(lost > 0, np.nan, total)
    undefined = count(np.isnan(a), b != 0) + count(a != 0, np.isnan(b))
    signs = ((a > 0, b > 0), (a < 0, b < 0)), ((a > 0, b < 0), (a < 0, b > 0))
    wide = [sum(count(x & np.isinf(a), y) + count(x, y & np.isinf(b)) for x, y in pairs) for pairs in signs]
    total = np.where(wide[0] > 0, np.inf, total)
    total = np.where(wide[1] > 0, np.where(wide[0] > 0, np.nan, -np.inf), total)
    return np.where(undefined > 0, np.nan, total)


def with_value(plain: Any, value: Any) -> Any:
    """``value``, whose derivatives are those of ``plain``."""
    return value


def _zeroed(product: Any, zero: Any) -> Any:
    if isinstance(product, np.ndarray):
        return np.where((product != product) & zero, product.dtype.type(0), product)
    return type(product)(0) if zero else product


PLAIN: Final[dict[Any, str]] = {times: "*", over: "/"}
"""The operators that these are where nothing is infinite or nan."""
