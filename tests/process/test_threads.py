"""Threads that differentiate, compile and change rules at once; children forked meanwhile."""

from __future__ import annotations

import builtins
import importlib
import math
import os
import signal
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

import autodiff_hook as ad
from autodiff_hook.registry import Registry
from autodiff_hook.runtime import callees, sharing, specialising

THREADS = 16


@pytest.fixture(autouse=True)
def switching():
    """Threads take turns after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(THREADS) as pool:
        yield pool


def scope(source):
    names = {"__name__": __name__, "math": math}
    exec(source, names)
    return names


FUNCTIONS = [math.sin, math.cos, math.exp, math.tanh, math.atan, math.sqrt, math.sinh, math.asinh]


def slope(g, x):
    return (g(x + 1e-6) - g(x - 1e-6)) / 2e-6


@pytest.mark.parametrize("rounds", range(3))
@pytest.mark.parametrize("first", [ad.gradient, lambda f, x: ad.J(f, x)[1](1.0)[1:]], ids=["gradient", "J"])
def test_functions_that_share_code_but_not_defaults(pool, first, rounds):
    for _ in range(10):
        make = scope("def make(i): return lambda x, i=i: x * x * i")["make"]
        functions = [make(i) for i in range(40)]
        assert list(pool.map(lambda f: first(f, 2.0), functions)) == [(4.0 * i,) for i in range(40)]


@pytest.mark.parametrize("rounds", range(3))
def test_functions_that_share_code_but_not_what_they_captured(pool, rounds):
    for _ in range(10):
        make = scope("def make(g): return lambda x: g(x) * x")["make"]
        functions = [make(g) for g in FUNCTIONS * 3]
        expected = [g(0.5) + 0.5 * slope(g, 0.5) for g in FUNCTIONS * 3]
        assert [g for (g,) in pool.map(lambda f: ad.gradient(f, 0.5), functions)] == pytest.approx(expected)


def test_methods_of_objects_that_share_code(pool):
    for _ in range(10):
        cls = scope("class P:\n def __init__(s, i): s.i = i\n def m(s, x): return x * x * s.i")["P"]
        functions = [cls(i).m for i in range(40)]
        for derivative in (ad.gradient, lambda f, x: ad.withgradient(f, x)[1], lambda f, x: ad.pullback(f, x)[1](1.0)):
            found = list(pool.map(derivative, functions, [2.0] * 40))
            assert found == [(4.0 * i,) for i in range(40)]


def test_a_rule_replaced_while_programs_are_made(pool):
    """What was made with the old rule is not served afterwards."""

    def rule_with(slope):
        def rule(x):
            def pullback(ȳ):
                return (slope * ȳ,)

            return x, pullback

        return rule

    for round in range(30):
        names = scope("def g(x): return x\ndef f(x): return g(x) * 2.0 + x * 0.0")
        ad.rrule(names["g"])(rule_with(1.0))
        running = [pool.submit(ad.gradient, names["f"], 1.0) for _ in range(4)]
        ad.rrule(names["g"])(rule_with(5.0))
        assert {future.result() for future in running} <= {(2.0,), (10.0,)}
        assert ad.gradient(names["f"], 1.0) == (10.0,), round


def test_code_that_dies_while_other_code_is_made(pool):
    """The number of a dead code object is that of another soon."""

    def one(i):
        return ad.gradient(scope(f"def f(x): return x * {i}.0")["f"], 2.0)

    for start in range(0, 400, 100):
        assert list(pool.map(one, range(start, start + 100))) == [(float(i),) for i in range(start, start + 100)]


def test_caches_that_overflow(pool, monkeypatch):
    from autodiff_hook.runtime import entering, specialising

    for table in (specialising._known, *entering.tables()):
        monkeypatch.setattr(table, "size", 4)
    functions = [scope(f"def f(x): return x * {i}.0")["f"] for i in range(20)] * 20
    assert list(pool.map(lambda f: ad.gradient(f, 2.0), functions)) == [(float(i),) for i in range(20)] * 20


def test_a_rule_that_differentiates_what_is_being_specialised():
    names = scope("def g(x): return x\ndef f(x): return g(x) * x if x > 0 else x * 3.0")

    @ad.rrule(names["g"])
    def rule(x):
        ad.gradient(names["f"], -1.0)

        def pullback(ȳ):
            return (ȳ,)

        return x, pullback

    assert ad.gradient(names["f"], 2.0) == (4.0,)


def test_a_rule_that_needs_a_lock_which_the_waiting_thread_has(monkeypatch):
    """Nobody waits for ever."""
    monkeypatch.setattr(sharing, "_PATIENCE", 0.2)
    lock, begun = threading.RLock(), threading.Event()
    names = scope("def g(x): return x\ndef f(x): return g(x) * x")

    @ad.rrule(names["g"])
    def rule(x):
        begun.set()
        with lock:
            pass

        def pullback(ȳ):
            return (ȳ,)

        return x, pullback

    found = []
    with lock:
        thread = threading.Thread(target=lambda: found.append(ad.gradient(names["f"], 2.0)))
        thread.start()
        begun.wait(10)
        assert ad.gradient(names["f"], 2.0) == (4.0,)
    thread.join(10)
    assert found == [(4.0,)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_another_thread_compiles():
    names = scope("def g(x): return x\ndef f(x): return g(x) * x")
    begun, go_on = threading.Event(), threading.Event()
    parent = os.getpid()

    @ad.rrule(names["g"])
    def rule(x):
        if os.getpid() == parent:
            begun.set()
            go_on.wait(30)

        def pullback(ȳ):
            return (ȳ,)

        return x, pullback

    thread = threading.Thread(target=ad.gradient, args=(names["f"], 2.0))
    thread.start()
    assert begun.wait(10)
    child = os.fork()
    if not child:
        began = time.monotonic()
        right = ad.gradient(names["f"], 2.0) == (4.0,) and ad.J(names["f"], 2.0)[1](1.0)[1] == 4.0
        os._exit(0 if right and time.monotonic() - began < 5 else 1)
    go_on.set()
    thread.join(30)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("stage", ["_joint", "_halved"])
def test_a_child_forked_while_another_thread_makes_the_program_of_a_callee(stage, monkeypatch):
    names = scope("def go(n, x): return x if n == 0 else go(n - 1, x * x)\ndef f(x): return go(2, x)")
    begun, go_on = threading.Event(), threading.Event()
    parent, made = os.getpid(), getattr(callees.Callee, stage)

    def waiting(callee, *key):
        if os.getpid() == parent:
            begun.set()
            go_on.wait(30)
        return made(callee, *key)

    monkeypatch.setattr(callees.Callee, stage, waiting)
    thread = threading.Thread(target=ad.gradient, args=(names["f"], 2.0))
    thread.start()
    assert specialising.GENERIC or specialising.ONE_WAY or begun.wait(10)
    child = os.fork()
    if not child:
        began = time.monotonic()
        right = ad.gradient(names["f"], 2.0) == (32.0,)
        os._exit(0 if right and time.monotonic() - began < 5 else 1)
    go_on.set()
    thread.join(30)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Pack:
    """An entry point of a rule pack."""

    def __init__(self, name, load):
        self.name, self.value, self.load = name, f"pack of {name}", load


def registry_with(*packs):
    registry = Registry()
    registry.packs.entries = list(packs)
    return registry


def test_a_pack_that_another_thread_is_importing_is_awaited(tmp_path, monkeypatch):
    """Rules that are still being registered are not taken for none."""
    (tmp_path / "slow_pack.py").write_text(
        "import time, types\ntarget = types.SimpleNamespace\nbegun.set()\ntime.sleep(0.3)\n"
        "registry.add(target, (), lambda: (None, lambda c: ()))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry = registry_with(Pack("math", lambda: importlib.import_module("slow_pack")))
    begun = threading.Event()
    monkeypatch.setattr(builtins, "registry", registry, raising=False)
    monkeypatch.setattr(builtins, "begun", begun, raising=False)
    thread = threading.Thread(target=registry.packs.load)
    thread.start()
    assert begun.wait(10)
    assert registry.has_rules(types.SimpleNamespace)
    thread.join()


def test_a_pack_that_waits_for_a_thread_which_registers_a_rule():
    added, asked = threading.Event(), threading.Event()

    def load():
        asked.set()
        assert added.wait(10)

    registry = registry_with(Pack("math", load))
    thread = threading.Thread(target=registry.packs.load)
    thread.start()
    assert asked.wait(10)
    registry.add(math.sin, (), lambda x: (x, None))
    added.set()
    thread.join()
    assert registry.rule(math.sin, (float,)) is not None


def test_rules_registered_and_asked_for_at_once(pool):
    """An answer from before a rule came is not remembered after it."""
    registry = registry_with()
    targets = [lambda x: x for _ in range(200)]
    old, new = (lambda x: (x, None)), (lambda x: (x, None))

    def register(target):
        registry.add(target, (), new)
        return registry.rule(target, (float,)) is new

    for target in targets:
        registry.add(target, (), old)
        asking = [pool.submit(registry.rule, target, (float,)) for _ in range(3)]
        assert pool.submit(register, target).result()
        assert {future.result() for future in asking} <= {old, new}
        assert registry.rule(target, (float,)) is new


def test_modules_opted_in_and_out_at_once(pool):
    before = ad.config.opted_in()

    def work(i):
        with ad.install("math", "cmath") as handle:
            assert "math" in ad.config.opted_in()
        handle.uninstall()

    environment = os.environ.get("AUTODIFF_MODULES")
    list(pool.map(work, range(200)))
    assert ad.config.opted_in() == before
    assert os.environ.get("AUTODIFF_MODULES") == environment


def test_the_recursion_limit_is_what_it_was(pool):
    before = sys.getrecursionlimit()
    list(pool.map(lambda i: ad.J(lambda x: x * i, 2.0)[1](1.0), range(500)))
    assert sys.getrecursionlimit() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_other_threads_do_what_they_may(pool):
    """Locks that are held for moments are free in the child, and the recursion limit is its own."""
    stop = threading.Event()
    limit = sys.getrecursionlimit()

    def busy(i):
        while not stop.is_set():
            f = scope("def h(x):\n return [x * x][0]\ndef f(x):\n return h(x) + x")["f"]
            ad.rrule(scope("def g(x): return x")["g"])(lambda x: (x, None))
            with ad.install("math"):
                assert ad.gradient(f, 3.0) == (7.0,) and ad.J(f, 3.0)[1](1.0)[1] == 7.0

    running = [pool.submit(busy, i) for i in range(4)]
    codes = []
    for _ in range(15):
        child = os.fork()
        if not child:
            signal.alarm(20)
            f = scope("def f(x):\n return [x * x][0] + x")["f"]
            with ad.install("cmath"):
                right = ad.gradient(f, 3.0) == (7.0,) and ad.J(f, 3.0)[1](1.0)[1] == 7.0
            ad.nondifferentiable(f)
            os._exit(0 if right and sys.getrecursionlimit() == limit else 1)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    for future in running:
        future.result()
    assert not any(codes)
