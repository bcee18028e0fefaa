"""Containers and helpers of the standard library that hold what is differentiated: deques, heaps, keys, views."""

import array
import asyncio
import bisect
import collections
import contextlib
import copy
import enum
import fractions
import functools
import heapq
import inspect
import itertools
import math
import operator
import statistics
import types

import numpy as np
import pytest
from class_bodies import class_body_library
from in_all_modes import MODES, differences

from autodiff_hook import NotDifferentiable, gradient, jvp, stop_gradient

LOG = []
"""What a program has seen of its containers."""


def deque_ends(x):
    d = collections.deque([x, 2.0])
    d.append(x * x)
    d.appendleft(x * 3)
    LOG.append(len(d))
    return d.pop() * d.popleft() + d[0] * d[-1]


def deque_extend(x):
    d = collections.deque()
    d.extend([x, x * x])
    d.extendleft([x * 4, 5.0, x * 6])
    d += (x * 7,)
    return sum(v * (i + 1) for i, v in enumerate(d))


def deque_rotate(x):
    d = collections.deque([x, x * x, x * 3, 4.0])
    d.rotate()
    a = d[0] + d[1] * d[3]
    d.rotate(-3)
    return a * d[0] + d[1]


def deque_maxlen(x):
    d = collections.deque(maxlen=3)
    for i in range(5):
        d.append(x * (i + 1))
    LOG.append((len(d), d.maxlen))
    d.appendleft(x**3)
    return d[0] * d[1] + d[2]


def deque_maxlen_extend(x):
    d = collections.deque([x, x * x, x * 3], 2)
    d.extend([x * 7])
    a = d[0] * d[1]
    d.extendleft([x**3])
    return a + d[0] * d[1]


def deque_items(x):
    d = collections.deque([x, 2.0, 3.0])
    d[1] = x * x
    d[-1] = d[0] * d[1]
    del d[0]
    return d[0] * d[1]


def deque_middle(x):
    d = collections.deque([x, x * x])
    d.insert(1, x * 3)
    d.reverse()
    LOG.append(d.index(x * 3))
    LOG.append(x * x in d)
    d.remove(x * x)
    LOG.append(d.count(x))
    return d[0] * d[1]


def deque_iterated(x):
    d = collections.deque([x, x * x, x * 3])
    total = 0.0
    for i, v in enumerate(d):
        total += v * i
    a, b, c = d
    return total + a * b * c + sum(d) + max(d) * min(d) + list(d)[1] * tuple(d)[2] + sum(v * v for v in reversed(d))


def deque_in_arrays(x):
    d = collections.deque([x, x * x])
    return np.sum(np.array(d) * 2.0) + functools.reduce(lambda a, b: a * b, d) + sum(itertools.islice(d, 1, None))


def deque_of_itself(x):
    d = collections.deque([x])
    d.extend(d)
    d *= 2
    d.insert(1, x * x)
    d.remove(x)
    return sum(v * (i + 1) for i, v in enumerate(d))


def deque_copies(x):
    d = collections.deque([x, x * x], 5)
    e = d.copy()
    e.append(x * 3)
    f = copy.copy(e)
    f[0] = x**3
    g = d + e
    h = e * 2
    LOG.append((e.maxlen, f.maxlen, len(g), len(h), d == e, bool(d)))
    return sum(e) * sum(f) + g[-1] * h[-2]


def deque_deepcopy(x):
    d = collections.deque([[x], [x * x]])
    e = copy.deepcopy(d)
    e[0][0] = 3.0
    return d[0][0] * e[1][0]


def deque_clear(x):
    d = collections.deque([x, x * x])
    a = d.pop()
    d.clear()
    d.append(x)
    LOG.append(len(d))
    return d[0] * a


def deque_subclass(x):
    class D(collections.deque):
        def push(self, v):
            self.append(v * 2)

        def pop(self):
            return super().pop() * x

    d = D([x])
    d.push(x * x)
    return d.pop() + d[0]


def deque_errors(x):
    d = collections.deque([x])
    a = d.pop()
    try:
        d.pop()
    except IndexError as e:
        LOG.append(str(e))
    try:
        d.popleft()
    except IndexError as e:
        LOG.append(str(e))
    return a * x


