"""``Rotation`` of ``scipy.spatial.transform``: made of, turned into and combined, also at the identity."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import normal
from scipy.spatial.transform import Rotation

import autodiff_hook as ad
from autodiff_hook.testing import check_gradient

VECTOR, QUATERNION, VECTORS = np.array([0.2, 0.3, -0.1]), np.array([0.1, 0.2, 0.3, 0.8]), normal(4, 3)
TURNED = Rotation.from_rotvec([0.1, -0.2, 0.3])
ROTATIONS = {
    "matrix": (lambda v: Rotation.from_rotvec(v).as_matrix(), VECTOR),
    "identity": (lambda v: Rotation.from_rotvec(v).as_quat(), np.zeros(3)),
    "there_and_back": (lambda v: Rotation.from_rotvec(v).as_rotvec(), np.zeros(3)),
    "degrees": (lambda v: Rotation.from_rotvec(v, degrees=True).as_rotvec(degrees=True), 40.0 * VECTOR),
    "several": (lambda v: Rotation.from_rotvec(v).apply([1.0, 2.0, 3.0]), VECTORS),
    "applied": (lambda x: TURNED.apply(x), VECTORS),
    "applied_inverse": (lambda v: Rotation.from_rotvec(v).apply(VECTORS, inverse=True), VECTOR),
    "euler": (lambda v: Rotation.from_euler("xyz", v).as_matrix(), VECTOR),
    "one_angle": (lambda v: Rotation.from_euler("z", v).as_quat(), np.array(0.3)),
    "intrinsic": (lambda v: Rotation.from_euler("ZYX", v, degrees=True).as_euler("zyx"), 50.0 * VECTOR),
    "quaternion": (lambda q: Rotation.from_quat(q).as_rotvec(), QUATERNION),
    "from_matrix": (lambda v: Rotation.from_matrix(Rotation.from_rotvec(v).as_matrix()).as_quat(), VECTOR),
    "product": (lambda v: (Rotation.from_rotvec(v) * TURNED).as_quat(), VECTOR),
    "inverse": (lambda v: (TURNED * Rotation.from_rotvec(v).inv()).as_rotvec(), VECTOR),
    "power": (lambda v: (Rotation.from_rotvec(v) ** 0.5).as_quat(), VECTOR),
    "magnitude": (lambda v: Rotation.from_rotvec(v).magnitude(), VECTOR),
    "rodrigues": (lambda v: Rotation.from_mrp(v).as_matrix(), VECTOR),
    "mean": (lambda v: Rotation.from_rotvec(v).mean().as_quat(), 0.3 * VECTORS),
    "element": (lambda v: Rotation.from_rotvec(v)[1].as_quat(), VECTORS),
}


@pytest.mark.parametrize("name", ROTATIONS)
def test_rotations(name):
    rotated, x = ROTATIONS[name]

    def f(x):
        y = np.asarray(rotated(x))
        return np.sum(y**2 * np.cos(1.0 + np.arange(y.size)).reshape(y.shape)) + np.sum(y)

    check_gradient(f, x)
    v = np.asarray(normal(*np.shape(x), seed=5))
    assert ad.jvp(f, (x,), (v,))[1] == pytest.approx(np.sum(ad.gradient(f, x)[0] * v))
    differences = (ad.gradient(f, x + 1e-5 * v)[0] - ad.gradient(f, x - 1e-5 * v)[0]) / 2e-5
    np.testing.assert_allclose(ad.hvp(f, (x,), (v,))[0], differences, rtol=1e-4, atol=1e-5)
