"""Legendre functions and spherical harmonics with respect to their variables, of whole degrees and orders."""

import numpy as np
from scipy import special

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, elementwise
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._elementwise import cotangent

HIGHEST = 2
IN_DEGREE = "scipy.special.lpmv with respect to its degree or order"


def lpmv_slope(m, v, x, y):
    """DLMF 14.10.5; at the ends only that of order 0 is finite for all degrees."""
    ends = np.abs(x) == 1.0
    if np.any(ends & (np.asarray(m) != 0.0)):
        raise NotDifferentiable("scipy.special.lpmv of an order other than 0 at -1 or 1")
    apart = np.where(ends, 1.0, (1.0 - x) * (1.0 + x))
    inner = ((m + v) * special.lpmv(m, v - 1.0, x) - v * x * y) / apart
    return np.where(ends, 0.5 * v * (v + 1.0) * np.where(x > 0.0, 1.0, -np.cos(np.pi * v)), inner)


elementwise(special.lpmv, m=IN_DEGREE, v=IN_DEGREE, x=lpmv_slope)


def derivatives(target, args, options):
    """What the function gives with one order of derivatives more."""
    order = options.get("diff_n", 0)
    if order >= HIGHEST:
        raise NotDifferentiable(f"scipy.special.{target.__name__} gives derivatives up to order {HIGHEST}")
    return target(*args, **{**options, "diff_n": order + 1})


def slopes(target, args, options):
    """Of what has the value and its derivatives along the first axis."""
    return derivatives(target, args, options)[1:]


def of_degree(target):
    cotangents(
        target, "n, z, **options", 2, z=lambda ȳ, n, z, options: cotangent(ȳ, slopes(target, (n, z), options), z)
    )


def of_degree_and_order(target):
    cotangents(
        target,
        "n, m, z, **options",
        3,
        z=lambda ȳ, n, m, z, options: cotangent(ȳ, slopes(target, (n, m, z), options), z),
    )


def harmonics(target):
    """Spherical harmonics, and the tensors of their derivatives by both angles, whose last axis is the newest."""

    @cotangents(target, "n, m, theta, phi, **options", 4, "theta, phi")
    def harmonics_cotangents(ȳ, n, m, theta, phi, options):
        parts = derivatives(target, (n, m, theta, phi), options)[1:]
        given = ȳ if isinstance(ȳ, tuple) else (ȳ,)
        return in_angle(given, parts, 0, theta), in_angle(given, parts, 1, phi)


def in_angle(given, parts, i, angle):
    total = None
    for order, (c, slope) in enumerate(zip(given, parts)):
        if c is not None:
            term = np.sum(np.real(c * np.conj(slope[..., i])), tuple(range(-order, 0)))
            total = term if total is None else total + term
    return None if total is None else unbroadcast(total, angle)


for _function in (special.legendre_p, special.legendre_p_all):
    of_degree(_function)
for _name in ("assoc_legendre_p", "sph_legendre_p"):
    of_degree_and_order(getattr(special, _name))
    of_degree_and_order(getattr(special, f"{_name}_all"))
for _function in (special.sph_harm_y, special.sph_harm_y_all):
    harmonics(_function)
