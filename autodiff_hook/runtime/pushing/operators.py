"""Operators on actual values: rules for numbers and arrays, slots for containers, dunder methods for the rest."""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any, Final

from autodiff_hook.registry import registry
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.operators import BINARY, INPLACE, NAMES, UNARY
from autodiff_hook.runtime.pushing.applying import are_numbers, push_rule, rule_for
from autodiff_hook.runtime.pushing.arrays import array_tangent, store_array
from autodiff_hook.runtime.pushing.context import Result, TangentContext, kind, quiet, some
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pusher_of, pushes
from autodiff_hook.runtime.pushing.items import getitem
from autodiff_hook.runtime.pushing.iteration import python_method
from autodiff_hook.runtime.pushing.opaque import call_opaque, describe_type
from autodiff_hook.runtime.pushing.running import run_operator
from autodiff_hook.runtime.pushing.sequences import concatenate, repeat
from autodiff_hook.runtime.pushing.structures import spread

_UNARY_METHODS: Final = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


def binary(ctx: TangentContext, t: Any, op: str, a: Any, b: Any) -> Result:
    """``a op b``."""
    return _binary(ctx, t, op, BINARY[op], a, b)


def _binary(ctx: TangentContext, t: Any, op: str, function: Any, a: Any, b: Any) -> Result:
    if quiet(ctx, t):
        return function(a, b), None
    rule = rule_for(function, (a, b))
    if rule is not None and are_numbers(ctx, (a, b), {}):
        if not some(t):
            return function(a, b), None
        value, tangent = run_operator(rule, t, a, b)
        return value, spread(ctx, value, tangent)
    if rule is not None:
        return push_rule(ctx, t, rule, function, (a, b), {})
    tried = attempts(op, a, b)
    for method, reflected in tried:
        if method is None:
            break
        value, tangent = apply_method(ctx, t, method, a, b, reflected)
        if value is not NotImplemented:
            return value, tangent
    if tried and tried[-1][0] is not None:
        refuse(op, a, b)
    pusher = pusher_of(builtin_method(a, f"__{NAMES[op]}__"))
    if pusher is not None:
        return pusher(ctx, t, (a, b), {})
    kinds = kind(a), kind(b)
    if op == "+" and kinds == ("tuple", "tuple") or op == "+" and kinds == ("list", "list"):
        return concatenate(ctx, t, a, b)
    if op == "*" and ("list" in kinds or "tuple" in kinds):
        return repeat(ctx, t, a, b)
    return call_opaque(ctx, t, function, (a, b), {}, f"which has no rule for {describe_type(a)} and {describe_type(b)}")


@bookkeeping
def refuse(op: str, a: Any, b: Any) -> None:
    """Raise what Python raises if no special method knows the operands."""
    raise TypeError(f"unsupported operand type(s) for {op}: {type(a).__name__!r} and {type(b).__name__!r}")


def apply_method(ctx: TangentContext, t: Any, method: Any, a: Any, b: Any, reflected: bool) -> Result:
    """Call a special method written in Python."""
    from autodiff_hook.runtime.pushing.calls import apply

    if reflected:
        return apply(ctx, (None, t[1], t[0]), method, (b, a), {})
    return apply(ctx, (None, t[0], t[1]), method, (a, b), {})


@bookkeeping
def attempts(op: str, a: Any, b: Any) -> list[tuple[Any, bool]]:
    """The special methods that Python tries in turn, with whether they are reflected; None: not Python code."""
    name, cls, other = NAMES[op], type(a), type(b)
    left, right = find_in_type(cls, f"__{name}__"), find_in_type(other, f"__r{name}__")
    if not isinstance(left, FunctionType) and not isinstance(right, FunctionType):
        return []
    reflected_first = other is not cls and issubclass(other, cls) and right is not find_in_type(cls, f"__r{name}__")
    order = [(right, True), (left, False)] if reflected_first else [(left, False), (right, True)]
    found: list[tuple[Any, bool]] = []
    for method, reflected in order:
        if isinstance(method, FunctionType) and not (reflected and other is cls):
            found.append((method, reflected))
        elif method is not None and not reflected and method(a, b) is not NotImplemented:
            found.append((None, False))
    return found


def inplace(ctx: TangentContext, t: Any, op: str, a: Any, b: Any) -> Result:
    """``a op= b``."""
    form = kind(a)
    if form == "array":
        return _inplace_array(ctx, t, op, a, b)
    if form in ("number", "tuple", "inert"):
        return _binary(ctx, t, op, inplace_function(op, form), a, b)
    method = python_method(a, inplace_name(op))
    if method is not None:
        value, tangent = apply_method(ctx, t, method, a, b, False)
        if value is not NotImplemented:
            return value, tangent
    elif form != "object" and builtin_method(a, inplace_name(op)) is not None:
        from autodiff_hook.runtime.pushing.calls import apply

        return apply(ctx, (None, *t), builtin_method(a, inplace_name(op)), (a, b), {})
    return _binary(ctx, t, op, BINARY[op], a, b)


@bookkeeping
def inplace_name(op: str) -> str:
    """The special method of an augmented assignment."""
    return f"__i{NAMES[op]}__"


@bookkeeping
def inplace_function(op: str, form: str) -> Any:
    """The function that an augmented assignment of a value is."""
    return INPLACE[op] if form == "number" and registry.has_rules(INPLACE[op]) else BINARY[op]


@bookkeeping
def builtin_method(value: Any, name: str) -> Any:
    """A method of the type of ``value``."""
    return find_in_type(type(value), name)


def _inplace_array(ctx: TangentContext, t: Any, op: str, a: Any, b: Any) -> Result:
    """``a op= b`` for an array: the plain operation on a copy, then a store of all of it."""
    if quiet(ctx, t):
        return INPLACE[op](a, b), None
    before = array_tangent(ctx, a, t[0])
    value, tangent = _binary(ctx, (before, t[1]), op, BINARY[op], a.copy(), b)
    return a, store_array(ctx, (before, None, tangent), a, ..., value)


def unary(ctx: TangentContext, t: Any, op: str, a: Any) -> Result:
    """``op a``."""
    function = UNARY[op]
    if quiet(ctx, t):
        return function(a), None
    rule = rule_for(function, (a,))
    if rule is not None and are_numbers(ctx, (a,), {}):
        if not some(t):
            return function(a), None
        value, tangent = run_operator(rule, t, a)
        return value, spread(ctx, value, tangent)
    if rule is not None:
        return push_rule(ctx, t, rule, function, (a,), {})
    method = python_method(a, _UNARY_METHODS[op])
    if method is not None:
        from autodiff_hook.runtime.pushing.calls import apply

        return apply(ctx, (None, *t), method, (a,), {})
    return call_opaque(ctx, t, function, (a,), {}, "which has no rule for these types")


class Operator:
    """How ``operator.add`` and its kin are pushed forward when they are called as functions."""

    def __init__(self, lowered: Any, op: Any) -> None:
        self.lowered, self.op = lowered, op

    def push(self, ctx: TangentContext, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
        """The pusher."""
        result: Result = self.lowered(ctx, t, self.op, *args)
        return result


for _op, _function in INPLACE.items():
    pushes(_function)(Operator(inplace, _op).push)
for _op, _function in BINARY.items():
    pushes(_function)(Operator(binary, _op).push)
for _op, _function in UNARY.items():
    pushes(_function)(Operator(unary, _op).push)
pushes(operator.getitem)(Operator(getitem, None).push)
