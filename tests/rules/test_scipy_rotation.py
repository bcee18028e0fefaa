"""``Rotation`` of ``scipy.spatial.transform``: made of, turned into and combined, also at the identity."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import normal
from scipy.spatial.transform import Rotation, Slerp
from scipy.spatial.transform import _rotation_cy as compiled

import autodiff_hook as ad
from autodiff_hook.runtime import specialising
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy import rotation

VECTOR, QUATERNION, VECTORS = np.array([0.2, 0.3, -0.1]), np.array([0.1, 0.2, 0.3, 0.8]), normal(4, 3)
WEIGHTS = np.array([1.0, 2.0, 0.5, 0.7])
TURNED = Rotation.from_rotvec([0.1, -0.2, 0.3])
AIMS = np.array([[1.0, 0.2, 0.1], [-0.3, 0.9, 0.4]])


def turned_again_and_again(v):
    step, x = Rotation.from_rotvec(v), np.array([1.0, 2.0, 3.0])
    for _ in range(4):
        x = step.apply(x) + 0.1 * x
    return x


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
    "scalar_first": (lambda q: Rotation.from_quat(q, scalar_first=True).as_quat(scalar_first=True), QUATERNION),
    "canonical": (lambda q: Rotation.from_quat(-q).as_quat(canonical=True), QUATERNION),
    "not_normalized": (lambda q: Rotation(q, normalize=False).as_rotvec(), 2.0 * QUATERNION),
    "one_row": (lambda v: Rotation.from_rotvec(v).as_matrix(), VECTORS[:1]),
    "one_for_all": (lambda v: (Rotation.from_rotvec(v) * Rotation.from_rotvec(VECTORS)).apply(VECTORS), VECTOR),
    "nearest_rotation": (lambda m: Rotation.from_matrix(m).as_rotvec(), np.eye(3) + 0.1 * normal(3, 3)),
    "rotation_matrix": (lambda m: Rotation.from_matrix(m).as_rotvec(), TURNED.as_matrix()),
    "valid_matrices": (
        lambda m: Rotation.from_matrix(m, assume_valid=True).as_quat(),
        Rotation.from_rotvec(2.0 * VECTORS).as_matrix(),
    ),
    "there_and_back_rodrigues": (lambda v: Rotation.from_mrp(v).as_mrp(), VECTORS),
    "weighted_mean": (
        lambda w: Rotation.from_rotvec(0.3 * VECTORS).mean(w).as_rotvec(),
        WEIGHTS,
    ),
    "mean_along_no_axis": (lambda v: Rotation.from_rotvec(v).mean(axis=()).as_quat(), VECTORS),
    "power_of_the_exponent": (lambda n: (TURNED**n).as_rotvec(), 0.7),
    "concatenated": (
        lambda v: Rotation.concatenate([Rotation.from_rotvec(v), TURNED, Rotation.from_rotvec(2 * v)]).magnitude(),
        VECTOR,
    ),
    "slerp": (lambda v: Slerp([0.0, 1.0, 2.0, 4.0], Rotation.from_rotvec(v))([0.5, 3.0]).as_quat(), VECTORS),
    "davenport": (
        lambda v: Rotation.from_davenport(np.eye(3), "extrinsic", v).as_davenport(np.eye(3), "intrinsic"),
        VECTOR,
    ),
    "aligned": (lambda v: Rotation.align_vectors(v, TURNED.apply(AIMS))[0].as_quat(), AIMS + 0.1 * VECTORS[:2]),
    "aligned_to": (lambda v: Rotation.align_vectors(AIMS, v)[1], AIMS + 0.1 * VECTORS[:2]),
    "aligned_with_weights": (
        lambda w: Rotation.align_vectors(AIMS, AIMS[::-1] + 0.1, weights=w)[0].as_matrix(),
        np.array([1.0, 2.0]),
    ),
    "loop": (turned_again_and_again, VECTOR),
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


COMPOSED = normal(4, 4, seed=2)
"""Quaternions of any length."""
RULES = [
    (compiled.from_quat, (COMPOSED,), {"scalar_first": True}),
    (compiled.from_quat, (COMPOSED, False), {}),
    (compiled.as_quat, (COMPOSED, True), {"scalar_first": True}),
    (compiled.as_matrix, (COMPOSED,), {}),
    (compiled.inv, (COMPOSED,), {}),
    (compiled.apply, (COMPOSED, VECTORS), {}),
    (compiled.apply, (COMPOSED[:1], VECTORS, True), {}),
    (compiled.apply, (COMPOSED, VECTORS[:1], True), {}),
    (rotation.product, (COMPOSED, COMPOSED[:1]), {}),
    (compiled.from_rotvec, (VECTORS,), {}),
    (compiled.from_rotvec, (40.0 * VECTOR, True), {}),
    (compiled.from_rotvec, (1e-3 * VECTORS,), {}),
    (compiled.as_rotvec, (COMPOSED, True), {}),
    (compiled.as_rotvec, (np.concatenate((1e-4 * VECTORS, [[-1.0], [1.0], [0.9], [-0.8]]), 1),), {}),
    (compiled.magnitude, (COMPOSED,), {}),
    (compiled.from_mrp, (VECTOR,), {}),
    (compiled.as_mrp, (COMPOSED,), {}),
    (compiled.from_matrix, (np.eye(3) + 0.2 * normal(2, 3, 3),), {}),
    (compiled.from_matrix, (np.eye(3) + 0.2 * normal(2, 3, 3), True), {}),
    (compiled.pow, (COMPOSED, -1.5), {}),
    (compiled.pow, (TURNED.as_quat()[None], 1.0), {}),
    (compiled.pow, (TURNED.as_quat()[None], -1), {}),
    (rotation.mean_of_all, (COMPOSED, WEIGHTS, None), {}),
]


@pytest.mark.parametrize("target, args, kwargs", RULES)
def test_rules(target, args, kwargs):
    check_rule(target, *args, **kwargs, second_order=True)


@pytest.mark.parametrize("seq", ["xyz", "zyx", "yxy", "XYZ", "YZX", "ZXZ", "xz", "ZY", "y"])
def test_euler_angles(seq):
    angles = VECTORS[:, : len(seq)]
    check_rule(compiled.from_euler, seq, angles, second_order=True)
    check_rule(compiled.from_euler, seq, 40.0 * angles[0], True, second_order=True)
    if len(seq) == 3:
        check_rule(compiled.as_euler, COMPOSED, seq, second_order=True)
        check_rule(compiled.as_euler, COMPOSED, seq, True, second_order=True)


LOCKED = {"zyx": [0.3, np.pi / 2, 0.2], "ZXZ": [0.3, 0.0, 0.2], "zxz": [0.3, 0.0, 0.2]}


@pytest.mark.parametrize("seq, angles", LOCKED.items())
def test_gimbal_lock(seq, angles):
    """There the third angle is set to zero, and the first one is a sum or difference."""

    def locked(turn):
        with np.errstate(all="raise"):
            return Rotation.from_euler(seq, [angles[0] + turn, *angles[1:]]).as_euler(seq, suppress_warnings=True)

    differences = (locked(1e-6) - locked(-1e-6)) / 2e-6
    np.testing.assert_allclose(ad.jvp(locked, (0.0,), (1.0,))[1], differences, atol=1e-6)
    np.testing.assert_allclose(ad.jacobian(locked)(0.0), differences, atol=1e-6)


def test_at_a_half_turn_the_magnitude_has_a_gradient():
    check_gradient(lambda x: Rotation.from_quat([x, 0.0, 0.0, 0.0]).magnitude() + x, 1.0)


@pytest.mark.parametrize(
    "f, x",
    [
        (lambda x: Rotation.from_quat(x), np.zeros(4)),
        (lambda x: Rotation.from_euler("xx", x), np.zeros(2)),
        (lambda x: Rotation.from_matrix(x), np.zeros((3, 3))),
        (lambda x: Rotation.from_rotvec(x).apply(x[:2]), VECTOR),
    ],
)
def test_errors_stay_errors(f, x):
    with pytest.raises(ValueError) as plain:
        f(x)
    with pytest.raises(ValueError) as differentiated:
        ad.gradient(lambda x: f(x).magnitude(), x)
    assert str(differentiated.value) == str(plain.value)


@pytest.mark.skipif(specialising.GENERIC or specialising.ONE_WAY, reason="nothing is typed for all ways")
@pytest.mark.parametrize("name", ["euler", "product", "mean", "element", "loop"])
def test_rotations_are_typed(name):
    rotated, x = ROTATIONS[name]

    def f(x):
        return np.sum(rotated(x))

    ad.gradient(f, x)
    found = ad.explain(f, x).functions[0]
    assert (found.how, found.what) == ("typed", "")


def test_the_rotation_next_to_a_matrix():
    matrix = np.eye(3) + 0.1 * normal(3, 3)
    q = Rotation.from_matrix(matrix).as_quat()
    check_rule(rotation.nearest, matrix, q, differences=lambda x, q: Rotation.from_matrix(x).as_quat())