def deque_queue(x):
    todo = collections.deque([(x, 0)])
    total = 0.0
    while todo:
        v, depth = todo.popleft()
        total += v
        if depth < 3:
            todo.append((v * x, depth + 1))
            todo.append((v + 1.0, depth + 1))
    return total


def deque_moving_average(x):
    window = collections.deque(maxlen=3)
    total = 0.0
    for i in range(6):
        window.append(x * i + x * x)
        total += sum(window) / len(window)
    return total


def deque_consumed(x):
    d = collections.deque(v * x for v in (1.0, x, 3.0))
    collections.deque(map(LOG.append, ("a", "b")), maxlen=0)
    return d[1] * d[2]


def heap(x):
    h = []
    for v in (x * 3, x, x * 2, 1.0):
        heapq.heappush(h, v)
    LOG.append(len(h))
    return heapq.heappop(h) + heapq.heappop(h) * 2 + heapq.heappop(h) * 3 * x


def heap_heapify(x):
    h = [x * 3, x * x, x * 2, 7.0]
    heapq.heapify(h)
    a = heapq.heapreplace(h, x * 9)
    b = heapq.heappushpop(h, x * 5)
    return a * b + h[0] + sum(v * i for i, v in enumerate(h))


def heap_largest(x):
    items = [x * 3, x, x * 2, x * x]
    return heapq.nlargest(2, items)[1] + heapq.nsmallest(2, items)[1] * 5 + heapq.nlargest(1, items)[0] * x


def heap_largest_key(x):
    items = [x * 3, x, x * 2]
    return heapq.nlargest(2, items, key=lambda v: -v)[1] + heapq.nsmallest(2, items, key=lambda v: -v * x)[0] * 5


def heap_merge(x):
    return sum(v * i for i, v in enumerate(heapq.merge([x, x * 3], [x * 2, x * 4], [x * 2.5])))


def heap_merge_key(x):
    return sum(v * i for i, v in enumerate(heapq.merge([x * 3, x], [x * 4, x * 2], key=lambda v: -v)))


def heap_pairs(x):
    h = [(2, x), (1, x * x)]
    heapq.heapify(h)
    heapq.heappush(h, (0, x * 3))
    return heapq.heappop(h)[1] * heapq.heappop(h)[1] + h[0][1]


def heap_objects(x):
    class Job:
        def __init__(self, cost):
            self.cost = cost

        def __lt__(self, other):
            LOG.append("lt")
            return self.cost < other.cost

    h = []
    for k in (3.0, 1.0, 2.0):
        heapq.heappush(h, Job(x * k))
    return heapq.heappop(h).cost * 2 + heapq.heappop(h).cost * x


def dijkstra(x):
    graph = {"a": {"b": x, "c": 4 * x}, "b": {"c": x * x, "d": 7.0}, "c": {"d": x}, "d": {}}
    best, todo = {"a": 0.0}, [(0.0, "a")]
    while todo:
        cost, node = heapq.heappop(todo)
        if cost > best[node]:
            continue
        for other, length in graph[node].items():
            if other not in best or cost + length < best[other]:
                best[other] = cost + length
                heapq.heappush(todo, (best[other], other))
    return best["d"] * x


def insort(x):
    items = [x, x * 3]
    bisect.insort(items, x * 2)
    bisect.insort_left(items, x * 2.5)
    bisect.insort_right(items, 0.5)
    LOG.append(len(items))
    return sum(v * i for i, v in enumerate(items))


def insort_key(x):
    items = [x * 3, x]
    bisect.insort(items, x * 2, key=lambda v: -v)
    return sum(v * i for i, v in enumerate(items))


def bisected(x):
    items = [x, 2 * x, 3 * x]
    LOG.append(bisect.bisect(items, 2.5 * x))
    return items[bisect.bisect_left(items, 1.5 * x)] * x


def typed_array(x):
    a = array.array("d", [x, x * x])
    a.append(x * 3)
    return a[0] * a[1] + a[2]


def typed_array_stored(x):
    a = array.array("d", [0.0, 1.0])
    a[0] = x * x
    return a[0] * x


def typed_array_iterated(x):
    a = array.array("d", (x, x * x))
    a.extend([x * 3])
    return sum(v * v for v in a) + max(a)


