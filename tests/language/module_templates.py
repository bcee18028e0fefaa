"""What random modules are made of: decorators, classes and functions, with holes for what is chosen."""

from __future__ import annotations

HEAD = """\
import collections, contextlib, copy, dataclasses, functools, heapq, itertools, math, operator
from dataclasses import dataclass, field
from typing import NamedTuple

SCALE = 0.7
TABLE = {"u": 0.4, "w": 0.9}
"""

DECORATORS = {
    "counted": """\
def counted(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        inner.calls += 1
        return fn(*args, **kwargs)
    inner.calls = 0
    return inner
""",
    "scaled(0.8)": """\
def scaled(by=1.0, *, plus=0.0):
    def decorate(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            return fn(*args, **kwargs) * by + plus
        return inner
    return decorate
""",
    "Wrapped": """\
class Wrapped:
    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self.fn, self.last = fn, 0.0
    def __call__(self, *args, **kwargs):
        self.last = self.fn(*args, **kwargs)
        return math.sin(self.last)
    def __get__(self, owner, cls=None):
        return self if owner is None else functools.partial(self, owner)
""",
    "retried(2)": """\
def retried(times):
    def decorate(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            for attempt in range(times):
                try:
                    return fn(*args, **kwargs)
                except Trouble as error:
                    held = error.value
            return held * 0.5
        return inner
    return decorate
""",
    "logged": """\
def logged(fn):
    log = []
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        found = fn(*args, **kwargs)
        log.append(found)
        return log[-1] if len(log) < 50 else log.pop(0) * 0 + found
    return inner
""",
}

TROUBLE = """\
class Trouble(Exception):
    def __init__(self, value, *rest):
        super().__init__(value, *rest)
        self.value = value

class Worse(Trouble):
    @property
    def half(self):
        return self.value * 0.5
"""

BASE = """\
class Base:
    count = 0.3
    def __init__(self, a, b=0.5, *more, gain=1.0):
        self.a, self.b, self.gain = a, b, gain
        self.items = [a, *more]
        self._hidden = $n
    @property
    def both(self):
        return $n + self._hidden * 0.3
    @both.setter
    def both(self, value):
        self.b = value * 0.5
        self._hidden = $b
    def step(self, t, k=0.5, *, w=1.0):
        $state
        return $n * w + k * 0.1
    def fold(self, *ts, **named):
        total = self.a
        for t in ts:
            total = math.sin(total + t)
        for name, t in named.items():
            total += t * len(name) * 0.1
        return total
    @classmethod
    def make(cls, t):
        return cls(t, cls.count)
    @staticmethod
    def mix(t, k=0.25):
        return math.tanh(t) * k + $m
    def __add__(self, other):
        if isinstance(other, Base):
            return type(self)(self.a + other.b, self.b)
        return type(self)(math.sin(self.a + other), self.b)
    __radd__ = __add__
    def __mul__(self, t):
        return self.a * t
    def __call__(self, t):
        return $n
    def __getitem__(self, i):
        return self.items[i]
    def __setitem__(self, i, value):
        self.items[i] = value
    def __len__(self):
        return len(self.items)
    def __iter__(self):
        yield self.a
        yield from self.items
    def __lt__(self, other):
        return self.a < other.a
    def __enter__(self):
        self.a = math.sin(self.a + 0.1)
        return self
    def __exit__(self, cls, error, place):
        if isinstance(error, Trouble):
            self.b = math.tanh(error.value)
        return isinstance(error, Worse)
"""

DERIVED = """\
class Derived($mixinBase):
    def __init__(self, a, b=0.4, *more, **options):
        super().__init__($n, b, *more, **options)
        self.extra = $b
    @property
    def both(self):
        return super().both * 0.5 + self.extra
    @both.setter
    def both(self, value):
        Base.both.fset(self, value * 0.9)
        self.extra = value
    $decorated
    def step(self, t, k=0.3, **options):
        before = self.a
        found = super().step($n, k, **options)
        return found + before * self.extra * 0.1
    def fold(self, *ts, **named):
        return super().fold(*ts[::-1], **named) * self.extra
    def twice(self, t):
        return self.step(t) + self.step(t * 0.5, w=self.extra)
    half = functools.partialmethod(step, k=0.15)
    @functools.cached_property
    def kept(self):
        return self.a * self.extra + 0.2
"""

