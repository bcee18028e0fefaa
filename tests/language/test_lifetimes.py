"""What a program can observe dying dies where the plain run lets it die.

Each program is made with a log of its own, which it writes constants to, natively or as it runs. The log of a
differentiated run is that of the plain run.
"""

from __future__ import annotations

import gc
import os
import tempfile
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from lifetime_modes import AT, MODES, carried, slope

from autodiff_hook import pullback
from autodiff_hook.algebras.lifetimes import enter_weakly

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

Log = list[Any]
Program = Callable[[Log], Callable[[float], float]]

PROGRAMS: list[Program] = []


def program(make: Program) -> Program:
    PROGRAMS.append(make)
    return make


class Plain:
    def __init__(self, value=None, name=""):
        self.value, self.name = value, name


class Slotted:
    __slots__ = ("__weakref__", "value")

    def __init__(self, value):
        self.value = value


class Dying:
    def __init__(self, log, name, value=None):
        self.log, self.name, self.value = log, name, value

    def __del__(self):
        self.log.append(f"{self.name} dies")


def watch(log, value, name):
    return weakref.ref(value, lambda _: log.append(f"{name} dies"))


# Objects


@program
def deleted(log):
    def f(x):
        o = Plain(x)
        w = watch(log, o, "o")
        y = o.value * 2
        del o
        log.append(w() is None)
        return y * x

    return f


@program
def rebound_to_a_constant(log):
    def f(x):
        o = Plain(x)
        w = watch(log, o, "o")
        y = o.value * 2
        o = None
        log.append(w() is None)
        return y * x if o is None else x

    return f


@program
def rebound_to_another(log):
    def f(x):
        y = 0.0
        for i in range(3):
            o = Dying(log, i, x * i)
            log.append("made")
            y = y + o.value * x
        log.append("end")
        return y

    return f


@program
def rebound_to_an_older_one(log):
    def f(x):
        a = Dying(log, "a", x)
        b = Dying(log, "b", x * x)
        y = a.value * b.value
        a = b
        log.append("rebound")
        return y * a.value

    return f


@program
def deleted_on_one_path(log):
    def f(x):
        y = x
        for i in range(4):
            o = Dying(log, i, x * i)
            w = weakref.ref(o)
            y = y + o.value
            if i % 2:
                del o
            else:
                log.append("kept")
            log.append(w() is None)
        return y * x

    return f


@program
def held_by_two_names(log):
    def f(x):
        a = Dying(log, "a", x)
        b = a
        del a
        log.append("still there")
        y = b.value * x
        b = 0
        log.append("gone")
        return y + b

    return f


@program
def local_of_a_callee(log):
    def inner(x):
        o = Dying(log, "o", x)
        return o.value * o.value

    def f(x):
        y = inner(x)
        log.append("returned")
        return y * x

    return f


@program
def temporary(log):
    def f(x):
        y = Dying(log, "o", x).value * x
        log.append("read")
        return y

    return f


@program
def slots(log):
    def f(x):
        o = Slotted(x)
        w = watch(log, o, "o")
        y = o.value * 2
        del o
        log.append(w() is None)
        return y * x

    return f


@program
def attribute_of_an_object_that_dies(log):
    def f(x):
        o = Plain(x)
        o.inner = Dying(log, "inner", x * x)
        y = o.value * o.inner.value
        del o
        log.append("deleted")
        return y

    return f


@program
def attribute_overwritten(log):
    def f(x):
        o = Plain(x)
        o.inner = Dying(log, "inner", x * x)
        y = o.value * o.inner.value
        o.inner = x
        log.append("overwritten")
        del o.inner
        return y * o.value

    return f


@program
def instance_that_its_dict_outlives(log):
    def f(x):
        o = Plain(x * x)
        names = vars(o)
        w = watch(log, o, "o")
        del o
        log.append(w() is None)
        return names["value"] * x

    return f


@program
def cycle_that_is_collected(log):
    def f(x):
        o = Plain(x * x)
        o.me = o
        w = watch(log, o, "o")
        y = o.value * x
        del o
        log.append(w() is None)
        gc.collect()
        log.append(w() is None)
        return y

    return f


