"""Programs whose sub-expressions leave a log, in which the argument takes part: a wrong order is a wrong value."""

from __future__ import annotations

import functools
import itertools
import math
import textwrap
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from autodiff_hook import AutodiffError, gradient, hvp, jvp, pullback
from autodiff_hook.algebras import typed
from autodiff_hook.api import generic_withgradient

POINT = 1.3
_PROGRAM = """
def program(x):
    log = []
    def t(k, v=1.0):
        log.append(k * x)
        return v
    def gen(n, k=1.0):
        for i in range(n):
            log.append(k * x * (i + 2))
            yield x * i
        log.append(x * 100)
    def bad(n):
        for i in range(n):
            log.append(x * (i + 2))
            yield x * (i + 1)
        raise KeyError
    o, b, d, L = Logged(log, x), Box(), {"a": x}, [1.0, x, 2.0]
    b.v, b.l = x, [x, x * x]
    r = 0.0
    BODY
    total = r * 1.0
    for i, v in enumerate(log):
        total = total + (i + 1) * v
    return total
"""


class Box:
    """Attributes."""


class Logged:
    """Each special method says that it was called."""

    def __init__(self, log: list[Any], x: Any) -> None:
        self.log, self.x = log, x

    def __getitem__(self, key: Any) -> Any:
        self.log.append(self.x * 2)
        return self.x

    def __setitem__(self, key: Any, value: Any) -> None:
        self.log.append(self.x * 3)

    def __delitem__(self, key: Any) -> None:
        self.log.append(self.x * 5)

    def __contains__(self, key: Any) -> bool:
        self.log.append(self.x * 7)
        return True

    def __len__(self) -> int:
        self.log.append(self.x * 11)
        return 2

    def __enter__(self) -> Logged:
        self.log.append(self.x * 17)
        return self

    def __exit__(self, *error: Any) -> None:
        self.log.append(self.x * 19)

    def __iter__(self) -> Any:
        self.log.append(self.x * 29)
        for i in range(3):
            self.log.append(self.x * (31 + i))
            yield self.x * i

    @property
    def p(self) -> Any:
        self.log.append(self.x * 47)
        return self.x

    @p.setter
    def p(self, value: Any) -> None:
        self.log.append(self.x * 53 + value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self.log.append(self.x * 59)
        return lambda *a: sum(a) * 1.0

    def m(self, *args: Any) -> Any:
        self.log.append(self.x * 61)
        return self.x


def program(body: str) -> Callable[[float], float]:
    """The function that runs ``body`` and adds up ``r`` and its log."""
    text = _PROGRAM.replace("    BODY\n", textwrap.indent(textwrap.dedent(body).strip() + "\n", "    "))
    namespace = {
        **{"__name__": __name__, "Box": Box, "Logged": Logged},
        **{"math": math, "itertools": itertools, "functools": functools},
    }
    exec(compile(text, f"<{body.strip()}>", "exec"), namespace)
    made: Callable[[float], float] = namespace["program"]  # type: ignore[assignment]
    return made


def differences(f: Callable[[float], float]) -> tuple[float, Any, Any]:
    """The value of a program, and its first and second derivatives, approximately."""
    step = 1e-4
    value, above, below = f(POINT), f(POINT + step), f(POINT - step)
    first = pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-6)
    return value, first, pytest.approx((above - 2 * value + below) / step**2, rel=1e-3, abs=1e-3)


def check_order(f: Callable[[float], float]) -> None:
    """Value and derivative are right on all paths."""
    value, first, _ = differences(f)
    for _ in range(2):
        assert gradient(f, POINT) == (first,)
    with patch.object(typed, "GENERIC", True):
        assert generic_withgradient(f, POINT) == (pytest.approx(value), (first,))
    assert jvp(f, (POINT,), (1.0,)) == (pytest.approx(value), first)


def check_second(f: Callable[[float], float]) -> None:
    """``pullback`` is right, and ``hvp`` is, or says what it does not differentiate."""
    value, first, second = differences(f)
    found, back = pullback(f, POINT)
    assert found == pytest.approx(value) and back(1.0) == (first,)
    try:
        assert hvp(f, (POINT,), (1.0,)) == (second,)
    except AutodiffError as error:
        assert "stored what carries a derivative and then raised" in str(error)
