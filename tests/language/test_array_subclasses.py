"""Arrays of classes with a say of their own: ``np.matrix``, ``__array_ufunc__``, ``__array_function__``, methods."""

from __future__ import annotations

import copy
import zlib

import numpy as np
import pytest
from in_all_modes import MODES, differences

from autodiff_hook import NotDifferentiable, gradient
from autodiff_hook.api import generic_gradient

AT, WAY = np.array([0.7, 1.3, 2.1]), np.array([0.3, -1.1, 0.6])


class Plain(np.ndarray):
    pass


class Info(np.ndarray):
    def __new__(cls, v, info=None):
        obj = np.asarray(v).view(cls)
        obj.info = info
        return obj

    def __array_finalize__(self, obj):
        if obj is None:
            return
        self.info = getattr(obj, "info", None)

    def twice(self):
        return self * 2


class Unit(np.ndarray):
    def __new__(cls, v, unit=1.0):
        obj = np.asarray(v, dtype=float).view(cls)
        obj.unit = unit
        return obj

    def __array_finalize__(self, obj):
        self.unit = getattr(obj, "unit", 1.0)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        units = [getattr(i, "unit", 1.0) for i in inputs]
        arrays = [np.asarray(i) if isinstance(i, Unit) else i for i in inputs]
        r = getattr(ufunc, method)(*arrays, **kwargs)
        r = np.asarray(r).view(Unit)
        r.unit = units[0] * (units[1] if len(units) > 1 and ufunc is np.multiply else 1.0)
        return r

    @property
    def value(self):
        return self.view(np.ndarray) * self.unit


class Arr:
    def __init__(self, v):
        self.v = v

    def __array_function__(self, func, types, args, kwargs):
        if func is np.sum:
            return np.sum(args[0].v) * 2
        if func is np.concatenate:
            return Arr(np.concatenate([a.v for a in args[0]]))
        return NotImplemented

    def __array_ufunc__(self, uf, method, *inputs, **kw):
        if method == "reduce":
            return uf.reduce(inputs[0].v) * 3
        return Arr(uf(*[i.v if isinstance(i, Arr) else i for i in inputs]))


class Getter(np.ndarray):
    def __getitem__(self, i):
        return super().__getitem__(i) * 2.0

    def __mul__(self, o):
        return np.ndarray.__mul__(self, o) + 1.0

    def sum(self, *a, **k):
        return super().sum(*a, **k) * 3


class Meters(np.ndarray):
    """Quantity-like with attribute that moves."""

    def __new__(cls, v, scale=1.0):
        obj = np.asarray(v, dtype=float).view(cls)
        obj.scale = scale
        return obj

    def __array_finalize__(self, obj):
        if obj is not None:
            self.scale = getattr(obj, "scale", 1.0)

    def __array_wrap__(self, arr, context=None, return_scalar=False):
        r = arr.view(Meters)
        r.scale = self.scale
        return r

    def to(self):
        return np.asarray(self) * self.scale


class Mean(np.ndarray):
    f = 1.0

    def mean(self, *a, **k):
        return np.asarray(self).mean() * 3.0

    def sum(self, *a, **k):
        return super().sum(*a, **k) * self.f


def matrix_made_of_numbers(x):
    m = np.matrix([[x[0], x[1]], [x[2], 1.0]])
    return float((m * m)[0, 1] + m.T[0, 1] + np.sum(m**2))


def matrix_made_of_an_array(x):
    m = np.asmatrix(np.outer(x, x)) + np.eye(3)
    return float((m.I * m.T).sum() + m.A[0, 1] + m[0].A1[2] + np.asarray(m)[1, 1])


def matrix_equations(x):
    m = np.matrix(np.outer(x, x) + np.eye(3))
    b = np.matrix(x).T
    y = np.linalg.solve(m, b)
    m[0, 0] = x[1] ** 2
    return float((b.T * m * b)[0, 0] + y.sum() + m.mean() + np.trace(m) + np.linalg.det(m))


def matrix_functions(x):
    m = np.matrix(np.outer(x, x) + np.eye(3))
    return float(np.exp(m).sum() + m.sum(axis=0)[0, 1] + np.multiply(m, m).max() + m.std() + m.flatten()[0, 3])


