"""What caches keep, debuggers, and exceptions that pass through the engine."""

from __future__ import annotations

import bdb
import gc
import sys
import weakref

import numpy as np
import pytest

from autodiff_hook import J, gradient, jvp, pullback
from autodiff_hook.semantics import functions

SOURCE = """
factor = 3.0
table = {"a": [2.0]}
def f(x):
    global last
    last = {x * factor}
    return x * factor * table["a"][0] + sum(t * x for t in table["a"])
"""


def test_executed_functions_with_fresh_globals_are_not_kept():
    gc.collect()
    before = len(functions._carried_for)
    code = compile(SOURCE, "<fresh>", "exec")
    watched = []
    for _ in range(50):
        namespace = {"__name__": "fresh"}
        exec(code, namespace)
        assert gradient(namespace["f"], 2.0) == (8.0,)
        watched.append(weakref.ref(namespace["f"]))
    del namespace
    gc.collect()
    assert not any(reference() for reference in watched)
    del code
    gc.collect()
    assert len(functions._carried_for) <= before + 2


def test_compiling_anew_leaves_nothing_behind():
    gc.collect()
    before = len(functions._carried_for)
    for i in range(50):
        namespace = {"__name__": "fresh"}
        exec(SOURCE.replace("3.0", f"{i}.0"), namespace)
        gradient(namespace["f"], 2.0)
    del namespace
    gc.collect()
    assert len(functions._carried_for) <= before + 2


def test_a_pullback_keeps_what_it_needs_and_no_longer_than_itself():
    class Data:
        def __init__(self):
            self.a = np.ones(3)

    data = Data()
    y, back = pullback(lambda x: (data.a * x).sum(), 2.0)
    held = weakref.ref(data.a)
    data.a = None
    gc.collect()
    assert held() is not None and back(1.0) == (3.0,)
    del back
    gc.collect()
    assert held() is None


def test_a_failed_call_keeps_nothing():
    def attempt():
        array = np.ones(3)

        def f(x):
            kept = [array * x]
            raise ValueError(len(kept))

        with pytest.raises(ValueError):
            gradient(f, 2.0)
        return weakref.ref(array)

    held = attempt()
    gc.collect()
    assert held() is None


def breakpoints_in(f, args):
    """The lines at which a debugger stops in ``f`` while it is differentiated."""
    stops = []

    class Debugger(bdb.Bdb):
        def user_line(self, frame):
            if frame.f_code.co_name == f.__name__:
                stops.append((frame.f_lineno - f.__code__.co_firstlineno, frame.f_locals.get("x")))

    debugger = Debugger()
    debugger.set_break(f.__code__.co_filename, f.__code__.co_firstlineno + 1)
    result = debugger.runcall(gradient, f, *args)
    debugger.clear_all_breaks()
    return result, stops


def test_breakpoints_in_code_that_is_differentiated():
    def model(x):
        y = x * x
        for i in range(2):
            y = y * x + i
        return y

    old = sys.gettrace()
    try:
        result, stops = breakpoints_in(model, (3.0,))
    finally:
        sys.settrace(old)
    assert result == gradient(model, 3.0)
    assert (1, 3.0) in stops


def test_a_profiler_does_no_harm():
    seen = []
    old = sys.getprofile()
    sys.setprofile(lambda frame, event, arg: seen.append(event))
    try:
        result = gradient(lambda x: sum([x * i for i in range(3)]), 2.0)
    finally:
        sys.setprofile(old)
    assert result == (3.0,) and seen


def test_exceptions_of_every_kind_leave_the_engine_intact():
    state = {"fail": None}

    def helper(x):
        if state["fail"] is not None:
            raise state["fail"]
        return x * x

    def gen(x):
        yield x
        yield helper(x)

    def f(xs):
        return sum(map(helper, xs)) + sum(gen(xs[0])) + max(xs, key=helper) + sorted(xs, key=lambda v: helper(v))[0]

    expected = gradient(f, [1.0, 2.0])
    for error in (
        ValueError("a"),
        KeyboardInterrupt(),
        SystemExit(1),
        StopIteration(3),
        RecursionError(),
        MemoryError(),
    ):
        state["fail"] = error
        with pytest.raises((type(error), RuntimeError)):
            gradient(f, [1.0, 2.0])
        state["fail"] = None
        assert gradient(f, [1.0, 2.0]) == expected


def test_an_exception_in_a_pullback_leaves_it_usable():
    from autodiff_hook import hook

    state = {"fail": True}

    def check(c):
        if state["fail"]:
            raise ValueError("no")
        return c

    _, back = pullback(lambda x, a: (hook(check, x) * a).sum(), 2.0, np.ones(2))
    with pytest.raises(ValueError):
        back(1.0)
    state["fail"] = False
    x̄, ā = back(1.0)
    assert x̄ == 2.0 and ā.tolist() == [2.0, 2.0]


def test_mutual_recursion_of_a_reasonable_depth():
    class Node:
        def __init__(self, value, next):
            self.value, self.next = value, next

        def total(self):
            return self.value + (self.next.rest() if self.next is not None else 0.0)

        def rest(self):
            return 1.0 * self.total()

    def build(x, n):
        node = None
        for _ in range(n):
            node = Node(x, node)
        return node

    assert gradient(lambda x: build(x, 150).total(), 2.0) == (150.0,)


def test_sessions_in_threads_do_not_see_each_other():
    import threading

    shared = [1.0]
    results = {}

    def work(k):
        def f(x):
            mine = [x, k]
            for _ in range(20):
                mine.append(mine[-1] * mine[0] / k + shared[0])
            return mine[-1]

        results[k] = gradient(f, 0.5)

    expected = {}
    for k in range(1, 9):
        work(k)
    expected = dict(results)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == expected


def test_j_keeps_nothing_alive():
    w = np.ones(2)
    f = lambda x: (w * x).sum()  # noqa: E731
    value, back = J(f, 2.0)
    reference = weakref.ref(f)
    del f, back
    gc.collect()
    assert value == 4.0 and reference() is None


GLOBAL = "def f(x): return h * x\ndef outer(x):\n global h\n h = x * x\n return f(x)"


def last_gradients(f, x):
    """By pullback and by pushforward."""
    return J(f, x)[1](1.0)[1], jvp(f, (x,), (1.0,))[1]


def test_a_global_that_was_a_function_and_is_a_number_now():
    namespace = {"__name__": "fresh", "h": len}
    exec(GLOBAL, namespace)
    with pytest.raises(TypeError):
        J(namespace["f"], 2.0)
    with pytest.raises(TypeError):
        jvp(namespace["f"], (2.0,), (1.0,))
    assert last_gradients(namespace["outer"], 3.0) == (27.0, 27.0)


def test_globals_where_other_globals_were():
    """The number of a dead dict is that of another soon."""
    code = compile(GLOBAL, "<fresh>", "exec")
    gc.freeze()  # what other tests have left would be looked through 60 times
    for i in range(60):
        namespace = {"__name__": "fresh"}
        exec(code, namespace)
        if i % 2:
            assert last_gradients(namespace["outer"], 3.0) == (27.0, 27.0)
        else:
            namespace["h"] = len
            with pytest.raises(TypeError):
                J(namespace["f"], 2.0)
        del namespace
        gc.collect()
