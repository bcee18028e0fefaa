"""Functions that the program makes, among data: in lists, dicts and attributes, captured by others, by several ways."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from functools import partial, reduce, wraps

import numpy as np
import pytest
from specialised_cases import check, check_all_ways


def scaled_by(w):
    def scaled(t):
        return math.tanh(t * w + 0.1)

    return scaled


class Gain:
    def __init__(self, k, then=None):
        self.k, self.then = k, then

    def times(self, t):
        return t * self.k

    def add(self, t):
        self.k += t
        return self.k

    def run(self, t):
        return self.then(t) * self.k if self.then is not None else t


def in_lists(x, y):
    layers = [scaled_by(y + 0.1 * i) for i in range(15)]
    layers.append(math.sin)
    thunks = []
    for i in range(5):
        layers.append(lambda t: t * y)
        thunks.append(lambda i=i: x * i)
    for layer in layers:
        x = layer(x)
    return x + sum(thunk() for thunk in thunks)


def in_dicts(x, y):
    table = {i: scaled_by(y * i) for i in range(4)}
    found = defaultdict(list)
    for k in range(6):
        found[k % 2].append(table[k % 4])
    return sum(f(x) * (k + 1) for k in found for f in found[k])


def dispatched(x, y):
    gain = Gain(x)
    table = {"t": gain.times, "a": gain.add, "s": math.sin, "l": lambda t: t * y}
    total = 0.0
    for k in range(9):
        total += table["tasl"[k % 4]](0.1 * k * y)
    return total + gain.k


def pairs_and_queues(x, y):
    queue, waiting = deque([("a", scaled_by(y)), ("b", math.cos)]), []
    for k in range(5):
        name, f = queue.popleft()
        queue.append((name, f))
        waiting.append((len(name) * x * k, f))
    total = 0.0
    while waiting:
        time, f = waiting.pop()
        total += f(time)
    return total


def in_attributes(x, y):
    total = 0.0
    for k in range(8):
        total += Gain(y, None if k % 3 else (lambda t: t * y * k)).run(x)  # noqa: B023
    return total


def observed(x, y):
    gains, observers = [Gain(y * i) for i in range(4)], []
    for gain in gains:
        observers.append(gain.add)
    for k in range(3):
        for observer in observers:
            observer(x * k)
    return sum(gain.k for gain in gains)


def by_several_ways(x, y):
    f, g, total = scaled_by(x), (lambda t: t - y), 0.0
    for k in range(5):
        f, g = g, f
        h = f or math.sin
        total += h(x) * k
    return total + f(2.0) + 3 * g(y)


def composed(x, y):
    def then(f, g):
        return lambda t: f(g(t))

    f = reduce(then, [lambda t, k=k: math.sin(t) * y + k for k in range(4)])
    return sum(f(x + 0.1 * k) for k in range(3))


def partials(x, y):
    found = [partial(math.atan2, x * k) for k in range(4)]
    found.append(partial(pow, 2.0))
    return sum(f(y) for f in found)


def methods_of_builtin_classes(x, y):
    times, rates, observers = [], {"a": x, "b": y}, defaultdict(list)
    observers["e"].append(times.append)
    observers["e"].append(lambda v: rates.update(a=rates["a"] + v))
    for k in range(6):
        for observer in observers["ef"[k % 3 == 2]]:
            observer(x * k)
    others = []
    for k in range(4):
        others.append(rates.get if k % 2 else {"a": y, "b": 2.0}.get)
    return sum(times) + sum(get("a", 0.5) * get("b") for get in others)


def arrays(x, y):
    weights = [np.array([x, y]) * k for k in range(3)]
    found = [(lambda v, w=w: float(w @ v)) for w in weights]
    others = []
    for k in range(4):
        others.append(np.sin if k % 2 else (lambda t: t * y))
    return sum(f(np.array([1.0, y])) for f in found) + sum(float(np.sum(f(np.array([x, y])))) for f in others)


def with_options(x, y):
    def first(a, *more, b=2.0, **named):
        return a * b + sum(more) + named.get("c", 0.0)

    found = []
    for k in range(4):

        def second(a, *more, b=x * k, **named):
            return a - b * y

        found.append(first if k % 2 else second)
    return sum(f(x, 1.0, y, b=y) + f(x, c=x) + f(x) for f in found)


def decorated(x, y):
    def counted(f):
        n = 0

        @wraps(f)
        def counting(*args):
            nonlocal n
            n += 1
            return f(*args) * n

        return counting

    f = counted(lambda t: t * t * y)
    return sum(f(x + k) for k in range(4))


@pytest.mark.parametrize(
    "f",
    [
        *(in_lists, in_dicts, dispatched, pairs_and_queues, in_attributes, observed, by_several_ways, partials),
        *(methods_of_builtin_classes, arrays, with_options, decorated),
    ],
)
def test_values_and_slopes(f):
    check_all_ways(f, 0.7, 0.9)
    check_all_ways(f, 1.3, 0.4)


def test_functions_of_functions():
    check(composed, 0.7, 0.9)


def assigned_in_a_loop(x, y):
    found = []
    for i in range(5):
        found.append(lambda t: t * i * y)  # noqa: B023
    return sum(f(x) for f in found)


def assigned_afterwards(x, y):
    found = []
    for k in range(3):
        found.append(lambda t, k=k: t * w + k)
    w = y * 2
    return sum(f(x) for f in found)


def each_with_its_own(x, y):
    def counter():
        n = 0.0

        def add(t):
            nonlocal n
            n += t * y
            return n

        return add, lambda: n

    counters = [counter() for _ in range(3)]
    for k in range(9):
        counters[k % 3][0](x * k)
    return sum(get() * (i + 1) for i, (_, get) in enumerate(counters))


def shared_by_two(x, y):
    n, found = y, []

    def multiply(t):
        nonlocal n
        n *= t
        return n

    for k in range(4):
        found.append(multiply if k % 2 else (lambda t: n + t))
    return sum(f(x) for f in found)


@pytest.mark.parametrize("f", [assigned_in_a_loop, assigned_afterwards, each_with_its_own, shared_by_two])
def test_captured_variables_that_are_assigned_again(f):
    check_all_ways(f, 0.7, 0.9)


def which_it_is(x, y):
    found, gain = [scaled_by(x * k) for k in range(4)], Gain(x)
    asked = [found[k % 3] for k in range(6)]
    total = sum(f(x) * (10 if f is found[1] else 7 if f == found[2] else 1) for f in asked)
    found.remove(found[2])
    methods = [gain.times, Gain(y).times, gain.add]
    total += sum(m(y) * (2 if m == gain.times else 1) for m in methods)
    return total + found.index(found[1]) + (found[0] in asked) + sum(f(y) for f in found)


def what_it_is(x, y):
    items, total = [], 0.0
    for k in range(6):
        items.append(scaled_by(y) if k % 2 else x)
    for item in items:
        total += item(2.0) if callable(item) else item
    fs = [scaled_by(x), math.sin, lambda t: t * y]
    return total + sum(fs[k % 3](x) * len(fs[k % 3].__name__) for k in range(6))


def as_keys(x, y):
    fs = [scaled_by(x * k) for k in range(3)]
    ranks = {f: k * y for k, f in enumerate(fs)}
    return sum(ranks[f] * f(x) for f in fs)


def with_attributes(x, y):
    found = []
    for k in range(3):
        f = scaled_by(x * k)
        f.weight = y * k
        found.append(f)
    return sum(f(1.0) * f.weight for f in found)


def with_other_defaults(x, y):
    found = [lambda t=x * k, k=k: t * k + y for k in range(3)]
    total = found[2]()
    found[2].__defaults__ = (x * y, 5.0)
    setattr(found[1], "__defaults__", (y, 2.0))  # noqa: B010
    return total + sum(f() for f in found)


@pytest.mark.parametrize("f", [which_it_is, what_it_is, as_keys, with_attributes, with_other_defaults])
def test_what_else_is_asked_of_them(f):
    check(f, 0.7, 0.9, specialised=None)
