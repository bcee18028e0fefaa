"""Samples of families with parameters of location, scale and shape, of normal vectors, and in another order.

A sample y of a distribution function F(y; a) moves with its parameter so that F stays as it is: dy/da is -∂F/∂a by the
density (M. Figurnov, S. Mohamed, A. Mnih, Implicit reparameterization gradients, 2018). Gradients of expectations are
right then, whatever way the sample was made. Differences of samples with the same seed are not these derivatives
where samples are rejected, or a normal vector is made with singular vectors of its covariance.
"""

from functools import partial

import numpy as np

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable, rrule
from autodiff_hook.strong import over, times
from autodiff_rules._constants import IS_A_SOURCE
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import reshaped, unbroadcast
from autodiff_rules.numpy.decompositions import cholesky_cotangent
from autodiff_rules.numpy.indexing import numbered, take_cotangent

OWNERS = (np.random.Generator, np.random.RandomState)
PROBABILITIES = not_implemented("that of a random choice with respect to its probabilities")


def family(name, parameters, /, **functions):
    """Declare the cotangents of the parameters of a distribution, or decorate one function that gives them all."""
    if not functions:
        return partial(decorated_family, name, parameters)
    for target, signature in members(name, parameters):
        cotangents(target, signature, 0, **functions)


def decorated_family(name, parameters, function):
    of = ", ".join(parameter.partition("=")[0] for parameter in parameters.split(", "))
    for target, signature in members(name, parameters):
        cotangents(target, signature, 0, of)(function)
    return function


def members(name, parameters):
    """The methods of both kinds of generators, and the function, with their signatures."""
    methods = [(getattr(owner, name), f"self, {parameters}, size=None") for owner in OWNERS]
    return [*methods, (getattr(np.random, name), f"{parameters}, size=None")]


@nondifferentiable
def incomplete():
    """The incomplete gamma and beta functions, with their derivatives."""
    try:
        from autodiff_rules.scipy.special import _tails, gammas
    except ImportError:
        raise NotDifferentiable("the derivative of this sample with respect to its shape needs SciPy") from None
    return _tails, gammas


def gamma_slope(shape, y):
    """The derivative of a sample of the standard gamma distribution."""
    tails, gammas = incomplete()
    return over(-tails.gamma_in_order(shape, y), gammas.gamma_density(shape, y))


def beta_slopes(a, b, y):
    tails, gammas = incomplete()
    density = gammas.beta_density(a, b, y)
    return over(-tails.beta_in_first(a, b, y), density), over(-tails.beta_in_second(a, b, y), density)


family("standard_gamma", "shape", shape=lambda ȳ, y, shape: unbroadcast(times(ȳ, gamma_slope(shape, y)), shape))


@family("gamma", "shape, scale=1.0")
def gamma_cotangents(ȳ, y, shape, scale):
    unit = y / np.where(np.equal(scale, 0), 1.0, scale)
    return unbroadcast(times(ȳ * scale, gamma_slope(shape, unit)), shape), unbroadcast(ȳ * unit, scale)


family(
    "chisquare",
    "df",
    df=lambda ȳ, y, df: unbroadcast(times(ȳ, gamma_slope(0.5 * np.asarray(df), 0.5 * y)), df),
)


@family("beta", "a, b")
def beta_cotangents(ȳ, y, a, b):
    by_a, by_b = beta_slopes(a, b, y)
    return unbroadcast(times(ȳ, by_a), a), unbroadcast(times(ȳ, by_b), b)


@family("dirichlet", "alpha")
def dirichlet_cotangent(ȳ, y, alpha):
    shapes = np.asarray(alpha)
    moved = beta_slopes(shapes, np.sum(shapes) - shapes, y)[0]
    others = np.sum(times(ȳ, y), -1, keepdims=True) - times(ȳ, y)
    return unbroadcast(times(moved, ȳ - over(others, 1.0 - y)), alpha)


@family("standard_t", "df")
def standard_t_cotangent(ȳ, y, df):
    tails, gammas = incomplete()
    free = np.asarray(df)
    square = y * y
    # The density of t is that of t²/(df + t²), a beta variable, times the derivative of that.
    part = square / (free + square)
    density = gammas.beta_density(0.5, 0.5 * free, part) * np.abs(y) * free / (free + square) ** 2
    return unbroadcast(times(ȳ, over(-tails.student_in_df(free, y), density)), df)


@family("lognormal", "mean=0.0, sigma=1.0")
def lognormal_cotangents(ȳ, y, mean, sigma):
    noise = (np.log(y) - mean) / np.where(np.equal(sigma, 0), np.inf, sigma)
    c = ȳ * y
    return unbroadcast(c, mean), unbroadcast(times(c, noise), sigma)


def of_noise(c, moved, a):
    """The cotangent of ``a`` where ``moved`` is a power of noise, of which the logarithm goes with 1/a."""
    return unbroadcast(over(times(times(-c, moved), np.log(moved)), a), a)


family("weibull", "a", a=lambda ȳ, y, a: of_noise(ȳ, y, a))
family("power", "a", a=lambda ȳ, y, a: of_noise(ȳ, y, a))
family("pareto", "a", a=lambda ȳ, y, a: of_noise(ȳ, y + 1.0, a))


