"""Which Python functions are differentiated: what was opted in or handed in, and what derivatives lead into."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType
from typing import Any, Final, Protocol

from autodiff_hook import config
from autodiff_hook.errors import LIBRARIES
from autodiff_hook.registry import registry

OWN_MODULES: Final = (
    "autodiff_hook.api",
    "autodiff_hook.lift.frames",
    "autodiff_hook.operators",
    "autodiff_hook.runtime.choosing",
    "autodiff_hook.semantics.equivalents",
    "autodiff_hook.semantics.library",
    "autodiff_hook.strong",
    "autodiff_hook.runtime.jacobians",
    "autodiff_hook.runtime.trees",
    "autodiff_hook.tangent",
    "autodiff_hook._testing_trees",
)
_OWN_PREFIXES: Final = tuple(f"{own}." for own in OWN_MODULES)


class Scope(Protocol):
    """What knows the modules of the functions that were handed in."""

    modules: set[str]


def module_of(function: Any) -> str:
    """The name of the module of a Python function; executed code of none is a module by itself."""
    return config.module_of(function) or _unnamed(function)


def _unnamed(function: Any) -> str:
    return f"<{id(function.__globals__)}>"


def in_scope(ctx: Scope, function: Any) -> bool:
    """Whether a Python function belongs to what is to be differentiated."""
    own = function.__globals__.get("__name__")
    if type(own) is str and own in ctx.modules:
        return True
    module = config.module_of(function)
    name = module or _unnamed(function)
    if name in ctx.modules or config.module_in_scope(module, function.__globals__) or is_own(name):
        return True
    return _decorates(ctx, function, name)


def _decorates(ctx: Scope, function: Any, module: str) -> bool:
    """Whether a function was put around one in scope by a decorator of another package, which is followed with it."""
    wrapped = function.__dict__.get("__wrapped__")
    if type(wrapped) is not FunctionType or wrapped is function or in_library(function) or not in_scope(ctx, wrapped):
        return False
    ctx.modules.add(module)
    return True


def is_own(module: str) -> bool:
    """Whether a module is part of the engine, or of a rule pack, and written to be entered."""
    return f"{module}.".startswith(_OWN_PREFIXES) or registry.packs.declares(module)


def in_library(function: Any) -> bool:
    """Whether a Python function belongs to the standard library, to NumPy or to SciPy, or to no module.

    Nobody can opt in what is of no module (``sympy.lambdify`` makes such functions): it is entered where derivatives
    need it, as library code is.
    """
    name = config.module_of(function)
    if name is None:
        return True
    # collections.namedtuple gives each class it makes a namespace of this name.
    package = name.partition(".")[0]
    return package in LIBRARIES and package not in registry.packs.without or name.startswith("namedtuple_")


def module_of_callable(f: Any) -> str:
    """The name of the module that a callable was defined in."""
    while type(f) is not FunctionType:
        if isinstance(f, functools.partial):
            f = f.func
        elif type(f) is MethodType:
            f = f.__func__
        elif hasattr(f, "__wrapped__"):
            f = f.__wrapped__
        else:
            cls = f if isinstance(f, type) else type(f)
            return str(cls.__module__)
    found = module_of(f)
    # What wraps a function for the engine stands for that.
    return module_of_callable(f.__wrapped__) if is_own(found) and hasattr(f, "__wrapped__") else found


def is_method_of_container(function: FunctionType) -> bool:
    """Whether it is a method of a container of the standard library: short code, and what it is given may be large."""
    return function.__globals__.get("__name__") in _CONTAINERS and "." in function.__qualname__


_CONTAINERS: Final = ("collections", "collections.abc")
