"""How arrays lie in memory: on it depends whether a store reaches them by another name."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from in_all_modes import MODES, differences

W = np.arange(1.0, 10.0).reshape(3, 3)
COPIES = {
    "array": np.array,
    "copy": np.copy,
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "method": np.ndarray.copy,
    "method K": lambda a: a.copy("K"),
    "astype": lambda a: a.astype(float),
    "clip": lambda a: np.clip(a, 0.5, 2.0),
    "stack": lambda a: np.concatenate([a, a])[:3],
    "C": lambda a: np.add(a, 1.0, order="C"),
    "F": lambda a: np.multiply(a, 2.0, order="F"),
    "A": lambda a: np.multiply(a, 2.0, order="A"),
    "vectorize": lambda a: np.vectorize(lambda v: v * v)(a),
    "vectorize two": lambda a: np.vectorize(lambda v, w: (v * w, v))(a, a + 1.0)[0],
    "frompyfunc": lambda a: np.frompyfunc(lambda v, w: v * w, 2, 1)(a, 2.0).astype(float),
    "two": lambda a: np.modf(a, order="C")[0],
}
LAYOUTS = {"C": lambda a: a * 1.0, "F": lambda a: (a.T * 1.0).T, "part": lambda a: np.repeat(a, 2, axis=1)[:, ::2]}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", COPIES)
def test_stores_into_another_shape_of_what_a_copy_gives(name, layout, mode):
    copied, laid = COPIES[name], LAYOUTS[layout]

    def f(x):
        b = copied(laid(W * x * 0.3))
        c = b.reshape(-1)
        c[1] = x * x
        return float(np.sum(b * W) + c[2] * x)

    check(f, mode)


def arrays_that_change_places(x):
    u, v = (W * x).T, W.T + x
    for _ in range(3):
        u, v = v, u
        c = u.reshape(-1)
        c[1] = x * c[2]
    return float(np.sum(u * W) + np.sum(v**2))


def an_array_that_is_another_on_some_ways(x):
    u = W * x
    if x > 0:
        u = np.copy(u.T)
    c = u.reshape(-1)
    c[1] = x * c[2]
    return float(np.sum(u * W))


H = np.zeros((3, 3), order="F")


def a_given_array(x):
    H[...] = W * x
    c = H.reshape(-1)
    c[1] = x * x
    return float(np.sum(H * W) + c[2] * x)


def a_part_that_is_read_before_a_store(x):
    b = W * x
    c = b[:2].reshape(-1)
    c[1] = x * x
    d = b[:, :2].reshape(-1)
    d[0] = x
    return float(np.sum(b * W) + c[2] * x + d[1])


def what_an_object_holds(x):
    class Rows:
        def __init__(self, a):
            self.a = np.array(a)
            self.flat = self.a.ravel()

    rows = Rows((W * x).T)
    rows.flat[1] = x * x
    return float(np.sum(rows.a * W) + rows.flat[2] * x)


def calls_as_elements_lie(x):
    total = [1.0]

    def taken(v):
        total[0] = total[0] * 1.1 + v
        return total[0] * v

    a = np.vectorize(taken, otypes=[float])((W * x).T)
    b = np.frompyfunc(taken, 1, 1)((W * x).T)
    return float(np.sum(a * W) + np.sum(b * W))


R = np.arange(9.0)


def the_items_of_a_copy_as_they_lie(x):
    u = np.sin(W.T * x)
    b = u.copy()
    b[0, 1] = x
    lies = 2.0 if b.flags.c_contiguous else 1.0
    return float(np.sum(b.ravel("K") * R) * lies + np.sum((W.T * x).copy().ravel("K") * R))


def the_items_of_products_and_sums_as_they_lie(x):
    u = np.sin(W.T * x)
    v = np.zeros((3, 3))
    v[...] = u
    v += u
    w = u * W
    z = w + u.T
    orders = (np.sum(a.ravel("K") * R) for a in (v, u + v, w, z))
    return float(sum(orders) + np.sum((W * u).ravel("A") * R))


def a_buffer_whose_cotangent_lies_by_columns(x):
    v = W * x
    u = v * v
    u *= np.sin(x)
    a = np.einsum("ij,jd->di", u, v)
    return float(np.sum(a * a * W) / 1e4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "f",
    [
        a_buffer_whose_cotangent_lies_by_columns,
        calls_as_elements_lie,
        the_items_of_a_copy_as_they_lie,
        the_items_of_products_and_sums_as_they_lie,
        arrays_that_change_places,
        an_array_that_is_another_on_some_ways,
        a_given_array,
        a_part_that_is_read_before_a_store,
        what_an_object_holds,
    ],
    ids=lambda f: f.__name__,
)
def test_stores_into_another_shape(f, mode):
    check(f, mode)


def check(f, mode):
    for x in (1.3, 0.8, 1.3):
        order = 2 if mode == "hvp" else 1
        assert MODES[mode](f, x) == pytest.approx(differences(f, x, order), rel=1e-5, abs=1e-5)
