"""Functions with programs of their own: those that call themselves, and large ones, shared by their callers."""

from __future__ import annotations

import gc
import math
import sys
import threading
import weakref
from typing import NamedTuple

import numpy as np
import pytest
from specialised_cases import GENERIC, check_all_ways, is_specialised, scope

import autodiff_hook as ad
from autodiff_hook.registry import registry
from autodiff_hook.runtime import callees
from autodiff_hook.runtime.specialising import ONE_WAY, is_hopeless

needs_programs = pytest.mark.skipif(GENERIC or ONE_WAY, reason="these are programs for all ways")


def slope(f, x, step=1e-6):
    return (f(x + step) - f(x - step)) / (2 * step)


def fibonacci(n, x):
    return x if n < 2 else fibonacci(n - 1, x) + fibonacci(n - 2, x) * x


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * x if n % 2 else half * half


def even(n, x):
    return x if n == 0 else odd(n - 1, x * 1.01)


def odd(n, x):
    return x * x if n == 0 else even(n - 1, math.sin(x))


def simpson(f, a, b, fa, fm, fb, whole, eps, depth):
    m = (a + b) / 2
    left_middle, right_middle = f((a + m) / 2), f((m + b) / 2)
    left = (m - a) / 6 * (fa + 4 * left_middle + fm)
    right = (b - m) / 6 * (fm + 4 * right_middle + fb)
    rest = left + right - whole
    if depth <= 0 or abs(rest) <= 15 * eps:
        return left + right + rest / 15
    return simpson(f, a, m, fa, left_middle, fm, left, eps / 2, depth - 1) + simpson(
        f, m, b, fm, right_middle, fb, right, eps / 2, depth - 1
    )


def integral(f, a, b, eps=1e-9):
    fa, fm, fb = f(a), f((a + b) / 2), f(b)
    return simpson(f, a, b, fa, fm, fb, (b - a) / 6 * (fa + 4 * fm + fb), eps, 20)


def nested(x):
    def go(n, y):
        return y * x if n == 0 else go(n - 1, y * x + math.cos(y))

    return go(5, x)


def pairs(x):
    def go(n, pair):
        if n == 0:
            return pair
        a, b = go(n - 1, pair)
        return b, a * b + x

    return go(6, (x, 1.0))[0]


def looping(x):
    total = 0.0
    for n in range(6):
        total = total + power(x, n) * fibonacci(n, x)
    return total


RECURSIVE = {
    "twice": lambda x: fibonacci(9, x),
    "halves": lambda x: power(x, 13),
    "mutual": lambda x: even(7, x),
    "adaptive": lambda x: integral(lambda s: math.exp(-x * s * s), 0.0, 2.0),
    "closure": nested,
    "pairs": pairs,
    "in a loop": looping,
}


@pytest.mark.parametrize("f", RECURSIVE.values(), ids=RECURSIVE)
def test_recursion(f):
    for x in (0.9, 1.1, 0.7):
        assert ad.gradient(f, x)[0] == pytest.approx(slope(f, x), rel=1e-5)
        value, back = ad.pullback(f, x)
        assert value == f(x)
        assert back(1.0)[0] == pytest.approx(back(2.0)[0] / 2)
    assert ad.jvp(f, (0.9,), (1.0,))[1] == pytest.approx(slope(f, 0.9), rel=1e-5)
    second = ad.hvp(f, (0.9,), (1.0,))[0]
    assert second == pytest.approx(slope(lambda x: ad.gradient(f, x)[0], 0.9), rel=1e-4)


@needs_programs
@pytest.mark.parametrize("f", RECURSIVE.values(), ids=RECURSIVE)
def test_recursion_is_typed(f):
    ad.gradient(f, 0.8)
    assert is_specialised(f)


def test_recursion_over_arrays():
    def f(a):
        def go(n, v):
            return v if n == 0 else go(n - 1, np.tanh(v) * a)

        return np.sum(go(4, a))

    a = np.array([0.3, 0.5, 0.2])
    steps = 1e-6 * np.eye(3)
    expected = [(f(a + h) - f(a - h)) / 2e-6 for h in steps]
    for _ in range(2):
        assert ad.gradient(f, a)[0] == pytest.approx(expected, rel=1e-5)


