"""Classes: attributes, methods, inheritance, descriptors, operators and other special methods."""

from __future__ import annotations

import abc
import cmath
import collections
import contextlib
import dataclasses
import enum
import functools
import itertools
import math
import types
import typing

import numpy as np
import pytest
from helpers import gradient_at, raised, raised_in_gradient
from in_all_modes import MODES, differences

from autodiff_hook import gradient, jacfwd, jvp, linearize


class Point:
    scale = 2.0

    def __init__(self, x, y=1.0):
        self.x = x
        self.y = y

    def norm(self):
        return self.x * self.x + self.y * self.y

    def moved(self, dx):
        return Point(self.x + dx, self.y * dx)

    def move(self, dx):
        self.x += dx
        self.y = self.y * dx
        return self

    @property
    def sum(self):
        return (self.x + self.y) * self.scale

    @sum.setter
    def sum(self, value):
        self.x = value - self.y

    @classmethod
    def diagonal(cls, x):
        return cls(x, x)

    @staticmethod
    def distance(p, q):
        return (p.x - q.x) ** 2 + (p.y - q.y) ** 2

    @functools.cached_property
    def product(self):
        return self.x * self.y


@gradient_at(1.5, 0.4)
def test_methods_and_attributes(x, y):
    p = Point(x, y)
    q = p.moved(y).move(x)
    p.x = p.x * q.y
    p.extra = q.x
    return p.norm() + q.norm() * p.extra + Point.norm(q) + Point(x).y * p.x


@gradient_at(1.5, 0.4)
def test_properties(x, y):
    p = Point(x, y)
    a = p.sum
    p.sum = a * y
    p.sum += x
    return p.sum * p.x + a


@gradient_at(1.5, 0.4)
def test_static_and_class_methods(x, y):
    p = Point.diagonal(x)
    return Point.distance(p, Point(y)) * p.distance(p, p.diagonal(y)) + p.y


@gradient_at(1.5, 0.4)
def test_cached_properties(x, y):
    p = Point(x, y)
    return p.product * p.product + p.product


@gradient_at(1.5)
def test_bound_methods_are_values(x):
    p = Point(x)
    norm, move = p.norm, p.move
    move(x)
    table = {"n": p.norm, "m": Point.norm}
    return norm() + table["n"]() * table["m"](p) + sum(map(p.moved(x).x.__mul__, [x, 2.0]))


@gradient_at(1.5)
def test_class_attributes(x):
    class Config:
        factor = 3.0

    a = Config().factor * x
    Config.factor = x * x
    b = Config.factor + Config().factor
    c = Config()
    c.factor = 5.0
    c.factor *= x
    return a + b * c.factor + Config.factor


class OfAll:
    items: typing.ClassVar[list] = []
    array = np.zeros(2)


def test_what_a_class_has_is_changed_and_assigned_to_an_object():
    """The array that is read is the one that is assigned: it is no attribute of the object before."""

    def f(x):
        a, b = OfAll(), OfAll()
        a.items.append(x)
        a.array[1] = x * x
        b.array += x
        return np.sum(b.array) * OfAll.array[1]

    for x in (1.3, 0.7, 0.4):
        OfAll.array[:] = 0.0
        assert gradient(f, x)[0] == pytest.approx(4 * x**3 + 9 * x**2 + 4 * x)


class Base:
    def __init__(self, x):
        self.x = x

    def value(self):
        return self.x * self.x

    @property
    def half(self):
        return self.x / 2

    @classmethod
    def make(cls, x):
        return cls(x)


class Middle(Base):
    def __init__(self, x, k):
        super().__init__(x * k)
        self.k = k

    def value(self):
        return super().value() * self.k

    @property
    def half(self):
        return super().half + self.k


class Mixin:
    def value(self):
        return super().value() + 1.0 * self.k


class Leaf(Mixin, Middle):
    def __init__(self, x):
        super(Leaf, self).__init__(x, x)

    def value(self):
        return super(Leaf, self).value() * self.x + Base.value(self)


@gradient_at(1.3)
def test_inheritance(x):
    leaf = Leaf(x)
    return leaf.value() + leaf.half * Middle(x, 2.0).value() + Leaf.make(x).x


