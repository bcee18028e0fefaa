"""Distribution functions solved for a parameter, or a number of events, in the place of which a probability is given.

Numbers of events are continuous there: F(k; m) = Q(k + 1, m) of Poisson's distribution, I(n - k, k + 1, 1 - p) of the
binomial and I(n, k + 1, p) of the negative binomial one (DLMF 8.17.5).
"""

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise
from autodiff_rules.scipy.special._inverses import distribution
from autodiff_rules.scipy.special._tails import beta_in_first, beta_in_second, gamma_in_order, student_in_df
from autodiff_rules.scipy.special.distributions import (
    NONCENTRAL,
    f_in_first,
    f_in_second,
    f_slope,
    student_density,
)
from autodiff_rules.scipy.special.gammas import beta_density, gamma_density

LEAST = 1e-30


def between(k, slope, farthest=np.inf):
    """The slope by a number that is kept at 0 or at the end of the search, where it would lie beyond: infinite."""
    return np.where((k < LEAST) | (k >= farthest), np.inf, slope)


GAMMA = {
    "a": lambda a, b, x: x * gamma_density(b, a * x),
    "b": lambda a, b, x: gamma_in_order(b, a * x),
    "x": lambda a, b, x: a * gamma_density(b, a * x),
}
BETA = {"a": beta_in_first, "b": beta_in_second, "x": beta_density}
BINOMIAL = {
    "k": lambda k, n, p: between(k, beta_in_second(n - k, k + 1.0, 1.0 - p) - beta_in_first(n - k, k + 1.0, 1.0 - p)),
    "n": lambda k, n, p: beta_in_first(n - k, k + 1.0, 1.0 - p),
    "p": lambda k, n, p: -beta_density(n - k, k + 1.0, 1.0 - p),
}
NEGATIVE = {
    "k": lambda k, n, p: between(k, beta_in_second(n, k + 1.0, p)),
    "n": lambda k, n, p: beta_in_first(n, k + 1.0, p),
    "p": lambda k, n, p: beta_density(n, k + 1.0, p),
}


def noncentral(name):
    slope = NONCENTRAL[name]
    return lambda x, df, nc: slope(x, df, np.maximum(nc, LEAST))


def solved_for(edge, target, slopes):
    distribution(None, None, target, edge=edge, **{name: slopes[name] for name in slopes if name != "edge"})


solved_for("a", special.gdtria, GAMMA)
solved_for("b", special.gdtrib, GAMMA)
solved_for("a", special.btdtria, BETA)
solved_for("b", special.btdtrib, BETA)
solved_for("k", special.bdtrik, BINOMIAL)
solved_for("n", special.bdtrin, BINOMIAL)
solved_for("k", special.nbdtrik, NEGATIVE)
solved_for("n", special.nbdtrin, NEGATIVE)
solved_for("df", special.chndtridf, NONCENTRAL)
solved_for(
    "nc",
    special.chndtrinc,
    {"x": noncentral("x"), "df": noncentral("df"), "nc": lambda x, df, nc: between(nc, noncentral("nc")(x, df, nc))},
)
solved_for("df", special.stdtridf, {"df": lambda df, t: between(df, student_in_df(df, t), 1e10), "t": student_density})
solved_for(
    "dfd",
    special.fdtridfd,
    {"dfn": f_in_first, "dfd": lambda dfn, dfd, x: between(dfd, f_in_second(dfn, dfd, x), 1e30), "x": f_slope},
)
solved_for(
    "v",
    special.chdtriv,
    {
        "v": lambda v, x: 0.5 * gamma_in_order(0.5 * v, 0.5 * x),
        "x": lambda v, x: 0.5 * gamma_density(0.5 * v, 0.5 * x),
    },
)
solved_for(
    "k",
    special.pdtrik,
    {"k": lambda k, m: between(k, -gamma_in_order(k + 1.0, m)), "m": lambda k, m: -gamma_density(k + 1.0, m)},
)


def normal_slope(p):
    """1/φ of the quantile, the derivative of that by the probability."""
    return 2.5066282746310002 * np.exp(0.5 * np.square(special.ndtri(p)))


elementwise(
    special.nrdtrimn,
    p=lambda p, std, x: -std * normal_slope(p),
    std=lambda p, std, x: -special.ndtri(p),
    x=lambda p, std, x: 1.0 + 0.0 * (p + std + x),
)
elementwise(
    special.nrdtrisd,
    mn=lambda mn, p, x: -1.0 / special.ndtri(p) + 0.0 * (mn + x),
    p=lambda mn, p, x, y: -y * normal_slope(p) / special.ndtri(p),
    x=lambda mn, p, x: 1.0 / special.ndtri(p) + 0.0 * (mn + x),
)
