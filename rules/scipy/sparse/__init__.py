"""The derivatives of ``scipy.sparse``: its native loops, as Python code, which its own Python code leads into.

A derivative flows through the entries that are stored; where they stand is a constant.
"""

from __future__ import annotations

from autodiff_rules.scipy.sparse import pairs as pairs
from autodiff_rules.scipy.sparse import products as products
from autodiff_rules.scipy.sparse import solving as solving
from autodiff_rules.scipy.sparse import structure as structure
