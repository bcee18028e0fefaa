"""Scalar programs over the language, each with a point and a direction."""

import contextlib
import dataclasses
import functools
import itertools
import math
import operator
from collections import defaultdict, namedtuple

PROGRAMS = {}


def program(*point):
    def register(function):
        PROGRAMS[function.__name__] = (function, point)
        return function

    return register


@program(1.3, 0.7)
def arithmetic(x, y):
    return (x * y - x / y + x**3 - y**x) % 7.0 + (-x) * abs(y) - +x // 2.0


@program(1.2, 0.6)
def elementary(x, y):
    return math.sin(x) * math.exp(-y) + math.log(x + y) * math.atan2(x, y) + math.hypot(x, y)


@program(1.1)
def loop_with_break(x):
    total = 0.0
    for i in range(10):
        if i == 4:
            break
        if i == 1:
            continue
        total += x**i
    else:
        total = -1.0
    return total * x


@program(3.0)
def while_loop(x):
    guess = x
    while abs(guess * guess - x) > 1e-9:
        guess = 0.5 * (guess + x / guess)
    return guess


@program(0.7)
def branches(x):
    if x > 1 or x < -1:
        return x * x
    y = x * 2 if x > 0 else -x
    return y * (x and 3.0) * x


@program(1.2, 0.7)
def lists(x, y):
    xs = [x, y, 3 * x]
    xs.append(x * y)
    xs.insert(1, y * y)
    xs[0] *= 2
    xs[1:3] = [x, x * x, y]
    xs += (y, x)
    xs.extend([x] * 2)
    xs.sort(reverse=True)
    del xs[0]
    xs.reverse()
    last = xs.pop()
    return sum(xs) * last * xs[-2] + sum(a * b for a, b in zip(xs[::2], xs[1:]))


@program(1.2, 0.7)
def list_repetition_and_search(x, y):
    xs = [x, y] * 2 + [y * x]
    xs.remove(y)
    ys = xs.copy()
    xs.clear()
    return sum(v * (i + 1) for i, v in enumerate(ys)) * ys[ys.index(y)]


@program(1.2, 0.7)
def tuples(x, y):
    p = (x, (y, x * y))
    a, (b, c) = p
    first, *rest = (a, b, c) + p[:1] * 2
    return first * rest[-1] + rest[0] * p[1][1]


@program(1.2, 0.7)
def dicts(x, y):
    d = {"a": x, **{"b": y}}
    d["c"] = d.pop("a") * d["b"]
    d.setdefault("e", y * y)
    d.update(f=x, g=3.0)
    d.update({"g": x * x})
    e = dict(d, h=y)
    del e["f"]
    return sum(e.values()) * e.get("c", 0.0) * sum(v for k, v in e.items() if k != "b") + e.get("z", x)


@program(1.2, 0.7)
def comprehensions(x, y):
    squares = {i: v * v for i, v in enumerate([x, y])}
    rows = [[x * i + y * j for j in range(3)] for i in range(2)]
    return sum(sum(row) * row[1] for row in rows) * squares[1] + max([v * y for v in {x, y}])


@program(1.2)
def default_dict(x):
    groups = defaultdict(list)
    for i in range(4):
        groups[i % 2].append(x**i)
    return sum(groups[0]) * sum(groups[1])


@program(1.3)
def closures(x):
    scale = x

    def scaled(v, power=2):
        return scale * v**power

    def make(k):
        return lambda v: scaled(v) * k * x

    scale = x * 2
    return make(3.0)(x) + scaled(x, power=3)


@program(1.3)
def nonlocal_state(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * x
        return total

    return sum(add(i) * x for i in range(4)) + total


STATE = {"seen": 0.0}
COUNT = 0.0


@program(1.3)
def global_state(x):
    global COUNT
    STATE["seen"] = x * x
    COUNT = x + 1
    result = STATE["seen"] * COUNT * x
    STATE["seen"], COUNT = 0.0, 0.0
    return result


def keywords(a, /, b, *rest, c=2.0, **options):
    return a * b + sum(rest) * c + options.get("d", 1.0) * options.get("e", 0.0)


@program(1.3, 0.4)
def arguments(x, y):
    extra = {"d": x, "e": y}
    args = [x, y]
    return keywords(x, y) + keywords(*args, x, y, c=x, **extra) * keywords(x, b=y, e=3.0)


@program(1.3, 0.4)
def partials(x, y):
    bound = functools.partial(keywords, x, c=y)
    return bound(y, x, d=2.0, e=x) * bound(2.0)


class Vector:
    scale = 2.0
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k) if isinstance(k, (int, float)) else NotImplemented

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __call__(self, t):
        return self.x + t * self.y

    @property
    def length(self):
        return math.sqrt(self.x**2 + self.y**2)

    @staticmethod
    def of(x):
        return Vector(x, x)

    @classmethod
    def scaled(cls, x, y):
        return cls(x * cls.scale, y)


@program(1.3, 0.4)
def objects(x, y):
    v = Vector(x, y) + 2 * Vector.of(x)
    v.x += y
    w = -(v * x)
    w.y = Vector.scaled(w.x, y)(x)
    return v.length * w[0] + w(y) * getattr(v, "x") + v(1.0)


