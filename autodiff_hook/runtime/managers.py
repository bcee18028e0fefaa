"""``with``: entering and leaving context managers with derivatives."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.lookup import find_in_type

Result = tuple[Any, Pullback | None]


def enter_manager(ctx: Context, w: Any, data: Any, manager: Any) -> Result:
    """Call ``__enter__``; a tuple of the bound ``__exit__`` and its value."""
    from autodiff_hook.runtime.calls import apply

    cls = type(manager)
    enter, leave = find_in_type(cls, "__enter__"), find_in_type(cls, "__exit__")
    if enter is None or leave is None:
        raise TypeError(f"'{cls.__name__}' object does not support the context manager protocol")
    bound = MethodType(leave, manager) if isinstance(leave, FunctionType) else leave.__get__(manager, cls)
    if not isinstance(enter, FunctionType):
        return (bound, enter.__get__(manager, cls)()), None
    value, pullback = apply(ctx, (None, w[0]), enter, (manager,), {})
    if pullback is None:
        return (bound, value), None

    def enter_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, None if cotangent is None else cotangent[1])
        return given and given[1:]

    return (bound, value), enter_pullback


def exit_call(ctx: Context, w: Any, data: Any, leave: Any, error: BaseException) -> Result:
    """Call ``__exit__`` because of an exception."""
    from autodiff_hook.runtime.calls import apply

    value, pullback = apply(ctx, (None,) * 4, leave, (type(error), error, error.__traceback__), {})
    if pullback is None:
        return value, None

    def exit_pullback(sweep: Sweep, cotangent: Any) -> None:
        pullback(sweep, None)

    return value, exit_pullback
