"""Initial value problems: by parameters, starting values and times, whichever method solves them."""

from __future__ import annotations

import gc
import math
import sys
import tracemalloc
from types import ModuleType

import numpy as np
import pytest
from scipy import integrate

from autodiff_hook import gradient, hessian, hvp, install, jacobian, jvp, pullback, withgradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.reports import collecting
from autodiff_hook.runtime.specialising import GENERIC
from autodiff_hook.testing import check_rule
from autodiff_rules.scipy.integrate import _panels
from autodiff_rules.scipy.integrate.explicit import combination

POINT = np.array([1.3, 0.7, 0.4])
DIRECTION = np.array([0.6, -0.8, 0.3])
METHODS = ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]
TIGHT = {"rtol": 1e-8, "atol": 1e-9}


def growth(t, y, rate, speed):
    """y0 grows as exp(rate t), y1 = y1(0) exp(-speed t) is forced by nothing."""
    return [rate * y[0], -speed * y[1]]


def exact(p, t):
    return np.array([np.exp(p[0] * t), p[2] * np.exp(-p[1] * t)])


def agrees(f, reference, p=POINT, v=DIRECTION, rtol=1e-5, second=True):
    """Whether the derivatives of ``f`` are those of a function that is known in closed form."""
    expected = gradient(reference, p)[0]
    value, (slope,) = withgradient(f, p)
    assert value == f(p) == pytest.approx(reference(p), rel=1e-4)
    assert slope == pytest.approx(expected, rel=rtol, abs=rtol)
    assert jvp(f, (p,), (v,))[1] == pytest.approx(expected @ v, rel=rtol, abs=rtol)
    if second:
        assert hvp(f, (p,), (v,))[0] == pytest.approx(hvp(reference, (p,), (v,))[0], rel=rtol, abs=rtol)


@pytest.mark.parametrize("method", METHODS)
def test_parameters_and_starting_values(method):
    def f(p):
        start = np.array([1.0, p[2]])
        found = integrate.solve_ivp(growth, (0.0, 0.5), start, method, args=(p[0], p[1]), **TIGHT)
        return found.y[0, -1] + 2.0 * found["y"][1, -1] + len(found.t) - len(found.t)

    agrees(f, lambda p: exact(p, 0.5) @ [1.0, 2.0], second=method in ("RK45", "Radau", "LSODA"))


@pytest.mark.parametrize("method", METHODS)
def test_values_between_steps(method):
    times = np.array([0.0, 0.13, 0.4, 0.5])

    def f(p):
        def slope(t, y):
            return growth(t, y, *p[:2])

        found = integrate.solve_ivp(slope, (0.0, 0.5), [1.0, p[2]], method, times, dense_output=True, **TIGHT)
        return np.sum(found.y**2) + np.sum(found.sol(0.37)) + np.sum(found.sol(times[1:3] * p[0]))

    def reference(p):
        dense = exact(p, 0.37) + exact(p, times[1] * p[0]) + exact(p, times[2] * p[0])
        return sum(np.sum(exact(p, t) ** 2) for t in times) + np.sum(dense)

    agrees(f, reference, second=method in ("RK45", "LSODA"))


@pytest.mark.parametrize("method", METHODS)
def test_events(method):
    def f(p):
        def low(t, y, rate, speed):
            return y[1] - 0.2 * rate

        low.terminal = True
        found = integrate.solve_ivp(growth, (0.0, 9.0), [1.0, p[2]], method, events=low, args=(p[0], p[1]), **TIGHT)
        return found.t_events[0][0] + found.y_events[0][0, 0] + found.t[-1]

    def reference(p):
        t = np.log(p[2] / (0.2 * p[0])) / p[1]
        return 2.0 * t + np.exp(p[0] * t)

    agrees(f, reference, second=method in ("RK45", "LSODA"))


@pytest.mark.parametrize("method", METHODS)
def test_times(method):
    def f(p):
        return integrate.solve_ivp(lambda t, y: -t * y, (p[2], p[0]), [p[1]], method, **TIGHT).y[0, -1]

    agrees(f, lambda p: p[1] * np.exp((p[2] ** 2 - p[0] ** 2) / 2.0), second=method in ("RK45", "LSODA"))