@program
def linked_list(log):
    def f(x):
        head = None
        for i in range(3):
            node = Dying(log, i, x * i)
            node.next = head
            head = node
        del node
        y = 0.0
        while head is not None:
            y = y + head.value * x
            head = head.next
            log.append("next")
        return y

    return f


# What is found weakly


@program
def weak_values(log):
    def f(x):
        table = weakref.WeakValueDictionary()
        o = Plain(x)
        table["o"] = o
        y = table["o"].value * x
        log.append(len(table))
        del o
        log.append(len(table))
        return y

    return f


@program
def weak_keys(log):
    def f(x):
        table = weakref.WeakKeyDictionary()
        o = Plain(x)
        table[o] = 1
        log.append(len(table))
        y = o.value * x
        del o
        log.append(len(table))
        return y

    return f


@program
def finalized(log):
    def f(x):
        o = Plain(x)
        weakref.finalize(o, log.append, "o dies")
        y = o.value * x
        del o
        log.append("deleted")
        return y

    return f


@program
def proxied(log):
    def f(x):
        o = Plain(x)
        p = weakref.proxy(o)
        y = o.value * x
        del o
        try:
            p.name
        except ReferenceError:
            log.append("gone")
        return y

    return f


# Containers


@program
def list_deleted(log):
    def f(x):
        items = [Dying(log, "o", x), x]
        y = items[1] * items[0].value
        del items
        log.append("deleted")
        return y

    return f


@program
def list_rebound(log):
    def f(x):
        items = [Dying(log, "o", x), x]
        y = items[1] * items[0].value
        items = None
        log.append("rebound")
        return y if items is None else x

    return f


@program
def list_within_a_list(log):
    def f(x):
        items = [[Dying(log, "o", x), x], x]
        y = items[0][1] * items[1]
        del items
        log.append("deleted")
        return y

    return f


@program
def dict_deleted(log):
    def f(x):
        table = {"o": Dying(log, "o", x), "x": x}
        y = table["x"] * table["o"].value
        del table
        log.append("deleted")
        return y

    return f


@program
def item_deleted(log):
    def f(x):
        table = {"o": Dying(log, "o", x), "x": x}
        y = table["x"] * table["o"].value
        del table["o"]
        log.append("deleted")
        return y * table["x"]

    return f


@program
def list_of_an_object(log):
    def f(x):
        o = Plain(x)
        o.items = [Dying(log, "inner", x), x]
        y = o.items[1] * o.value
        del o
        log.append("deleted")
        return y

    return f


@program
def list_in_a_callee(log):
    def inner(x):
        items = [Dying(log, "o", x), x]
        return items[1] * items[0].value

    def f(x):
        y = inner(x)
        log.append("returned")
        return y

    return f


@program
def keyword_arguments(log):
    def inner(**given):
        return given["x"] * given["o"].value

    def f(x):
        y = inner(o=Dying(log, "o", x), x=x)
        log.append("returned")
        return y

    return f


@program
def popped(log):
    def f(x):
        items = [x, Dying(log, "o", x)]
        y = items.pop().value
        log.append("popped")
        return y * items[0]

    return f


@program
def cleared(log):
    def f(x):
        items = [x, Dying(log, "o", x)]
        y = items[0] * items[1].value
        items.clear()
        log.append("cleared")
        return y

    return f


# Generators, exceptions, closures, files


@program
def generator_left(log):
    def items(x):
        try:
            yield x
            yield x * x
        finally:
            log.append("closed")

    def f(x):
        for y in items(x):
            break
        log.append("left")
        return y * x

    return f


@program
def generator_deleted(log):
    def items(x):
        o = Dying(log, "o", x)
        try:
            yield o.value
        finally:
            log.append("closed")

    def f(x):
        it = items(x)
        y = next(it)
        del it
        log.append("deleted")
        return y * x

    return f


