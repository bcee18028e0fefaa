"""Random programs of values that may be None, objects and named tuples: the typed gradient is the carried one."""

from __future__ import annotations

import os

import pytest
from random_values import Writer
from specialised_cases import check, scope

from autodiff_hook.runtime import specialising

COUNT = int(os.environ.get("AUTODIFF_TEST_PROGRAMS", "30"))
FIRST = int(os.environ.get("AUTODIFF_TEST_SEED", "0"))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_programs(seed):
    f = scope(Writer(seed).program())["f"]
    for x, y in [(0.7, 0.3), (-0.4, 0.9), (0.2, -0.6)]:
        check(f, x, y, specialised=None if specialising.ONE_WAY else True)
