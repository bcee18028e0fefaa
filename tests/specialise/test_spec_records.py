"""What iterations leave for the adjoint: nothing that it can read or compute again for less."""

from __future__ import annotations

import math
import random
import re

import pytest
from specialised_cases import check

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY

shown = pytest.mark.skipif(GENERIC or ONE_WAY, reason="there are no loops in these programs")
KNOTS = [0.0, 0.4, 1.1, 2.0]
GRAPH = {"a": ["b", "c"], "b": ["c"], "c": ["a", "b"]}
WEIGHTS = {"a": [0.5, 1.5], "b": [2.0], "c": [1.0, 0.25]}


def records(f, *args):
    """How many values each list of records takes of an iteration."""
    text = ad.code_adjoint(f, *args)
    lists = re.findall(r"reversed (%\d+)", text)
    sizes = []
    for name in lists:
        for value in re.findall(rf"list_append {name} (%\d+|None)", text):
            made = re.search(rf"^ *{value} = build_tuple (.*?) *(#.*)?$", text, re.MULTILINE)
            sizes.append(len(made.group(1).split()) if made else 1)
    return sizes


def captured(y0, n):
    h, y = 0.5, [y0, 1.0]
    for _ in range(n):
        y = [v + h * v for v in y]
        h = h * math.cos(y[0])
    return y[0] * y[1]


def with_parameters(params, n):
    y = 1.0
    for _ in range(n):
        y = y - math.exp(params["rate"]) * y / (1.0 + y * params["scale"] ** 2)
    return y


def logarithms(x, y, n):
    for _ in range(n):
        y = y * math.log(x)
    return y


def guarded(x, y, n):
    for i in range(n):
        if x > 0.0:
            y = y * math.log(x)
        y = y * (i + 1.5)
    return y


def tree(x, p, n):
    values = [math.exp(x * j) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        values = [math.tanh(p * values[j + 1] + (1.0 - p) * values[j]) for j in range(i + 1)]
    return values[0]


def ranks(weights, damping, n):
    rank = {v: 1.0 for v in GRAPH}
    for _ in range(n):
        new = {v: 1.0 - damping for v in GRAPH}
        for v in GRAPH:
            for k, w in enumerate(GRAPH[v]):
                new[w] += damping * rank[v] * weights[v][k]
        rank = new
    return sum(rank[v] ** 2 for v in GRAPH)


def swapped(xs, ys, n):
    total = 0.0
    for k in range(n):
        for i in range(len(xs)):
            total = total + math.sin(total) * xs[i] * ys[i] * (k + 1)
        xs, ys = ys, [x * 0.5 for x in xs]
    return total


def changed_later(x, n):
    xs = [x, 2.0 * x, 3.0 * x]
    total = 0.0
    for k in range(n):
        for i in range(3):
            total = total + math.sin(total) * xs[i]
        xs[k % 3] = xs[k % 3] * total
    return total


def changed_in_turn(x, n):
    xs, ys = [x, 2.0], [3.0, x]
    total = 0.0
    for _ in range(n):
        for a, b in zip(xs, ys):
            total = total + math.sin(total) * a * b
        xs.append(total)
        xs, ys = ys, xs
    return total


def grown(x, n):
    xs = [x]
    for i in range(n):
        xs.append(math.sin(xs[i]) * xs[-1])
    return xs[-1]


def zipped(xs, ys, k):
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys)):
        total = total + math.sin(total * k) * x * y * i
    return total


def numbered(xs, k):
    total = 0.0
    for i, x in enumerate(xs):
        total = total + math.sin(total * k) * x * i
    return total


def whole_pairs(xs, ys, k):
    total, last = 0.0, (0.0, 1.0)
    for pair in zip(xs, ys):
        total = total + math.sin(total * k) * pair[0] * last[1]
        last = pair
    return total


def with_products(x, a, b, n):
    for i in range(n):
        d = x * a - b
        x = math.sin(x) + math.exp(-d * d) * (i - x)
    return x


def in_branches(x, k, n):
    total = 0.0
    for i in range(n):
        d = i * 0.5 - x
        if i % 3 == 1:
            total = total + math.exp(total * d * k)
        else:
            total = total * 0.5
    return total


