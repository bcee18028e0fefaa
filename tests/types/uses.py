"""What a type checker says of uses of the public API: lines with ``# error`` are wrong, all others are right."""

import math
from functools import partial
from typing import assert_type

import numpy as np
import numpy.typing as npt

import autodiff_hook as ad

Array = npt.NDArray[np.float64]


def loss(x: float, n: int = 2, *, scale: float = 1.0) -> float:
    return scale * x**n


def of_array(w: Array, x: Array) -> float:
    return float(np.sum(w * x))


def with_aux(x: float, n: int = 2) -> tuple[float, str]:
    return x**n, "aux"


class Model:
    def __init__(self, k: float) -> None:
        self.k = k

    def energy(self, x: float) -> float:
        return self.k * x


def right(w: Array) -> None:
    ad.grad(loss)(2.0)
    ad.grad(loss, (0, 1))(2.0, 3)
    ad.grad(loss)(2.0, scale=3.0)
    ad.grad(of_array)(w, w)
    ad.gradient(loss, 2.0, n=3)
    ad.gradient(Model(1.0).energy, 2.0)
    ad.gradient(Model.energy, Model(1.0), 2.0)
    ad.gradient(partial(loss, n=3), 2.0)
    ad.gradient(lambda x: x * x, 2.0)
    ad.gradient(math.hypot, 3.0, 4.0)
    ad.grad(np.linalg.norm)(w)
    ad.grad(math.sin)(1.0)
    ad.hessian(loss)(2.0)
    ad.jacobian(of_array)(w, w)
    ad.jvp(loss, (2.0,), (1.0,))
    assert_type(ad.withgradient(loss, 2.0)[0], float)
    assert_type(ad.value_and_grad(loss)(2.0)[0], float)
    assert_type(ad.pullback(loss, 2.0)[0], float)
    assert_type(ad.stop_gradient(2.0), float)
    assert_type(ad.checkpoint(loss)(2.0, n=1), float)
    assert_type(ad.gradient(with_aux, 2.0, has_aux=True)[1], str)
    assert_type(ad.withgradient(with_aux, 2.0, has_aux=True)[0], tuple[float, str])
    assert_type(ad.pullback(with_aux, 2.0, n=3, has_aux=True)[2], str)
    assert_type(ad.grad(with_aux, has_aux=True)(2.0)[1], str)
    assert_type(ad.value_and_grad(with_aux, has_aux=True)(2.0, n=3)[0], tuple[float, str])
    assert_type(ad.jacobian(with_aux, has_aux=True)(2.0)[1], str)
    assert_type(ad.jvp(with_aux, (2.0,), (1.0,), has_aux=True)[2], str)
    assert_type(ad.linearize(loss, 2.0)[0], float)
    assert_type(ad.linearize(with_aux, 2.0, has_aux=True)[2], str)
    ad.jacfwd(loss)(2.0)
    ad.jacrev(of_array, 1)(w, w)
    ad.explain(loss, 2.0)
    print(ad.explain(loss, 2.0).seconds)


def wrong(w: Array) -> None:
    ad.grad(loss)("oops")  # error
    ad.grad(loss)()  # error
    ad.grad(loss)(2.0, scale="big")  # error
    ad.grad(loss, "x")(2.0)  # error
    ad.value_and_grad(loss)(w)  # error
    ad.gradient(loss, "oops")  # error
    ad.gradient(loss, 2.0, m=3)  # error
    ad.gradient(of_array, w)  # error
    ad.gradient(Model(1.0).energy, "oops")  # error
    ad.withgradient(loss, "oops")  # error
    ad.pullback(loss, "oops")  # error
    ad.J(loss, "oops")  # error
    ad.jacobian(loss)("oops")  # error
    ad.hessian(loss)("oops")  # error
    ad.checkpoint(loss)("oops")  # error
    ad.explain(loss, "oops")  # error
    ad.jacfwd(loss)("oops")  # error
    ad.linearize(loss, "oops")  # error
    ad.grad(loss, has_aux=True)  # error
    ad.grad(with_aux, has_aux=True)("oops")  # error
    ad.gradient(loss, 2.0, has_aux=True)  # error
    ad.grad(3.0)  # error
