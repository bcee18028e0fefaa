"""The derivatives of ``scipy.integrate``, found through the entry point of that name."""

from __future__ import annotations

from autodiff_rules.scipy.integrate import explicit as explicit
from autodiff_rules.scipy.integrate import lsoda as lsoda
from autodiff_rules.scipy.integrate import quadrature as quadrature