class Decay:
    def __init__(self, p):
        self.rates = [{"a": p[0]}, p[1]]

    def slope(self, t, y):
        return -self.rates[0]["a"] * self.rates[1] * y


def test_objects_and_what_they_hold():
    for method in ("RK45", "LSODA"):

        def f(p, method=method):
            return integrate.solve_ivp(Decay(p).slope, (0.0, 1.0), p[2:], method, **TIGHT).y[0, -1]

        agrees(f, lambda p: p[2] * np.exp(-p[0] * p[1]), second=False)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_stiff_problems(method):
    """The fast component has come to a curve that moves with the parameters."""

    def f(p):
        def slope(t, y):
            return [-1e4 * p[0] * (y[0] - p[1] * np.cos(t)), y[0] * p[2]]

        return integrate.solve_ivp(slope, (0.0, 1.0), [0.0, 1.0], method, rtol=1e-7, atol=1e-9).y[1, -1]

    expected = gradient(lambda p: 1.0 + p[1] * p[2] * np.sin(1.0), POINT)[0]
    assert gradient(f, POINT)[0] == pytest.approx(expected, abs=2e-3)


def turning(t, y, rate, speed):
    return (1j * rate - speed) * y


def test_complex_states_of_an_implicit_method():
    def f(p):
        return np.abs(
            integrate.solve_ivp(turning, (0.0, 0.5), [1.0 + 0.5j], "BDF", args=(p[0], p[1]), **TIGHT).y[0, -1]
        )

    found = gradient(f, POINT)[0]
    assert found == pytest.approx([0.0, -0.5 * f(POINT), 0.0], rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_implicit_methods_with_a_jacobian_of_their_own(method):
    def f(p):
        def jac(t, y, rate, speed):
            return np.diag([rate, -speed])

        start = np.array([1.0, p[2]])
        return np.sum(
            integrate.solve_ivp(growth, (0.5, 0.0), start, method, jac=jac, args=(p[0], p[1]), **TIGHT).y[:, -1]
        )

    agrees(f, lambda p: np.exp(-0.5 * p[0]) + p[2] * np.exp(0.5 * p[1]), second=False)


def test_odeint():
    times = np.array([0.0, 0.1, 0.1, 0.5, 2.0])

    def f(p):
        found = integrate.odeint(lambda y, t, a, b: growth(t, y, a, b), [1.0, p[2]], times, args=(p[0], p[1]))
        return np.sum(found[1:] ** 2)

    agrees(f, lambda p: sum(np.sum(exact(p, t) ** 2) for t in times[1:]))


@pytest.mark.parametrize("tfirst", [False, True])
def test_odeint_of_functions_that_have_captured_numbers_and_take_arguments(tfirst):
    def f(p):
        rate = p[0] * 2.0

        def slope(t, y, factor, shifts):
            return [-0.5 * rate * factor * y[0] + shifts[0], t * y[0] - shifts[1] * y[1] ** 2]

        def reordered(y, t, *args):
            return slope(t, y, *args)

        given = slope if tfirst else reordered
        return integrate.odeint(given, [1.0, p[2]], [0.0, 0.7, 1.5], args=(p[1], p[1:]), tfirst=tfirst)[-1] @ [1.0, 2.0]

    def by_explicit_steps(p):
        def slope(t, y):
            return [-p[0] * p[1] * y[0] + p[1], t * y[0] - p[2] * y[1] ** 2]

        return integrate.solve_ivp(slope, (0.0, 1.5), [1.0, p[2]], **TIGHT).y[:, -1] @ [1.0, 2.0]

    agrees(f, by_explicit_steps, second=False)


def test_odeint_at_times_that_move_from_a_first_one():
    """y(t) = c exp(-a (t² - s²) / 2), where s is the first time; the last one comes twice."""

    def f(p):
        times = p[2] * np.array([0.1, 0.4, 1.0, 1.0]) + p[0]
        found = integrate.odeint(lambda y, t: -p[1] * t * y, p[0] ** 2, times, rtol=1e-10, atol=1e-10)
        return found[:, 0] @ [0.5, 2.0, 1.0, -0.3]

    def reference(p):
        times = p[2] * np.array([0.1, 0.4, 1.0, 1.0]) + p[0]
        found = p[0] ** 2 * np.exp(-p[1] / 2 * (times**2 - times[0] ** 2))
        return found @ [0.5, 2.0, 1.0, -0.3]

    agrees(f, reference)


def test_odeint_at_times_that_move_follows_the_flow():
    def at_end(times):
        return integrate.odeint(lambda y, t: -t * y, 1.5, times)[:, 0]

    times = np.array([0.3, 0.9, 0.9, 1.7])
    y = 1.5 * np.exp((times[0] ** 2 - times**2) / 2)
    slopes = np.diag(-times * y) + np.outer(y * times[0], [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(jacobian(at_end)(times), slopes, rtol=1e-6, atol=1e-8)
    curvature = hessian(lambda t: at_end(t)[-1])(times)
    np.testing.assert_allclose(curvature[-1, -1], (times[-1] ** 2 - 1) * y[-1], rtol=1e-6)
    np.testing.assert_allclose(curvature[0, -1], -times[0] * times[-1] * y[-1], rtol=1e-6)
    np.testing.assert_allclose(curvature[0, 0], (times[0] ** 2 + 1) * y[-1], rtol=1e-4)


def test_odeint_with_times_that_move():
    def f(p):
        times = np.array([p[2], 0.5, p[0]])[::-1]
        found, info = integrate.odeint(lambda t, y: -t * y, p[1], times, tfirst=True, full_output=True)
        return found[1, 0] + found[2, 0] + len(info) - len(info)

    def reference(p):
        return p[1] * (np.exp((p[0] ** 2 - 0.25) / 2.0) + np.exp((p[0] ** 2 - p[2] ** 2) / 2.0))

    agrees(f, reference)


@pytest.mark.parametrize("method", METHODS)
def test_what_functions_of_all_methods_store(method):
    def f(p):
        calls, seen = [], {}

        def slope(t, y, rate):
            calls.append(t)
            seen["rate"] = rate * p[1]
            return -rate * y

        found = integrate.solve_ivp(slope, (0.0, 1.0), [1.0], method, args=(p[0],), **TIGHT).y[0, -1]
        return found * seen["rate"] + len(calls)

    value, (slope,) = withgradient(f, POINT)
    assert value == f(POINT)
    assert slope[:2] == pytest.approx([0.7 * np.exp(-1.3) * (1.0 - 1.3), 1.3 * np.exp(-1.3)], rel=1e-3)


def test_steps_between_the_solver_and_its_caller():
    """A loop of the program's own over the steps of a solver."""

    def f(p):
        solver = integrate.RK45(lambda t, y: -p[0] * y, 0.0, p[2:], 1.0, **TIGHT)
        total = 0.0
        while solver.status == "running":
            solver.step()
            total = total + solver.y[0] * 0.0
        return solver.y[0] + total

    agrees(f, lambda p: p[2] * np.exp(-p[0]))


def test_a_right_hand_side_that_returns_its_work_array():
    def f(p):
        work = np.zeros(2)

        def slope(t, y, rate):
            np.multiply(y, -rate, out=work)
            return work

        return integrate.solve_ivp(slope, (0.0, 1.0), p[1:], args=(p[0],), **TIGHT).y[0, -1]

    agrees(f, lambda p: p[1] * np.exp(-p[0]), second=False)


def test_events_that_do_not_end_the_problem():
    def f(p):
        events = [lambda t, y: y[0] - 0.5, lambda t, y: y[1] - 0.3]
        found = integrate.solve_ivp(lambda t, y: -p[0] * y, (0.0, 2.0), p[1:], events=events, **TIGHT)
        return found.t_events[0][0] + 2.0 * found.t_events[1][0] + found.y_events[0][0, 1]

    def reference(p):
        first, second = np.log(p[1] / 0.5) / p[0], np.log(p[2] / 0.3) / p[0]
        return first + 2.0 * second + p[2] * 0.5 / p[1]

    agrees(f, reference, second=False)


def test_solvers_within_solvers():
    def f(p):
        def last(rate):
            return integrate.solve_ivp(lambda t, y: -rate * y, (0.0, 1.0), [1.0], **TIGHT).y[0, -1]

        return integrate.quad(lambda x: last(p[0] * x), 0.0, p[1])[0]

    agrees(f, lambda p: (1.0 - np.exp(-p[0] * p[1])) / p[0], second=False, rtol=1e-4)


def capturing_numbers(p):
    rate, speed, factor = p[0], p[1], 1.0

    def slope(t, y):
        return [factor * rate * y[0], -speed * y[1]]

    return slope


def capturing_arrays(p):
    names = {"rate": 0, "speed": 1}
    return lambda t, y: np.array([p[names["rate"]] * y[0], -p[names["speed"]] * y[1]])


def capturing_lists(p):
    both = [p[0], -p[1]]
    return lambda t, y: [factor * part for factor, part in zip(both, y)]


def capturing_functions(p):
    slope = capturing_numbers(p)
    return lambda t, y: slope(t, y)


def with_defaults(p):
    speed = p[1]
    return lambda t, y, rate=p[0]: [rate * y[0], -speed * y[1]]


def changing_what_is_captured(p):
    rate, count = p[0], 0

    def slope(t, y):
        nonlocal count
        count += 1
        return [rate * y[0], -p[1] * y[1] + 0.0 * count]

    return slope


@pytest.mark.parametrize(
    "capturing",
    [
        capturing_numbers,
        capturing_arrays,
        capturing_lists,
        capturing_functions,
        with_defaults,
        changing_what_is_captured,
    ],
)
def test_what_the_right_hand_side_has_captured(capturing):
    def f(p):
        found = integrate.solve_ivp(capturing(p), (0.0, 0.5), [1.0, p[2]], **TIGHT)
        return found.y[0, -1] + 2.0 * found.y[1, -1]

    agrees(f, lambda p: exact(p, 0.5) @ [1.0, 2.0], rtol=1e-4, second=capturing is capturing_arrays)


def test_captured_numbers_are_read_at_each_call():
    def f(rate, start):
        def slope(t, y):
            return -rate * y

        first = integrate.solve_ivp(slope, (0.0, 0.5), np.array([start]), **TIGHT).y[0, -1]
        rate = 2.0 * rate
        return first + integrate.solve_ivp(slope, (0.0, 0.5), np.array([start]), **TIGHT).y[0, -1]

    slow, fast = np.exp(-0.5 * 0.8), np.exp(-0.8)
    assert gradient(f, 0.8, 1.5) == pytest.approx((1.5 * (-0.5 * slow - fast), slow + fast), rel=1e-5)


def test_stages_of_functions_that_have_captured_numbers_are_typed():
    def f(p):
        rate = p[0]

        def fresh(t, y):
            return [rate * y[0], p[1] * y[1]]

        return np.sum(integrate.solve_ivp(fresh, (0.0, 0.5), [1.0, 2.0], **TIGHT).y[:, -1])

    with collecting() as reports:
        gradient(f, np.array([0.3, 0.4]))
    assert [r.kind for r in reports if r.code is not None and r.code.co_name == "fresh"][-1] == "typed"


def test_functions_that_return_tuples_or_whole_arrays():
    matrix = np.array([[0.0, 1.0], [-1.0, -0.1]])

    def turn(t, y, p):
        return matrix @ y * p[0]

    def other(t, y, a):
        return (a * y[1], -a * y[0] - 0.1 * a * y[1])

    def f(p):
        first = integrate.solve_ivp(turn, (0.0, 1.0), p[1:], args=(p,), **TIGHT)
        second = integrate.solve_ivp(other, (0.0, 1.0), p[1:], args=(p[0],), **TIGHT)
        return first.y[0, -1] - 2.0 * second.y[1, -1]

    step = 1e-5 * DIRECTION
    expected = (f(POINT + step) - f(POINT - step)) / 2e-5
    assert gradient(f, POINT)[0] @ DIRECTION == pytest.approx(expected, rel=1e-5)
    assert jvp(f, (POINT,), (DIRECTION,))[1] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("remembers", [False, True])
@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "LSODA", "odeint"])
def test_functions_of_one_state_that_return_a_number(method, remembers):
    def f(p):
        known = {}

        def fun(t, y):
            known["last" if remembers else "none"] = p[0] if remembers else 0
            return -p[0] * float(y[0]) * t

        if method == "odeint":
            found = integrate.odeint(fun, p[1], [0.0, 1.0], tfirst=True, rtol=1e-7, atol=1e-8)[-1, 0]
        else:
            found = integrate.solve_ivp(fun, (0.0, 1.0), p[1:2], method, rtol=1e-7, atol=1e-8).y[0, -1]
        return found * known.get("last", 1.0)

    reference = lambda p: p[1] * np.exp(-p[0] / 2.0) * (p[0] if remembers else 1.0)  # noqa: E731
    agrees(f, reference, rtol=1e-4, second=not remembers)


def test_what_the_right_hand_side_stores():
    def f(p):
        calls, seen = [], {}

        def slope(y, t):
            calls.append(t)
            seen["rate"] = p[0] * p[1]
            return -seen["rate"] * y

        found = integrate.odeint(slope, 1.0, [0.0, 1.0])[-1, 0]
        return found * seen["rate"] + len(calls)

    value, (slope,) = withgradient(f, POINT)
    assert value == f(POINT)
    assert slope[0] == pytest.approx(0.7 * np.exp(-0.91) * (1.0 - 0.91), rel=1e-5)


@pytest.mark.filterwarnings("ignore::scipy.integrate.ODEintWarning")
def test_what_does_not_come_to_an_end_is_an_error():
    def f(p):
        return integrate.odeint(lambda y, t: p[0] * y**2, 1.0, [0.0, 5.0])[-1, 0]

    with pytest.raises(NotDifferentiable, match="did not come to the end"):
        gradient(f, POINT)


def test_rule_of_what_stages_are_computed_at():
    weights, slopes = [0.3, -0.2], (np.array([0.7, -1.1]), np.array([0.4, 2.0]))

    def moved(y, _, *slopes):
        return combination(y, weights, *slopes)

    check_rule(combination, np.ones(2), weights, *slopes, differences=moved, second_order=True)


def changing_what_it_reads(p, config, method):
    rates = p * 1.0

    def slope(t, y):
        return rates * y * config[0]

    found = integrate.solve_ivp(slope, (0.0, 1.0), np.array([1.0, 2.0, 3.0]), method, **TIGHT).y[:, -1]
    rates[:] = 7.0
    config[0] += 1.0
    return found


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853"])
def test_what_the_right_hand_side_reads_may_change_after_the_solution(method):
    value, back = pullback(changing_what_it_reads, POINT, [1.0], method)
    expected = np.array([1.0, 2.0, 3.0]) * np.exp(POINT)
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    for cotangent in np.eye(3):
        np.testing.assert_allclose(back(cotangent)[0], cotangent * expected, rtol=1e-6, atol=1e-8)


def test_a_step_keeps_no_pullbacks_of_its_stages():
    def f(p):
        return np.sum(integrate.solve_ivp(lambda t, y: p * np.sin(y), (0.0, 20.0), np.ones(3), **TIGHT).y[:, -1])

    steps = integrate.solve_ivp(lambda t, y: POINT * np.sin(y), (0.0, 20.0), np.ones(3), **TIGHT).t.size
    for _ in range(3):
        gradient(f, POINT)
    gc.collect()
    tracemalloc.start()
    try:
        gradient(f, POINT)
        assert tracemalloc.get_traced_memory()[1] < 6000 * steps
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("held", [10**7, 60])
@pytest.mark.parametrize("end", [6.0, -6.0])
def test_paths_of_many_steps(monkeypatch, held, end):
    """Panels have several steps; the Jacobians are held a part at a time."""
    monkeypatch.setattr(_panels, "HELD", held)
    times = np.linspace(0.0, end, 41)

    def f(p):
        def swing(y, t):
            place, speed = y
            return [speed, -p[0] * place + p[1] * math.cos(t)]

        by_odeint = integrate.odeint(swing, [p[2], 0.0], times)
        found = integrate.solve_ivp(lambda t, y: swing(y, t), (0.0, end), [p[2], 0.0], "LSODA", times, **TIGHT)
        return np.sum(by_odeint[:, 0] * times) + np.sum(found.y[1])

    def reference(p):
        w, forced = np.sqrt(p[0]), p[1] / (p[0] - 1.0)
        place = (p[2] - forced) * np.cos(w * times) + forced * np.cos(times)
        speed = -(p[2] - forced) * w * np.sin(w * times) - forced * np.sin(times)
        return np.sum(place * times) + np.sum(speed)

    expected = gradient(reference, POINT)[0]
    assert gradient(f, POINT)[0] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_loose_tolerances_and_forces_that_jump():
    def f(p):
        def charged(y, t):
            return -p[0] * y + (p[1] if t < 1.0 else 0.0)

        return integrate.odeint(charged, [p[2]], [0.0, 3.0], rtol=1e-4, atol=1e-4)[-1, 0]

    def reference(p):
        at = p[2] * np.exp(-p[0]) + p[1] / p[0] * (1.0 - np.exp(-p[0]))
        return at * np.exp(-2.0 * p[0])

    assert gradient(f, POINT)[0] == pytest.approx(gradient(reference, POINT)[0], abs=1e-3)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "LSODA"])
