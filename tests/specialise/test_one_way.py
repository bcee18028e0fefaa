"""Programs that are followed on one way: objects, containers, stores, and what changes between two calls."""

from __future__ import annotations

import bisect
import copy
import functools
import heapq
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_slopes, is_specialised, oracle, same, scope

import autodiff_hook as ad


class Body:
    """Attributes that are assigned again and again."""

    mass = 2.0

    def __init__(self, x, v=0.0, **options):
        self.x, self.v = x, v
        self.path = []
        self.options = {"damping": 0.1, **options}
        for name, value in options.items():
            setattr(self, name, value)

    @property
    def energy(self):
        return 0.5 * self.mass * self.v**2 + self.x**2

    @energy.setter
    def energy(self, value):
        self.v = (2 * (value - self.x**2) / self.mass) ** 0.5

    def step(self, dt=0.1):
        self.v = self.v - dt * (2 * self.x + self.options["damping"] * self.v) / self.mass
        self.x += dt * self.v
        self.path.append((self.x, self.v))
        return self


def objects(x, y):
    body = Body(x, y, stiffness=3.0)
    for _ in range(4):
        body.step().step(dt=0.05)
    body.energy = body.energy + 1.0
    return body.x * body.stiffness + body.v + sum(x * v for x, v in body.path) + body.energy


def through_the_dictionary(x, y):
    body = Body(x)
    body.__dict__.update(v=y, extra=x * y)
    vars_ = body.__dict__
    vars_["x"] = body.extra + 1
    return body.x * body.v + getattr(body, "missing", 2.0) * hasattr(body, "extra")


@dataclass
class Point:
    x: float
    y: float
    log: list = field(default_factory=list)

    def __add__(self, other):
        self.log.append("add")
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Point(self.x * k, self.y * k)


def data_classes(x, y):
    p, total = Point(x, y), Point(0.0, 0.0)
    for k in range(3):
        total = total + p * k
        p.x = p.x * p.y
    return total.x * total.y + len(total.log) * x + len(p.log)


def lists(x, y):
    rows = [[0.0] * 3 for _ in range(2)]
    shared = [rows[0]] * 2
    shared[1][2] = x
    rows[1][0] += y
    rows[0], rows[1] = rows[1], rows[0]
    rows.insert(1, [x, y, x * y])
    flat = [v for row in rows for v in row]
    flat[1:3] = [x, y, x + y]
    last = flat.pop()
    flat.extend(reversed(flat[:2]))
    del flat[0]
    return sum(v * (i + 1) for i, v in enumerate(flat)) + last + flat.index(y) * x


def dicts(x, y):
    table = {"a": x, **{"b": y}}
    table.update(c=x * y, d={"e": [x, y]})
    table["d"]["e"].append(table.pop("a"))
    table.setdefault("f", []).append(y)
    for key in list(table):
        if key not in ("c", "d", "f"):
            table[key] = table[key] ** 2
    first, *rest = table["d"]["e"]
    return sum(v for k, v in table.items() if k in "bc") + first * rest[-1] + table.get("z", x) + table["f"][0]


def star_calls(x, y):
    def inner(a, /, b=2.0, *args, c, d=y, **kwargs):
        return a * b + sum(args) + c * d + kwargs["e"] * len(kwargs)

    args, named = (x, y), {"c": x, "e": y}
    return inner(*args, 1.0, x, **named) + inner(x, c=1.0, **{"e": 2.0}, d=x) + functools.partial(inner, x, c=y)(e=1.0)


def loops_over_everything(x, y):
    total = 0.0
    for i, (a, b) in enumerate(zip([x, y, x * y], map(lambda v: v * v, (y, x, x)))):
        for k in range(i + 1):
            if k == 2:
                continue
            total += a * b * k
        else:
            total += x
    while total < 10.0:
        total = total * 1.7 + 1.0
    return total if any(v > 0 for v in (x, y)) and not all([x < 0, y < 0]) else total * 2


def exceptions(x, y):
    total, log = x, []
    for key in ("a", "b"):
        try:
            total *= {"a": y}[key]
        except KeyError as error:
            total += x * y
            log.append(type(error).__name__)
        else:
            log.append("fine")
        finally:
            total += 1.0
    try:
        [][0]
    except (IndexError, ValueError):
        total *= 2
    try:
        if total > 0:
            raise ValueError(total)
        total = -total
    except ValueError:
        total = total * x
    return total * len("".join(log))


