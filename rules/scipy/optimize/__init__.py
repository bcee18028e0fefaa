"""The derivatives of ``scipy.optimize``, found through the entry point of that name."""

from importlib.util import find_spec

from autodiff_rules.scipy.optimize import fits as fits
from autodiff_rules.scipy.optimize import minima as minima
from autodiff_rules.scipy.optimize import roots as roots
from autodiff_rules.scipy.optimize import typed as typed
from autodiff_rules.scipy.optimize import typed_minima as typed_minima

if find_spec("scipy.optimize.elementwise"):
    from autodiff_rules.scipy.optimize import elementwise as elementwise
