"""What lists and dicts within lists and dicts hold keeps its derivatives, however these are copied and taken apart."""

from __future__ import annotations

import collections
import copy
import functools
import heapq
import itertools
import operator

import numpy as np
import pytest

import autodiff_hook as ad

ROWS = [[1.0, 2.0], [3.0, 1.5]]
TABLE = {"a": [1.0, 2.0], "b": [3.0, 1.5]}


def dot(p, q):
    return p[0] * q[1] + p[1] * q[0] * q[0]


OF_ROWS = dict(
    [
        ("tuple", lambda g: dot(*tuple(g))),
        ("star", lambda g: dot(*g)),
        ("list", lambda g: dot(*list(g))),
        ("display", lambda g: dot(*(*g,))),
        ("displist", lambda g: dot(*[*g])),
        ("slice", lambda g: dot(*g[:])),
        ("slice2", lambda g: (lambda t: dot(t[0], t[1]))(g[::-1])),
        ("rev", lambda g: dot(*reversed(g))),
        ("sorted", lambda g: dot(*sorted(g, key=lambda r: -r[0]))),
        ("unpack", lambda g: (lambda: [dot(a, b) for a, b in [g]][0])()),
        ("starunpack", lambda g: [dot(a, r[0]) for a, *r in [g]][0]),
        ("zip", lambda g: [dot(r, s) for r, s in [tuple(zip(*g))]][0]),
        ("zip2", lambda g: dot(*map(list, zip(*g)))),
        ("map", lambda g: dot(*map(lambda r: r, g))),
        ("filter", lambda g: dot(*filter(None, g))),
        ("enum", lambda g: dot(*[r for _, r in enumerate(g)])),
        ("add", lambda g: dot(*(g + []))),
        ("addt", lambda g: dot(*(tuple(g) + ()))),
        ("mul", lambda g: dot(*(g * 1))),
        ("copy", lambda g: dot(*g.copy())),
        ("copycopy", lambda g: dot(*copy.copy(g))),
        ("deepcopy", lambda g: dot(*copy.deepcopy(g))),
        ("chain", lambda g: (lambda xs: xs[0] * xs[3])(list(itertools.chain(*g)))),
        ("chainfi", lambda g: (lambda xs: xs[0] * xs[3])(list(itertools.chain.from_iterable(g)))),
        ("sumlist", lambda g: (lambda xs: xs[0] * xs[3])(sum(g, []))),
        ("reduce", lambda g: functools.reduce(lambda a, r: a * r[0] + r[1], g, 1.0)),
        ("islice", lambda g: dot(*itertools.islice(g, 2))),
        ("extend", lambda g: (lambda xs: (xs.extend(g), dot(*xs))[1])([])),
        ("iadd", lambda g: (lambda xs: (operator.iadd(xs, g), dot(*xs))[1])([])),
        ("partial", lambda g: functools.partial(dot, *g)()),
        ("dictof", lambda g: (lambda d: dot(d["a"], d["b"]))(dict(zip("ab", g)))),
        ("starstar", lambda g: (lambda a, b: dot(a, b))(**dict(a=g[0], b=g[1]))),
        ("max", lambda g: dot(max(g, key=lambda r: r[0]), g[0])),
        ("min", lambda g: dot(min(g, key=lambda r: r[0]), g[1])),
        ("next", lambda g: dot(next(iter(g)), g[1])),
        ("gen", lambda g: dot(*(r for r in g))),
        ("itemgetter", lambda g: dot(*operator.itemgetter(0, 1)(g))),
        ("pairwise", lambda g: dot(*next(itertools.pairwise(g)))),
        ("product", lambda g: sum(a * b for a, b in itertools.product(*g))),
        ("zip_longest", lambda g: sum(a * b for a, b in itertools.zip_longest(*g))),
        ("starmap", lambda g: sum(itertools.starmap(lambda a, b: a * b, g))),
        ("accumulate", lambda g: list(itertools.accumulate(g, lambda a, b: [a[0] * b[0], a[1] * b[1]]))[-1][0]),
        ("insert", lambda g: (lambda xs: (xs.insert(0, g[0]), xs.append(g[1]), dot(*xs))[2])([])),
        ("setitem", lambda g: (lambda xs: (xs.__setitem__(slice(0, 0), g), dot(*xs))[1])([])),
        ("tupleget", lambda g: (lambda t: t[0][0] * t[1][1])((g[0], g[1]))),
        ("nested", lambda g: (lambda t: t[0][0][0] * t[0][1][1])((g,))),
        ("ntuple", lambda g: (lambda t: t.p[0] * t.q[1])(collections.namedtuple("N", "p q")(*g))),
        ("make", lambda g: (lambda t: t.p[0] * t.q[1])(collections.namedtuple("N", "p q")._make(g))),
        ("argskw", lambda g: (lambda *a, **k: dot(*a))(*g)),
        ("heap", lambda g: dot(*heapq.nsmallest(2, g, key=lambda r: -r[0]))),
        ("groupby", lambda g: sum(v[0] * v[1] for k, vs in itertools.groupby(g, key=lambda r: 1) for v in vs)),
    ]
)