MIXIN = """\
class Mixin:
    rate = 0.45
    def fold(self, *ts, **named):
        return math.sin(super().fold(*ts, **named)) * self.rate
    def __getattr__(self, name):
        if name.startswith("far_"):
            return self.a * len(name) * 0.05
        raise AttributeError(name)
"""

DATA = """\
@dataclass$options
class Point:
    p: float
    q: float = 0.5
    rest: tuple = ()
    def length(self):
        return math.sqrt(self.p ** 2 + self.q ** 2 + 0.1)
    def moved(self, t):
        return dataclasses.replace(self, p=self.p + t * 0.3)

@dataclass
class Track(Base):
    p: float
    ws: list = field(default_factory=list)
    name: str = "track"
    total: float = field(init=False, default=0.0)
    def __post_init__(self):
        super().__init__(self.p, SCALE)
        self.total = $n
    def push(self, t):
        self.ws.append(t)
        self.total = math.sin(self.total + t)
        return self

class Pair(NamedTuple):
    u: float
    v: float = 0.5
    def both(self):
        return self.u * self.v
"""

GENERATORS = """\
def walk(t, n=3):
    for i in range(n):
        t = $b
        yield t * (i + 1) * 0.5

def echo(t):
    total = t
    while True:
        got = yield total
        if got is None:
            return total * 0.5
        total = math.sin(total + got)

def outer(t, n=2):
    found = yield from inner_part(t, n)
    yield found * 0.5

def inner_part(t, n):
    try:
        for i in range(n):
            yield t * 0.3 + i * 0.1
        return $b
    finally:
        CLOSED.append(n)

CLOSED = []

def pairs(items):
    previous = None
    for item in items:
        if previous is not None:
            yield previous, item
        previous = item

@contextlib.contextmanager
def shifted(o, t):
    before, o.a = o.a, o.a + t * 0.5
    try:
        yield before
    except Trouble as error:
        o.b = math.sin(error.value)
    finally:
        o.a = before
"""

FUNCTIONS = """\
$decorated
def work(t, k=0.4, *rest, w=0.6, **named):
    $change
    return $n * w + sum(rest) * 0.1 + sum(named.values()) * 0.2

$decorated
def risky(t, limit=0.2):
    if t > limit:
        raise Trouble($m, "too much")
    if t < -limit:
        raise Worse(t * 0.4)
    return $b

def recursive(t, n):
    return t if n == 0 else math.tanh(t * 0.9) + recursive($m, n - 1) * 0.5

@functools.singledispatch
def kind(value):
    return 0.1

@kind.register
def _(value: float):
    return value * 0.3

@kind.register
def _(value: list):
    return sum(value) * 0.2

@kind.register
def _(value: Base):
    return value.a * value.b

@functools.lru_cache(None)
def constant(n):
    return math.sqrt(n + 1.0)
"""

START = """\
    total = 0.1
    Base.count = 0.3
    ys = [y, 0.5, x]
    o, q = Base(x, y, xs[1]), Derived(y, x, gain=0.8)
    dq = collections.deque([x, y, 0.3], maxlen=5)
    groups = collections.defaultdict(list, a=[x])
    nested = {"l": [[x, y], [0.3, xs[0]]], "o": o, "t": (y, x)}
    nonlocal_box = [0.2]
    def counting(by=0.1):
        nonlocal total
        total = math.sin(total + by)
        return total
    def statistics_of(items):
        items = list(items)
        mean = sum(items) / len(items)
        return sum((v - mean) ** 2 for v in items) / len(items)
    def sent(t, k):
        gen = echo(t)
        next(gen)
        first = gen.send(k)
        try:
            gen.send(None)
        except StopIteration as stop:
            return first + stop.value
    def caught(t, limit=0.2):
        try:
            return risky(t, limit)
        except Worse as e:
            return e.half
        except Trouble as e:
            return e.value * 0.4
    def g(t, k=x):
        return math.sin(t * k)
    def h(t):
        return t * y + 0.2
    fs = [g, h]
"""

END = """\
    held = [v for v in (o, q) for v in (v.a, v.b, v.both, *v.items)]
    return (
        x + y + total + sum(map(math.sin, xs)) + sum(ys) * 0.3 + sum(d.values()) * 0.2 + sum(held) * 0.1
        + pt.length() + g(0.3) + h(0.4) + sum(dq) * 0.1 + nonlocal_box[0] + sum(groups["a"]) * 0.1$more
    )

def given():
    return 0.61, -0.37, [0.53, -0.83, 0.29], {"p": 0.41, "q": -0.72}, Point(0.45, -0.2, (0.3,))
"""
