"""What specialised programs do not do twice: arithmetic of each iteration, tuples of a call, constant factors."""

from __future__ import annotations

import math
from functools import reduce

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings
from specialised_cases import check, check_slopes, oracle, scope

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY

shown = pytest.mark.skipif(GENERIC, reason="there is no joint program")


def lines(f, *args):
    """The statements of the adjoint program, without variables and lines."""
    return [line.split("  #")[0].strip() for line in ad.code_adjoint(f, *args).splitlines()]


def pair(x, y):
    return x * y, x + y


def with_pairs(x, n):
    y = 1.0
    for _ in range(n):
        y, z = pair(x, y)
        y = y + z
    return y


def stepped(x, dt, n):
    for _ in range(n):
        x = x + 0.5 * dt * math.sin(x) + dt / 6.0
    return x


def nested(x, a, n):
    total = 0.0
    for i in range(n):
        for _ in range(i):
            total = total + x * x * a * math.cos(total)
        total = total - (x + a)
    return total


def not_taken(x, a, n):
    total = x
    for i in range(n):
        if i > 10:
            total = total + a * a
    return total


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("f", [with_pairs, stepped, nested])
def test_values_and_gradients(f, n):
    args = (0.7, n) if f is with_pairs else (0.7, 0.3, n)
    check(f, *args)
    check_slopes(lambda *x: f(*x, n), *args[:-1])


@pytest.mark.parametrize("n", [0, 3, 20])
def test_what_is_not_taken_adds_nothing_though_it_is_infinite(n):
    check(not_taken, 2.0, math.inf, n, specialised=None)
    check(not_taken, 2.0, math.nan, n, specialised=None)


@shown
def test_a_tuple_that_a_call_returns_is_not_built():
    assert not any("build_tuple" in line and line.count("%") > 2 for line in lines(with_pairs, 0.7, 3)[:-4])


@shown
def test_what_is_the_same_in_every_iteration_is_computed_once_and_not_recorded():
    found = lines(stepped, 0.7, 0.3, 3)
    before = found[: next(i for i, line in enumerate(found) if line.startswith("next"))]
    assert any("binary[*] 0.5" in line for line in before)
    assert any("binary[/]" in line for line in before)


@shown
def test_constant_factors_become_one():
    found = lines(lambda x, y: 0.5 * x / 4.0 * y * 3.0, 1.0, 2.0)
    assert any("binary[*] %2 0.375" in line for line in found)


def test_factors_that_cancel():
    check(lambda x, y: -(-x * 2.0) * 0.5 * y, 1.5, 2.5)
    check(lambda x: 0.0 - (-(0.0 - x)), 1.5)
    check(lambda x, y: (-x) * (-y) + (-x) / (-y), 1.5, 2.5)


def test_factors_that_are_too_large_or_small_to_move():
    check(lambda x, y: x * 1e-300 * y * 1e300, 1e300, 1e-300)
    check(lambda x, y: x * 1e200 * (y * 1e-200), 1e150, 1e150)


FACTORS = st.sampled_from([0.5, -0.5, 2.0, -1.0, 3.0, 7.0, 1024.0, 1e-9, 1e9])
STEPS = st.tuples(
    st.sampled_from(["{} * {c}", "{c} * {}", "{} / {c}", "-{}", "{} * y", "x / {}", "{} * math.exp({})"]), FACTORS
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=6), st.floats(0.5, 2.0), st.floats(0.5, 2.0))
@example([("{} * {c}", 1024.0), ("{} * y", 1.0), ("{} / {c}", 3.0), ("{c} * {}", 1e-09), ("x / {}", 2.0)], 0.5, 1.25)
def test_chains_of_products(steps, x, y):
    def written(text, step):
        form, factor = step
        return "(" + form.format(text, text, c=factor) + ")"

    source = f"def f(x, y):\n    z = {reduce(written, steps, 'x')}\n    return math.atan(z) + z * 0.25 * y"
    try:
        f = scope(source, math=math)["f"]
        f(x, y)
    except (OverflowError, ZeroDivisionError):
        return
    value, expected = oracle(f, x, y)
    found, gradients = ad.withgradient(f, x, y)
    assert repr(found) == repr(value)
    # Of x / x and the like only rounding is left, which is as large as the parts that cancel are: as the value is.
    scale = max((abs(g) for g in expected if math.isfinite(g)), default=0.0)
    rounding = 1e-14 * abs(value) if math.isfinite(value) else 0.0
    assert gradients == pytest.approx(expected, rel=1e-9, abs=1e-12 + 1e-9 * scale + rounding, nan_ok=True)


class Ball:
    def __init__(self, center, radius):
        self.center, self.radius = center, radius


def missed(balls, x):
    total = 0.0
    for k in range(4):
        nearest, found = math.inf, None
        for ball in balls:
            away = x * k - ball.center
            depth = ball.radius**2 - away * away
            if depth < 0.0:
                continue
            t = away - math.sqrt(depth)
            if t < nearest:
                nearest, found = t, ball
        if found is not None:
            total += nearest * found.radius
    return total