def matrix_blocks_and_powers(x):
    m = np.mat([[x[0], x[1]], [1.0, x[2]]]) if hasattr(np, "mat") else np.matrix([[x[0], x[1]], [1.0, x[2]]])
    b = np.bmat([[m, m.T], [np.eye(2), m**2]])
    c = b[0] * b.T * b[:, 1]
    d = np.linalg.inv(m) @ m.getA1()[:2]
    m[0] = x[:2] ** 2
    m *= 2
    e = -m + abs(m) - m / 3.0
    return float(
        c[0, 0]
        + d.sum()
        + m.sum()
        + e[1, 1]
        + np.linalg.norm(m)
        + m.A[0][1]
        + m.tolist()[0][0]
        + (2.0 * m).prod()
        + m.item(1)
    )


def matrices_joined(x):
    m = np.asmatrix(np.outer(x, x))
    n = np.vstack([m, m])
    h = np.hstack((m, 2 * m))
    k = np.concatenate([m, m], axis=1)
    for row in m:
        n[0] += row
    return float(
        n.sum()
        + (h * h.T).sum()
        + k[1, 2]
        + np.squeeze(m).sum()
        + np.diag(m).sum()
        + m.diagonal().sum()
        + np.kron(m, m).max()
        + m.ravel()[0, 1]
        + np.array(m)[0, 1]
        + np.where(m > 1, m, 0).sum()
    )


def matrix_decompositions(x):
    m = np.asmatrix(np.outer(x, x) + np.diag([1.0, 2.0, 3.0]))
    w, v = np.linalg.eigh(m)
    return float(w[0] + np.linalg.svd(m)[1].sum() + np.linalg.cholesky(m).sum() + np.trace(m))


def columns_of_a_matrix_stored(x):
    m = np.matrix(np.zeros((3, 3)))
    m[:, 1] = np.matrix(x).T
    m[:, 0] = m[:, 1] * x[2]
    m[1] = np.multiply(m[1], x)
    m[0, :] += m[2]
    m[[1, 2], 2] = x[:2]
    m[:, 2] *= x[0]
    return float(m.sum() + (m * m)[2, 1])


class Column(np.ndarray):
    def __getitem__(self, key):
        part = super().__getitem__(key)
        return part[:, None] if isinstance(part, np.ndarray) and part.ndim == 1 else part


def stored_into_what_a_class_takes(x):
    a = np.zeros((3, 4)).view(Column)
    a[:, 1] = x.reshape(3, 1)
    a[1] = np.array([x[0], 1.0, x[1], 2.0])[:, None]
    a[2, 3] = x[2] * 2.0
    a[a > 1.5] = x[0]
    a[...] = a * x[1]
    return float(np.sum(np.asarray(a) ** 2))


def plain_subclass(x):
    a = (x * 2).view(Plain)
    b = np.sin(a) * a + 1.0
    return float(b.sum() + np.sum(b[1:]))


def subclass_with_an_attribute(x):
    a = Info(x, info="m")
    b = np.sin(a.twice()) + a
    return float(b.sum()) if b.info == "m" else 0.0


def quantity(x):
    a = Unit(x, 3.0)
    b = a * a + a
    return float(b.value.sum())


