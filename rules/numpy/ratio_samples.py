"""Samples of F, of noncentral χ² and F, and of Wald's distribution, which move as those in ``samples`` do."""

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import nondifferentiable, over, times
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.numpy.samples import family


@nondifferentiable
def functions():
    """The derivatives of distribution functions, and SciPy's special functions."""
    try:
        from scipy import special

        from autodiff_rules.scipy.special import distributions
    except ImportError:
        raise NotDifferentiable("the derivative of this sample with respect to its parameters needs SciPy") from None
    return distributions, special


@family("f", "dfnum, dfden")
def f_cotangents(ȳ, y, dfnum, dfden):
    known, _ = functions()
    c = over(-ȳ, known.f_slope(dfnum, dfden, y))
    first, second = known.f_in_first(dfnum, dfden, y), known.f_in_second(dfnum, dfden, y)
    return unbroadcast(times(c, first), dfnum), unbroadcast(times(c, second), dfden)


@family("noncentral_chisquare", "df, nonc")
def noncentral_chisquare_cotangents(ȳ, y, df, nonc):
    known, _ = functions()
    free, shift = np.asarray(df), np.asarray(nonc)
    c = over(-ȳ, noncentral_chisquare_density(known, y, free, shift))
    by_free = unbroadcast(times(c, known.noncentral_in_df(y, free + 0.0 * y, shift + 0.0 * y)), df)
    return by_free, unbroadcast(times(c, known.noncentral_in_nc(y, free, shift)), nonc)


def noncentral_chisquare_density(known, y, df, nonc):
    """The density: a mean of those with 0, 2, 4, … degrees of freedom more."""
    more, weight = known.weights(nonc + 0.0 * y)
    half_df, half = (0.5 * df + 0.0 * y)[..., None], (0.5 * y + 0.0 * df)[..., None]
    return 0.5 * np.sum(weight * known.gamma_density(half_df + more, half + 0.0 * more), -1)


@family("noncentral_f", "dfnum, dfden, nonc")
def noncentral_f_cotangents(ȳ, y, dfnum, dfden, nonc):
    known, special = functions()
    slopes = noncentral_f_slopes(known, special, y, dfnum, dfden, nonc)
    return tuple([unbroadcast(times(ȳ, s), x) for s, x in zip(slopes, (dfnum, dfden, nonc))])


def noncentral_f_slopes(known, special, y, dfnum, dfden, nonc):
    """The derivatives of a sample: its distribution function is a mean of those with 0, 2, 4, … degrees more."""
    y, first, second, shift = [x[..., None] for x in np.broadcast_arrays(y, dfnum, dfden, nonc)]
    more, weight = known.weights(shift[..., 0])
    whole = first * y + second
    part, a, b = first * y / whole + 0.0 * more, 0.5 * first + more, 0.5 * second + 0.0 * more
    density = np.sum(weight * known.beta_density(a, b, part), -1)
    length = (whole * whole / (first * second))[..., 0]
    steps = special.betainc(a, b, part) - special.betainc(a + 1.0, b, part)
    by_first, by_second, by_shift = (
        0.5 * np.sum(weight * slope, -1) / density * length
        for slope in (-known.beta_in_first(a, b, part), -known.beta_in_second(a, b, part), steps)
    )
    return by_first - (y / first)[..., 0], by_second + (y / second)[..., 0], by_shift


@family("wald", "mean, scale")
def wald_cotangents(ȳ, y, mean, scale):
    _, special = functions()
    far = np.sqrt(np.divide(scale, y)) * (np.divide(y, mean) + 1.0)
    # The tail of the normal distribution by its density, both at ``far``.
    tail = np.sqrt(0.5 * np.pi) * special.erfcx(far / np.sqrt(2.0))
    moved = 2.0 * tail * np.sqrt(y * y * y / scale)
    by_mean, by_scale = moved * scale / np.square(mean), y / scale - moved / mean
    return unbroadcast(times(ȳ, by_mean), mean), unbroadcast(times(ȳ, by_scale), scale)
