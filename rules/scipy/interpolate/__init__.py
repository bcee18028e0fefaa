"""The derivatives of ``scipy.interpolate``, found through the entry point of that name.

SciPy's Python code is followed, down to what is native: evaluation, collocation, banded systems.
"""

from __future__ import annotations

from scipy.interpolate import _fitpack_impl

from autodiff_rules.scipy.interpolate import grids as grids
from autodiff_rules.scipy.interpolate import polynomials as polynomials
from autodiff_rules.scipy.interpolate import splines as splines

# From SciPy 1.18 on, FITPACK is another module with other signatures: without rules, its curves are errors.
if hasattr(_fitpack_impl, "dfitpack"):
    from autodiff_rules.scipy.interpolate import fitpack as fitpack
