"""Operators on actual values: rules for numbers and arrays, slots for containers, dunder methods for the rest."""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.registry import describe, registry
from autodiff_hook.runtime.applying import apply_rule, apply_to_numbers
from autodiff_hook.runtime.buffers import is_whole
from autodiff_hook.runtime.checking import NUMBERS
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import accumulate, pull
from autodiff_hook.runtime.items import getitem, sequence_operator, store_into_array
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.opaque import array_mutation, call_opaque

Result = tuple[Any, Pullback | None]

NAMES: Final = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "<<": "lshift",
    ">>": "rshift",
    "&": "and",
    "|": "or",
    "^": "xor",
}


def _operator(name: str) -> Any:
    return getattr(operator, name + "_" if name in ("and", "or") else name)


BINARY: Final = {op: _operator(name) for op, name in NAMES.items()}
INPLACE: Final = {op: getattr(operator, "i" + name) for op, name in NAMES.items()}
UNARY: Final[dict[str, Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
_UNARY_METHODS: Final = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_PLAIN: Final = frozenset({int, float, complex, bool, str, bytes, type(None)})


def binary(ctx: Context, w: Any, op: str, a: Any, b: Any) -> Result:
    """``a op b``."""
    return _binary(ctx, w, op, BINARY[op], a, b)


def _binary(ctx: Context, w: Any, op: str, function: Any, a: Any, b: Any) -> Result:
    cls, other = type(a), type(b)
    if w[0] is None and w[1] is None and (ctx.idle() or cls in _PLAIN and other in _PLAIN):
        return function(a, b), None
    rule = registry.rule(function, (cls, other))
    if rule is not None:
        if cls in NUMBERS and other in NUMBERS:
            return apply_to_numbers(ctx, w, 0, rule, (a, b))
        return apply_rule(ctx, w, 0, rule, function, (a, b), {})
    return _dispatch(ctx, w, op, function, a, b)


def inplace(ctx: Context, w: Any, op: str, a: Any, b: Any) -> Result:
    """``a op= b``."""
    function, kind = INPLACE[op], kind_of(type(a))
    if kind == "array" and type(a) is not np.ndarray:
        return _inplace_subclass(ctx, w, op, a, b)
    if kind == "array":
        return _inplace_array(ctx, w, op, a, b)
    if kind in ("number", "tuple", "inert"):
        own = kind == "number" and registry.has_rules(function) and registry.rule(function, (type(a), type(b)))
        return _binary(ctx, w, op, function if own else BINARY[op], a, b)
    method = find_in_type(type(a), f"__i{NAMES[op]}__")
    if isinstance(method, FunctionType):
        return _call_dunder(ctx, w, method, a, b) or _binary(ctx, w, op, BINARY[op], a, b)
    if method is not None and kind != "object":
        from autodiff_hook.runtime.calls import apply

        value, pullback = apply(ctx, (None, *w), method, (a, b), {})
        return value, None if pullback is None else _without_callable(pullback)
    return _binary(ctx, w, op, BINARY[op], a, b)


def _inplace_subclass(ctx: Context, w: Any, op: str, a: Any, b: Any) -> Result:
    """``a op= b`` for a subclass of arrays: its own method, or what has no derivative."""
    method = find_in_type(type(a), f"__i{NAMES[op]}__")
    if isinstance(method, FunctionType):
        return _call_dunder(ctx, w, method, a, b) or _binary(ctx, w, op, BINARY[op], a, b)
    buffers = ctx.buffers
    if w[0] is not None or w[1] is not None or buffers.is_held(a) or buffers.is_stored(a) or ctx.reaches(b):
        raise array_mutation(f"this augmented assignment writes to a {type(a).__qualname__}, which is")
    return INPLACE[op](a, b), None


def _inplace_array(ctx: Context, w: Any, op: str, a: Any, b: Any) -> Result:
    """``a op= b`` for an array: the plain operation on a copy, then a store of all of it."""
    buffers = ctx.buffers
    if w[0] is None and w[1] is None and not buffers.is_held(a) and not buffers.is_stored(a) and not ctx.reaches(b):
        return INPLACE[op](a, b), None
    if a.dtype.kind not in "fc" and not is_whole(ctx, a):
        if a.dtype.kind == "O":
            raise array_mutation("this augmented assignment writes to an array of objects:")
        store_into_array(ctx, (None, None, None), a, ..., INPLACE[op](a.copy(), b))
        return a, None
    stored = buffers.is_stored(a)
    present = a.copy()
    try:
        value, pullback = _binary(ctx, (True if stored else w[0], w[1]), op, BINARY[op], present, b)
    except (TypeError, ValueError):
        INPLACE[op](present, b)
        raise
    if np.shape(value) != a.shape or not np.can_cast(value.dtype, a.dtype, "same_kind"):
        return INPLACE[op](a, b), None
    store = store_into_array(ctx, (w[0], None, pullback), a, ..., value)
    return a, None if store is None else _augmented(store, pullback, a, stored)


def _augmented(store: Pullback, pullback: Pullback | None, array: Any, stored: bool) -> Pullback:
    def augmented_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = store(sweep, None)
        value = accumulate(cotangent, None if given is None else given[2])
        if pullback is None or value is None:
            return None
        before = pull(sweep, pullback, value, 2)
        if not stored:
            return before
        sweep.buffers.add(array, before[0])
        return None, before[1]

    return augmented_pullback


def unary(ctx: Context, w: Any, op: str, a: Any) -> Result:
    """``op a``."""
    function = UNARY[op]
    if w[0] is None and (ctx.idle() or type(a) in _PLAIN):
        return function(a), None
    rule = registry.rule(function, (type(a),))
    if rule is not None:
        return apply_rule(ctx, w, 0, rule, function, (a,), {})
    method = find_in_type(type(a), _UNARY_METHODS[op])
    if isinstance(method, FunctionType):
        from autodiff_hook.runtime.calls import apply

        value, pullback = apply(ctx, (None, *w), method, (a,), {})
        return value, None if pullback is None else _without_callable(pullback)
    return call_opaque(ctx, w, function, (a,), {}, "which has no rule for these types")


def _dispatch(ctx: Context, w: Any, op: str, function: Any, a: Any, b: Any) -> Result:
    """Python's own choice between ``__op__`` and ``__rop__``."""
    name = NAMES[op]
    cls, other = type(a), type(b)
    left, right = find_in_type(cls, f"__{name}__"), find_in_type(other, f"__r{name}__")
    if isinstance(left, FunctionType) or isinstance(right, FunctionType):
        reflected_first = other is not cls and issubclass(other, cls) and right is not find_in_type(cls, f"__r{name}__")
        attempts = [(left, False), (right, True)] if not reflected_first else [(right, True), (left, False)]
        for method, reflected in attempts:
            if isinstance(method, FunctionType) and not (reflected and other is cls):
                result = _call_dunder(ctx, w, method, a, b, reflected)
                if result is not None:
                    return result
            elif method is not None and not reflected and method(a, b) is not NotImplemented:
                break
    result = sequence_operator(ctx, w, op, a, b)
    return result if result is not None else call_opaque(ctx, w, function, (a, b), {}, _no_rule(a, b))


def _no_rule(a: Any, b: Any) -> str:
    return f"which has no rule for {describe(type(a))} and {describe(type(b))}"


def _call_dunder(ctx: Context, w: Any, method: Any, a: Any, b: Any, reflected: bool = False) -> Result | None:
    """Call a special method written in Python; None if it returned NotImplemented."""
    from autodiff_hook.runtime.calls import apply

    args, given = ((b, a), (w[1], w[0])) if reflected else ((a, b), (w[0], w[1]))
    value, pullback = apply(ctx, (None, *given), method, args, {})
    if value is NotImplemented:
        return None
    if pullback is None:
        return value, None

    def dunder_pullback(sweep: Sweep, cotangent: Any) -> Any:
        result = pullback(sweep, cotangent)
        return result and ((result[2], result[1]) if reflected else (result[1], result[2]))

    return value, dunder_pullback


def _without_callable(pullback: Pullback) -> Pullback:
    def operator_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, cotangent)
        return None if given is None else given[1:]

    return operator_pullback


def handle_operator(function: Any) -> Any:
    """The handler of ``operator.add`` and its kin called as functions."""
    by_function: dict[int, Any] = {}
    by_function.update({id(f): (binary, op) for op, f in BINARY.items()})
    by_function.update({id(f): (inplace, op) for op, f in INPLACE.items()})
    by_function.update({id(f): (unary, op) for op, f in UNARY.items()})
    by_function[id(operator.getitem)] = (getitem, None)
    lowered, op = by_function[id(function)]

    def operator_handler(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
        result: Result = lowered(ctx, w, op, *args)
        return result

    return operator_handler
