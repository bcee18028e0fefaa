"""The derivatives of ``scipy.interpolate``, found through the entry point of that name.

SciPy's Python code is followed, down to what is native: evaluation, collocation, banded systems.
"""

from __future__ import annotations

from autodiff_rules.scipy.interpolate import fitpack as fitpack
from autodiff_rules.scipy.interpolate import grids as grids
from autodiff_rules.scipy.interpolate import polynomials as polynomials
from autodiff_rules.scipy.interpolate import splines as splines
