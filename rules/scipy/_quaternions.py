"""What the derivatives of rotations are made of: quaternions with their real part last, one or many, in a row each."""

import numpy as np

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
