"""``__del__`` runs where an object dies; what it stores has its derivative."""

from __future__ import annotations

import ctypes
import struct
import weakref

import pytest
from lifetime_modes import AT, MODES, slope

from autodiff_hook import AutodiffError, gradient, jvp


class Storing:
    """What it holds goes to a list when it dies."""

    def __init__(self, out, value):
        self.out, self.value = out, value

    def __del__(self):
        self.out.append(self.value * self.value)

    def times_n(self, y):
        return self.n * y


class Giving:
    def __init__(self, value):
        self.value, self.to = value, None

    def __del__(self):
        self.to.value = 3 * self.value


class StoringStructure(ctypes.Structure):
    """Its class is of a class in C that has a way of its own to assign attributes."""

    def __init__(self, out, value):
        self.out, self.value = out, value

    def __del__(self):
        self.out.append(self.value * self.value)


def stored_by_a_structure(x):
    out = [x]
    o = StoringStructure(out, 2 * x)
    del o
    return out[-1] * x


class Compared(ctypes.Structure):
    _fields_ = (("value", ctypes.c_double),)

    def __eq__(self, other):
        self.asked = True
        return self.value == other.value


def compared_structures(x):
    kept = [Compared(1.0), Compared(2.0)]
    return x * x * kept.index(Compared(2.0))


def stored_by_a_class_of_the_program(x):
    log = []

    class Finalized:
        def __del__(self):
            log.append(x * x)

    o = Finalized()
    del o
    return x + sum(log)


def stored_into_a_list(x):
    out = [x]
    o = Storing(out, 2 * x)
    del o
    return out[0] * out[1]


def stored_into_an_empty_list(x):
    out = []
    o = Storing(out, x)
    o = None
    return sum(out) if o is None else x


def stored_when_a_callee_returns(x):
    def inner(out):
        o = Storing(out, 2 * x)
        return o.value

    out = []
    y = inner(out)
    return y * out[0]


def stored_when_a_list_dies(x):
    out = []
    items = [Storing(out, x), Storing(out, 2 * x), x]
    del items
    return out[0] * out[1]


def stored_into_an_attribute(x):
    o, other = Giving(x * x), Giving(x)
    o.to = other
    other.to = other
    del o
    y = other.value
    other.to = type("Nothing", (), {})()
    return y


def stored_by_what_is_overwritten(x):
    out = []
    items = [Storing(out, x), x]
    items[0] = x
    return items[0] * out[0]


def stored_and_returned(x):
    out = []
    Storing(out, x)
    return out[0]


def a_number_made_of_it(x):
    out = []

    class Finalized:
        def __del__(self):
            out.append(struct.unpack("d", struct.pack("d", x))[0])

    o = Finalized()
    del o
    return x * out[0]


def stored_by_a_callback_of_a_weak_reference(x):
    log = []
    o = Storing([], 1.0)
    reference = weakref.ref(o, lambda _: log.append(x * x))
    del o
    return x + sum(log) if reference() is None else x


class Counted(weakref.ref):
    def __new__(cls, value, callback=None):
        made = super().__new__(cls, value, callback)
        made.times = 2.0
        return made

    def __call__(self):
        found = super().__call__()
        return None if found is None else found.n * self.times


def stored_by_a_callback_of_a_derived_weak_reference(x):
    log = []
    o = Storing([], 1.0)
    o.n = x * x
    reference = Counted(o, lambda _: log.append(x * x))
    y = reference()
    del o
    return y + sum(log) if reference() is None else x


def stored_by_a_callback_of_a_weak_method(x):
    log = []
    o = Storing([], 1.0)
    o.n = x * x
    method = weakref.WeakMethod(o.times_n, lambda _: log.append(x * x))
    y = method()(x)
    del o
    return y + sum(log) if method() is None else x


def stored_by_a_finalizer_of_weakref(x):
    log = []
    o = Storing([], 1.0)
    weakref.finalize(o, log.append, x * x)
    del o
    return x + sum(log)


def stored_by_a_closure_that_is_a_finalizer(x):
    log = []
    o = Storing([], 1.0)
    weakref.finalize(o, lambda: log.append(x * x))
    del o
    return x + sum(log)


STORING = [
    stored_by_a_callback_of_a_weak_reference,
    stored_by_a_callback_of_a_derived_weak_reference,
    stored_by_a_callback_of_a_weak_method,
    stored_by_a_finalizer_of_weakref,
    stored_by_a_closure_that_is_a_finalizer,
    stored_by_a_class_of_the_program,
    stored_into_a_list,
    stored_into_an_empty_list,
    stored_when_a_callee_returns,
    stored_when_a_list_dies,
    stored_into_an_attribute,
    stored_by_what_is_overwritten,
    stored_and_returned,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", STORING, ids=lambda f: f.__name__)
def test_what_a_finalizer_stores_has_its_derivative(f, mode):
    grads = MODES[mode](f)
    assert grads == pytest.approx([slope(f)] * len(grads), rel=1e-5)


@pytest.mark.parametrize("f", STORING, ids=lambda f: f.__name__)
def test_what_a_finalizer_stores_has_its_second_derivative(f):
    step = 1e-4
    curvature = (f(AT + step) - 2 * f(AT) + f(AT - step)) / step**2
    assert jvp(lambda x: gradient(f, x)[0], (AT,), (1.0,))[1] == pytest.approx(curvature, rel=1e-4, abs=1e-4)
    assert gradient(lambda x: jvp(f, (x,), (1.0,))[1], AT)[0] == pytest.approx(curvature, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_a_finalizer_that_loses_a_derivative_is_an_error(mode):
    with pytest.raises(AutodiffError):
        MODES[mode](a_number_made_of_it)


@pytest.mark.parametrize("mode", MODES)
def test_classes_whose_class_is_c_code(mode):
    with pytest.raises(AutodiffError):
        MODES[mode](stored_by_a_structure)
    grads = MODES[mode](compared_structures)
    assert grads == pytest.approx([slope(compared_structures)] * len(grads), rel=1e-5)
