"""``Rotation``: the compiled functions of quaternions that its methods call.

Quaternions need not have unit length there: what a function gives for others has its own derivative, too.
"""

import numpy as np
from scipy.spatial.transform import _rotation, _rotation_xp
from scipy.spatial.transform import _rotation_cy as compiled

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import Array, Real, cotangents, fresh, linear
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_rules._definitions import defines, follow_instead
from autodiff_rules.numpy._shared import reshaped, unbroadcast
from autodiff_rules.scipy._array_api import only_looks
from autodiff_rules.scipy._metrics import root
from autodiff_rules.scipy._quaternions import (
    CONJUGATE,
    READ,
    axes_of_turns,
    cross_matrix,
    dot,
    joined,
    left_cotangent,
    length,
    matrix_cotangent,
    matrix_of,
    parts,
    quaternion_cotangent,
    right_cotangent,
    times_vector,
    turning,
)
from autodiff_rules.scipy._standins import natively, settled

ONE, TWO = ((Array,),), ((Array, Array),)
SMALL = 1e-4


@cotangents(compiled.from_quat, "quat, normalize=True, copy=True, scalar_first=False", ONE)
def from_quat_cotangent(ȳ, y, quat, normalize, scalar_first):
    c = (ȳ - y * dot(y, ȳ)) / length(quat) if normalize else ȳ
    return np.roll(c, 1, -1) if scalar_first else c


@cotangents(compiled.as_quat, "quat, canonical=False, *, scalar_first=False", ONE)
def as_quat_cotangent(ȳ, y, quat, scalar_first):
    c, y = (np.roll(ȳ, -1, -1), np.roll(y, -1, -1)) if scalar_first else (ȳ, y)
    return np.where(dot(y, quat) < 0, -c, c)


cotangents(compiled.as_matrix, "quat", ONE, quat=lambda ȳ, quat: matrix_cotangent(ȳ, quat))
linear(compiled.inv, "quat", lambda ȳ: ȳ * CONJUGATE, kinds=ONE)


@cotangents(compiled.apply, "quat, vectors, inverse=False", TWO, "quat, vectors")
def apply_cotangents(ȳ, quat, vectors, inverse):
    turned, fixed = (vectors, ȳ) if inverse else (ȳ, vectors)
    q̄ = matrix_cotangent(turned[..., :, None] * fixed[..., None, :], quat)
    matrices = matrix_of(quat)
    back = matrices if inverse else np.swapaxes(matrices, -1, -2)
    return unbroadcast(q̄, quat), unbroadcast(times_vector(back, ȳ), vectors)


def product(p, q):
    return np.asarray(compiled.compose_quat(p, q))


@cotangents(product, "p, q", TWO, "p, q")
def product_cotangents(ȳ, p, q):
    return unbroadcast(left_cotangent(ȳ, q), p), unbroadcast(right_cotangent(ȳ, p), q)


@defines(compiled.compose_quat)
def compose_quat(p, q):
    """What is compiled returns a memory view."""
    return product(p, q)


def rotvec_factors(u):
    """sin(θ/2) / θ of the square of an angle, and its derivative."""
    small = u < SMALL
    square = np.where(small, 1.0, u)
    angle = np.sqrt(square)
    scale = np.where(small, 0.5 - u / 48.0 + u * u / 3840.0 - u * u * u / 645120.0, np.sin(0.5 * angle) / angle)
    exact = 0.5 * (0.5 * np.cos(0.5 * angle) - scale) / square
    return scale, np.where(small, -1.0 / 48.0 + u / 1920.0 - u * u / 215040.0, exact)


@cotangents(compiled.from_rotvec, "rotvec, degrees=False", ONE)
def from_rotvec_cotangent(ȳ, y, rotvec, degrees):
    """By the square of the angle, which has derivatives of all orders at 0, as the angle has not."""
    v = np.deg2rad(rotvec) if degrees else rotvec
    c, real = parts(ȳ)
    scale, slope = rotvec_factors(dot(v, v))
    v̄ = scale * c + (2.0 * slope * dot(v, c) - 0.5 * scale * real) * v
    return np.deg2rad(v̄) if degrees else v̄


def angle_factors(u, w):
    """For a vector part of square length u and a real part w > 0: the angle by sin(θ/2), and (s - w θ/2) / s³."""
    t = u / (w * w)
    small = t < SMALL
    square = np.where(small, 1.0, u)
    s = np.sqrt(square)
    half = np.arctan2(s, w)
    n = np.sqrt(u + w * w)
    series = 1.0 - t / 3.0 + t * t / 5.0 - t * t * t / 7.0
    rest = (1.0 / 3.0 - t / 5.0 + t * t / 7.0 - t * t * t / 9.0) / (w * w)
    return np.where(small, 2.0 * n / w * series, 2.0 * half * n / s), np.where(
        small, rest, (s - half * w) / (square * s)
    )


