"""What the rules about numbers share."""

from __future__ import annotations

import sys

import numpy as np

from autodiff_hook.extend import pure, shortcut
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.signatures import Array, Complex, Exact, Kind, Real


def _is_truth(cls: type) -> bool:
    return cls is bool or cls is getattr(sys.modules.get("numpy"), "bool_", None)


Truth = Kind("Truth", 1, _is_truth)
"""What a comparison of numbers gives, which is a factor in ``x * (y > 0)``."""
_COMPLEX = (complex, np.complexfloating)
REALS = ((Real, Real), (Real, Truth), (Truth, Real))
COMPLEXES = ((Complex, Complex), (Complex, Truth), (Truth, Complex))


@nondifferentiable
def is_real(x: object) -> bool:
    return isinstance(x, bool) or Real.contains(type(x)) or Exact.contains(type(x))


@nondifferentiable
def is_number(x: object) -> bool:
    return Complex.contains(type(x)) or isinstance(x, bool)


@nondifferentiable
def is_array(x: object) -> bool:
    return Array.contains(type(x))


pure(is_real, is_number, is_array)


def project(x̄, x):
    """The cotangent of a complex function's argument ``x``: real if ``x`` is."""
    return x̄ if isinstance(x, _COMPLEX) else x̄.real


@shortcut(project)
def project_shortcut(site, x̄, x):
    types = getattr(site.fact(x), "types", None)
    return x̄ if types == {complex} else site.emit("getattr", x̄, data="real") if types == {float} else None


def repeated(ȳ, items):
    """``ȳ`` for each of ``items``, in a list for a list and in a tuple for a tuple."""
    return [ȳ] * len(items) if isinstance(items, list) else (ȳ,) * len(items)


def like(cotangents, items):
    """The list ``cotangents`` as a tuple if ``items`` is one."""
    return cotangents if isinstance(items, list) else tuple(cotangents)
