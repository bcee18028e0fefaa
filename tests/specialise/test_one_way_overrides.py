"""NumPy's protocols on one way: arrays and objects whose classes say what ufuncs and functions of them are."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import check_slopes, slopes

import autodiff_hook as ad

A = np.arange(1.0, 5.0)


class Quantity(np.ndarray):
    """Numbers that count units: sums are of one unit, products have another one."""

    def __new__(cls, values, unit=1.0):
        made = np.asarray(values, dtype=float).view(cls)
        made.unit = unit
        return made

    def __array_finalize__(self, obj):
        self.unit = getattr(obj, "unit", 1.0)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        units = [getattr(x, "unit", 1.0) for x in inputs]
        arrays = [x.view(np.ndarray) if isinstance(x, Quantity) else x for x in inputs]
        if ufunc in (np.add, np.subtract, np.maximum, np.greater, np.less) and len(units) > 1:
            arrays[1] = arrays[1] * (units[1] / units[0])
        if out is not None:
            kwargs["out"] = tuple([x.view(np.ndarray) for x in out])
        result = super().__array_ufunc__(ufunc, method, *arrays, **kwargs)
        if result is NotImplemented or ufunc in (np.greater, np.less):
            return result
        if out is not None:
            return out[0]
        unit = units[0] * units[-1] if ufunc is np.multiply and method == "__call__" else units[0]
        return Quantity(result, units[0] ** 0.5 if ufunc is np.sqrt else unit)

    def __array_function__(self, function, types, args, kwargs):
        if function in (np.concatenate, np.where):
            plain = (
                [[x.value for x in args[0]]] if function is np.concatenate else [getattr(x, "value", x) for x in args]
            )
            return super().__array_function__(function, types, tuple(plain), kwargs)
        return super().__array_function__(function, types, args, kwargs)

    def __setitem__(self, key, value):
        super().__setitem__(key, getattr(value, "value", value) / self.unit)

    def __eq__(self, other):
        return np.equal(self.value, other.value)

    @property
    def value(self):
        return self.view(np.ndarray) * self.unit


class Told:
    """Keeps by which ufuncs it was made."""

    def __init__(self, values, told=()):
        self.values, self.told = values, told

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or any(type(x) is Other for x in inputs):
            return NotImplemented
        plain = [x.values if isinstance(x, Told) else x for x in inputs]
        return type(self)(ufunc(*plain, **kwargs), (*self.told, ufunc.__name__, ufunc.nin))

    def __array_function__(self, function, types, args, kwargs):
        if function is not np.sum:
            return NotImplemented
        return float(np.sum(args[0].values, **kwargs)) * len(self.told)


class Telling(Told):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs) if ufunc is not np.negative else 3.0


class Other:
    def __init__(self, values):
        self.values = values

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return Told(self.values * 7.0, ("other",))


class Above:
    """Is asked before NumPy, as in the days before there were protocols."""

    __array_priority__ = 1000.0

    def __init__(self, scale):
        self.scale = scale

    def __rmul__(self, other):
        return self.scale * other * 2.0


def scaled(x):
    q = Quantity(A, 2.0) * x
    return np.sum((q * Quantity(A * x, 3.0) + q).value) + np.sum(np.sqrt(q).value)


def compared(x):
    q, limit = Quantity([x, 2.0 * x], 100.0), Quantity([50.0, 500.0], 1.0)
    above, same = q > limit, q == limit
    return x * above.sum() + x * x * (limit < q)[0] + same.sum()


def reduced(x):
    q = Quantity(A * x, 2.0)
    total = q.sum() + np.add.reduce(q) + np.max(q) + np.sum(q, axis=0) + q[1:].max()
    return float(total.value) * q.min(keepdims=True).value[0]


def in_place(x):
    q = Quantity(A * x, 2.0)
    q += Quantity(A, 3.0)
    q *= 2.0
    q[0] = Quantity(x, 5.0)
    plain = A * x
    np.multiply(plain, x, out=plain)
    return q.value.sum() + plain.sum()


def of_functions(x):
    q = Quantity(A * x, 2.0)
    joined = np.concatenate([q, Quantity(A * x * x)])
    chosen = np.where(q > Quantity(2.0, 1.0), q, 0.0)
    return joined.sum() + chosen.sum() + np.trapezoid(q, dx=2.0).value + np.result_type(q).itemsize * x


def reflected(x):
    q = A * Quantity(A * x, 2.0) + np.float64(2.0) * Quantity(x, 3.0) - 1.0
    return (-q).value.sum() + float(abs(q).value[0]) * q[1]


def told(x):
    a = np.sin(Told(A * x))
    b = np.add(np.float64(x), np.multiply(A, a))
    return np.sum(b) * len(b.told) + float(np.sum(np.add(a, b).values))


def asked_in_turn(x):
    found = np.add(Told(A * x), Telling(A))
    other = np.multiply(Told(A * x), Other(A * x))
    try:
        np.add.reduce(found)
    except TypeError:
        x = x * x
    try:
        np.mean(found)
    except TypeError:
        x = x * x
    return float(found.values.sum()) * len(type(found).__name__) * -np.negative(Telling(x)) * x + other.values.sum()


def deferred(x):
    return (A * Above(x)).sum() + np.float64(x) * Above(2.0)


@pytest.mark.parametrize(
    "f", [scaled, compared, reduced, in_place, of_functions, reflected, told, asked_in_turn, deferred]
)
def test_what_classes_say_of_numpy(f):
    for x in (0.7, 1.3, 0.2):
        check_slopes(f, x)


def test_what_a_class_says_may_change(monkeypatch):
    def f(x):
        return np.sum(np.sin(Told(A * x)))

    check_slopes(f, 0.7)
    monkeypatch.setattr(Told, "__array_ufunc__", lambda self, ufunc, method, x: Told(x.values * x.values, ("square",)))
    for _ in range(3):
        assert ad.gradient(f, 0.7) == pytest.approx(slopes(f, 0.7))
