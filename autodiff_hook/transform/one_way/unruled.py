"""Ufuncs that have no rule, on one way: of values that have no derivative they only compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Statement
from autodiff_hook.registry import registry
from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_hook.transform.one_way.caching import is_active
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Known, Number
from autodiff_hook.transform.specialise.plans import pure
from autodiff_hook.transform.specialise.ruled import result_of


def computed(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``ufunc(x, y)``; None if that is no such call, or one that a derivative would have to pass."""
    if type(function) is not np.ufunc or kwargs or id(function) in DEFINITIONS:
        return None
    if registry.has_rules(function) or registry.is_constant(function):
        return None
    kinds = [inf.type_of(x) for x in args]
    if not all(isinstance(kind, (Known, Number, Array)) for kind in kinds) or is_active(inf, args):
        return None
    s.op, s.operands, s.data = "call", [Constant(function), *map(inf.present, args)], ()
    return pure(inf, s, result_of(inf, function, kinds, {}, constant=True))
