"""Radial basis functions: what ``RBFInterpolator`` leaves to native code; ``y`` are its centres, ``x`` the points."""

import numpy as np
from scipy.interpolate import _rbfinterp_pythran

from autodiff_rules.scipy._standins import define, part_natively, settled, stand_in


def distance(squares):
    """The root, which has no derivative at a centre; the kernels have: zero, but for the linear one."""
    return np.where(squares == 0.0, 0.0, np.sqrt(np.where(squares == 0.0, 1.0, squares)))


KERNELS = {
    "linear": lambda s: -distance(s),
    "thin_plate_spline": lambda s: 0.5 * s * np.log(np.where(s == 0.0, 1.0, s)),
    "cubic": lambda s: s * distance(s),
    "quintic": lambda s: -s * s * distance(s),
    "multiquadric": lambda s: -np.sqrt(s + 1.0),
    "inverse_multiquadric": lambda s: 1.0 / np.sqrt(s + 1.0),
    "inverse_quadratic": lambda s: 1.0 / (s + 1.0),
    "gaussian": lambda s: np.exp(-s),
}
"""Of squared distances."""


def kernels(x, y, kernel, epsilon):
    steps = (x * epsilon)[:, None] - (y * epsilon)[None]
    return KERNELS[kernel](np.sum(steps * steps, -1))


def monomials(x, powers):
    return np.prod(x[:, None] ** powers, -1)


@stand_in(_rbfinterp_pythran._polynomial_matrix)
def polynomial_matrix(x, powers):
    return monomials(x, powers)


@stand_in(_rbfinterp_pythran._build_evaluation_coefficients)
def evaluation_coefficients(x, y, kernel, epsilon, powers, shift, scale):
    """The matrix (points, centres + monomials) that the coefficients are multiplied with."""
    return np.hstack([kernels(x, y, kernel, epsilon), monomials((x - shift) / scale, powers)])


def system(y, d, smoothing, kernel, epsilon, powers):
    """Matrix (n, n) and right side of the coefficients, with n centres and monomials, and how the places are scaled."""
    least, most = np.min(y, 0), np.max(y, 0)
    shift, scale = (most + least) / 2.0, (most - least) / 2.0
    scale = np.where(scale == 0.0, 1.0, scale)
    polynomials = monomials((y - shift) / scale, powers)
    count, zeros = len(powers), np.zeros((len(powers), d.shape[1]))
    upper = np.hstack([kernels(y, y, kernel, epsilon) + np.diag(smoothing), polynomials])
    lower = np.hstack([polynomials.T, np.zeros((count, count))])
    return np.vstack([upper, lower]), np.vstack([d, zeros]), shift, scale


def built_system(*args):
    native = _rbfinterp_pythran._build_system
    matrix, right, shift, scale = system(*args)
    return (
        settled(matrix, part_natively(native, args, 0)),
        settled(right, part_natively(native, args, 1)),
        settled(shift, part_natively(native, args, 2)),
        settled(scale, part_natively(native, args, 3)),
    )


define(_rbfinterp_pythran._build_system, built_system)
