"""What the derivatives of rotations are made of: quaternions with their real part last, one or many, in a row each;
and Euler angles, by the axes of the turns that they are.
"""

import numpy as np

from autodiff_hook.extend import over

CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])
SKEW = np.zeros((3, 3, 3))
"""The matrix of a cross product: ``SKEW[k]`` is what element k contributes."""
for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    SKEW[i, k, j], SKEW[i, j, k] = 1.0, -1.0

PRODUCT = np.zeros((4, 4, 4))
"""``PRODUCT[i, k, j]``: how much of p[i] q[j] is in element k of the product of p and q."""
PRODUCT[:3, :3, :3] = SKEW
PRODUCT[3] = np.eye(4)
PRODUCT[range(3), range(3), 3], PRODUCT[range(3), 3, range(3)] = 1.0, -1.0

MATRIX = np.zeros((3, 3, 4, 4))
"""Each element of the rotation matrix as a quadratic form of the quaternion."""
for i in range(3):
    for j in range(3):
        MATRIX[i, j, i, j] += 1.0
        MATRIX[i, j, j, i] += 1.0
    MATRIX[i, i] += np.diag([-1.0, -1.0, -1.0, 1.0])
    MATRIX[..., i, 3] += SKEW[i]
    MATRIX[..., 3, i] += SKEW[i]
TWICE = 2.0 * MATRIX.reshape(9, 16)
FORMS = np.transpose(MATRIX, (2, 0, 1, 3)).reshape(4, 36)
READ = np.transpose(MATRIX, (3, 2, 0, 1)).reshape(4, 4, 9)
"""For each element of a quaternion: what its products with all are, times four, of the elements of the matrix."""
LEFT, RIGHT = PRODUCT.reshape(4, 16), np.transpose(PRODUCT, (2, 1, 0)).reshape(4, 16)
TURN = (CONJUGATE[:, None, None] * PRODUCT[:, :3]).reshape(4, 12)
CROSS = SKEW.reshape(3, 9)


def times_vector(matrices, vectors):
    return np.matmul(matrices, vectors[..., None])[..., 0]


def matrices_of(vectors, forms, rows, columns):
    """Matrices that are linear in vectors."""
    return np.reshape(np.matmul(vectors, forms), (*np.shape(vectors)[:-1], rows, columns))


def left_cotangent(ȳ, q):
    """The cotangent of p in the product of p and q."""
    return np.matmul(ȳ[..., None, :], matrices_of(q, RIGHT, 4, 4))[..., 0, :]


def right_cotangent(ȳ, p):
    """The cotangent of q in the product of p and q."""
    return np.matmul(ȳ[..., None, :], matrices_of(p, LEFT, 4, 4))[..., 0, :]


def turning(q̄, q):
    """The cotangent of a turn behind q: twice that of the angle about each axis of the frame that is turned."""
    return times_vector(matrices_of(q, TURN, 3, 4), q̄)


def matrix_of(q):
    """The matrix of a quaternion, whose square length is a factor of it."""
    return np.reshape(times_vector(matrices_of(q, FORMS, 9, 4), q), (*np.shape(q)[:-1], 3, 3))


def matrix_cotangent(m̄, q):
    """The cotangent of a quaternion, of that of its matrix."""
    return times_vector(matrices_of(np.reshape(m̄, (*np.shape(m̄)[:-2], 9)), TWICE, 4, 4), q)


def cross_matrix(vectors):
    return matrices_of(vectors, CROSS, 3, 3)


def length(x):
    return np.sqrt(np.sum(x * x, -1, keepdims=True))


def dot(x, y):
    return np.sum(x * y, -1, keepdims=True)


def parts(q):
    return q[..., :3], q[..., 3:]


def joined(vector, real):
    return np.concatenate((vector, real), -1)


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