def test_states_at_given_times(method):
    """Some are where steps end, several are within one."""
    times = np.array([0.0, 0.01, 0.02, 0.3, 0.37, 0.5])
    weights = np.array([[0.3, -0.4, 0.9, 0.2, 1.1, -0.7], [1.2, 0.7, 0.1, -0.6, 0.8, 0.5]])

    def f(p):
        factor = p[0]

        def slope(t, y, speed):
            return [factor * y[0], -speed * y[1]]

        found = integrate.solve_ivp(slope, (0.0, 0.5), [1.0, p[2]], method, times, args=(p[1],), **TIGHT)
        return np.sum(found.y * weights)

    def reference(p):
        return sum(exact(p, t) @ weight for t, weight in zip(times, weights.T))

    assert gradient(f, POINT)[0] == pytest.approx(gradient(reference, POINT)[0], rel=1e-6)


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "LSODA"])
def test_a_solution_is_one_node_and_its_solver_is_not_followed(method):
    def f(p):
        return integrate.solve_ivp(lambda t, y: -p * y, (0.0, 1.0), [1.0, 2.0], method, [0.5, 1.0]).y.sum()

    for derivative in (lambda: gradient(f, 0.7)[0], lambda: jvp(f, (0.7,), (1.0,))[1]):
        with collecting() as reports:
            found = derivative()
        followed = {r.code.co_name for r in reports if r.code is not None}
        assert followed.isdisjoint({"solve_ivp", "step", "_step_impl"})
        assert found == pytest.approx(-1.5 * np.exp(-0.35) - 3.0 * np.exp(-0.7), rel=1e-2)


