"""A check of what is solved with sparse matrices, in one direction: forward mode and second derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import normal

import autodiff_hook as ad


def check_directions(f, data, b):
    """The tangents of ``f`` are those of its gradients, and its second derivatives by ``data`` their differences."""
    v = normal(data.size, seed=3), b
    ḡ = ad.gradient(f, data, b)
    assert ad.jvp(f, (data, b), v)[1] == pytest.approx(sum(np.sum(g * d) for g, d in zip(ḡ, v)))
    above = ad.gradient(f, data + 1e-6 * v[0], b)[0]
    below = ad.gradient(f, data - 1e-6 * v[0], b)[0]
    second = ad.hvp(f, (data, b), (v[0], np.zeros_like(b)))[0]
    np.testing.assert_allclose(second, (above - below) / 2e-6, rtol=1e-4, atol=1e-5)
