"""Generators that are sent to, thrown into, delegated to and abandoned; exceptions that carry values; objects."""

import collections
import contextlib
import functools
import inspect
import types
import weakref

import pytest
from in_all_modes import MODES, differences

LOG = []
"""What a program has seen of the lives of its objects."""


@functools.total_ordering
class TO:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return self.v == other.v

    def __lt__(self, other):
        return self.v < other.v


def send(x):

    def g():
        t = 0.0
        while True:
            v = yield (t * 2)
            t = t + v * x

    it = g()
    next(it)
    it.send(x)
    return it.send(x * x)


def send_const(x):

    def g():
        v = yield x
        yield (v * x)

    it = g()
    a = next(it)
    return it.send(3.0) + a


def throw(x):

    def g():
        try:
            yield x
        except ValueError as e:
            LOG.append("caught")
            yield (x * x * e.args[0])

    it = g()
    next(it)
    return it.throw(ValueError(x * 3))


def throw_value(x):

    def g():
        try:
            yield x
        except ValueError:
            yield (x * x)

    it = g()
    next(it)
    return it.throw(ValueError)


def close(x):
    acc = [x]

    def g():
        try:
            yield x
            yield (x * 2)
        finally:
            acc.append(x * x)

    it = g()
    next(it)
    it.close()
    return sum(acc)


def yield_from(x):

    def a():
        yield x
        r = yield from b()
        yield (r * x)

    def b():
        yield (x * x)
        return x * 3

    return sum(a())


def yield_from_list(x):

    def a():
        yield from [x, x * x]
        yield from (x * 3,)
        yield from range(2)
        yield from (v * x for v in (1.0, x))

    return sum(a())


def yield_from_send(x):

    def inner():
        v = yield 1.0
        w = yield (v * x)
        return w * v

    def outer():
        r = yield from inner()
        yield (r * 2)

    it = outer()
    next(it)
    a = it.send(x)
    return a + it.send(x * x)


def yield_from_throw(x):

    def inner():
        try:
            yield x
        except KeyError as e:
            yield (e.args[0] * x)

    def outer():
        yield from inner()

    it = outer()
    next(it)
    return it.throw(KeyError(x * 2))


def stop_value(x):

    def g():
        yield 1
        return x * x

    it = g()
    next(it)
    try:
        next(it)
    except StopIteration as e:
        return e.value * 2


def stop_value_send(x):

    def g():
        v = yield 1
        return v * x

    it = g()
    next(it)
    try:
        it.send(x)
    except StopIteration as e:
        return e.value * 2


def abandon_finally(x):
    acc = []

    def g():
        try:
            for i in range(5):
                yield (x * i)
        finally:
            acc.append(x * x)

    for v in g():
        if v > 1:
            break
    LOG.append(len(acc))
    return v + sum(acc)


def abandon_next(x):
    acc = []

    def g():
        try:
            yield x
        finally:
            acc.append(x * x)

    v = next(g())
    LOG.append(len(acc))
    return v + sum(acc)


def abandon_del(x):
    acc = []

    def g():
        try:
            yield x
        finally:
            acc.append(x * x)

    it = g()
    v = next(it)
    LOG.append(len(acc))
    del it
    LOG.append(len(acc))
    return v + sum(acc)


def gi(x):

    def g():
        yield x

    it = g()
    LOG.append(inspect.isgenerator(it))
    LOG.append(type(it).__name__)
    return next(it) * x


def getstate(x):

    def g():
        yield x

    it = g()
    LOG.append(inspect.getgeneratorstate(it))
    next(it)
    LOG.append(inspect.getgeneratorstate(it))
    return x * x


def contextmanager(x):
    acc = []

    @contextlib.contextmanager
    def cm(v):
        try:
            yield (v * x)
        finally:
            acc.append(v * v)

    with cm(x) as y:
        z = y * 2
    return z + acc[0]


def contextmanager_exc(x):

    @contextlib.contextmanager
    def cm(v):
        try:
            yield (v * x)
        except ValueError as e:
            LOG.append("h")

    with cm(x) as y:
        z = y * 2
        raise ValueError(x)
    return z * x


def gen_expr_partial(x):
    it = (v * x for v in (1.0, 2.0, x))
    a = next(it)
    b = list(it)
    return a + sum(b)


def coroutine(x):

    class Aw:
        def __await__(self):
            v = yield x
            return v * x

    async def co():
        return await Aw()

    c = co()
    a = c.send(None)
    try:
        c.send(x * 2)
    except StopIteration as e:
        return e.value + a


def error_args(x):
    try:
        raise ValueError(x * 2)
    except ValueError as e:
        return e.args[0] * 3 * x


def error_attr(x):

    class E(Exception):
        def __init__(self, v):
            self.v = v

    try:
        raise E(x * x)
    except E as e:
        return e.v * x


def error_attr_super(x):

    class E(Exception):
        def __init__(self, v):
            super().__init__("m", v)
            self.v = v

    try:
        raise E(x * x)
    except E as e:
        return e.v * x + e.args[1]


def error_cause(x):
    try:
        try:
            raise ValueError(x)
        except ValueError as e:
            raise KeyError(x * x) from e
    except KeyError as k:
        return k.args[0] * k.__cause__.args[0]


def error_context(x):
    try:
        try:
            raise ValueError(x)
        except ValueError as e:
            raise KeyError(x * x)
    except KeyError as k:
        return k.args[0] * k.__context__.args[0]


def error_callee_stores(x):
    d = {"a": x}

    def f():
        d["a"] = x * x
        raise ValueError

    try:
        f()
    except ValueError:
        pass
    return d["a"] * 2


def error_group(x):
    try:
        raise ExceptionGroup("g", [ValueError(x * x), KeyError(x)])
    except* ValueError as eg:
        r = eg.exceptions[0].args[0]
    except* KeyError as eg:
        s = eg.exceptions[0].args[0]
    return r * s


