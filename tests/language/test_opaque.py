"""Calls without derivative and stores into arrays: an error that says what to do, or right; never a wrong number."""

from __future__ import annotations

import array
import collections
import copy
import ctypes
import enum
import functools
import heapq
import inspect
import io
import itertools
import logging
import pickle
import queue
import random
import sys
import threading
import time
import types
import warnings
import weakref
from importlib import import_module
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers import assert_gradients

from autodiff_hook import AutodiffError, NotDifferentiable, gradient, jvp, nondifferentiable, pullback, stop_gradient
from autodiff_hook.testing import check_gradient


def opaque(source, name="f", **names):
    """A function of a module that is not opted in."""
    namespace = {"__name__": "somewhere_else", **names}
    exec(source, namespace)
    return namespace[name]


square = opaque("def f(x, *rest): return x * x")
box = opaque(
    "def f():\n    kept = []\n    def swap(x):\n        kept.append(x)\n        return kept[0]\n    return swap"
)
call = opaque("def f(g, *args): return g(*args)")
remember = opaque("def f(holder, x): holder.append(x) if isinstance(holder, list) else setattr(holder, 'x', x)")


def test_the_error_names_callable_line_and_remedies():
    def f(x):
        y = x + 1
        return square(y) * x

    with pytest.raises(NotDifferentiable) as caught:
        gradient(f, 2.0)
    message = str(caught.value)
    assert "somewhere_else.f" in message
    assert f"{__file__}:{f.__code__.co_firstlineno + 2}" in message
    for remedy in ("opt the module in", "rrule", "nondifferentiable", "stop_gradient"):
        assert remedy in message


@pytest.mark.parametrize("function", [copy.copy, copy.deepcopy, lambda s: s.__reduce_ex__(4)[2]["x"]])
def test_copies_of_what_is_unknown_are_unknown(function):
    state = opaque("class f:\n    def __init__(self, x): self.x = x * x")

    def f(x):
        made = function(state(x))
        return made if isinstance(made, float) else made.x

    with pytest.raises(NotDifferentiable):
        gradient(f, 2.0)


TIMES = "def made(a):\n    def g(x): return a * x\n    return g"


def times(a):
    return lambda x: a * x


