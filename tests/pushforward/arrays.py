"""Scalar programs over NumPy, each with a point."""

import numpy as np
from programs import PROGRAMS

ARRAYS = {}
V = np.array([0.5, 1.5, -0.7])
M = np.array([[1.0, 0.2, 0.1], [0.3, 2.0, 0.4], [0.1, 0.5, 1.5]])


def program(*point):
    def register(function):
        ARRAYS[function.__name__] = (function, point)
        return function

    return register


@program(V, M)
def broadcasting(v, m):
    return ((m - v) ** 2 / (1 + v[:, None] ** 2)).sum() + (v * 2.0).mean()


@program(V, M)
def signs(v, m):
    return (np.sign(v)[:, None] * m).sum() + np.sign(m).T[0] @ v + np.sign(v).reshape(3, 1)[1, 0] * v[0]


@program(V, M)
def indexing(v, m):
    rows = m[[0, 2, 0]]
    return (rows * v[::-1]).sum() * m[1, 2] + m[:, 1] @ v + v[v > 0].sum()


@program(V, M)
def products(v, m):
    return v @ m @ m.T @ v + np.dot(m, m)[0, 1] + np.einsum("ij,j->", m, v) + np.outer(v, v).sum()


@program(V, M)
def linear_algebra(v, m):
    x = np.linalg.solve(m, v)
    return x @ x + np.linalg.det(m) + np.linalg.inv(m).sum() + np.linalg.norm(v)


@program(V)
def elementwise(v):
    return np.sum(np.exp(v) * np.tanh(v) + np.where(v > 0, v, v**2) + np.maximum(v, 0.3)) + np.log1p(v * v).max()


@program(M)
def shapes(m):
    stacked = np.concatenate([m.reshape(-1), m.T.ravel()])
    return (stacked.reshape(2, 9)[1] * np.stack([m[0], m[1], m[2]], axis=1).ravel()).sum()


@program(V)
def loops_over_arrays(v):
    total = 0.0
    for i, x in enumerate(v):
        total = total + x * v[i - 1] * float(x)
    return total


@program(V, 0.7)
def stores(v, x):
    out = np.zeros((2, 3))
    out[0] = v * x
    out[1, 1:] = v[1:] ** 2
    out[1] += out[0] * x
    out *= x
    return (out * out).sum()


@program(V)
def stores_and_views(v):
    a = v.copy()
    b = a[1:]
    a[2] = v[0] * v[1]
    a[0] *= 3.0
    return (b * b).sum() * a[0]


@program(V)
def stores_through_views(v):
    out = np.asfortranarray(np.outer(v, v))
    row, column = out[1], out.T[2]
    row[:] = v * v
    column[::2] += v[:2]
    plain = np.zeros((3, 2))
    plain.reshape(-1)[1:4] = v
    return (out * out).sum() * plain[1, 0] + (plain.T @ v).sum()


@program({"w": M, "b": V}, V)
def network(params, x):
    for _ in range(2):
        x = np.tanh(params["w"] @ x + params["b"])
    return (x * x).sum()


@program(V + 0.5j, V)
def complex_arrays(z, v):
    w = z * v + np.conj(z)
    return (w.real**2 + np.abs(w) * w.imag).sum()


@program(np.float64(0.7), V.astype(np.float32))
def scalars_and_single_precision(x, v):
    return float((v * np.float32(2.0)).sum()) * x * np.sin(x)


EVERYTHING = {**PROGRAMS, **ARRAYS}
