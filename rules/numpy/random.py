"""Samples: constants, but for the location and scale of the families that have them."""

from __future__ import annotations

import numpy as np

from autodiff_hook.registry import nondifferentiable, rrule
from autodiff_rules._constants import IS_A_SOURCE
from autodiff_rules.numpy._shared import unbroadcast

CONSTANTS = (
    "bytes get_state integers rand randint randn random random_integers random_sample ranf sample seed set_state "
    "spawn standard_cauchy standard_exponential standard_normal tomaxint"
)
OWNERS = (np.random.Generator, np.random.RandomState)


def location_scale(name):
    """Register the family ``name`` with a location and a scale, as methods and as a function."""

    def sample_rule(self, loc=0.0, scale=1.0, size=None):
        y = getattr(self, name)(loc, scale, size)

        def sample_pullback(ȳ):
            return None, *location_scale_cotangents(ȳ, y, loc, scale), None

        return y, sample_pullback

    def sample_function_rule(loc=0.0, scale=1.0, size=None):
        y = getattr(np.random, name)(loc, scale, size)

        def sample_pullback(ȳ):
            return *location_scale_cotangents(ȳ, y, loc, scale), None

        return y, sample_pullback

    for owner in OWNERS:
        rrule(getattr(owner, name))(sample_rule)
    rrule(getattr(np.random, name))(sample_function_rule)


def location_scale_cotangents(ȳ, y, loc, scale):
    """The cotangents of ``loc`` and ``scale`` in loc + scale * noise."""
    noise = (y - loc) / np.where(np.equal(scale, 0), np.inf, scale)
    return unbroadcast(ȳ, loc), unbroadcast(ȳ * noise, scale)


def scaled(name):
    """Register the family ``name`` with a scale alone, as methods and as a function."""

    def sample_rule(self, scale=1.0, size=None):
        y = getattr(self, name)(scale, size)

        def sample_pullback(ȳ):
            return None, location_scale_cotangents(ȳ, y, 0.0, scale)[1], None

        return y, sample_pullback

    def sample_function_rule(scale=1.0, size=None):
        y = getattr(np.random, name)(scale, size)

        def sample_pullback(ȳ):
            return location_scale_cotangents(ȳ, y, 0.0, scale)[1], None

        return y, sample_pullback

    for owner in OWNERS:
        rrule(getattr(owner, name))(sample_rule)
    rrule(getattr(np.random, name))(sample_function_rule)


@rrule(np.random.Generator.uniform)
@rrule(np.random.RandomState.uniform)
def uniform_rule(self, low=0.0, high=1.0, size=None):
    y = self.uniform(low, high, size)

    def uniform_pullback(ȳ):
        return None, *uniform_cotangents(ȳ, y, low, high), None

    return y, uniform_pullback


@rrule(np.random.uniform)
def uniform_function_rule(low=0.0, high=1.0, size=None):
    y = np.random.uniform(low, high, size)

    def uniform_pullback(ȳ):
        return *uniform_cotangents(ȳ, y, low, high), None

    return y, uniform_pullback


def uniform_cotangents(ȳ, y, low, high):
    """The cotangents of the bounds."""
    width = np.subtract(high, low)
    part = (y - low) / np.where(width == 0, np.inf, width)
    return unbroadcast(ȳ * (1.0 - part), low), unbroadcast(ȳ * part, high)


for family in ("normal", "laplace", "logistic", "gumbel"):
    location_scale(family)
for family in ("exponential", "rayleigh"):
    scaled(family)
for name in CONSTANTS.split():
    for owner in (*OWNERS, np.random):
        if hasattr(owner, name):
            nondifferentiable(getattr(owner, name), IS_A_SOURCE)
nondifferentiable(np.random.default_rng, IS_A_SOURCE)
