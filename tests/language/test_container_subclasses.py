"""Lists, dicts and sets whose classes have methods of their own: each method is the one that Python calls."""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict, UserDict, UserList, defaultdict, namedtuple

import numpy as np
import pytest
from helpers import gradient_at
from in_all_modes import MODES, differences

from autodiff_hook import NotDifferentiable, gradient, hvp, jvp, withgradient


class Summed(list):
    def __init__(self, *a):
        super().__init__(a)
        self.tot = sum(a)

    def append(self, v):
        self.tot += v
        super().append(v)

    def extend(self, it):
        for v in it:
            self.append(v)

    def __setitem__(self, i, v):
        self.tot += v - super().__getitem__(i)
        super().__setitem__(i, v)

    def pop(self, *a):
        v = super().pop(*a)
        self.tot -= v
        return v

    def insert(self, i, v):
        self.tot += v
        super().insert(i, v)

    def __delitem__(self, i):
        self.tot -= super().__getitem__(i)
        super().__delitem__(i)


class Scaled(list):
    def __getitem__(self, i):
        return super().__getitem__(i) * 2

    def __iter__(self):
        return (v * 3 for v in super().__iter__())

    def __len__(self):
        return super().__len__() + 0

    def __contains__(self, v):
        return super().__contains__(v)


class Closed(list):
    def __iadd__(self, o):
        super().__iadd__(o)
        self.n = len(o)
        return self

    def __add__(self, o):
        return Closed(super().__add__(o))

    def __mul__(self, n):
        return Closed(super().__mul__(n))

    def sort(self, **k):
        super().sort(**k)
        self.sorted = True


class Totals(dict):
    def __init__(self, *a, **k):
        self.tot = 0.0
        super().__init__()
        self.update(*a, **k)

    def __setitem__(self, k, v):
        self.tot += v
        super().__setitem__(k, v)

    def update(self, *a, **k):
        for key, v in dict(*a, **k).items():
            self[key] = v

    def pop(self, k, *d):
        v = super().pop(k, *d)
        self.tot -= v
        return v

    def __delitem__(self, k):
        self.tot -= self[k]
        super().__delitem__(k)

    def setdefault(self, k, v=None):
        return super().setdefault(k, v)

    def get(self, k, d=None):
        return super().get(k, d)


class Doubling(dict):
    def __getitem__(self, k):
        return super().__getitem__(k) * 2

    def __missing__(self, k):
        return 5.0

    def keys(self):
        return list(super().keys())


class Ordered(OrderedDict):
    def __setitem__(self, k, v):
        super().__setitem__(k, v * 2)


class Recent(set):
    def add(self, v):
        self.last = v
        super().add(v)


@gradient_at(1.3)
def test_append_and_store(x):
    items = Summed(x, 2 * x)
    items.append(x * x)
    items[0] = x * 3
    items.extend([x, 1.0])
    return items.tot * sum(items)


@gradient_at(1.3)
def test_insert_pop_delete_reverse(x):
    items = Summed(x, 2 * x, x**3)
    items.insert(1, x * x)
    v = items.pop()
    del items[0]
    items.reverse()
    return items.tot * items[0] + v * items[1]


@gradient_at(1.3)
def test_sort_and_attribute(x):
    items = Summed(x, 2 * x, 3.0)
    items.sort(key=lambda v: -v)
    items.note = x
    items.pop(0)
    return items.tot + items.note * items[0]


@gradient_at(1.3)
def test_items_are_scaled(x):
    items = Scaled([x, x * x])
    return items[0] + items[1] * items[-1]


@gradient_at(1.3)
def test_loop_and_length(x):
    items = Scaled([x, x * x])
    return sum(v for v in items) * len(items)


@gradient_at(1.3)
def test_extended_by_itself(x):
    items = Scaled([x, x * x])
    items.append(x)
    items.extend(items)
    return sum(list(items)) + items[3]


@gradient_at(1.3)
def test_sum_of_what_iter_gives(x):
    items = Scaled([x, x * x])
    return sum(items)


@gradient_at(1.3)
def test_unpacked_and_max(x):
    items = Scaled([x, x * x])
    a, b = items
    return a * b + max(items) + (x in items)


@gradient_at(1.3)
def test_star_and_display(x):
    items = Scaled([x, x * x])
    a, *b = items
    return a * b[0] + [*items][1] + tuple(items)[0]


@gradient_at(1.3)
def test_operators_and_sort(x):
    items = Closed([x])
    items += [x * x]
    items = items + [2.0 * x]
    items = items * 2
    items.sort()
    return items[0] * items[-1] + items[2] * items.sorted


@gradient_at(1.3)
def test_dict_with_a_total(x):
    d = Totals({"a": x}, b=x * x)
    d["c"] = 2 * x
    d.update(a=x**3)
    v = d.pop("b")
    del d["c"]
    return d.tot * d["a"] + v + d.get("z", x) + d.setdefault("q", x)


