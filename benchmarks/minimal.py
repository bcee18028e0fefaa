"""A minimal tape, as one writes it by hand: variables with operators, which append ``(pullback, inputs)`` to a list."""

from __future__ import annotations

import numpy as np


class Tape:
    """The nodes: what cotangent each gives its inputs, and which these are."""

    def __init__(self):
        self.nodes = []

    def variable(self, value, pullback=None, *inputs):
        self.nodes.append((pullback, inputs))
        return Variable(value, len(self.nodes) - 1, self)

    def sweep(self, result):
        """The cotangents of all variables. A pullback gives parts, or changes what an input has so far."""
        found = [None] * len(self.nodes)
        found[result.node] = 1.0
        for index in range(len(found) - 1, -1, -1):
            pullback, inputs = self.nodes[index]
            if pullback is None or found[index] is None:
                continue
            if type(pullback) is InPlace:
                found[inputs[0]] = pullback.change(found[inputs[0]], found[index])
                continue
            for node, part in zip(inputs, pullback(found[index])):
                found[node] = part if found[node] is None else found[node] + part
            found[index] = None
        return found


class InPlace:
    """The pullback of a read of an element: it adds to the cotangent of the array."""

    def __init__(self, shape, key):
        self.shape, self.key = shape, key

    def change(self, before, given):
        whole = np.zeros(self.shape) if before is None else before
        whole[self.key] += given
        return whole


class Variable:
    """A number or an array, and its node."""

    __slots__ = ("node", "tape", "value")

    def __init__(self, value, node, tape):
        self.value, self.node, self.tape = value, node, tape

    def __add__(self, other):
        if type(other) is Variable:
            return self.tape.variable(self.value + other.value, lambda g: (g, g), self.node, other.node)
        return self.tape.variable(self.value + other, lambda g: (g,), self.node)

    def __mul__(self, other):
        a = self.value
        if type(other) is Variable:
            b = other.value
            return self.tape.variable(a * b, lambda g: (g * b, g * a), self.node, other.node)
        return self.tape.variable(a * other, lambda g: (g * other,), self.node)

    def sum(self):
        shape = self.value.shape
        return self.tape.variable(self.value.sum(), lambda g: (np.full(shape, g),), self.node)

    def copy(self):
        return self.tape.variable(self.value.copy(), lambda g: (g.copy(),), self.node)

    def __getitem__(self, key):
        return self.tape.variable(self.value[key], InPlace(self.value.shape, key), self.node)

    def __setitem__(self, key, other):
        def stored(g):
            part = g[key]
            g[key] = 0.0
            return g, part

        self.value[key] = other.value
        self.node = self.tape.variable(None, stored, self.node, other.node).node
