"""Power transforms: by their parameter they have a derivative where SciPy goes over to logarithms, too."""

import numpy as np
from scipy import special, stats
from scipy.stats import _morestats

from autodiff_rules.scipy._standins import stand_in


@stand_in(_morestats._yeojohnson_transform)
def transformed(x, lmbda, xp=None):
    above = x >= 0.0
    positive, negative = np.where(above, x, 0.0), np.where(above, 0.0, -x)
    return np.where(above, special.boxcox1p(positive, lmbda), -special.boxcox1p(negative, 2.0 - lmbda))


@stand_in(stats.boxcox_llf)
def log_likelihood(lmb, data, *, axis=0, keepdims=False, nan_policy="propagate"):
    total, variance = (np.nansum, np.nanvar) if nan_policy == "omit" else (np.sum, np.var)
    logarithms = np.log(data)
    count = np.sum(~np.isnan(logarithms), axis, keepdims=keepdims)
    spread = variance(special.boxcox(data, lmb), axis, keepdims=keepdims)
    return (lmb - 1.0) * total(logarithms, axis, keepdims=keepdims) - 0.5 * count * np.log(spread)