@pytest.mark.parametrize("end", [3.0, -3.0])
@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "LSODA", "odeint"])
def test_tangents_are_those_of_the_steps_that_gradients_go_back_over(method, end):
    times = np.linspace(0.0, end, 14)

    def f(p, rate):
        def turning(t, y, c):
            return [y[1] + 0.1 * t, -p[0] * y[0] - p[1] * y[1] * c]

        start = [1.0, p[2]]
        if method == "odeint":
            return np.sum(integrate.odeint(turning, start, times, (rate,), tfirst=True) ** 2)
        return np.sum(integrate.solve_ivp(turning, times[[0, -1]], start, method, times, args=(rate,)).y ** 2)

    for point in (POINT, 1.1 * POINT):
        slopes, by_rate = gradient(f, point, 0.7)
        assert jvp(f, (point, 0.7), (DIRECTION, 0.4))[1] == pytest.approx(slopes @ DIRECTION + 0.4 * by_rate, rel=2e-3)
        assert jvp(f, (point, 0.7), (np.zeros(3), 1.0))[1] == pytest.approx(by_rate, rel=2e-3)


PACKAGE = """
from scipy.integrate import odeint, solve_ivp

def slope(y, t, rate, speed):
    return [rate * y[0], -speed * y[1]]

def by_odeint(rate, speed, tolerance):
    return odeint(slope, [1.0, 2.0], [0.0, 0.5], args=(rate, speed), rtol=tolerance)[-1].sum()

def of_what_is_given(given, rate, tolerance):
    return odeint(lambda y, t, rate: given(y, rate), [1.0, 2.0], [0.0, 0.5], args=(rate,), rtol=tolerance)[-1].sum()
"""


