"""Trees of numbers and arrays: directions, products, differences."""

import numpy as np

from autodiff_hook._testing_trees import cotangent, inner, mapped


def direction(point, seed=0):
    return cotangent(point, np.random.default_rng(seed))


def moved(point, direction, step):
    def shift(x, v):
        if isinstance(x, np.ndarray):
            return x + step * v
        return x if isinstance(x, int) else x + step * v

    return mapped(shift, point, direction)


def fixed(point, direction):
    """``direction`` without moving whole numbers."""
    return mapped(lambda x, v: 0.0 if isinstance(x, int) else v, point, direction)


def numbers(tree):
    """All numbers of a tree in one array."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return np.concatenate([numbers(part) for part in tree]) if tree else np.zeros(0)
    return np.ravel(tree)


__all__ = ["direction", "fixed", "inner", "moved", "numbers"]
