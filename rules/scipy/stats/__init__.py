"""The derivatives of ``scipy.stats``, found through the entry point of that name."""

from __future__ import annotations

from autodiff_rules.scipy.stats import discrete as discrete
from autodiff_rules.scipy.stats import families as families
from autodiff_rules.scipy.stats import kernels as kernels
from autodiff_rules.scipy.stats import methods as methods
from autodiff_rules.scipy.stats import normal as normal
from autodiff_rules.scipy.stats import powers as powers
