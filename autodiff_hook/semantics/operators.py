"""Operators on actual values: rules for numbers and arrays, slots for containers, dunder methods for the rest."""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.arithmetic import PARTIALS, REAL, arithmetic, scale_of
from autodiff_hook.algebras.shadows import Algebra, Result, idle, is_list, kind, quiet
from autodiff_hook.registry import registry
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.semantics.arrays import store_array
from autodiff_hook.semantics.items import delitem, getitem, setitem
from autodiff_hook.semantics.iteration import is_view, python_method
from autodiff_hook.semantics.meanings import apply, as_function, meaning_of, means
from autodiff_hook.semantics.methods import apply_method, attempts
from autodiff_hook.semantics.opaque import call_opaque, describe_type, first_lost
from autodiff_hook.semantics.operations import BINARY, INPLACE, METHODS, NAMES, UFUNCS, UNARY, UNARY_METHODS
from autodiff_hook.semantics.overrides import call_overridden, overrides
from autodiff_hook.semantics.rules import OF_BITS, call_on_bits, call_rule, rule_for, whole_tokens
from autodiff_hook.semantics.sequences import concatenate, repeat
from autodiff_hook.semantics.subclasses import call_wrap

_UNARY_UFUNCS: Final = {"-": np.negative, "+": np.positive, "~": np.invert}


def binary(alg: Algebra, t: Any, op: str, a: Any, b: Any) -> Result:
    """``a op b``."""
    if type(a) in REAL and type(b) in REAL:
        if t[0] is None and t[1] is None:
            return BINARY[op](a, b), None
        if type(a) is int and type(b) is int and (lost := first_lost(alg, t)) is not None:
            return BINARY[op](a, b), lost
        # NumPy warns where Python raises: the partial derivatives of a quotient are not to do so once more.
        if op in PARTIALS and (op != "/" or type(b) is float and type(a) is not np.float64):
            if alg.numbers is None:
                return arithmetic(alg, t, op, a, b)
            value = BINARY[op](a, b)
            return value, alg.numbers(PARTIALS[op](a, b, value), t)
    return _binary(alg, t, op, BINARY[op], a, b)


def _binary(alg: Algebra, t: Any, op: str, function: Any, a: Any, b: Any) -> Result:
    if t[0] is None and t[1] is None and idle(alg):
        return function(a, b), None
    rule = registry.rule(function, (type(a), type(b)))
    if rule is not None:
        args = a, b
        if id(function) in OF_BITS:
            return call_on_bits(alg, t, function, args)
        whole = whole_tokens(alg, args, t)
        if whole is None:
            return call_rule(alg, t, rule, function, args, {})
        if whole[0] is None and whole[1] is None:
            return function(a, b), None
        scale = None if alg.numbers is None else scale_of(whole, op, a, b)
        if scale is not None:
            value = function(a, b)
            if value.dtype.char == "d":
                return value, alg.scaled(value, scale, whole[0] if whole[1] is None else whole[1])
        return alg.call_rule(rule, function, args, {}, whole)
    if op in UFUNCS and isinstance(a, (np.ndarray, np.generic)) and overrides(b) and not overrides(a):
        return call_overridden(alg, (None, *t), UFUNCS[op], (a, b), {})
    tried = False
    for method, reflected in attempts(a, b, METHODS[op], f"__r{NAMES[op]}__"):
        if method is None:
            break
        tried = True
        value, token = apply_method(alg, t, method, a, b, reflected)
        if value is not NotImplemented:
            return value, token
    else:
        if tried:
            refuse(op, a, b)
    meaning = meaning_of(builtin_method(a, METHODS[op]))
    operands, tokens = (a, b), t
    if kind(a) == "set" and is_view(b) or meaning is None and (type(a) in (int, bool) or kind(a) == "dict"):
        # An int knows nothing of a float, nor of one of a derived class; a Counter nothing of other dicts; a set
        # nothing of what a dict shows.
        meaning, operands, tokens = meaning_of(builtin_method(b, f"__r{NAMES[op]}__")), (b, a), (t[1], t[0])
    if meaning is not None:
        value, token = meaning(alg, tokens, operands, {})
        if value is not NotImplemented:
            return value, token
    kinds = kind(a), kind(b)
    if op in UFUNCS and "array" in kinds:
        return apply(alg, (None, *t), UFUNCS[op], (a, b), {})
    if op == "+" and kinds == ("tuple", "tuple") or op == "+" and kinds == ("list", "list"):
        return concatenate(alg, t, a, b)
    if op == "*" and ("list" in kinds or "tuple" in kinds):
        return repeat(alg, t, a, b)
    if "object" in kinds and (isinstance(a, np.number) or isinstance(b, np.number)):
        other = type(b if kinds[1] == "object" else a)
        if op in UFUNCS and python_method(a if kinds[0] == "object" else b, "__array_wrap__") is not None:
            # Numbers of NumPy's ask it for the array alone.
            pairs = [apply(alg, (None, token), np.asarray, (x,), {}) for x, token in zip((a, b), t)]
            return apply(alg, (None, *[token for _, token in pairs]), UFUNCS[op], tuple([x for x, _ in pairs]), {})
        if op in UFUNCS and (find_in_type(other, "__array__") is not None or _is_sequence(other)):
            return apply(alg, (None, *t), UFUNCS[op], (a, b), {})
        unboxed = [x.item() if isinstance(x, np.number) else x for x in (a, b)]
        return _binary(alg, t, op, function, *unboxed)
    return call_opaque(alg, t, function, (a, b), {}, f"which has no rule for {describe_type(a)} and {describe_type(b)}")


