"""Attributes that show what is kept elsewhere: in cells, defaults, methods and partials."""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, CellType, FunctionType, MethodType
from typing import Any, Final

import numpy as np

RECEIVER: Final = "__self__"
"""The slot of a bound method."""
BASE: Final = 0
"""The key of the token of the array that a ``flatiter`` goes over."""


_SHOWING: Final = frozenset({"cell_contents", "__self__", "__defaults__", "args", "keywords", "base"})


def introspected(owner: Any, name: str) -> Any:
    """The slot of a cell, function, method, partial or ``flatiter`` that an attribute shows.

    ``...``: a tuple of its first slots; ``"keywords"``: a dict of those that have names.
    """
    if name not in _SHOWING:
        return None
    cls = type(owner)
    if cls is CellType and name == "cell_contents":
        return 0
    if cls is np.flatiter and name == "base":
        return BASE
    if issubclass(cls, (MethodType, BuiltinFunctionType)) and name == "__self__":
        return RECEIVER
    if cls is functools.partial and name == "keywords":
        return "keywords"
    if cls is FunctionType and name == "__defaults__" or cls is functools.partial and name == "args":
        return ...
    return None
