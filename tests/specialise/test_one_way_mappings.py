"""Dicts of the standard library, deques and copies, in programs that are followed on one way."""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict, defaultdict, deque
from typing import TypedDict

import pytest
from specialised_cases import check, check_slopes

from autodiff_hook.runtime.specialising import ONE_WAY


class Options:
    """Of several types, and copied: no program for all ways is made of that."""

    known = {"a": None, "b": "", "c": 1.0}

    def __init__(self, **given):
        self.values = Options.known.copy()
        self.values.update(given)


def ends(x):
    d = OrderedDict([("a", x), ("b", x * x), ("c", 2.0)])
    d.move_to_end("c", last=False)
    d.move_to_end("a")
    first, v = d.popitem(last=False)
    last, w = d.popitem()
    d.move_to_end("b")
    try:
        OrderedDict().popitem()
    except KeyError:
        w = w * x
    return v * x + w * w * sum(d.values()) + len(first + last) * x + len(d)


def made_when_missing(x):
    d = defaultdict(lambda: defaultdict(float))
    d["a"]["b"] += x
    d["a"]["c"] = x * x
    d["q"]
    rows = defaultdict(list, z=[x])
    for i in range(4):
        rows[i % 2].append(x * i)
    return sum(sum(r.values()) for r in d.values()) * len(d) + sum(v * k for k in (0, 1) for v in rows[k])


def without_a_factory(x):
    d = defaultdict(None, a=x)
    try:
        return d["b"]
    except KeyError:
        return d["a"] * x * isinstance(d, dict) * (type(d) is defaultdict)


def counted(x):
    c = Counter("abca")
    c.update("aab")
    c.update({"z": 3})
    (first, n), (_, m) = c.most_common(2)
    return x * n + x * x * m + c["nothing"] * x + (x if first == "a" else 0.0) + len(c) + len(c.most_common(-1)) * x


def counts_with_derivatives(x):
    c = Counter({"a": x, "b": 2 * x})
    c.update(a=x * x)
    c["c"] += x
    del c["nothing"]
    return c.total() * c["a"] + len(c)


def copies(x):
    d = defaultdict(list)
    d["a"].append(x)
    deep, flat = copy.deepcopy(d), d.copy()
    deep["z"].append(x)
    d["a"].append(5.0)
    c = Counter(a=1, b=2)
    e = c.copy()
    e["a"] = x
    return sum(sum(v) for v in deep.values()) * deep["a"][0] + sum(flat["a"]) * len(d) + c["a"] * e["a"] * e["b"]


def as_plain_dicts(x):
    d = dict(OrderedDict(a=x, b=2.0))
    d.update({**OrderedDict(c=x)})
    key, last = d.popitem()
    return d["a"] * last * d.pop("b") + (x if key == "c" else 0.0) + ("a" in OrderedDict(a=x)) * x


def windows(x):
    q = deque([x, 1.0], maxlen=2)
    q.append(x * x)
    kind = isinstance(q, deque) * x + (type(q) is deque) * x * x
    return sum(q) * q[0] + kind + q[-1] + len(q) + (x if 1.0 in q else 0.0) + bool(q) * max(q)


def waiting(x):
    q, total = deque([(x, 1)]), 0.0
    while q:
        v, n = q.popleft()
        total += v * n
        if n < 4:
            q.append((v * x, n + 1))
            q.appendleft((v * 0.5, n + 2))
    return total


def copied_deques(x):
    q = deque([x], maxlen=3)
    other = copy.copy(q)
    other.append(x)
    return sum(other) * len(q) + len(q.copy())


class Copied:
    def __init__(self, a, items):
        self.a, self.items = a, items

    def __copy__(self):
        return Copied(self.a * 2.0, list(self.items))


def as_a_class_says(x):
    p = Copied(x, [x, 1.0])
    other = copy.copy(p)
    other.items[0] = 3.0
    return other.a * p.items[0] + sum(other.items)


