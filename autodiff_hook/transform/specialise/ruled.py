"""Calls of what has a rule, or is declared to have no derivative, and what else such functions do."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.transform.improve.shortcuts import COMPLEX_BY_VALUE, COMPUTING, declared
from autodiff_hook.transform.specialise import draws, following, raises_when
from autodiff_hook.transform.specialise.abstract import Abstract, Known
from autodiff_hook.transform.specialise.bodies import Refused, bind, constant_default
from autodiff_hook.transform.specialise.counting import require_count
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import (
    differentiable,
    example_of,
    inert_class,
    is_none,
    may_be_complex,
    number_types,
)
from autodiff_hook.transform.specialise.plans import known_as, pure, require_inert
from autodiff_hook.transform.specialise.program import RulePlan
from autodiff_hook.transform.specialise.results import exact_types, outcome, rule_for
from autodiff_hook.transform.specialise.wording import named


def by_rule(
    inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs, run: Callable[..., Any]
) -> Abstract | None:
    """Call what has a rule."""
    if not kwargs and raises_when.before_call(inf, s, function, args):
        return None
    types = [inf.type_of(x) for x in args]
    following.require_alike(function, types)
    options = {k: inf.type_of(v) for k, v in kwargs.items()}
    if (
        _is_stateful(function)
        and not draws.is_own(types)
        or any(isinstance(t, Known) and isinstance(t.value, _CODE) for t in (*types, *options.values()))
    ):
        raise Refused(f"a call of {named(function)}, which may do more than compute")
    if not kwargs and all(isinstance(t, Known) and type(t.value) in (int, float) for t in types):
        try:
            folded = run(*map(example_of, types))
        except Exception:
            folded = None
        if type(folded) in (int, float) and abs(folded) < 1 << 64:
            return known_as(inf, s, folded)
    if any(function is power for power in _POWERS) and list(map(number_types, types)) == _MIXED:
        # A float converts its exponent itself.
        exponent = inf.before(s, "call", [Constant(float), args[1]], ())
        s.operands = [exponent if x is args[1] else x for x in s.operands]
        args, types = [args[0], exponent], [types[0], inf.type_of(exponent)]
    lax = [name for name, kind in options.items() if name.startswith("overwrite") and isinstance(kind, Known)]
    lax += [name for name, kind in options.items() if name == "out" and is_none(kind)]
    if lax:
        # Who allows that arguments are overwritten does not look at them any more; the adjoint may.
        kwargs = {name: x for name, x in kwargs.items() if name not in lax}
        options = {name: kind for name, kind in options.items() if name not in lax}
        s.op, s.operands, s.data = "call", [Constant(function), *args, *kwargs.values()], tuple(kwargs)
    if "out" in kwargs:
        raise Refused("the option out")
    given = (*types, *options.values())
    by_value = declared(COMPLEX_BY_VALUE, function)
    if (
        not by_value
        and not any(map(differentiable, given))
        and (kwargs or not all(isinstance(t, Known) for t in given))
    ):
        require_inert(*given)
        return pure(inf, s, result_of(inf, run, types, options))
    rule = rule_for(function, types, tuple(kwargs))
    if getattr(rule, "arity", 0):
        args = [*arrays_of(inf, s, args[: rule.arity]), *args[rule.arity :]]
        types = [inf.type_of(x) for x in args]
        rule = rule_for(function, types, tuple(kwargs))
    code = getattr(rule, "__code__", None)
    if code is None or hasattr(rule, "__wrapped__"):
        raise Refused(f"a rule of {named(function)} that is not a plain function")
    bound = bind(code, args, kwargs, rule.__defaults__ or (), rule.__kwdefaults__, constant_default)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if "out" in names and not _is_none(inf, bound.values[names.index("out")]):
        raise Refused("the option out")
    result = result_of(inf, run, types, options)
    of_numbers = all(number_types(t) is not None for t in given)
    checks = by_value or len(types) == 2 and any(function is power for power in _POWERS) and _may_be_complex(types)
    inf.plans[s] = RulePlan(function, rule, bound.values, checks, of_numbers)
    return result


def result_of(
    inf: Inference, run: Callable[..., Any], types: list[Abstract], options: dict[str, Abstract], constant: bool = False
) -> Abstract:
    """What a call of a library gives; on one way its number of items is guarded."""
    result = outcome(run, types, options, loose=not inf.one_way, constant=constant)
    if not inf.one_way:
        require_count(run, types, options, result)
    return result


def arrays_of(inf: Inference, s: Statement, operands: list[Operand]) -> list[Operand]:
    """Let lists, tuples and ranges that the statement at hand is given become arrays before it."""
    found = []
    for operand in operands:
        if set(exact_types(inf.type_of(operand))) <= {list, tuple, range}:
            array = array_before(inf, s, operand)
            s.operands = [array if x is operand else x for x in s.operands]
            found.append(array)
        else:
            found.append(operand)
    return found


def array_before(inf: Inference, s: Statement, operand: Operand) -> Operand:
    """An array made of a list, a tuple or a range before the statement at hand."""
    return inf.before(s, "call", [Constant(np.array), operand], ())


def _is_none(inf: Inference, value: Any) -> bool:
    return isinstance(value, (Constant, Variable)) and inert_class(inf.type_of(value)) is type(None)


_POWERS: Final = (operator.pow, operator.ipow, pow)
_MIXED: Final = [{float}, {float, int}]
"""What a float and an exponent are that may be whole."""


def _may_be_complex(types: list[Abstract]) -> bool:
    """Whether a power of real numbers may be complex, which their types do not say."""
    base, exponent = map(number_types, types)
    if base is None or exponent is None or any(map(may_be_complex, types)):
        return False
    value = types[1].value if isinstance(types[1], Known) else None
    return exponent != {int} and not (isinstance(value, float) and value.is_integer())


_PURE: Final = ("math", "cmath", "_operator", "_bisect", "builtins", "time")
"""The modules whose functions without derivative do nothing that could be seen, but for those with declared effects."""
_PLAIN: Final = (float, int, complex, bool, str, bytes, tuple)


def is_pure(function: Any) -> bool:
    """Whether a function without derivative has no effects either, so that it is simply executed."""
    owner = getattr(function, "__objclass__", None)
    if owner is not None:
        return owner in _PLAIN or owner.__module__ == "numpy"
    if declared(COMPUTING, function):
        return True
    return getattr(function, "__module__", None) in _PURE or has_numpy_outcome(function)


def has_numpy_outcome(function: Any) -> bool:
    """Whether a function is one of NumPy's, whose types and ranks determine those of the result."""
    module = getattr(getattr(function, "__objclass__", function), "__module__", None) or ""
    return (module.split(".")[0] == "numpy" and "random" not in module) or type(function).__name__ == "ufunc"


_CODE: Final = (FunctionType, MethodType)


def _is_stateful(function: Any) -> bool:
    """Whether a callable works on a state of its own, as those that draw random numbers do."""
    owner = getattr(function, "__self__", None)
    home = getattr(function, "__objclass__", None)
    module = getattr(home or function, "__module__", None) or ""
    bound = owner is not None and not isinstance(owner, (ModuleType, type))
    return bound or module.startswith(("random", "numpy.random", "secrets")) or not _is_library(function, module)


_LIBRARIES: Final = ("numpy", "scipy", "autodiff_rules", "autodiff_hook")


def _is_library(function: Any, module: str) -> bool:
    """Whether a callable with a rule is of a library whose functions only compute; what a user's does is not known."""
    if type(function) is not FunctionType or declared(COMPUTING, function):
        return True
    return module.partition(".")[0] in _LIBRARIES or module in sys.stdlib_module_names
