"""Memory that is known by other names: buffers from outside, memory views, flat iterators."""

from __future__ import annotations

import numpy as np

from corpus.registry import program

CONSTRUCT = "shared buffers"
WORKSPACE = np.zeros(2)
BUFFER = np.zeros(2)
VIEW = memoryview(BUFFER)
FROM_BUFFER = np.frombuffer(memoryview(BUFFER))
FLAT = BUFFER.flat


@program(CONSTRUCT, np.array([0.1, 0.2]))
def workspace_from_outside(x):
    np.multiply(x, x, out=WORKSPACE)
    return (WORKSPACE * x).sum()


@program(CONSTRUCT, 3.0, error_allowed=True)
def read_by_a_memoryview(x):
    BUFFER[0] = x
    return VIEW[0] ** 2 * 1.0


@program(CONSTRUCT, 3.0)
def read_by_frombuffer(x):
    BUFFER[0] = x
    return FROM_BUFFER[0] ** 2


@program(CONSTRUCT, 3.0)
def read_by_a_flat_iterator(x):
    BUFFER[0] = x
    return FLAT[0] ** 2


@program(CONSTRUCT, 3.0)
def written_through_a_memoryview(x):
    a = np.zeros(1)
    b = np.asarray(memoryview(a))
    b[0] = 2 * x
    return a[0] * 1.0


@program(CONSTRUCT, 1.3)
def item_of_a_flat_iterator(x):
    a = np.array([x, 1.0])
    return a.flat[0]
