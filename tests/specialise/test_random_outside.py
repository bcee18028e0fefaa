"""Random programs that change what is outside, some as they raise and handle exceptions.

Derivatives, and what is left there, are those of the plain program.
"""

from __future__ import annotations

import math
import os
import random

import numpy as np
import pytest
import random_exceptions
import random_outside
from specialised_cases import GENERIC, close, has_all_ways, outcome, same

import autodiff_hook as ad
from autodiff_hook.api import generic_hvp, generic_jvp, generic_withgradient
from autodiff_hook.runtime import specialising

COUNT = int(os.environ.get("AUTODIFF_TEST_PROGRAMS", "20"))
FIRST = int(os.environ.get("AUTODIFF_TEST_SEED", "0"))
WRITERS = {"outside": random_outside.Writer, "exceptions": random_exceptions.Writer}


def made(source):
    """The names of a program begun anew."""
    namespace = {"__name__": "random_outside", "math": math, "np": np}
    exec(compile(source, "<program>", "exec"), namespace)
    return namespace


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_outside(seed, kind):
    source, choice = WRITERS[kind](seed).source(), random.Random(seed)
    spaces = plain, carried, typed, pushed, along, twice, bent = [made(source) for _ in range(7)]
    for _ in range(4):
        args = choice.uniform(0.1, 0.9), choice.uniform(0.1, 0.9)
        value = outcome(plain["f"], *args)
        expected = outcome(generic_withgradient, carried["f"], *args)
        found = outcome(ad.withgradient, typed["f"], *args)
        forward = outcome(ad.jvp, pushed["f"], args, (0.6, 0.8))
        wanted = outcome(generic_jvp, along["f"], args, (0.6, 0.8))
        product = outcome(ad.hvp, twice["f"], args, (0.6, 0.8))
        curved = outcome(generic_hvp, bent["f"], args, (0.6, 0.8))
        if isinstance(value, type):
            assert found is forward is product is expected is value, source
        elif isinstance(expected, type):
            assert found is expected, source
        else:
            assert repr(found[0]) == repr(value), source
            same(found[1], expected[1])
            close(forward, wanted)
            close(product, curved)
        assert len({space["state"]() for space in spaces}) == 1, source


@pytest.mark.skipif(GENERIC or specialising.ONE_WAY, reason="nothing is typed for all ways")
@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("operator, args", [(ad.gradient, (0.3, 0.4)), (ad.hvp, ((0.3, 0.4), (0.6, 0.8)))])
def test_most_are_typed(operator, args, kind):
    """The programs are no test of what carries them."""
    count = 0
    for seed in range(20):
        f = made(WRITERS[kind](seed).source())["f"]
        outcome(operator, f, *args)
        count += has_all_ways(f)
    assert count > 4
