"""What compiling may cost: no call takes much longer than the plain one and what the budget leaves."""

from __future__ import annotations

import gc
import math
import sys
import tracemalloc

import numpy as np
import pytest
from specialised_cases import GENERIC, is_specialised, oracle, scope

import autodiff_hook as ad
from autodiff_hook import budget
from autodiff_hook.runtime import attempts, entering, specialisations, specialising
from autodiff_hook.runtime.specialising import ONE_WAY

pytestmark = pytest.mark.skipif(GENERIC, reason="there are no specialised programs")


SOURCE = """
class Body:
    def __init__(self, position, velocity, mass):
        self.position, self.velocity, self.mass = position, velocity, mass

class Star(Body):
    pass

def energy(k, steps):
    bodies = [(Body, Star)[i % 2]([0.1 * i, 0.2 * i + 1.0], [k * 0.1, -0.1 * i], 1.0 + i) for i in range(3)]
    for _ in range(steps):
        for a in bodies:
            for b in bodies:
                if a is not b:
                    d = [q - r for q, r in zip(b.position, a.position)]
                    w = b.mass / (sum(t * t for t in d) + 0.01) ** 1.5
                    for i in range(2):
                        a.velocity[i] += 0.01 * w * d[i]
        for a in bodies:
            for i in range(2):
                a.position[i] += 0.01 * a.velocity[i]
    return sum(b.mass * sum(t * t for t in b.velocity) for b in bodies)
"""


def leapfrog():
    """A new program whose state is in objects of two classes, so that it is followed on one way."""
    return scope(SOURCE)["energy"]


@pytest.fixture
def attempted(monkeypatch):
    """The seconds that each attempt to follow a way was given; no garbage of other tests is collected meanwhile."""
    found = []

    def noted(call, form, operations, seconds, strong):
        if operations:
            found.append(seconds)
        return attempts.program(call, form, operations, seconds, strong)

    monkeypatch.setattr(specialising, "program", noted)
    monkeypatch.setattr(specialisations, "FREE", 0.3)
    monkeypatch.setattr(specialisations, "MOST", 2.0)
    gc.disable()
    yield found
    gc.enable()


def test_a_function_may_be_as_long_as_it_is_written(attempted):
    lines = [f"    y = math.sin(y) * 0.5 + x * {i % 7}.25" for i in range(900)]
    f = scope("\n".join(["import math", "def f(x):", "    y = x", *lines, "    return y"]))["f"]
    slope = 1.0
    y = 0.7
    for i in range(900):
        slope = slope * math.cos(y) * 0.5 + (i % 7 + 0.25)
        y = math.sin(y) * 0.5 + 0.7 * (i % 7 + 0.25)
    assert ad.gradient(f, 0.7)[0] == pytest.approx(slope)
    assert ONE_WAY or is_specialised(f) and not attempted


def test_no_call_stalls(attempted):
    energy, spent = leapfrog(), []
    for _ in range(8):
        before = budget.spent()
        found = ad.gradient(energy, 1.3, 60)
        spent.append(budget.spent() - before)
    assert attempted and max(attempted) <= 2.0
    assert spent[0] < 2.5 and max(spent[1:]) < 2.1
    assert found == pytest.approx(oracle(energy, 1.3, 60)[1])


def test_compiling_is_never_far_ahead_of_running(attempted):
    energy = leapfrog()
    ad.gradient(energy, 1.3, 40)
    (known,) = specialising._known.found[id(energy.__code__)].values()
    for _ in range(8):
        assert known.spent <= 0.4 + known.ran + 2.0 * (2.0 in attempted)
        ad.gradient(energy, 1.3, 40)
    assert all(b >= 2 * a for a, b in zip(attempted, attempted[1:]))


def test_it_resumes_when_running_has_caught_up(attempted):
    energy = leapfrog()
    expected = ad.gradient(energy, 1.3, 20)
    (known,) = specialising._known.found[id(energy.__code__)].values()
    if not known.entries:
        known.ran += 100.0
        assert ad.gradient(energy, 1.3, 20) == pytest.approx(expected)
    assert known.entries and attempted[-1] <= 2.0


def test_short_ways_are_followed_at_once(attempted):
    energy = leapfrog()
    ad.gradient(energy, 1.3, 2)
    assert id(energy.__code__) in entering.entries()[type(energy)]


def test_what_is_tried_out_on_large_arrays_counts(attempted):
    """An operation is tried out on the arguments at hand, which takes as long as it does when it runs."""
    lines = ["    y = np.sin(y) + x"] * 40
    f = scope("\n".join(["import numpy as np", "def f(x):", "    y = x", *lines, "    return y.sum()"]))["f"]
    spent = []
    for count in (100_000, 1_000_000):
        before = budget.spent()
        ad.gradient(f, np.linspace(0.0, 1.0, count))
        spent.append(budget.spent() - before)
        specialising.forget()
    assert spent[1] - spent[0] > 80 * 900_000 / 10_000 * budget.STEP


def test_every_pass_can_be_stopped(monkeypatch):
    stages = set()
    for steps in range(20, 6000, 180):
        monkeypatch.setattr(specialisations, "FREE", steps * budget.STEP)
        monkeypatch.setattr(specialisations, "MOST", steps * budget.STEP)
        with monkeypatch.context() as patch:
            patch.setattr(budget.OutOfTime, "__init__", lambda self: stages.update(_functions()))
            energy = leapfrog()
            assert ad.gradient(energy, 1.3, 2) == pytest.approx(oracle(energy, 1.3, 2)[1])
    assert {"run", "joint_pass", "simplify", "emit"} <= stages


def test_a_busy_machine_compiles_no_less(attempted):
    """Steps are counted, so that two processes make the same programs."""
    spent = []
    for _ in range(2):
        before = budget.spent()
        ad.gradient(leapfrog(), 1.3, 2)
        spent.append(budget.spent() - before)
    assert spent[0] == pytest.approx(spent[1])


def _functions():
    frame = sys._getframe()
    while frame is not None:
        yield frame.f_code.co_name
        frame = frame.f_back


def test_large_arrays_of_ways_that_are_not_taken_are_not_made():
    def f(x, n):
        if n > 10:
            return float(np.sum(np.ones((n, 2**26)) * x))
        return float(np.sum(np.ones(n) * x * x))

    tracemalloc.start()
    try:
        grads = [ad.gradient(f, x, 3)[0] for x in (2.0, 3.0, 4.0)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert grads == [12.0, 18.0, 24.0]
    assert peak < 2**26
