"""Attributes that show what is kept elsewhere: in cells, defaults, methods, partials, and the memory of arrays."""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, CellType, FunctionType, MethodType
from typing import Any, Final

from autodiff_hook.errors import CUT, NotDifferentiable
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.opaque import Loss, array_mutation
from autodiff_hook.runtime.slots import ctx_taint, loaded, stored

RECEIVER: Final = "__self__"
"""The slot of a bound method."""


_SHOWING: Final = frozenset({"cell_contents", "__self__", "__defaults__", "args", "keywords"})


def introspected(owner: Any, name: str) -> Any:
    """The slot of a cell, function, method or partial that an attribute shows.

    ``...``: a tuple of its first slots; ``"keywords"``: a dict of those that have names.
    """
    if name not in _SHOWING:
        return None
    cls = type(owner)
    if cls is CellType and name == "cell_contents":
        return 0
    if cls in (MethodType, BuiltinFunctionType) and name == "__self__":
        return RECEIVER
    if cls is functools.partial and name == "keywords":
        return "keywords"
    if cls is FunctionType and name == "__defaults__" or cls is functools.partial and name == "args":
        return ...
    return None


def held(ctx: Context, owner: Any, slot: Any, value: Any) -> tuple[Any, Pullback | None]:
    """What ``introspected`` has found, read."""
    if slot == "keywords":
        if any(ctx.mark_for(owner, key) is not None for key in value):
            ctx_taint(ctx, value, Loss("functools.partial.keywords", "an attribute that has no rule", []))
        return value, None
    if slot is not ...:
        return value, loaded(ctx, owner, slot, value)
    loads = [loaded(ctx, owner, index, item) for index, item in enumerate(value or ())]
    if all(load is None for load in loads):
        return value, None

    def held_pullback(sweep: Sweep, cotangent: Any) -> None:
        for load, part in zip(loads, cotangent or ()):
            if load is not None:
                load(sweep, part)

    return value, held_pullback


def hold(ctx: Context, witness: Any, owner: Any, name: str, slot: Any, value: Any) -> Pullback | None:
    """Assign what ``introspected`` has found."""
    setattr(owner, name, value)
    if slot is not ...:
        return stored(ctx, witness, owner, slot, value, 1, 2)
    stores = [stored(ctx, witness, owner, index, item, 0, 1) for index, item in enumerate(value or ())]
    if all(store is None for store in stores):
        return None

    def hold_pullback(sweep: Sweep, cotangent: Any) -> Any:
        parts = tuple(None if store is None else store(sweep, None)[0] for store in stores)
        return None, parts if any(part is not None for part in parts) else None

    return hold_pullback


def is_content(owner: Any, name: str) -> bool:
    """Whether an attribute of an array says what the array holds, or how it is to be read."""
    return name in _CONTENT and kind_of(type(owner)) == "array"


def content_assigned(name: str) -> NotDifferentiable:
    """The error for the assignment to such an attribute."""
    if name != "shape":
        return array_mutation(f"the assignment to the attribute {name} writes to")
    return NotDifferentiable(
        "an array that the gradient depends on gets another shape in place, which is not differentiated",
        remedies=("make another array of it: b = a.reshape(...)", CUT),
    )


_CONTENT: Final = ("flat", "real", "imag", "data", "dtype", "strides", "shape")
