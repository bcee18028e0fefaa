"""Lists given to NumPy or changed after use, arrays of one number, checkpoints: tangents are lost or read late."""

from __future__ import annotations

import math

import numpy as np

from corpus.registry import program


@program("lists given to NumPy", [1.0, 2.0])
def total_of_a_list(xs):
    return np.sum(xs)


@program("lists given to NumPy", 2.0)
def dot_of_lists(x):
    return np.dot([x, 1.0], [3 * x, 1.0]) * 1.0 + x * x


@program("lists given to NumPy", [1.0, 2.0])
def product_of_a_list(xs):
    return np.prod(xs)


@program("lists given to NumPy", 1.0)
def cosines_of_a_list(x):
    return np.cos([x, x]).sum()


@program("lists given to NumPy", 1.3)
def diagonal_of_a_list(x):
    return np.diag([x, 1.0]).sum()


@program("lists given to NumPy", np.array([1.0, 2.0]))
def columns_of_numbers(v):
    return np.column_stack(v[:, None]).sum()


@program("lists changed after use", 1.3)
def summed_and_cleared(x):
    xs = [x]
    total = sum(xs) * x * x
    xs.clear()
    return total


@program("lists changed after use", 1.3)
def multiplied_and_stored_to(x):
    xs = [x, x]
    product = math.prod(xs)
    xs[0] = 5.0
    return product * x


@program("lists changed after use", 1.3)
def maximum_and_cleared(x):
    xs = [x, 0.0]
    largest = max(xs)
    xs.clear()
    return largest * x * x


@program("lists changed after use", 1.3)
def stacked_and_appended_to(x):
    xs = [[x], [x]]
    product = np.hstack(xs).prod()
    xs.append([x])
    return product


@program("0-d arrays", 0.7)
def added_into_a_number_in_an_array(x):
    s = np.zeros(())
    s += x * x
    s += x
    return s * s


@program("0-d arrays", 1.3)
def multiplied_into_a_number_in_an_array(x):
    a = np.array(x)
    a *= x
    a *= a
    return float(a)


@program("loops", 1.3)
def carried_but_unused(x):
    p, s = np.eye(2) * x, 0.0
    for _ in range(2):
        s = s + np.sum(p) * 0.5
        p = p @ np.eye(2)
    return s


COUNT = [0]


def counting(t):
    COUNT[0] += 1
    return t * t * COUNT[0]


@program("checkpoints", 2.0, error_allowed=True)
def checkpoint_of_a_function_with_state(x):
    import autodiff_hook as ad

    COUNT[0] = 0
    return ad.checkpoint(counting)(x)
