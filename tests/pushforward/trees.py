"""Trees of numbers and arrays: directions and products."""

import numpy as np

from autodiff_hook._testing_trees import cotangent, inner


def direction(point, seed=0):
    return cotangent(point, np.random.default_rng(seed))


__all__ = ["direction", "inner"]
