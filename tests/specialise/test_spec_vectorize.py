"""``np.vectorize`` in typed programs: the values, types, effects and errors of NumPy's, and gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest
from specialised_cases import GENERIC, check, has_all_ways, outcome

import autodiff_hook as ad
from autodiff_hook.runtime import specialising

A = np.array([0.3, 1.2, -0.7, 2.0])
CALLED = []


def piecewise(x, y=1.0):
    if x > 1.0:
        return math.sin(x) * y
    return x * x + y if x > 0.0 else -x * y


def whole(x):
    return 1 if x > 0.0 else 0


def mixed(x):
    return x * x if x > 0.0 else 0


def noted(x):
    CALLED.append(type(x))
    return x * 2.0


def several(x):
    return x, x * x


ON_ALL, ON_FLOATS = np.vectorize(piecewise), np.vectorize(piecewise, otypes=[float])
ON_WHOLE, ON_MIXED, ON_NOTED, ON_SEVERAL = map(np.vectorize, (whole, mixed, noted, several))
NAMED = np.vectorize(piecewise, excluded={"y"})


def vectors(a):
    return np.sum(ON_ALL(a) * a)


def matrices(a):
    rows = ON_ALL(np.outer(a, a), 2.0)
    return np.sum(rows[0] * rows[1]) * rows.shape[1]


def of_floats(a):
    return np.sum(ON_FLOATS(a, a[0]) ** 2)


def made_there(a):
    k = a[0] * 2.0
    return np.sum(np.vectorize(lambda x: x * k)(a))


def of_two(a):
    return np.sum(ON_ALL(a, a[::-1]))


def of_whole(a):
    return np.sum(ON_WHOLE(a) * a)


def of_mixed(a):
    return np.sum(ON_MIXED(a) * a)


def of_several(a):
    x, y = ON_SEVERAL(a)
    return np.sum(x * y)


def by_name(a):
    return np.sum(NAMED(a, y=2.0))


def of_a_number(a):
    return ON_ALL(a[0]) * 1.0


def of_a_number_and_one(a):
    return np.sum(ON_ALL(a[1] * 1.0, a)) + np.sum(ON_FLOATS(0.7, a) * a)


def of_rows_and_columns(a):
    return np.sum(ON_ALL(a[:, None], a) * np.outer(a, a)) + np.sum(ON_FLOATS(a, np.outer(a, a))[1])


def made_of_a_closure(a):
    k = a[0] * 2.0

    @np.vectorize
    def scaled(x, y=1.0):
        return x * k if x > 0.0 else y * x * x

    return np.sum(scaled(a)) + np.sum(scaled(a, 3.0) * a) + np.sum(scaled(a, a[::-1]))


def made_with_types(a):
    k = a[0] * 2.0
    scaled = np.vectorize(lambda x, y=1.0: x * k if x > 0.0 else 1, otypes=[float])
    noted_there = np.vectorize(noted, otypes="d")
    return np.sum(scaled(a)) + np.sum(scaled(a, a[::-1]) * a) + np.sum(noted_there(np.outer(a, a))[1])


def of_lists(a):
    k = a[0] * 2.0
    scaled = np.vectorize(lambda x, y=1.0: x * k + y)
    return np.sum(scaled([a[0], a[1] * 2.0, 3.0]) * a[:3]) + np.sum(scaled([x * x for x in a], a))


def of_numbers_by_name(a):
    k = a[0] * 2.0
    scaled = np.vectorize(lambda x, y=1.0, z=None: x * k + y if z is None else x * y)
    once = scaled(np.sin(a[1]), y=a[2])[()] * ON_FLOATS(x=a[3], y=2.0) + scaled(float(a[3]), z="text")
    return float(once) + np.sum(scaled(a, y=3.0) * a) + np.sum(scaled(a, a[::-1], z=True))


def squares(row):
    return np.sum(row * row)


def centred(row):
    return row - np.mean(row), np.max(row)


ON_ROWS, ON_PAIRS = np.vectorize(squares, signature="(n)->()"), np.vectorize(np.dot, signature="(n),(n)->()")
CENTRED = np.vectorize(centred, signature="(n)->(n),()")
SCALED = np.vectorize(lambda rows, x, k: rows @ x * k, signature="(m,n),(n)->(m)", excluded={"k"})
POWERS = np.vectorize(lambda x, n: x ** np.arange(1, 4) * n, signature="()->(k)", excluded=[1], otypes=[float])
POLYNOMIAL = np.vectorize(lambda x, p: p[0] + p[1] * x, excluded=["p"])
BY_PLACE = np.vectorize(lambda x, p: p[0] + p[1] * x, excluded={1}, otypes=[float])
OF_MANY = np.vectorize(lambda n, x, y, z: x * n if n > 1 else x * y + z)


def of_rows(a):
    rows = np.outer(a, a[:3])
    return np.sum(ON_ROWS(rows) * a) + np.sum(ON_PAIRS(rows, rows * 2.0)) + ON_ROWS(a)[()] * ON_PAIRS(a, a)


def of_rows_to_rows(a):
    rows, most = CENTRED(np.outer(a, a[:3]))
    again, one = CENTRED(np.reshape(np.outer(a, a), (2, 2, 4)))
    return np.sum(rows[1] * most[0]) + np.sum(again[1, 0] * one[0, 1])


def of_matrices(a):
    square = np.outer(a, a)
    return np.sum(SCALED(np.stack([square, square * 2.0]), a, k=a[0]) ** 2) + np.sum(SCALED(square, a, k=2.0))


def of_numbers_to_rows(a):
    return np.sum(POWERS(a, 2)[1] * a[0]) + np.sum(POWERS(0.5, a[0]))


def of_what_is_excluded(a):
    shifted = np.vectorize(lambda x, p: p["k"] * x, otypes=[float], excluded=["p"], cache=True)
    return (
        np.sum(POLYNOMIAL(a, p=[a[0], 2.0])) + np.sum(BY_PLACE(a, [1.0, a[1]]) * a) + np.sum(shifted(a, p={"k": a[2]}))
    )


def of_many(a):
    return np.sum(OF_MANY(np.arange(4), a, a[::-1], 2.0) * a) + np.sum(OF_MANY(3, a, a[:, None], a[0]))


def of_several_floats(a):
    x, y = np.vectorize(several, otypes=[float, float])(a)
    return np.sum(x * y * ON_SEVERAL(np.outer(a, a))[1][0]) + ON_SEVERAL(a[0])[1]


TYPED = [
    of_rows,
    of_rows_to_rows,
    of_matrices,
    of_numbers_to_rows,
    of_what_is_excluded,
    of_many,
    of_several,
    of_several_floats,
    of_a_number,
    of_numbers_by_name,
    vectors,
    matrices,
    of_two,
    made_there,
    of_a_number_and_one,
    of_rows_and_columns,
    made_of_a_closure,
]


@pytest.mark.parametrize("f", [*TYPED, made_with_types, of_lists])
def test_what_is_typed(f):
    check(f, A, specialised=None if specialising.ONE_WAY else True)
    if not (GENERIC or specialising.ONE_WAY):
        assert has_all_ways(f, "gradient", "value")


def made_with_other_types(a):
    counted = np.vectorize(lambda x: x * x, otypes=[int])
    both = np.vectorize(several, otypes=[float, float])(a)
    return np.sum(counted(a) * a) + np.sum(both[0] * both[1])


def of_other_rows(a):
    square = np.outer(a, a)
    whole = np.vectorize(lambda row: len(row), signature="(n)->()")(square)
    return (
        np.sum(ON_PAIRS(square, a) * whole)
        + np.sum(ON_PAIRS(square[:, None], square))
        + np.sum(POWERS(square, 1.5)[2, 1])
    )


@pytest.mark.parametrize("f", [of_floats, of_whole, of_mixed, by_name, made_with_other_types, of_other_rows])
def test_what_may_be_carried(f):
    check(f, A, specialised=None)
    check(f, A[::-1].copy(), specialised=None)


@pytest.mark.parametrize("f", [vectors, of_floats])
def test_no_numbers(f):
    expected = outcome(f, A[:0])
    for _ in range(2):
        ad.gradient(f, A)
        found = outcome(ad.gradient, f, A[:0])
        assert found is expected if isinstance(expected, type) else found[0].size == 0


def test_how_often_it_is_called():
    def f(a):
        return np.sum(ON_NOTED(a))

    CALLED.clear()
    f(A)
    expected = list(CALLED)
    for _ in range(3):
        CALLED.clear()
        assert ad.gradient(f, A)[0].tolist() == [2.0] * 4
        assert CALLED == expected


def test_a_first_value_that_is_a_whole_number_decides_for_all():
    def f(a):
        return np.sum(np.vectorize(mixed)(a) * a)

    rounded = np.vectorize(mixed)(-A)
    for _ in range(3):
        value, (grad,) = ad.withgradient(f, -A)
        assert rounded.dtype == int and value == f(-A) and grad.tolist() == rounded.tolist()
        assert ad.jvp(f, (-A,), (np.ones(4),))[1] == pytest.approx(rounded.sum())


def test_options_that_change():
    vectorize = np.vectorize(piecewise)

    def f(a):
        return np.sum(vectorize(a))

    first = ad.gradient(f, A)[0]
    vectorize.pyfunc = math.sin
    assert ad.gradient(f, A)[0] == pytest.approx(np.cos(A))
    vectorize.pyfunc = piecewise
    assert ad.gradient(f, A)[0] == pytest.approx(first)


def test_arrays_that_do_not_fit_a_signature():
    def f(a):
        return np.sum(np.vectorize(lambda x, y: np.sum(x) * np.sum(y), signature="(n),(n)->()")(a, a[: int(a[0])]))

    assert ad.gradient(f, np.array([2.0, 3.0]))[0].tolist() == [10.0, 10.0]
    with pytest.raises(ValueError, match="inconsistent size"):
        ad.gradient(f, np.array([1.0, 3.0]))


def test_results_that_do_not_fit_a_signature():
    def f(a):
        return np.sum(np.vectorize(lambda x: x[: int(a[0])], signature="(n)->(n)")(np.stack([a, a])))

    assert ad.gradient(f, np.array([2.0, 3.0]))[0].tolist() == [2.0, 2.0]
    with pytest.raises(ValueError, match="inconsistent size"):
        ad.gradient(f, np.array([1.0, 3.0]))


def test_how_often_it_is_called_with_a_cache():
    def f(a):
        return np.sum(np.vectorize(noted, cache=True)(a) + np.vectorize(noted, otypes=[float], cache=True)(a))

    CALLED.clear()
    f(A)
    expected = list(CALLED)
    for _ in range(3):
        CALLED.clear()
        assert ad.gradient(f, A)[0].tolist() == [4.0] * 4
        assert CALLED == expected
