"""Comprehensions of all kinds, nested, with conditions and captured variables."""

from __future__ import annotations

from helpers import gradient_at

XS = [0.5, -1.5, 2.0]


@gradient_at(XS, 0.7)
def test_lists(xs, y):
    a = [v * y for v in xs]
    b = [v * w for v, w in zip(a, xs) if v > 0 if w < 10]
    c = [v if v > 0 else v * v for v in xs]
    return sum(a) * a[0] + sum(b) + c[1] * c[2]


@gradient_at(XS)
def test_nested(xs):
    table = [[v * w + i for i, w in enumerate(xs)] for v in xs]
    flat = [v for row in table for v in row if v != 0]
    pairs = [(v, w) for v in xs for w in xs if v < w]
    return sum(flat) + table[1][2] * table[0][0] + sum(v * w for v, w in pairs) + len(pairs)


@gradient_at(XS)
def test_dicts(xs):
    d = {i: v * v for i, v in enumerate(xs)}
    e = {k: d[k] * w for k, w in zip(d, reversed(xs))}
    f = {k: v for k, v in e.items() if v > 0}
    return sum(d.values()) + d[0] * e[2] + sum(f.values()) + {"a": xs[0] for _ in xs}["a"]


@gradient_at(XS)
def test_sets(xs):
    s = {v * v for v in xs}
    return sum(s) + sum(sorted({abs(v) for v in xs})[:2])


@gradient_at(XS)
def test_generator_expressions(xs):
    y = xs[0]
    return (
        sum(v * y for v in xs)
        + max(v * v for v in xs) * y
        + sum(v * w for v in xs for w in xs if v is not w)
        + [*(v * y for v in xs)][1]
        + list(v for v in xs)[2]
        + tuple(2 * v for v in xs)[0]
        + dict((i, v) for i, v in enumerate(xs))[1]
    )


@gradient_at(XS)
def test_scopes(xs):
    v = xs[0]
    squares = [v * v for v in xs]
    y = v * 2
    fs = [lambda: v * y for v in xs]
    return v * sum(squares) + sum(f() for f in fs)


@gradient_at(XS)
def test_walrus_in_comprehensions(xs):
    kept = [last := v * v for v in xs if v]
    return sum(kept) * last


@gradient_at(XS)
def test_comprehensions_in_loops_and_calls(xs):
    def total(vs):
        return sum(vs)

    r = 1.0
    for i in range(3):
        r = r + total([v * r * i for v in xs]) + total(v / 10 for v in xs)
        xs = [v * 0.9 for v in xs]
    return r


@gradient_at({"a": [1.0, 2.0], "b": [3.0]})
def test_nested_containers(d):
    squares = {k: [v * v for v in vs] for k, vs in d.items()}
    return sum(sum(vs) * len(vs) for vs in squares.values()) + squares["a"][1] * d["b"][0]


@gradient_at(XS)
def test_unpacking_in_comprehensions(xs):
    rows = [(i, (v, v * v)) for i, v in enumerate(xs)]
    return sum(i * a * b for i, (a, b) in rows) + [first for first, *rest in [xs, xs]][1]