@pytest.fixture
def package(monkeypatch):
    """A package that is opted in."""
    made = ModuleType("solving_package")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    exec(PACKAGE, vars(made))
    with install(made.__name__):
        yield made


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
def test_a_package_that_solves_for_its_caller(package):
    """The module of the caller is in scope as well, which the right-hand side has no use for."""

    def f(p):
        return package.by_odeint(p[0], p[1], 1e-9)

    with collecting() as reports:
        found = gradient(f, np.array([0.3, 0.4]))[0]
    assert found == pytest.approx([0.5 * np.exp(0.15), -np.exp(-0.2)], rel=1e-5)
    followed = {r.code.co_name for r in reports if r.code is not None}
    assert "step" not in followed and "slope" in followed


def test_a_package_that_solves_what_it_is_given(package):
    def given(y, rate):
        return rate * y

    def f(rate):
        return package.of_what_is_given(given, rate, 1e-9)

    assert gradient(f, 0.3) == pytest.approx((1.5 * np.exp(0.15),), rel=1e-5)


AT_REST = {
    "RK23": lambda f, y, times: integrate.solve_ivp(f, times[[0, -1]], y, "RK23", times).y,
    "RK45": lambda f, y, times: integrate.solve_ivp(f, times[[0, -1]], y, "RK45", times).y,
    "DOP853": lambda f, y, times: integrate.solve_ivp(f, times[[0, -1]], y, "DOP853", times).y,
    "LSODA": lambda f, y, times: integrate.solve_ivp(f, times[[0, -1]], y, "LSODA", times).y,
    "odeint": lambda f, y, times: integrate.odeint(f, y, times, tfirst=True).T,
}