def test_branches_that_use_nothing_of_what_was_computed():
    balls = [Ball(0.4, 0.5), Ball(1.5, 0.2), Ball(-3.0, 0.1)]
    for x in (0.3, 0.7, 1.9):
        check(missed, balls, x)


@shown
def test_nothing_is_done_for_references_and_on_ways_that_use_nothing():
    found = ad.code_adjoint(missed, [Ball(0.4, 0.5), Ball(1.5, 0.2)], 0.7)
    assert "add_items" not in found
    assert found.count("record_buffer") == 2


def rates(p, x, n):
    y = x
    for _ in range(n):
        for k in range(2):
            y = y + 0.1 * (p["a"] * y - p["b"] * y * y) * p["weights"][k] * p["weights"][0]
    return y


def own_rates(x, n):
    p = {"a": x}
    y = x
    for k in range(n):
        y = y + 0.1 * p["a"] * y
        p["a"] = y * 0.5
        p[k] = x
    return y * p["a"]


def never_read(p, x):
    for _ in range(0):
        x = x * p["b"] + p["weights"][7]
    return x * p["a"]


def test_items_of_what_never_changes_are_read_once():
    given = {"a": 0.7, "b": 0.2, "weights": [0.5, 1.5]}
    check(rates, given, 0.4, 6, specialised=None)
    check(own_rates, 0.4, 5, specialised=None)
    check(never_read, given, 0.4, specialised=None)
    check(never_read, {"a": 0.7, "weights": []}, 0.4, specialised=None)


def filtered(p, q):
    total = 0.0
    for _ in range(6):
        p = 0.9 * p @ p.T * 0.1 + q
        total += np.trace(p)
    return float(total)


def test_arrays_that_a_loop_carries_keep_their_shapes():
    check(filtered, np.eye(3) * 0.7 + 0.1, np.eye(3) * 0.2)
    check(filtered, np.eye(3) * 0.7 + 0.1, np.ones(3) * 0.2, specialised=None)
    if not GENERIC:
        assert "unbroadcast" not in ad.code_adjoint(filtered, np.eye(3) * 0.7, np.eye(3) * 0.2)


def bodies(x, g):
    p, v = x.reshape(4, 2).copy(), np.zeros((4, 2))
    for _ in range(3):
        force = np.zeros_like(p)
        for i in range(4):
            for j in range(4):
                if i != j:
                    d = p[j] - p[i]
                    force[i] += g * d / (np.linalg.norm(d) ** 3 + 0.1)
        v += 0.1 * force
        p += 0.1 * v
    return np.sum(v**2)


def test_arrays_that_iterations_leave_on_some_ways_have_shapes():
    x = np.arange(8.0) ** 1.5
    check(bodies, x, 0.7)
    check(bodies, x[::-1] * 0.3, 0.2)
    if not (GENERIC or ONE_WAY):
        found = ad.code_adjoint(bodies, x, 0.7)
        assert not any(name in found for name in ("unbroadcast", "fitted", "accumulate", "norm_cotangent", "_rule"))


def staggered(eps, n):
    ny, nx = eps.shape
    e = eps * 1.0
    h, k = np.zeros((ny - 1, nx)), np.zeros((ny, nx - 1))
    for _ in range(n):
        h -= 0.5 * (e[1:, :] - e[:-1, :])
        k += 0.5 * (e[:, 1:] - e[:, :-1])
        curl = (k[1:-1, 1:] - k[1:-1, :-1]) - (h[1:, 1:-1] - h[:-1, 1:-1])
        e[1:-1, 1:-1] += 0.1 * eps[1:-1, 1:-1] * curl
    return np.sum(e * e)


def test_lengths_that_are_less_by_a_number_are_known():
    for shape in ((4, 5), (6, 3), (3, 3)):
        eps = 0.5 + np.arange(float(np.prod(shape))).reshape(shape) / 10.0
        check(staggered, eps, 4)
        if not GENERIC:
            assert ONE_WAY or "unbroadcast" not in ad.code_adjoint(staggered, eps, 4)


def contracted(a, w, n):
    total = 0.0
    for _ in range(n):
        u = np.einsum("ij,jk->ik", w, a)
        total += np.sum(u * np.sin(u) + a * u) + np.einsum("...i,...i", u, u)[0]
        a = a * 0.9 + u * a
    return total


def test_lengths_of_contractions_are_known():
    for w in (np.eye(3) * 0.7, np.arange(9).reshape(3, 3)):
        a = np.arange(12.0).reshape(3, 4) / 100.0
        check(contracted, a, w, 2)
        if not GENERIC:
            # What the pullbacks of contractions give is not known.
            assert ONE_WAY or ad.code_adjoint(contracted, a, w, 2).count("unbroadcast") < 5