def error_unpack(x):
    try:
        raise ValueError(x, x * x)
    except ValueError as e:
        a, b = e.args
        return a * b


def error_noted(x):
    e = ValueError()
    e.add_note("q")
    e.val = x * x
    try:
        raise e
    except ValueError as f:
        return f.val * x


def error_stopiteration_value(x):
    e = StopIteration(x * x)
    return e.value * x


def lt_ret(x):

    class K:
        def __init__(s, v):
            s.v = v

        def __lt__(s, o):
            return s.v < o.v

    return sorted([K(3 * x), K(x)])[0].v * min(K(x * x), K(x * 9)).v


def sort_key(x):
    acc = []

    def key(v):
        acc.append(v * v)
        return -v

    items = [x, 2 * x, 3 * x]
    items.sort(key=key)
    return items[0] * acc[1] + sorted(items, key=key, reverse=True)[0] + max(items, key=key) + sum(acc)


def total_ordering(x):
    a, b = (TO(x), TO(x * 9))
    return (a.v if a <= b else b.v) * (b.v if b >= a else 1.0) * max(a, b).v


def rec(x, n):
    return x if n == 0 else rec(x, n - 1) * 1.001


class RO:
    def m(self, x, n):
        return x if n == 0 else self.m(x, n - 1) * 1.001


def closing(x):

    class C:
        def close(s):
            s.v = x * x

    c = C()
    with contextlib.closing(c) as d:
        r = x * 2
    return r * c.v


def defaultdict(x):
    d = collections.defaultdict(list)
    d["a"].append(x)
    d["a"].append(x * x)
    e = collections.defaultdict(lambda: x)
    e["q"] += x
    return sum(d["a"]) * e["q"] * e["r"]


def properties(x):

    class C:
        @property
        def a(s):
            return s._a * x

        @a.setter
        def a(s, v):
            s._a = v * v

        @a.deleter
        def a(s):
            s._a = x

    c = C()
    c.a = x
    r = c.a
    del c.a
    return r + c.a


def type3(x):
    C = type("C", (), {"a": x * x, "m": lambda s: s.a * x})
    return C().m() + C.a


def class_attr(x):

    class C:
        a = 1.0

    C.a = x * x
    c = C()
    r = c.a
    c.a = x
    return r * c.a * C.a


def cell(x):
    y = x * x

    def f():
        return y

    return f.__closure__[0].cell_contents * x


def cell_set(x):
    y = x * x

    def f():
        return y

    f.__closure__[0].cell_contents = x * 3
    return f() * x


def defaults(x):

    def f(a=x * x, *, k=x):
        return a * k

    return f.__defaults__[0] * f.__kwdefaults__["k"] + f()


def defaults_set(x):

    def f(a=1.0):
        return a

    f.__defaults__ = (x * x,)
    return f() * x


def closurevars(x):
    y = x * x

    def f():
        return y

    return inspect.getclosurevars(f).nonlocals["y"] * x


def deep(x):
    return rec(x, 900)


def deep_methods(x):
    return RO().m(x, 900)


def deep_delegation(x):

    def g(n):
        if n:
            yield (x * n)
            yield from g(n - 1)

    return sum(g(60))


def ns(x):
    n = types.SimpleNamespace(a=x, b=2.0)
    n.b = n.a * x
    return n.a + n.b


def ns_mut(x):
    n = types.SimpleNamespace()
    n.a = x * x
    setattr(n, "c", n.a * x)
    return n.c


def class_getitem(x):

    class C:
        def __class_getitem__(c, k):
            return k * x

    return C[x] * 2


def meta(x):

    class Mt(type):
        def __call__(c, *a):
            o = super().__call__(*a)
            o.z = o.v * x
            return o

        @property
        def pp(c):
            return c.base * x

        def __getitem__(c, k):
            return k * x

    class C(metaclass=Mt):
        base = 2.0

        def __init__(s, v):
            s.v = v

    return C(x).z + C.pp + C[x]


def cmp_to_key(x):
    acc = []

    def c(a, b):
        acc.append(a * b)
        return -1 if a < b else 1

    return sorted([x, 3 * x, 2 * x], key=functools.cmp_to_key(c))[0] + sum(acc)


def partials(x):
    f = functools.partial(lambda a, b, c: a * b + c, x, c=x * x)
    return f(x) + f.args[0] * f.keywords["c"]


def weakly_referred(x):

    class Owner:
        pass

    o = Owner()
    o.v = x * x
    w = weakref.ref(o)
    return w().v * x


def weakref_dies(x):

    class Owner:
        pass

    o = Owner()
    o.v = x * x
    w = weakref.ref(o)
    r = o.v
    del o
    LOG.append(w() is None)
    return r * x


def weakref_rebind(x):

    class Owner:
        def __init__(s, v):
            s.v = v

    o = Owner(x)
    w = weakref.ref(o)
    o = Owner(o.v * x)
    LOG.append(w() is None)
    return o.v


def weakref_func(x):

    class Owner:
        def __init__(s, v):
            s.v = v

    ws = []

    def f(v):
        o = Owner(v * v)
        ws.append(weakref.ref(o))
        return o.v

    r = f(x)
    LOG.append(ws[0]() is None)
    return r


PROGRAMS = [f for f in list(globals().values()) if inspect.isfunction(f) and f.__module__ == __name__ and f is not rec]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives_and_effects(program, mode):
    LOG.clear()
    program(1.3)
    effects = list(LOG)
    expected = differences(program, 1.3, 2 if mode == "hvp" else 1)
    LOG.clear()
    assert MODES[mode](program, 1.3) == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert effects == LOG[: len(effects)]