@pytest.mark.parametrize("solve", AT_REST.values(), ids=AT_REST)
def test_derivatives_that_move_where_the_states_are_at_rest(solve):
    """Nothing keeps the steps of the solver short."""
    times = np.linspace(0.0, 12.0, 25)

    def swing(p):
        return np.sum(solve(lambda t, y: np.array([y[1], -4.0 * (y[0] - p)]), [0.7, 0.0], times)[0] * times)

    def driven(p):
        return np.sum(solve(lambda t, y: -y + p * np.cos(3.0 * t), np.zeros(1), times)[0] * times)

    of_driven = (np.cos(3.0 * times) + 3.0 * np.sin(3.0 * times) - np.exp(-times)) / 10.0
    for f, p, of_p in ((swing, 0.7, 1.0 - np.cos(2.0 * times)), (driven, 0.0, of_driven)):
        assert gradient(f, p)[0] == pytest.approx(np.sum(of_p * times), rel=1e-3)
        assert jvp(f, (p,), (1.0,))[1] == pytest.approx(np.sum(of_p * times), rel=1e-3)


class Model:
    def __init__(self, p):
        self.rate, self.weights = p[0], p * 2.0
        self.further = {"factors": [p[1], p[0] * p[2]], "name": "model"}

    def slope(self, t, y):
        damping, force = self.further["factors"]
        return [y[1] * damping, -self.rate * y[0] - self.weights[2] * y[1] + force * np.sin(t)]

    def __call__(self, t, y):
        return np.array(self.slope(t, y)) * self.rate