def typed_array_single(x):
    a = array.array("d", [x])
    a.insert(0, x * x)
    return a.pop() * a.pop()


def typed_array_numpy(x):
    a = array.array("d", [x, x * x])
    return np.sum(np.asarray(a) * 2)


def typed_array_constant(x):
    a = array.array("d", [1.0, 2.0])
    a.append(3.0)
    return a[0] * x + a[2] * x


def keys_listed(x):
    d = {x: 1.0, x * x: 2.0}
    return sum(list(d)) + list(d.keys())[1] * x


def keys_iterated(x):
    d = {}
    d[x * 2] = 1.0
    d[x * x] = x
    total = 0.0
    for k in d:
        total += k * k
    for k, v in d.items():
        total += k * v
    for k in d.keys():
        total += k * x
    return total


def keys_extreme(x):
    d = {x: 3.0, x * x: 2.0, 0.5: 1.0}
    return max(d) * x + min(d, key=lambda k: d[k]) + sum(d) + sorted(d)[2] + max(d.keys()) + max(d.items())[0]


def keys_changed(x):
    d = {x: 1.0}
    d[x * x] = 2.0
    d.setdefault(x * 3, 3.0)
    d.update({x * 4: 4.0})
    d.update([(x * 5, 5.0)])
    d |= {x * 6: 6.0}
    LOG.append(x * 3 in d)
    del d[x * 4]
    d.pop(x * 5)
    return sum(k * v for k, v in d.items())


def keys_made(x):
    a = dict([(x, 1.0), (x * x, 2.0)])
    b = dict.fromkeys([x * 3, x * 4], 5.0)
    c = {v * x: v for v in (1.0, 2.0)}
    d = {**a, **b}
    e = dict(zip([x * 7, x * 8], (1.0, x)))
    f = d.copy()
    g = a | b
    return sum(a) + sum(b) * x + sum(k * v for k, v in c.items()) + sum(d) ** 2 + sum(e) + sum(f) * x + sum(g)


def keys_popped(x):
    d = {x: 1.0, x * x: x}
    k, v = d.popitem()
    return k * v + next(iter(d)) + list(reversed({x * 2: 1, x * 3: 2}))[0]


def keys_first_stays(x):
    d = {x: 1.0}
    d[1.3 if x == 1.3 else x] = 2.0
    (k,) = d
    return k * d[k] * x


def keys_tuples(x):
    d = {(x, 1): 2.0, (x * x, 2): 3.0}
    return sum(k[0] * v for k, v in d.items()) + max(d)[0]


def keys_objects(x):
    class Point:
        def __init__(self, v):
            self.v = v

    d = {Point(x * x): x}
    return sum(k.v * v for k, v in d.items())


def keys_unpacked(x):
    a, b = {x: 1, x * x: 2}
    (c, *rest) = {x * 3: 1, x * 4: 2}
    e, f = [*{x: 0}, *{x * x: 0}]
    return a * b + c * rest[0] + e * f


def keys_counted(x):
    c = collections.Counter([x, x, x * x])
    most = c.most_common(1)[0]
    LOG.append(most[1])
    return most[0] * x + sum(k * n for k, n in c.items())


def keys_ordered(x):
    d = collections.OrderedDict()
    d[x] = 1.0
    d[x * x] = 2.0
    d.move_to_end(x)
    return list(d)[0] * 3 + d.popitem(last=False)[0] * x + sum(d)


def keys_default(x):
    d = collections.defaultdict(list)
    d[x].append(x * 2)
    d[x * x].append(x)
    return sum(k * sum(v) for k, v in d.items())


def keys_grouped(x):
    groups = {}
    for v in (x, x * x, x):
        groups.setdefault(v, []).append(v * 2)
    return sum(k * sum(v) for k, v in groups.items())


def keys_in_comprehension(x):
    d = {x: 1.0, x * x: 2.0}
    inverse = {v: k for k, v in d.items()}
    return inverse[1.0] * inverse[2.0] + {k * 2: v for k, v in d.items() if k > 0}.popitem()[0]


def keys_copied(x):
    d = {x: [1.0], x * x: [x]}
    e = copy.copy(d)
    f = copy.deepcopy(d)
    return sum(k * v[0] for k, v in e.items()) + sum(k * v[0] for k, v in f.items()) * x