def counters(x, y):
    count, calls = 0.0, []

    def bump(v, seen=calls):
        nonlocal count
        count += v
        seen.append(count)
        return count

    made = [lambda v, k=k: v * k * count for k in range(3)]
    bump(x)
    bump(y)
    return sum(f(x) for f in made) + calls[0] * calls[1]


Pair = namedtuple("Pair", "first second")


def named_tuples(x, y):
    pair = Pair(x, y)
    a, b = pair
    return pair.first * pair.second + pair[0] + a * b + len(pair)


def recursion(x, y):
    def depth(n, v):
        return v if n == 0 else depth(n - 1, v * y) + x

    return depth(5, x)


PROGRAMS = [
    objects,
    through_the_dictionary,
    data_classes,
    lists,
    dicts,
    star_calls,
    loops_over_everything,
    exceptions,
    counters,
    recursion,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f):
    for x, y in [(0.7, 1.3), (1.3, 0.4), (0.9, 2.1)]:
        check_slopes(f, x, y)


def test_named_tuples():
    check_slopes(named_tuples, 0.7, 1.3, specialised=None)


def kalman(x, p):
    a = np.array([[1.0, 0.1], [0.0, 1.0]])
    state, cov = np.zeros(2), np.eye(2) * p
    state[0] = x
    log = np.zeros(5)
    for k in range(5):
        state = a @ state
        cov = a @ cov @ a.T
        cov[0, 0] += 0.1
        cov[1] *= 1.01
        gain = cov[:, 0] / (cov[0, 0] + 0.5)
        state += gain * (1.0 - state[0])
        cov -= np.outer(gain, cov[0])
        log[k] = np.log(cov[0, 0])
    log[log > 0] = 0.0
    return log.sum() + state @ state


def aliases(x):
    a = np.zeros((2, 3))
    names = [a, a]
    names[1][0] = x
    names[0] += 1.0
    b = a.copy()
    b[1, ::2] -= x
    b[..., 1] *= b[..., 0]
    return (a * b).sum() + names[1][0, 0]


def views(x):
    a = np.zeros(3)
    whole = a[:]
    a[0] = x
    whole[1] = 2 * x
    return (a * a).sum() + whole[0]


def ravelled(x):
    a = np.zeros((2, 2)).T
    flat = a.ravel()
    flat[0] = x
    return a[0, 0] * x + flat.sum()


def of_the_argument(x):
    y = np.asarray(x)
    y[0] = 2.0
    return (x * y).sum()


@pytest.mark.parametrize(
    ("f", "args", "specialised"),
    [
        (kalman, (0.7, 2.0), True),
        (aliases, (1.5,), True),
        (views, (1.5,), None),
        (ravelled, (1.5,), None),
        (of_the_argument, (np.array([1.0, 2.0, 3.0]),), None),
    ],
)
def test_stores_into_arrays(f, args, specialised):
    expected = oracle(f, *copy.deepcopy(args))[1]
    for _ in range(3):
        same(ad.gradient(f, *copy.deepcopy(args)), expected)
    if specialised and not GENERIC:
        assert is_specialised(f)


class Model:
    """An object from outside that remembers."""

    def __init__(self):
        self.weight, self.calls, self.last, self.history = 2.0, 0, None, [1.0, 2.0]

    def loss(self, x):
        self.calls = self.calls + 1
        self.last = self.weight * x
        self.weight = self.weight * 1.1
        return self.last**2 + self.weight + sum(self.history)


def test_objects_from_outside_are_left_as_the_program_leaves_them():
    plain, found, generic = Model(), Model(), Model()
    for x in (1.5, 2.5, -0.5):
        plain.loss(x)
        grads = ad.gradient(found.loss, x)
        same(grads, oracle(generic.loss, x)[1])
        assert vars(plain) == vars(found) == vars(generic)