def ufuncs_handed_to_super(x):
    class Log(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
            args = [i.view(np.ndarray) if isinstance(i, Log) else i for i in inputs]
            r = super().__array_ufunc__(ufunc, method, *args, **kwargs)
            return r.view(Log) if isinstance(r, np.ndarray) else r

    a = (x * 1.0).view(Log)
    return float(np.sum(np.asarray(np.exp(a) * a)) + np.add.reduce(a))


def functions_of_a_holder(x):
    a = Arr(x)
    return float(np.sum(np.concatenate([a, np.sin(a)])) + np.add.reduce(a))


def items_and_products_of_a_class(x):
    a = (x * 1.0).view(Getter)
    return float(a[0] * a[1] + np.asarray(a * a).sum() + a.sum())


def stores_into_a_subclass(x):
    a = np.zeros(3).view(Plain)
    a[0] = x[0]
    a[1:] = x[1:] ** 2
    a *= x
    return float(a.sum() + a.mean() + a.max())


def results_wrapped_by_a_class(x):
    a = Meters(x, 2.0)
    b = np.sin(a) + a * 2
    return float(b.to().sum() + a[1:].to().sum() + np.sum(a.copy().to()))


def methods_that_numpy_calls(x):
    a = (x * 1.0).view(Mean)
    a.f = x[1]
    return float(np.mean(a) + np.sum(a) + a.sum() + np.add.reduce(a) + np.max(a) + np.std(a))


def stores_by_a_class(x):
    class Log(np.ndarray):
        def __setitem__(self, i, v):
            super().__setitem__(i, v * 2)

    a = np.zeros(3).view(Log)
    a[0] = x[0]
    a[1:] = x[1:] ** 2
    return float(np.asarray(a).sum() + a.sum() + np.dot(a, a))


def attributes_handed_on(x):
    b = np.sin(Info(x, x[0]) * 2)
    c = Meters(x, x[1])[1:] * x[1:] + 1.0
    return float(b.sum() * b.info + b[1:].info * c.to().sum() + b.copy().info)


class WrappedAsBefore(np.ndarray):
    """Says what NumPy 1 asked of ``__array_wrap__``, which NumPy 2 calls, too."""

    def __array_wrap__(self, out, context=None):
        return np.ndarray.__array_wrap__(self, out, context)


class Scaled(np.ndarray):
    def __array_finalize__(self, obj):
        self.scale = getattr(obj, "scale", 1.0)

    def __array_wrap__(self, out, context=None, return_scalar=False):
        return super().__array_wrap__(out, context, return_scalar)


class Pair:
    pass


def wrapped_as_before(x):
    a = x.view(WrappedAsBefore)
    return float((a * 2.0 * x)[0]) + float(np.add(a, x).sum())


def wrapped_in_place_as_before(x):
    a = x.view(WrappedAsBefore)
    b = a * 3.0
    b *= x
    b += a
    return float((b * x).sum())


def wrapped_by_super(x):
    a = x.view(Scaled)
    a.scale = x[0]
    b = a * a
    return float(np.add.reduce(b) * b.scale + np.sin(a)[1])


def copied_beside_a_view(x):
    held = Pair()
    held.whole = x * 2.0
    held.part = held.whole[1:]
    copied = copy.deepcopy(held)
    return float(copied.whole.sum() * copied.part.sum())


class Versor(np.ndarray):
    """Shows its memory by an attribute as well."""

    def __new__(cls, v):
        own = np.array(v, dtype=float)
        obj = super().__new__(cls, own.shape, float, own)
        obj.own = own
        return obj

    def __array_finalize__(self, obj):
        if obj is not None:
            self.own = getattr(obj, "own", np.zeros(3))


def attribute_that_shows_the_memory(x):
    v = Versor([1.0, 2.0, 3.0])
    v += np.sin(x)
    v /= np.linalg.norm(v)
    return float(v.own[1] * x[0] + v[2] * (v * x).own[0])


class MadeAnew(np.ndarray):
    """Is another one after a change in place."""

    total = None

    def __array_wrap__(self, out, context=None, return_scalar=False):
        made = out.view(MadeAnew)
        if context is not None:
            made.total = sum(np.asarray(operand).sum() for operand in context[1])
        return made


def wrapped_in_place(x):
    kept = a = (x * 1.0).view(MadeAnew)
    a += x * x
    a *= a
    return float(np.asarray(a).sum() + a.total * x[0] + np.asarray(kept)[0] * (kept is a))


class OwnOperators(np.ndarray):
    """NumPy asks nothing of this where an array is changed in place."""

    def __add__(self, other):
        return np.asarray(self) + other * 10.0

    def __radd__(self, other):
        return np.asarray(self) * 7.0

    def __imul__(self, other):
        return np.ndarray.__imul__(self, other * 3.0)

    def __mul__(self, other):
        return np.asarray(self) * other + 100.0

    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2.0)


def changed_in_place_by_its_own_class(x):
    a = np.array([1.0, 2.0, 3.0]).view(OwnOperators)
    a += x
    a *= x[1]
    return float(np.asarray(a) @ x)


class Rounding(np.ndarray):
    def round(self, decimals=0, out=None):
        return np.asarray(self) * 16.0


def rounded_by_its_own_class(x):
    return float(np.round(x.view(Rounding)) @ x)


def stored_natively(x):
    """Into an array whose class has a say about stores written in Python."""
    a, b, c = (np.array([1.0, 2.0, 3.0]).view(OwnOperators) for _ in range(3))
    a.fill(x[0])
    np.copyto(b, x)
    np.copyto(b, x * x, where=[True, False, False])
    np.put(a, [1], x[1:2])
    np.putmask(a, [False, False, True], x)
    np.place(b, [False, True, False], x)
    np.add.at(b, [0, 0], x[0])
    np.multiply.at(b, [1], x[1])
    np.multiply(x, x, out=c)
    np.add(x, 1.0, out=c, where=[False, True, False])
    c[2] = x[0]
    return float(np.asarray(a) @ np.asarray(b) * np.asarray(c).sum())


