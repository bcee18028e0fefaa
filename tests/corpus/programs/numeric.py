"""Functions of NumPy, SciPy and math whose parameters are no mere settings, and branches taken element by element."""

from __future__ import annotations

import math

import numpy as np

from corpus.registry import program

PARAMETERS = "parameters of numeric functions"
MASKS = "elements that are masked out"
FIRST_ORDER = ("typed", "path", "carried", "pullback", "jvp")


@program(PARAMETERS, 2.0)
def spacing_of_frequencies(d):
    return np.fft.fftfreq(6, d)[1:3].sum()


@program(PARAMETERS, 2.0)
def limit_of_a_grid(a):
    return np.mgrid[0:a:3j].sum()


@program(PARAMETERS, 2.0)
def limit_of_a_row(a):
    return np.r_[0:a:3j].sum()


@program(PARAMETERS, 25.0)
def rank_of_a_percentile(q):
    return np.percentile(np.array([0.0, 100.0]), q)


@program(PARAMETERS, 1.3, expected=[1.0], modes=FIRST_ORDER, error_allowed=True)
def next_representable(x):
    return math.nextafter(x, 2.0)


@program(PARAMETERS, 1.3)
def complex_of_two_parts(x):
    return np.complex128(x, 2.0).real


@program(PARAMETERS, 0.3, needs="scipy.stats")
def density(x):
    from scipy import stats

    return stats.norm.logpdf(x)


@program(MASKS, np.array([0.5, 2.0]), expected=[-1 / math.sqrt(2), 2.0])
def square_root_beside_its_domain(x):
    return np.sum(np.where(x < 1, np.sqrt(np.maximum(1 - x, 0)), 2 * x))


@program(MASKS, np.array([0.5, 0.0]), expected=[1 + math.log(0.5), 0.0])
def logarithm_of_what_is_replaced(x):
    return np.sum(np.where(x > 0, x * np.log(np.where(x > 0, x, 1)), 0.0))


@program(MASKS, np.array([0.5, 0.0]), expected=[1 + math.log(0.5), 0.0])
def logarithm_at_zero(x):
    with np.errstate(all="ignore"):
        return np.sum(np.where(x > 0, x * np.log(x), 0.0))