def test_one_object_under_two_names():
    def make(first, second):
        def f(x):
            first.last = x * 2
            return second.last * x if second.last is not None else x

        return f

    a, b = Model(), Model()
    same(ad.gradient(make(a, b), 3.0), (1.0,))
    f = make(a, a)
    same(ad.gradient(f, 3.0), (12.0,))
    namespace = scope("def f(x):\n    a.last = x * 2\n    return (b.last or 1.0) * x", a=Model(), b=Model())
    same(ad.gradient(namespace["f"], 3.0), (1.0,))
    namespace["b"] = namespace["a"]
    same(ad.gradient(namespace["f"], 3.0), (12.0,))


SOURCE = """
def f(x):
    items = [x]
    for w in weights:
        items.append(items[-1] * w + options.get("bias", 0.0))
    return sum(items) * scale * model.factor + helper(x)

def helper(x, extra=[3.0]):
    return x * extra[0] if "special" not in options else x * x
"""


@pytest.mark.parametrize(
    "change",
    [
        "weights.append(2.0)",
        "weights[0] = 7.0",
        "weights = (1.0, 5.0)",
        "options['bias'] = 3.0",
        "options['special'] = True",
        "scale = 3",
        "scale = np.float64(3.0)",
        "model.factor = 2",
        "type(model).factor = property(lambda self: 4.0)",
        "model = type('Other', (), {'factor': 5.0})()",
        "helper.__defaults__[0][0] = 9.0",
        "helper.__defaults__ = ([4.0],)",
        "helper = lambda x: x * x * x",
    ],
)
def test_what_changes_between_two_calls(change):
    namespace = scope(SOURCE, weights=[2.0, 3.0], options={}, scale=1.5, model=type("M", (), {})(), np=np)
    namespace["model"].factor = 0.5 if "property" not in change else None
    if "property" in change:
        namespace["model"] = type("N", (), {"factor": 0.5})()
    f = namespace["f"]
    same(ad.gradient(f, 1.5), oracle(f, 1.5)[1])
    same(ad.gradient(f, 1.5), oracle(f, 1.5)[1])
    exec(change, namespace)
    for x in (1.5, -0.5):
        same(ad.gradient(f, x), oracle(f, x)[1])


def test_other_ways_than_the_first():
    def f(x):
        path = [x]
        while abs(path[-1]) > 1.0:
            path.append(path[-1] / 2)
        return sum(path) if x > 0 else -path[0]

    for x in (5.0, 5.5, -3.0, 0.5, 17.0, 100.0, 1e6, 1e9, -1.0, 3.0, 1e12, 2.0):
        for _ in range(3):
            same(ad.gradient(f, x), oracle(f, x)[1])


def test_ranges_of_several_lengths():
    def f(x, places):
        given = (lambda *items: items)(*places)
        return x * len(given) + sum([x * x * place for place in places])

    for places in (range(0), range(3), range(1, 3), range(0, 3, 2)):
        check(f, 1.5, places, specialised=None)


def test_nested_lists_and_dicts_as_arguments():
    def f(layers, options):
        total = 0.0
        for layer in layers:
            for row in layer["rows"]:
                total += sum(w * w for w in row) * options["scale"]
        return total

    layers = [{"rows": [[1.0, 2.0], [3.0]]}, {"rows": [[0.5]]}]
    check(f, layers, {"scale": 2.0, "name": "n"}, specialised=None)
    shared = [1.0]
    check(f, [{"rows": [shared, shared]}], {"scale": 2.0, "name": "n"}, specialised=None)


def test_methods_and_jacobians():
    class Fit:
        def __init__(self, k):
            self.k = k

        def values(self, p):
            return [p[0] * self.k, p * p, (p[1], 3.0)]

        def loss(self, p):
            return (p * p).sum() * self.k

    p = np.array([1.0, 2.0])
    fit, other = Fit(2.0), Fit(5.0)
    for model in (fit, other, fit):
        same(ad.gradient(model.loss, p), (2 * p * model.k,))
        found = ad.jacobian(model.values)(p)
        same(found[0], np.array([model.k, 0.0]))
        same(found[1], np.diag(2 * p))
        same(found[2][0], np.array([0.0, 1.0]))
    fit.k = 7.0
    same(ad.gradient(fit.loss, p), (14 * p,))
    value, back = ad.pullback(fit.values, p)
    first = back([1.0, None, None])
    same(back([None, np.array([1.0, 1.0]), (1.0, None)]), (np.array([2.0, 5.0]),))
    same(back([1.0, None, None]), first)
    assert value[1].tolist() == [1.0, 4.0]


