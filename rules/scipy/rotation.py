"""``Rotation``: the compiled functions of quaternions, by those that SciPy has in Python for other array libraries."""

import numpy as np
from scipy.spatial.transform import _rotation_cy, _rotation_xp

from autodiff_hook.registry import nondifferentiable
from autodiff_rules.scipy._standins import follow_instead, settled

SAME = (
    "apply as_davenport as_euler as_matrix as_mrp as_quat as_rotvec compose_quat from_davenport from_euler from_matrix "
    "from_mrp from_quat inv magnitude mean pow"
).split()


@nondifferentiable
def array_of(native, args, kwargs):
    """What a compiled function returns, which may be a memory view."""
    return np.asarray(native(*args, **kwargs))


def followed(native, function):
    def quaternions(*args, **kwargs):
        return settled(function(*args, **kwargs), array_of(native, args, kwargs))

    follow_instead(native, quaternions)


for name in SAME:
    followed(getattr(_rotation_cy, name), getattr(_rotation_xp, name))

SMALL = 1e-6


def from_rotvec(rotvec, degrees=False):
    """By the square of the angle, which has derivatives of all orders at 0, as the angle has not."""
    vector = np.deg2rad(rotvec) if degrees else np.asarray(rotvec)
    square = np.sum(vector * vector, -1, keepdims=True)
    small = square < SMALL
    half = 0.5 * np.sqrt(np.where(small, 1.0, square))
    scale = np.where(small, 0.5 - square / 48.0 + square * square / 3840.0, 0.5 * np.sin(half) / half)
    real = np.where(small, 1.0 - square / 8.0 + square * square / 384.0, np.cos(half))
    return np.concatenate((vector * scale, real), -1)


followed(_rotation_cy.from_rotvec, from_rotvec)
