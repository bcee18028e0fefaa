"""Spherical Bessel functions, whose slopes are made of those of neighbouring orders (DLMF 10.51.2 and 10.51.5)."""

import numpy as np
from scipy import special

from autodiff_hook.extend import cotangents
from autodiff_rules.scipy._elementwise import cotangent

IN_ORDER = "a spherical Bessel function with respect to its order"


def spherical(target, of_lower, of_higher):
    """Register the rule of a spherical Bessel function, with the signs of its neighbours in its slope."""

    def in_variable(ȳ, n, z, derivative):
        slope = target(n, z, True)
        if derivative:
            order = np.trunc(n)
            lower, higher = target(np.maximum(order - 1.0, 0.0), z, True), target(order + 1.0, z, True)
            slope = (of_lower * order * lower + of_higher * (order + 1.0) * higher) / (2.0 * order + 1.0)
        return cotangent(ȳ, slope, z)

    cotangents(target, "n, z, derivative=False", 2, n=IN_ORDER, z=in_variable)


spherical(special.spherical_jn, 1.0, -1.0)
spherical(special.spherical_yn, 1.0, -1.0)
spherical(special.spherical_in, 1.0, 1.0)
spherical(special.spherical_kn, -1.0, -1.0)