def keys_mapped(x):
    d = {x: 1.0, x * x: 2.0}
    return sum(map(lambda k: k * k, d)) + functools.reduce(lambda a, b: a * b, d) + [k for _, k in enumerate(d)][1]


def keys_in_generator(x):
    def g():
        d = {x: 1.0, x * x: 2.0}
        yield from d
        for k in d:
            yield k * 2

    return sum(v * v for v in g())


def keys_algebra(x):
    d, e = {x: 1, x * x: 2}, {x: 3, x * 5: 4}
    return sum(d.keys() & e.keys()) + sum(d.keys() | e.keys()) * x + sum(d.keys() - e.keys())


def keys_of_chained_maps(x):
    c = collections.ChainMap({x: 1.0}, {x * x: x})
    a, b = collections.Counter([x, x * x]), collections.Counter([x])
    return sum(c) * sum(c.values()) + sum(k * v for k, v in c.items()) + sum((a + b).elements()) + sum(a - b)


def keys_arrays(x):
    d = {x: 1.0, x * x: 2.0}
    return np.sum(np.array(list(d)) * np.array(list(d.values())))


def set_items(x):
    s = {x, x * x}
    s.add(x * 3)
    LOG.append(x in s)
    return sum(s) + max(s) * x + sorted(s)[1] + sum(v * v for v in s)


def set_changed(x):
    s = {x, x * x, x * 3}
    s.discard(x)
    s.update([x * 5, x * 6])
    s |= {x * 7}
    t = s - {x * 5}
    u = s ^ {x * 8}
    v = frozenset(s)
    return sum(s) + sum(t) * x + sum(u) * 2 + sum(v) + min(t) + len(t) * x


def set_popped(x):
    s = {x}
    t = set()
    t.add(s.pop())
    t |= {v * x for v in (2.0, 3.0)}
    return sum(t) * x


def set_operators(x):
    s, t = {x, x * 2}, {x * 2, x * 3}
    u = set(s)
    u &= t
    w = set(s)
    w -= t
    y = set(s)
    y ^= t
    return sum(s & t) + sum(s.union(t, [x * 9])) * x + sum(u) + sum(w) * 3 + sum(y) + sum(s.copy())


def set_tuples(x):
    s = {(x, 1), (x * x, 2)}
    s.add((x * 3, 3))
    return sum(a * b for a, b in s) + max(s)[0]


def set_unpacked(x):
    (a,) = {x * x}
    b, c = sorted({x, x * 3})
    return a * b * c


def set_copied(x):
    s = copy.copy({x, x * x})
    t = copy.deepcopy({x * 3})
    return sum(s) * sum(t) + sum([*s]) + next(iter(t))


def proxy(x):
    d = {"a": x, "b": 2.0}
    p = types.MappingProxyType(d)
    d["b"] = x * x
    LOG.append(("a" in p, len(p), sorted(p)))
    return p["a"] * p["b"] + sum(p.values()) + p.get("a") * x + p.get("q", x * 7) + sum(v for _, v in p.items())


def proxy_taken(x):
    p = types.MappingProxyType({"a": x, "b": x * x})
    d = dict(p)
    e = {**p}
    f = p.copy()
    g = p | {"c": x * 3}

    def h(a, b):
        return a * b

    return d["a"] * e["b"] + f["a"] + g["c"] * g["b"] + h(**p) + sum(p[k] for k in p)


def proxy_keys(x):
    p = types.MappingProxyType({x: 1.0, x * x: x})
    return sum(p) + sum(k * v for k, v in p.items()) + max(p.keys())


def proxy_of_class(x):
    class C:
        pass

    C.a = x * x
    return C.__dict__["a"] * x + vars(C)["a"]


def namespace(x):
    n = types.SimpleNamespace(a=x, b=x * x)
    n.c = n.a * n.b
    del n.a
    m = types.SimpleNamespace(**vars(n))
    m.c = m.c * x
    LOG.append(sorted(vars(n)))
    return n.c * m.b + m.c + getattr(n, "b")


