"""Dicts of which the keys decide: places, numbers of nodes and cells beside what has derivatives; counters."""

from __future__ import annotations

import copy
import heapq
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from specialised_cases import check, check_all_ways

import autodiff_hook as ad


def grouped(x, y):
    groups = defaultdict(list)
    for i, v in enumerate([x, y, x * y, x - y, 0.3]):
        groups[i % 3].append(v * v)
    return sum(sum(values) * (k + 1) for k, values in groups.items())


def shortest(x, y):
    weights = [x, y, x * y, 0.4 + x, 0.9]
    graph = defaultdict(list)
    for i in range(7):
        for d in (1, 2):
            graph[i].append(((i + d) % 7, weights[(i + 2 * d) % 5] + 0.1 * d))
    distance, heap, done = {0: 0.0}, [(0.0, 0)], set()
    while heap:
        d, place = heapq.heappop(heap)
        if place in done:
            continue
        done.add(place)
        for other, cost in graph[place]:
            new = d + cost
            if other not in distance or new < distance[other]:
                distance[other] = new
                heapq.heappush(heap, (new, other))
    return sum((k + 1) * d * d for k, d in distance.items())


def neighbours(x, y):
    points = [(x * i, y * ((3 * i) % 5)) for i in range(9)]
    cells = defaultdict(list)
    for k, (a, b) in enumerate(points):
        cells[int(a // 1.0), int(b // 1.0)].append(k)
    energy = 0.0
    for (a, b), members in cells.items():
        for other in cells.get((a + 1, b), ()):
            for k in members:
                energy += (points[k][0] - points[other][0]) ** 2 * points[k][1]
    return energy


def nested(x, y):
    found = {}
    for k, (name, v) in enumerate([(3, x), (1, y), (3, x * y)]):
        found.setdefault(name, []).append((k, v))
    total = 0.0
    for name, pairs in found.items():
        for k, v in pairs:
            total += v * v * (k + 1) * name
    return total


class Node:
    def __init__(self, number, value):
        self.number, self.value = number, value


def objects(x, y):
    nodes = [Node(i, x * i + y) for i in range(5)]
    kept = {}
    for node in nodes:
        kept[node.number % 2] = kept.get(node.number % 2, 1.0) * node.value
    return sum(v * (k + 2) for k, v in kept.items())


def counted(x, y):
    counts = Counter(int(v) for v in (1.2, 2.5, 1.7, 3.9, 1.1))
    counts.update([2, 7])
    counts.subtract([3])
    return sum(x * n * k + y for k, n in counts.items()) + y * counts[5] + x * counts.total() * len(counts)


def weighed(x, y):
    weights = Counter()
    for i in range(6):
        weights[i % 3] += x * i - y
    total = 0.0
    for place, (k, w) in enumerate(weights.most_common(2)):
        total += w * w * k + place * w
    return total + weights.get(9, x) + weights.pop(1) + len(weights.most_common(-1)) * x


def set_of_items(x, y):
    known = set([1, 2, 1])
    return sum(x * n * (n in known) + y for n in [1, 5, 7])


ALL_WAYS = [set_of_items, grouped, shortest, neighbours, nested, objects, counted, weighed]


@pytest.mark.parametrize("f", ALL_WAYS)
def test_keys_beside_what_has_derivatives(f):
    check_all_ways(f, 0.37, 0.61)


def computed_keys(x, y):
    totals, letters = defaultdict(float), Counter("abracadabra")
    for day in range(9):
        totals["month%d" % (day // 3)] += x * day  # noqa: UP031 - people write it so
        totals[f"week{day % 2}"] += y
    best = max(totals, key=totals.get)
    return max(totals.values()) * y + totals[best] * letters["a"] + len(letters) * x


def read_by_a_key_that_is_not_known(x, y):
    rates = {"fast": {"a": x, "b": y}, "slow": {"a": y, "b": 1.0}}
    total = 0.0
    for name in "fast slow fast".split():
        total += rates[name]["a"] * math.sin(total + rates[name]["b"])
    return total


@pytest.mark.parametrize("f", [computed_keys, read_by_a_key_that_is_not_known])
def test_keys_that_are_texts(f):
    check_all_ways(f, 0.37, 0.61)
    check_all_ways(f, 1.1, 0.4)


OPTIONS = {"debug": True, "scale": 1.5, "names": ["u"]}


def asked_for_options(x, y):
    total = x * OPTIONS["scale"] if "debug" in OPTIONS else y
    return total + (x * y if "verbose" not in OPTIONS else x)


def test_whether_a_global_dict_has_a_key_is_looked_at_again(monkeypatch):
    check_all_ways(asked_for_options, 0.37, 0.61)
    monkeypatch.setitem(OPTIONS, "verbose", 1)
    check_all_ways(asked_for_options, 0.37, 0.61)
    monkeypatch.delitem(OPTIONS, "debug")
    check_all_ways(asked_for_options, 0.37, 0.61)


RUNS = {"runs": 0}


def asks_for_what_it_assigns(x, y):
    RUNS["runs"] += 1
    RUNS["last"] = 1
    return x * ("runs" in RUNS) + y * ("last" in RUNS) * x


def test_keys_that_are_assigned():
    check(asks_for_what_it_assigns, 0.37, 0.61, specialised=None)
    RUNS.clear()
    RUNS["runs"] = 0
    assert ad.gradient(asks_for_what_it_assigns, 0.37, 0.61) == pytest.approx((1.61, 0.37))
    assert RUNS == {"runs": 1, "last": 1}


def by_names(rates, x):
    total = x
    for name in "fast slow".split():
        total += rates[name]["a"] * math.sin(total)
    return total + ("slow" in rates) * x


def test_given_dicts_of_dicts_are_read_by_names():
    check(by_names, {"fast": {"a": 0.3}, "slow": {"a": 0.8}}, 0.7)
    check(by_names, {"fast": {"a": 1.3}, "slow": {"a": 0.1}}, 0.2)


def key_that_is_differentiated(n, x):
    found = {}
    for place, v in [(n, x), (2 * n, x * x)]:
        found[place] = v
    return sum(k * v for k, v in found.items())


def key_that_is_computed(x, y):
    pairs = [(x * i, y + i) for i in range(3)]
    found = {}
    for a, b in pairs:
        found[a] = b
    return sum(a * a * b for a, b in found.items())


def missing_is_deleted(x, y):
    counts = Counter([1, 1, 2])
    del counts[7]
    return x * counts[1] + y * len(counts)


def of_a_mapping(x, y):
    counts = Counter({1: x, 2: y})
    counts.update({1: x * y, 3: 1.0})
    return sum(k * v * v for k, v in counts.items())


def sums_of_counters(x, y):
    a, b = Counter(), Counter()
    a[1] += x
    b[1] += y
    both = a + b
    return both[1] * both[2] + both[1] * y


def shown(x, y):
    counts = Counter()
    counts[2] += x
    return y * len(repr(type(counts))) + x * isinstance(counts, dict) + counts[2] * (type(counts) is dict)


def empty_default_that_is_kept(x, y):
    groups = {1: [x, y]}
    found = groups.get(2, ())
    return x * (found == ()) + y * len(found) + sum(groups.get(1, ()))


@pytest.mark.parametrize(
    "f", [key_that_is_computed, missing_is_deleted, of_a_mapping, sums_of_counters, shown, empty_default_that_is_kept]
)
def test_what_has_to_be_carried_is_right(f):
    check(f, 0.37, 0.61, specialised=None)


def test_whole_numbers_that_are_differentiated_are_keys():
    # On one way the key is known, and its derivative was lost.
    check(key_that_is_differentiated, 3, 0.7, specialised=None)
    n, x = ad.gradient(key_that_is_differentiated, 3, 0.7)
    assert n == pytest.approx(x := 0.7 + 2 * 0.49) and math.isfinite(x)


class Value:
    def __init__(self, value, parents=()):
        self.value, self.parents = value, set(parents)

    def __add__(self, other):
        return Value(self.value + other.value, (self, other))

    def __mul__(self, other):
        return Value(self.value * other.value, (self, other))


class Same(Value):
    def __eq__(self, other):
        return isinstance(other, Same)

    def __hash__(self):
        return 3


def of_nodes(x, y):
    a, b = Value(x), Value(y)
    c = a * b + a * a
    return c.value * len(c.parents) + (a * a).value * len((a * a).parents)


def visited(x, y):
    a, b = Value(x), Value(y)
    seen, total = set(), 0.0
    for node in (a, b, a, a + b, b):
        if node not in seen:
            seen.add(node)
            total = total * y + node.value
    seen.discard(a)
    return total * len(seen) + (x if a in seen else y)


def of_equal_nodes(x, y):
    return len({Same(x), Same(y)}) * x * y


def in_their_order(x, y):
    total = 0.0
    for node in {Value(x), Value(y)}:
        total = total + node.value
    return total


class Sender:
    """Is told what it is sent by others, and what it was sent last, by the node that sends."""

    def __init__(self, value):
        self.value, self.sent = value, {}

    def send(self, other, weight):
        other.value += (weight - other.sent.get(self, 0.0)) * self.value
        other.sent[self] = weight


def messages(x, y):
    a, b, c = nodes = [Sender(x), Sender(y), Sender(x * y)]
    a.send(b, x)
    b.send(c, y)
    a.send(c, y)
    a.send(b, y if y > x else x)
    return sum(v * node.value for node in nodes for v in node.sent.values()) + len(c.sent)


def by_nodes(x, y):
    a, b = Sender(x), Sender(y)
    d = {a: x, (b, 1): x * y, (b, 2): y}
    d[(a, b)] = d.pop(a) * x
    total = d.setdefault(a, y) * d.get((b, 1), x) + (x if (b, 3) in d else y) + (a in d)
    del d[a]
    for key, value in d.items():
        first, second = key
        total = total * first.value + value * (second if second in (1, 2) else second.value)
    grouped = defaultdict(list)
    for key in d:
        grouped[key[0]].append(d[key])
    last, held = grouped.popitem()
    return total + sum(held) * last.value + sum(sum(v) * k.value for k, v in grouped.items())


def of_missing_nodes(x, y):
    a, d = Sender(x), {Sender(x): y}
    try:
        return d[a]
    except KeyError:
        return d.get(a, x) * len(dict.fromkeys([a, a, Sender(y)])) + y


def of_copied_nodes(x, y):
    a = Sender(x)
    d, b = copy.deepcopy(({a: x * y, (a, 0): [y]}, a))
    b.value *= y
    return d[b] * b.value * a.value + d[b, 0][0] + (x if a in d else y)


def of_named_nodes(x, y):
    a = Sender(x)
    named = {"a": a}
    sent = {named["a"]: x, Sender(y): y}
    return {node.value: v * node.value for node, v in sent.items()}[x] * len({**sent}) + ({a: 1} == {a: 1}) * y


def by_equal_nodes(x, y):
    d = {Same(x): x}
    d[Same(y)] = y
    return sum(v * k.value for k, v in d.items()) * len(d)


def in_a_set_of_pairs(x, y):
    pairs = {(Sender(x), 0), (Sender(y), 1)}
    return sum(node.value * (i + 1) for node, i in pairs)


def returned(x, y):
    return {Sender(x): x * y}


def lazily(x, y):
    found = filter(None, [x, y])
    numbers = iter([x])
    return next(numbers) * (x if found and not iter([]) else y) + y * bool(numbers) + sum(found)


def knots(x, y):
    points = sorted({0.0, x, y, 1.0, x})
    return sum((b - a) ** 2 * (i + 1) for i, (a, b) in enumerate(zip(points, points[1:])))


def of_bounds(x, y):
    points = frozenset([x, y, 2])
    low, high = min(points), max(points)
    return low * high * len(points) + (x if y in {x, 2.0} else x * x)


def added_up(x, y):
    return sum({x, y, 1.0}) * x


def joined(x, y):
    return len({x}.union({1.0})) * x + len({x, y} - {y}) * y + ({x} == {y}) * x


@pytest.mark.parametrize("f", [of_nodes, visited])
def test_sets_of_objects_of_the_program(f):
    for x, y in ((0.7, 0.3), (0.3, 0.3)):
        check(f, x, y)


@pytest.mark.parametrize("f", [messages, by_nodes, of_missing_nodes, of_copied_nodes, lazily])
def test_dicts_by_objects_of_the_program(f):
    for x, y in ((0.7, 0.3), (0.3, 0.7), (0.3, 0.3)):
        check(f, x, y)


@pytest.mark.parametrize("f", [by_equal_nodes, in_a_set_of_pairs, of_named_nodes])
def test_dicts_and_sets_by_objects_that_are_asked_for_more_are_right(f):
    for x, y in ((0.7, 0.3), (0.3, 0.3)):
        check(f, x, y, specialised=None)


def test_a_dict_by_objects_that_is_returned():
    for x in (0.7, 0.5):
        found, back = ad.pullback(returned, x, 0.3)
        (node,) = found
        assert node.value == x and found[node] == x * 0.3
        assert back({node: 1.0}) == back({node: 1.0}) == (0.3, x)


@pytest.mark.parametrize("f", [knots, of_bounds])
def test_sets_of_numbers_that_are_differentiated(f):
    check(f, 0.7, 0.3)
    check(f, np.float64(0.6), 0.3)
    for x, y in ((0.7, 0.3), (0.3, 0.7), (0.4, 0.4), (2.0, 0.5), (0.5, 0.0), (0.2, 1.0), (-0.0, 0.0), (0.7, 0.3)):
        check(f, x, y, specialised=None)


@pytest.mark.parametrize("f", [in_their_order, added_up, joined, of_equal_nodes])
def test_sets_that_are_asked_for_more_are_right(f):
    for x, y in ((0.7, 0.3), (0.3, 0.3), (1.0, 0.5)):
        check(f, x, y, specialised=None)


def test_nan_in_a_set():
    nan = float("nan")
    for _ in range(3):
        assert ad.withgradient(lambda x, y: len({x, y, x}) * 2.0 + 0.0 * y, nan, 1.0)[0] == 4.0
        assert ad.withgradient(lambda x, y: len({x, y}) * y, nan, 1.0) == (2.0, (0.0, 2.0))


def in_cells(x, places):
    cells = defaultdict(list)
    for i, place in enumerate(places):
        cells[tuple(place)].append(x * i)
    total = 0.0
    for (first, *_), members in cells.items():
        total += sum(members) ** 2 * (first + 1)
    return total


def test_rows_of_whole_numbers_are_keys():
    places = np.array([[0, 1], [2, 0], [0, 1], [1, 1]])
    for rows in (places, places[:, :1], np.floor(places * 0.7).astype(int)):
        check(lambda x, rows=rows: in_cells(x, rows), 0.7)
    check(lambda x: in_cells(x, places > 0), 0.7, specialised=None)
