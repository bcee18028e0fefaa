"""``with``: entering and leaving context managers with tokens."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.errors import AutodiffError
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.semantics.meanings import apply


def protocol(manager: Any) -> tuple[Any, Any, bool]:
    """How to enter and to leave a manager, and whether entering is Python code."""
    cls = type(manager)
    enter, leave = find_in_type(cls, "__enter__"), find_in_type(cls, "__exit__")
    if enter is None or leave is None:
        raise TypeError(f"'{cls.__name__}' object does not support the context manager protocol")
    bound = MethodType(leave, manager) if type(leave) is FunctionType else leave.__get__(manager, cls)
    if type(enter) is FunctionType:
        return enter, bound, True
    return enter.__get__(manager, cls), bound, False


def enter_manager(alg: Algebra, t: Any, data: Any, manager: Any) -> Result:
    """Call ``__enter__``; a tuple of the bound ``__exit__`` and its value."""
    enter, leave, is_code = protocol(manager)
    if not is_code:
        return (leave, enter()), None
    value, token = apply(alg, (None, t[0]), enter, (manager,), {})
    return (leave, value), None if token is None else (None, token)


def exit_call(alg: Algebra, t: Any, data: Any, leave: Any, error: BaseException) -> Result:
    """Call ``__exit__`` because of an exception; no manager ends one of ours, which the plain run does not have."""
    found = apply(alg, (None, None, None, None), leave, (type(error), error, error.__traceback__), {})
    return (False, None) if isinstance(error, AutodiffError) else found
