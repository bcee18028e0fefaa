"""Random programs that iterate: the specialised program agrees with the carried one."""

from __future__ import annotations

import os

import pytest
from random_iterations import Writer
from specialised_cases import check

COUNT = int(os.environ.get("AUTODIFF_TEST_PROGRAMS", "4"))
FIRST = int(os.environ.get("AUTODIFF_TEST_SEED", "0"))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_iterations(seed):
    namespace = {"__name__": "random_iterations"}
    exec(compile(Writer(seed).source(), f"<program {seed}>", "exec"), namespace)
    check(namespace["f"], 0.7, 1.3, specialised=None)
    check(namespace["f"], 1.4, 0.6, specialised=None)