MAKERS = {
    "of no module": opaque(f"def f(a):\n    made = {{}}\n    exec({TIMES!r}, made)\n    return made['made'](a)"),
    "with constants": opaque(
        "def f(a):\n    made = {}\n    exec(f'def g(x): return {a!r} * x', made)\n    return made['g']"
    ),
    "of a library": lambda a: call(opaque(TIMES, "made", __name__="json"), a),
    "in scope": lambda a: call(times, a),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_what_functions_hold_that_opaque_code_has_made_is_unknown(kind):
    make = MAKERS[kind]
    for f in (lambda x: make(x)(2.0), lambda x: [make(x)][0](x), lambda x: sum(map(make(x), [x, 2.0]))):
        assert f(3.0) > 0.0
        with pytest.raises(NotDifferentiable, match=r"somewhere_else\.f"):
            gradient(f, 3.0)
    assert_gradients(lambda x: make(4.0)(x), (3.0,), (4.0,))


def test_functions_in_scope_that_opaque_code_has_chosen_are_entered():
    choose = opaque("def f(x): return kept", kept=lambda x: 3.0 * x)
    assert_gradients(lambda x: choose(x)(x), (2.0,), (3.0,))


def test_functions_that_opaque_code_was_given_are_as_before():
    made: dict = {}
    exec("def g(x): return 3.0 * x", made)
    g = made["g"]
    assert_gradients(lambda x: (call(g, x) > 0.0) * g(x), (3.0,), (3.0,))
    assert_gradients(lambda x: call(lambda g, x: g, g, x)(x), (3.0,), (3.0,))


def test_a_constant_through_an_opaque_call():
    assert_gradients(lambda x: x * square(3.0), (2.0,), (9.0,))
    assert_gradients(lambda x: x * square(stop_gradient(x)), (2.0,), (4.0,))
    assert_gradients(lambda x: x * len([square(x), x]), (2.0,), (2.0,))
    assert_gradients(lambda x: x if square(x) > 1 else 2 * x, (2.0,), (1.0,))


def test_declared_constant():
    measured = opaque("def f(x): return x * 2")
    nondifferentiable(measured)
    assert_gradients(lambda x: x * measured(x), (2.0,), (4.0,))


def test_a_gradient_of_zero_is_not_lost():
    with pytest.raises(NotDifferentiable):
        gradient(lambda x: square(x) * 0.0 + x, 2.0)


class Holder:
    pass


def through_a_queue(x):
    q = queue.Queue()
    q.put(x * x)
    return q.get()


def through_a_simple_queue(x):
    q = queue.SimpleQueue()
    q.put(x * x)
    return q.get()


def through_a_deque(x):
    d = collections.deque()
    d.append(x * x)
    return d.pop()


def through_a_deque_by_index(x):
    d = collections.deque([1.0, x * x])
    return d[1]


def through_a_deque_by_iteration(x):
    d = collections.deque(maxlen=2)
    for i in range(3):
        d.append(x * i)
    return sum(d)


def through_an_array(x):
    a = array.array("d", [1.0])
    a.append(x * x)
    return a[1]


def through_an_array_store(x):
    a = array.array("d", [1.0])
    a[0] = x * x
    return a[0]


def through_a_closure(x):
    swap = box()
    swap(x * x)
    return swap(1.0)


def through_a_list(x):
    kept = []
    remember(kept, x * x)
    return kept[0]


def through_a_list_in_a_list(x):
    kept = [[1.0]]
    call(kept[0].__setitem__, 0, x * x)
    return kept[0][0]


def through_an_attribute(x):
    h = Holder()
    remember(h, x * x)
    return h.x


def through_an_attribute_of_a_part(x):
    h = Holder()
    h.part = Holder()
    call(lambda o, v: setattr(o.part, "x", v), h, x * x)
    return h.part.x


def through_a_callback(x):
    return call(lambda t: t * x, 2.0)


def through_a_bound_method(x):
    kept = []
    call(kept.append, x * x)
    return kept[0]


def through_a_callback_that_stores(x):
    kept = [1.0]

    def store(v):
        kept[0] = v * x

    call(store, 2.0)
    return kept[0]


def through_a_callback_that_rebinds(x):
    y = x

    def store(v):
        nonlocal y
        y = v * x

    call(store, 2.0)
    return y


LATEST = 0.0
SETTINGS = types.ModuleType("settings")
SETTINGS.latest = 0.0


class Noted:
    latest = 0.0


def through_a_callback_that_assigns_a_global(x):
    def store(y):
        global LATEST
        LATEST = y * y

    call(store, x)
    return LATEST


def through_a_callback_that_assigns_what_it_looks_up(x):
    def store(y):
        globals()["LATEST"] = y * y

    call(store, x)
    return LATEST


def through_a_callback_that_assigns_to_a_class(x):
    def store(y):
        Noted.latest = y * y

    call(store, x)
    return Noted.latest


def through_a_callback_that_assigns_to_a_module(x):
    def store(y):
        SETTINGS.latest = y * y

    call(store, x)
    return SETTINGS.latest


def through_a_callback_that_assigns_to_itself(x):
    def store(y):
        store.latest = y * y

    call(store, x)
    return store.latest


def through_the_frame_of_an_error(x):
    try:
        y = x * x
        raise ValueError
    except ValueError as error:
        assert y
        return error.__traceback__.tb_frame.f_locals["y"]


def through_what_a_generator_may_read(x):
    state = types.SimpleNamespace(pair=(x, 2.0))
    items = opaque("def f(state):\n    yield state")(state)
    return state.pair[0] * next(items).pair[1]


def through_the_frame_of_a_generator(x):
    def squares():
        y = x * x
        yield y

    items = squares()
    next(items)
    return items.gi_frame.f_locals["y"] + inspect.getgeneratorlocals(items)["y"]


def through_a_warning(x):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.warn(str(x * x), stacklevel=1)
    return float(told[0].message.args[0])


def through_the_text_of_a_warning(x):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.warn(str(x * x), RuntimeWarning, stacklevel=1)
    return float(str(told[0].message))


def through_what_shows_warnings(x):
    told = []

    def show(message, *rest, **options):
        told.append(float(str(message)))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        warnings.warn(str(x * x), stacklevel=1)
    return told[0]


def through_the_lines_of_a_logger(x):
    stream, logger = io.StringIO(), logging.Logger("lines")
    logger.addHandler(logging.StreamHandler(stream))
    logger.warning("%r", x * x)
    return float(stream.getvalue())


def through_the_records_of_a_logger(x):
    class Keeping(logging.Handler):
        def emit(self, record):
            records.append(record)

    records, logger = [], logging.Logger("records")
    logger.addHandler(Keeping())
    logger.warning("%r", x * x)
    return records[0].args[0]


def through_a_cache(x):
    cached = functools.cache(lambda y: x * y)
    call(cached, 2.0)
    return cached(2.0)


def through_a_cache_with_other_answers(x):
    cached = functools.cache(lambda y: x * y)
    cached(1.0)
    call(cached, 2.0)
    return cached(2.0)


class Noting:
    """What it stores while native code asks it."""

    def __init__(self, x):
        self.x, self.noted = x, 0.0

    def _note(self, answer):
        global LATEST
        LATEST = self.noted = self.x * self.x
        return answer

    def __format__(self, spec):
        return self._note("a")

    def __index__(self):
        return self._note(1)

    def __reduce__(self):
        global LATEST
        LATEST = self.noted = self.x * self.x
        return Noting, (1.0,)


def through_what_is_stored_while_it_is_formatted(x):
    noting = Noting(x)
    assert format(noting) == "a"
    return noting.noted + LATEST


def through_what_is_stored_while_items_are_counted(x):
    noting, other = Noting(x), Noting(2.0 * x)
    assert [*itertools.repeat(3, noting), *itertools.islice([4, 5], other)] == [3, 4]
    return noting.noted * LATEST + other.noted


def through_what_is_stored_while_it_is_pickled(x):
    noting = Noting(x)
    pickle.dumps(noting)
    return noting.noted


def through_a_global_that_is_assigned_while_it_is_pickled(x):
    pickle.dumps(Noting(x))
    return LATEST


def through_a_heap(x):
    heap = [3.0]
    heapq.heappush(heap, x * x)
    return heapq.heappop(heap) + heap[0]


def through_an_instance_of_an_opaque_class(x):
    cls = opaque("class f:\n    def __init__(self, x): self.x = x\n    def get(self): return self.x")
    return cls(x * x).get()


def through_an_attribute_of_an_opaque_instance(x):
    cls = opaque("class f:\n    def __init__(self, x): self.x = x")
    return cls(x * x).x


def through_a_generator(x):
    return sum(opaque("def f(x):\n    yield x\n    yield x * x")(x))


def through_an_iterator(x):
    it = opaque("def f(x): return iter([x, x])")(x)
    return next(it) + next(it)


def through_a_dict(x):
    return opaque("def f(x): return {'a': [x]}")(x)["a"][0]


def through_a_frozen_thing(x):
    return opaque("def f(x): return (1, (x, 'a'))")(x)[1][0]


def through_a_shuffle(x):
    kept = [x, x * x, 3.0]
    random.Random(1).shuffle(kept)
    return kept[0] * kept[1] + kept[2] * 2


def through_eval(x):
    return eval("x * x")


def through_exec(x):
    scope = {"x": x}
    exec("y = x * x", scope)
    return scope["y"]


def through_locals(x):
    y = x * x  # noqa: F841
    return locals()["y"]


def through_a_class_in_code_that_is_not_followed(x):
    class Local:
        def get(self):
            return x * x

    def opaque():
        locals()
        return Local().get()

    return opaque()


def through_a_memoryview(x):
    a = np.zeros(2)
    memoryview(a)[0] = x * x
    return a[0]


def through_a_flat_iterator(x):
    a = np.zeros(2)
    a.flat[0] = x * x
    return a[0]


def through_put(x):
    a = np.zeros(2)
    np.put(a, [0], x * x)
    return a[0]


def through_a_list_of_arrays(x):
    rows = [np.zeros(2), np.zeros(2)]
    call(lambda rows, v: rows[0].fill(v), rows, x * x)
    return rows[0].sum()


def through_an_array_of_objects(x):
    a = np.array([None, None])
    a[0] = x * x
    return a[0]


def through_a_class_body(x):
    class Local:
        value = x * x

    return Local.value + Local().value


def through_a_default_in_a_class_body(x):
    class Local:
        def get(self, v=x * x):
            return v

    return Local().get()


def through_a_generator_send(x):
    def gen():
        total = 0.0
        while True:
            total += (yield total) or 0.0

    g = gen()
    next(g)
    return g.send(x * x)


def through_threads(x):
    kept = []
    thread = threading.Thread(target=lambda: kept.append(x * x))
    thread.start()
    thread.join()
    return kept[0]


def through_a_context_variable(x):
    import contextvars

    variable = contextvars.ContextVar("v")
    variable.set(x * x)
    return variable.get()


def through_a_weak_reference_to_code(x):
    holder = Holder()
    holder.x = x * x
    return call(lambda reference: reference().x, weakref.ref(holder))


def through_a_weak_set_to_code(x):
    holder, known = Holder(), weakref.WeakSet()
    holder.x = x * x
    known.add(holder)
    return call(lambda y: next(iter(known)).x * y, 2.0)


class Colour(enum.Enum):
    RED = 1


class Meta(type):
    shade = 1.0


class Shaded(metaclass=Meta):
    pass


def through_a_member_of_an_enum(x):
    Colour.RED.shade = x * x
    return call(lambda y: Colour.RED.shade * y, 2.0)


def through_a_metaclass(x):
    Meta.shade = x * x
    return call(lambda y: Shaded.shade * y, 2.0)


def through_weak_references(x):
    h = Holder()
    h.x = x * x
    return weakref.ref(h)().x


def through_struct_bytes(x):
    import struct

    return struct.unpack("d", struct.pack("d", x * x))[0]


def through_decimals(x):
    import decimal

    return float(decimal.Decimal(x) * 2)


def through_fractions(x):
    import fractions

    return float(fractions.Fraction(x) ** 2)


def through_copy(x):
    import copy

    h = Holder()
    h.xs = [x * x]
    return copy.deepcopy(h).xs[0] + copy.copy(h).xs[0] + copy.copy([x])[0]


def through_pickle(x):

    return pickle.loads(pickle.dumps([x * x]))[0]


def through_comparison_methods(x):
    class Item:
        def __init__(self, v):
            self.v = v

        def __lt__(self, other):
            self.seen = self.v * other.v
            return self.v < other.v

        def __contains__(self, v):
            self.found = self.v * v
            return True

        def __bool__(self):
            self.asked = self.v * self.v
            return True

        def __len__(self):
            self.counted = self.v * 3
            return 1

    a, b = Item(x), Item(2 * x)
    assert a < b and 3.0 in a and a and len(b) == 1
    return a.seen + a.found + a.asked + b.counted


def through_a_comparison_result(x):
    class Symbol:
        def __init__(self, v):
            self.v = v

        def __lt__(self, other):
            return self.v * other

    return Symbol(x) < x


FLOWS = [value for name, value in sorted(globals().items()) if name.startswith("through_")]
X = 1.3


@pytest.mark.parametrize("f", FLOWS, ids=lambda f: f.__name__)
def test_a_flow_is_right_or_an_error(f):
    """Never a silent zero."""
    h = 1e-6
    expected = (f(X + h) - f(X - h)) / (2 * h)
    for differentiate in (lambda: gradient(f, X), lambda: pullback(f, X)[1](1.0)):
        try:
            (g,) = differentiate()
        except AutodiffError as error:
            assert "through" in str(error) or "not differentiated" in str(error) or "is not" in str(error)
        else:
            assert g == pytest.approx(expected, rel=1e-5)


def test_what_an_opaque_call_touched_is_lost_only_if_it_matters():
    def f(x):
        kept = [x * x]
        remember(kept, 1.0)
        return x * len(kept)

    assert_gradients(f, (2.0,), (2.0,))


def test_a_callback_that_only_reads_leaves_the_rest_alone():
    def f(x):
        steps = call(lambda t: int(t * x), 3.0)
        return x * x * steps

    with pytest.raises(NotDifferentiable):
        gradient(f, 2.0)

    def g(x):
        call(lambda t: t * x, 3.0)
        return x * x

    assert_gradients(g, (2.0,), (4.0,))


# Arrays


def test_inactive_set_up():
    def f(x):
        a = np.zeros(3)
        a[0] = 1.0
        a[1:] = [2.0, 3.0]
        a += 1
        a[a > 3] = 10.0
        np.multiply(a, 2, out=a)
        a.sort()
        a.fill(2.0)
        return (a * x).sum()

    check_gradient(f, 1.5)


def into_a_result(x):
    a = np.zeros(3)
    a[0] = x
    a[1] = a[0] * x
    a[2] += x
    return a.sum() * a[1]


def into_an_argument(a):
    a[0] = a[1] * 2
    a *= 3
    return (a * a).sum()


def into_a_captured_buffer(x):
    a = np.array([1.0, 2.0])
    y = (a * x).sum()
    a[0] = 100.0
    return y * a[1] * x


def into_a_captured_buffer_by_augmentation(x):
    a = np.array([1.0, 2.0])
    y = (a * x).sum()
    a *= 100.0
    return y + x


def into_a_captured_buffer_by_out(x):
    a = np.array([1.0, 2.0])
    y = (a * x).sum()
    np.add(a, 1, out=a)
    return y * x


def into_a_captured_buffer_through_a_view(x):
    a = np.array([1.0, 2.0])
    v = a[::-1]
    y = (a * x).sum()
    v[0] = 7.0
    return y * x


def into_a_captured_buffer_in_a_list(x):
    rows = [np.array([1.0, 2.0])]
    y = (rows[0] * x).sum()
    for row in rows:
        row -= 5.0
    return y * x


def into_a_captured_buffer_by_methods(x):
    a = np.array([2.0, 1.0])
    y = (a * np.array([x, 2 * x])).sum()
    a.sort()
    return y * x


def into_a_captured_buffer_by_an_opaque_call(x):
    a = np.array([2.0, 1.0])
    y = (a * np.array([x, 2 * x])).sum()
    call(lambda a: a.fill(0.0), a)
    return y * x


def into_a_captured_buffer_by_copyto(x):
    a = np.array([2.0, 1.0])
    y = (a * np.array([x, 2 * x])).sum()
    np.copyto(a, 0.0)
    return y * x


def into_a_workspace(x):
    work = np.empty(2)
    total = 0.0
    for i in range(3):
        work[:] = i
        work[0] += 1
        total = total + (work * x).sum() * x
    return total


def into_a_history(x):
    xs = np.zeros(4)
    xs[0] = x
    for i in range(3):
        xs[i + 1] = xs[i] * x + i
    return xs[3] + xs.mean()


def into_rows(x):
    a = np.zeros((2, 2))
    a[0] = [x, x * x]
    a[1, :] = a[0] * 2
    a[:, 1] += x
    return (a @ a).sum()


def into_a_row_that_a_loop_hands_out(x):
    a = np.ones((2, 2))
    for row in a:
        row *= x
    return a.sum()


def into_an_attribute(x):
    h = Holder()
    h.a = np.zeros(2)
    h.a[0] = x
    h.a += x
    return h.a.sum() * x


STORES = [value for name, value in sorted(globals().items()) if name.startswith("into_")]


@pytest.mark.parametrize("f", STORES, ids=lambda f: f.__name__)
def test_a_store_into_an_array_is_right_or_an_error(f):
    args = (np.array([1.5, -0.5]),) if f is into_an_argument else (1.3,)
    try:
        gradient(f, *[a.copy() if isinstance(a, np.ndarray) else a for a in args])
    except NotDifferentiable as error:
        assert "array" in str(error) and "test_opaque.py" in str(error)
    else:
        check_gradient(f, *args)


def test_an_argument_written_to_under_another_name():
    a = np.array([1.0, 2.0])

    def f(x):
        a[0] = 5.0
        return (x * x).sum()

    try:
        (g,) = gradient(f, a)
    except NotDifferentiable:
        return
    assert g.tolist() == [0.0, 4.0]


class Borrowed(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


class Half(dict):
    def __getattr__(self, name):
        return self[name]

    __setattr__ = dict.__setitem__


@pytest.mark.parametrize("cls", [Borrowed, Half])
def test_hooks_that_are_methods_of_containers(cls):
    def f(x):
        a = cls(k=x)
        a.y = a.k * 2
        a.y = a.y * x
        a["z"] = a.y
        return a.y * a.z

    check_gradient(f, 2.0)
    primals, tangents = (2.0,), (1.0,)
    assert jvp(f, primals, tangents)[1] == pytest.approx(128.0)


class Twisted(np.ndarray):
    """An array with a multiplication of its own."""

    def __mul__(self, other):
        return np.asarray(self) * 2 + np.asarray(other) * 3


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_subclasses_of_arrays_with_arithmetic_of_their_own():
    q = np.array([1.0, 2.0]).view(Twisted)
    x = np.array([3.0, 4.0])
    check_gradient(lambda x: (q * x).sum(), x)
    for f in (
        lambda x: (x * q).sum(),
        lambda x: np.asarray(q / x[0])[1],
        lambda x: (np.matrix([[1.0, 2.0]]) * x[0]).sum(),
    ):
        steps = 1e-6 * np.eye(2)
        expected = [(float(f(x + d)) - float(f(x - d))) / 2e-6 for d in steps]
        assert gradient(f, x)[0] == pytest.approx(expected, rel=1e-5)


given_away = opaque("def f(value): kept.append(None)", kept=[])

COPIES = {
    "[*xs]": lambda xs: (given_away(xs), [*xs, 3.0])[1][0],
    "list": lambda xs: (given_away(xs), list(xs))[1][0],
    "a slice": lambda xs: (given_away(xs), xs[:1])[1][0],
    "+": lambda xs: (given_away(xs), xs + [1.0])[1][0],
    "*": lambda xs: (given_away(xs), xs * 2)[1][0],
    "a comprehension": lambda xs: (given_away(xs), [v for v in xs])[1][0],
    "tuple": lambda xs: (given_away(xs), tuple(xs))[1][0],
    "sum": lambda xs: (given_away(xs), sum(xs))[1],
    "f(*xs)": lambda xs: (given_away(xs), (lambda a, b: a)(*xs))[1],
    "max": lambda xs: (given_away(xs), max(xs))[1],
    "copy": lambda xs: (given_away(xs), xs.copy())[1][0],
    "pop": lambda xs: (given_away(xs), xs.pop())[1],
    "reversed": lambda xs: (given_away(xs), list(reversed(xs)))[1][0],
    "sorted": lambda xs: (given_away(xs), sorted(xs))[1][0],
    "zip": lambda xs: (given_away(xs), list(zip(xs, xs)))[1][0][0],
    "an array": lambda xs: (given_away(xs), np.array(xs))[1][0],
    "extend": lambda xs: (given_away(xs), ys := [], ys.extend(xs), ys[0])[-1],
    "unpacking": lambda xs: (given_away(xs), [a for a, b in [xs]])[1][0],
    "values": lambda xs: (given_away(d := {"a": xs[0]}), sum(d.values()))[1],
    "{**d}": lambda xs: (given_away(d := {"a": xs[0]}), {**d})[1]["a"],
    "get": lambda xs: (given_away(d := {"a": xs[0]}), d.get("a"))[1],
    "items": lambda xs: (given_away(d := {"a": xs[0]}), [v for k, v in d.items()])[1][0],
    "a set": lambda xs: (given_away(d := {xs[0]}), sum(d))[1],
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_of_what_was_given_away(name):
    """What is only looked at is still known."""
    for _ in range(2):
        check_gradient(COPIES[name], [1.0, 2.0])


changed = opaque("def f(value): value[0] = 5.0")
changed_by_itself = opaque("def f(value): value[0] = value[1] * value[0]")


def test_what_an_opaque_call_has_changed_is_unknown():
    for change in (changed, changed_by_itself):

        def f(xs, change=change):
            change(xs)
            return xs[0] * 1.0

        with pytest.raises(NotDifferentiable, match="somewhere_else.f"):
            gradient(f, [3.0, 2.0])

        def other(xs, change=change):
            change(xs)
            return xs[1] * 1.0

        assert gradient(other, [3.0, 2.0])[0] == [0.0, 1.0]


@pytest.mark.parametrize("name", ["scipy.helping", "helping"])
def test_a_function_that_only_read_may_come_to_write(name):
    """Whether one of a library only reads is not looked at again, as long as all that it names is the same."""

    def spoil(a):
        a[0] = 7.0
        return a[0]

    space = {"__name__": name, "look": lambda a: a[0]}
    exec("def helped(a):\n    return look(a)", space)
    weights, helped = np.array([1.0, 2.0]), space["helped"]

    def f(x):
        y = x * weights
        return np.sum(y) + 0.0 * helped(weights)

    for _ in range(2):
        assert gradient(f, np.ones(2))[0].tolist() == [1.0, 2.0]
    space["look"] = spoil
    assert gradient(f, np.ones(2))[0].tolist() == [1.0, 2.0]
    assert weights.tolist() == [7.0, 2.0]


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("[x].pop", lambda m: m()),
        ("[x].__getitem__", lambda m: m(0)),
        ("{'a': x}.get", lambda m: m("a")),
        ("x.__neg__", lambda m: m()),
        ("x.conjugate", lambda m: m()),
    ],
)
def test_native_methods_of_what_opaque_code_has_made(made, called):
    bound = opaque(f"def f(x): return {made}")
    with pytest.raises(NotDifferentiable):
        gradient(lambda x: called(bound(x)) * x, 0.7)


MADE = {
    "type('A', (), {'v': x})": lambda made: made.v,
    "type('B', (type('A', (), {'v': x}),), {})": lambda made: made().v,
    "[type('A', (), {'v': x})]": lambda made: made[0].v,
    "type('M', (type,), {'v': x})('A', (), {})": lambda made: made.v,
    "type('A', (), {'get': classmethod(lambda cls: x)})": lambda made: made.get(),
    "type('A', (), {'v': x})()": lambda made: type(made).v,
    "type('E', (Exception,), {'v': x})": lambda made: made("text").v,
    "types.new_class('A', (), {}, lambda space: space.update(v=x))": lambda made: made.v,
    "dataclasses.make_dataclass('D', [('v', float, x)])": lambda made: made().v,
    "collections.namedtuple('N', 'v', defaults=[x])": lambda made: made().v,
    "enum.Enum('E', {'a': x})": lambda made: made.a.value,
    "enum.Enum('E', {'b': x}).b": lambda made: made.value,
    "module(types.ModuleType('made'), x)": lambda made: made.v,
    "slice(x, 2.0)": lambda made: made.start,
    "types.MappingProxyType({'v': x})": lambda made: made["v"],
    "{'v': x}.values()": lambda made: next(iter(made)),
    "functools.partial(dict, v=x)": lambda made: made()["v"],
    "types.MethodType(lambda self: self, x)": lambda made: made(),
    "types.SimpleNamespace(f=lambda self: x).f": lambda made: made(0),
    "collections.defaultdict(lambda: x)": lambda made: made["v"],
    "module(queue.Queue(), x).put(x) or kept[-1]": lambda made: made.get(),
    "np.dtype(float, metadata={'v': x})": lambda made: made.metadata["v"],
    "np.frompyfunc(lambda y: y * x, 1, 1)": lambda made: made(1.0),
    **{
        f"module(type('A', ({base},), {{}})(), x)": lambda made: made.v
        for base in ("float", "tuple", "list", "dict", "str")
    },
}
KEEPS = """
import collections, dataclasses, enum, functools, queue, types
import numpy as np
kept = []
def module(made, x):
    made.v = x
    kept[:] = [made]
    return made
"""


@pytest.mark.parametrize("made", MADE)
def test_what_is_got_out_of_what_opaque_code_has_made_is_unknown(made):
    make, get = opaque(f"{KEEPS}\ndef f(x): return {made}"), MADE[made]
    assert get(make(0.7)) == 0.7
    with pytest.raises(NotDifferentiable, match=r"somewhere_else\.f"):
        gradient(lambda x: get(make(x)) * x, 0.7)
    check_gradient(lambda x: (get(make(2.0)) > 0.0) * x, 0.7)


def test_classes_and_modules_that_opaque_code_chooses_are_constants():
    chosen = opaque("import json\ndef f(x): return cls if x > 0.0 else json", cls=Fields)
    check_gradient(lambda x: chosen(x).scale * x, 0.7)
    check_gradient(lambda x: len(chosen(-x).dumps([1])) * x, 0.7)


class Fields:
    scale = 3.0


@pytest.mark.parametrize(
    ("store", "read"),
    [
        ("global v; v = x", lambda kept: kept.__globals__["v"]),
        ("state['v'] = x", lambda kept: kept.__globals__["state"]["v"]),
        ("state['f'].__defaults__ = (x,)", lambda kept: kept.__globals__["state"]["f"]()),
        ("state['c'].v = x", lambda kept: kept.__globals__["state"]["c"].v),
    ],
)
def test_what_an_earlier_run_has_left_where_opaque_code_stores_it(store, read):
    """The very same object is stored again."""
    state = {"v": 1.0, "f": lambda y=1.0: y, "c": type("C", (), {"v": 1.0})}
    kept = opaque(f"def f(x): {store}", state=state, v=1.0)

    def f(x):
        kept(x)
        return read(kept) * x

    for _ in range(3):
        with pytest.raises(NotDifferentiable, match=r"somewhere_else\.f"):
            gradient(f, 0.7)


def test_what_opaque_code_stores_in_a_module_that_it_is_given():
    module = types.ModuleType("given")

    def f(x):
        remember(module, x)
        return module.x * x

    with pytest.raises(NotDifferentiable, match=r"somewhere_else\.f"):
        gradient(f, 0.7)


def test_the_list_that_a_native_object_keeps_has_empty_places():
    def f(x):
        return float(ElementTree.fromstring(f"<a v='{x!r}'/>").get("v")) * x

    with pytest.raises(NotDifferentiable):
        gradient(f, 0.7)


REGISTRY = """
import numpy as np
class f:
    items, memory = {}, np.zeros(2)
    def put(self, x): self.items["v"] = x
    @classmethod
    def put_for_all(cls, x): cls.items["v"] = x
    def fill(self, x): self.memory[0] = x
    @classmethod
    def fill_for_all(cls, x): cls.memory[0] = x
"""


@pytest.mark.parametrize(
    ("store", "read"),
    [
        (lambda registry, x: registry().put(x), lambda registry: registry.items["v"]),
        (lambda registry, x: registry().put(x), lambda registry: registry().items["v"]),
        (lambda registry, x: registry.put_for_all(x), lambda registry: registry.items["v"]),
        (lambda registry, x: registry().fill(x), lambda registry: registry.memory[0]),
        (lambda registry, x: registry.fill_for_all(x), lambda registry: registry.memory[0]),
    ],
)
def test_what_methods_store_in_what_their_class_holds(store, read):
    registry = opaque(REGISTRY)

    def f(x):
        store(registry, x)
        return read(registry) * x

    for _ in range(2):
        with pytest.raises(NotDifferentiable, match=r"somewhere_else\.f"):
            gradient(f, 0.7)


@pytest.mark.parametrize("given", ["", "'kept'"])
@pytest.mark.parametrize(
    "asked", ["globals()[name]", "eval(name + '+ 0.0')", "getattr(sys.modules['kept_by_text'], name)"]
)
def test_what_opaque_code_asks_for_by_a_text(asked, given, monkeypatch):
    module = types.ModuleType("kept_by_text")
    monkeypatch.setitem(sys.modules, "kept_by_text", module)
    written = "import sys\nkept = 1.0\ndef read(name={}): return {}\ndef ask(): return read({})"
    exec(written.format(given or "None", asked, "'kept'"), vars(module))

    def f(x):
        module.kept = x * x
        return (module.read() if given else module.ask()) * x

    with pytest.raises(NotDifferentiable, match=r"kept_by_text\.(read|ask)"):
        gradient(f, 0.7)


def test_what_is_captured_by_what_native_code_calls():
    def f(x):
        class Made:
            def __new__(cls):
                made = object.__new__(cls)
                made.v = x
                return made

        return call(Made).v * call(np.frompyfunc(lambda y: y * x, 1, 1), 2.0)

    with pytest.raises(NotDifferentiable, match=r"somewhere_else\.f"):
        gradient(f, 0.7)


def test_code_in_which_a_number_is_written():
    def f(x):
        def g():
            return 1.5

        g.__code__ = g.__code__.replace(co_consts=(None, x))
        return g() * x

    with pytest.raises(NotDifferentiable, match="__code__"):
        gradient(f, 0.7)


def test_native_functions_that_opaque_code_chooses_are_constants():
    chosen = opaque("import math\ndef f(x): return math.sin if x > 0.0 else math.cos")
    check_gradient(lambda x: chosen(x)(x) * x, 0.7)
    chosen = opaque("import numpy as np\ndef f(x): return np.sin")
    check_gradient(lambda x: chosen(x)(x) * (call(np.sin, 1.0) > 0.0) * call(np.sin, 0.5) * x, 0.7)


def test_a_thread_that_has_ended_when_its_caller_looks_again(monkeypatch):
    """It has dropped what it was given by then."""
    calls = import_module("autodiff_hook.semantics.opaque")
    contents = calls.contents

    def looking_slowly(values):
        time.sleep(0.1)
        return contents(values)

    def f(x):
        kept = []

        def work():
            time.sleep(0.03)
            kept.append(x * x)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return kept[0]

    monkeypatch.setattr(calls, "contents", looking_slowly)
    with pytest.raises(AutodiffError, match="_thread.start_"):
        gradient(f, X)


class Spot(ctypes.Structure):
    """Its attributes are in memory that others may show."""

    _fields_ = (("a", ctypes.c_double), ("b", ctypes.c_double))


def stored_into_a_field(x):
    fields = Spot(1.0, 2.0)
    fields.a = 2.0 * x
    return fields.a * x


def made_with_a_field(x):
    return Spot(2.0 * x).a * x


def read_where_the_memory_is_shown(x):
    fields = Spot(1.0, 2.0)
    shown = ctypes.pointer(fields)
    fields.a = 2.0 * x
    return shown.contents.a * x


@pytest.mark.parametrize("f", [stored_into_a_field, made_with_a_field, read_where_the_memory_is_shown])
def test_fields_of_structures_are_unknown(f):
    for _ in range(3):
        with pytest.raises(NotDifferentiable):
            gradient(f, 1.5)


def test_fields_that_do_not_matter():
    def f(x):
        fields = Spot(1.0, 2.0)
        fields.b = 2.0 * x
        other = Spot(3.0)
        return other.a * x

    for _ in range(3):
        assert gradient(f, 1.5) == (3.0,)