def test_a_recursion_may_be_as_deep_as_plainly():
    def down(n, x):
        return x if n == 0 else down(n - 1, x * 1.001)

    depth = 900
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1100)
    try:
        assert ad.gradient(lambda x: down(depth, x), 1.0)[0] == pytest.approx(1.001**depth)
    finally:
        sys.setrecursionlimit(limit)


def test_a_recursion_without_end_is_one():
    def down(x):
        return down(x * 0.5)

    with pytest.raises(RecursionError):
        ad.gradient(down, 1.0)


def test_an_error_within_is_the_plain_one():
    def go(n, x):
        return math.log(x) if n == 0 else go(n - 1, x - 1.0)

    for _ in range(2):
        with pytest.raises(ValueError, match="math domain error|expected a positive input"):
            ad.gradient(lambda x: go(3, x), 2.0)
    assert ad.gradient(lambda x: go(3, x), 5.0)[0] == pytest.approx(0.5)


LARGE = "\n".join(
    [
        "import math",
        "RATE, SIGN, SHAPE = 0.5, '+', (2.0, 3.0)",
        "def part(x, k): return math.sin(x * k) + RATE",
        "def large(x, y=1.5, *rest, sign='+', **named):",
        *[f"    x = 0.9 * x + 0.1 * part(x, 0.{i}5) * y + 0.0{i} * math.cos(x)" for i in range(30)],
        "    for z in rest: x = x + z * y",
        "    x = x + SHAPE[0] * named.get('bias', 0.0) if named else x",
        "    return x * RATE if sign == SIGN else -x",
    ]
)


@pytest.fixture
def package():
    return scope(LARGE)


CALLS = (
    "large(x)",
    "2.0 * large(x * 0.5)",
    "large(0.25, x)",
    "large(x, x)",
    "large(x, 2.0, x, 3.0)",
    "large(x, sign='-')",
    "large(x, bias=x)",
    "large(x, 2)",
    "large(0.5) * x",
    "sum([large(x * k) for k in range(1, 4)])",
    "large(large(x))",
    "large(x) if x > 10.0 else large(x, 0.5)",
)


def caller(package, call="large(x)"):
    return eval(f"lambda x: {call}", package)


@pytest.mark.parametrize("call", CALLS)
def test_large_functions(package, call):
    f = caller(package, call)
    for x in (0.3, 0.4):
        assert ad.gradient(f, x)[0] == pytest.approx(slope(f, x, 1e-7), rel=1e-4, abs=1e-4)
        assert ad.withgradient(f, x)[0] == f(x)


@needs_programs
def test_what_is_large_is_made_once(package, monkeypatch):
    made = []
    follow = callees.Callee.follow
    monkeypatch.setattr(callees.Callee, "follow", lambda self, *rest: (made.append(self), follow(self, *rest)))
    for _ in range(4):
        ad.gradient(caller(package), 0.5)
    assert len(made) == 1
    ad.gradient(caller(package, "large(x, sign='-')"), 0.5)
    assert len(made) == 2


GIVING_UP = """
import sys

def looks(x):
    return sys._getframe().f_lineno * 0.0 + x if x < 10.0 else x

def rough(x):
    return looks(x) + large(x) * (large(x, 2.0) + large(x, 3.0))

def outer(x):
    return rough(x) + 2.0 * rough(x * 0.5)
"""


@needs_programs
def test_what_calls_what_is_not_understood_is_not_tried_again(package):
    exec(GIVING_UP, package)
    f = eval("lambda x: outer(x)", package)
    assert ad.gradient(f, 0.5)[0] == pytest.approx(slope(f, 0.5), rel=1e-6)
    for name in ("outer", "rough", "looks"):
        assert is_hopeless(package[name].__code__)
    assert not is_hopeless(package["large"].__code__)


LOOPING = """
def first(x, n):
    return x if n <= 0 else second(x * 1.01, n - 1) + large(x)

def second(x, n):
    return x * x if n <= 0 else large(x, 2.0) * 0.5 + third(x, n - 1)

def third(x, n):
    return first(x, n - 1) + (second(x * 0.5, n - 2) if n > 3 else large(x))
"""