def namespace_copied(x):
    n = types.SimpleNamespace(a=x, b=[x * x])
    m = copy.copy(n)
    m.a = m.a * x
    o = copy.deepcopy(n)
    o.b[0] = o.b[0] * x
    n.__dict__["d"] = x * 5
    n.__dict__.update(e=x * 6)
    return n.a * m.a + o.b[0] * n.b[0] + n.d * n.e


def namespace_nested(x):
    n = types.SimpleNamespace(inner=types.SimpleNamespace(v=x), items=[x])
    n.inner.v *= x
    n.items.append(n.inner.v)
    return sum(n.items) * n.inner.v


def exit_stack(x):
    done = []

    @contextlib.contextmanager
    def scaled(v):
        yield v * x
        done.append(v * v)

    with contextlib.ExitStack() as stack:
        a = stack.enter_context(scaled(x))
        b = stack.enter_context(scaled(a))
        stack.callback(done.append, x * 7)
        stack.push(lambda *error: done.append(x * 9))
        c = a * b
    LOG.append(len(done))
    return c + sum(v * i for i, v in enumerate(done))


def exit_stack_error(x):
    done = []

    class Manager:
        def __enter__(self):
            return x * 2

        def __exit__(self, kind, error, trace):
            done.append(error.args[0] * x)
            return True

    with contextlib.ExitStack() as stack:
        a = stack.enter_context(Manager())
        raise ValueError(a * x)
    return done[0] * a


def exit_stack_popped(x):
    done = []
    with contextlib.ExitStack() as stack:
        stack.callback(done.append, x * x)
        kept = stack.pop_all()
    LOG.append(len(done))
    kept.close()
    return done[0] * x


def null_context(x):
    with contextlib.nullcontext(x * x) as a, contextlib.suppress(KeyError):
        a = a * x
        raise KeyError
    return a


def tee(x):
    a, b = itertools.tee(v * x for v in (1.0, x, 3.0))
    first = next(a)
    return first * sum(b) + sum(v * i for i, v in enumerate(a))


def tee_three(x):
    a, b, c = itertools.tee([x, x * x], 3)
    return sum(p * q for p, q in zip(a, b)) * list(c)[1]


def tee_copied(x):
    a, b = itertools.tee([x, x * x, x * 3])
    next(a)
    c = copy.copy(a)
    return sum(a) * sum(c) + sum(b)


def error_args(x):
    e = ValueError(x * x)
    return ValueError(x * x).args[0] * e.args[0] + KeyError(1.0, x).args[1]


def error_args_stored(x):
    e = RuntimeError("m")
    e.args = (x, x * x)
    a, b = e.args
    return a * b + Exception(*[x, x * 3]).args[1]


class Invalid(ValueError):
    def __init__(self, value, message="bad"):
        super().__init__(message, value)
        self.value = value


def error_subclass(x):
    e = Invalid(x * x)
    f = Invalid(value=x)
    return e.args[1] * e.value * f.args[1] + Invalid(x, message="q").value


def class_body(x):
    class C:
        a = x * x
        b = a * x

        def m(self):
            return self.a * self.b

    return C().m() + C.a + C.b


def class_body_loop(x):
    class C:
        total = 0.0
        items = []
        for i in range(3):
            total += x * i
            items.append(total)
        table = {"k": x * x}

    return C.total * C.items[1] + C.table["k"] + C.items[-1]


def class_body_inherited(x):
    class Base:
        a = x

        @classmethod
        def make(cls, v):
            made = cls()
            made.v = v * cls.a
            return made

        @staticmethod
        def twice(v):
            return v * 2 * x

        @property
        def double(self):
            return self.v * self.a

    class C(Base):
        b = Base.a * x
        c = Base.twice(x)

    made = C.make(x)
    return made.double + C.b * C.c + made.twice(C.a)


def class_body_default(x):
    class C:
        def m(self, a=x * x):
            return a * x

        f = functools.partial(lambda a, b: a * b, x)

    return C().m() + C.f(x)


def class_body_global(x):
    y = x * x

    class C:
        y = y * 2.0 if False else 3.0
        z = [x, y]

    return C.y * C.z[0] * C.z[1] * y


def class_body_captured(x):
    class C:
        scale = 3.0

        def m(self):
            return x * self.scale

        def sup(self):
            return super().__init__() or x * x

    return C().m() * C().sup()


