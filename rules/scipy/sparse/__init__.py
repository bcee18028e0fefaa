"""The derivatives of ``scipy.sparse``: its native loops, as Python code, which its own Python code leads into.

A derivative flows through the entries that are stored; where they stand is a constant.
"""

from autodiff_rules._modules import import_all

import_all(__name__)
