"""Samples: constants, but for the location and scale of the families that have them."""

import numpy as np

from autodiff_hook.extend import nondifferentiable
from autodiff_rules._constants import IS_A_SOURCE
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.numpy.samples import OWNERS, family

CONSTANTS = (
    "bytes get_state integers rand randint randn random random_integers random_sample ranf sample seed set_state "
    "spawn standard_cauchy standard_exponential standard_normal tomaxint"
)


def part(y, start, length):
    """``y`` in a range that is scaled to have the length one: what was drawn, whatever the parameters are."""
    return (y - start) / np.where(np.equal(length, 0), np.inf, length)


for name in ("normal", "laplace", "logistic", "gumbel"):
    family(
        name,
        "loc=0.0, scale=1.0",
        loc=lambda ȳ, loc: unbroadcast(ȳ, loc),
        scale=lambda ȳ, y, loc, scale: unbroadcast(ȳ * part(y, loc, scale), scale),
    )
for name in ("exponential", "rayleigh"):
    family(name, "scale=1.0", scale=lambda ȳ, y, scale: unbroadcast(ȳ * part(y, 0.0, scale), scale))
family(
    "uniform",
    "low=0.0, high=1.0",
    low=lambda ȳ, y, low, high: unbroadcast(ȳ * (1.0 - part(y, low, np.subtract(high, low))), low),
    high=lambda ȳ, y, low, high: unbroadcast(ȳ * part(y, low, np.subtract(high, low)), high),
)
for name in CONSTANTS.split():
    for owner in (*OWNERS, np.random):
        if hasattr(owner, name):
            nondifferentiable(getattr(owner, name), IS_A_SOURCE)
nondifferentiable(np.random.default_rng, IS_A_SOURCE)
