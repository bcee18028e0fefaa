"""What goes wrong in the specialiser itself: the carried program does the work, and it is counted."""

from __future__ import annotations

import functools
from types import FunctionType

import numpy as np
import pytest
from specialised_cases import GENERIC, scope

import autodiff_hook as ad
from autodiff_hook import failures
from autodiff_hook.algebras import typed
from autodiff_hook.runtime import attempts, finishing, programs, pulled
from autodiff_hook.transform.improve import simplify
from autodiff_hook.transform.specialise.program import Program

pytestmark = [
    pytest.mark.injects_failures,
    pytest.mark.skipif(GENERIC, reason="there are no specialised programs"),
]

STAGES = [
    (programs, "arguments"),
    (programs, "Prologue"),
    (Program, "type_of"),
    (programs, "prepare"),
    (programs, "needed"),
    (programs, "joint_pass"),
    (programs, "Forms"),
    (finishing, "simplify"),
    (simplify, "sweep"),
    (programs, "verify"),
    (attempts, "emit"),
]


def program():
    """A new function, so nothing of it is known."""
    return scope("def f(x, n=2):\n    for _ in range(n):\n        x = x * x\n    return x")["f"]


class Holder:
    def __init__(self, x):
        self.x = x


def within_generic_code():
    """A program that is carried and calls one of numbers alone."""
    source = "def g(x): return x * x * x * x\ndef f(h):\n    compile('0', '', 'eval')\n    return g(h.x)"
    return scope(source)["f"]


def failing(error):
    def fail(*args, **kwargs):
        raise error

    return fail


def results(f):
    """The gradient of ``x**4`` by every operator."""
    yield ad.gradient(f, 1.5)[0]
    yield ad.gradient(f, 1.5, n=2)[0]
    yield ad.gradient(functools.partial(f, n=2), 1.5)[0]
    yield ad.withgradient(f, 1.5)[1][0]
    yield ad.grad(f)(1.5)
    yield ad.value_and_grad(f)(1.5)[1]
    yield ad.pullback(f, 1.5)[1](1.0)[0]
    yield ad.J(f, 1.5)[1](1.0)[1]
    yield ad.jacobian(f)(1.5)


@pytest.mark.parametrize("error", [TypeError("injected"), KeyError("injected"), AssertionError("injected")])
@pytest.mark.parametrize(("stage", "name"), STAGES)
def test_any_failure_leads_to_the_generic_path(monkeypatch, capsys, stage, name, error):
    monkeypatch.setattr(stage, name, failing(error))
    monkeypatch.setenv("AUTODIFF_TRACE", "1")
    f = program()
    assert list(results(f)) == [pytest.approx(13.5)] * 9
    assert list(results(f)) == [pytest.approx(13.5)] * 9
    found = ad.status().failures
    assert found and all(type(error).__name__ in what and "injected" in what for what in found)
    assert "the specialiser failed" in capsys.readouterr().err
    assert "failed while specialising" in str(ad.status())
    monkeypatch.undo()
    assert list(results(program())) == [pytest.approx(13.5)] * 9


@pytest.mark.parametrize("name", ["cut", "verify", "emit"])
def test_programs_that_are_cut_in_two(monkeypatch, name):
    monkeypatch.setattr(attempts, name, failing(TypeError("injected")))
    assert ad.pullback(program(), 1.5)[1](1.0) == (13.5,)
    assert ad.gradient(within_generic_code(), Holder(1.5))[0].x == 13.5
    assert ad.status().failures


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize(("stage", "name"), STAGES)
def test_what_passes(monkeypatch, stage, name, error):
    monkeypatch.setattr(stage, name, failing(error()))
    f = program()
    for operator in (ad.gradient, ad.withgradient, ad.pullback, ad.J):
        with pytest.raises(error):
            operator(f, 1.5)
    assert not ad.status().failures
    monkeypatch.undo()
    assert list(results(f)) == [pytest.approx(13.5)] * 9


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, ZeroDivisionError, TypeError, ReferenceError])
def test_what_the_program_raises_is_its_own(error):
    def f(x, bad=False):
        if bad:
            raise error("its own")
        return x * x

    for _ in range(2):
        assert ad.gradient(f, 1.5, False) == (3.0, None)
        for operator in (ad.gradient, ad.withgradient, ad.pullback):
            with pytest.raises(error, match="its own"):
                operator(f, 1.5, True)
            with pytest.raises(error, match="its own"):
                operator(f, 1.5, bad=True)
    assert not ad.status().failures


def test_failures_are_raised_for_those_who_look_for_them(monkeypatch):
    monkeypatch.setattr(attempts, "DEBUG", True)
    monkeypatch.setattr(programs, "joint_pass", failing(TypeError("injected")))
    with pytest.raises(TypeError, match="injected"):
        ad.gradient(program(), 1.5)


class Broken:
    """Stands for a helper of generated code that has a defect."""

    def __call__(self, *args):
        raise TypeError("injected")


def test_a_program_that_fails_where_the_generic_path_does_not(monkeypatch):
    f = program()
    assert ad.gradient(f, 1.5) == ad.gradient(f, 1.5) == (13.5,)
    entries = ad.runtime.entering.entries()[FunctionType]
    monkeypatch.setitem(entries, id(f.__code__), Broken())
    assert ad.gradient(f, 1.5) == (13.5,)
    (said,) = ad.status().failures
    assert said.startswith("f (<specialised>:1): TypeError: injected")


def test_pullbacks_that_fail(monkeypatch):
    _, back = ad.pullback(program(), 1.5)
    assert isinstance(back.__self__, pulled.Pulled)
    monkeypatch.setattr(back.__self__, "_reverse", Broken())
    assert back(1.0) == (13.5,)
    assert len(ad.status().failures) == 1
    made = typed.TypedPullback.__init__
    broken = lambda self, halves, *rest: made(self, halves._replace(reverse=Broken()), *rest)  # noqa: E731
    monkeypatch.setattr(typed.TypedPullback, "__init__", broken)
    assert ad.gradient(within_generic_code(), Holder(1.5))[0].x == 13.5
    assert len(ad.status().failures) == 2


def test_many_failures_take_little_room():
    for i in range(3 * failures._DIFFERENT):
        failures.count(f"number {i}")
    assert len(ad.status().failures) == failures._DIFFERENT + 1
    assert sum(ad.status().failures.values()) == 3 * failures._DIFFERENT


def test_arrays_that_an_iteration_passes_on_and_nobody_reads():
    """A cotangent that is not there is no failure of the program that runs."""

    def f(x):
        v, s = np.ones(3) * x, 0.0
        for _ in range(2):
            s = np.sum(v * v)
            v = v / s
        return s

    assert ad.gradient(f, 0.7) == pytest.approx(((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6,))
    assert not ad.status().failures
