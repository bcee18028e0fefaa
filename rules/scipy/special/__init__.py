"""The derivatives of ``scipy.special``, found through the entry point of that name."""

from scipy import special as _functions

from autodiff_rules._modules import import_all
from autodiff_rules.numpy.ufuncs import define_all_with_options

import_all(__name__)
define_all_with_options(vars(_functions).values())
