"""Deques from outside that programs read and change."""

from __future__ import annotations

import types

import pytest
from specialised_cases import outcome

import autodiff_hook as ad

SOURCE = """
from collections import deque
import math

waiting, line, empty = deque([0.1, 0.2, 0.3]), deque([0.5, 0.4, 0.3], maxlen=3), deque()
pairs, mixed, lists = deque([(0.1, 1), (0.2, 2)]), deque([0.1, None]), deque([[0.1], [0.2]])
second = waiting
holder = [1.0, 2.0]

class Filter:
    def __init__(self):
        self.last, self.total = deque([0.1], maxlen=3), 0.0
    def put(self, value):
        self.last.append(value)
        self.total = self.total + sum(self.last) / len(self.last)
        return self.total
smooth = Filter()

def moves(k):
    s = 0.0
    for i in range(10):
        waiting.append(k * waiting[0] + 0.01 * i)
        s += waiting.popleft() * waiting[-1]
    return s
def delays(k):
    s = 0.0
    for _ in range(7):
        line.append(math.sin(line[0] * k))
        s += line[-1] * line[1]
    return s
def reads(k):
    s = 0.0
    for x in waiting:
        s += x * k
    return s * len(waiting) if waiting else k
def fills(k):
    for i in range(4):
        empty.appendleft(k * i)
    return sum(empty) * k
def tuples(k):
    value, number = pairs.popleft()
    pairs.append((value * k, number + 1))
    return pairs[-1][0] * pairs[0][0] * number
def turns(k):
    waiting.rotate(1)
    waiting[0] = waiting[0] * k
    waiting.reverse()
    waiting.extend([k, k * k])
    return waiting.pop() * waiting[0]
def filters(k):
    for i in range(5):
        smooth.put(k * i)
    return smooth.total * smooth.last[0]
def clears(k):
    s = sum(waiting) * k
    waiting.clear()
    return s
def on_some_ways(k):
    if k > 1.0:
        waiting.append(k)
    return waiting[-1] * k
def by_two_names(k):
    waiting.append(k)
    return second[-1] * waiting[0]
def of_several_kinds(k):
    mixed.append(k)
    return mixed[0] * mixed[-1]
def of_lists(k):
    lists[0][0] = lists[0][0] * k
    return lists[0][0] * lists[1][0]
def returned(k):
    waiting.append(k)
    return waiting
def runs_out(k):
    for _ in range(5):
        k = k * waiting.popleft()
    return k
def changed_while_read(k):
    for x in waiting:
        waiting.append(x * k)
    return k
def kept(k):
    global holder
    holder = waiting
    waiting.append(k)
    return k * waiting[0]
def again(k, n):
    if n == 0:
        return k
    waiting.append(k)
    return again(k * 0.9, n - 1) + waiting[0] * k
def recursive(k):
    return again(k, 4) * waiting[-1]
def captured():
    own = deque([0.3, 0.4])
    def f(k):
        own.append(k * own.popleft())
        return own[0] * own[1]
    return f, own
inner, inside = captured()
"""
NAMES = "waiting line empty pairs mixed lists holder inside".split()


def made():
    module = types.ModuleType("queueing")
    exec(compile(SOURCE, "queueing.py", "exec"), vars(module))
    return module


def left(module):
    return repr([getattr(module, name) for name in NAMES] + [module.smooth.last, module.smooth.total])


FUNCTIONS = """
moves delays reads fills tuples turns filters clears on_some_ways by_two_names of_several_kinds of_lists returned
runs_out changed_while_read kept recursive inner
""".split()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_deques_from_outside(name):
    plain, reverse, forward, second, called = made(), made(), made(), made(), []
    for k in (1.3, 0.7, 1.1, 0.9):
        ends = []
        for d in (1e-6, -1e-6):
            module = made()
            for earlier in called:
                outcome(getattr(module, name), earlier)
            ends.append(outcome(getattr(module, name), k + d))
        value = outcome(getattr(plain, name), k)
        found = outcome(ad.withgradient, getattr(reverse, name), k)
        along = outcome(ad.jvp, getattr(forward, name), (k,), (1.0,))
        if isinstance(value, float):
            slope = (ends[0] - ends[1]) / 2e-6
            assert found[0] == along[0] == value
            assert (found[1][0], along[1]) == pytest.approx((slope, slope), rel=1e-4, abs=1e-6)
            outcome(ad.hvp, getattr(second, name), (k,), (1.0,))
            assert left(second) == left(plain)
        elif isinstance(value, type):
            assert found is along is value
        else:
            break
        assert left(reverse) == left(plain) == left(forward)
        called.append(k)


def test_deques_that_change_between_calls():
    plain, module = made(), made()
    changes = (
        lambda m: m.waiting.append(7.0),
        lambda m: m.waiting.clear() or m.waiting.extend([1.0, 2.0, 3.0, 4.0]),
        lambda m: m.waiting.append(3),
        lambda m: setattr(m, "waiting", m.deque([0.5, 0.6], maxlen=4)),
        lambda m: m.waiting.append(None),
        lambda m: setattr(m, "waiting", [0.5, 0.6]),
    )
    for change in changes:
        for m in (plain, module):
            change(m)
        value, found = outcome(plain.reads, 1.3), outcome(ad.withgradient, module.reads, 1.3)
        assert found is value or found[0] == value
        assert left(module) == left(plain)


def test_a_deque_that_is_read_is_left_alone():
    module = made()
    for _ in range(3):
        assert [ad.gradient(module.reads, x)[0] for x in module.waiting]


def test_a_deque_beside_an_argument():
    module = made()
    exec("def f(xs, k):\n    waiting.append(k)\n    return xs[0] * k * waiting[-1]", vars(module))
    for _ in range(3):
        assert ad.gradient(module.f, [2.0], 3.0) == ([9.0], 12.0)
    assert list(module.waiting)[-3:] == [3.0] * 3
