"""What the pushing runtime does to primal values in ways that each direction has to be told of."""

from __future__ import annotations

from types import CellType
from typing import Any

from autodiff_hook.ir.types import UNBOUND
from autodiff_hook.runtime import slots
from autodiff_hook.runtime.calls import Method
from autodiff_hook.runtime.context import Context, Sweep
from autodiff_hook.runtime.functions import enter as enter_in_reverse
from autodiff_hook.runtime.handlers import LAZY, handles
from autodiff_hook.runtime.pushing.context import Result, TangentContext, keep, load
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pushes
from autodiff_hook.runtime.session import module_of

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def allow(function: Any) -> None:
    """Let an outer differentiation enter what ``function`` is part of."""


LAZY.add(id(allow))


@handles(allow)
def _allow_in_reverse(ctx: Context, w: Any, args: Args, kwargs: Kwargs) -> Any:
    ctx.modules.add(module_of(args[0]))
    return None, None


@pushes(allow)
def _push_allow(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    allow(args[0])
    add_module(ctx, args[0])
    return None, None


@bookkeeping
def add_module(ctx: TangentContext, function: Any) -> None:
    """Take the module of ``function`` into the scope."""
    ctx.modules.add(module_of(function))


def call_pushed(function: Any, *args: Any) -> Any:
    """Call a generated function."""
    return function(*args)


@handles(call_pushed)
def _call_pushed_in_reverse(ctx: Context, w: Any, args: Args, kwargs: Kwargs) -> Any:
    return enter_in_reverse(ctx, w, args[0], args[1:], {})


@pushes(call_pushed)
def _push_call_pushed(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    from autodiff_hook.runtime.pushing.functions import enter

    return enter(ctx, t, args[0], args[1:], {})


def new_cell(value: Any) -> Any:
    """A closure cell."""
    return CellType() if value is UNBOUND else CellType(value)


@handles(new_cell)
def _new_cell_in_reverse(ctx: Context, w: Any, args: Args, kwargs: Kwargs) -> Any:
    return slots.make_cell(ctx, w, None, *args)


@pushes(new_cell)
def make_cell(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """A new closure cell."""
    cell = new_cell(*args)
    keep(ctx, cell, 0, t[0])
    return cell, None


def read_cell(cell: Any, name: str) -> Any:
    """What a closure cell holds."""
    try:
        return cell.cell_contents
    except ValueError:
        raise NameError(
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        ) from None


def read_default(reference: Any, key: Any) -> Any:
    """A default value: of a function by its index, or of a mapping of keyword-only parameters by name."""
    return reference[key] if isinstance(reference, dict) else reference.__defaults__[key]


@handles(read_default)
def _read_default_in_reverse(ctx: Context, w: Any, args: Args, kwargs: Kwargs) -> Any:
    value = read_default(*args)
    return value, slots.loaded(ctx, args[0], args[1], value)


@pushes(read_default)
def _read_default_again(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    return read_default(*args), load(ctx, *args)


@handles(read_cell)
def _read_cell_in_reverse(ctx: Context, w: Any, args: Args, kwargs: Kwargs) -> Any:
    return slots.cell_get(ctx, w, args[1], args[0])


@pushes(read_cell)
def cell_get(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """What a closure cell holds."""
    cell, name = args
    return read_cell(cell, name), load(ctx, cell, 0)


def write_cell(cell: Any, value: Any) -> None:
    """Rebind a captured variable."""
    cell.cell_contents = value


@handles(write_cell)
def _write_cell_in_reverse(ctx: Context, w: Any, args: Args, kwargs: Kwargs) -> Any:
    return slots.cell_set(ctx, w, "", *args)


@pushes(write_cell)
def cell_set(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """Rebind a captured variable."""
    cell, value = args
    write_cell(cell, value)
    keep(ctx, cell, 0, t[1])
    return None, None


def method_with(function: Any, receiver: Any) -> Any:
    """A method that was looked up before its arguments."""
    return Method(function, receiver)


@handles(method_with)
def _method_in_reverse(ctx: Context, w: Any, args: Args, kwargs: Kwargs) -> Any:
    def method_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return None, cotangent

    return Method(*args), None if w[1] is None else method_pullback


@pushes(method_with)
def _push_method(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    return method_with(*args), t[1]


def receiver_of(method: Any) -> Any:
    """What a method is bound to."""
    return method.__self__


@handles(receiver_of)
def _receiver_in_reverse(ctx: Context, w: Any, args: Args, kwargs: Kwargs) -> Any:
    def receiver_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return (cotangent,)

    return args[0].__self__, None if w[0] is None else receiver_pullback


@pushes(receiver_of)
def _push_receiver(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    return receiver_of(args[0]), t[0]


def bound_arguments(partial: Any) -> tuple[Any, ...]:
    """The positional arguments of a ``functools.partial``, then the values of the named ones."""
    return (*partial.args, *partial.keywords.values())


def _keys(partial: Any) -> list[Any]:
    return [*range(len(partial.args)), *partial.keywords]


@handles(bound_arguments)
def _bound_in_reverse(ctx: Context, w: Any, args: Args, kwargs: Kwargs) -> Any:
    partial = args[0]
    values = bound_arguments(partial)
    loads = [slots.loaded(ctx, partial, key, value) for key, value in zip(_keys(partial), values)]
    if all(found is None for found in loads):
        return values, None

    def bound_pullback(sweep: Sweep, cotangent: Any) -> None:
        for found, part in zip(loads, cotangent or ()):
            if found is not None:
                found(sweep, part)

    return values, bound_pullback


@pushes(bound_arguments)
def push_bound_arguments(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """The arguments in a ``functools.partial`` and their tangents."""
    partial = args[0]
    return bound_arguments(partial), tuple([load(ctx, partial, key) for key in _keys(partial)])
