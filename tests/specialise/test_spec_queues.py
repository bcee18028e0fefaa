"""Queues, heaps, sets and unions of dicts: what definitions in Python stand for in typed programs."""

from __future__ import annotations

import heapq
import math
from collections import OrderedDict, deque

import numpy as np
import pytest
from specialised_cases import check, check_all_ways

import autodiff_hook as ad


class Filter:
    def __init__(self, a, b):
        self.a, self.b = a, b
        self.seen = deque([0.0, 0.0], maxlen=2)

    def __call__(self, v):
        found = self.a * v + self.b * self.seen[0] - 0.2 * self.seen[1]
        self.seen.appendleft(found)
        return found


def filters(x, y):
    chain = [Filter(x, y), Filter(y, 0.3)]
    total = 0.0
    for i in range(20):
        v = math.sin(0.3 * i)
        for each in chain:
            v = each(v)
        total += v * v
    return total


def window(x, y):
    last = deque(maxlen=3)
    total = 0.0
    for i in range(12):
        last.append(x * i + y)
        total += sum(last) / len(last) + last[0] * last[-1]
    return total


def both_ends(x, y):
    d = deque([x, y, x * y, 1.0])
    total = 0.0
    for i in range(9):
        d.rotate(1 if i % 2 else -2)
        total += d[0] * (i + 1) + d[2]
    d.extendleft([x, 3 * y])
    d.extend([x * x])
    d.reverse()
    return total + d[0] * d.popleft() - d[-1] * d.pop() * len(d)


def waiting(x, y):
    todo = deque([(x, 0)])
    total = 0.0
    while todo:
        v, depth = todo.popleft()
        total += v
        if depth < 3:
            todo.append((v * y, depth + 1))
            todo.append((v * v, depth + 1))
    return total


def weighed(x, y):
    route, total = deque([0.0] * 4, maxlen=4), 0.0
    for k in range(8):
        route.append(x * math.sin(k) + total * 0.1)
        total += sum(w * v for w, v in zip([0.1, 0.2, 0.3, y], route))
        for place, v in enumerate(route):
            total += place * v * 0.1
    return total


def no_room(x, y):
    d = deque([x, y], 5)
    none = deque(maxlen=0)
    none.append(x)
    none.appendleft(y)
    squares = sum(v * v for v in d)
    return squares + max(d) * len(d) + len(none) * x


def heaps(x, y):
    heap = []
    for i in range(6):
        heapq.heappush(heap, (math.sin(x * i * 3), i))
    total = 0.0
    while heap:
        v, i = heapq.heappop(heap)
        total += v * y * (len(heap) + 1) + i * v
    return total


def heaps_of_scalars_of_arrays(x, y):
    free, total = [0.0, 0.0], 0.0
    for served in np.array([1.0, 0.5, 2.0, 0.25]):
        heapq.heappush(free, heapq.heappop(free) + served * x)
        total += y * free[0]
    return total + max(free)


def least_and_greatest(x, y):
    values, pairs, total = [x, 2.0, y, 0.5 * x], [(x, 1), (2.0 * x, 2), (y, 3)], 0.0
    named = {"a": x, "b": 2.0 * y, "c": 0.5}
    for i in range(6):
        total += heapq.nsmallest(2, values)[1] + sum(heapq.nlargest(i - 1, values, key=lambda v: -v))
        values[i % 4] = 0.3 * total
    best = heapq.nlargest(2, pairs)
    return total + best[1][0] * best[0][1] + named[heapq.nsmallest(2, named, key=named.get)[1]]


KEYS = [(7 * k * k + 3 * k) % 11 for k in range(40)]


class Recent:
    def __init__(self, size):
        self.size, self.held, self.hits = size, OrderedDict(), 0

    def get(self, key, make):
        if key in self.held:
            self.held.move_to_end(key)
            self.hits += 1
            return self.held[key]
        value = self.held[key] = make(key)
        if len(self.held) > self.size:
            self.held.popitem(last=False)
        return value


def least_recently_used(x, y):
    recent, total = Recent(4), 0.0
    for key in KEYS:
        total += recent.get(key, lambda k: math.sin(k * x) * y)
    for i, (key, value) in enumerate(recent.held.items()):
        total += value * i * key
    return total + recent.hits


def by_its_first_key(x, y):
    held, total = {}, 0.0
    for key in KEYS:
        if key in held:
            value = held.pop(key)
        else:
            value = math.cos(key * x) + y
            if len(held) >= 4:
                del held[next(iter(held))]
        held[key] = value
        total = total * 0.9 + value
    while held:
        key, value = held.popitem()
        total = total * 0.9 + key * value
    return total


def emptied(x, y):
    held, total = {}, 0.0
    for k in range(20):
        if k % 7 == 0:
            held.clear()
        if k % 3 not in held:
            held[k % 3] = x * k * y
        total += held[k % 3]
    return total


