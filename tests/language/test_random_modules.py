"""Random modules with classes, decorators and generators of their own: in every mode, and in many threads at once."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from corpus.modes import RUN
from corpus.registry import Program
from corpus.vectors import numbers
from random_modules import module

import autodiff_hook as ad

COUNT = int(os.environ.get("AUTODIFF_TEST_PROGRAMS", "60"))
FIRST = int(os.environ.get("AUTODIFF_TEST_SEED", "0"))
# A program that calls itself without end: as it is, it ends the process under CPython 3.13.
ENDLESS = frozenset({25})
SEEDS = [seed for seed in range(FIRST, FIRST + COUNT) if seed not in ENDLESS]
THREADS = 6
OPERATORS = (
    ad.gradient,
    lambda f, *args: ad.withgradient(f, *args)[1],
    lambda f, *args: ad.pullback(f, *args)[1](1.0),
)


def program(seed, sharing=True):
    """The program of a seed, in a module of its own."""
    names = {"__name__": f"random_module_{seed}"}
    exec(compile(module(seed, sharing), f"<random module {seed}>", "exec", dont_inherit=True), names)
    return Program("random modules", f"module.{seed}", names["f"], names["given"])


def error_of(made):
    """What the plain program raises."""
    try:
        made.function(*made.make())
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize("seed", SEEDS)
def test_in_every_mode(seed):
    made = program(seed)
    error = error_of(made)
    if error is not None:
        with pytest.raises(error):
            ad.gradient(made.function, *made.make())
        return
    for run in RUN.values():
        run(made)


@pytest.fixture
def switching():
    """Threads take turns after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("seed", SEEDS[::5])
def test_in_many_threads_at_once(switching, seed):
    """The first gradients of one program, in all threads at once, and of its operators."""
    made = program(seed, sharing=False)
    if error_of(made) is not None:
        return
    expected = ad.gradient(program(seed, sharing=False).function, *made.make())
    operators = [
        ad.gradient,
        lambda f, *args: ad.withgradient(f, *args)[1],
        lambda f, *args: ad.pullback(f, *args)[1](1.0),
    ]
    with ThreadPoolExecutor(THREADS) as pool:
        futures = [pool.submit(OPERATORS[i % 3], made.function, *made.make()) for i in range(2 * THREADS)]
        found = [numbers(future.result(), made.make()) for future in futures]
    for gradient in found:
        assert gradient == pytest.approx(numbers(expected, made.make()), rel=1e-9, abs=1e-12)