@family("triangular", "left, mode, right")
def triangular_cotangents(ȳ, y, left, mode, right):
    width, low, high = np.subtract(right, left), np.subtract(mode, left), np.subtract(right, mode)
    first = y < mode
    # The square of the distance from an end goes with the width and the length of its side.
    distance = np.where(first, 0.5 * (y - left), -0.5 * (right - y))
    by_width = times(ȳ, over(distance, width))
    by_low = over(times(ȳ, np.where(first, distance, 0.0)), low)
    by_high = over(times(ȳ, np.where(y >= mode, distance, 0.0)), high)
    by_left = np.where(first, ȳ, 0.0) - by_width - by_low
    by_right = np.where(first, 0.0, ȳ) + by_width + by_high
    return unbroadcast(by_left, left), unbroadcast(by_low - by_high, mode), unbroadcast(by_right, right)


family(
    "vonmises",
    "mu, kappa",
    mu=lambda ȳ, mu: unbroadcast(ȳ, mu),
    kappa="that of a von Mises sample with respect to its concentration",
)


@cotangents(
    np.random.Generator.multivariate_normal,
    "self, mean, cov, size=None, check_valid='warn', tol=1e-8, *, method='svd'",
    0,
    "mean, cov",
)
def multivariate_normal_cotangents(ȳ, y, mean, cov, method):
    if method == "cholesky":
        return unbroadcast(ȳ, mean), through_factor(ȳ, y - mean, cov)
    return normal_cotangents(ȳ, y, mean, cov)


def through_factor(ȳ, deviation, cov):
    """The cotangent of the covariance, whose Cholesky factor the noise was multiplied by."""
    factor = np.linalg.cholesky(np.asarray(cov))
    count = np.shape(factor)[-1]
    noise = np.linalg.solve(factor, np.reshape(deviation, (-1, count)).T)
    return cholesky_cotangent(np.dot(noise, np.reshape(ȳ, (-1, count))).T, factor, cov, "L")


@cotangents(
    np.random.RandomState.multivariate_normal,
    "self, mean, cov, size=None, check_valid='warn', tol=1e-8",
    0,
    "mean, cov",
)
def normal_cotangents(ȳ, y, mean, cov):
    """The cotangents of the mean and the covariance: with dΣ, y moves by half of dΣ Σ⁻¹ (y - mean)."""
    count = np.shape(y)[-1]
    whitened = np.dot(np.reshape(y - mean, (-1, count)), np.linalg.pinv(np.asarray(cov), hermitian=True))
    half = np.dot(np.reshape(ȳ, (-1, count)).T, whitened)
    return unbroadcast(ȳ, mean), unbroadcast(0.25 * (half + half.T), cov)


def number_of(a, axis):
    """How many there are to choose from; ``a`` may be their number."""
    return np.shape(a)[axis] if np.ndim(a) else a


def chosen(a, places, axis):
    """What stands at ``places``: these themselves if ``a`` is a number."""
    return np.take(a, places, axis) if np.ndim(a) else places


def chosen_cotangent(ȳ, a, places, axis):
    return reshaped(take_cotangent(ȳ, np.asarray(a), places, axis), a) if np.ndim(a) else None


@rrule(np.random.Generator.permutation)
def permutation_rule(self, x, axis=0):
    places = self.permutation(number_of(x, axis))

    def permutation_pullback(ȳ):
        return None, chosen_cotangent(ȳ, x, places, axis), None

    index = (*[slice(None)] * (axis % max(np.ndim(x), 1)), places)
    return np.asarray(x)[index] if np.ndim(x) else places, permutation_pullback


@rrule(np.random.RandomState.permutation)
def legacy_permutation_rule(self, x):
    places = self.permutation(number_of(x, 0))

    def permutation_pullback(ȳ):
        return None, chosen_cotangent(ȳ, x, places, 0)

    return chosen(x, places, 0), permutation_pullback


@rrule(np.random.Generator.permuted)
def permuted_rule(self, x, *, axis=None, out=None):
    places = self.permuted(numbered(x), axis=axis)

    def permuted_pullback(ȳ):
        return None, reshaped(take_cotangent(ȳ, x, places, None), x)

    return np.take(x, places), permuted_pullback


@rrule(np.random.Generator.choice)
def choice_rule(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    places = self.choice(number_of(a, axis), size, replace, p, 0, shuffle)

    def choice_pullback(ȳ):
        return None, chosen_cotangent(ȳ, a, places, axis), None, None, PROBABILITIES, None, None

    return chosen(a, places, axis), choice_pullback


@rrule(np.random.RandomState.choice)
def legacy_choice_rule(self, a, size=None, replace=True, p=None):
    places = self.choice(number_of(a, 0), size, replace, p)

    def choice_pullback(ȳ):
        return None, chosen_cotangent(ȳ, a, places, 0), None, None, PROBABILITIES

    return chosen(a, places, 0), choice_pullback


@defines(*[owner.shuffle for owner in OWNERS])
def shuffle(self, x, axis=0):
    """Shuffling in place draws what a permutation of so many numbers draws."""
    if isinstance(x, np.ndarray):
        x[...] = np.take(x, self.permutation(x.shape[axis]), axis)
        return
    items = list(x)
    for place, number in enumerate(self.permutation(len(items)).tolist()):
        x[place] = items[number]


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
