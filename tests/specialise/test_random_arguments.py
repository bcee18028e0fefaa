"""Random programs with objects, defaults, decorators and subclasses: finite differences, in many threads."""

from __future__ import annotations

import concurrent.futures
import math
import os
import random

import numpy as np
import pytest
from random_arguments import NAMES, TAKEN, arguments, program

import autodiff_hook as ad

COUNT = int(os.environ.get("AUTODIFF_TEST_PROGRAMS", "30"))
FIRST = int(os.environ.get("AUTODIFF_TEST_SEED", "0"))
STEP = 1e-6


def leaves(gradient, argument):
    """The numbers of a gradient in the order in which the argument was made of them."""
    if isinstance(argument, float):
        return [gradient]
    if isinstance(argument, np.ndarray):
        return list(np.ravel(gradient))
    if isinstance(argument, (list, tuple)):
        return [x for g, a in zip(gradient, argument) for x in leaves(g, a)]
    if isinstance(argument, dict):
        return [x for key in argument for x in leaves(gradient[key], argument[key])]
    if type(argument).__name__ in ("Part", "Derived"):
        return [x for name in ("k", "ws", "inner") for x in leaves(getattr(gradient, name), getattr(argument, name))]
    if type(argument).__name__ == "Slotted":
        return [x for name in ("a", "pair") for x in leaves(getattr(gradient, name), getattr(argument, name))]
    return []


def derivatives(f, make, values):
    """Central differences; None where those of two steps differ: a kink is near."""
    found = []
    for i in range(len(values)):
        both = []
        for step in (STEP, 3 * STEP):
            there, back = ([*values[:i], values[i] + d, *values[i + 1 :]] for d in (step, -step))
            both.append((float(f(*make(there))) - float(f(*make(back)))) / (2 * step))
        found.append(both[0] if math.isclose(*both, rel_tol=1e-4, abs_tol=1e-5) else None)
    return found


def checked(seed):
    """Check one program; returns its text, and how it ended."""
    source, names, kinds = program(seed)
    in_scope = seed % 4 > 0  # what the decorators and classes are
    namespace = {"__name__": "random_arguments" if in_scope else "another_module", **NAMES}
    exec(compile(source, f"<program {seed}>", "exec"), namespace)
    f = namespace["f"]
    choice = random.Random(seed)
    values = [choice.uniform(0.2, 1.2) for _ in range(sum(TAKEN[name] for name in names.split()))]

    def make(numbers):
        return arguments(names, kinds, iter(numbers))

    try:
        value = f(*make(values))
    except Exception as error:
        with pytest.raises(type(error)):
            ad.gradient(f, *make(values))
        return source, "raises"
    expected = derivatives(f, make, values)
    for _ in range(4):
        args = make(values)
        shown = make(values)
        found, grads = ad.withgradient(f, *args)
        assert found == pytest.approx(value), source
        got = [x for g, a in zip(grads, shown) for x in leaves(g, a)]
        assert len(got) == len(expected), source
        for a, b in zip(got, expected):
            assert b is None or math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5), (source, got, expected)
    return source, "right"


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_arguments(seed):
    try:
        checked(seed)
    except ad.NotDifferentiable as error:
        assert "Remed" in str(error)


def test_in_threads():
    seeds = list(range(FIRST, FIRST + COUNT // 4)) * 2
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(test_random_arguments, seed) for seed in seeds]:
            future.result()
