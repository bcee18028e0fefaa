"""The derivatives of ``scipy.ndimage``: its native loops, as Python code, which its own Python code leads into."""

from autodiff_rules._modules import import_all

import_all(__name__)
