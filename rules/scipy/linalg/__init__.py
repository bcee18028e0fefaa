"""The derivatives of ``scipy.linalg``, found through the entry point of that name.

Arguments are never overwritten by a differentiated call, whatever ``overwrite_a`` says.
"""

from __future__ import annotations

from autodiff_rules.scipy.linalg import factors as factors
from autodiff_rules.scipy.linalg import functions as functions
from autodiff_rules.scipy.linalg import riccati as riccati
from autodiff_rules.scipy.linalg import spectra as spectra
from autodiff_rules.scipy.linalg import systems as systems