@gradient_at(1.3)
def test_getitem_and_missing(x):
    d = Doubling(a=x)
    d["b"] = x * x
    return d["a"] * d["b"] + d["z"] * x + sum(d.values()) + d.get("a")


@gradient_at(1.3)
def test_copies_of_a_dict(x):
    d = Doubling(a=x, b=x * x)
    e = dict(d)
    f = {**d}
    return e["a"] * f["b"] + sum(v for k, v in d.items())


@gradient_at(1.3)
def test_ordered_dict_updates_by_setitem(x):
    d = Ordered(a=x)
    d["b"] = x
    d.update(c=x * x)
    d.update([("e", x)])
    return sum(d.values()) * d["b"] + d.popitem()[1]


@gradient_at(1.3)
def test_ordered_dict_setdefault(x):
    d = Ordered()
    d["b"] = x
    d.setdefault("q", x * x)
    d.move_to_end("b")
    return d["b"] * d["q"] + d.pop("b")


@gradient_at(1.3)
def test_set_with_add(x):
    s = Recent()
    s.add(x)
    s.update([x * x])
    return sum(s) * s.last


@gradient_at(1.3)
def test_user_list(x):
    u = UserList([x])
    u.append(x * x)
    u += [2.0]
    u[0] = x * 3
    return sum(u) * u[1] + u.pop()


@gradient_at(1.3)
def test_user_dict(x):
    u = UserDict(a=x)
    u["b"] = x * x
    u.update(c=2 * x)
    return u["a"] * u["b"] + sum(u.values()) + u.pop("c")


@gradient_at(1.3)
def test_default_dict(x):
    d = defaultdict(list)
    d["a"].append(x)
    d["a"].append(x * x)
    d.update(b=[x])
    return sum(d["a"]) * d["b"][0]


@gradient_at(1.3)
def test_stack(x):
    class Stack(list):
        def push(s, v):
            s.append(v)

        @property
        def top(s):
            return s[-1]

    s = Stack()
    s.push(x)
    s.push(x * x)
    s.name = "q"
    return s.top * s[0] + s.pop()


class Doubled(tuple):
    def __getitem__(self, i):
        return 2.0 * super().__getitem__(i)

    def __len__(self):
        return super().__len__() - 1


class DoubledPair(namedtuple("DoubledPair", "x y")):
    def __getitem__(self, i):
        return 2.0 * super().__getitem__(i)


def fields_and_items(x):
    pair = DoubledPair(x, x * x)
    return pair.x * pair[1] + pair[0] * pair.y


def taken_apart(x):
    a, b = DoubledPair(x, x * x)
    c, d = Doubled((x, 3.0))
    return a * b + c * d + max(*Doubled((x, x * x)), 0.0)


def iterated(x):
    total = 0.0
    for a in Doubled((x, x * x)):
        total += a * x
    return total + sum(DoubledPair(x, x)) + len(Doubled((x, x))) * x


class Tripled(tuple):
    def __iter__(self):
        return (v * 3.0 for v in super().__iter__())


def joined(x):
    """Neither iterates."""
    a, b = [x] + Scaled([x * x]), Scaled([x]) * 2
    return a[1] * (Tripled((x,)) + (x,))[1] * list.__getitem__(b, 1) + ((x,) + Tripled((x * x,)))[1]


def repeated_in_place(x):
    class Sevens(list):
        def __mul__(self, n):
            return [7.0 * self[0] ** n]

        def __add__(self, other):
            return [0.0]

    a, b = Sevens([x]), Sevens([x])
    a *= 3
    b += [x * x]
    return a[0] * b[1]


def handed_to_numpy(x):
    y = np.array(Scaled([x, x * x])) * np.sum(Tripled((x, 2.0)))
    y[:] = y + np.asarray(Scaled([x, 1.0]))
    return float(y @ np.cumsum(Scaled([x, x])) + np.interp(0.3, [0.0, 1.0], Scaled([x, 2.0])))


@pytest.mark.parametrize("f", [lambda x: np.array([Scaled([x])]).sum(), lambda x: (np.ones(1) * Scaled([x])).sum()])
def test_what_numpy_iterates_over_within_others_is_an_error(f):
    with pytest.raises(NotDifferentiable, match="Scaled is iterated over natively"):
        gradient(f, 1.3)


class AsArray(list):
    def __array__(self, dtype=None, copy=None):
        return np.array([2.0 * v for v in self])


class AsArrayOfTuple(tuple):
    def __array__(self, dtype=None, copy=None):
        return np.array([2.0 * v for v in self])


class ByName(dict):
    def __array__(self, dtype=None, copy=None):
        return np.array([3.0 * value for value in self.values()])


