"""Incomplete gamma and beta functions, and Student's distribution, with respect to their parameters.

A distribution function F(e; a) is an integral of exp g(w; a) up to an edge e, where w is chosen so that both tails
decay exponentially. Then ∂F/∂a is that of exp g ∂g/∂a, over the tail below the edge, or minus that above it, since
the whole is 0. The tail is taken in which ∂g/∂a has one sign, so that nothing cancels; where that is a long plateau,
the other. It is integrated with s = exp(τ - exp(-τ)), the double exponential formula for integrands that decay
exponentially (H. Takahasi, M. Mori, Double exponential formulas for numerical integration, 1974). All of it is NumPy,
so that derivatives of higher order follow.
"""

import numpy as np
from scipy import special

from autodiff_hook import stop_gradient

STEP = 0.0625
STEPS = np.arange(-62, 104) * STEP
NODES = np.exp(STEPS - np.exp(-STEPS))
WEIGHTS = STEP * (1.0 + np.exp(-STEPS)) * NODES


def column(x):
    """``x`` with an axis more, for the nodes."""
    return np.reshape(np.asarray(x, float), (*np.shape(x), 1))


def over_tail(integrand, below, scale):
    """The integral up to the edge, if that is below, else minus that from it on; ``integrand`` of the distance."""
    side = np.where(below, -1.0, 1.0)
    return -np.sum(WEIGHTS * integrand(side * scale * NODES), -1) * np.reshape(side * scale, np.shape(side)[:-1])


def gamma_in_order(a, x):
    """∂P(a, x)/∂a, with w = log t (DLMF 8.2.4)."""
    inside = (x > 0.0) & (x < np.inf) & (a > 0.0)
    c, z = column(np.where(inside, a, 1.0)), column(np.where(inside, x, 1.0))
    edge, mean = np.log(z), special.psi(c)
    below = (z <= 1.0) | (edge < mean)
    pull = np.where(below, 1.0, -1.0) * (c - z)
    rate = np.where(below, np.minimum(c, np.sqrt(z)), np.sqrt(z))
    scale = stop_gradient(1.0 / (np.maximum(pull, 0.0) + rate))

    def integrand(v):
        return np.exp(c * v - z * np.expm1(v)) * (edge + v - mean)

    height = np.exp(c * edge - z - special.gammaln(c))[..., 0]
    return at_edges(height * over_tail(integrand, below, scale), inside, a + x)


def beta_in_first(a, b, x):
    """∂I(a, b, x)/∂a, with w = log t/(1 - t) (DLMF 8.17.1)."""
    inside = (x > 0.0) & (x < 1.0) & (a > 0.0) & (b > 0.0)
    c, d = column(np.where(inside, a, 1.0)), column(np.where(inside, b, 1.0))
    z = column(np.where(inside, x, 0.5))
    mean = special.psi(c) - special.psi(c + d)
    below = (z * (1.0 + d) <= 1.0) | ((1.0 - z) * (1.0 + c) > 1.0) & (np.log(z) < mean)
    return at_edges(logit_tail(c, d, z, below, lambda v: log_moved(z, v) - mean), inside, a + b + x)


def beta_in_second(a, b, x):
    """∂I(a, b, x)/∂b."""
    inside = (x > 0.0) & (x < 1.0) & (a > 0.0) & (b > 0.0)
    c, d = column(np.where(inside, a, 1.0)), column(np.where(inside, b, 1.0))
    z = column(np.where(inside, x, 0.5))
    mean = special.psi(d) - special.psi(c + d)
    below = (z * (1.0 + d) <= 1.0) | ((1.0 - z) * (1.0 + c) > 1.0) & (np.log1p(-z) > mean)
    return at_edges(logit_tail(c, d, z, below, lambda v: log_left(z, v) - mean), inside, a + b + x)


def log_moved(z, v):
    """log t, where log t/(1 - t) is moved by v from t = z."""
    return np.log(z) - log_growth(z, -v)


def log_left(z, v):
    """log(1 - t)."""
    return np.log1p(-z) - log_growth(1.0 - z, v)


def log_growth(z, v):
    """log(z + (1 - z) exp v)."""
    low, high = np.minimum(v, 1.0), np.maximum(v, 1.0)
    return np.where(v < 1.0, np.log(z + (1.0 - z) * np.exp(low)), high + np.log(1.0 - z + z * np.exp(-high)))


def logit_tail(c, d, z, below, score):
    pull = np.where(below, 1.0, -1.0) * (c * (1.0 - z) - d * z)
    rate = np.minimum(np.where(below, c, d), np.sqrt((c + d) * z * (1.0 - z)))
    scale = stop_gradient(1.0 / (np.maximum(pull, 0.0) + rate))

    def integrand(v):
        return np.exp(-c * log_growth(z, -v) - d * log_growth(1.0 - z, v)) * score(v)

    height = np.exp(c * np.log(z) + d * np.log1p(-z) - special.betaln(c, d))[..., 0]
    return height * over_tail(integrand, below, scale)


def at_edges(value, inside, arguments):
    """0 at the ends of the support and beyond, nan for what is nan."""
    return np.where(inside, value, np.where(np.isnan(arguments), np.nan, 0.0))


def student_in_df(df, t):
    """∂F(t; df)/∂df of Student's distribution, that of an incomplete beta function of df/(df + t²) (DLMF 8.17.1)."""
    z = df / (df + t * t)
    inside = (t != 0.0) & (z > 0.0)
    z = np.where(inside, z, 0.5)
    in_order = 0.5 * beta_in_first(0.5 * df, 0.5, z)
    density = np.exp(0.5 * df * np.log(z) - 0.5 * np.log1p(-z) - special.betaln(0.5 * df, 0.5))
    moved = density * (1.0 - z) / df
    return at_edges(-0.5 * np.sign(t) * (in_order + moved), inside, df + t)
