"""Builtin classes as bases, methods of theirs called by name, builtins that call special methods, class statements."""

from __future__ import annotations

import builtins
from collections import OrderedDict, defaultdict
from typing import Any

from autodiff_hook.runtime import operators as in_reverse
from autodiff_hook.runtime.classes import _READS as READS_OF_CLOSURE
from autodiff_hook.runtime.pushing import calls, items, mappings, operators, sequences
from autodiff_hook.runtime.pushing.context import Result, TangentContext, keep, kind, known, some
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pushes
from autodiff_hook.runtime.pushing.iteration import iteration, list_pairs, python_method
from autodiff_hook.runtime.pushing.opaque import call_opaque, fail
from autodiff_hook.runtime.pushing.slots import build_slice

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


@pushes(tuple.__new__)
def tuple_new(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``tuple.__new__(cls, iterable)``: what a named tuple is made by."""
    cls, *rest = args
    if not rest:
        return tuple.__new__(cls), None
    found, tangents = items.materialised(ctx, t[1], rest[0])
    return tuple.__new__(cls, found), tuple(tangents) if some(tangents) else None


@pushes(float.__new__)
def float_new(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``float.__new__(cls, x)``: how a subclass of float is made."""
    cls, *rest = args
    tangent = calls.apply(ctx, (None, *t[1:]), float, tuple(rest), {})[1] if some(t[1:]) else None
    return float.__new__(cls, *rest), tangent


class FloatOperation:
    """A special method of float called by name: the operation on plain floats."""

    def __init__(self, lowered: Any, op: str, reflected: bool) -> None:
        self.lowered, self.op, self.reflected = lowered, op, reflected

    def push(self, ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The pusher."""
        plain = [float.__float__(x) if isinstance(x, float) else x for x in args]
        if not all([isinstance(x, (float, int)) for x in plain]):
            return NotImplemented, None
        if self.reflected:
            plain, t = plain[::-1], t[::-1]
        result: Result = self.lowered(ctx, t, self.op, *plain)
        return result


for _op, _name in in_reverse.NAMES.items():
    if hasattr(float, f"__{_name}__"):
        pushes(getattr(float, f"__{_name}__"))(FloatOperation(operators.binary, _op, False).push)
        pushes(getattr(float, f"__r{_name}__"))(FloatOperation(operators.binary, _op, True).push)
pushes(float.__neg__)(FloatOperation(operators.unary, "-", False).push)
pushes(float.__pos__)(FloatOperation(operators.unary, "+", False).push)


pushes(dict.__init__, OrderedDict.__init__)(mappings.dict_update)


@pushes(defaultdict.__init__)
def default_dict_init(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``defaultdict.__init__``: the factory, then what ``dict`` takes."""
    owner, *rest = args
    defaultdict.__init__(owner, *rest[:1])
    return mappings.dict_update(ctx, (None, *t[1 + len(rest[:1]) :]), (owner, *rest[1:]), kwargs)


@pushes(slice)
def make_slice(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``slice(start, stop, step)``."""
    return build_slice(ctx, t, None, *args)


@pushes(list.__init__)
def list_init(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__init__``."""
    return sequences.list_extend(ctx, t, args, kwargs) if len(args) > 1 else (None, None)


@pushes(object.__init__)
def object_init(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``object.__init__``."""
    return None, None


@pushes(object.__new__)
def object_new(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``object.__new__(cls)``."""
    return calls.blank(args[0]), None


@pushes(type.__call__)
def call_class(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``type.__call__(cls, …)``, past what a metaclass makes of it."""
    return calls.make_instance(ctx, t, args[0], args[1:], kwargs)


@pushes(tuple.__getitem__)
def tuple_getitem(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``tuple.__getitem__``, past what a subclass makes of it."""
    owner, key = args
    return tuple.__getitem__(owner, key), None if t[0] is None else t[0][key]


@pushes(list.__getitem__)
def list_getitem(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__getitem__``, past what a subclass makes of it."""
    return items.list_item(ctx, list.__getitem__(*args), *args)


@pushes(dict.__getitem__)
def dict_getitem(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.__getitem__``, past what a subclass makes of it."""
    return items.dict_item(ctx, *args)


@pushes(list.__setitem__)
def list_setitem(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__setitem__``, past what a subclass makes of it."""
    items.list_store(ctx, t[2], *args)
    return None, None


@pushes(list.__delitem__)
def list_delitem(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__delitem__``, past what a subclass makes of it."""
    owner, key = args
    found = known(ctx, owner)
    list.__delitem__(owner, key)
    if found is not None:
        del found[key]
    return None, None


@pushes(dict.__delitem__, OrderedDict.__delitem__)
def dict_delitem(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.__delitem__``, past what a subclass makes of it."""
    owner, key = args
    found = known(ctx, owner)
    mappings.plain_dict(owner).__delitem__(owner, key)
    if found is not None:
        found.pop(key, None)
    return None, None


@pushes(list.__add__)
def list_add(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__add__``, past what a subclass makes of it."""
    return sequences.concatenate(ctx, t, *args) if kind(args[1]) == "list" else (NotImplemented, None)


@pushes(list.__mul__, list.__rmul__, tuple.__mul__, tuple.__rmul__)
def sequence_mul(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__mul__``, past what a subclass makes of it."""
    return sequences.repeat(ctx, t, *args)


@pushes(list.__iter__)
def list_iter(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__iter__``, past what a subclass makes of it."""
    return iteration(ctx, list_pairs(ctx, args[0])), None


@pushes(dict.__setitem__, OrderedDict.__setitem__)
def dict_setitem(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.__setitem__``, past what a subclass makes of it."""
    owner, key, value = args
    mappings.plain_dict(owner).__setitem__(owner, key, value)
    keep(ctx, owner, key, t[2])
    return None, None


class Special:
    """A builtin that calls a special method, for objects whose class is written in Python."""

    def __init__(self, function: Any, name: str) -> None:
        self.function, self.name = function, name

    def push(self, ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The pusher."""
        method = python_method(args[0], self.name) if args else None
        if method is not None and not kwargs:
            return calls.apply(ctx, (None, *t), method, args, {})
        return call_opaque(ctx, t, self.function, args, kwargs, "which has no rule for these types")


for _function, _name in (
    *((float, "__float__"), (complex, "__complex__"), (abs, "__abs__")),
    *((round, "__round__"), (divmod, "__divmod__")),
):
    pushes(_function)(Special(_function, _name).push)


@pushes(builtins.__build_class__)
def build_class(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """Make a class; its methods have tangents when they are called, its body has none."""
    if reads_tangents(ctx, args[0]):
        fail(args[0], "the body of a class, which is not differentiated")
    return builtins.__build_class__(*args, **kwargs), None


@bookkeeping
def reads_tangents(ctx: TangentContext, body: Any) -> bool:
    """Whether the body of a class may read what has a tangent."""
    captured = any(id(cell) in ctx.tangents for cell in body.__closure__ or ())
    reads = captured and not READS_OF_CLOSURE.isdisjoint(body.__code__.co_code[::2])
    return reads or id(body.__globals__) in ctx.tangents