class Whole:
    """Two parts of it are one: it is followed."""

    def __init__(self, p):
        self.model = self.again = Model(p)

    def slope(self, t, y):
        return self.model.slope(t, y) + self.again(t, y)


def by_dict(p):
    model = {"rates": [p[0], p], "pair": (p[1], 2.0)}
    return lambda t, y: [-model["rates"][0] * y[0], model["pair"][0] * y[1] * model["rates"][1][2]]


def of_several(p):
    model, whole = Model(p), Whole(p)
    return lambda t, y: whole.slope(t, y) + model(t, y)


RIGHT_HAND_SIDES = {
    "method": lambda p: Model(p).slope,
    "callable": Model,
    "whole": lambda p: Whole(p).slope,
    "dict": by_dict,
    "several": of_several,
}


@pytest.mark.parametrize("method", ["RK45", "DOP853", "LSODA", "odeint"])
@pytest.mark.parametrize("made", RIGHT_HAND_SIDES)
def test_right_hand_sides_of_objects(made, method):
    times, tight = np.linspace(0.0, 2.0, 6), {"rtol": 1e-9, "atol": 1e-10}

    def f(p):
        fun = RIGHT_HAND_SIDES[made](p)
        if method == "odeint":
            return np.sum(integrate.odeint(fun, [1.0, 0.5], times, tfirst=True, **tight) ** 2)
        return np.sum(integrate.solve_ivp(fun, times[[0, -1]], [1.0, 0.5], method, times, **tight).y ** 2)

    for point in (POINT, POINT[::-1].copy()):
        slope = gradient(f, point)[0]
        step = 1e-4 * DIRECTION
        assert slope @ DIRECTION == pytest.approx((f(point + step) - f(point - step)) / 2e-4, rel=1e-5)
        assert jvp(f, (point,), (DIRECTION,))[1] == pytest.approx(slope @ DIRECTION, rel=1e-5)


