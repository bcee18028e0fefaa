"""``hvp`` and ``hessian``: their forms. The corpus has the products of programs with directions."""

import numpy as np
import pytest
from arrays import EVERYTHING
from trees import assert_slopes, direction, slopes, typed

import autodiff_hook as ad
from autodiff_hook._testing_trees import leaves, mapped

# The first has no scalar derivative of a tree of single precision; the second stores before it raises.
LEFT_OUT = ("scalars_and_single_precision", "try_with_raise")


@pytest.mark.parametrize("name", [name for name in EVERYTHING if name not in LEFT_OUT])
def test_gradient_of_a_gradient(name):
    function, point = EVERYTHING[name]
    tangents = mapped(lambda x, v: 0.0 if isinstance(x, int) else v, point, direction(point))

    def slope(*point):
        return inner(ad.gradient(function, *point), tangents)

    expected = dict(leaves(ad.hvp(function, point, tangents)))
    for key, found in leaves(ad.gradient(slope, *point)):
        assert found == pytest.approx(expected[key], rel=1e-9)


def inner(gradient, tangent):
    """The product of a tree of gradients with one of tangents."""
    if tangent is None or gradient is None:
        return 0.0
    if isinstance(gradient, (list, tuple)):
        return sum([inner(g, t) for g, t in zip(gradient, tangent)])
    if isinstance(gradient, dict):
        return sum([inner(gradient[key], tangent[key]) for key in gradient])
    return np.sum(np.real(np.conj(gradient) * tangent))


def test_hessian_of_an_array():
    x = np.array([0.3, 0.9, 1.4])
    hessian = ad.hessian(lambda x: (np.sin(x) * x[::-1]).sum() * x[0])(x)
    step = 1e-6
    f = ad.grad(lambda x: (np.sin(x) * x[::-1]).sum() * x[0])
    columns = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(3)]
    assert hessian == pytest.approx(np.stack(columns, axis=1), abs=1e-8)
    assert hessian == pytest.approx(hessian.T, abs=1e-12)


def test_hessian_shapes():
    def f(x, y):
        return (x * x).sum() * y**2

    x, y = np.array([[1.0, 2.0]]), 3.0
    assert ad.hessian(f)(x, y).shape == (1, 2, 1, 2)
    assert ad.hessian(f, 1)(x, y) == 10.0
    (xx, xy), (yx, yy) = ad.hessian(f, (0, 1))(x, y)
    assert xx.shape == (1, 2, 1, 2) and xy.shape == yx.shape == (1, 2) and yy == 10.0
    assert np.array_equal(xy, yx) and np.array_equal(xy, 4 * x * y)


def test_hessian_of_containers():
    found = ad.hessian(lambda p: p["a"][0] ** 2 * p["b"])({"a": [2.0], "b": 3.0, "name": "p"})
    assert found["a"][0] == {"a": [6.0], "b": 4.0, "name": None}
    assert found["b"] == {"a": [4.0], "b": 0.0, "name": None}


class Model:
    def __init__(self):
        self.w = np.array([1.0, 2.0])
        self.b = 3.0


def test_hessian_of_objects():
    found = ad.hessian(lambda m: (m.w * m.w).sum() * m.b)(Model())
    assert found.w.b.tolist() == [2.0, 4.0] and found.w.w.tolist() == [[6.0, 0.0], [0.0, 6.0]]
    assert found.b.b == 0.0


def test_hessian_refuses_complex_arguments():
    with pytest.raises(ad.Unsupported, match="complex"):
        ad.hessian(lambda z: abs(z))(1j)


def test_hvp_needs_a_scalar():
    with pytest.raises(ad.Unsupported, match="real scalar"):
        ad.hvp(lambda x: (x, x), (1.0,), (1.0,))


def test_keyword_arguments_are_constants():
    assert ad.hessian(lambda x, *, k: x**k)(2.0, k=3) == 12.0


def nearest(cs, xs):
    return sum(min([(x - c) ** 3 for c in cs]) + max((x * c for c in cs), key=abs) for x in xs)


def greatest_of_a_list(xs):
    return max([x**3 for x in xs]) * min(xs)


def of_a_tuple(xs):
    return max((xs[0] ** 2, xs[1] ** 3, xs[0] * xs[1]))


@pytest.mark.parametrize(
    "f, args",
    [(nearest, ([0.1, 0.9, 2.0], [0.3, 1.0])), (greatest_of_a_list, ([0.5, 2.0, 1.0],)), (of_a_tuple, ([0.5, 2.0],))],
)
def test_greatest_and_smallest_of_lists(f, args):
    v = tuple([[0.3 * (i + 1) for i in range(len(xs))] for xs in args])
    step = 1e-5

    def moved(sign):
        return [[x + sign * step * d for x, d in zip(xs, ds)] for xs, ds in zip(args, v)]

    up, down = ad.gradient(f, *moved(1)), ad.gradient(f, *moved(-1))
    for _ in range(2):
        found = ad.hvp(f, args, v)
        for x, a, b in zip(found, up, down):
            assert x == pytest.approx([(p - q) / (2 * step) for p, q in zip(a, b)], rel=1e-5)


M = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, -0.4], [0.5, 0.15, 1.2]])
FORMS = {
    "det": lambda a: np.linalg.det(a) ** 2,
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "max": lambda a: np.max(a**3) * a.min() + np.sum(np.max(a**2, 0)) + np.sum(a.max(1, initial=0.25) ** 2),
    "prod": lambda a: np.prod(a) + np.sum(np.prod(a, 1, keepdims=True) ** 2),
    "var": lambda a: np.var(a) * np.sum(a.var(0, ddof=1)),
    "std": lambda a: np.std(a) ** 3 + np.sum(a.std(1)),
    "sort": lambda a: np.sum(np.sort(a**2, 0) * M) + np.sort(a**3, None)[2],
    "clip": lambda a: np.sum(np.clip(a, 0.13, 1.3) ** 3) + np.sum(np.clip(a, 1.2 * a[0, 2], 0.9 * a[0, 0]) ** 2),
    "split": lambda a: sum(np.sum(part**3) * (i + 1) for i, part in enumerate(np.split(a, 3))),
    "array_split": lambda a: np.sum(np.array_split(a, 2, 1)[0] ** 3),
    "delete": lambda a: np.sum(np.delete(a, 1, 0) ** 3),
    "trapezoid": lambda a: np.sum(np.trapezoid(a**3)),
}


@pytest.mark.parametrize("name", FORMS)
def test_second_derivatives_of_forward_forms(name):
    f, v, step = FORMS[name], np.cos(np.arange(9.0)).reshape(3, 3), 1e-5
    (up,), (down,) = ad.gradient(f, M + step * v), ad.gradient(f, M - step * v)
    for _ in range(2):
        assert ad.hvp(f, (M,), (v,))[0] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-6)
        assert ad.jvp(f, (M,), (v,))[1] == pytest.approx(np.sum(ad.gradient(f, M)[0] * v))


def test_an_object_that_is_given_twice():
    class Spring:
        def __init__(self, k):
            self.k = k

    def energy(springs, x):
        total = 0.0
        for _ in range(30):
            for spring in springs:
                total = total + spring.k * spring.k * 0.5 * x
        return total

    shared = Spring(2.0)
    for _ in range(2):
        slope, moved = ad.hvp(energy, ([shared, shared], 3.0), ([{"k": 1.0}, {"k": 1.0}], 0.0))
        assert [part.k for part in slope] == pytest.approx([180.0, 180.0])
        assert moved == pytest.approx(120.0)


def circuit(r, s, i):
    """Which places of the matrix are added to is read from tuples by what a loop knows."""
    parts = [("R", 1, 0, r), ("R", 1, 2, s), ("I", 0, 2, i)]
    g, current = np.zeros((2, 2)), np.zeros(2)
    for kind, a, b, v in parts:
        if kind == "R":
            for p, q, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
                if p > 0 and q > 0:
                    g[p - 1, q - 1] += sign / v
        elif b > 0:
            current[b - 1] += v
    return np.linalg.solve(g, current)[1] ** 2


def test_a_tangent_that_is_typed_on_one_way():
    point, v = (2.0, 3.0, 0.5), (0.3, -0.2, 0.7)
    for _ in range(2):
        assert_slopes(typed("hvp", circuit, point, v), slopes(circuit, point, v))


STATE = {"runs": 0}


def counting(v, scale=2.0):
    STATE["runs"] += 1
    return np.sum(v**3) * scale * STATE["runs"]


def with_note(v):
    return counting(v), "note"


@pytest.mark.parametrize("again", range(3))
def test_effects_of_second_order_happen_once(again):
    v, along = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    hessian = lambda f, *args: ad.hessian(f)(*args)  # noqa: E731
    calls = [
        lambda: ad.hvp(counting, (v,), (along,))[0] * along,
        lambda: ad.hvp(with_note, (v,), (along,), has_aux=True)[0][0] * along,
        lambda: np.diag(hessian(counting, v)),
        lambda: np.diag(hessian(lambda x: counting(np.asarray(x)), v)),
        lambda: np.diag(ad.hessian(with_note, has_aux=True)(v)[0]),
        lambda: np.array([hessian(lambda x: counting(np.array([x, 2.0])), 1.0), hessian(lambda x: counting(x), 2.0)]),
    ]
    for number, call in enumerate(calls):
        STATE["runs"] = 0
        last = number == len(calls) - 1
        assert call().tolist() == [12.0, 48.0 if last else 24.0]
        assert STATE["runs"] == 1 + last