def _is_sequence(cls: type) -> bool:
    return all(find_in_type(cls, name) is not None for name in ("__len__", "__getitem__"))


def refuse(op: str, a: Any, b: Any) -> None:
    """Raise what Python raises if no special method knows the operands."""
    raise TypeError(f"unsupported operand type(s) for {op}: {type(a).__name__!r} and {type(b).__name__!r}")


def inplace(alg: Algebra, t: Any, op: str, a: Any, b: Any) -> Result:
    """``a op= b``."""
    if type(a) in REAL:
        return binary(alg, t, op, a, b)
    form = kind(a)
    if form == "array" and python_method(a, inplace_name(op)) is None:
        return _inplace_array(alg, t, op, a, b)
    if form in ("number", "tuple", "inert"):
        return _binary(alg, t, op, inplace_function(op, a, b), a, b)
    method = python_method(a, inplace_name(op))
    if method is not None:
        value, token = apply_method(alg, t, method, a, b, False)
        if value is not NotImplemented:
            return value, token
    elif type(a) is list and adds_to_lists(op, type(b)):
        value, token = _reflected(alg, t, op, a, b)
        if value is not NotImplemented:
            return value, token
    if method is None and op == "*" and is_list(a) and python_method(a, "__mul__") is not None:
        return _binary(alg, t, op, BINARY[op], a, b)
    if method is None and meaning_of(builtin_method(a, inplace_name(op))) is not None:
        value, token = apply(alg, (None, *t), builtin_method(a, inplace_name(op)), (a, b), {})
        if value is not NotImplemented:
            return value, token
    return _binary(alg, t, op, BINARY[op], a, b)


def adds_to_lists(op: str, cls: type) -> bool:
    """Whether ``+=`` and ``*=`` of a list ask the other operand first: lists are no numbers to Python."""
    if op == "*" and issubclass(cls, np.generic):
        return False
    return issubclass(cls, (np.ndarray, np.generic)) or type(find_in_type(cls, f"__r{NAMES[op]}__")) is FunctionType


def _reflected(alg: Algebra, t: Any, op: str, a: Any, b: Any) -> Result:
    """``a op b``, as the class of ``b`` says."""
    method = find_in_type(type(b), f"__r{NAMES[op]}__")
    if type(method) is FunctionType:
        return apply_method(alg, t, method, a, b, True)
    return _binary(alg, t, op, BINARY[op], a, b)


def inplace_name(op: str) -> str:
    """The special method of an augmented assignment."""
    return f"__i{NAMES[op]}__"


def inplace_function(op: str, a: Any, b: Any) -> Any:
    """The function that an augmented assignment of a value is."""
    return INPLACE[op] if kind(a) == "number" and rule_for(INPLACE[op], (a, b)) is not None else BINARY[op]


def builtin_method(value: Any, name: str) -> Any:
    """A method of the type of ``value``."""
    return find_in_type(type(value), name)


def _inplace_array(alg: Algebra, t: Any, op: str, a: Any, b: Any) -> Result:
    """``a op= b`` for an array: the plain operation on a copy, then a store of all of it."""
    if quiet(alg, t):
        return INPLACE[op](a, b), None
    if op in UFUNCS and (overrides(a) or overrides(b)):
        return call_overridden(alg, (None, *t, t[:1]), UFUNCS[op], (a, b), {"out": (a,)})
    before = alg.read(a, t[0])
    operand = a if a.dtype.kind == "O" else np.ndarray.copy(a)
    if op in UFUNCS and not type(a) is np.ndarray is type(b):
        # NumPy asks no other methods of their classes.
        value, token = apply(alg, (None, before, t[1]), UFUNCS[op], (operand, b), {})
    else:
        value, token = _binary(alg, (before, t[1]), op, BINARY[op], operand, b)
    if value.shape != a.shape or not np.can_cast(value.dtype, a.dtype, "same_kind"):
        INPLACE[op](a, b)
        raise AssertionError("NumPy refuses this")
    store_array(alg, (before, None, token), a, ..., value)
    after = alg.read(a, before)
    if python_method(a, "__array_wrap__") is None or op not in UFUNCS:
        return a, after
    moving = (after, after, (None, (after, t[1], after), None), None)
    return call_wrap(alg, moving, a, a, (UFUNCS[op], (a, b, a), 0), False)


def unary(alg: Algebra, t: Any, op: str, a: Any) -> Result:
    """``op a``."""
    function = UNARY[op]
    if quiet(alg, t):
        return function(a), None
    rule = registry.rule(function, (type(a),))
    if rule is not None:
        whole = None if type(a) is int else whole_tokens(alg, (a,), t)
        if whole is None:
            return call_rule(alg, t, rule, function, (a,), {})
        return (function(a), None) if whole[0] is None else alg.call_rule(rule, function, (a,), {}, whole)
    method = python_method(a, UNARY_METHODS[op])
    if method is not None:
        return apply(alg, (None, *t), method, (a,), {})
    if kind(a) == "array":
        return apply(alg, (None, *t), _UNARY_UFUNCS[op], (a,), {})
    meaning = meaning_of(builtin_method(a, UNARY_METHODS[op]))
    if meaning is not None:
        return meaning(alg, t, (a,), {})
    return call_opaque(alg, t, function, (a,), {}, "which has no rule for these types")


for _op, _function in INPLACE.items():
    means(_function)(as_function(inplace, _op))
for _op, _function in BINARY.items():
    means(_function)(as_function(binary, _op))
for _op, _function in UNARY.items():
    means(_function)(as_function(unary, _op))
means(operator.getitem)(as_function(getitem))
means(operator.setitem)(as_function(setitem))
means(operator.delitem)(as_function(delitem))