@cotangents(compiled.as_rotvec, "quat, degrees=False", ONE)
def as_rotvec_cotangent(ȳ, y, quat, degrees):
    v, w = parts(quat)
    flipped = (w < 0) | (dot(y, v) < 0)
    v, w = np.where(flipped, -v, v), np.where(flipped, -w, w)
    c = np.rad2deg(ȳ) if degrees else ȳ
    u = dot(v, v)
    scale, rest = angle_factors(u, w)
    along = 2.0 * dot(v, c) * rest / np.sqrt(u + w * w)
    q̄ = joined(scale * c + along * w * v, -along * u)
    return np.where(flipped, -q̄, q̄)


@cotangents(compiled.magnitude, "quat", ONE)
def magnitude_cotangent(ȳ, y, quat):
    v, w = parts(quat)
    s = length(v)
    c = 2.0 * ȳ[..., None] / dot(quat, quat)
    direction = np.where(s == 0, 0.0, v) / np.where(s == 0, 1.0, s)
    return joined(c * np.abs(w) * direction, -c * s * np.sign(w))


@cotangents(compiled.from_mrp, "mrp", ONE)
def from_mrp_cotangent(ȳ, y, mrp):
    c, real = parts(ȳ)
    divisor = 1.0 + dot(mrp, mrp)
    return 2.0 * (c - 2.0 * (dot(mrp, c) + real) / divisor * mrp) / divisor


@cotangents(compiled.as_mrp, "quat", ONE)
def as_mrp_cotangent(ȳ, y, quat):
    v, w = parts(quat)
    sign = np.where(w < 0, -1.0, 1.0)
    divisor = 1.0 + sign * w
    return joined(sign * ȳ / divisor, -dot(v, ȳ) / (divisor * divisor))


@cotangents(compiled.from_euler, "seq, angles, degrees=False", ((str, Array), (str, Real)), "angles")
def from_euler_cotangent(ȳ, y, seq, angles, degrees):
    rad = np.deg2rad(angles) if degrees else angles
    axes = axes_of_turns(seq, np.reshape(rad, (*np.shape(y)[:-1], len(seq))))
    c = 0.5 * times_vector(axes, turning(ȳ, y))
    return reshaped(np.deg2rad(c) if degrees else c, angles)


@cotangents(compiled.as_euler, "quat, seq, degrees=False, suppress_warnings=False", ONE)
def as_euler_cotangent(ȳ, y, quat, seq, degrees):
    return quaternion_cotangent(np.rad2deg(ȳ) if degrees else ȳ, quat, seq)


@cotangents(compiled.from_matrix, "matrix, assume_valid=False", ONE)
def from_matrix_cotangent(ȳ, y, matrix, assume_valid):
    """A matrix is taken for the rotation next to it, unless it is said to be valid."""
    if assume_valid:
        return valid_matrix_cotangent(ȳ, y, matrix)
    return nearest_cotangent(ȳ, y, matrix)


def nearest_cotangent(ȳ, y, matrix):
    rotation = matrix_of(y)
    stretch = np.matmul(np.swapaxes(rotation, -1, -2), matrix)
    traces = np.trace(stretch, axis1=-2, axis2=-1)[..., None, None]
    turn = 0.5 * turning(ȳ, y)
    turn = np.linalg.solve(traces * np.eye(3) - stretch, turn[..., None])[..., 0]
    return np.matmul(rotation, cross_matrix(turn))


@nondifferentiable
def chosen(matrix):
    """The element of the quaternion by which the others are read out of a matrix: the largest one."""
    diagonal = np.diagonal(matrix, 0, -2, -1)
    return np.argmax(np.concatenate((diagonal, np.sum(diagonal, -1, keepdims=True)), -1), -1)


def valid_matrix_cotangent(ȳ, y, matrix):
    """The elements of a matrix are added up to the products of one element with all."""
    choice = chosen(matrix)
    forms = READ[choice]
    raw = times_vector(forms, np.reshape(matrix, (*np.shape(matrix)[:-2], 9))) + np.eye(4)[choice]
    c = (ȳ - y * dot(y, ȳ)) / length(raw)
    return np.reshape(np.matmul(c[..., None, :], forms), np.shape(matrix))


def power_cotangents(ȳ, y, quat, n):
    """By the rotation vector, which is n times as long."""
    rotvec = compiled.as_rotvec(quat)
    power = compiled.from_rotvec(n * rotvec)
    r̄ = from_rotvec_cotangent(np.where(dot(power, y) < 0, -ȳ, ȳ), power, n * rotvec, False)
    return as_rotvec_cotangent(n * r̄, rotvec, quat, False), unbroadcast(np.sum(r̄ * rotvec), n)