def dicts_converted_by_their_own_code(x):
    held, row = ByName(a=x, b=x * x), np.zeros(2)
    row[:] = held
    row += held
    made = [np.array(held)[1], np.sum(held), np.concatenate([held, row]).sum(), np.stack([held, held])[0, 1]]
    return (
        sum(made) * held["a"] + np.sin(held) @ np.ones(2) + np.dot(held, held) + np.max(np.atleast_1d(held)) * len(held)
    )


def converted_by_their_own_code(x):
    a, b = AsArray([x, x * x]), AsArrayOfTuple((x, 2.0))
    rows, _ = np.meshgrid(a, np.ones(2))
    total = np.multiply.outer(a, b).sum() + rows.sum() * np.sum(b) + (np.ones(2) * b).sum() + np.array(a)[1]
    return total + np.concatenate([a, b]).sum() + np.dot(a, np.ones(2)) + sum(a)


def counters_copied(x):
    counts = Counter(a=x, b=2.0)
    found, again = copy.copy(counts), copy.deepcopy(counts)
    counts["a"] = 0.0
    return found["a"] * again["a"] * again["b"]


PLACED = [
    *(fields_and_items, taken_apart, iterated, joined, repeated_in_place, handed_to_numpy),
    *(converted_by_their_own_code, dicts_converted_by_their_own_code, counters_copied),
]


@pytest.mark.parametrize("f", PLACED, ids=lambda f: f.__name__)
def test_items_by_place_are_not_those_of_an_iteration(f):
    step = 1e-5
    slope = (f(1.3 + step) - f(1.3 - step)) / (2 * step)
    for _ in range(2):
        value, grads = withgradient(f, 1.3)
        assert value == pytest.approx(f(1.3), rel=1e-14)
        assert grads == (pytest.approx(slope),)
        assert jvp(f, (1.3,), (1.0,)) == (value, pytest.approx(slope))


def three_kinds(x):
    stack, totals, ordered = Summed(x, 2 * x), Totals(a=x), Ordered(a=x)
    stack.append(x * x)
    stack[0] = x * 3
    totals["b"] = x * x
    ordered.update(c=x * x)
    return stack.tot * sum(stack) + totals.tot * totals["a"] + ordered["c"] * ordered["a"] + Scaled([x])[0] * x


def test_forward_mode():
    assert jvp(three_kinds, (1.3,), (1.0,))[1] == pytest.approx(gradient(three_kinds, 1.3)[0])
    step = 1e-5
    second = (gradient(three_kinds, 1.3 + step)[0] - gradient(three_kinds, 1.3 - step)[0]) / (2 * step)
    assert hvp(three_kinds, (1.3,), (1.0,)) == (pytest.approx(second, rel=1e-5),)


class Turned(dict):
    """It is iterated over in its own way, and so asked for its keys and items where a copy is made."""

    def __getitem__(self, key):
        return super().__getitem__(key) * 2.0

    def __iter__(self):
        return reversed(list(super().__iter__()))


class Part(Turned):
    def keys(self):
        return ["a"]


class Twofold(dict):
    def __getitem__(self, key):
        return super().__getitem__(key) * 2.0


class TwofoldInOrder(OrderedDict):
    def __getitem__(self, key):
        return super().__getitem__(key) * 2.0


def added(d, other):
    d.update(other)
    return d


def joined(d, other):
    d |= other
    return d


