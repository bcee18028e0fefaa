"""``with`` in typed programs: ``np.errstate``, and classes with ``__enter__`` and ``__exit__``."""

from __future__ import annotations

import contextlib
import itertools
import logging
import threading
import warnings

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_all_ways, check_raises, check_slopes, is_specialised

import autodiff_hook as ad


class Scaled:
    def __init__(self, factor):
        self.factor, self.depth = factor, 0.0

    def __enter__(self):
        self.depth = self.depth + self.factor
        return self

    def __exit__(self, kind, value, traceback):
        self.depth = self.depth * 2.0
        return kind is ValueError

    def times(self, x):
        return self.factor * x


class Plain:
    def __enter__(self):
        return 3.0

    def __exit__(self, *error):
        pass


def silent(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x)
    return np.sum(y * 2.0)


def silent_in_a_loop(x):
    total = 0.0
    for i in range(3):
        with np.errstate(all="ignore"):
            total = total + np.sum(np.sqrt(x + i))
    return total


def of_a_class(x):
    manager = Scaled(x)
    with manager as inner:
        y = inner.times(x)
    return y * manager.depth


def two(x):
    with Plain() as a, Scaled(x) as b:
        return a * b.times(x)


def in_a_loop(x):
    total = 0.5
    for _ in range(3):
        with Scaled(total) as scaled:
            total = scaled.times(x) + 0.1
    return total


@pytest.mark.parametrize("f", [silent, silent_in_a_loop])
def test_errstate(f):
    check(f, np.array([0.5, 0.7]))


@pytest.mark.parametrize("f", [two, in_a_loop])
def test_managers_that_the_program_makes(f):
    check(f, 0.7)


def test_managers_whose_attributes_change():
    check(of_a_class, 0.7, specialised=None)


def suppressed(x):
    y = 1.0
    with Scaled(x) as scaled:
        y = scaled.times(x)
        if x > 0.5:
            raise ValueError
        y = y * 2.0
    return y * x


@pytest.mark.parametrize("x", [0.3, 0.7])
def test_exceptions_are_the_business_of_the_manager(x):
    for _ in range(2):
        assert ad.gradient(suppressed, x)[0] == pytest.approx(3.0 * x * x * (1.0 if x > 0.5 else 2.0))


def raising(x):
    with np.errstate(all="raise"):
        y = np.log(x)
    return np.sum(y)


def caught(x):
    with np.errstate(divide="raise"):
        try:
            y = np.log(x)
        except FloatingPointError:
            y = x + 3.0
    return np.sum(y * x)


def seen_and_dropped(x):
    """What is computed to see whether it raises is not used."""
    with np.errstate(divide="raise"):
        try:
            np.log(x)
        except FloatingPointError:
            return np.sum(3.0 * x)
    return np.sum(x * x)


def test_errstate_that_raises():
    check(raising, np.array([0.5]))
    with pytest.raises(FloatingPointError):
        ad.gradient(raising, np.array([0.0]))


@pytest.mark.parametrize("f", [caught, seen_and_dropped])
def test_errors_of_floats_that_are_handled(f):
    for x in (0.5, 0.0, 0.7, 0.0):
        check(f, np.array([x, 2.0]))


@pytest.mark.parametrize("f", [silent, raising, caught, seen_and_dropped])
def test_where_errors_of_floats_are_raised_anyway(f):
    with np.errstate(all="raise"):
        for x in (0.5, 0.7):
            check(f, np.array([x, 2.0]))
        if f is silent:
            assert ad.gradient(f, np.array([0.0, 2.0]))[0].tolist() == [np.inf, 1.0]


def strict(x, y):
    total = np.log(y) * 2.0
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("error")
        try:
            z = np.log(x) + x
        except RuntimeWarning:
            z = -3.0 * x
    return float(np.sum(z * total))