@needs_programs
def test_what_calls_itself_looks_once_at_what_does_not(package, monkeypatch):
    exec(LOOPING, package)
    made = []
    follow = callees.Callee.follow
    monkeypatch.setattr(callees.Callee, "follow", lambda self, *rest: (made.append(self), follow(self, *rest)))
    f = eval("lambda x: first(x, 6)", package)
    assert ad.gradient(f, 0.5)[0] == pytest.approx(slope(f, 0.5), rel=1e-6)
    assert is_specialised(f)
    large = [(callee.call.key(), callee.kinds) for callee in made if callee.source()[0].co_name == "large"]
    assert large and len(large) == len(set(large))
    assert len([callee for callee in made if callee.source()[0].co_name == "first"]) > 1


def test_what_it_loads_is_looked_at_for_each_caller(package):
    large = package["large"]
    before = [caller(package), caller(package, "large(x) + 1.0")]
    for f in before:
        assert ad.gradient(f, 0.4)[0] == pytest.approx(slope(f, 0.4, 1e-7), rel=1e-4)
    package["RATE"] = 0.75
    for f in [*before, caller(package, "large(x) + 2.0")]:
        assert ad.gradient(f, 0.4)[0] == pytest.approx(slope(f, 0.4, 1e-7), rel=1e-4)
    package["SIGN"] = "-"
    for f in [*before, caller(package, "large(x) + 2.0")]:
        assert ad.gradient(f, 0.4)[0] == pytest.approx(slope(f, 0.4, 1e-7), rel=1e-4)
    package["part"] = scope("def part(x, k): return x * k / 30")["part"]
    for f in [*before, caller(package, "large(x) + 2.0")]:
        assert ad.gradient(f, 0.4)[0] == pytest.approx(slope(f, 0.4, 1e-7), rel=1e-4)
    large.__defaults__ = (0.5,)
    for f in [*before, caller(package, "large(x) + 2.0")]:
        assert ad.gradient(f, 0.4)[0] == pytest.approx(slope(f, 0.4, 1e-7), rel=1e-4)


def test_what_it_loads_may_be_of_another_type(package):
    for rate in (0.5, 2, np.float64(0.25), True):
        package["RATE"] = rate
        f = caller(package)
        assert ad.gradient(f, 0.4)[0] == pytest.approx(slope(f, 0.4, 1e-7), rel=1e-4)


def test_parts_of_what_is_differentiated_that_it_loads():
    names = scope(
        LARGE.replace("RATE,", "MODEL, RATE,").replace("= 0.5,", "= None, 0.5,").replace("+ RATE", "* MODEL.k")
    )

    class Model:
        def __init__(self, k):
            self.k = k

    model = names["MODEL"] = Model(0.7)
    f = eval("lambda m: large(0.4) * m.k if m is MODEL else 0.0", names)

    def plain(k):
        names["MODEL"], before = Model(k), names["MODEL"]
        try:
            return names["large"](0.4) * k
        finally:
            names["MODEL"] = before

    try:
        found = ad.gradient(f, model)[0]
    except ad.AutodiffError as error:
        assert "copy" in str(error)
    else:
        assert found["k"] == pytest.approx(slope(plain, 0.7), rel=1e-5)


CHOOSING = """
def other(x): return large(x, 2.0) * large(x * x)

def chosen(x, y):
    return large(x, y) if x < y else other(x)
"""


@pytest.fixture
def finished(monkeypatch):
    """The functions whose halves have been finished."""
    found = []
    halved = callees.Callee._halved
    note = lambda self, *rest: (found.append(self.source()[0].co_name), halved(self, *rest))[1]  # noqa: E731
    monkeypatch.setattr(callees.Callee, "_halved", note)
    return found


@needs_programs
def test_only_what_is_called_is_finished(package, finished):
    exec(CHOOSING, package)
    f = eval("lambda x, y: chosen(x, y)", package)
    for args, names in (((0.4, 0.5), {"chosen", "large"}), ((0.6, 0.5), {"chosen", "large", "other"})):
        assert ad.gradient(f, *args)[0] == pytest.approx(slope(lambda x, y=args[1]: f(x, y), args[0], 1e-7), rel=1e-4)
        assert set(finished) == names
        assert is_specialised(f)
        once = list(finished)
        ad.gradient(f, *args)
        assert finished == once