def changed_in_place_by_another_class(x):
    a = x * 2.0
    a += (x * x).view(OwnOperators)
    return float(a @ x)


class OwnItems(np.ndarray):
    def __iter__(self):
        return (v * 5.0 for v in super().__iter__())

    def __len__(self):
        return 1


class Hashed(np.ndarray):
    """Remembers the hash of its bytes, which NumPy copies to what is made of it."""

    def __array_finalize__(self, obj):
        if isinstance(obj, type(self)):
            self.dirty, self.known = True, getattr(obj, "known", None)

    def __hash__(self):
        if getattr(self, "dirty", True) or self.known is None:
            self.known, self.dirty = zlib.adler32(self.tobytes()), False
        return self.known


def cached_by_the_hash_of_its_bytes(x):
    points, cache = (np.outer(x, x) + x).view(Hashed), {}
    for _ in range(2):
        if hash(points) not in cache:
            cache[hash(points)] = np.asarray(points).sum()
    moved = points * 2.0
    hash(points)
    return float(cache[hash(points)] * np.asarray(moved)[0, 1]) if hash(moved) != hash(points) else 0.0


def of_a_copied_hash(x):
    points = x.view(Hashed)
    hash(points)
    return x[0] * (points * 2.0).known


class AsksNothing(np.ndarray):
    def __array_function__(self, function, types, args, kwargs):
        raise TypeError(function)


def stored_elsewhere(x):
    """Functions of NumPy are the class's own, stores of its arrays NumPy's."""
    rows = np.empty((2, 3))
    rows[0] = (x * x).view(AsksNothing)
    rows[1] = x
    return float(rows[0] @ rows[1])


def items_by_its_own_class(x):
    return sum(x.view(OwnItems)) * [*x.view(OwnItems)][1]


def listed_whole(x):
    """No item is asked for."""
    rows = np.outer(x, x).view(OwnItems).tolist()
    return x.view(OwnItems).tolist()[1] * rows[1][2] + sum(rows[0])


class Bare(np.ndarray):
    """What functions of NumPy's are of it is what they are of plain arrays."""

    def __array_function__(self, function, types, args, kwargs):
        given = [np.asarray(x) if isinstance(x, Bare) else x for x in args]
        return function(*given, **{k: np.asarray(x) if isinstance(x, Bare) else x for k, x in kwargs.items()})


def functions_by_name(x):
    a = (x * 2.0).view(Bare)
    return float(np.clip(a, a_min=0.0, a_max=x[0])[1] + np.average(a, weights=a + x * x) + np.sum(a=a))


class Super(Unit):
    def __array_function__(self, function, types, args, kwargs):
        return super().__array_function__(function, types, args, kwargs)


def functions_handed_to_super(x):
    a = Super(x, 2.0)
    total = np.sum(a) + np.trace(np.outer(a, a)) * np.shape(a)[0] + np.clip(a, a_min=0.0, a_max=x[0])[1]
    return float(total + np.mean(a, axis=0))


def broadcast_with_its_class(x):
    a = Super(x, x[1] * x[2])
    wide = np.broadcast_to(a, (2, 3), subok=True)
    first, second = np.broadcast_arrays(Info(x, info=x[0]), np.ones((2, 1)), subok=True)
    return float(np.sum((wide * wide).value) * (wide.unit + first.info) + np.sum(np.asarray(first * second)))


def attributes_that_are_handed_on(x):
    a = Info(np.ones(3), info=x[0] ** 2)
    return float(np.sin(a).info + (a * 2.0).info * a.copy().info + np.sort(a)[1:].info)