def looked_at(x, y):
    """What is computed to see whether it warns is not used."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            np.log(x)
            factor = 1.0
        except RuntimeWarning:
            factor = -3.0
    return float(np.sum(factor * x * y))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", [strict, looked_at])
def test_warnings_that_are_errors(f):
    y = np.array([2.0, 0.5])
    for x in ([1.0, 2.0], [1.0, -2.0], [0.5, 0.25], [0.0, 1.0], [1.0, 3.0]):
        check(f, np.array(x), y, specialised=None)
    assert is_specialised(f)


@pytest.mark.filterwarnings("ignore")
def test_what_warns_elsewhere_in_such_a_program():
    found = [ad.gradient(strict, np.array([1.0, 2.0]), np.array([y, 0.5])) for y in (2.0, 0.0, 2.0)]
    assert np.isinf(found[1][0][0])
    np.testing.assert_array_equal(found[0], found[2])


class Stack:
    def __init__(self, rows):
        self.rows = rows


def settings_put_back(x):
    stack = Stack([x])
    before = np.seterr(invalid="ignore", divide="ignore")
    stack.rows.append(np.log(x))
    inner = np.seterr(all="warn")
    stack.rows.append(x / np.array([0.5, 2.0]))
    np.seterr(**inner)
    np.seterr(**before)
    return np.sum(stack.rows[1] * stack.rows[0]) + stack.rows[2][1]


def settings_left(x):
    stack = Stack([x])
    np.seterr(over="ignore")
    stack.rows.append(x * 2.0)
    return np.sum(stack.rows[1] * stack.rows[0])


def settings_of_another_time(x):
    stack = Stack([x])
    before = np.seterr(over="ignore")
    stack.rows.append(x * 2.0)
    np.seterr(**{**before, "divide": "warn"})
    return np.sum(stack.rows[1] * stack.rows[0])


def settings_that_are_read(x):
    before = np.seterr(all="ignore")
    y = x * x if before["over"] == "warn" else x
    after = np.seterr(**before)
    return np.sum(y) * (2.0 if "ignore" in after.values() else 3.0) * len(before)


def test_settings_that_are_read():
    """What stands for them in a typed program says nothing of them."""
    x = np.array([0.7, 1.3])
    for over, expected in (("warn", 16.0 * x), ("ignore", np.full(2, 8.0)), ("warn", 16.0 * x)):
        with np.errstate(over=over):
            np.testing.assert_allclose(ad.gradient(settings_that_are_read, x)[0], expected)


def test_settings_that_are_put_back():
    with np.errstate():
        x = np.array([0.7, 1.3])
        before = np.geterr()
        check(settings_put_back, x)
        for f in (settings_left, settings_of_another_time):
            check(f, x, specialised=None)
            assert not is_specialised(f) or GENERIC
            np.seterr(**before)
            ad.gradient(f, x)
            assert np.geterr() == {**before, "over": "ignore"} if f is settings_left else before
            np.seterr(**before)


log = logging.getLogger("managers")


@contextlib.contextmanager
def scaled(x, factor=2.0):
    log.debug("begin")
    y = x * factor
    yield y
    log.debug("end")


@contextlib.contextmanager
def replaced(values, key, value):
    before = values[key]
    values[key] = value
    try:
        yield values
    finally:
        values[key] = before * 1.5


@contextlib.contextmanager
def recorded(records, x, steps):
    total = 0.0
    for i in range(steps):
        total += x**i
    try:
        yield
    except ValueError:
        records.append(-1.0)
    records.append(total if total < 2.0 else 2.0 * total)
    for i in range(steps):
        records.append(total * i)


@contextlib.contextmanager
def chosen(x):
    if x > 0.5:
        yield x
    else:
        yield x * x


@contextlib.contextmanager
def silent_at_times(x):
    if x < 100.0:
        yield x * x


@contextlib.contextmanager
def twice(x):
    for i in range(2):
        yield x * i


def by_a_generator(x):
    total = 0.0
    for i in range(4):
        with scaled(x) as a, scaled(a, factor=x) as b:
            total += a * b * i
    return total


def left_in_several_places(x):
    total = x
    values = {"a": x, "b": 1.0}
    for i in range(6):
        with replaced(values, "a", x * i) as held:
            if i == 1:
                continue
            if total > 3.0:
                return total * held["a"] * x
            total += held["a"] * x
        total += values["a"]
    return total


def with_loops_in_both_halves(x):
    records = []
    with recorded(records, x, 3):
        y = x * x
    with recorded(records, y, 4):
        pass
    total = 0.0
    for i, record in enumerate(records):
        total += record * i
    return total


def around_a_generator(x):
    total = 0.0
    with scaled(x) as a:
        for b in (k * a for k in range(3)):
            total += b * a
    return total


def behind_a_name(x):
    manager = scaled(x)
    y = x * x
    with manager as a:
        return a * y


class Net:
    def __init__(self, x):
        self.scale, self.depth = x, 0

    @contextlib.contextmanager
    def scaled(self, factor):
        before, self.scale = self.scale, self.scale * factor
        self.depth += 1
        yield self
        self.scale = before
        self.depth -= 1


def of_a_method(x):
    net = Net(x)
    total = 0.0
    with net.scaled(x * 3.0):
        total += net.scale * net.depth
        with net.scaled(2.0) as same:
            total += same.scale**2 * net.depth
    return total + net.scale * (1 + net.depth)


def with_captured_variables(x):
    y = x

    @contextlib.contextmanager
    def doubled():
        nonlocal y
        y *= 2.0
        yield
        y = y - x * x

    for _ in range(3):
        with doubled():
            y += x
    return y * y


def left_by_a_loop_within(x):
    total = 0.0
    for i in range(5):
        with scaled(x * i) as a:
            for b in itertools.chain((k * a for k in range(3)), (x, a)):
                if b > 4.0:
                    return total * b
                total += b * a
    return total


def of_one_of_two(x):
    with chosen(x) as a:
        return a * x


def that_may_be_silent(x):
    with silent_at_times(x) as a:
        return a * x


def that_yields_twice(x):
    with twice(x) as a:
        return a * x


def entered_twice(x):
    manager = scaled(x)
    with manager as a:
        pass
    with manager as b:
        return a * b


def caught_by_the_generator(x):
    records = []
    with recorded(records, x, 2):
        if x > 0.0:
            raise ValueError("caught by the manager")
    return records[0] * x + records[1] * x * x


def ended_by_hand(x):
    values = {"a": x}
    manager = replaced(values, "a", x * x)
    manager.__enter__()
    manager.__exit__(None, None, None)
    manager.__exit__(None, None, None)
    return values["a"]


@pytest.mark.parametrize("x", [0.7, 1.3])
@pytest.mark.parametrize(
    "f",
    [by_a_generator, left_in_several_places, with_loops_in_both_halves, around_a_generator, behind_a_name, of_a_method]
    + [with_captured_variables, left_by_a_loop_within],
)
def test_managers_made_of_generators_are_typed_for_all_ways(f, x):
    check_all_ways(f, x)


@pytest.mark.parametrize("f", [of_one_of_two, that_may_be_silent, ended_by_hand])
def test_managers_whose_generators_take_several_ways_are_followed_on_one(f):
    for x in (0.7, -0.7, 1.4, 0.7):
        check_slopes(f, x)


def test_managers_whose_generators_handle_exceptions_are_carried():
    check_slopes(caught_by_the_generator, 0.7, specialised=False)


@pytest.mark.parametrize("f", [that_yields_twice, entered_twice])
def test_managers_that_fail_raise_what_python_raises(f):
    check_raises(f, 0.7)


LOCK, AGAIN = threading.Lock(), threading.RLock()


def under_a_lock(x):
    with LOCK:
        y = x * x
    with AGAIN as entered:
        return y * x if entered else 0.0


def under_a_lock_again(x):
    total = 0.0
    for _ in range(3):
        with AGAIN:
            total += x * total + 1.0
    return total


def fails_under_a_lock(x):
    with LOCK:
        return [x][int(x)]


@pytest.mark.parametrize("f", [under_a_lock, under_a_lock_again])
def test_locks_are_held(f):
    check_all_ways(f, 0.7)
    assert not LOCK.locked()


def test_what_somebody_else_holds_is_waited_for():
    check_all_ways(under_a_lock, 0.7)
    LOCK.acquire()
    timer = threading.Timer(0.05, LOCK.release)
    timer.start()
    assert ad.gradient(under_a_lock, 0.7)[0] == pytest.approx(3 * 0.7**2)
    timer.join()


def the_other_way_round(x):
    with AGAIN, LOCK:
        return x * x


def test_locks_in_another_order_are_waited_for_in_threads():
    found = []

    def run(f):
        found.extend([ad.gradient(f, 0.7)[0] for _ in range(200)])

    for f in (under_a_lock, the_other_way_round):
        check_all_ways(f, 0.7)
    threads = [threading.Thread(target=run, args=(f,)) for f in (under_a_lock, the_other_way_round) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 800 and len(set(found)) == 2


def test_locks_are_free_after_an_exception():
    for _ in range(3):
        check_slopes(fails_under_a_lock, 0.7, specialised=None)
        with pytest.raises(IndexError):
            ad.gradient(fails_under_a_lock, 3.0)
        assert not LOCK.locked()


@pytest.mark.parametrize("derivative", [ad.withgradient, ad.hessian, lambda f, x: ad.jvp(f, (x,), (1.0,))])
def test_locks_in_other_forms(derivative):
    for _ in range(3):
        derivative(under_a_lock, 0.7)
        assert not LOCK.locked()


def suppressing(x):
    known, total = {"a": x}, 0.0
    for k in "abc":
        with contextlib.suppress(KeyError):
            total += known[k] * x
    return total


def dividing(x):
    total = x * x
    with contextlib.suppress(ZeroDivisionError, ValueError):
        total = x / (len([x]) - 1)
    try:
        return total + x // 0
    except ZeroDivisionError:
        return total * x


@pytest.mark.parametrize(("f", "slope"), [(suppressing, 2 * 1.3), (dividing, 3 * 1.3**2)])
def test_what_is_suppressed_is_followed(f, slope):
    for _ in range(20):
        assert ad.gradient(f, 1.3)[0] == pytest.approx(slope)
    assert is_specialised(f)
    assert ad.withgradient(f, 0.7)[0] == f(0.7)
