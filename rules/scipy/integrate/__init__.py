"""The derivatives of ``scipy.integrate``, found through the entry point of that name."""

from autodiff_rules._modules import import_all

import_all(__name__)