class Settings:
    def __init__(self, a, b):
        self.held = {"ka": a, "kb": b}

    def keys(self):
        return self.held.keys()

    def __iter__(self):
        return iter(self.held)

    def __getitem__(self, key):
        return 2.0 * self.held[key]


def named(ka, kb):
    return ka - kb * kb


def mappings_by_their_class(x):
    settings, d = Settings(x, x * x), {"kb": 1.0}
    d.update(settings)
    total = sum(v * (k + 1) for k, held in enumerate([d, dict(settings), {**settings, "c": x}]) for v in held.values())
    return total + named(**settings) * d["ka"]


class Gains(TypedDict):
    p: float
    i: float


class Loosely(TypedDict, total=False):
    rows: list


def typed_dicts(x):
    gains, loose = Gains(p=x, i=2.0), Loosely()
    loose["rows"] = [x * x, 3.0]
    return gains["p"] * gains["i"] + sum(loose["rows"]) + sum([Gains(p=x * k, i=1.0)["p"] for k in range(3)])


PROGRAMS = [
    *(ends, made_when_missing, without_a_factory, counted, counts_with_derivatives, copies, as_plain_dicts, windows),
    *(waiting, copied_deques, as_a_class_says, mappings_by_their_class, typed_dicts),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_alone(f):
    check(f, 0.7, specialised=True if ONE_WAY else None)


@pytest.mark.parametrize("f", PROGRAMS)
def test_beside_options(f):
    def with_options(x):
        Options(a=x)
        return f(x)

    check(with_options, 0.7)


def compared(x):
    return x * (OrderedDict(a=x, b=1.0) == OrderedDict(b=1.0, a=x)) + x * x


def test_the_order_of_what_is_compared():
    check(compared, 0.7, specialised=None)


class Counted(dict):
    """Hands on to ``dict`` whatever it is given."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.updates = 0

    def update(self, *given, **named):
        self.updates += 1
        super().update(*given, **named)

    def pop(self, *given):
        return super().pop(*given)


class Ranked(list):
    def __init__(self, *given):
        super().__init__(*given)

    def sort(self, **options):
        super().sort(**options)
        return self


def handed_on_to_builtin_classes(x, y):
    settings = Counted({"x": x}, y=y * y)
    settings.update(z=x * y)
    settings.update({"x": y}, w=2.0)
    ranked = Ranked([x, y, x * y])
    dict.update(settings, w=3.0 * x)
    return settings.pop("z") * settings.pop("z", x) * settings.updates + ranked.sort(key=lambda v: -v)[0] * sum(
        settings.values()
    )


def test_methods_of_builtin_classes_that_super_names():
    check_slopes(handed_on_to_builtin_classes, 0.7, 1.3)


FOUND = defaultdict(dict, {int: {"scale": 2.0}, bool: {"scale": 3.0}})


def of_a_registry(x, cls):
    for each in cls.__mro__[:-1]:
        if each in FOUND and "scale" in FOUND[each]:
            return FOUND[each]["scale"] * x**2
    return sum(x * found["scale"] for found in FOUND.values()) + len(FOUND)


def of_what_a_registry_makes(x):
    made = FOUND[str]
    del FOUND[str]
    return x * x + len(made)


def test_registries_from_outside():
    for cls in (bool, int, str):
        check(of_a_registry, 0.3, cls)
    FOUND[str]["scale"] = 4.0
    check(of_a_registry, 0.3, str)
    del FOUND[str]
    check(of_a_registry, 0.3, str)
    check(of_what_a_registry_makes, 0.3, specialised=None)


def spread_in_order(x, rates):
    def weighed(**given):
        return sum(k * v for k, v in enumerate(given.values(), 1)) * x

    held = {**rates}
    return weighed(**rates) + held["a"] * x * (list(dict(rates)) == list(held))


def test_ordered_dicts_from_outside_are_spread():
    given = OrderedDict(a=1.5, b=2.0)
    for _ in range(2):
        check(spread_in_order, 0.3, given)
        given.move_to_end("a")
    given["c"] = 0.5
    check(spread_in_order, 0.3, given)
