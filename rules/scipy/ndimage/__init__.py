"""The derivatives of ``scipy.ndimage``: its native loops, as Python code, which its own Python code leads into."""

from __future__ import annotations

from autodiff_rules.scipy.ndimage import filters as filters
from autodiff_rules.scipy.ndimage import interpolation as interpolation
from autodiff_rules.scipy.ndimage import orders as orders
