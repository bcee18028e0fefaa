"""Lists of lists, and lists of objects: what structured data looks like in plain Python."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.workloads.base import Case, workload


def warp(xs, ys):
    rows, columns = len(xs), len(ys)
    cost = [[float("inf")] * (columns + 1) for _ in range(rows + 1)]
    cost[0][0] = 0.0
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            step = (xs[i - 1] - ys[j - 1]) ** 2
            cost[i][j] = step + min(cost[i - 1][j], cost[i][j - 1], cost[i - 1][j - 1])
    return cost[rows][columns]


def warp_adjoint(xs, ys):
    above = [0.0] + [float("inf")] * len(ys)
    table = [above]
    for x in xs:
        left = float("inf")
        row = [left]
        for j, y in enumerate(ys):
            left = (x - y) * (x - y) + min(above[j + 1], left, above[j])
            row.append(left)
        table.append(row)
        above = row
    xs_bar, ys_bar = [0.0] * len(xs), [0.0] * len(ys)
    i, j = len(xs), len(ys)
    while i and j:
        slope = 2.0 * (xs[i - 1] - ys[j - 1])
        xs_bar[i - 1] += slope
        ys_bar[j - 1] -= slope
        up, left, corner = table[i - 1][j], table[i][j - 1], table[i - 1][j - 1]
        if up <= left and up <= corner:
            i -= 1
        elif left <= corner:
            j -= 1
        else:
            i, j = i - 1, j - 1
    return xs_bar, ys_bar


@workload("warp", "dynamic time warping: a table of rows that are lists", size=40, small=4)
def build_warp(count):
    rng = np.random.default_rng(5)
    xs, ys = (np.cumsum(rng.normal(size=count)).tolist() for _ in range(2))
    return Case(warp, lambda xs, ys: warp(xs, ys), warp_adjoint, (xs, ys))


class Node:
    """A point of a frame."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def distance(self, other):
        return math.sqrt((self.x - other.x) ** 2 + (self.y - other.y) ** 2)


def strain(nodes, springs):
    energy = 0.0
    for first, second, stiffness, rest in springs:
        stretch = nodes[first].distance(nodes[second]) - rest
        if stretch > 0.0:
            energy += 0.5 * stiffness * stretch**2
    return energy


def strain_adjoint(nodes, springs):
    xs, ys = [node.x for node in nodes], [node.y for node in nodes]
    xs_bar, ys_bar = [0.0] * len(xs), [0.0] * len(xs)
    for first, second, stiffness, rest in springs:
        dx, dy = xs[first] - xs[second], ys[first] - ys[second]
        distance = math.sqrt(dx * dx + dy * dy)
        stretch = distance - rest
        if stretch > 0.0:
            factor = stiffness * stretch / distance
            xs_bar[first] += factor * dx
            ys_bar[first] += factor * dy
            xs_bar[second] -= factor * dx
            ys_bar[second] -= factor * dy
    return ([{"x": x, "y": y} for x, y in zip(xs_bar, ys_bar)],)


@workload("frame", "a list of objects, joined by springs", size=60, small=4)
def build_frame(count):
    rng = np.random.default_rng(6)
    nodes = [Node(*rng.normal(size=2).tolist()) for _ in range(count)]
    springs = [(i, (i + k) % count, 1.0 + 0.1 * k, 0.5) for i in range(count) for k in (1, 2, 3)]
    return Case(strain, lambda nodes: strain(nodes, springs), strain_adjoint, (nodes,), (springs,))
