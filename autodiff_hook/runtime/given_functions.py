"""Functions that may be made anew at each call: they are known by their code, and what they have captured is loaded."""

from __future__ import annotations

import sys
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant
from autodiff_hook.registry import registry
from autodiff_hook.runtime.mirror import form_of
from autodiff_hook.semantics.meanings import MEANINGS
from autodiff_hook.transform.specialise.abstract import Abstract, Bound, Closure, Partial


def is_lasting(value: Any) -> bool:
    """Whether a callable or a module is the same at the next call, and holds nothing: one that has a name."""
    if type(value) is BuiltinFunctionType:
        return value.__self__ is None or type(value.__self__) is ModuleType
    if type(value) is FunctionType:
        found: Any = sys.modules.get(value.__module__)
        for name in value.__qualname__.split("."):
            found = getattr(found, name, None)
        return found is value and form_of(value) == "inert"
    return type(value) in (ModuleType, np.ufunc)


def is_anew(value: Any) -> bool:
    """Whether another function, method or ``partial`` may be passed at the next call, with the same code."""
    if type(value) is MethodType:
        inner = value.__func__
        return type(inner) is FunctionType and not (id(inner) in MEANINGS or registry.knows(inner))
    if type(value) is partial:
        return not value.__dict__
    return type(value) is FunctionType and not is_lasting(value) and is_like(value, value.__code__, value.__globals__)


def is_like(value: Any, code: CodeType, globals_: dict[str, Any]) -> bool:
    """Whether a value is a function with this code, of which no more is known than that and what it holds."""
    return (
        type(value) is FunctionType
        and value.__code__ is code
        and value.__globals__ is globals_
        and (value.__name__, value.__qualname__) == (code.co_name, code.co_qualname)
        and not (value.__dict__ or value.__kwdefaults__)
        and not (id(value) in MEANINGS or registry.knows(value))
    )


def are_apart(count: int, *cells: CellType) -> bool:
    """Whether the first of some closure cells are no other ones, and none of the rest."""
    first = set(map(id, cells[:count]))
    return len(first) == count and first.isdisjoint(map(id, cells[count:]))


def by_code(value: Any) -> Abstract:
    """What is known of a callable that may be made anew, before what it holds is loaded."""
    if type(value) is MethodType:
        return Bound(value.__func__, Constant(None), example=value)
    if type(value) is partial:
        return Partial(Constant(None), (), {}, example=value)
    return Closure(value.__code__, value.__globals__, (), example=value)


BY_CODE: Final = (Bound, Closure, Partial)
"""What callables are that are known by their code."""
