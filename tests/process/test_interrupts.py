"""An interrupt in a reverse sweep, wherever it comes, leaves memory as the program left it."""

from __future__ import annotations

import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from autodiff_hook import pullback


def given(x, a):
    a[0] = x * a[1]
    a[1] = a[0] * a[0]
    return a[0] * a[1]


def in_a_loop(x, a):
    for i in range(len(a) - 1):
        a[i + 1] = a[i] * x
    return np.sin(a).sum()


def held_by_a_pullback(x, a):
    b = np.exp(a)
    a[:] = b * x
    return (a * b).sum()


def in_place(x, a):
    y = np.sin(a)
    a *= x
    a += y
    return (a * a).sum()


def through_a_view(x, a):
    row = a[::2]
    row[:] = x * a[1]
    return (row * a.sum()).sum()


def by_indices(x, a):
    a[[0, 0, 2]] = np.array([1.0, 2.0, 3.0]) * x
    return (a * a).sum()


def by_a_mask(x, a):
    a[a > 0.5] = x
    return (a**2).sum()


def natively(x, a):
    y = (a * a).sum() * x
    np.copyto(a, 3.0)
    return y + a.sum()


def made_by_the_program(x, a):
    b = a * x
    c = np.tanh(b)
    b[0] = c[1]
    b[1] = b[0] * x
    return (b * c).sum()


def then_read_only(x, a):
    y = (a * a).sum()
    a[0] = x
    a.flags.writeable = False
    return y * a[0]


PROGRAMS = [
    given,
    in_a_loop,
    held_by_a_pullback,
    in_place,
    through_a_view,
    by_indices,
    by_a_mask,
    natively,
    made_by_the_program,
    then_read_only,
]


def stopping(after):
    """A tracer that stops the program before one of its instructions; the count is what is left."""
    left = [after]

    def tracer(frame, event, arg):
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            left[0] -= 1
            if left[0] < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return tracer

    return tracer, left


def generic_pullback(f, *args):
    sys.settrace(lambda *_: None)
    try:
        return pullback(f, *args)
    finally:
        sys.settrace(None)


@pytest.fixture(autouse=True)
def untraced():
    before, limit = sys.gettrace(), sys.getrecursionlimit()
    yield
    sys.settrace(before)
    sys.setrecursionlimit(limit)


STRIDE = 7
"""Every so manieth instruction; another first one for each program."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("first, f", [*enumerate(PROGRAMS)], ids=[f.__name__ for f in PROGRAMS])
def test_an_interrupt_before_any_instruction_of_a_sweep(first, f):
    array, limit = np.array([0.3, 0.7, 1.1]), sys.getrecursionlimit()
    _, back = generic_pullback(f, 1.5, array)
    left, writeable = array.tobytes(), array.flags.writeable
    expected = back(1.0)
    sys._getframe().f_trace_opcodes = True  # CPython 3.12 looks at this when it begins to trace
    for place in range(first % STRIDE, 100_000, STRIDE):
        tracer, count = stopping(place)
        sys.settrace(tracer)
        try:
            back(1.0)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        assert array.tobytes() == left, place
        assert array.flags.writeable == writeable, place
        if count[0] >= 0:
            break
    assert place > 100
    again = back(1.0)
    assert again[0] == expected[0] and np.array_equal(again[1], expected[1])
    assert sys.getrecursionlimit() == limit


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_signals_during_sweeps():
    """Real ones, also several in one sweep."""
    array = np.linspace(0.3, 1.1, 40)
    _, back = generic_pullback(in_a_loop, 1.01, array)
    left = array.tobytes()
    expected = back(1.0)
    stopped = more = 0

    def stop(number, frame):
        nonlocal stopped, more
        if more:
            more -= 1
            signal.setitimer(signal.ITIMER_REAL, 20e-6)
        while frame is not None:
            if frame.f_code is back.__code__:
                stopped += 1
                raise KeyboardInterrupt
            frame = frame.f_back

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for delay in range(300):
            more = 3
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + 7 * delay))
                back(1.0)
            except KeyboardInterrupt:
                pass
            finally:
                more = 0
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert array.tobytes() == left, delay
    finally:
        signal.signal(signal.SIGALRM, before)
    assert stopped > 10
    assert back(1.0)[0] == expected[0]


def test_one_pullback_in_many_threads():
    """What one sweep puts back into memory another one does not see."""
    array = np.linspace(0.3, 1.1, 6)
    _, back = generic_pullback(in_a_loop, 1.01, array)
    left, expected = array.tobytes(), back(1.0)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: back(1.0), range(300)))
    finally:
        sys.setswitchinterval(before)
    assert array.tobytes() == left
    assert all(x == expected[0] and np.array_equal(a, expected[1]) for x, a in found)
