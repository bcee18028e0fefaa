"""Euler angles: the axes of the turns that they are, and the derivatives of the angles of a quaternion."""

import numpy as np

from autodiff_hook.extend import over
from autodiff_rules.scipy._quaternions import SKEW, times_vector

GIMBAL = 1e-7
"""How near to 0 or π SciPy takes the second angle for one of these."""


def axes_of_turns(seq, angles):
    """The axis of each turn in the frame that has been turned by all, in a row each."""
    numbers = ["xyz".index(letter) for letter in seq.lower()]
    order = range(len(seq)) if seq.isupper() else range(len(seq) - 1, -1, -1)
    rows = [None] * len(seq)
    done = []
    for k in order:
        cross = SKEW[numbers[k]]
        sine, cosine = np.sin(angles[..., k, None]), np.cos(angles[..., k, None])
        for i in done:
            once = np.matmul(rows[i], cross)
            rows[i] = rows[i] + sine * once + (1.0 - cosine) * np.matmul(once, cross)
        rows[k] = np.eye(3)[numbers[k]] + np.zeros_like(sine)
        done.append(k)
    return np.stack(rows, -2)


def form_of(seq):
    """Four sums of the elements of a quaternion, in a row each, of which the angles are made; and signs.

    That is the sign of the third angle, whether the turns are extrinsic, and what the second angle is reduced by.
    """
    extrinsic = seq.islower()
    i, j, k = ["xyz".index(letter) for letter in (seq.lower() if extrinsic else seq.lower()[::-1])]
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    rows = np.zeros((4, 4))
    rows[0, 3] = rows[1, i] = rows[2, j] = 1.0
    rows[3, k] = sign
    if not symmetric:
        rows[0, j], rows[1, k], rows[2, 3], rows[3, i] = -1.0, sign, 1.0, -1.0
    return rows, 1.0 if symmetric else float(sign), extrinsic


def quaternion_cotangent(c, quat, seq):
    """The cotangent of a quaternion, of that of its angles in radians.

    With the sums a, b, c, d: the angles are half the sum and half the difference of arctan2(b, a) and arctan2(d, c)
    (twice each), and twice the angle between the two pairs. In gimbal lock SciPy sets the third angle to zero.
    """
    rows, sign, extrinsic = form_of(seq)
    sums = times_vector(rows, quat)
    first, second = sums[..., :2], sums[..., 2:]
    p, q = np.sum(first * first, -1), np.sum(second * second, -1)
    s, t = np.sqrt(p), np.sqrt(q)
    middle = 2.0 * np.arctan2(t, s)
    c0, c2 = (c[..., 0], sign * c[..., 2]) if extrinsic else (c[..., 2], sign * c[..., 0])
    lone = c0 if extrinsic else c2
    near_0, near_pi = np.abs(middle) <= GIMBAL, np.abs(middle - np.pi) <= GIMBAL
    of_sum = np.where(near_0, 2.0 * lone, np.where(near_pi, 0.0, c0 + c2))
    of_difference = np.where(near_pi, -2.0 * lone if extrinsic else 2.0 * lone, np.where(near_0, 0.0, c2 - c0))
    along = 2.0 * c[..., 1] / (p + q)
    ofs = (
        turned(over(of_sum, p), first) - (unless_zero(along * t, s))[..., None] * first,
        turned(over(of_difference, q), second) + (unless_zero(along * s, t))[..., None] * second,
    )
    return np.matmul(np.concatenate(ofs, -1), rows)


def turned(c, pair):
    return c[..., None] * (pair[..., ::-1] * QUARTER)


QUARTER = np.array([-1.0, 1.0])


def unless_zero(x, y):
    """x / y, 0 where y is: the derivative of a length where it has none."""
    return np.where(y == 0, 0.0, x) / np.where(y == 0, 1.0, y)
