"""What is evaluated when: the order of the plain run, in every mode."""

from __future__ import annotations

import pytest
from effects import check_order, check_second, program

METHODS = """
r = o.m(t(2), t(3))

r = o.q(t(2), t(3))

b.g = lambda v: v * 2
def sw(v):
    b.g = lambda u: u * u * 5
    return v
r = b.g(sw(x)) + b.g(x)

class K:
    def g(self, v): return v * 2
k = K()
def sw(v):
    K.g = lambda s, u: u * u * 5
    return v
r = k.g(sw(x))

class K:
    def g(self, v): return v * 2
k = K()
def sw(v):
    k.g = lambda u: u * u * 5
    return v
r = k.g(sw(x)) + k.g(sw(x))

class K:
    g = staticmethod(lambda v: v * 2)
    @classmethod
    def h(c, v): return v * 3
k = K()
r = k.g(t(1, x)) + k.h(t(2, x)) + K.h(t(3, x)) + K.g(t(4, x))

class K:
    def g(self, v): return v * 2
class J(K):
    def g(self, v): return super().g(t(1, v)) + v
r = J().g(t(2, x))

try:
    b.nope(t(1))
except AttributeError: t(2)

try:
    L.nope(t(1))
except AttributeError: t(2)

try:
    x.nope(t(1))
except AttributeError: t(2)

try:
    math.nope(t(1))
except AttributeError: t(2)

def sw(v):
    L.append(v)
    return v
r = L.pop(int(sw(x) * 0)) + sum(L)

r = b.l.pop(b.l.index(b.l[t(2, 0)])) * math.sin(t(3, x))

r = d.get(t(1) and "a", t(2)) + d.setdefault("z", t(3, x)) + d.pop("z", t(4))
"""
ITEMS_ONE_BY_ONE = """
L.extend(gen(3)); r = sum(L)

L += gen(3); r = sum(L)

L.extend(sum(L) * x for _ in range(2)); r = L[-1]

L += (sum(L) * x for _ in range(2)); r = L[-1]

L += L; r = sum(L)

S = {x}; S.update(sum(S) * 2.0 + 1.0 for _ in range(2)); r = sum(S)

d.update(("k%d" % i, sum(d.values()) * x) for i in range(2)); r = sum(d.values())

d.update([["u", x * x], ("v", x)]); r = d["u"] + d["v"]

d.update({"a": x * x}, a=2 * x); r = d["a"]

r = [*gen(2), t(5), *gen(2, 3.0)][1]

r = (*gen(2), t(5), *o)[4]

r = sum(list(o)) + sum(tuple(o)) + max(o)

try:
    L.extend(bad(2))
except KeyError: t(9)
r = sum(L)

try:
    L += bad(2)
except KeyError: t(9)
r = sum(L)

try:
    L[1:2] = bad(2)
except KeyError: t(9)
r = sum(L)

try:
    r = sum(bad(2))
except KeyError: t(9)

try:
    r = sum([*bad(2)])
except KeyError: t(9)

try:
    r = sum(sorted(bad(2)))
except KeyError: t(9)

S = {1.0}
try:
    S.update(bad(2))
except KeyError: t(9)
r = sum(S)

try:
    d.update((i, v) for i, v in enumerate(bad(2)))
except KeyError: t(9)
r = sum(d.values())

try:
    for u, v in zip(L, bad(2)): t(4, u * v)
except KeyError: t(9)

try:
    a, q, *c = bad(2)
except KeyError: t(9)

try:
    a, q = gen(4)
except ValueError: t(7)

g = gen(2)
b.v = 2 * x
def write():
    for v in g:
        b.v = x * x
        yield v
w = write()
b.v = 3 * x
z = list(zip(w, [1.0]))
r = b.v
"""
ITERATION = """
r = sum(u * v for u, v in zip(gen(3), gen(2, 3.0)))

g1 = gen(3); g2 = gen(2, 5.0); z = list(zip(g1, g2)); r = sum(list(g1)) + len(z)

z = zip(gen(2), gen(2, 3.0), strict=True); r = sum(u * v for u, v in z)

try:
    z = list(zip(gen(3), gen(2, 3.0), strict=True))
except ValueError: t(5)

m = map(lambda v: t(1, v * v), gen(3)); t(9); r = next(m) + next(m)

r = sum(map(lambda u, v: t(1, u * v), gen(2), gen(3, 7.0)))

r = sum(filter(lambda v: t(1, v) < 1.0, gen(3)))

r = sorted(L, key=lambda v: t(1, -v))[0]

r = max(gen(3), key=lambda v: t(5, v)) + min(L, key=lambda v: t(1, v))

r = max(gen(0), default=t(5, x))

r = x if any(t(1, v) > 1.0 for v in L) and all(t(2, v) > 1.5 for v in L) else 0.0

r = sum(iter(lambda: t(1, L.pop()), 1.0))

r = functools.reduce(lambda u, v: t(3, u + v * v), gen(3), x)

c = itertools.chain(gen(2), gen(2, 3.0)); t(8); r = next(c) + next(c) + next(c)

r = sum(itertools.takewhile(lambda v: t(7, v) < 1.5 * x, gen(5)))
"""
EXPRESSIONS = """
b.v += t(2, x); b.l[t(0, 1)] += t(3, x); r = b.v * b.l[1]

o.p += t(2, x); o[t(2)] += t(3); del o[t(2)]

L[t(2, 1)] = t(3, x * x); L[t(1, 0):t(2, 2)] = [t(3, x), t(4, x * x), t(5)]; r = sum(L)

b.v, L[t(0, 1)] = t(2, x), t(3, x * x); r = b.v + L[1]

r = 1.0 if t(1, 1) < t(2, 2) < t(3, 3) < t(4, 0) < t(5, 1) else x

r = sum({t(1): t(2), t(3): t(4, x)}.values())

r = (lambda a, b=t(1, x), *, c=t(2, x): a + b + c)(t(3), c=t(4, x))

def dec(k):
    t(k)
    def w(h):
        t(k + 1)
        return h
    return w
@dec(1)
@dec(5)
def g(a=t(9, x)): return a
r = g()

def h(*a, **k): return sum(a) + sum(k.values())
r = h(*gen(3), t(9), *gen(2, 3.0), k=t(4, x), **{"j": t(5, x)})

r = {**d, "b": t(1, x), **{"c": t(2)}}["b"]

r = len(f"{t(1)}{t(2)!r}{t(3):.{int(t(4, 2))}f}") * x

r = sum([t(3, u * v) for u in L if t(1, u) for v in L if t(2, v)]) + (y := t(1, x)) * t(2, y)

with o as q, o as q2: t(1)

r = 1.0 if t(1) in o else x
"""


def programs(text: str) -> list[str]:
    return text.strip().split("\n\n")


EVERYTHING = [*programs(METHODS), *programs(ITEMS_ONE_BY_ONE), *programs(ITERATION), *programs(EXPRESSIONS)]


@pytest.mark.parametrize("body", EVERYTHING)
def test_order(body):
    check_order(program(body))


@pytest.mark.parametrize("body", EVERYTHING[::7])
def test_second_derivatives(body):
    check_second(program(body))
