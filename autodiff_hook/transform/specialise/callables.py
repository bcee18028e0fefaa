"""What a known callable says of a call of it: its rule, that it has no derivative, its definition, its code."""

from __future__ import annotations

import functools
import operator
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Statement
from autodiff_hook.registry import registry
from autodiff_hook.runtime.answers import depends
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_hook.transform.improve.shortcuts import COMPUTING, declared
from autodiff_hook.transform.specialise import caching, draws, named_tuples
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Known, Number, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.constructing import construct
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import implementation, inline_call
from autodiff_hook.transform.specialise.lattice import example_of, is_class, is_none, is_of_bits, is_whole, known
from autodiff_hook.transform.specialise.objects import is_called_plainly, is_followed, look
from autodiff_hook.transform.specialise.places import assigns
from autodiff_hook.transform.specialise.plans import known_as, pure, require_inert
from autodiff_hook.transform.specialise.results import outcome
from autodiff_hook.transform.specialise.ruled import by_rule, has_numpy_outcome, is_pure, result_of
from autodiff_hook.transform.specialise.stopping import Body, without_derivative
from autodiff_hook.transform.specialise.wording import named

_BITWISE: Final = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.invert)


def call(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """Call what has a rule, is declared to be constant, or has a definition; else it is code."""
    types = [inf.type_of(x) for x in args]
    if function in _BITWISE and all(is_of_bits(t) or is_whole(t) for t in types):
        return pure(inf, s, outcome(function, types, {}))
    drawn = draws.drawing(inf, s, function, args, kwargs)
    if drawn is not None:
        return drawn
    if draws.is_own(types) and function in draws.MEANINGS:
        return inline_call(inf, s, draws.MEANINGS[function], args, kwargs)
    if function is operator.or_ and any(map(is_class, types)) and all(is_class(t) or is_none(t) for t in types):
        return known_as(inf, s, operator.or_(*map(example_of, types)))
    chosen = isinstance(function, np.ufunc) and bool(kwargs) and "out" not in kwargs
    if chosen and id(function) in DEFINITIONS and any(not isinstance(t, Known) and not is_of_bits(t) for t in types):
        return inline_call(inf, s, DEFINITIONS[id(function)], args, kwargs)
    if registry.has_rules(function):
        return by_rule(inf, s, function, args, kwargs, function)
    if registry.is_constant(function):
        return _constant(inf, s, function, args, kwargs)
    if id(function) in DEFINITIONS:
        return inline_call(inf, s, DEFINITIONS[id(function)], args, kwargs)
    return _code(inf, s, function, args, kwargs)


def _constant(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """Call what is declared to have no derivative."""
    if is_pure(function):
        types, options = [inf.type_of(x) for x in args], {k: inf.type_of(v) for k, v in kwargs.items()}
        require_inert(*types, *options.values())
        result = result_of(inf, function, types, options, constant=True)
        kinds = [*types, *options.values()]
        if not has_numpy_outcome(function) and not all(isinstance(x, Known) for x in kinds):
            _require_kind(function, kinds, result)
        return pure(inf, s, result)
    if type(function) is not FunctionType:
        raise Refused(f"a call of {named(function)}, which is declared to have no derivative")
    given = inf.before(s, "build_tuple", args)
    named_ones = inf.before(s, "build_map", [x for name, value in kwargs.items() for x in (Constant(name), value)])
    return inline_call(inf, s, without_derivative, [Constant(Body(function)), given, named_ones], {})


def _require_kind(function: Any, given: list[Abstract], result: Abstract) -> None:
    """Refuse a call whose result may be of another kind than that of the examples."""
    if isinstance(result, Tuple) and not declared(COMPUTING, function):
        raise Refused(f"a call of {named(function)}, whose result may have another length")
    if isinstance(result, Array) and any(isinstance(x, Number) and int in x.types for x in given):
        raise Refused(f"a call of {named(function)}, which may choose what it gives by a number")


def _code(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """Call a function or a class that is written in Python, be it behind a cache or a dispatcher."""
    if type(function) is FunctionType and inf.world.in_scope(function):
        return inline_call(inf, s, function, args, kwargs)
    if type(function) is functools._lru_cache_wrapper:
        if all(isinstance(inf.type_of(x), Known) for x in args) and not (kwargs or inf.wanted):
            return caching.ask(inf, s, function, args)
        number = None if kwargs or inf.wanted else caching.number_of(inf, s, function, args)
        if number is not None:
            return number
        if assigns(inf) and depends(function, ()):
            raise Refused("a cache that may come to see what has been changed")
    inner = implementation(function)
    if inner is not None and inf.world.in_scope(inner):
        return inline_call(inf, s, inner, args, kwargs)
    if function == type.__call__ and args and isinstance(known(inf.type_of(args[0])), type):
        return construct(inf, s, known(inf.type_of(args[0])), args[1:], kwargs)
    if not issubclass(type(function), type) or not is_called_plainly(inf, function):
        method = find_in_type(type(function), "__call__")
        if id(method) in DEFINITIONS:
            return inline_call(inf, s, DEFINITIONS[id(method)], [Constant(function), *args], kwargs)
        if is_followed(inf.world, method):
            method = look(inf, type(function), "__call__")
            return inline_call(inf, s, method, [Constant(function), *args], kwargs)
        raise Refused(f"a call of {named(function)}")
    if not inf.one_way and named_tuples.is_class(inf, function):
        return named_tuples.make(inf, s, function, args, kwargs)
    return construct(inf, s, function, args, kwargs)
