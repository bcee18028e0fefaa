"""Life in a process: caches keep nothing alive, threads, tracing, deep recursion."""

from __future__ import annotations

import gc
import math
import pickle
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook.algebras.algebra import Algebra
from autodiff_hook.api import generic_gradient, generic_jvp
from autodiff_hook.semantics import functions


def test_ten_thousand_fresh_lambdas_leave_memory_flat():
    class Data:
        def __init__(self):
            self.array = np.ones(1000)

    def one():
        data = Data()
        f = lambda x: np.sum(data.array * x)  # noqa: E731
        assert ad.gradient(f, 2.0) == (1000.0,)
        return weakref.ref(f), weakref.ref(data), weakref.ref(data.array)

    for _ in range(100):
        one()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    references = [one() for _ in range(200)]
    for _ in range(9_800):
        one()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert all(r() is None for row in references for r in row)
    assert grown < 500_000


def test_executed_functions_leave_the_cache_with_their_code():
    gc.collect()
    before = len(functions._carried_for)
    for i in range(50):
        namespace = {}
        exec(f"def f(x):\n    return x * {i}.0", namespace)
        assert ad.gradient(namespace["f"], 2.0) == (float(i),)
    del namespace
    gc.collect()
    assert len(functions._carried_for) <= before + 1


def test_concurrent_first_calls_from_200_threads():
    namespace = {"math": math}
    exec(
        "\n".join(
            f"def f{i}(x):\n    s = 0.0\n    for k in range(5):\n        s = s + math.sin(x) * k\n    return s * x"
            for i in range(4)
        ),
        namespace,
    )
    results, errors = [], []
    barrier = threading.Barrier(200)

    def work(i):
        barrier.wait()
        try:
            results.append(ad.gradient(namespace[f"f{i % 4}"], 0.5))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(set(results)) == 1
    assert results[0][0] == pytest.approx(10 * (math.cos(0.5) * 0.5 + math.sin(0.5)))


def test_a_tracer_sees_the_lines_of_the_user():
    def f(x):
        y = x * x
        return y + 1.0

    lines = set()

    def tracer(frame, event, arg):
        if event == "line" and frame.f_code.co_name == "f":
            lines.add(frame.f_lineno - f.__code__.co_firstlineno)
        return tracer

    old = sys.gettrace()
    sys.settrace(tracer)
    try:
        result = ad.gradient(f, 3.0)
    finally:
        sys.settrace(old)
    assert result == (6.0,)
    assert {1, 2} <= lines


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12")
def test_instrumented_code_is_differentiated():
    def f(x):
        y = x * x
        return y * x

    tool, events = sys.monitoring.PROFILER_ID, sys.monitoring.events
    sys.monitoring.use_tool_id(tool, "test")
    seen = []
    try:
        sys.monitoring.register_callback(tool, events.LINE, lambda code, line: seen.append(line))
        sys.monitoring.set_local_events(tool, f.__code__, events.LINE)
        f(1.0)
        assert ad.gradient(f, 3.0) == (27.0,)
    finally:
        sys.monitoring.set_local_events(tool, f.__code__, 0)
        sys.monitoring.free_tool_id(tool)
    assert seen


def test_recursion_of_a_reasonable_depth_and_beyond():
    def down(x, n):
        return x if n == 0 else x * 1.01 + down(x, n - 1)

    assert ad.gradient(down, 1.0, 400)[0] == pytest.approx(1 + 404.0)

    def endless(x):
        return endless(x) * x

    with pytest.raises(RecursionError):
        ad.gradient(endless, 1.0)
    assert ad.gradient(down, 1.0, 3)[0] == pytest.approx(4.03)


def test_an_exception_leaves_the_engine_intact():
    def f(x, fail):
        y = [x, x * x]
        if fail:
            raise KeyError("no")
        return y[1]

    for _ in range(3):
        with pytest.raises(KeyError):
            ad.gradient(f, 3.0, True)
        assert ad.gradient(f, 3.0, False) == (6.0, None)


def test_tangents_are_pickled():
    class Line:
        def __init__(self):
            self.slope = 2.0

    (g,) = ad.gradient(lambda line: line.slope * 3.0, Line())
    again = pickle.loads(pickle.dumps(g))
    assert again.slope == 3.0
    assert again == g


def algebras():
    return {id(x) for x in gc.get_objects() if issubclass(type(x), Algebra)}


def cubed(x):
    items = {"x": [x, x * x]}
    return items["x"][0] * np.sum(np.array(items["x"][1:]))


@pytest.mark.parametrize(
    "differentiate",
    [lambda: generic_gradient(cubed, 1.5), lambda: generic_jvp(cubed, (1.5,), (1.0,))],
    ids=["reverse", "forward"],
)
def test_what_carries_derivatives_goes_at_once(differentiate):
    differentiate()
    gc.collect()
    gc.disable()
    try:
        # What an interrupt has left is somebody else's.
        before = algebras()
        differentiate()
        assert algebras() == before
    finally:
        gc.enable()