@gradient_at(1.3)
def test_abstract_classes_and_protocols(x):
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

        def twice(self):
            return 2 * self.area()

    class Square(Shape):
        def __init__(self, side):
            self.side = side

        def area(self):
            return self.side**2

    class Circle(Shape):
        def __init__(self, r):
            self.r = r

        def area(self):
            return math.pi * self.r**2

    return sum(s.twice() * (2 if isinstance(s, Square) else 1) for s in [Square(x), Circle(2 * x)])


class Vector:
    def __init__(self, *items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return Vector(*self.items[i]) if isinstance(i, slice) else self.items[i]

    def __setitem__(self, i, value):
        self.items[i] = value

    def __delitem__(self, i):
        del self.items[i]

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, v):
        return v in self.items

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(*(a + b for a, b in zip(self, other)))

    def __mul__(self, k):
        return Vector(*(a * k for a in self.items))

    def __rmul__(self, k):
        return self * k

    def __rsub__(self, k):
        return Vector(*(k - a for a in self))

    def __iadd__(self, other):
        self.items = [a + b for a, b in zip(self.items, other)]
        return self

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self, other))

    def __neg__(self):
        return self * -1

    def __abs__(self):
        return (self @ self) ** 0.5

    def __pow__(self, n):
        return Vector(*(a**n for a in self))

    def __truediv__(self, k):
        return self * (1 / k)

    def __float__(self):
        return float(self.items[0])

    def __call__(self, k, *, offset=0.0):
        return self.items[0] * k + offset

    def __eq__(self, other):
        return self.items == other.items

    def __hash__(self):
        return 1

    def __lt__(self, other):
        return self @ self < other @ other

    def __bool__(self):
        return self.items[0] > 0


@gradient_at(1.3, 0.4)
def test_operators(x, y):
    v, w = Vector(x, y), Vector(y, 2.0)
    u = v + w * x + 2.0 * v - -w if False else v + w * x + 2.0 * v
    u += w
    a = u @ v + abs(w) * (1.0 - v)[0] + (-u)[1] * (v / y)[0] + (v**2)[1]
    return a + v(x, offset=y) * float(w)


@gradient_at(1.3, 0.4)
def test_container_methods(x, y):
    v = Vector(x, y, x * y)
    v[0] = v[1] * v[2]
    del v[1]
    total = 0.0
    for a in v:
        total += a * a
    b, c = v
    return total * len(v) + b * c + v[:1][0] + sum(v) + max(v) + list(v)[0] * [*v][1] + (x in v)


@gradient_at(1.3, 0.4)
def test_comparison_methods(x, y):
    v, w = Vector(x), Vector(y)
    a = max(v, w)[0] * min([v, w])[0]
    if v < w or v == w:
        return x * 100
    return a * (x if v else 1.0) + sorted([v, w])[0][0]


class Left:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return NotImplemented

    def __sub__(self, other):
        return NotImplemented

    def __eq__(self, other):
        return NotImplemented


class Right:
    def __init__(self, v):
        self.v = v

    def __radd__(self, other):
        return other.v * self.v if isinstance(other, Left) else other + self.v

    def __rsub__(self, other):
        return NotImplemented

    def __rpow__(self, other):
        return other**self.v


class Special(Vector):
    def __radd__(self, other):
        return other[0] * self.items[0] * 7


@gradient_at(1.3, 0.4)
def test_reflected_operators(x, y):
    a = Left(x) + Right(y)
    b = x + Right(y)
    c = x ** Right(y)
    d = Vector(x) + Special(y)
    try:
        Left(x) - Right(y)
    except TypeError:
        d = d * 2
    return a * b + c + d + (x if Left(x) == Left(x) else y)


class Countdown:
    def __init__(self, start, x):
        self.n, self.x = start, x

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.x = self.x * 1.1
        return self.x * self.n


class Ladder:
    """Iterable by __getitem__ alone."""

    def __init__(self, x):
        self.x = x

    def __getitem__(self, i):
        if i >= 3:
            raise IndexError(i)
        return self.x**i


class Tree:
    def __init__(self, value, *children):
        self.value, self.children = value, children

    def __iter__(self):
        yield self.value
        for child in self.children:
            for v in child:
                yield v * self.value


