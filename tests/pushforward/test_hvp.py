"""``hvp`` and ``hessian`` over the corpus: against differences of the gradient."""

import numpy as np
import pytest
from arrays import EVERYTHING
from trees import direction, fixed, moved, numbers

import autodiff_hook as ad

NAMES = [name for name in EVERYTHING if name != "scalars_and_single_precision"]


# On 3.11 the forward program stores a tangent before the callee raises, which is a documented limit.
RAISING = "try_with_raise"


def test_a_callee_that_raises_into_a_handler_is_right_or_an_error():
    try:
        test_hvp(RAISING)
    except ad.Unsupported as error:
        assert "raised an exception" in str(error)


@pytest.mark.parametrize("name", [name for name in NAMES if name != RAISING])
def test_hvp(name):
    function, point = EVERYTHING[name]
    tangents = fixed(point, direction(point))
    step = 1e-5
    ahead, behind = (ad.gradient(function, *moved(point, tangents, h)) for h in (step, -step))
    difference = (numbers(ahead) - numbers(behind)) / (2 * step)
    assert numbers(ad.hvp(function, point, tangents)) == pytest.approx(difference, rel=1e-5, abs=1e-5)


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
