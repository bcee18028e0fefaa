"""Lists, dicts and objects by any number of names: their cotangents are found by identity."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from specialised_cases import check, is_specialised
from specialised_cases import same as agree

import autodiff_hook as ad
from autodiff_hook.algebras import typed
from autodiff_hook.runtime import specialising

pytestmark = pytest.mark.skipif(specialising.ONE_WAY, reason="these programs are about all ways at once")


def rank(weights, links, damping, rounds):
    nodes = list(links)
    ranks = {v: 1.0 / len(nodes) for v in nodes}
    out = {v: sum(weights[v][k] for k in range(len(links[v]))) for v in nodes}
    for _ in range(rounds):
        new = {v: (1.0 - damping) / len(nodes) for v in nodes}
        for v in nodes:
            for k, w in enumerate(links[v]):
                new[w] += damping * ranks[v] * weights[v][k] / out[v]
        ranks = new
    return sum(ranks[v] ** 2 for v in nodes)


def test_dicts_that_a_loop_carries():
    links = {"a": ["b", "c"], "b": ["a"], "c": ["a", "b", "c"]}
    weights = {"a": [1.0, 2.0], "b": [3.0], "c": [0.5, 0.25, 2.0]}
    check(lambda w, d: rank(w, links, d, 3), weights, 0.85)


def product(a, b):
    n = len(a)
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i][k] * b[k][j]
    return c


def trace_of_power(a, n):
    p = a
    for _ in range(n):
        p = product(p, a)
    return sum(p[i][i] for i in range(len(p)))


def test_what_was_given_and_what_is_made_come_by_one_name():
    check(lambda a: trace_of_power(a, 3), [[1.0, 0.5], [0.25, 2.0]])


def test_what_was_given_is_not_changed_by_a_typed_program():
    def f(xs, n):
        ys = [1.0, 2.0]
        for i in range(n):
            if i == 5:
                ys = xs
            ys[0] = ys[0] * xs[1]
        return ys[0] + xs[0]

    check(f, [3.0, 4.0], 3)
    given = [3.0, 4.0]
    ad.gradient(f, given, 7)
    plain = [3.0, 4.0]
    f(plain, 7)
    assert given == plain


def rows_of_many_names(rows):
    rows = [list(row) for row in rows]
    rows[0], rows[1] = rows[1], rows[0]
    rows[0][0] *= rows[1][1]
    last = rows[-1]
    last[1] = last[0] * 2.0
    rows.append(rows[0])
    rows[-1][1] += 3.0 * rows[0][0]
    return sum(x for row in rows for x in row)


def lists_that_change_places(xs, ys, n):
    a, b = list(xs), list(ys)
    for i in range(n):
        a, b = b, [x * 1.1 + y for x, y in zip(a, b)]
        if i % 2:
            a[0] = b[1] * a[0]
    return sum(a) + b[0] * b[-1]


def points(pairs):
    total = 0.0
    for x, y in pairs:
        total += x * y
    made = [(x * x, y) for x, y in pairs]
    made.append((total, 2.0))
    for i in range(len(made)):
        total += made[i][0] * made[i][1]
    a, b = made[0]
    made[1] = (a * b, total)
    return total + made[1][0] + made[1][1] + made[-1][0]


def slices(xs):
    ys = xs[1:] + xs[:2]
    zs = list(ys)
    zs[0] = zs[0] * zs[1]
    total = 0.0
    for a, b in zip(ys, zs):
        total += a * b
    return total + sum(zs[::2])


def best_so_far(xs):
    best, out = xs[0], []
    for x in xs:
        if x > best:
            best, out = x, [x * 2.0]
        else:
            out.append(x)
    return sum(out) + best


def leaves_early(rows):
    total = 0.0
    for i, row in enumerate(rows):
        for x in row:
            if x > 4:
                break
            total += x * x * (i + 1)
        else:
            continue
        products = [x * y for x, y in zip(row, rows[0])]
        total += products[1]
        break
    return total


def views_of_dicts(d):
    total = 0.0
    for key, value in d.items():
        total += value * value * len(key)
    for value in d.values():
        total += value**3
    return total


def table_of_what_may_be_missing(xs):
    seen = [None] * len(xs)
    total = 0.0
    for i in (0, 2, 0, 1, 2):
        if seen[i] is None:
            seen[i] = xs[i] * xs[i]
        total += seen[i]
    return total


@pytest.mark.parametrize(
    "f, args",
    [
        (rows_of_many_names, ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],)),
        (lists_that_change_places, ([1.0, 2.0], [3.0, 0.5], 4)),
        (points, ([(1.0, 2.0), (3.0, 4.0)],)),
        (slices, ([1.0, 2.0, 3.0, 4.0],)),
        (best_so_far, ([1.0, 3.0, 2.0, 5.0, 4.0],)),
        (leaves_early, ([[1.0, 2.0], [3.0, 4.5], [6.0, 7.0]],)),
        (views_of_dicts, ({"a": 1.0, "bb": 2.0},)),
        (views_of_dicts, ({f"k{i}": 1 + i / 7 for i in range(20)},)),
        (table_of_what_may_be_missing, ([1.0, 2.0, 3.0],)),
    ],
)
def test_lists_and_dicts(f, args):
    check(f, *args)


def test_rows_are_taken_before_loops_that_may_not_run():
    def f(rows):
        total = 0.0
        for i in range(len(rows)):
            for j in range(i + 1, len(rows)):
                total += rows[i][0] * rows[i + 1][j]
        return total

    check(f, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])


def momentum(x, n):
    prices, held = [x], {0: x}
    for day in range(n):
        for weight in (0.5, 1.5, -0.7):
            slope = prices[-1] - prices[-2] if len(prices) > 1 else 0.0
            x += weight * slope * (held[day] if day in held else 1.0)
        prices.append(prices[-1] * 0.9 + 0.1 * x)
    return x + prices[-1]


def test_items_are_read_before_loops_that_ask_whether_they_are_there():
    check(momentum, 0.7, 5)
    if not specialising.GENERIC:
        assert {function.how for function in ad.explain(momentum, 0.7, 5).functions} == {"typed"}


def test_a_list_of_another_kind_is_not_taken_for_what_it_was():
    def f(xs):
        total = 0.0
        for x in xs:
            total += x * x
        return total

    check(f, [1.0, 2.0])
    for other in ([1, 2.0], [np.float64(3.0)], [True, 2.0], [], [np.array([1.0])]):
        try:
            expected = f(other)
        except TypeError:
            continue
        value = ad.withgradient(lambda xs: np.sum(f(xs)), other)[0]
        assert value == np.sum(expected)


def test_a_row_that_is_captured_is_no_constant():
    rows = [[1.0, 2.0], [3.0, 4.0]]
    row = rows[0]

    def f(rows):
        return rows[0][0] * row[1] + rows[1][0]

    with pytest.raises(ad.NotDifferentiable):
        ad.gradient(f, rows)
    agree(ad.gradient(f, [[1.0, 2.0], [3.0, 4.0]]), ([[2.0, 0.0], [1.0, 0.0]],))


@dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def norm(self):
        return math.sqrt(self.dot(self))


@dataclass
class Ball:
    center: Vector
    radius: float
    name: str = "ball"

    def distance(self, point):
        found = (point - self.center).norm
        return None if found > 3 * self.radius else found - self.radius


def nearest(balls, light):
    best, hit = float("inf"), None
    for ball in balls:
        distance = ball.distance(light)
        if distance is not None and distance < best:
            best, hit = distance, ball
    shade = 0.1
    if hit is not None:
        shade += hit.radius * best + hit.center.x
    return shade


def test_objects_in_lists():
    balls = [Ball(Vector(1.0, 2.0), 3.0), Ball(Vector(0.5, 0.25), 2.0)]
    check(nearest, balls, Vector(0.3, 0.7))
    check(nearest, [*balls, Ball(Vector(9.0, 9.0), 0.1)], Vector(0.3, 0.7))


class Model:
    def __init__(self):
        self.weights, self.pair, self.named = [1.0, 2.0], (3.0, 4.0), {"a": 1.5}
        self.vector = self.again = Vector(1.0, 2.0)

    def value(self, x):
        known = self.weights[0] * x + self.pair[0] * self.pair[1]
        return known + self.named["a"] * self.vector.x + self.again.x


def test_objects_hold_lists_tuples_dicts_and_objects():
    check(lambda model: model.value(2.0), Model())
    check(lambda model: sum(w * w for w in model.weights) * model.vector.y, Model())


def test_numbers_and_arrays_beside_objects():
    v, w = Vector(1.5, 2.5), np.array([0.3, 0.7])
    check(lambda pair: pair[0].x ** 2 * pair[1], (v, 3.0))
    check(
        lambda d: d["v"].x * d["x"] ** 2 + np.sum(d["w"] * d["pair"][0].y), {"v": v, "x": 3.0, "w": w, "pair": (v, w)}
    )
    check(lambda t, x: t[0][0].dot(t[0][1]) * t[1][0] * np.sum(t[1][1] * x), ((v, Vector(0.5, 0.2)), (2.0, w)), 1.5)
    check(lambda t: t[0].x * t[1][0] * t[2][0].y, (v, [2.0, 3.0], [v, v]))


def test_objects_that_change_their_kind():
    def f(model):
        return model.pair[0] * model.weights[1]

    check(f, Model())
    other = Model()
    other.pair = [3, 4.0]
    check(f, other, specialised=None)
    other.weights = [1, 2]
    check(f, other, specialised=None)
    other.pair = np.array([3.0, 4.0])
    check(f, other, specialised=None)


def test_an_attribute_that_hides_a_method():
    def f(ball, point):
        return ball.distance(point)

    check(f, Ball(Vector(0.5, 0.25), 2.0), Vector(0.3, 0.7))
    other = Ball(Vector(0.5, 0.25), 2.0)
    other.distance = lambda point: point.x * 7
    gradients = ad.gradient(f, other, Vector(0.3, 0.7))
    assert gradients[1].x == 7.0


def test_a_captured_object_that_is_passed_as_well():
    ball = Ball(Vector(0.5, 0.25), 2.0)

    def f(balls):
        return sum(b.radius for b in balls) * ball.radius

    with pytest.raises(ad.NotDifferentiable):
        ad.gradient(f, [ball, ball])


def test_two_ways_back_through_one_list(monkeypatch):
    def f(xs):
        ys = [x * x for x in xs]
        ys.append(ys[0] * 2.0)
        ys[1] = ys[-1] * ys[1]
        return ys[0] + ys[1]

    _, back = ad.pullback(f, [2.0, 3.0])
    first, second = back(1.0), back(10.0)
    monkeypatch.setattr(typed, "GENERIC", True)
    agree(first, ad.gradient(f, [2.0, 3.0]))
    assert second[0] == pytest.approx([10 * x for x in first[0]])
    assert is_specialised(f) or not specialising.GENERIC


def test_max_and_min_of_several_numbers():
    def f(a, b, c):
        return max(a, b, c) * min(a, b, c, 0.5) + max(a, 2)

    check(f, 1.0, 3.0, 2.0)
    check(f, 0.25, 0.25, 0.125)


class Scaled:
    def __init__(self, function):
        self.function = function


def test_functions_in_objects_and_lists_have_captured_what_is_differentiated():
    w = 2.0

    def scaled(x):
        return w * x

    check(lambda fs: fs["f"][0](3.0), {"f": [scaled]}, specialised=None)
    check(lambda o: o.function(3.0), Scaled(scaled), specialised=None)
    check(lambda o, x: o.function(x), Scaled(math.sin), 0.3, specialised=None)


def test_lists_that_are_replaced_before_the_way_back():
    rows = [[0.1, 0.2], [0.3]]
    _, back = ad.pullback(lambda rows: sum(x * x for row in rows for x in row), rows)
    rows[0] = [9.0, 9.0]
    assert back(1.0)[0][0] == pytest.approx([0.2, 0.4])