def class_body_nested(x):
    class Outer:
        class Inner:
            v = x * x

        w = Inner.v * x

    return Outer.Inner.v * Outer.w


def class_body_slots(x):
    class C:
        __slots__ = ("v",)
        scale = x * 2

        def __init__(self, v):
            self.v = v * self.scale

    return C(x).v * C.scale


def class_body_meta(x):
    class Meta(type):
        def __new__(meta, name, bases, namespace, factor=1.0):
            namespace["b"] = namespace["a"] * factor
            return super().__new__(meta, name, bases, namespace)

    class C(metaclass=Meta):
        a = x * x

    return C.b * C.a


def class_body_decorated(x):
    def scaled(cls):
        cls.b = cls.a * x
        return cls

    @scaled
    class C:
        a = x * 2
        __hash__ = None

    return C.b + C.a


def class_body_init_subclass(x):
    seen = []

    class Base:
        def __init_subclass__(cls, **options):
            seen.append(cls.a * x)

    class C(Base):
        a = x * x

    return seen[0] * C.a


def class_body_set_name(x):
    class Field:
        def __init__(self, v):
            self.v = v

        def __set_name__(self, owner, name):
            LOG.append(name)
            self.w = self.v * owner.scale

        def __get__(self, owner, cls):
            return self.w * x

    class C:
        scale = 3.0
        f = Field(x)

    return C().f


def exact_fraction(x):
    return float(fractions.Fraction(x) * 3)


def enumeration(x):
    class E(enum.Enum):
        A = x * x

    return E.A.value


def class_body_statements(x):
    class C:
        try:
            a = x
            raise ValueError(x * x)
        except ValueError as e:
            b = e.args[0]
        c: float = a * b
        while c < 10:
            c = c * x
        t = c
        del t
        f = [v * x for v in (1.0, x)]

    return C.c * C.f[1] * len(C.__annotations__)


def class_body_error(x):
    class E(Exception):
        v = x * x

    try:
        raise E(x)
    except E as e:
        return e.v * e.args[0]


def enum_like(x):
    class C:
        values = {name: x * i for i, name in enumerate("abc")}

    return C.values["b"] * C.values["c"]


def statistics_mean(x):
    return statistics.mean([x, x * x, 3.0]) * statistics.fmean([x, x * 5])


def statistics_spread(x):
    items = [x, x * x, x * 3, 1.0]
    spread = statistics.variance(items) + statistics.pstdev(items) * x
    return spread + statistics.stdev(tuple(items)) + statistics.pvariance(items, x) + statistics.variance(items, 2.0)


def statistics_median(x):
    items = [x, x * x, x * 3, 1.0]
    return statistics.median(items) * statistics.median_low(items) + statistics.median_high(items)


def statistics_others(x):
    items = [x, x * x, x * 3]
    weighted = statistics.harmonic_mean(items, [1.0, x, 2.0]) + statistics.mean(v * x for v in items)
    return (
        weighted
        + statistics.harmonic_mean(items)
        + statistics.geometric_mean(items)
        + statistics.fmean(items, [1.0, x, 2.0])
    )


def statistics_regression(x):
    a, b = [1.0, x, 3.0], [x * x, 2.0, x * 4]
    slope, intercept = statistics.linear_regression(a, b)
    return slope * intercept + statistics.correlation(a, b) + statistics.covariance([1.0, x], [x, 3.0])


def asynchronous_stored(x):
    found = []

    async def main():
        await asyncio.sleep(0)
        found.append(x * x)

    asyncio.run(main())
    return found[0] * x


class Meters(float):
    def doubled(self):
        return Meters(self * 2)

    def __mul__(self, other):
        return Meters(float(self) * other)

    __rmul__ = __mul__


class Tagged(float):
    def __new__(cls, value, tag):
        made = super().__new__(cls, value)
        made.tag = tag
        return made

    def scaled(self):
        return self * self.tag


class Plain(float):
    pass


def float_methods(x):
    m = Meters(x * x)
    LOG.append(type(m.doubled()).__name__)
    return m.doubled() * x + float(m) + (2.0 * m) * x


def float_attributes(x):
    t = Tagged(x, x * x)
    LOG.append(type(t.scaled()).__name__)
    return t.scaled() + t.tag * float(t)


