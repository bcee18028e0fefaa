"""Objects whose making is no plain call of ``__init__``: ``__new__``, ABCs, keywords that are passed on, defaults."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import pytest
from specialised_cases import check, check_all_ways

import autodiff_hook as ad


class Store(ABC):
    """A class that is made by another metaclass, with keywords that are passed on."""

    gain = 2.0

    def __init__(self, k, level=0.5, **options):
        self.k, self.level = k, level
        self.gain = options.pop("gain", self.gain)
        if options:
            raise TypeError("unknown options")

    @abstractmethod
    def flow(self): ...

    @property
    def size(self):
        return self.k * self.gain

    def step(self, x):
        self.level += x
        flow = self.flow()
        self.level -= flow
        return flow


class Linear(Store):
    def __init__(self, *args, **kwargs):
        if "k" in kwargs:
            kwargs["k"] = kwargs["k"] * 0.5
        super().__init__(*args, **kwargs)

    def flow(self):
        return self.level * self.size * 0.1


class Power(Store):
    def __init__(self, k, beta, **kwargs):
        self.beta = beta
        kwargs.setdefault("level", beta)
        super().__init__(k, **kwargs)

    @property
    def size(self):
        return super().size + 1.0

    def flow(self):
        return self.level**2 * self.size * 0.01


class Mixin:
    def __init__(self, *args, **kwargs):
        self.tag = kwargs.pop("tag", 1.0)
        super().__init__(*args, **kwargs)


class Tagged(Mixin, Linear):
    pass


class Point:
    __slots__ = ("x", "y")

    def __new__(cls, x=None, y=None):
        return cls.made(0.0 if x is None else x, y)

    @classmethod
    def made(cls, x, y):
        self = super().__new__(cls)
        self.x, self.y = x, x if y is None else y
        return self


class Both:
    def __new__(cls, x, *rest):
        if isinstance(x, str):
            return Point(float(x), 1.0)
        self = object.__new__(cls)
        self.first = x * x
        return self

    def __init__(self, x, y=3.0):
        self.x, self.y = x * self.first, y


class Frozen:
    def __init__(self, x):
        object.__setattr__(self, "x", x)
        super().__setattr__("y", x * x)

    def __setattr__(self, name, value):
        raise AttributeError("frozen")


class Counting:
    def __init__(self, x):
        self.stores, self.x = 0, x

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2 if name == "x" else value)


class Empty:
    pass


class Rooted:
    def __init__(self, x):
        object.__init__(self)
        self.x = x * x


class Options:
    def __init__(self, **options):
        self.rate = 0.1
        for name, value in options.items():
            setattr(self, name, value)


def abstract(a, b):
    first, second, third, total = Linear(a), Power(b, 1.5, gain=a), Linear(k=b, level=a), 0.0
    for i in range(5):
        total += second.step(first.step(math.sin(i) + third.step(a))) * first.size
    return total


def mixed(a, b):
    total = 0.0
    for i in range(4):
        tagged = Tagged(a * i, tag=b, gain=a)
        total += tagged.step(b) * tagged.tag + Tagged(b).tag
    return total


def by_new(a, b):
    total = 0.0
    for i in range(4):
        p, q, r = Point(a * i, b), Point(a), Point()
        both = Both(b * i + a)
        total += p.x * p.y + q.x * q.y * both.x + both.y + r.x
    return total


def of_another_class(a, b):
    return Both("2.0").x * a + b


def assigning(a, b):
    frozen, counting = Frozen(a), Counting(b)
    for _ in range(3):
        counting.x = counting.x * 0.3
    return frozen.x * frozen.y * counting.x


def without_init(a, b):
    empty = Empty()
    empty.x = a
    for _ in range(3):
        empty.x = empty.x * b
    return empty.x


def by_root(a, b):
    total = 0.0
    for _ in range(3):
        total += Rooted(a * b).x
    return total


def by_options(a, b):
    total = 0.0
    for _ in range(3):
        total += Options(rate=a, decay=b).decay * Options(decay=a).rate
    return total


@pytest.mark.parametrize(
    "f",
    [abstract, mixed, by_new, of_another_class, assigning, without_init, by_root, by_options],
    ids=lambda f: f.__name__,
)
def test_constructors(f):
    for args in ((0.7, 1.3), (1.1, -0.4)):
        check_all_ways(f, *args)


def held_by_two(**options):
    held = options
    a = options.pop("a", 1.0)
    return a * len(held)


def popped_in_a_loop(**options):
    return sum([options.pop("a", 2.0) for _ in range(3)])


def popped_on_one_way(chosen, **options):
    if chosen:
        options.pop("a")
    return sum(options.values())


def popped_before_it_raises(**options):
    try:
        found = options.pop("a") * options["b"]
    except KeyError:
        found = len(options) + 2.0
    return found


def test_keywords_that_are_not_known_at_each_place():
    def f(a, n):
        total = 0.0
        for i in range(n):
            total += held_by_two(a=a, b=a) + popped_in_a_loop(a=a) * a
            total += popped_on_one_way(i % 2, a=a, b=a * a) * popped_before_it_raises(a=a, b=2.0)
            total += popped_before_it_raises(a=a) + popped_before_it_raises(b=a)
        return total

    for n in (3, 1, 0):
        check(f, 0.7, n, specialised=None)


def test_what_raises_in_a_constructor_raises():
    def unknown(a):
        return Linear(a, colour=1).k

    def of_an_abc(a):
        return Store(a).k

    def frozen(a):
        made = Frozen(a)
        made.x = a
        return made.x

    def without_a_slot(a):
        point = Point(a)
        point.z = a
        return point.z

    for f, error in ((unknown, TypeError), (of_an_abc, TypeError), (frozen, AttributeError)):
        for _ in range(3):
            with pytest.raises(error):
                ad.gradient(f, 0.7)
    with pytest.raises(AttributeError):
        ad.gradient(without_a_slot, 0.7)


class _Missing:
    pass


MISSING, OTHER = _Missing(), _Missing()


def worth(rate, n, when=MISSING, table={"end": 2.0}, *, mode=MISSING, weights=[1.0, 2.0]):  # noqa: B006
    if when is MISSING:
        when = 1.5
    factor = 1.0 if mode is OTHER else 3.0
    return (1 + rate) ** n * when * factor * table["end"] + sum(weights) * rate


def test_default_values_that_may_change(monkeypatch):
    def f(rate):
        total = 0.0
        for i in range(4):
            total += worth(rate, i) + worth(rate, 2.0, rate, mode=OTHER)
        return total

    check_all_ways(f, 0.1)
    worth.__defaults__[1]["end"] = 5.0
    check_all_ways(f, 0.1)
    worth.__kwdefaults__["weights"].append(3.0)
    check_all_ways(f, 0.1)
    monkeypatch.setitem(globals(), "OTHER", MISSING)
    check(f, 0.1, specialised=None)
    monkeypatch.undo()
    worth.__defaults__[1]["end"] = 2.0
    worth.__kwdefaults__["weights"].pop()
    check_all_ways(f, 0.1)


def remembered(x, known={}, log=[]):  # noqa: B006
    if x not in known:
        known[x] = x * x
    log.append(x)
    return known[x]


def test_default_values_that_are_changed():
    def f(a, n):
        return sum([remembered(a + i % 2) for i in range(n)])

    for _ in range(3):
        for held in remembered.__defaults__:
            held.clear()
        assert ad.gradient(f, 0.5, 4)[0] == 2 * 0.5 * 2 + 2 * 1.5 * 2
        assert remembered.__defaults__ == ({0.5: 0.25, 1.5: 2.25}, [0.5, 1.5, 0.5, 1.5])


class Single(type):
    """Makes one object of each class."""

    made: dict = {}

    def __call__(cls, *args, **kwargs):
        if cls not in cls.made:
            cls.made[cls] = super().__call__(*args, **kwargs)
        return cls.made[cls]


class Settings(metaclass=Single):
    def __init__(self, g=9.81):
        self.g = g


class Scaling(type):
    """Has something to say before the object is made, and after."""

    def __call__(cls, x, *, k=2.0):
        made = super().__call__(x * k)
        made.count = 1
        return made


class Scaled(metaclass=Scaling):
    def __init__(self, x):
        self.x = x

    def square(self):
        return self.x**2 * self.count


def called_by_classes_of_classes(x, n):
    total = Scaled(x, k=3.0).x * Settings().g
    for i in range(n):
        total += Scaled(x * i).square() + Settings().g * x
    return total


def test_classes_of_classes_that_are_called():
    Settings()
    for n in (3, 5):
        check_all_ways(lambda x, n=n: called_by_classes_of_classes(x, n), 1.3)
    assert list(Single.made) == [Settings]