def ends_of_dicts(x, y):
    d, total = OrderedDict((k, x * k) for k in range(5)), 0.0
    for k in range(20):
        try:
            d.move_to_end(k % 7, last=bool(k % 3))
        except KeyError:
            total += x
        key, value = d.popitem(last=bool(k % 2))
        d[key] = value * y + 0.1
        total += value
    while True:
        try:
            key, value = d.popitem()
            total = total * 0.9 + key * value
        except KeyError:
            return total + y


class Event:
    def __init__(self, time, act):
        self.time, self.act = time, act


def heaps_of_what_has_no_order(x, y):
    waiting, total = [], y

    def arrive(time, event):
        nonlocal total
        total += time * event.time
        heapq.heappush(waiting, (time + y, len(waiting), Event(time, leave)))

    def leave(time, event):
        nonlocal total
        total += time * time * x

    for k in range(9):
        heapq.heappush(waiting, (abs(math.sin(k)) * x, k, Event(k * y, arrive)))
    while waiting:
        time, _, event = heapq.heappop(waiting)
        event.act(time, event)
    return total


def layouts_of_heaps(x, y):
    heap, others, total = [], [abs(math.sin(k)) * y + x for k in range(9)], 0.0
    heapq.heapify(others)
    for k in range(20):
        v = math.cos(2 * k) * x + y * 0.05 * k
        heapq.heappush(heap, v)
        total = total * 0.9 + heapq.heappushpop(heap, v * y) + heapq.heapreplace(others, v + x)
        total += heap[0] * heap[-1] + sum(v * i for i, v in enumerate(others))
    return total


def ties(x, y):
    heap, total = [], 0.0
    for k in range(20):
        heapq.heappush(heap, ("abc"[k % 3], k % 2 == 0, (k * 7 % 4 * 1.0, 1), x * k))
    while heap:
        name, even, (rank, _), v = heapq.heappop(heap)
        total = total * 0.95 + v * (1 + even) * rank * len(name)
    return total


def merged(x, y):
    rows, total = [[x * k for k in range(5)], [y * k + 0.13 for k in range(4)], []], 0.0
    for v in heapq.merge(*rows):
        total = total * 0.9 + v
    for v in heapq.merge(rows[0][::-1], rows[1][::-1], reverse=True):
        total = total * 0.9 + v
    for v, name in heapq.merge([(x, "a"), (2.0, "b")], [(y, "c"), (3.0, "d")], key=lambda pair: pair[0]):
        total = total * 0.8 + v * (name < "c")
    for v in heapq.merge([3 * x, x, 2 * x], [y, 0.1, 5 * y]):
        total = total * 0.7 + v
    return total


GRAPH = {"a": {"b": 1.0, "c": 2.5}, "b": {"c": 1.0, "d": 3.0}, "c": {"d": 1.0}, "d": {}}


def shortest_ways(x, y):
    distance = {name: math.inf for name in GRAPH}
    distance["a"] = 0.0
    front, done = [(0.0, "a")], set()
    while front:
        so_far, name = heapq.heappop(front)
        if name in done:
            continue
        done.add(name)
        for other, length in GRAPH[name].items():
            found = so_far + length * (x if other < "d" else y)
            if found < distance[other]:
                distance[other] = found
                heapq.heappush(front, (found, other))
    return sum(distance.values()) + len(done)


def members(x, y):
    open_, total = {1, 2}, x
    for i in range(6):
        if i in open_:
            open_.discard(i)
            total *= y
        else:
            open_.add(i)
            total += x
    open_.remove(0)
    return total * len(open_) if open_ else total


def members_that_have_derivatives(x, y):
    seen, total = set(), 0.0
    for i in range(4):
        v = x * (i % 2)
        if v not in seen:
            total += v * v + y
        seen.add(v)
    return total


def numbers(x, y):
    odd = {i % 3 for i in range(7) if i % 3}
    return x * len(odd) + sum(y * k for k in range(5) if k not in odd)


def unions(x, y):
    first, second = {"a": x}, {"b": y}
    for i in range(3):
        first = first | {"c": x * i}
    second |= {"a": y * y}
    both = second | first
    return sum(both.values()) * both["a"] + second["a"]


def doubled(d):
    d["s"] = d["s"] * 2.0
    return d["s"]


def spread(x, y):
    state = {"s": x, "i": y}
    for k in ("s", "i", "r"):
        state[k] = state.get(k, x * y) + 1.0
    new = {**state, "t": doubled(state), **{"i": x}}
    return new["s"] * 3 + new["t"] + sum(new.values()) + state["s"]


def keys_that_go_on(x, y):
    first, second = {}, {}
    for i in range(4):
        first[i] = x * i + y
    for k, v in first.items():
        second[k] = v * v
    return sum((k + 1) * v for k, v in second.items())


