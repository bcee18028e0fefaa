"""Spherical Bessel functions, whose second derivatives are those of DLMF 10.47.1 and 10.47.2."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_hook.registry import not_implemented
from autodiff_rules.numpy._shared import array_rrule
from autodiff_rules.scipy._elementwise import cotangent

IN_ORDER = "a spherical Bessel function with respect to its order"


def spherical(target, sign):
    """Register the rule of a spherical Bessel function (``sign`` -1) or a modified one (+1)."""

    def spherical_rule(n, z, derivative=False):
        def spherical_pullback(ȳ):
            slope = target(n, z, True)
            if derivative:
                whole = np.trunc(n)
                slope = (sign + whole * (whole + 1.0) / (z * z)) * target(n, z) - 2.0 / z * slope
            return not_implemented(IN_ORDER), cotangent(ȳ, slope, z), None

        return target(n, z, derivative), spherical_pullback

    array_rrule(target, 2)(spherical_rule)


spherical(special.spherical_jn, -1.0)
spherical(special.spherical_yn, -1.0)
spherical(special.spherical_in, 1.0)
spherical(special.spherical_kn, 1.0)