@program
def generator_in_a_list(log):
    def items(x):
        try:
            yield x
        finally:
            log.append("closed")

    def f(x):
        held = [items(x), x]
        y = next(held[0]) * held[1]
        del held
        log.append("deleted")
        return y

    return f


@program
def closure_deleted(log):
    def f(x):
        o = Dying(log, "o", x)

        def inner():
            return o.value * x

        y = inner()
        o, inner = None, None
        log.append("released")
        return y

    return f


@program
def default_value(log):
    def f(x):
        def inner(o=Dying(log, "o", x), v=x):
            return o.value * v

        y = inner()
        del inner
        log.append("deleted")
        return y

    return f


@program
def bound_method_deleted(log):
    class Scaling(Dying):
        def times(self, v):
            return self.value * v

    def f(x):
        times = Scaling(log, "o", x).times
        y = times(x)
        del times
        log.append("deleted")
        return y

    return f


@program
def exception_that_holds_a_value(log):
    def fails(x):
        o = Dying(log, "o", x)
        raise ValueError(o.value * x)

    def f(x):
        try:
            fails(x)
        except ValueError as error:
            y = error.args[0]
            log.append("caught")
        log.append("handled")
        return y

    return f


@program
def exception_of_a_program(log):
    class Failed(Exception):
        def __init__(self, value):
            self.value = value

    def fails(x):
        o = Dying(log, "o", x)
        raise Failed(o.value * x)

    def f(x):
        try:
            fails(x)
        except Failed as error:
            y = error.value
            log.append("caught")
        log.append("handled")
        return y

    return f


def opened(log):
    """A file, and what notes whether it is open."""
    file = tempfile.TemporaryFile()
    number = file.fileno()

    def is_open():
        try:
            os.fstat(number)
        except OSError:
            return False
        return True

    return file, lambda: log.append(is_open())


@program
def file_of_an_object(log):
    def f(x):
        o = Plain(x)
        o.file, note = opened(log)
        note()
        y = o.value * x
        del o
        note()
        return y

    return f


@program
def file_in_a_dict(log):
    def f(x):
        file, note = opened(log)
        table = {"file": file, "x": x}
        del file
        note()
        y = table["x"] * x
        table = None
        note()
        return y if table is None else x

    return f


@program
def manager_released(log):
    class Managed(Dying):
        def __enter__(self):
            return self

        def __exit__(self, *given):
            log.append("exit")

    def f(x):
        with Managed(log, "o", x) as o:
            y = o.value * x
        del o
        log.append("deleted")
        return y

    return f


@program
def what_ends_with_the_program(log):
    def f(x):
        items = [Dying(log, "o", x), x]
        return items[1] * items[0].value

    return f


@program
def what_an_error_ends(log):
    def inner(x):
        items = [Dying(log, "o", x), x]
        raise ValueError(items[1] * items[0].value)

    def f(x):
        try:
            inner(x)
        except ValueError:
            log.append("caught")
        log.append("handled")
        return x * x

    return f


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_a_pullback_holds_nothing_that_can_be_observed(make):
    expected: Log = []
    make(expected)(AT)
    log: Log = []
    _, back = pullback(make(log), AT)
    assert log == expected
    assert back(1.0)[0] == pytest.approx(slope(make([])), rel=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_what_dies_where(make, mode):
    expected: Log = []
    make(expected)(AT)
    log: Log = []
    grads = MODES[mode](make(log))
    assert log == expected
    assert grads == pytest.approx([slope(make([]))] * len(grads), rel=1e-5)


def with_collections_everywhere(function, *args):
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        return function(*args)
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize(
    "make", [cycle_that_is_collected, linked_list, list_within_a_list, exception_that_holds_a_value]
)
def test_collections_may_run_anywhere(make):
    assert with_collections_everywhere(carried, make([])) == pytest.approx([slope(make([]))], rel=1e-5)


def test_objects_that_leave_weak_references_behind_are_held():
    """Those of SWIG do, whose freed memory the collector would come to."""
    made, table = type("SwigPyObject", (), {})(), {}
    enter_weakly(table, made, None)
    assert table[id(made)][0] is made