def unknown_keys(x, y):
    events = {3: "up", 5: "down"}
    for day in range(8):
        event = events.get(day)
        if event == "up":
            x = x * 2
        elif event == "down":
            x = x - y
    return x * y


def named_in_order(x, y):
    d = OrderedDict()
    d["a"] = x
    d["b"] = y * x
    return sum(d.values()) * d["b"] * (2.0 if isinstance(d, OrderedDict) else 1.0)


def deleted_keys(x, y):
    d = {}
    for i in range(4):
        d[i] = x * i + y
    total = d.pop(1) * d.pop(7, y)
    del d[2]
    total += sum(d.values()) * len(d)
    for i in range(3):
        d[2] = total * 0.3 + x
        total += d[2] * d[2] * (i + 1)
        if i % 2:
            del d[2]
    return total + sum(k * v for k, v in d.items())


class Body:
    def __init__(self, place):
        self.place = place


def keys_that_are_identities(x, y):
    bodies = [Body(x * i + y) for i in range(4)]
    pulls = {id(body): y for body in bodies}
    for first, second in zip(bodies, bodies[1:]):
        pull = (second.place - first.place) * x
        pulls[id(first)] += pull
        pulls[id(second)] -= pull * pull
    for body in bodies:
        body.place += pulls[id(body)]
    return sum(body.place**2 for body in bodies)


def from_keys(x, y):
    d = dict.fromkeys(("a", "b"), x)
    d["a"] += y
    return d["a"] * d["b"]


@pytest.mark.parametrize(
    "f",
    [
        *(
            filters,
            window,
            both_ends,
            waiting,
            weighed,
            no_room,
            heaps,
            heaps_of_scalars_of_arrays,
            heaps_of_what_has_no_order,
            layouts_of_heaps,
            ties,
            merged,
            least_recently_used,
            by_its_first_key,
            emptied,
            ends_of_dicts,
            least_and_greatest,
            shortest_ways,
            members,
            members_that_have_derivatives,
        ),
        *(numbers, unions, spread, keys_that_go_on, unknown_keys, named_in_order, from_keys, deleted_keys),
        keys_that_are_identities,
    ],
)
def test_values_and_slopes(f):
    check_all_ways(f, 0.7, 0.9)
    check_all_ways(f, 1.9, 0.3)


def slice_of_a_deque(x):
    return sum(deque([x, x * x])[:1])


def pop_of_nothing(x):
    d = deque(maxlen=2)
    d.append(x)
    d.popleft()
    return d.popleft() * x


def key_that_is_gone(x):
    s = set()
    s.add(3)
    s.remove(4)
    return x


@pytest.mark.parametrize("f", [slice_of_a_deque, pop_of_nothing, key_that_is_gone])
def test_what_the_plain_call_raises_is_raised(f):
    for _ in range(2):
        with pytest.raises(Exception) as expected:
            f(0.7)
        with pytest.raises(expected.type) as found:
            ad.gradient(f, 0.7)
        assert str(found.value) == str(expected.value)


def order_of_a_set(x):
    s = {7, 1}
    s.add(3)
    total = 0.0
    for k in s:
        total = total * x + k
    return total


def copied_deque(x):
    d = deque([x, 1.0], maxlen=2)
    other = d.copy()
    other.append(x * x)
    return sum(other) * len(other) * (1.0 if d == deque([x, 1.0]) else 2.0)


def key_with_a_derivative(x):
    total = 0.0
    for k in {x, 2 * x}:
        total += k * k
    return total


def returned(x):
    d = deque([x])
    d.appendleft(x * x)
    return sum(list(d)) * d.index(x)


def order_that_objects_decide(x):
    heap, total = [], x
    try:
        for k in range(4):
            heapq.heappush(heap, (round(math.sin(k)) * x, Event(k, x)))
    except TypeError:
        total += 100 * x
    return total + len(heap) * x


def order_of_what_has_none(x):
    heap, total = [], x
    for k in range(8):
        heapq.heappush(heap, math.nan if k == 5 else abs(math.sin(k)) * x)
    while heap:
        v = heapq.heappop(heap)
        total = total * 0.9 + (0.0 if v != v else v)
    return total


@pytest.mark.parametrize(
    "f",
    [
        *(order_of_a_set, copied_deque, key_with_a_derivative, returned, order_that_objects_decide),
        order_of_what_has_none,
    ],
)
def test_what_shows_the_difference(f):
    check(f, 0.7, specialised=None)


def test_long_deques_are_given_up():
    def delayed(x):
        line = deque([0.0] * 100, maxlen=100)
        for i in range(300):
            line.append(x * i + 0.5 * line[0])
        return sum(line)

    check(delayed, 0.7, specialised=None)
