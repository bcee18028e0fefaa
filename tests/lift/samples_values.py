# ruff: noqa: B023, E731, F821
"""Functions that use one construct each: expressions, locals, cells, classes."""

from __future__ import annotations

from sampling import Base, Item, calls, fail, keywords

# Expressions


@calls((3, 4.5), (1, 0), ("a", 2))
def operators(x, y):
    z = [x + y if x != y else x - y, x * 2, +x, -x, ~3, x < y, x <= y, x == y, x > y, x is y, x is not y]
    return z, x in z, x not in z, not x, 7 // 2, 7 % 4, 2**3, 1 << 3, 9 >> 1, 5 & 3, 5 | 3, 5 ^ 3


@calls(([1, 2], 3))
def in_place(x, n):
    x += [n]
    x *= 2
    n -= 1
    n **= 2
    n //= 2
    return x, n


@calls((1, 2, 3), (0, 2, 3), (0, 0, 3), (0, 0, 0))
def boolean(a, b, c):
    return a and b or c, a or b and c, not (a and b), (a or b) if c else (b and a), a < b < c, a < b != c < a


@calls(([3, 1, 2, 5], 1, 3), ([], 0, None))
def slices(x, a, b):
    x[a:b] = [9, 9, 9]
    x[::2] = x[::2]
    return x[a:b], x[a:], x[:b], x[::-1], x[a:b:2]


@calls((3, "xy", 7), (2.5, "", 4))
def formatted(a, b, width):
    return f"{a}", f"{a!r} {b!s} {b!a}", f"{a:{width}.2f}|{b!r:>{width}}|{b:{width}}", f"{a=}", f"{{}}{b}"


@calls(({"a": 1}, [1, 2], {"b": 2}))
def displays(d, items, more):
    return (
        [*items, 3],
        (*items, *items),
        {*items, 5},
        {**d, "k": 2, **more},
        {"x": d, "y": items},
        [1, 2, 3],
        {1, 2, 3},
        {"p": 1, **d},
    )


@calls(([1, 2, 3, 4],), ([1, 2],), ([1],), (5,))
def unpacking(x):
    a, *b, c = x
    d, e = c, a
    [f, *g] = x
    return a, b, c, d, e, f, g


@calls((1, (2, 3), {"k": 4}), (1, [2], {}), (1, 3, {}))
def call_forms(a, args, kw):
    return (
        keywords(),
        keywords(a, k=a),
        keywords(*args),
        keywords(a, *args, **kw),
        keywords(**kw),
        Item(a).add(2),
        Item(a).add(2, scale=a),
        Item(a).add(*args, **{"scale": 2}),
        Item(a).add(2 if a else 3, scale=a or 1),
        keywords(a if args else kw, Item(1 if a else 2).value),
    )


@calls(({"k": 1}, {"k": 2}), ({"k": 1}, {1: 2}))
def merge_conflict(a, b):
    return keywords(**a, **b)


@calls((Item(1), {"a": [1, 2]}))
def attributes_and_items(o, d):
    o.value += 2
    o.other = d["a"][0]
    d["a"][1] += 5
    d["b"] = o.other
    del d["b"]
    r = o.value, o.other, list(d.items())
    del o.other
    return r, hasattr(o, "other")


@calls((5,), (None,))
def none_tests(x):
    r = []
    if x is None:
        r.append(1)
    if x is not None:
        r.append(2)
    while x is not None:
        x = None
    return r, x if x is not None else 3


@calls((lambda: 3,), (lambda: fail(),))
def walrus(f):
    return [y := f(), y + 1], y


# Locals, cells, globals


@calls((True,), (False,))
def maybe_unbound(flag):
    if flag:
        x = 1
    return x


@calls((True,), (False,))
def deletion(flag):
    x = y = 1
    if flag:
        del x
    del y
    try:
        return x
    except UnboundLocalError as e:
        return str(e), y if flag is None else 2


@calls((3,))
def closures(n):
    total = n

    def add(k=1, *, scale: int = 2) -> int:
        nonlocal total
        total += n * k * scale
        return total

    r = add(), add(3), add(scale=5), total
    n = 10
    return r, add(), add.__annotations__, add.__defaults__, add.__kwdefaults__


@calls((True,), (False,))
def empty_cell(flag):
    if flag:
        x = 1

    def get():
        return x

    r = x if flag else 0
    if flag is None:
        del x
    return r, get()


@calls((1,))
def deleted_cell(x):
    f = lambda: x
    del x
    return f()


@calls(())
def undefined_global():
    return no_such_name


@calls((4,))
def global_statement(x):
    global fresh
    fresh = x
    r = fresh
    del fresh
    return r


@calls(([1, 2, 3], 5))
def comprehensions(xs, x):
    a = [x * y for y in xs if y > 1]
    b = {y: [z + y for z in range(y)] for y in xs}
    c = {y % 2 for y in xs}
    d = sum(y * x for y in xs)
    e = [x for x in xs]
    f = [lambda: y + x for y in xs]
    return a, b, c, d, e, x, [g() for g in f]


@calls(([1, 0],), ([1, 2],))
def raising_comprehension(xs):
    x = "outer"
    try:
        return [1 / x for x in xs], x
    except ZeroDivisionError:
        return x


@calls((2,))
def nested_class(n):
    class C(Base):
        field = n

        def f(self, x=1):
            return super().f(x + n), super().attribute

    class D(C):
        def f(self, x=1):
            s = super()
            return s.f(x), (lambda: self.field)()

        def g(self):
            def inner(self):
                return super(C, self).f()

            return inner(self)

    return C().f(), D().f(4), D().g(), C.__name__
