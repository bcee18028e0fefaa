"""Hypergeometric functions with respect to their variable."""

from __future__ import annotations

from scipy import special

from autodiff_rules.scipy._elementwise import binary, last_of_four, ternary

IN_PARAMETERS = "a hypergeometric function with respect to its parameters"


def hyp2f1_z(a, b, c, z, y):
    """DLMF 15.5.1."""
    return a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)


def hyp1f1_z(a, b, z, y):
    """DLMF 13.3.15."""
    return a / b * special.hyp1f1(a + 1.0, b + 1.0, z)


def hyperu_z(a, b, z, y):
    """DLMF 13.3.22."""
    return -a * special.hyperu(a + 1.0, b + 1.0, z)


def hyp0f1_z(v, z, y):
    """DLMF 16.3.1."""
    return special.hyp0f1(v + 1.0, z) / v


last_of_four(special.hyp2f1, IN_PARAMETERS, hyp2f1_z)
ternary(special.hyp1f1, IN_PARAMETERS, IN_PARAMETERS, hyp1f1_z)
ternary(special.hyperu, IN_PARAMETERS, IN_PARAMETERS, hyperu_z)
binary(special.hyp0f1, IN_PARAMETERS, hyp0f1_z)
