"""Comparisons, membership and truth: constants, except that a class may have written them in Python."""

from __future__ import annotations

import builtins
import operator
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, kind, quiet
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.semantics.equivalents import operating
from autodiff_hook.semantics.iteration import get_iter, python_method
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, as_function, means
from autodiff_hook.semantics.methods import apply_method, attempts
from autodiff_hook.semantics.operations import COMPARE, COMPARING_METHODS, MIRRORED

_NUMBERS: Final = frozenset({float, int, bool})


def special(alg: Algebra, method: Any, t: Any, *args: Any) -> Result:
    """Call a special method."""
    return apply(alg, (None, *t), method, args, {})


def compare(alg: Algebra, t: Any, op: str, a: Any, b: Any) -> Result:
    """``a op b``."""
    if type(a) in _NUMBERS and type(b) in _NUMBERS:
        return COMPARE[op](a, b), None
    if not quiet(alg, t):
        for method, reflected in attempts(a, b, COMPARING_METHODS[op], COMPARING_METHODS[MIRRORED[op]], compares=True):
            if method is None:
                break
            value, token = apply_method(alg, t, method, a, b, reflected)
            if value is not NotImplemented:
                return value, token
    return COMPARE[op](a, b), None


def compares_by_code(value: Any) -> bool:
    """Whether comparing ``value`` may run Python code: its own, or that of what is in it."""
    form = kind(value)
    if form in ("tuple", "list"):
        return any([compares_by_code(item) for item in value])
    return form not in ("number", "inert", "array") and python_method(value, "__lt__") is not None


class Compared:
    """What is sorted by the code of its class: ``<`` is carried."""

    __slots__ = ("alg", "token", "value")

    def __init__(self, alg: Algebra, value: Any, token: Any) -> None:
        self.alg, self.value, self.token = alg, value, token

    def __lt__(self, other: Compared) -> bool:
        alg = self.alg
        value, token = compare(alg, (self.token, other.token), "<", self.value, other.value)
        return bool(truth(alg, (token,), None, value)[0])


def truth(alg: Algebra, t: Any, data: Any, value: Any) -> Result:
    """The exact bool that a condition depends on."""
    if value is True or value is False:
        return value, None
    if not quiet(alg, t):
        method = python_method(value, "__bool__")
        if method is not None:
            return checked_bool(special(alg, method, t, value)[0]), None
        method = python_method(value, "__len__") if not has_method(value, "__bool__") else None
        if method is not None:
            return operating.counted(special(alg, method, t, value)[0]) > 0, None
    return bool(value), None


def checked_bool(value: Any) -> bool:
    """What ``__bool__`` returned."""
    if type(value) is not bool:
        raise TypeError(f"__bool__ should return bool, returned {type(value).__name__}")
    return value


def has_method(value: Any, name: str) -> bool:
    """Whether the type of ``value`` has a special method."""
    return find_in_type(type(value), name) is not None


def not_(alg: Algebra, t: Any, data: Any, value: Any) -> Result:
    """``not value``."""
    return not truth(alg, t, data, value)[0], None


def contains(alg: Algebra, t: Any, data: Any, item: Any, container: Any) -> Result:
    """``item in container``."""
    if not quiet(alg, t):
        method = python_method(container, "__contains__")
        if method is not None:
            return bool(special(alg, method, t[::-1], container, item)[0]), None
        if python_method(container, "__iter__") is not None and not has_method(container, "__contains__"):
            for value, _ in get_iter(alg, t[1:], None, container)[0]:
                if value is item or value == item:
                    return True, None
            return False, None
    return item in container, None


def not_contains(alg: Algebra, t: Any, data: Any, item: Any, container: Any) -> Result:
    """``item not in container``."""
    return not contains(alg, t, data, item, container)[0], None


for _op, _function in COMPARE.items():
    means(_function)(as_function(compare, _op))
means(operator.truth)(as_function(truth))
means(operator.not_)(as_function(not_))


@means(operator.contains)
def contains_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    return contains(alg, t[::-1], None, *args[::-1])


@means(bool)
def bool_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    return truth(alg, t, None, args[0]) if args else (False, None)


@means(len)
def len_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    method = python_method(args[0], "__len__") if len(args) == 1 else None
    if method is not None:
        return operating.counted(special(alg, method, t, args[0])[0]), None
    return builtins.len(*args), None
