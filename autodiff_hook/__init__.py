"""Gradients of ordinary Python: a CPython import hook that makes whole modules differentiable.

Importing this package is cheap: NumPy, the compiler and the rule packs are loaded by the first derivative.
"""

from __future__ import annotations

from autodiff_hook._version import __version__ as __version__
from autodiff_hook.loader.bootstrap import install_from_environment

TYPE_CHECKING = False  # of typing, which would be the dearest import here
if TYPE_CHECKING:
    from autodiff_hook import extend as extend
    from autodiff_hook import testing as testing
    from autodiff_hook.api import J as J
    from autodiff_hook.api import checkpoint as checkpoint
    from autodiff_hook.api import code_adjoint as code_adjoint
    from autodiff_hook.api import code_ir as code_ir
    from autodiff_hook.api import gradient as gradient
    from autodiff_hook.api import hook as hook
    from autodiff_hook.api import hvp as hvp
    from autodiff_hook.api import jvp as jvp
    from autodiff_hook.api import linearize as linearize
    from autodiff_hook.api import pullback as pullback
    from autodiff_hook.api import ravel as ravel
    from autodiff_hook.api import register_tree as register_tree
    from autodiff_hook.api import stop_gradient as stop_gradient
    from autodiff_hook.api import tree_flatten as tree_flatten
    from autodiff_hook.api import tree_leaves as tree_leaves
    from autodiff_hook.api import tree_map as tree_map
    from autodiff_hook.api import vjp as vjp
    from autodiff_hook.api import withgradient as withgradient
    from autodiff_hook.cotangents import not_implemented as not_implemented
    from autodiff_hook.debugging import debug_nans as debug_nans
    from autodiff_hook.errors import AutodiffError as AutodiffError
    from autodiff_hook.errors import AutodiffWarning as AutodiffWarning
    from autodiff_hook.errors import ConfigError as ConfigError
    from autodiff_hook.errors import ConfigWarning as ConfigWarning
    from autodiff_hook.errors import NotANumber as NotANumber
    from autodiff_hook.errors import NotDifferentiable as NotDifferentiable
    from autodiff_hook.errors import Unsupported as Unsupported
    from autodiff_hook.explaining import explain as explain
    from autodiff_hook.loader import install as install
    from autodiff_hook.loader import uninstall as uninstall
    from autodiff_hook.loader.status import status as status
    from autodiff_hook.operators import grad as grad
    from autodiff_hook.operators import hessian as hessian
    from autodiff_hook.operators import jacfwd as jacfwd
    from autodiff_hook.operators import jacobian as jacobian
    from autodiff_hook.operators import jacrev as jacrev
    from autodiff_hook.operators import value_and_grad as value_and_grad
    from autodiff_hook.registry import LINEAR as LINEAR
    from autodiff_hook.registry import frule as frule
    from autodiff_hook.registry import nondifferentiable as nondifferentiable
    from autodiff_hook.registry import rrule as rrule
    from autodiff_hook.signatures import Any as Any
    from autodiff_hook.signatures import Array as Array
    from autodiff_hook.signatures import Complex as Complex
    from autodiff_hook.signatures import Real as Real
    from autodiff_hook.strong import over as over
    from autodiff_hook.strong import times as times
    from autodiff_hook.tangent import Tangent as Tangent

_NAMES = {
    "api": (
        *("J", "checkpoint", "code_adjoint", "code_ir", "gradient", "hook", "hvp", "jvp", "linearize", "pullback"),
        *("ravel", "register_tree", "stop_gradient", "tree_flatten", "tree_leaves", "tree_map", "vjp", "withgradient"),
    ),
    "cotangents": ("not_implemented",),
    "debugging": ("debug_nans",),
    "errors": (
        *("AutodiffError", "AutodiffWarning", "ConfigError", "ConfigWarning", "NotANumber", "NotDifferentiable"),
        "Unsupported",
    ),
    "explaining": ("explain",),
    "loader": ("install", "uninstall"),
    "loader.status": ("status",),
    "operators": ("grad", "hessian", "jacfwd", "jacobian", "jacrev", "value_and_grad"),
    "registry": ("LINEAR", "frule", "nondifferentiable", "rrule"),
    "signatures": ("Any", "Array", "Complex", "Real"),
    "strong": ("over", "times"),
    "tangent": ("Tangent",),
}
_MODULES = ("extend", "testing")
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = ["__version__", *_MODULES, *sorted(_HOME)]


def __getattr__(name: str) -> object:
    # What is imported at the start of each program that opts in is as little as can be.
    from importlib import import_module

    from autodiff_hook.collecting import lasting
    from autodiff_hook.interpreter import obstacle

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    reason = obstacle() if _HOME[name] in ("api", "explaining", "operators") else None
    if reason is not None:
        return _refusing(name, reason)
    with lasting():
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def _refusing(name: str, reason: str) -> object:
    """What stands for a function of ``api`` where that cannot be imported: an error when it is called."""

    def refuse(*args: object, **kwargs: object) -> object:
        from autodiff_hook.errors import Unsupported  # as above

        raise Unsupported(reason)

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


install_from_environment()