COPIES = {
    "dict": dict,
    "display": lambda d: {"z": 1.0, **d},
    "update": lambda d: added({"z": 1.0}, d),
    "|=": lambda d: joined({"z": 1.0}, d),
    "from the left": lambda d: d | {"z": 1.0},
    "from the right": lambda d: {"z": 1.0} | d,
    "copy": lambda d: d.copy(),
    "keywords": lambda d: (lambda **named: named)(**d),
    "by name": lambda d: dict(d, z=1.0),
    "the same class": lambda d: type(d)(d),
    "an ordered one": OrderedDict,
    "one with a default": lambda d: defaultdict(float, d),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cls", [Turned, Part, Twofold, TwofoldInOrder])
@pytest.mark.parametrize("name", COPIES)
def test_copies_of_derived_dicts(name, cls, mode):
    def f(x):
        return sum(i * v * v for i, v in enumerate(COPIES[name](cls(a=x, b=x * x)).values(), 1))

    for x in (0.7, 1.3, 0.9):
        assert MODES[mode](f, x) == pytest.approx(differences(f, x, 2 if mode == "hvp" else 1), rel=1e-4)
        assert withgradient(f, x)[0] == pytest.approx(f(x))


class Padded(list):
    """What its class says of items and of its length is not what native code finds."""

    def __iter__(self):
        return iter([v * 3.0 for v in super().__iter__()])

    def __getitem__(self, i):
        return super().__getitem__(i) * 2.0

    def __len__(self):
        return super().__len__() + 1


class Trebled(set):
    def __iter__(self):
        return iter([v * 3.0 for v in super().__iter__()])


def trebled(*members):
    made = Trebled()
    for member in members:
        made.add(member)
    return made


def weighed(items):
    return sum(i * v * v for i, v in enumerate(items, 1))


TAKEN = {
    "list": lambda x: weighed(list(Padded([x, x * x]))),
    "star": lambda x: weighed([1.0, *Padded([x, x * x])]),
    "extend": lambda x: weighed(extended([1.0], Padded([x, x * x]))),
    "item": lambda x: Padded([x, x * x])[1] * x,
    "length": lambda x: len(Padded([x])) * x,
    "pop": lambda x: Padded([x, x * x]).pop() * x,
    "reversed": lambda x: weighed(reversed(Padded([x, x * x]))),
    "reversed dict": lambda x: {"a": x, "b": x * x}[next(reversed(Turned(a=1, b=2)))] * x,
    "set": lambda x: weighed(sorted(set(trebled(x, x * x)))),
    "frozenset": lambda x: weighed(sorted(frozenset(trebled(x, x * x)))),
    "union": lambda x: weighed(sorted({1.0} | trebled(x, x * x))),
    "set.union": lambda x: weighed(sorted({1.0}.union(trebled(x, x * x)))),
    "set.update": lambda x: weighed(sorted(updated({1.0}, trebled(x, x * x)))),
    "iteration over a set": lambda x: weighed(sorted(trebled(x, x * x))),
}


def extended(items, others):
    items.extend(others)
    return items


def updated(members, others):
    members.update(others)
    return members


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TAKEN)
def test_what_native_code_takes_of_derived_containers(name, mode):
    f = TAKEN[name]
    for x in (0.7, 1.3, 0.9):
        assert MODES[mode](f, x) == pytest.approx(differences(f, x, 2 if mode == "hvp" else 1), rel=1e-4, abs=1e-6)
        assert withgradient(f, x)[0] == pytest.approx(f(x))


class Defaults(defaultdict):
    def total(self):
        return sum(self.values())


class Counted(defaultdict):
    def __init__(self, x, **items):
        super().__init__(lambda: x, **items)
        self.asked = 0

    def __getitem__(self, key):
        self.asked += 1
        return super().__getitem__(key)


class Lengths(defaultdict):
    def __missing__(self, key):
        self[key] = value = 2.0 * len(key)
        return value


class Latest(OrderedDict):
    def put(self, key, value):
        self[key] = value
        self.move_to_end(key)
        if len(self) > 2:
            self.popitem(last=False)


class Halved(OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value / 2.0)


def defaults(x):
    held = Defaults(float, {"a": x})
    for i, key in enumerate("abcab"):
        held[key] += x**i
    return held.total() * held["none"] + held["b"] * len(held)


def lists_by_default(x):
    held = Defaults(list, a=[x])
    for i in range(5):
        held[i % 2].append(x**i)
    return sum(map(sum, held.values())) * len(held)


def counted(x):
    held = Counted(x * x, a=x)
    return held["a"] * held["b"] + held.asked * x + held.get("c", 2.0 * x)


def lengths(x):
    held = Lengths(float, a=x)
    return held["a"] * held["two"] + held["two"] * x + held.setdefault("b", x)


def another_default(x):
    held = Defaults(float)
    held.default_factory = lambda: 5.0 * x
    return held["a"] + held.default_factory()


def recent(x):
    held = Latest(z=1.0)
    for i, key in enumerate("abcab"):
        held.put(key, x**i)
    key, value = held.popitem()
    return sum(held.values()) + value * len(key) + list(held.items())[0][1]


def halved(x):
    held = Halved(a=x)
    held["b"] = x
    held.update(c=x * x)
    return sum(v * v for v in held.values())


def no_default(x):
    held = Defaults(None, a=x)
    try:
        return held["b"]
    except KeyError:
        return held["a"] * x


def united_defaults(x):
    held = Defaults(lambda: x, a=x) | {"b": x * x}
    return held.total() * held["c"]


OF_MAPPINGS = [
    defaults,
    lists_by_default,
    counted,
    lengths,
    another_default,
    recent,
    halved,
    no_default,
    united_defaults,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", OF_MAPPINGS, ids=lambda f: f.__name__)
def test_derived_mappings_of_the_standard_library(f, mode):
    for x in (0.7, 1.3, 0.9):
        assert MODES[mode](f, x) == pytest.approx(differences(f, x, 2 if mode == "hvp" else 1), rel=1e-4, abs=1e-6)
        assert withgradient(f, x)[0] == pytest.approx(f(x))
