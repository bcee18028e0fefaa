"""Methods of builtin classes that subclasses written in Python inherit or call by name, and builtins that
call special methods."""

from __future__ import annotations

from collections import OrderedDict
from types import FunctionType
from typing import Any, Final

from autodiff_hook.runtime import calls, growing, items, mappings, operators, sequences
from autodiff_hook.runtime.attributes import handle_plain_setattr
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.iteration import iteration, list_pairs
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.opaque import Loss, call_opaque
from autodiff_hook.runtime.slots import build_slice, dictionary_of, stored

Result = tuple[Any, Pullback | None]
Args = tuple[Any, ...]


@handles(tuple.__new__)
def tuple_new(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``tuple.__new__(cls, iterable)``: what a named tuple is made by."""
    cls, *rest = args
    value, pullback = sequences.copy_of(ctx, w[1:], tuple(rest), tuple)
    made = tuple.__new__(cls, value)
    if pullback is None:
        return made, None

    def tuple_new_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, cotangent)
        return None if given is None else (None, given[0])

    return made, tuple_new_pullback


@handles(float.__new__)
def float_new(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``float.__new__(cls, x)``: how a subclass of float is made."""
    cls, *rest = args
    made = float.__new__(cls, *rest)
    if not rest or w[1] is None:
        return made, None
    value, pullback = calls.apply(ctx, (None, w[1]), float, (rest[0],), {})
    del value

    def float_new_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, cotangent) if pullback is not None else None
        return None if given is None else (None, given[1])

    return made, float_new_pullback


