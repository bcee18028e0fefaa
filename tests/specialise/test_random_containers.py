"""Random programs over containers under many names: the specialised program agrees with the carried one."""

from __future__ import annotations

import heapq
import math
import os
import random
from collections import deque
from functools import partial

import numpy as np
import pytest
from random_containers import Writer, given
from specialised_cases import check_directions, oracle, outcome, same

import autodiff_hook as ad

COUNT = int(os.environ.get("AUTODIFF_TEST_PROGRAMS", "10"))
FIRST = int(os.environ.get("AUTODIFF_TEST_SEED", "0"))
KINDS = (0, 1, 2, 0)
"""What the arguments of one program are, call by call."""


def given_of(values, kind):
    """The arguments, made of values."""
    return given(iter(values), kind)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_containers(seed):
    source, choice = Writer(seed).source(), random.Random(seed)
    namespace = {"__name__": "random_containers", "math": math, "np": np, "heapq": heapq, "deque": deque}
    exec(compile(source, f"<program {seed}>", "exec"), namespace)
    f = namespace["f"]
    for kind in KINDS:
        values = [choice.uniform(0.1, 0.9) for _ in range(12)]
        value = outcome(f, *given(iter(values), kind))
        expected = outcome(oracle, f, *given(iter(values), kind))
        found = outcome(ad.withgradient, f, *given(iter(values), kind))
        if isinstance(expected, type) or isinstance(found, type):
            assert found is expected, source
            assert not isinstance(value, type) or value is found, source
            continue
        assert repr(found[0]) == repr(value), source
        same(found[1], expected[1])
        check_directions(f, partial(given_of, values, kind), value, expected[1])