@gradient_at(1.3)
def test_iterators(x):
    total = 0.0
    for v in Countdown(4, x):
        total += v * v
    for v in Ladder(x):
        total += v * 3
    tree = Tree(x, Tree(2.0), Tree(x * x, Tree(x)))
    a, b, *rest = Countdown(5, x)
    return total + sum(Countdown(3, x)) + sum(tree) + max(tree) + a * b + next(Countdown(2, x)) + sum(rest)


class Rewound:
    """An iterator that every ``__iter__`` sets back to its first item."""

    def __init__(self, count, x):
        self.count, self.x, self.place = count, x, 0

    def __iter__(self):
        self.place = 0
        return self

    def __next__(self):
        if self.place == self.count:
            raise StopIteration
        self.place += 1
        return self.x * self.place


@gradient_at(1.3)
def test_iterators_that_begin_again(x):
    steps = Rewound(3, x)
    it = iter(steps)
    total = next(it) * 3.0 + sum(it) + (it is steps)
    for item in it:
        total += item * x
        if item > 2.0 * x:
            break
    rest = (item * 2.0 for item in iter(it))
    return total * steps.place + next(rest) + steps.place + sum(map(float, it)) + next(it, x**3)


class Numbered:
    """Each iteration over it is another one."""

    def __init__(self, items):
        self.items, self.begun = items, 0

    def __iter__(self):
        self.begun += 1
        return iter([item * self.begun for item in self.items])


@gradient_at(1.3)
def test_iterations_begin_when_they_are_asked_for(x):
    items, others = Numbered([x, 2.0]), Numbered([x * x, x])
    doubled, positive, sums = map(lambda v: v * 2.0, items), filter(None, others), itertools.accumulate(items)
    pairs, squares = itertools.zip_longest(items, others), itertools.starmap(pow, zip(others, [2, 3]))
    kept, chained = itertools.compress(items, [1, 1]), itertools.chain(items, others)
    begun = items.begun * 10.0 + others.begun
    total = sum(chained) + sum(kept) + sum(squares) + sum(a * b for a, b in pairs)
    return total + sum(sums) + sum(positive) + sum(doubled) * begun


@gradient_at(1.3)
def test_what_is_no_iterable_is_seen_at_once(x):
    total = x
    for begin in (lambda: map(abs, x), lambda: filter(None, x), lambda: itertools.cycle(x), lambda: zip([x], x)):
        try:
            begin()
        except TypeError:
            total = total * x
    return total


@gradient_at(1.3)
def test_a_number_that_is_mapped_over(x):
    try:
        map(abs, x)
    except TypeError:
        return x * 2.0
    return x * 3.0


class Wrong:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return self.items


def test_what_iter_has_to_return():
    def asked(x):
        try:
            return sum(Wrong([x]))
        except TypeError as error:
            return x * len(str(error))

    def looped(x):
        for item in Wrong([x, x]):
            x = x * item
        return x

    assert gradient(asked, 2.0) == (len("iter() returned non-iterator of type 'list'"),)
    assert raised_in_gradient(looped, 2.0) == raised(looped, 2.0)


class Managed:
    def __init__(self, x):
        self.x = x
        self.log = []

    def __enter__(self):
        self.x = self.x * 2
        return self.x

    def __exit__(self, kind, error, traceback):
        self.log.append(self.x * 3)
        self.x = self.x + 1
        return kind is ValueError


@gradient_at(1.3)
def test_context_managers(x):
    m = Managed(x)
    with m as v:
        y = v * x
    with m, Managed(y) as w:
        y = y * w
    with Managed(x) as a, Managed(a) as b:
        y += a * b
    return y * m.x + sum(m.log)


@gradient_at(1.3)
def test_contextlib(x):
    with contextlib.nullcontext(x) as v:
        y = v * x
    with contextlib.suppress(KeyError):
        y = y * x
    return y


class Lazy:
    def __init__(self, x):
        self.__dict__["data"] = {"a": x}

    def __getattr__(self, name):
        if name.startswith("twice_"):
            return 2 * self.data[name[6:]]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self.data[name] = value * 3

    def __delattr__(self, name):
        del self.data[name]


@gradient_at(1.3)
def test_attribute_hooks(x):
    o = Lazy(x)
    o.b = x * x
    a = o.twice_a * o.twice_b
    del o.a
    return a + getattr(o, "missing", x) + getattr(o, "twice_b") * hasattr(o, "twice_b") + o.data["b"]