def test_what_the_program_does_is_done_once():
    seen: list[Any] = []

    def f(x):
        box = {"x": x}
        box["x"] = box["x"] * 2
        seen.append(1)
        return box["x"]

    for count in range(1, 4):
        same(ad.gradient(f, 3.0), (2.0,))
        assert len(seen) == count


def changes_its_arguments(rows, table):
    rows[0][1] = rows[1][0] * 2
    rows.append([table["k"]])
    inner = table["inner"]
    table["inner"]["w"] *= rows[0][0]
    table["new"] = rows[0]
    rows[0] += [3.0]
    del table["gone"]
    return sum(map(sum, rows)) * inner["w"] + table["k"]


def test_arguments_are_left_as_the_program_leaves_them():
    def arguments():
        return [[1.0, 2.0], [0.5]], {"k": 5.0, "inner": {"w": 2.0}, "gone": 1.0}

    plain, generic = arguments(), arguments()
    value = changes_its_arguments(*plain)
    expected = oracle(changes_its_arguments, *generic)[1]
    for _ in range(3):
        given = arguments()
        found, grads = ad.withgradient(changes_its_arguments, *given)
        assert found == value
        assert given == plain
        assert given[1]["new"] is given[0][0]
        same(grads, expected)
    if not GENERIC:
        assert is_specialised(changes_its_arguments) or ad.gradient(changes_its_arguments, *arguments())
        assert is_specialised(changes_its_arguments)


def test_containers_from_outside_are_left_as_the_program_leaves_them():
    source = """
def f(x):
    history.append(x * 2)
    for h in history:
        if len(history) < 2:
            history.append(h + 1.0)
    cache.setdefault(len(history), []).append(x)
    table["a"][0] = x
    table["b"] = table["a"]
    return sum(history) * x + table["b"][0] * table["a"][1]
"""

    def world():
        return scope(source, history=[], cache={}, table={"a": [1.0, 2.0]})

    plain, found, generic = world(), world(), world()
    for x in (2.0, 3.0, 2.0, 4.0, 5.0):
        value = plain["f"](x)
        expected = oracle(generic["f"], x)[1]
        result, grads = ad.withgradient(found["f"], x)
        assert result == value
        same(grads, expected)
        for name in ("history", "cache", "table"):
            assert plain[name] == found[name] == generic[name]
        assert found["table"]["a"] is found["table"]["b"]


def test_one_list_under_two_names():
    source = "def f(x):\n    first.append(x)\n    return second[-1] * x + len(second)"
    for shared in (False, True):
        first = [5.0]
        namespace = scope(source, first=first, second=first if shared else [5.0])
        same(ad.gradient(namespace["f"], 3.0), (6.0 if shared else 5.0,))
        assert first == [5.0, 3.0]
        namespace["second"] = namespace["first"]
        same(ad.gradient(namespace["f"], 3.0), (6.0,))


def put_in_order(x, y):
    bodies = [Body(x * y, y), Body(y), "of another kind", Body(x)]
    del bodies[2]
    bodies.sort(key=lambda body: body.x, reverse=True)
    heap = [body.x * (i + 1) for i, body in enumerate(bodies)]
    heapq.heapify(heap)
    heapq.heappush(heap, x * x)
    least = heapq.heappop(heap)
    ranks = sorted(heap)
    bisect.insort(ranks, least * y)
    kept = dict.fromkeys(("a", "b"), least)
    return sum(r * (i + 1) for i, r in enumerate(ranks)) * kept["b"] + bodies[0].x * bodies[2].v


def test_what_is_put_in_order():
    check_slopes(put_in_order, 0.7, 0.4)
    check_slopes(put_in_order, 0.3, 1.9)


def test_long_ways_are_followed_after_some_calls():
    def f(x):
        items = [x]
        for i in range(2000):
            items.append(items[-1] * 0.99 + i)
        return items[-1]

    expected = oracle(f, 1.5)[1]
    for _ in range(6):
        same(ad.gradient(f, 1.5), expected)
    if not GENERIC:
        assert is_specialised(f)
