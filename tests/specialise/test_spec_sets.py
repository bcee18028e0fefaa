"""Sets in programs for all ways: real ones, so what they are asked, and their order, is as in the plain run."""

from __future__ import annotations

import math
from enum import Enum

import pytest
from specialised_cases import check, check_all_ways, check_raises

FIXED = frozenset({"a", "q", "zz"})


class Kind(Enum):
    INNER = 1
    OUTER = 2


def in_their_order(x, y):
    """Of what is written out, too, whose items find other places where they come one by one."""
    total = 0.0
    for key in {71, 1, 33, 2}:
        total = total * 0.5 + key * x
    numbers = {16, 7, 31}
    for key in numbers:
        total = total * y + key * x
    names = {"q", "aa", "zz"}
    names.add("b")
    names.discard("aa")
    for name in names:
        total = total * y + len(name) * x
    return total


def operations(x, y):
    first = {n for n in ["b", "a", "0", "b"]}
    second = set(["a", "z"])
    total = 0.0
    for name in sorted(first - {"0"} | second):
        total = total * x + ord(name)
    first |= second
    first -= {"0"}
    first ^= {"u", "a"}
    for name in first & {"b", "z", "u"}:
        total = total * y + ord(name)
    return total + len(first) * x + len(second.union("pq", ["r"]).difference("p")) * y


def questions(x, y):
    small, large = frozenset(["u", "v"]), {"u", "v", "w"}
    total = x * (small <= large) + y * (large < small) + x * small.isdisjoint({"p"}) + y * (small == {"v", "u"})
    total += x * large.issuperset("uv") + (y if large else x) + (x if set() else y) + max({3, 5}) * x + sum({1, 2}) * y
    for name in small:
        total = total * 0.3 + x * ord(name)
    return total


def taken(x, y):
    left, total = {f"n{k}" for k in range(5)}, 0.0
    left.update(["m"], {"k"})
    while left:
        name = left.pop()
        total = total * 0.5 + ord(name[0]) * x + y
    left.clear()
    return total + len(left)


def visited(x, y):
    seen, stack, total = set(), [(0, x)], 0.0
    while stack:
        node, value = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        total += value * math.sin(total + y)
        for other in (2 * node + 1, 2 * node + 2, node // 2):
            if other < 20:
                stack.append((other, value * 0.9))
    return total + len(seen) * y


def neighbours(x, y):
    near: dict[int, set[int]] = {}
    for a, b in [(1, 2), (2, 3), (1, 3), (3, 40)]:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    total = x
    for node in near:
        for other in near[node]:
            total = total * 0.9 + other * y
    return total


def constants(x, y):
    total = 0.0
    for name in ["a", "b", "zz"]:
        total += x * y if name in FIXED else y
    for name in FIXED:
        total = total * 0.5 + len(name) * x
    return total + len(FIXED | {"b"}) * y


def members(x, y):
    seen: set[Kind] = set()
    total = 0.0
    for k in range(5):
        kind = Kind.INNER if k % 2 else Kind.OUTER
        total += x if kind in seen else x * y
        seen.add(kind)
    return total + len({kind for kind in seen if kind is Kind.OUTER}) * y


def made_of_what_is_iterated(x, y):
    pairs = set(zip("ab", [1, 2]))
    rests = frozenset(k % 3 for k in range(7))
    keys = set({"p": x, "q": y}) | set("pr")
    total = sum(count for _, count in sorted(pairs)) * x + len(rests) * y
    for rest in rests:
        total = total * x + rest
    return total + len(keys) * y


def numbers_that_have_derivatives(x, y):
    seen, total = set(), 0.0
    for k in range(5):
        seen.add(x * (k % 3))
        total += x * y if x * 2 in seen else y
    return total * len(seen)


@pytest.mark.parametrize(
    "f",
    [
        *(in_their_order, operations, questions, taken, visited, neighbours, constants, members),
        *(made_of_what_is_iterated, numbers_that_have_derivatives),
    ],
)
def test_sets(f):
    check_all_ways(f, 0.7, 1.3)
    check_all_ways(f, 1.1, 0.4)


def iterated_with_a_derivative(x):
    total = 0.0
    for key in set([x, 2 * x]):
        total += key * key
    return total


def largest(x):
    return max({x, 0.5 * x}) * x


def updated_by_several(x):
    found, total = set(), 0.0
    found.update([1.5], [x, x * x])
    for key in found:
        total += key * x
    return total


def united_with_a_derivative(x):
    return sum({1.0}.union([2.0], (x, x * x))) + sum(set(v for _, v in zip("ab", [x, 2 * x])))


def taken_with_a_derivative(x):
    return {x * x}.pop()


def of_one_class(x):
    classes = {type(v) for v in (x, x * x)}
    return x * x if classes.pop() is float and not classes else x


def test_the_only_member():
    check(of_one_class, 0.7)


@pytest.mark.parametrize(
    "f", [iterated_with_a_derivative, largest, updated_by_several, united_with_a_derivative, taken_with_a_derivative]
)
def test_what_has_to_be_carried_is_right(f):
    check(f, 0.7, specialised=None)


def key_that_is_gone(x):
    found = {1}
    found.remove(2)
    return x


def pop_of_nothing(x):
    return x * set().pop()


def changed_while_it_is_iterated(x):
    found = {1, 2}
    for key in found:
        found.add(key + 10)
    return x


def key_without_a_hash(x):
    return x * len({1} | {[2]})


@pytest.mark.parametrize("f", [key_that_is_gone, pop_of_nothing, changed_while_it_is_iterated, key_without_a_hash])
def test_what_the_plain_call_raises_is_raised(f):
    check_raises(f, 0.7)


def test_sets_from_outside_are_looked_at_again(monkeypatch):
    check_all_ways(constants, 0.7, 1.3)
    monkeypatch.setitem(globals(), "FIXED", frozenset({"b", "qqqq"}))
    check_all_ways(constants, 0.7, 1.3)


KNOWN = {"a", "b"}


def members_of_a_global_set(x, y):
    return sum(x if name in KNOWN else y for name in ["a", "c", "a"]) * x


def test_global_sets_may_change():
    check_all_ways(members_of_a_global_set, 0.7, 1.3)
    KNOWN.add("c")
    check_all_ways(members_of_a_global_set, 0.7, 1.3)
    KNOWN.discard("c")


def keys_that_are_sets(x, y):
    known = {}
    for names in (frozenset({"x"}), frozenset({"x", "y"})):
        known[names] = x * len(names)
        known[names, 1] = y
    return known[frozenset(["y", "x"])] * y + known[frozenset("x"), 1]


def test_keys_that_are_sets():
    check_all_ways(keys_that_are_sets, 0.7, 1.3)


def number_of(names, x):
    return x * len(names & {"a", "b"})


def test_sets_that_are_given():
    for names in ({"a"}, {"a", "b"}):
        check(number_of, frozenset(names), 0.7, specialised=None)
        check(number_of, names, 0.7, specialised=None)
