"""``functools.update_wrapper``: the attributes of what is wrapped, with their derivatives."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import Args, Kwargs, means

_NAMES: Final = ("wrapper", "wrapped", "assigned", "updated")
_USUAL: Final = {"assigned": functools.WRAPPER_ASSIGNMENTS, "updated": functools.WRAPPER_UPDATES}


@means(functools.update_wrapper)
def update_wrapper(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    if _copies_names(**_USUAL | dict(zip(_NAMES, args)) | kwargs):
        return functools.update_wrapper(*args, **kwargs), None
    return enter(alg, (None, *t), functools.update_wrapper, args, kwargs)


def _copies_names(wrapper: Any = None, wrapped: Any = None, **which: Any) -> bool:
    """Whether functions are wrapped, as decorators do, and what is wrapped has no attributes of its own."""
    return type(wrapper) is type(wrapped) is FunctionType and not wrapped.__dict__ and which == _USUAL
