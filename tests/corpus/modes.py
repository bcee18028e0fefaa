"""The ways in which each program is differentiated. What is wrong raises AssertionError, or is what left the engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

import autodiff_hook as ad
from autodiff_hook.algebras import typed as typed_calls
from autodiff_hook.api import generic_withgradient
from autodiff_hook.runtime import specialising
from corpus.differences import another_point, curvatures, directions, plain, point, slopes
from corpus.registry import Program
from corpus.vectors import filled, numbers, single, tangents

_CALLS = 3


def _compare(found: Sequence[float], expected: Sequence[float], rtol: float, atol: float) -> None:
    assert len(found) == len(expected), f"{found} instead of {expected}"
    size = max((abs(x) for x in expected if not math.isnan(x)), default=0.0)
    for a, b in zip(found, expected):
        assert math.isnan(b) or math.isclose(a, b, rel_tol=rtol, abs_tol=atol * (1 + size)), (
            f"{found} instead of {expected}"
        )


def _is_gradient(
    program: Program, grads: tuple[Any, ...], at: tuple[float, ...] | None = None, times: float = 1.0
) -> None:
    args = program.make()
    expected = [times * x for x in slopes(program, point(program) if at is None else at)]
    rtol = 1e-4 if single(args) else 1e-5
    _compare(numbers(grads, args), expected, rtol, 1e-3 * rtol)


def _is_value(program: Program, value: Any) -> None:
    _compare([float(value)], [float(program.function(*program.make()))], 1e-12, 1e-15)


def typed(program: Program) -> None:
    """``gradient`` as it is, several times: the later calls enter what the earlier ones have made."""
    for _ in range(_CALLS):
        _is_gradient(program, ad.gradient(program.function, *program.make()))
    value, grads = ad.withgradient(program.function, *program.make())
    _is_value(program, value)
    _is_gradient(program, grads)


@contextmanager
def _one_way() -> Iterator[None]:
    """Every program is followed on the way that it takes, and no other program is left over."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(specialising, "ONE_WAY", True)
        specialising.forget()
        try:
            yield
        finally:
            specialising.forget()


def path(program: Program) -> None:
    """Specialised on the one way that the call takes."""
    with _one_way():
        for _ in range(_CALLS):
            _is_gradient(program, ad.gradient(program.function, *program.make()))


@contextmanager
def _types_hidden() -> Iterator[None]:
    """Nothing is specialised, neither the program nor what it calls."""
    with patch.object(typed_calls, "GENERIC", True):
        yield


def carried(program: Program) -> None:
    """Types hidden: what carries derivatives is found out as the program runs."""
    with _types_hidden():
        for _ in range(2):
            value, grads = generic_withgradient(program.function, *program.make())
            _is_value(program, value)
            _is_gradient(program, grads)


def pullback(program: Program) -> None:
    """Called twice, and interleaved with another pullback of the program at another point."""
    near = another_point(program)
    _, back = ad.pullback(program.function, *program.make())
    try:
        plain(program, near)
    except Exception:  # outside of the domain
        near = point(program)
    _, other = ad.pullback(program.function, *filled(program.make(), iter(near)))
    _is_gradient(program, back(1.0))
    if program.expected is None:
        _is_gradient(program, other(1.0), near)
    _is_gradient(program, back(3.0), times=3.0)


def jvp(program: Program) -> None:
    """Directional derivatives are products of the direction with the gradient."""
    at = point(program)
    gradient = slopes(program, at)
    for v in directions(len(at)):
        args = program.make()
        value, derivative = ad.jvp(program.function, args, tuple(tangents(x, w) for w in (iter(v),) for x in args))
        _is_value(program, value)
        rtol = 1e-4 if single(args) else 1e-5
        _compare([float(derivative)], [math.fsum(a * b for a, b in zip(gradient, v))], rtol, 1e-3 * rtol)


def hvp(program: Program) -> None:
    """Products of the Hessian with a direction."""
    at = point(program)
    (v, _) = directions(len(at))
    args = program.make()
    found = ad.hvp(program.function, args, tuple(tangents(x, w) for w in (iter(v),) for x in args))
    _compare(numbers(found, program.make()), curvatures(program, at, v), 1e-3, 1e-5)


RUN: dict[str, Callable[[Program], None]] = {run.__name__: run for run in (typed, path, carried, pullback, jvp, hvp)}
