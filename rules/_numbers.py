"""What the rules about numbers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as AnyType

from autodiff_hook.extend import pure
from autodiff_hook.registry import Array, Complex, Real, Rule, nondifferentiable, rrule

REALS = ((Real, Real), (Real, bool), (bool, Real))
COMPLEXES = ((Complex, Complex), (Complex, bool), (bool, Complex))


def binary(*targets: AnyType, signatures: tuple[tuple[AnyType, ...], ...] = REALS) -> Callable[[Rule], Rule]:
    """Register a rule of two numbers for each target; ``x * (y > 0)`` counts: one of them may be a bool."""

    def register(rule: Rule) -> Rule:
        for target in targets:
            for signature in signatures:
                rrule(target, *signature)(rule)
        return rule

    return register


@nondifferentiable
def is_real(x: object) -> bool:
    return Real.contains(type(x)) or isinstance(x, bool)


@nondifferentiable
def is_number(x: object) -> bool:
    return Complex.contains(type(x)) or isinstance(x, bool)


@nondifferentiable
def is_array(x: object) -> bool:
    return Array.contains(type(x))


pure(is_real, is_number, is_array)


def project(x̄, x):
    """The cotangent of a complex function's argument ``x``: real if ``x`` is."""
    return x̄.real if is_real(x) else x̄


def repeated(ȳ, items):
    """``ȳ`` for each of ``items``, in a list for a list and in a tuple for a tuple."""
    return [ȳ] * len(items) if isinstance(items, list) else (ȳ,) * len(items)


def like(cotangents, items):
    """The list ``cotangents`` as a tuple if ``items`` is one."""
    return cotangents if isinstance(items, list) else tuple(cotangents)