CASES = [
    (captured, (0.3, 5)),
    (with_parameters, ({"rate": -1.0, "scale": 0.3}, 6)),
    (logarithms, (1.7, 0.5, 4)),
    (guarded, (1.7, 0.5, 4)),
    (guarded, (-1.7, 0.5, 4)),
    (tree, (0.1, 0.4, 6)),
    (ranks, (WEIGHTS, 0.85, 4)),
    (swapped, (KNOTS, [1.0, 0.5, 2.0, -1.0], 3)),
    (changed_later, (0.7, 5)),
    (changed_in_turn, (0.7, 4)),
    (grown, (0.7, 6)),
    (zipped, (KNOTS, [1.0, 0.5, 2.0], 0.7)),
    (zipped, (KNOTS[:2], [1.0, 0.5, 2.0], 0.7)),
    (zipped, ([], [1.0], 0.7)),
    (numbered, (KNOTS, 0.7)),
    (whole_pairs, (KNOTS, [1.0, 0.5, 2.0], 0.7)),
    (with_products, (0.3, 0.7, 0.2, 5)),
    (in_branches, (0.3, 0.7, 7)),
]


@pytest.mark.parametrize("f, args", CASES, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CASES)])
def test_gradients(f, args):
    check(f, *args)


@pytest.mark.parametrize("n", (0, 1, 3))
def test_what_raises_before_a_loop_without_iterations_is_no_error(n):
    if n:
        with pytest.raises(ValueError):
            ad.gradient(logarithms, -1.0, 2.0, n)
    else:
        assert ad.gradient(logarithms, -1.0, 2.0, n) == (0.0, 1.0, 0.0)


@shown
@pytest.mark.parametrize(
    "f, args, sizes",
    [
        (with_parameters, ({"rate": -1.0, "scale": 0.3}, 6), [1]),
        (logarithms, (1.7, 0.5, 4), [1]),
        (with_products, (0.3, 0.7, 0.2, 5), [3]),
    ],
)
def test_an_iteration_leaves_only_what_is_not_computed_again(f, args, sizes):
    assert records(f, *args) == sizes


@shown
def test_the_tree_keeps_of_each_node_no_item_of_the_lists():
    sizes = records(tree, 0.1, 0.4, 6)
    assert max(sizes) <= 3


@shown
def test_the_edges_of_a_graph_leave_no_records():
    text = ad.code_adjoint(ranks, WEIGHTS, 0.85, 4)
    assert "enumerate" in text
    assert len(records(ranks, WEIGHTS, 0.85, 4)) <= 3


@shown
def test_captured_variables_are_variables():
    assert "content" not in ad.code_adjoint(captured, 0.3, 5)


@shown
def test_what_one_branch_needs_is_computed_there():
    text = ad.code_adjoint(in_branches, 0.3, 0.7, 7)
    adjoint = text[text.index("reversed") :]
    branch = adjoint.index("branch")
    assert "0.5" not in adjoint[:branch] and "binary[-]" in adjoint[branch:]


def grids(xs, n):
    rows = [[math.sin(x * i) for x in xs] for i in range(n)]
    total = 0.0
    for row in rows:
        new = [math.cos(total * x) for x in row]
        for a, b in zip(row, new):
            total = total + math.tanh(total * a) * b
    return total


def until(xs, limit):
    total, steps = 1.0, 0
    while total < limit:
        xs = [x * math.exp(-0.1 * total) for x in xs]
        for x in xs:
            total = total + x * x * math.sin(total) ** 2 + 0.1
        steps += 1
    return total * xs[0] + steps


@pytest.mark.parametrize(
    "f, args", [(grids, (KNOTS, 5)), (grids, (KNOTS, 0)), (until, (KNOTS, 4.0)), (until, (KNOTS, 0.0))]
)
def test_records_of_loops_within_loops_are_taken_away(f, args):
    check(f, *args)
    if args[-1] and not (GENERIC or ONE_WAY):
        assert "getattr[pop]" in ad.code_adjoint(f, *args)


@pytest.mark.skipif(GENERIC, reason="there is no joint program")
def test_a_pullback_that_is_called_again_finds_its_records():
    _, back = ad.pullback(grids, KNOTS, 5)
    expected = ad.gradient(grids, KNOTS, 5)[0]
    for scale in (1.0, 2.0, 1.0):
        assert back(scale)[0] == pytest.approx([scale * x for x in expected])


def stores(xs, order, n):
    """Reads and stores in an order that nobody foresees."""
    ys, total = [x * x for x in xs], 1.0
    for k in range(n):
        for i in order:
            total = 0.5 * total + math.sin(total) * xs[i] * ys[i - 1]
            if i == k:
                ys[i] = math.cos(ys[i] * total)
        if k % 2:
            xs, ys = ys, [math.sin(y + total) for y in xs]
        elif k % 3 == 1:
            ys = list(xs)
    return total + sum(xs) + sum(ys)


@pytest.mark.parametrize("seed", range(12))
def test_reads_between_stores(seed):
    rng = random.Random(seed)
    check(stores, [rng.uniform(0.5, 1.5) for _ in range(4)], [rng.randrange(4) for _ in range(5)], 5)