class Late:
    """A class that answers for what it has and cannot give."""

    __slots__ = ("kept", "x")

    def __init__(self, x):
        self.x = x

    @property
    def broken(self):
        raise AttributeError("broken")

    def __getattr__(self, name):
        found = {"kept": lambda: self.x * 2, "broken": lambda: self.x * self.x}.get(name)
        if found is None:
            raise AttributeError(name)
        object.__setattr__.__get__(self)("kept", found())
        return found()


@gradient_at(1.3)
def test_slots_that_are_filled_when_they_are_asked_for(x):
    o = Late(x)
    first = o.kept
    return first * o.kept + getattr(Late(x), "kept") * hasattr(Late(x), "kept")


@gradient_at(1.3)
def test_properties_that_leave_the_answer_to_the_fallback(x):
    return Late(x).broken + getattr(Late(x), "broken", 0.0) + getattr(Late(x), "missing", x)


@gradient_at(1.3)
def test_methods_of_builtin_classes_that_are_bound_by_hand(x):
    o, items = Point(x), [x]
    object.__setattr__.__get__(o)("y", x * x)
    list.append.__get__(items, list)(o.y)
    return o.x * sum(items) + list.__getitem__.__get__(items)(1) + float.__mul__.__get__(x)(x) * 2.0


@dataclasses.dataclass(frozen=True)
class Fixed:
    x: float

    @functools.cached_property
    def square(self):
        return self.x * self.x

    @functools.cached_property
    def fourth(self):
        return self.square * self.square


class Counted:
    def __init__(self, x):
        self.x = x
        self.assigned = 0.0

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        if name != "assigned":
            self.assigned = self.__dict__.get("assigned", 0.0) + 1.0

    @functools.cached_property
    def square(self):
        return self.x * self.x


@gradient_at(1.3)
def test_cached_properties_are_not_assigned(x):
    frozen, counting = Fixed(x), Counted(x)
    both = frozen.fourth + frozen.square + counting.square * counting.square
    return both * counting.assigned + frozen.__dict__["square"] * vars(counting)["square"]


@gradient_at(1.3)
def test_modules_that_answer_for_what_they_do_not_have(x):
    module = types.ModuleType("answering")
    module.kept = x
    module.__getattr__ = lambda name: x * 3 if name == "asked" else 0.0
    return module.kept * module.asked + getattr(module, "asked") * module.other + len(module.__name__) * x


class Getter:
    def __get__(self, instance, owner):
        return self if instance is None else instance.x * 2


class Asked:
    twice = Getter()

    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def square(self):
        return self.x * self.x

    @property
    def third(self):
        return self.x / 3


class Asking(Asked):
    twice = square = third = 1.0

    def all(self):
        return super().twice * super().square + super().square + getattr(super(), "third") * self.square

    @classmethod
    def of_class(cls, x):
        return super(Asking, cls).third.fget(cls(x)) + super().square.func(cls(x))


@gradient_at(1.3)
def test_descriptors_behind_super(x):
    return Asking(x).all() + Asking.of_class(x)


class Parts:
    def __init__(self, *parts):
        self.parts = parts

    def __iter__(self):
        return iter(self.parts)

    def __add__(self, other):
        return Parts(*[a + b for a, b in zip(self, other)])


@gradient_at(1.3)
def test_sums_that_start_with_what_can_be_iterated_over(x):
    vectors = [Parts(x, 2.0), Parts(1.0, x * x)]
    return sum(sum(vectors, Parts(x, 0.0))) + sum(sum(iter(vectors), start=Parts(0.0, 0.0)))


class Spied:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        if name == "hidden":
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        return self.x * 3 if name == "hidden" else None


@gradient_at(1.3)
def test_fallbacks_beside_readers(x):
    return Spied(x).hidden * x


