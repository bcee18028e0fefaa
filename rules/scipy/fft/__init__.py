"""The derivatives of ``scipy.fft``: all its transforms are linear, and real or complex multiples of orthogonal ones."""

from autodiff_rules._modules import import_all

import_all(__name__)