@pytest.mark.skipif(GENERIC, reason="nothing has a program alone")
@pytest.mark.parametrize("method", [*AT_REST])
def test_objects_at_rest(method):
    class Spring:
        def __init__(self, p):
            self.place = p
            self.calls = 0

        def slope(self, t, y):
            self.calls += 1
            return np.array([y[1], -4.0 * (y[0] - self.place)])

    times = np.linspace(0.0, 12.0, 25)

    def f(p):
        return np.sum(AT_REST[method](Spring(p).slope, [0.7, 0.0], times)[0] * times)

    expected = np.sum((1.0 - np.cos(2.0 * times)) * times)
    assert gradient(f, 0.7)[0] == pytest.approx(expected, rel=1e-3)
    assert jvp(f, (0.7,), (1.0,))[1] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "LSODA", "odeint"])
@pytest.mark.parametrize("start", [0.2, 0.7])
def test_an_object_that_is_changed_between_solutions(method, start):
    """From 0.7 the first solution is at rest."""
    if GENERIC and start == 0.7:
        pytest.skip("nothing has a program alone")

    class Spring:
        def slope(self, t, y):
            return np.array([y[1], -self.stiffness[0] * (y[0] - self.place)])

    times = np.linspace(0.0, 4.0, 9)
    solve = AT_REST[method]

    def f(p, q):
        spring, total = Spring(), 0.0
        for place, stiffness in ((p, 4.0), (q, 2.0), (p * q, 1.0)):
            spring.place, spring.stiffness = place, [stiffness]
            total = total + np.sum(solve(spring.slope, [start, 0.0], times)[0] * times)
            spring.stiffness[0] = 9.0
        return total

    moved = [np.sum((1.0 - np.cos(np.sqrt(k) * times)) * times) for k in (4.0, 2.0, 1.0)]
    slopes = gradient(f, 0.7, 1.3)
    assert slopes == pytest.approx((moved[0] + 1.3 * moved[2], moved[1] + 0.7 * moved[2]), rel=5e-3)
    assert jvp(f, (0.7, 1.3), (1.0, -2.0))[1] == pytest.approx(slopes[0] - 2.0 * slopes[1], rel=5e-3)