@cotangents(compiled.pow, "quat, n", ONE, "quat, n")
def pow_cotangents(ȳ, y, quat, n):
    """The powers 1 and -1 are the quaternion itself and its inverse, between others that are computed."""
    q̄, n̄ = power_cotangents(ȳ, y, quat, n)
    if abs(n) == 1:
        own, same = (ȳ, 1.0) if n == 1 else (ȳ * CONJUGATE, -1.0)
        q̄ = own + (q̄ - power_cotangents(ȳ, y, quat, same)[0])
    return q̄, n̄


def mean_of_all(quat, weights, axis):
    """Of a copy: what is compiled takes no arrays that cannot be written to."""
    return compiled.mean(np.array(quat), weights, axis)


@cotangents(mean_of_all, "quat, weights, axis", ONE, "quat, weights")
def mean_cotangents(ȳ, y, quat, weights):
    """The mean is the eigenvector of the sum of q qᵀ with the largest eigenvalue."""
    w = np.ones(len(quat)) if weights is None else np.asarray(weights)
    moments = np.matmul(np.transpose(quat * w[:, None]), quat)
    others = np.dot(y, np.dot(moments, y)) * np.eye(4) - moments + np.outer(y, y)
    z = np.linalg.solve(others, ȳ - y * dot(y, ȳ))
    along, across = np.dot(quat, y), np.dot(quat, z)
    q̄ = w[:, None] * (np.outer(along, z) + np.outer(across, y))
    return q̄, None if weights is None else unbroadcast(along * across, weights)


@defines(compiled.mean)
def mean(quat, weights=None, axis=None):
    """Along no axis each rotation is its own mean."""
    return quat if axis == () else mean_of_all(quat, weights, axis)


def nearest(matrix, q):
    """The rotation next to a matrix, which has been found."""
    return np.array(q)


cotangents(nearest, "matrix, q", ONE, matrix=lambda ȳ, y, matrix: nearest_cotangent(ȳ, y, matrix))


def align_vectors(a, b, weights=None, return_sensitivity=False):
    """The rotation next to the sum of the products of both vectors, and the root of the squares that are left."""
    q, distance, sensitivity = natively(compiled.align_vectors, (a, b, weights, return_sensitivity), {})
    first, second = np.atleast_2d(a), np.atleast_2d(b)
    w = np.ones(len(first)) if weights is None else np.asarray(weights)
    if return_sensitivity or len(first) < 2 or np.any(np.isinf(w)):
        raise NotDifferentiable(
            "Rotation.align_vectors is differentiable for several vectors and finite weights, but for the sensitivity"
        )
    q = nearest(np.matmul(np.transpose(first * w[:, None]), second), q)
    apart = first - compiled.apply(q[None], second)
    return q, settled(root(np.sum(w[:, None] * apart * apart)), distance), sensitivity


follow_instead(compiled.align_vectors, align_vectors)


def by_array_code(name):
    """A compiled function by the one that SciPy has in Python for other array libraries."""
    native, code = getattr(compiled, name), getattr(_rotation_xp, name)

    def followed(*args, **kwargs):
        return settled(code(*args, **kwargs), natively(native, args, kwargs))

    follow_instead(native, followed)


for name in ("as_davenport", "from_davenport"):
    by_array_code(name)

DOUBLE = np.dtype(float)


def promoted(*args, xp):
    """What is given to a rotation, as arrays of doubles, or all of them of longer numbers."""
    if len(args) == 1:
        array = np.asanyarray(args[0])
        return array if array.dtype == DOUBLE else array.astype(np.result_type(array.dtype, DOUBLE))
    arrays = [x if x is None else np.asanyarray(x) for x in args]
    dtype = common_dtype(arrays)
    return tuple([x if x is None else x.astype(dtype) for x in arrays])


@nondifferentiable
def common_dtype(arrays):
    return np.result_type(DOUBLE, *[x for x in arrays if x is not None])


def backend_of(xp, cython_compatible):
    """Of NumPy's arrays."""
    return compiled if cython_compatible else _rotation_xp


follow_instead(_rotation._promote, promoted)
DEFINITIONS[id(_rotation._promote)] = promoted
only_looks(_rotation.select_backend, backend_of)

NEW = "as_quat as_matrix inv apply from_rotvec as_rotvec magnitude from_mrp as_mrp from_euler as_euler from_matrix"
fresh(product, mean_of_all, *(getattr(compiled, name) for name in NEW.split()))
