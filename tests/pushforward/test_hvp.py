"""``hvp`` and ``hessian``: their forms. The corpus has the products of programs with directions."""

import numpy as np
import pytest
from arrays import EVERYTHING
from trees import direction

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