@needs_programs
def test_what_was_interrupted_is_finished_by_the_next_call(package, monkeypatch):
    f, emitted = caller(package), callees.Callee._emitted
    halves = []

    def interrupted(self, half):
        halves.append(half)
        if len(halves) == 2:
            raise KeyboardInterrupt
        return emitted(self, half)

    monkeypatch.setattr(callees.Callee, "_emitted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ad.gradient(f, 0.5)
    assert ad.gradient(f, 0.5)[0] == pytest.approx(slope(f, 0.5, 1e-7), rel=1e-4)
    assert len(halves) == 4


@needs_programs
def test_what_is_never_called_does_not_stay(package):
    exec(CHOOSING, package)
    ad.gradient(eval("lambda x, y: chosen(x, y)", package), 0.4, 0.5)
    (chosen,) = callees._shared.found[id(package["chosen"].__code__)]
    kept = []
    for callee in chosen.callees.found.values():
        kept += [weakref.ref(callee), *(weakref.ref(halves.forward) for halves in callee.halves.values())]
    assert len(kept) > 5
    del chosen, callee
    registry._tell()
    for _ in range(3):
        # One collection frees the code that holds what the next one frees.
        gc.collect()
    assert not any(x() for x in kept)


def test_threads_that_call_one_function(package):
    large, wrong = package["large"], []
    expected = slope(large, 0.4, 1e-7)

    def work():
        for k in range(3):
            found = ad.gradient(caller(package, f"large(x) + {k}"), 0.4)[0]
            if found != pytest.approx(expected, rel=1e-4):
                wrong.append(found)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def test_a_changed_array_is_another_one(package):
    names = scope(
        "import numpy as np\ndef step(v, k):\n    w = np.tanh(v) * k\n"
        + "".join(f"    w = w + 0.01 * np.sin(w * {i}.5)\n" for i in range(40))
        + "    return w\n"
        "def f(a):\n    u = a * 2.0\n    r = step(u, 0.5)\n    u[0] = 3.0 * a[1]\n    q = step(u, 0.25)\n"
        "    r[1] = q[0]\n    return np.sum(r * q + u)\n"
    )
    f = names["f"]
    a = np.array([0.3, -0.2])
    steps = 1e-7 * np.eye(2)
    expected = [(f(a + h) - f(a - h)) / 2e-7 for h in steps]
    for _ in range(2):
        assert ad.gradient(f, a)[0] == pytest.approx(expected, rel=1e-3, abs=1e-4)


def minors(m):
    if len(m) == 1:
        return m[0][0]
    total = 0.0
    for j in range(len(m)):
        total = total + (-1) ** j * m[0][j] * minors([row[:j] + row[j + 1 :] for row in m[1:]])
    return total


@pytest.mark.parametrize("size", (2, 3, 4))
def test_recursion_over_lists(size):
    rows = np.random.default_rng(size).normal(size=(size, size))
    for _ in range(2):
        found = ad.gradient(minors, rows.tolist())[0]
        np.testing.assert_allclose(found, np.linalg.det(rows) * np.linalg.inv(rows).T)


class Shape(NamedTuple):
    a: float
    k: float = 0.1


def halved(f, a, b, depth):
    m = 0.5 * (a + b)
    whole, parts = (b - a) * f(m), 0.5 * (b - a) * (f(0.5 * (a + m)) + f(0.5 * (m + b)))
    if depth == 0 or abs(whole - parts) < 1e-3:
        return parts
    return halved(f, a, m, depth - 1) + halved(f, m, b, depth - 1)


def length_of(shape, end):
    def slope(t):
        return shape.a / math.sqrt(1.0 - shape.k * math.sin(t) ** 2)

    return halved(slope, 0.0, end, 9)


def of_a_named_tuple(x):
    return length_of(Shape(x), 1.5) * length_of(Shape(1.0, 0.5 * x), x)


def test_functions_of_named_tuples_that_call_themselves():
    for x in (0.7, 1.2):
        check_all_ways(of_a_named_tuple, x)
