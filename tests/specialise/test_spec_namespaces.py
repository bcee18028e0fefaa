"""Objects of ``types.SimpleNamespace``: made, changed, put into lists, given, and shown."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from specialised_cases import GENERIC, check, check_all_ways, has_all_ways

import autodiff_hook as ad
from autodiff_hook.runtime import specialising

ALL_WAYS = not (GENERIC or specialising.ONE_WAY)


def made(x, y):
    p = SimpleNamespace(a=x, b=y * x, name="p")
    p.c = p.a * p.b
    return p.a + p.b * p.c + len(p.name)


def changed_in_a_loop(x, y):
    state = SimpleNamespace(t=0.0, v=x)
    log = []
    while state.t < 1.0:
        state.v += 0.1 * (y - state.v * state.v)
        state.t += 0.125
        log.append(state.v)
    return state.v + sum(log)


def in_lists(x, y):
    bodies = [SimpleNamespace(m=x * (i + 1), p=y * i, near=None) for i in range(4)]
    for a, b in zip(bodies, bodies[1:]):
        a.near = b
    for _ in range(5):
        for body in bodies:
            if body.near is not None:
                body.p += 0.1 * body.near.m * (body.near.p - body.p)
    return sum(body.m * body.p for body in bodies)


def carried_by_a_loop(x, y):
    p = SimpleNamespace(a=x, b=y)
    for _ in range(4):
        p = SimpleNamespace(a=p.a + 0.1 * p.b, b=p.b - 0.1 * p.a)
    return p.a * p.b


@pytest.mark.parametrize("f", [made, changed_in_a_loop, in_lists, carried_by_a_loop])
def test_namespaces_of_the_program(f):
    check_all_ways(f, 0.7, 0.9)


def of_options(x, options):
    n = SimpleNamespace(**options, x=x)
    return n.rate * n.x + sum(getattr(n, name) for name in sorted(vars(n)) if name != "label")


def shown(x):
    n = SimpleNamespace(x=x, k=2)
    return x * len(repr(n)[:9]) * (2.0 if n == SimpleNamespace(x=x, k=2) else 3.0) * (type(n) is SimpleNamespace)


def of_what_comes_from_a_mapping(x):
    return SimpleNamespace(**{name: x * i for i, name in enumerate("abc")}).c


@pytest.mark.parametrize(("f", "args"), [(of_options, ({"rate": 2.0, "label": "r"},)), (shown, ())])
def test_what_is_asked_of_namespaces(f, args):
    check(f, 0.7, *args, specialised=None)


def test_names_from_a_mapping():
    check(of_what_comes_from_a_mapping, 0.7, specialised=None)


def over_given(x, points):
    total = 0.0
    for p in points:
        total += p.w * (p.place[0] - x) ** 2
    return total


def test_namespaces_that_are_given():
    points = [SimpleNamespace(w=0.5 + i, place=[0.1 * i, 1.0]) for i in range(4)]
    check(over_given, 0.7, points)

    def captured(x):
        return over_given(x, points)

    check(captured, 0.7)
    if ALL_WAYS:
        assert has_all_ways(over_given, "gradient") and has_all_ways(captured, "gradient")
    points[1].w = 7
    check(captured, 0.7, specialised=None)
    del points[2].w
    with pytest.raises(AttributeError):
        ad.gradient(captured, 0.7)
