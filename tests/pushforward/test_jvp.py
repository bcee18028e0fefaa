"""``jvp`` against the gradient, to the last digits; the corpus has the same programs in every mode."""

import numpy as np
import pytest
from arrays import EVERYTHING
from trees import direction, inner

import autodiff_hook as ad


def single(point):
    return any(getattr(x, "dtype", None) == np.float32 for x in point)


@pytest.mark.parametrize("name", EVERYTHING)
def test_value_and_product_with_the_gradient(name):
    function, point = EVERYTHING[name]
    tangents = direction(point)
    value, derivative = ad.jvp(function, point, tangents)
    assert value == function(*point) and type(value) is type(function(*point))
    expected = inner(ad.gradient(function, *point), tangents)
    assert derivative == pytest.approx(expected, rel=1e-5 if single(point) else 1e-10, abs=1e-12)
