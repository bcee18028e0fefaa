"""Closure cells, globals and displays."""

from __future__ import annotations

from typing import Any

from autodiff_hook.runtime.pushing import primitives
from autodiff_hook.runtime.pushing.context import Result, TangentContext, keep, keep_all, load
from autodiff_hook.runtime.pushing.handlers import bookkeeping
from autodiff_hook.runtime.slots import slice_names


def global_loaded(ctx: TangentContext, t: Any, name: str, value: Any, globals_: dict[str, Any]) -> Result:
    """Note the load of a global variable that may have been stored to."""
    return value, load(ctx, globals_, name)


def store_global(ctx: TangentContext, t: Any, name: str, value: Any, globals_: dict[str, Any]) -> Result:
    """Rebind a global variable."""
    globals_[name] = value
    keep(ctx, globals_, name, t[0])
    return None, None


def make_cell(ctx: TangentContext, t: Any, data: Any, value: Any) -> Result:
    """A new closure cell."""
    return primitives.make_cell(ctx, t, (value,), {})


def cell_get(ctx: TangentContext, t: Any, name: str, cell: Any) -> Result:
    """What a closure cell holds."""
    return primitives.cell_get(ctx, t, (cell, name), {})


def cell_set(ctx: TangentContext, t: Any, name: str, cell: Any, value: Any) -> Result:
    """Rebind a captured variable."""
    return primitives.cell_set(ctx, t, (cell, value), {})


def function_made(ctx: TangentContext, t: Any, data: Any, function: Any, defaults: Any) -> Result:
    """Note the default values of a new function, which are slots of it."""
    if t[0] is not None:
        keep_all(ctx, function, dict(enumerate(t[0])))
    return function, None


def build_list(ctx: TangentContext, t: Any, data: Any, *items: Any) -> Result:
    """A list display."""
    result = list(items)
    keep_all(ctx, result, list(t))
    return result, None


def build_slice(ctx: TangentContext, t: Any, data: Any, *parts: Any) -> Result:
    """``start:stop:step``."""
    result = slice(*parts)
    keep_all(ctx, result, dict(zip(names_of(parts), t)))
    return result, None


@bookkeeping
def names_of(parts: Any) -> tuple[str, ...]:
    """Which attributes of a slice the arguments of ``slice`` are."""
    return slice_names(len(parts))


def build_set(ctx: TangentContext, t: Any, data: Any, *items: Any) -> Result:
    """A set display."""
    result = set(items)
    keep_all(ctx, result, dict(zip(items, t)))
    return result, None


def build_map(ctx: TangentContext, t: Any, data: Any, *items: Any) -> Result:
    """A dict display."""
    keys = items[::2]
    result = dict(zip(keys, items[1::2]))
    keep_all(ctx, result, dict(zip(keys, t[1::2])))
    return result, None