def float_plain(x):
    p = Plain(x)
    LOG.append((type(p).__name__, type(p * 2).__name__))
    return p * p + p.real + abs(Plain(-x)) + round(p, 3) * 0 + p.conjugate() + Plain(p) ** 2 + p.__mul__(x)


def float_listed(x):
    items = [Plain(x), Plain(x * x)]
    return sum(items) * max(items) + np.sum(np.array(items))


class Reversed(float):
    def __add__(self, other):
        return Reversed(float(self) * 2 + float(other))

    __radd__ = __add__

    def __mul__(self, other):
        return Reversed(float(self) * float(other) * 3)

    __rmul__ = __mul__

    def __lt__(self, other):
        return float(self) > float(other)

    def __gt__(self, other):
        return float(self) < float(other)


class Converted(float):
    def __float__(self):
        return float.__mul__(self, 3.0)


def float_converted(x):
    """As ``float`` says, but not to functions of ``math``."""
    y = math.sin(Converted(x)) * float(Converted(x)) + np.float64(Converted(x))
    return y * float(np.add(Converted(x), 1.0)) + np.sin(Converted(x * x)) * np.full(2, Converted(x))[1]


def float_reduced(x):
    items = [Reversed(x), Reversed(x * x)]
    return float(sum(items) * math.prod(items) + max(items) * x + min(*items) + sorted(items)[0])


def float_functions(x):
    r = Reversed(x)
    return math.sin(r) * np.cos(r) - math.hypot(r, 2.0) - abs(-r) - divmod(r, 0.5)[1] - r.real - r.conjugate()


def extreme_of_tuples(x):
    pairs = [(x, 1), (x * x, 2)]
    return max(pairs)[0] * min((x * 3, 1), (x, 2))[0] + max(pairs, key=lambda p: -p[1])[0]


def set_of_iterators(x):
    s = {x}.union(v * x for v in (2.0, 3.0))
    s.update({x * 5, 1.0}.difference(v for v in (1.0,)))
    t = {x, 2.0}
    t.symmetric_difference_update(iter([2.0, x * 9]))
    return sum(s) * x + sum(t)


def items_algebra(x):
    d, e = {"a": x, "b": x * x}, {"a": x, "c": x}
    return sum(v for _, v in d.items() & e.items()) * x + sum(v for _, v in d.items() | e.items())


def matrix(x):
    m = np.matrix([[x, 1.0], [2.0, x * x]])
    LOG.append(type(m * m).__name__)
    return (m * m)[0, 1] + (m * m)[1, 1]


def matrix_parts(x):
    m = np.matrix([[x, 2.0], [3.0, x]])
    n = m.T * m
    LOG.append((type(n).__name__, n.shape, m[0].shape))
    return n[0, 0] + n.A[1, 1] + m.sum() + m.A1[0] + m[0, 1]


def matrix_inverse(x):
    m = np.matrix([[x, 2.0], [3.0, x * x]])
    return m.I[0, 0] + (m**2)[0, 0] + np.trace(m) + (m @ m)[0, 1]


def matrix_from_array(x):
    m = np.asmatrix(np.array([[x, 2.0], [3.0, x * x]]))
    return (m * np.matrix([[1.0], [x]]))[1, 0] + np.asarray(m * 2)[0, 0] + np.multiply(m, m)[0, 0]


def matrix_means(x):
    m = np.matrix([[x, 2.0], [3.0, x * x]])
    return m.mean() + m.mean(0)[0, 1] + m.sum(axis=1)[0, 0] + m.max() + m.std()


def fraction(x):
    return float(fractions.Fraction(1, 3)) * x


def chain_map(x):
    c = collections.ChainMap({"a": x}, {"a": 2.0, "b": x * x})
    c["q"] = x * 3
    return c["a"] * c["b"] + sum(c.values()) + c.new_child({"b": x})["b"] * c.get("z", x)


def user_containers(x):
    d = collections.UserDict(a=x)
    d["b"] = x * x
    u = collections.UserList([x])
    u.append(x * 3)
    return d["a"] * d["b"] + sum(u) * u[1] + sum(d.values())


def counter_values(x):
    c = collections.Counter(a=x, b=x * x)
    c["a"] += x
    c.update({"b": x * 3})
    c.subtract(a=x * 2)
    d = c + collections.Counter(b=x)
    return c["a"] + c["b"] * x + d["b"] + c.total() + c.most_common(1)[0][1]