class Base:
    def __init__(self, w):
        self.w = w

    def value(self, x):
        return self.w * x


class Derived(Base):
    def __init__(self, w):
        super().__init__(w * 2)
        self.history = []

    def value(self, x):
        self.history.append(x)
        return super().value(x) * sum(self.history)

    @functools.cached_property
    def cube(self):
        return self.w**3

    @property
    def weight(self):
        return self.w

    @weight.setter
    def weight(self, w):
        self.w = w * 3


@program(1.3)
def inheritance(x):
    d = Derived(x)
    total = d.value(x) + d.value(2.0) * d.cube
    d.weight = x * x
    return total * d.weight + d.cube


@dataclasses.dataclass
class Params:
    a: float
    b: float = 2.0


@program(1.3)
def data_classes(x):
    p = Params(x, b=x * x)
    p.a *= p.b
    return p.a * p.b + dataclasses.replace(p, b=3.0).b


Point = namedtuple("Point", "x y")


@program(1.3, 0.5)
def named_tuples(x, y):
    p = Point(x, y=y * x)
    return p.x * p.y + p[1] * sum(p)


def powers(x, n):
    for i in range(n):
        yield x**i
        x = x + 0.5


@program(1.1)
def generators(x):
    total = sum(g * i for i, g in enumerate(powers(x, 4)))
    first, *rest = powers(x, 3)
    steps = powers(x, 5)
    next(steps)
    return total + first * rest[1] + next(steps) * next(steps) + next(powers(x, 0), x)


@program(1.1)
def iteration_tools(x):
    xs = [x, 2 * x, x * x]
    mapped = map(lambda a, b: a * b, xs, reversed(xs))
    kept = filter(lambda v: v > 1.5, xs)
    return sum(mapped) * sum(kept) + sum(p * q for p, q in zip(xs, powers(x, 3), strict=True))


@program(1.1)
def reductions(x):
    xs = [x, 2 * x, x * x]
    product = functools.reduce(operator.mul, xs)
    return product + functools.reduce(lambda a, b: a * x + b, xs, 1.0) + max(xs) * min(xs) + math.fsum(xs)


@program(1.1, 2.5)
def ordering(x, y):
    xs = sorted([x, y, x * y, 1.0], key=lambda v: -v)
    best = max([(x, 1), (y, 2)], key=lambda pair: pair[0])
    return xs[0] * xs[1] + xs[3] + best[0] * best[1]


@program(1.1)
def recursion(x):
    def power(v, n):
        return 1.0 if n == 0 else v * power(v, n - 1)

    return power(x, 5)


@program(1.1)
def try_without_raise(x):
    try:
        y = x * x
    except ValueError:
        y = 0.0
    else:
        y *= 2
    finally:
        z = y * x
    return z


@program(0.8)
def try_with_raise(x):
    try:
        y = math.sqrt(x - 1.0)
    except ValueError:
        y = x * x
    return y * {"k": x}["k"]


class Scope:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self.x * 2

    def __exit__(self, *exc):
        self.x = 0.0


@program(1.1)
def context_managers(x):
    with Scope(x) as y, contextlib.nullcontext():
        z = y * x
    return z * z


@program(1.1)
def callables(x):
    table = {"sin": math.sin, "square": lambda v: v * v, "vector": Vector(x, x)}
    return sum(f(x) for f in table.values()) * [Vector(x, x).__call__][0](2.0)


@functools.lru_cache
def cached(x):
    return x**3


@program(1.1)
def decorated(x):
    return cached(x) * x


@program(1.4)
def formatting(x):
    label = f"{x:.2f} {x!r} %.1f" % x
    return x * x if len(label) > 3 and label in {label: x} else x


@program(1.4)
def matching(x):
    match [x, x * x]:
        case [a, b] if b > 1:
            return a * b
        case _:
            return 0.0


class Stack:
    def __init__(self):
        self.items = []

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def __setitem__(self, i, v):
        self.items[i] = v

    def __contains__(self, v):
        return v in self.items


@program(1.4)
def containers_in_classes(x):
    s = Stack()
    s.items.extend([x, x * x])
    s[0] = x**3
    return sum(v * v for v in s) * len(s) + (x if x in s else 0.0)


@program(0.3, 0.2, 1.7)
def newton(a, b, x):
    for _ in itertools.repeat(None, 4):
        x = x - (x**3 - a * x - b) / (3 * x * x - a)
    return x


@program([1.0, 2.0, 0.5], {"w": (0.4, 0.3), "b": 0.2})
def containers_as_arguments(xs, params):
    h = [math.tanh(params["w"][0] * v + params["b"]) for v in xs]
    return sum(h) * params["w"][1] * xs[-1]


@program(0.4 + 0.3j, 1.2)
def complex_numbers(z, x):
    w = z * z + x * z.conjugate() + 1j * x
    return abs(w) + (w / z).real + w.imag * z.real


@program(3, 1.5)
def whole_numbers(n, x):
    return x**n * n + n // 2