@handles(slice)
def make_slice(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``slice(start, stop, step)``."""
    return build_slice(ctx, w, None, *args)


def _float_operation(lowered: Any, op: str, reflected: bool) -> Any:
    """The handler of a special method of float called by name: the operation on plain floats."""

    def float_operation(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
        plain = [float.__float__(x) if isinstance(x, float) else x for x in args]
        if not all(isinstance(x, (float, int)) for x in plain):
            return NotImplemented, None
        if not reflected:
            result: Result = lowered(ctx, w, op, *plain)
            return result
        value, pullback = lowered(ctx, w[::-1], op, *reversed(plain))
        return value, None if pullback is None else calls.Realigned(pullback, (1, 0))

    return float_operation


for _op, _name in operators.NAMES.items():
    if hasattr(float, f"__{_name}__"):
        handles(getattr(float, f"__{_name}__"))(_float_operation(operators.binary, _op, reflected=False))
        handles(getattr(float, f"__r{_name}__"))(_float_operation(operators.binary, _op, reflected=True))
handles(float.__neg__)(_float_operation(operators.unary, "-", reflected=False))
handles(float.__pos__)(_float_operation(operators.unary, "+", reflected=False))


@handles(dict.__init__, OrderedDict.__init__)
def dict_init(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.__init__``."""
    return mappings.dict_update(ctx, w, args, kwargs)


@handles(list.__init__)
def list_init(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.__init__``."""
    return sequences.list_extend(ctx, w, args, kwargs) if len(args) > 1 else (None, None)


@handles(object.__init__)
def object_init(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``object.__init__``."""
    return None, None


@handles(object.__new__)
def object_new(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``object.__new__(cls)``."""
    return object.__new__(args[0]), None


handles(object.__setattr__)(handle_plain_setattr)


@handles(tuple.__getitem__)
def tuple_getitem(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``tuple.__getitem__``, past what a subclass makes of it."""
    return items.tuple_item(args[0], args[1], w[0])


@handles(list.__getitem__)
def list_getitem(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.__getitem__``, past what a subclass makes of it."""
    return items.list_item(ctx, args[0], args[1])


@handles(dict.__getitem__)
def dict_getitem(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.__getitem__``, past what a subclass makes of it."""
    return items.dict_item(ctx, args[0], args[1])


@handles(list.__setitem__)
def list_setitem(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.__setitem__``, past what a subclass makes of it."""
    return None, items.list_store(ctx, w, *args)


@handles(list.__delitem__)
def list_delitem(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.__delitem__``, past what a subclass makes of it."""
    return None, sequences.delete_items(ctx, *args)


@handles(dict.__delitem__, OrderedDict.__delitem__)
def dict_delitem(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.__delitem__``, past what a subclass makes of it."""
    growing.plain_dict(args[0]).__delitem__(*args)
    return None, items.removed(ctx, *args)


@handles(list.__add__)
def list_add(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.__add__``, past what a subclass makes of it."""
    return sequences.concatenate(ctx, *args) if isinstance(args[1], list) else (NotImplemented, None)


@handles(list.__mul__, list.__rmul__, tuple.__mul__, tuple.__rmul__)
def sequence_mul(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.__mul__``, past what a subclass makes of it."""
    return sequences.repeat(ctx, w, *args)


@handles(list.__iter__)
def list_iter(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.__iter__``, past what a subclass makes of it."""
    return iteration(ctx, list_pairs(ctx, args[0])), None


@handles(dict.__setitem__, OrderedDict.__setitem__)
def dict_setitem(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``dict.__setitem__``, past what a subclass makes of it."""
    owner, key, value = args
    growing.plain_dict(owner).__setitem__(owner, key, value)
    return None, stored(ctx, w[2], owner, key, value, 2, 3)


def _special(function: Any, name: str) -> Any:
    """The handler of a builtin that calls a special method, for objects whose class is written in Python."""

    def special_handler(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
        method = find_in_type(type(args[0]), name) if args else None
        if isinstance(method, FunctionType) and not kwargs:
            return items.call_special(ctx, w, method, args)
        return call_opaque(ctx, w, function, args, kwargs, "which has no rule for these types")

    return special_handler


for _function, _name in ((float, "__float__"), (complex, "__complex__"), (abs, "__abs__"), (round, "__round__")):
    handles(_function)(_special(_function, _name))


@handles(int)
def int_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``int``: of a whole number itself, of another number a constant."""
    method = find_in_type(type(args[0]), "__int__") if args else None
    if isinstance(method, FunctionType) and len(args) == 1:
        return items.call_special(ctx, w, method, args)
    value = int(*args, **kwargs)
    if len(args) != 1 or w[0] is None or not isinstance(args[0], int) or isinstance(args[0], bool):
        return value, None

    def int_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return (cotangent,)

    return value, int_pullback


@handles(float.as_integer_ratio)
def as_integer_ratio(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``float.as_integer_ratio``: whole numbers that carry derivatives; what is done with them would lose these."""
    value = float.as_integer_ratio(*args)
    if w[0] is not None:
        raise Loss(
            float.as_integer_ratio, "which turns it into whole numbers (fractions and statistics do so)", []
        ).error()
    return value, None


@handles(object.__reduce_ex__)
def reduce_ex(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``object.__reduce_ex__``, by which ``copy`` and ``deepcopy`` read the attributes of an object."""
    owner = args[0]
    cls = type(owner)
    reducer = find_in_type(cls, "__reduce__")
    if isinstance(reducer, FunctionType):
        value, pullback = items.call_special(ctx, w[:1], reducer, (owner,))
        return value, None if pullback is None else calls.Realigned(pullback, (0, None))
    if kind_of(cls) != "object" or find_in_type(cls, "__getstate__") is not _GETSTATE:
        return call_opaque(ctx, w, object.__reduce_ex__, args, kwargs, "which has no rule for these types")
    reduced = object.__reduce_ex__(*args)
    state = reduced[2] if len(reduced) > 2 else None
    named, slotted = state if isinstance(state, tuple) else (state, None)
    pullbacks = []
    for part in (named, slotted):
        if part is not None and part is not getattr(owner, "__dict__", None):
            pullbacks.append(mappings.copied_attributes(ctx, part, owner))
    if named is not None and named is owner.__dict__:
        dictionary_of(ctx, owner, named)
    return reduced, mappings.effects_of([pullback for pullback in pullbacks if pullback is not None])


_GETSTATE: Final = object.__dict__.get("__getstate__")
