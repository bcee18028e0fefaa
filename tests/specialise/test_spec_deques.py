"""Deques that programs make: typed, with the values, errors and gradients of real ones."""

from __future__ import annotations

import collections
import math
import random
from collections import deque

import pytest
from specialised_cases import GENERIC, check, scope

import autodiff_hook as ad
from autodiff_hook.runtime import specialising
from autodiff_hook.semantics.equivalents.deques import Deque


def queue(x):
    waiting, s = deque(), 0.0
    waiting.append(x)
    for _ in range(40):
        value = waiting.popleft()
        s += value
        waiting.append(math.sin(value) + 0.1)
    return s


def window(x):
    last, s = collections.deque(maxlen=3), 0.0
    for i in range(20):
        last.append(math.sin(x * i))
        s += sum(last) / len(last) + last[0] * last[-1]
    return s


def delay(x):
    line, s = deque([0.0] * 4, maxlen=4), 0.0
    for _ in range(20):
        line.append(line[0] * 0.5 + x)
        s += line[-1] * line[2]
    return s


def tree(x):
    todo, s = deque([(x, 0), (x * x, 1)]), 0.0
    while todo:
        value, depth = todo.popleft()
        s += value
        if depth < 4:
            todo.append((value * 0.5, depth + 1))
            todo.append((math.sin(value), depth + 1))
    return s if not todo else 0.0


class Filter:
    def __init__(self):
        self.last, self.total = deque(maxlen=3), 0.0

    def put(self, value):
        self.last.append(value)
        self.total += max(self.last) * self.last[0]


def in_an_object(x):
    found = Filter()
    for i in range(15):
        found.put(math.sin(x * i))
    return found.total


def asked_for_its_class(x):
    q = deque([x])
    if isinstance(q, deque) and type(q) is deque and q.__class__ is deque and not isinstance(q, list):
        return q[0] * x * (q.maxlen is None)
    return x


def iterated(x):
    q, s = deque([x, 2.0, x * x]), 0.0
    for i, value in enumerate(q):
        s += i * value
    return s + sum([a * b for a, b in zip(list(q), list(q)[1:])])


TYPED = [queue, window, delay, tree, in_an_object, asked_for_its_class, iterated]


def compared(x):
    return x * (3.0 if deque([x]) == deque([x]) else 1.0)


def shown(x):
    return x * len(repr(deque([1.0, 2.0])))


def counted(x):
    q = deque([x, 1.0, x])
    return q.count(x) * x + (1.0 if x in q else 0.0)


def emptied(x):
    q = deque([x])
    try:
        return q.popleft() * q.popleft()
    except IndexError:
        return x * x


def changed_while_iterated(x):
    q, s = deque([x, 2.0]), 0.0
    try:
        for value in q:
            s += value
            q.append(value)
    except RuntimeError:
        return s * x
    return s


def changed_at_the_last(x):
    q, s = deque([x]), 0.0
    try:
        for value in q:
            s += value
            q.append(value)
    except RuntimeError:
        return s * x
    return s


def as_long_as_before(x):
    q, s = deque([x, 2.0]), 0.0
    try:
        for value in q:
            s += value
            q.append(value)
            q.pop()
    except RuntimeError:
        return s * x
    return s


def of_less_than_nothing(x):
    try:
        return deque([x, x], int(x) - 1)[0]
    except ValueError:
        return x * x


def returned(x):
    return deque([x])[0] * sum(deque([x, x]))


@pytest.mark.parametrize("f", TYPED)
def test_what_is_typed(f):
    check(f, 0.7, specialised=None if specialising.ONE_WAY else True)
    if not (GENERIC or specialising.ONE_WAY):
        kept = specialising._known.found[id(f.__code__)].values()
        assert any(x.entries for x in kept) and not any(x.one_way for x in kept)


@pytest.mark.parametrize(
    "f",
    [
        *(compared, shown, counted, emptied, changed_while_iterated, changed_at_the_last, as_long_as_before),
        *(of_less_than_nothing, returned),
    ],
)
def test_what_may_be_carried(f):
    check(f, 0.7, specialised=None)


OPERATIONS = [
    *("q.append(y)", "q.append(y)", "q.appendleft(y)", "s += q.pop()", "s += q.popleft()", "q.extend([y, x])"),
    *("q.extendleft([y, x])", "q.rotate(1)", "q.rotate(-2)", "s += q[0]", "s += q[-1] * y", "s += len(q) * y"),
    *("s += sum(q)", "q.clear()", "s += y if q else x", "for v in q:\n        s += v * y"),
]


@pytest.mark.parametrize("seed", range(10))
def test_any_operations(seed):
    """The same as with a real deque, errors included."""
    chosen = random.Random(seed)
    steps = [chosen.choice(OPERATIONS) for _ in range(chosen.randint(3, 14))]
    begin = chosen.choice(["deque()", "deque([x, 2.0])", "deque([x, 1.0, x * x], maxlen=3)", "deque(maxlen=1)"])
    lines = [f"    y = x * {i + 1}.0\n    {step}" for i, step in enumerate(steps)]
    source = f"def f(x):\n    s, q = x, {begin}\n" + "\n".join(lines) + "\n    return s + sum(q)"
    f = scope(source, deque=deque)["f"]
    plain = scope(source, deque=Deque)["f"]
    try:
        value = f(0.7)
    except IndexError:
        for _ in range(2):
            with pytest.raises(IndexError):
                ad.gradient(f, 0.7)
        with pytest.raises(IndexError):
            plain(0.7)
        return
    assert plain(0.7) == value
    check(f, 0.7, specialised=None)
