"""Distribution functions: of the normal distribution, and of Student's t."""

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise
from autodiff_rules.scipy.special._inverses import distribution
from autodiff_rules.scipy.special._tails import student_in_df

ROOT_TWO_PI = 2.5066282746310002
BY_ROOT_TWO_PI = 0.3989422804014327
ROOT_HALF = 0.7071067811865476


elementwise(special.ndtr, lambda x: BY_ROOT_TWO_PI * np.exp(-0.5 * x * x))
elementwise(special.ndtri, p=lambda y: ROOT_TWO_PI * np.exp(0.5 * y * y))
elementwise(special.log_ndtr, lambda x, y: BY_ROOT_TWO_PI * np.exp(-0.5 * x * x - y))
elementwise(special.ndtri_exp, p=lambda p, y: ROOT_TWO_PI * np.exp(p + 0.5 * y * y))


def student_density(df, t):
    """The density of Student's distribution."""
    scale = special.gammaln(0.5 * df + 0.5) - special.gammaln(0.5 * df) - 0.5 * np.log(np.pi * df)
    return np.exp(scale - 0.5 * (df + 1.0) * np.log1p(t * t / df))


distribution(special.stdtr, None, special.stdtrit, df=student_in_df, t=student_density)


def owens_t_a(h, a):
    growth = 1.0 + a * a
    return np.exp(-0.5 * h * h * growth) / (2.0 * np.pi * growth)


# From its definition, an integral over (0, a).
elementwise(
    special.owens_t,
    h=lambda h, a: -0.5 * BY_ROOT_TWO_PI * np.exp(-0.5 * h * h) * special.erf(ROOT_HALF * a * h),
    a=owens_t_a,
)
