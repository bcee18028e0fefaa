"""What is known of a callable before it is called: the order is that of ``semantics/calls.py``."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any, Final, Literal

import numpy as np

from autodiff_hook import config
from autodiff_hook.registry import registry
from autodiff_hook.semantics.calls import unfolding
from autodiff_hook.semantics.instances import constructors
from autodiff_hook.semantics.meanings import MEANINGS, WITH_OPTIONS
from autodiff_hook.semantics.scope import in_library, module_of
from autodiff_hook.semantics.table import TABLE as TABLE  # all meanings are registered when it is there

Standing = Literal["rule", "constant", "refused", "source", "library", "not opted in", "native"]
"""``rule``: a rule, or what it means is known otherwise; ``source``: Python code of the packages in question;
``library``: Python code of the standard library, NumPy or SciPy, which is entered where derivatives need it;
``refused``: an error on purpose; ``native``: nothing is known, and there is no Python code."""


BY_SEMANTICS: Final = frozenset({id(np.ndarray.flat)})
"""Attributes whose values are objects that ``semantics`` knows."""


def standing(function: Any, packages: Iterable[str] = ()) -> Standing:
    """What is known of ``function``, if ``packages`` are opted in."""
    if registry.has_rules(function):
        return "rule"
    if registry.is_constant(function):
        return "constant"  # of numbers, whatever it means for objects
    if id(function) in MEANINGS or id(function) in WITH_OPTIONS or id(function) in BY_SEMANTICS:
        return "rule"
    if registry.refusal(function) is not None:
        return "refused"
    form, inner = unfolding(function)
    if form == "class":
        return _of_class(function, packages)
    if form == "function":
        return of_code(function, packages)
    return "native" if inner is None else standing(inner, packages)


def of_code(function: FunctionType, packages: Iterable[str]) -> Standing:
    """Where Python code belongs."""
    if is_within(module_of(function), packages) or config.function_in_scope(function):
        return "source"
    return "library" if in_library(function) else "not opted in"


def _of_class(cls: Any, packages: Iterable[str]) -> Standing:
    if issubclass(cls, BaseException) or cls.__new__ is object.__new__ and cls.__init__ is object.__init__:
        return "constant"
    new, _, init = constructors(cls)
    if new is None and not hasattr(cls, "_fields"):
        return "native"
    code = [function for function in (new, init) if isinstance(function, FunctionType)]
    return of_code(code[-1], packages) if code else "rule"


def is_within(module: str, packages: Iterable[str]) -> bool:
    """Whether a module is one of ``packages``, or lies under one."""
    return any(f"{module}.".startswith(f"{package}.") for package in packages)
