"""Functions that operators make go where functions go: through pickle, into classes, into the docs."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest

import autodiff_hook as ad

OPERATORS = [ad.grad, ad.value_and_grad, ad.jacobian, ad.jacrev, ad.jacfwd, ad.hessian]


def loss(x, n=2.0):
    """A power."""
    return (x**n).sum() if isinstance(x, np.ndarray) else x**n


@ad.grad
def decorated(x):
    return x * x


class Spring:
    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return 0.5 * self.k * x * x

    def _loss(self, x):
        return self.k * x**3

    force = ad.grad(_loss, argnums=1)


@pytest.mark.parametrize("operator", OPERATORS)
def test_pickled(operator):
    made = operator(loss)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(made, protocol))
        assert again(3.0, 3.0) == made(3.0, 3.0) and again.__wrapped__ is loss
    assert copy.deepcopy(made)(3.0) == made(3.0)


def test_options_nesting_and_bound_methods():
    second = pickle.loads(pickle.dumps(ad.grad(ad.grad(loss), argnums=(0,))))
    assert second(3.0, 3.0) == (18.0,)
    of_method = pickle.loads(pickle.dumps(ad.grad(Spring(2.0).energy)))
    assert of_method(3.0) == 6.0
    assert pickle.loads(pickle.dumps(ad.checkpoint(loss)))(3.0) == 9.0
    with_aux = pickle.loads(pickle.dumps(ad.grad(pair, has_aux=True)))
    assert with_aux(3.0) == (6.0, "aux")


def pair(x):
    return x * x, "aux"


def test_what_decorates_a_function_is_pickled_by_its_name():
    assert decorated(3.0) == 6.0
    assert pickle.loads(pickle.dumps(decorated)) is decorated


def test_as_methods():
    assert Spring(2.0).force(3.0) == 54.0 and Spring.force(Spring(2.0), 3.0) == 54.0


@pytest.mark.parametrize("operator", OPERATORS)
def test_looks_like_the_function(operator):
    made = operator(loss)
    assert made.__name__ == "loss" and made.__doc__ == "A power." and made.__module__ == __name__
    assert inspect.signature(made) == inspect.signature(loss)
    assert repr(made) == f"<{operator.__name__} of {__name__}.loss>"
    with pytest.raises(ad.Unsupported, match="not callable"):
        operator(3.0)