OF_TABLE = dict(
    [
        ("vals", lambda d: dot(*d.values())),
        ("items", lambda d: dot(*[v for k, v in d.items()])),
        ("tvals", lambda d: dot(*tuple(d.values()))),
        ("star", lambda d: (lambda a, b: dot(a, b))(**d)),
        ("dict", lambda d: (lambda e: dot(e["a"], e["b"]))(dict(d))),
        ("disp", lambda d: (lambda e: dot(e["a"], e["b"]))({**d})),
        ("copy", lambda d: (lambda e: dot(e["a"], e["b"]))(d.copy())),
        ("update", lambda d: (lambda e: (e.update(d), dot(e["a"], e["b"]))[1])({})),
        ("or", lambda d: (lambda e: dot(e["a"], e["b"]))({} | d)),
        ("get", lambda d: dot(d.get("a"), d.get("b"))),
        ("pop", lambda d: dot(d.pop("a"), d.pop("b"))),
        ("list", lambda d: dot(*[d[k] for k in d])),
        ("comp", lambda d: (lambda e: dot(e["a"], e["b"]))({k: v for k, v in d.items()})),
        ("itemst", lambda d: dot(*(lambda t: (t[0][1], t[1][1]))(tuple(d.items())))),
        ("ordered", lambda d: (lambda e: dot(e["a"], e["b"]))(collections.OrderedDict(d))),
        ("default", lambda d: (lambda e: dot(e["a"], e["b"]))(collections.defaultdict(list, d))),
        ("chainmap", lambda d: (lambda e: dot(e["a"], e["b"]))(collections.ChainMap({}, d))),
        ("setdefault", lambda d: dot(d.setdefault("a", 1), d.setdefault("b", 2))),
        ("popitem", lambda d: dot(*reversed((d.popitem()[1], d.popitem()[1])))),
    ]
)


NO_TANGENTS = (OF_ROWS["sumlist"], OF_TABLE["default"])


def leaves(rows):
    return [x for row in (rows.values() if isinstance(rows, dict) else rows) for x in row]


def slopes(f, rows):
    """Central differences for each number in the rows."""
    found = []
    for key in rows if isinstance(rows, dict) else range(len(rows)):
        for place in range(len(rows[key])):
            values = []
            for step in (1e-6, -1e-6):
                moved = copy.deepcopy(rows)
                moved[key][place] += step
                values.append(f(moved))
            found.append((values[0] - values[1]) / 2e-6)
    return found


def agree(f, rows):
    expected = slopes(f, rows)
    for _ in range(2):
        np.testing.assert_allclose(leaves(ad.gradient(f, copy.deepcopy(rows))[0]), expected, rtol=1e-6)
    _, back = ad.pullback(f, copy.deepcopy(rows))
    np.testing.assert_allclose(leaves(back(1.0)[0]), expected, rtol=1e-6)
    try:
        _, tangent = ad.jvp(f, (copy.deepcopy(rows),), (copy.deepcopy(rows),))
    except ad.NotDifferentiable:
        assert f in NO_TANGENTS
        return
    assert tangent == pytest.approx(np.dot(expected, leaves(rows)), rel=1e-6)


@pytest.mark.parametrize("name", OF_ROWS)
def test_lists_in_lists(name):
    agree(OF_ROWS[name], ROWS)


@pytest.mark.parametrize("name", OF_ROWS)
def test_lists_in_lists_that_the_program_makes(name):
    f = OF_ROWS[name]

    def made(rows):
        return f([[rows[0][0], rows[0][1]], [x * 1.5 for x in rows[1]]])

    if f not in NO_TANGENTS:
        agree(made, ROWS)


@pytest.mark.parametrize("name", OF_TABLE)
def test_lists_in_dicts(name):
    agree(OF_TABLE[name], TABLE)


def test_lists_that_rules_made_are_kept_in_lists_that_functions_return():
    def rows(y):
        found = []
        for row in y:
            found.append(row.tolist())
        return found

    (ȳ,) = ad.gradient(lambda y: rows(y)[0][1] * 2.0 + rows(y)[1][1], np.ones((2, 2)))
    assert ȳ.tolist() == [[0.0, 2.0], [0.0, 1.0]]
