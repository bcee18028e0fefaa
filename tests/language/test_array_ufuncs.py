"""Classes that say what ufuncs of them are: ``__array_ufunc__``."""

import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

from autodiff_hook import gradient, hvp, jvp

W = np.array([2.0, -1.0, 0.5])


class Labelled(NDArrayOperatorsMixin):
    def __init__(self, data, label):
        self.data, self.label = data, label

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or not all(isinstance(x, (Labelled, np.ndarray, float)) for x in inputs):
            return NotImplemented
        data = [x.data if isinstance(x, Labelled) else x for x in inputs]
        return type(self)(ufunc(*data, **kwargs), f"{ufunc.__name__} {self.label}")


class Named(Labelled):
    pass


class Filled(NDArrayOperatorsMixin):
    """It knows of arrays for the result."""

    def __init__(self, data):
        self.data = data

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **kwargs):
        data = [x.data if isinstance(x, Filled) else x for x in inputs]
        if out:
            kwargs["out"] = tuple([x.data if isinstance(x, Filled) else x for x in out])
        found = getattr(ufunc, method)(*data, **kwargs)
        return out[0] if out else Filled(found)


def filled(x, fill):
    held = Filled(W * x)
    fill(held, W + x)
    return (held.data**2).sum()


def added_in_place(x, other):
    held = W * x
    held += other
    return (held**2).sum()


class Tagged(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **kwargs):
        data = [np.asarray(x) for x in inputs]
        if out:
            kwargs["out"] = tuple([np.asarray(x) for x in out])
        found = 2.0 * getattr(ufunc, method)(*data, **kwargs)
        return out[0] if out else found.view(Tagged)


def tagged_in_place(x):
    held = (W * x).view(Tagged)
    held *= x
    return float(np.asarray(held * held).sum())


class Deaf(Labelled):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return NotImplemented


PROGRAMS = {
    "unary": lambda x: np.sin(Labelled(W * x, "a")).data.sum(),
    "two of them": lambda x: np.multiply(Labelled(W * x, "a"), Labelled(W + x, "b")).data.sum(),
    "array from the left": lambda x: np.hypot(W * x, Labelled(W + 3.0, "a")).data.sum(),
    "operator": lambda x: (Labelled(W, "a") * x + Labelled(x * x * W, "b")).data.sum(),
    "array * object": lambda x: ((W * x) * Labelled(W + x, "a")).data.sum(),
    "scalar - object": lambda x: (np.float64(2.0) * x - Labelled(W * x, "a")).data.sum(),
    "scalar ** object": lambda x: (np.exp(x) ** Labelled(W, "a")).data.sum(),
    "options": lambda x: np.add(Labelled(W * x, "a"), x, dtype=float).data.sum(),
    "maximum": lambda x: np.maximum(Labelled(W * x, "a"), 0.3).data.sum(),
    "out by name": lambda x: filled(x, lambda held, a: np.multiply(a, x, out=held)),
    "out of the class itself": lambda x: filled(x, lambda held, a: np.multiply(held, a, out=held)),
    "out by place": lambda x: filled(x, lambda held, a: np.multiply(a, x, held)),
    "out as a tuple": lambda x: filled(x, lambda held, a: np.divmod(a, x, out=(np.empty(3), held))),
    "out of a method": lambda x: filled(x, lambda held, a: np.add.accumulate(a, out=held)),
    "out = an array": lambda x: (lambda out: (np.exp(Filled(W * x), out=out), out.sum())[1])(np.empty(3)),
    "array += object": lambda x: added_in_place(x, Filled(W + x)),
    "derived array *= number": tagged_in_place,
    "closed over": lambda x: (lambda held: np.exp(held).data.sum())(Labelled(W * x, "a")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_ufuncs_of_objects(name):
    f, x, h = PROGRAMS[name], 0.7, 1e-5
    slope = (f(x + h) - f(x - h)) / (2 * h)
    assert gradient(f, x) == (pytest.approx(slope, rel=1e-6),)
    assert jvp(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)
    curvature = (f(x + 1e-3) - 2 * f(x) + f(x - 1e-3)) / 1e-6
    assert hvp(f, (x,), (1.0,))[0] == pytest.approx(curvature, rel=1e-4, abs=1e-4)


def test_derived_classes_are_asked_before_their_bases_and_others_from_the_left():
    labels = []

    def f(x):
        for pair in ((Labelled(W, "base"), Named(W * x, "derived")), (Named(W * x, "one"), Named(W, "two"))):
            total = np.add(*pair)
            labels.append((type(total).__name__, total.label))
        return total.data.sum()

    expected = f(0.7)
    gradient(f, 0.7)
    assert labels[:2] == labels[2:] == [("Named", "add derived"), ("Named", "add one")]
    assert expected == pytest.approx(0.7 * W.sum() + W.sum())


def test_the_next_is_asked_if_one_does_not_know():
    def f(x):
        return np.add(Deaf(W, "deaf"), Labelled(W * x, "a")).data.sum()

    assert f(0.7) == pytest.approx(W.sum() + 0.7 * W.sum())
    assert gradient(f, 0.7) == (pytest.approx(W.sum()),)


def test_nobody_knows():
    with pytest.raises(TypeError, match="operand type"):
        gradient(lambda x: np.add(Deaf(W, "a"), x).data.sum(), 0.7)