RIGHT = (
    listed_whole,
    cached_by_the_hash_of_its_bytes,
    *(changed_in_place_by_its_own_class, changed_in_place_by_another_class, stored_natively),
    *(rounded_by_its_own_class, stored_elsewhere),
    *(attributes_handed_on, attribute_that_shows_the_memory),
    *(wrapped_as_before, wrapped_in_place_as_before, wrapped_by_super, wrapped_in_place, copied_beside_a_view),
    *(matrix_made_of_numbers, matrix_made_of_an_array, matrix_equations, matrix_functions),
    *(matrix_blocks_and_powers, matrices_joined, matrix_decompositions, plain_subclass),
    *(columns_of_a_matrix_stored, stored_into_what_a_class_takes),
    *(subclass_with_an_attribute, quantity, ufuncs_handed_to_super, functions_of_a_holder),
    *(items_and_products_of_a_class, stores_into_a_subclass, results_wrapped_by_a_class, methods_that_numpy_calls),
    *(stores_by_a_class, functions_by_name, functions_handed_to_super, attributes_that_are_handed_on),
    broadcast_with_its_class,
)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore:__array_wrap__:DeprecationWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f, mode):
    def along(step):
        return f(AT + step * WAY)

    expected = differences(along, 0.0, 2 if mode == "hvp" else 1)
    assert MODES[mode](along, 0.0) == pytest.approx(expected, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("operator", [gradient, generic_gradient])
def test_items_that_python_code_gives_to_a_native_sum(operator):
    """They are followed where it is typed; where it is carried it is an error."""
    try:
        found = operator(items_by_its_own_class, AT)[0]
    except NotDifferentiable as error:
        assert "for an array of this class" in str(error)
    else:
        assert found == pytest.approx(25.0 * (AT[1] + AT.sum() * np.array([0.0, 1.0, 0.0])))


class Halving(np.ndarray):
    def __array_finalize__(self, obj):
        self.scale = getattr(obj, "scale", 1.0) / 2.0


def scale_made_anew(x):
    a = (x * 1.0).view(Halving)
    a.scale = x[0]
    return float(a[1:].scale)


def test_an_attribute_that_is_made_anew_natively_is_a_clear_error_where_it_is_carried():
    with pytest.raises(NotDifferentiable, match="an attribute that NumPy copies"):
        generic_gradient(scale_made_anew, AT)
    with pytest.raises(NotDifferentiable):
        generic_gradient(of_a_copied_hash, AT)


class First(np.ndarray):
    def __array_finalize__(self, obj):
        parts = getattr(obj, "parts", None)
        self.first = 2.0 * parts[0] if parts else 0.0


@pytest.mark.parametrize("made", [lambda a, x: np.sin(a), lambda a, x: a * x, lambda a, x: a[1:]])
def test_so_is_one_that_is_made_of_what_an_attribute_holds(made):
    def f(x):
        a = np.ones(3).view(First)
        a.parts = [x * x]
        return made(a, x).first * 1.0

    with pytest.raises(NotDifferentiable, match="First.first, an attribute that NumPy copies"):
        generic_gradient(f, 1.3)


def by_name(x):
    values = x * np.array([1.0, 2.0, 3.0])
    weights = values.view(Plain)
    objects = np.array([x, x * x, 2.0], dtype=object)
    total = np.average([1.0, x, 2.0], weights=weights) + np.average([1.0, 2.0, 3.0], weights=objects)
    return float(total + np.interp(0.5, [0.0, 1.0, 2.0], weights, left=weights[0]))


@pytest.mark.parametrize("mode", MODES)
def test_arrays_given_by_name(mode):
    assert MODES[mode](by_name, 1.3) == pytest.approx(differences(by_name, 1.3, 1 + (mode == "hvp")), rel=1e-5)


SCALES = {"x": 1.0}


class Holding(np.ndarray):
    def __array_finalize__(self, obj):
        self.scales = getattr(obj, "scales", None)

    def by_method(self):
        return float(self.sum()) * SCALES["x"]


def by_a_library(source):
    namespace = {"__name__": "somewhere_else"}
    exec(source, namespace)
    return namespace["f"]


def scaled_by_an_attribute(x):
    a = np.ones(3).view(Holding)
    a.scales = [x * x]
    return by_a_library("def f(a): return float(a.sum()) * a.scales[0]")(a)


def scaled_by_a_method(x):
    SCALES["x"] = x * x
    return by_a_library("def f(a): return a.by_method()")(np.ones(3).view(Holding))


@pytest.mark.parametrize("operator", MODES)
@pytest.mark.parametrize("f", [scaled_by_an_attribute, scaled_by_a_method])
def test_what_native_code_finds_by_an_array_alone_is_no_constant(operator, f):
    """Its attributes, and what its class names, as of any object."""
    with pytest.raises(NotDifferentiable, match="f, which is not opted in"):
        MODES[operator](f, 1.3)