class Swizzled:
    """Its fallback reads its own slots: asked before they are filled, it would call itself without end."""

    __slots__ = ("__z", "x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y
        self.__z = x * y

    def __getattr__(self, name):
        return [(self.x, self.y)["xy".index(c)] for c in name]

    def total(self):
        return self.yx[0] * self.__z


@gradient_at(1.3)
def test_fallbacks_that_read_slots(x):
    return Swizzled(x, x * x).total()


def test_private_slots_of_arguments():
    found, at = gradient(Swizzled.total, Swizzled(2.0, 3.0))[0], Swizzled(2.0, 3.0)
    assert (found.x, found.y, found._Swizzled__z) == (0.0, 6.0, 3.0)
    assert jvp(Swizzled.total, (at,), ({"_Swizzled__z": 1.0, "y": 10.0},)) == (18.0, 63.0)


class Spy:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        value = object.__getattribute__(self, name)
        return value * 2 if name == "x" else value


class Scaled:
    """A descriptor."""

    def __init__(self, k):
        self.k = k

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return self if instance is None else getattr(instance, self.name) * self.k

    def __set__(self, instance, value):
        setattr(instance, self.name, value + 1)


class Described:
    width = Scaled(2.0)
    height = Scaled(3.0)

    def __init__(self, w):
        self.width = w
        self.height = w * w


@gradient_at(1.3)
def test_descriptors(x):
    d = Described(x)
    d.width *= x
    return d.width * d.height + Spy(x).x * Described.width.k


class Doubling:
    """A descriptor that says nothing about reading: what the object itself has is read."""

    def __set__(self, instance, value):
        instance.__dict__["width"] = value * 2


class Watched:
    width = Doubling()


@gradient_at(1.3)
def test_descriptors_without_get(x):
    d = Watched()
    d.width = x * x
    first = d.width
    d.__dict__["width"] = x
    return first * d.width + (Watched().width is Watched.width) * x


def test_objects_whose_descriptors_have_no_get():
    given = Watched()
    given.width = 1.0
    assert gradient(lambda w, x: w.width * x, given, 3.0)[0].width == 3.0


@gradient_at(1.3)
def test_dynamic_attributes(x):
    p = Point(x)
    for name in ("a", "b"):
        setattr(p, name, x * len(vars(p)))
    p.__dict__["c"] = x * x
    delattr(p, "y")
    p.y = p.a
    return getattr(p, "b") * p.a + p.y + p.c + vars(p)["x"] + sum(v for v in vars(p).values())


@dataclasses.dataclass
class Pair:
    a: float
    b: float = 2.0
    items: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.c = self.a * self.b


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: float = 1.0

    def scaled(self, k):
        return dataclasses.replace(self, a=self.a * k)


@dataclasses.dataclass(slots=True, order=True)
class Slotted:
    a: float
    b: float


@gradient_at(1.3, 0.4)
def test_dataclasses(x, y):
    p = Pair(x, y)
    p.items.append(p.c)
    p.a = p.b * p.c
    f = Frozen(x).scaled(y)
    s = Slotted(x, b=y)
    s.a += s.b
    q = Pair(b=x, a=2.0)
    d = dataclasses.asdict(f)
    return p.a * p.items[0] + f.a * f.b + s.a * s.b + q.c + d["a"] + max(Slotted(x, y), Slotted(y, x)).a


class Row(typing.NamedTuple):
    a: float
    b: float = 3.0

    def product(self):
        return self.a * self.b


Old = collections.namedtuple("Old", "u v")


@gradient_at(1.3, 0.4)
def test_named_tuples(x, y):
    r = Row(x, y)
    a, b = r
    o = Old(v=x, u=y)
    s = r._replace(a=y * x)
    total = 0.0
    for v in r:
        total += v * v
    return r.product() + a * b * b + o.u * o[1] + s.a * s.b + total + Row(x).b * r[-1] + sum(o) + r._asdict()["a"]


class Compact:
    __slots__ = ("x", "ys")

    def __init__(self, x):
        self.x = x
        self.ys = [x, 2 * x]


@gradient_at(1.3)
def test_slots(x):
    c = Compact(x)
    c.x *= c.ys[1]
    c.ys[0] = c.x
    return c.x * c.ys[0]


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


@gradient_at(1.3)
def test_enum_members(x):
    table = {Colour.RED: x, Colour.BLUE: x * x}
    y = x if Colour.RED is Colour(1) else 2 * x
    return table[Colour.BLUE] * y + Colour.RED.value * x + Level.HIGH * x + Colour["RED"].value * y


@gradient_at(1.3)
def test_objects_refer_to_objects(x):
    class Node:
        def __init__(self, value, next=None):
            self.value, self.next, self.parent = value, next, None
            if next is not None:
                next.parent = self

    chain = Node(x, Node(x * x, Node(2.0)))
    total, node = 0.0, chain
    while node is not None:
        total = total * 2 + node.value
        last, node = node, node.next
    last.value = total
    twin = last.parent
    twin.next.value *= x
    return chain.next.next.value * twin.parent.value


@gradient_at(1.3)
def test_one_object_in_two_places(x):
    p = Point(x)
    places = [p, {"p": p}, Point(p)]
    places[0].x = x * x
    places[1]["p"].x *= x
    return places[2].x.x * p.x + p.y


@gradient_at(1.3)
def test_callable_objects_and_partials(x):
    class Layer:
        def __init__(self, w):
            self.w = w

        def __call__(self, v):
            return self.w * v

    layers = [Layer(x), Layer(2.0), functools.partial(Point.norm, Point(x)), Layer(x).__call__]
    y = layers[1](layers[0](x))
    return y * layers[2]() + layers[3](y) + functools.reduce(lambda v, f: f(v), layers[:2], x)


@gradient_at(1.3)
def test_classes_made_inside_functions(x):
    k = x * 2

    class Local(Base):
        def value(self):
            return self.x * k

        def again(self, t=1.0):
            return self.value() * t

    return Local(x).value() + Local(2.0).again(x)


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.x = made.x * 2
        return made


class Doubled(Base, metaclass=Meta):
    pass


class Singleton(Base):
    def __new__(cls, x):
        made = super().__new__(cls)
        made.first = x * x
        return made


@gradient_at(1.3)
def test_metaclasses_and_new(x):
    return Doubled(x).x * Singleton(x).first + Singleton(x).x


class Celsius(float):
    @property
    def kelvin(self):
        return self + 273.15

    def __abs__(self):
        return Celsius(super().__abs__() * 2.0)


@gradient_at(1.3)
def test_subclasses_of_numbers(x):
    c = Celsius(x)
    return c * c + c.kelvin * x + abs(-c) * abs(c)


class Place(complex):
    def __new__(cls, re=0.0, im=0.0, weight=1.0):
        made = super().__new__(cls, re, im)
        made.weight = weight
        return made

    def __add__(self, other):
        return Place(complex.__add__(self, other), weight=self.weight)

    __radd__ = __add__

    def __sub__(self, other):
        return Place(super().__sub__(other))

    def __mul__(self, other):
        return Place(super().__mul__(other), weight=self.weight * 2.0)

    def __pow__(self, exponent, mod=None):
        return Place(super().__pow__(exponent))

    def __neg__(self):
        return Place(super().__neg__())

    def __abs__(self):
        return super().__abs__() * self.weight

    def __complex__(self):
        return complex.__complex__(self)


@gradient_at(1.3)
def test_subclasses_of_complex_numbers(x):
    p, q = Place(x, 2.0, weight=x), Place(im=x)
    parts = [(p + q) * 2.0, 1.0 + p, p - q, p * q, p**2, -p, Place(q * x), p.conjugate()]
    exact = complex(p, x) + cmath.exp(p) + np.square(p) + complex.__rtruediv__(q, p)
    return abs(p) * abs(q) * abs(sum(parts)) + parts[0].weight * p.imag + exact.real * exact.imag


class Trebled(float):
    def __mul__(self, other):
        return Trebled(super().__mul__(other) * 3.0)

    __rmul__ = __mul__


@gradient_at(1.3)
def test_what_numpy_reads_of_numbers_with_their_own_arithmetic(x):
    t = Trebled(x)
    return np.square(t) + np.dot(t, t) * x + np.array([x, 2.0]).dot(t).sum() + t.__float__() * x


class Zone(int):
    def __new__(cls, degrees):
        return super().__new__(cls, degrees / 6.0 + 31.0)


@gradient_at(13.4)
def test_subclasses_of_whole_numbers(x):
    zone = Zone(x)
    return (x - 6.0 * zone) ** 2 + int.__new__(Zone, x) * x


class Shape:
    def __new__(cls, *sizes):
        return object.__new__(Square if cls is Shape else cls)

    def __init__(self):
        pass


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def __eq__(self, other):
        return isinstance(other, Square) and self.side == other.side


@gradient_at(1.3)
def test_new_gives_an_instance_of_a_subclass(x):
    return Shape(x).side * x


@gradient_at(1.3)
def test_not_equal_by_equal(x):
    s = Square(x)
    return s.side * x if s != None and s != Square(0.5) else x  # noqa: E711


class Shared:
    w = None
    s = 1.0

    @classmethod
    def of_class(cls):
        return cls.w.sum() * cls.s


class SharedAfter(Shared):
    def after(self):
        return super().w.sum() * super().s

    @classmethod
    def of_class(cls):
        return super().w.sum() * super().s * cls.s


@gradient_at(1.3)
def test_numpy_values_as_class_attributes(x):
    Shared.w, Shared.s = np.array([x, x * x]), np.float64(x)
    shared = SharedAfter()
    return shared.w.sum() * shared.s + shared.after() * Shared.of_class() + SharedAfter.of_class()


class Modular(float):
    def __pow__(self, exponent, mod=None):
        return Modular(super().__pow__(exponent, mod) * 2.0)

    def __rpow__(self, base, mod=None):
        return super().__rpow__(base, mod)


class Residue:
    def __init__(self, x):
        self.x = x

    def __pow__(self, exponent, mod=None):
        return Residue(self.x**exponent if mod is None else self.x**exponent % mod)

    def __rpow__(self, base):
        return Residue(base**self.x)

    def __divmod__(self, other):
        return self.x // other, Residue(self.x % other)


OF_POWERS = {
    "subclasses": lambda x: Modular(x) ** 3.0 * x ** Modular(x) + pow(Modular(x), 2),
    "float": lambda x: float.__pow__(x, 3, None) * float.__rpow__(x, 2.0, None),
    "objects": lambda x: pow(Residue(x), 3).x + pow(2.0, Residue(x)).x + pow(Residue(x), exp=x, mod=None).x,
    "modulus": lambda x: pow(Residue(x), 3, 0.7).x * pow(Residue(x), x, mod=x / 3).x + pow(Modular(x), 2, None),
    "arrays": lambda x: float(pow(np.array([x, 2.0]), np.array([2.0, x]), None).sum()),
    "divmod": lambda x: divmod(Residue(x), 0.4)[1].x * x,
}


@pytest.mark.parametrize("name", OF_POWERS)
def test_powers_by_name(name):
    f = OF_POWERS[name]
    for mode, operator in MODES.items():
        assert operator(f, 1.3) == pytest.approx(differences(f, 1.3, 2 if mode == "hvp" else 1), rel=1e-5)


def test_powers_with_a_modulus_that_no_class_knows():
    def f(x):
        try:
            return pow(np.array([x]), 2.0, 3.0)
        except TypeError:
            return x * 2.0

    assert gradient(f, 1.3) == (2.0,)


class Quantity(float):
    def __new__(cls, value, unit):
        made = super().__new__(cls, value)
        made.unit = unit
        return made


OF_QUANTITIES = {
    "chosen": lambda x: max(Quantity(x * x, "m"), Quantity(0.1, "m")) * x,
    "returned": lambda x: Quantity(x**3, x).unit * Quantity(x * x, "m"),
    "cubed": lambda x: -((-Quantity(x, "m")) ** 3),
}


@pytest.mark.parametrize("name", OF_QUANTITIES)
def test_a_number_whose_class_asks_for_more(name):
    f = OF_QUANTITIES[name]
    for mode, operator in MODES.items():
        assert operator(f, 1.3) == pytest.approx(differences(f, 1.3, 2 if mode == "hvp" else 1))
    assert jacfwd(lambda x: Quantity(f(x), "m"))(1.3) == pytest.approx(3 * 1.3**2)
    assert linearize(lambda x: Quantity(f(x), "m"), 1.3)[1](1.0) == pytest.approx(3 * 1.3**2)


class Chooses:
    def __new__(cls, v, w=1.0):
        return object.__new__(Chosen) if cls is Chooses else object.__new__(cls)

    def __init__(self, v, w=1.0):
        self.v = v


class Chosen(Chooses):
    def __init__(self, v, w=2.0):
        self.v = v * v * w


class ChoosesByNumber(Chooses):
    def __new__(cls, v, w=1.0):
        return object.__new__(ChosenByNumber if v > 1.0 else cls)


class ChosenByNumber(ChoosesByNumber):
    def __init__(self, v, w=3.0):
        super().__init__(v)
        self.v = self.v**3 * w


class BeginsElsewhere:
    def __new__(cls, *system):
        return Begun.__new__(Begun, *system) if cls is BeginsElsewhere else super().__new__(cls)


class Begun(BeginsElsewhere):
    def __init__(self, *system):
        self.v = math.prod(system)


class Complete(float):
    def __new__(cls, v):
        return float.__new__(CompleteSquare if cls is Complete else cls, v)


class CompleteSquare(Complete):
    def __init__(self, v):
        self.v = v * v


OF_DERIVED_CLASSES = {
    "chosen": lambda x: Chooses(x).v * Chooses(v=x, w=x).v,
    "derived": lambda x: Chosen(x).v + Chosen(x, w=x).v,
    "by_number": lambda x: ChoosesByNumber(x).v * ChoosesByNumber(x, w=2.0).v,
    "elsewhere": lambda x: BeginsElsewhere(x, x, 2.0).v,
    "number": lambda x: Complete(x).v * Complete(x),
}


class Figure:
    """A factory: which class is made depends on what is asked for."""

    def __new__(cls, x, **options):
        return super().__new__((Disc if options else Tile) if cls is Figure else cls)


class Tile(Figure):
    def __init__(self, x):
        self.size = x * x


class Disc(Tile):
    def __init__(self, x, factor):
        super().__init__(x)
        self.size *= factor * x


class Wide(Tile):
    def __new__(cls, x):
        made = super().__new__(Wider if x > 0 else cls, x)
        made.width = 3.0 * x
        return made


class Wider(Wide):
    def __init__(self, x):
        self.size = 5.0 * x**2


class Instead:
    def __new__(cls, x):
        return Tile(x)

    def __init__(self, x):
        raise RuntimeError("what is made is of another class")


OF_FACTORIES = {
    **OF_DERIVED_CLASSES,
    "the class": lambda x: Figure(x).size * Tile(x).size,
    "by options": lambda x: Figure(x, factor=2.0).size,
    "by values": lambda x: Wide(x).size * Wide(x).width + Wide(-x).size,
    "another class": lambda x: Instead(x).size * x,
}


@pytest.mark.parametrize("name", OF_FACTORIES)
def test_what_a_factory_makes_is_begun_by_its_own_class(name):
    f = OF_FACTORIES[name]
    for x in (1.3, 0.7, 1.3):
        for mode, operator in MODES.items():
            assert operator(f, x) == pytest.approx(differences(f, x, 2 if mode == "hvp" else 1), rel=1e-5)


class Times:
    """A descriptor with no ``__set__``: what the object itself has comes before it."""

    def __init__(self, factor):
        self.factor = factor

    def __get__(self, owner, cls=None):
        return 7.0 if owner is None else owner.size * self.factor


class Sized:
    threefold = Times(3.0)

    def __init__(self, size):
        self.size = size


class SizedTwice(Sized):
    twofold = Times(2.0)

    @property
    def sixfold(self):
        return self.threefold * 2.0


def in_a_loop(x):
    found = 0.0
    for i in range(3):
        found = found + Sized(x * i).threefold * Sized.threefold
    return found


def in_lists(x):
    sizes = [Sized(x), Sized(2.0 * x)]
    for i in range(2):
        sizes.append(Sized(x * i))
    return sum(each.threefold * each.threefold for each in sizes)


def hidden(x):
    first, second = Sized(x), Sized(x)
    first.threefold = 5.0 * x
    return first.threefold * second.threefold * getattr(second, "missing", 2.0)


GIVEN = SizedTwice(1.7)
READ_ONLY = {
    "once": lambda x: Sized(x).threefold * x,
    "of the class": lambda x: Sized.threefold * x + Sized(x).threefold,
    "loop": in_a_loop,
    "lists": in_lists,
    "hidden": hidden,
    "derived": lambda x: SizedTwice(SizedTwice(x).sixfold).twofold * x,
    "given": lambda x: GIVEN.threefold * x * x + GIVEN.sixfold * x,
}


@pytest.mark.parametrize("name", READ_ONLY)
def test_descriptors_without_set(name):
    f = READ_ONLY[name]
    for mode, operator in MODES.items():
        assert operator(f, 1.3) == pytest.approx(differences(f, 1.3, 2 if mode == "hvp" else 1), rel=1e-5, abs=1e-6)