def lists_that_are_begun_again(x):
    class Own(list):
        def __init__(self, items):
            super().__init__(items)
            self.first = len(self)

    plain, own = [x], Own([x])
    plain.__init__([x * x, x])
    own.__init__([x * 3])
    total = plain[0] * own[0] * own.first * len(plain)
    plain.__init__()
    return total + len(plain)


def a_namespace_that_is_prepared(x):
    class Meta(type):
        def __prepare__(name, bases):  # noqa: N804 - Python hands over no class
            return {"width": x * x}

    class Box(metaclass=Meta):
        area = width * x  # noqa: F821 - prepared

    return Box.area


def an_iterator_that_is_copied(x):
    items = iter([x, x * x, x * 3])
    other = copy.copy(items)
    next(items)
    return next(other) * x


def an_iterator_backwards_that_is_copied(x):
    items = reversed([x, x * x, x * 3])
    other = copy.deepcopy(items)
    next(items)
    return next(other) * x


def what_is_left_of_an_iterator(x):
    items = iter([x, x * x, x * 3])
    next(items)
    return operator.length_hint(items) * next(items)


def what_an_iterator_says_is_left(x):
    items = iter({"a": x, "b": x * x}.values())
    next(items)
    return items.__length_hint__() * next(items)


def ordered_dicts_that_are_copied(x):
    class Doubled(collections.OrderedDict):
        def __setitem__(self, key, value):
            super().__setitem__(key, 2.0 * value)

    plain, doubled = collections.OrderedDict(b=x, a=x * x), Doubled(a=x)
    first, second = plain.copy(), doubled.copy()
    first["b"] *= x
    return first["b"] * plain["b"] + second["a"] * doubled["a"] + isinstance(second, Doubled)


PROGRAMS = [f for f in list(globals().values()) if inspect.isfunction(f) and f.__module__ == __name__]
PROGRAMS.append(class_body_library)

REFUSED = {
    typed_array_numpy: "numpy.asarray",
    class_body_init_subclass: "__init_subclass__, which is called while a class is made",
    class_body_set_name: "__set_name__, which is called while a class is made",
    enumeration: "__set_name__",
    a_namespace_that_is_prepared: "which prepares a namespace",
    an_iterator_that_is_copied: "an iterator .* is copied",
    an_iterator_backwards_that_is_copied: "an iterator .* is copied",
    what_is_left_of_an_iterator: "how many items are left",
    what_an_iterator_says_is_left: "how many items are left",
}
"""Programs that are clear errors, with what the error says."""


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives_and_effects(program, mode):
    if program in REFUSED:
        with pytest.raises(NotDifferentiable, match=REFUSED[program]):
            MODES[mode](program, 1.3)
        return
    LOG.clear()
    program(1.3)
    effects = list(LOG)
    expected = differences(program, 1.3, 2 if mode == "hvp" else 1)
    LOG.clear()
    assert MODES[mode](program, 1.3) == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert effects == LOG[: len(effects)]


STAYING = {
    "that is there stays": (lambda x: list({x: 1, **{stop_gradient(x): 2}})[0], 1.0),
    "that is constant stays": (lambda x: list({stop_gradient(x): 1, **{x: 2}})[0] + x, 1.0),
    "is gone when the dict is cleared": (lambda x: cleared({x: 1}, stop_gradient(x)) + x, 1.0),
}
"""The same object, once with a derivative and once without."""


def cleared(d, key):
    d.clear()
    d[key] = 1
    return list(d)[0]


@pytest.mark.parametrize("name", STAYING)
def test_a_key(name):
    f, expected = STAYING[name]
    assert gradient(f, 1.3) == (expected,)
    assert jvp(f, (1.3,), (1.0,))[1] == expected


@pytest.mark.parametrize("f", [lambda x: np.array([x]).sum(), lambda x: np.ones(1) @ [x]])
def test_floats_in_lists_that_their_own_code_converts_are_an_error(f):
    with pytest.raises(NotDifferentiable, match="__float__ of .*Converted"):
        gradient(lambda x: f(Converted(x)), 1.3)
