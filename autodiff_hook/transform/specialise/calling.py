"""Calls: of what has a rule, of Python code that is put in their place, of classes."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable
from enum import Enum
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.registry import registry
from autodiff_hook.runtime.answers import depends
from autodiff_hook.runtime.lookup import find_in_type, wrapped_by
from autodiff_hook.runtime.native import named_output
from autodiff_hook.semantics.equivalents.changing import held
from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_hook.transform.improve.shortcuts import EFFECTS, METHODS, declared, lookup
from autodiff_hook.transform.specialise import (
    apart,
    caching,
    changing,
    constants,
    dicts,
    dividing,
    draws,
    exceptions,
    following,
    helpers,
    keeping,
    managers,
    named_tuples,
    partials,
    saying,
    stepping,
)
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    Abstract,
    Bound,
    Closure,
    Dict,
    Known,
    List,
    Lookup,
    OneOf,
    Outside,
    Partial,
    Several,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused, Rest, bind, made_before
from autodiff_hook.transform.specialise.constructing import construct
from autodiff_hook.transform.specialise.dividing import divided, is_of_several
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import implementation, inline_call
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.kept import is_kept
from autodiff_hook.transform.specialise.lattice import (
    example_of,
    is_class,
    is_none,
    is_of_bits,
    known,
    number_types,
)
from autodiff_hook.transform.specialise.lengths import arity, of_one_length
from autodiff_hook.transform.specialise.objects import (
    array_method,
    asks_classes,
    class_of,
    look,
    special_method,
)
from autodiff_hook.transform.specialise.places import assigns
from autodiff_hook.transform.specialise.plans import (
    is_hashable,
    known_as,
    pure,
    require_inert,
    require_value,
    spread,
)
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS, QUESTIONS
from autodiff_hook.transform.specialise.results import outcome
from autodiff_hook.transform.specialise.ruled import by_rule, has_numpy_outcome, is_pure, result_of
from autodiff_hook.transform.specialise.stopping import Body, stop, stopped, without_derivative
from autodiff_hook.transform.specialise.wording import named
from autodiff_hook.transform.specialise.writing import written

BODIES: Final[dict[Any, Callable[[Inference, Statement, Any, list[Operand]], Abstract | None]]] = {}
"""Functions, and classes of callables, in whose calls' place the program gets a body that is made for it, or another
statement, of which it is known what it gives."""
NAMED: Final[dict[Any, Callable[[Inference, Statement, Any, list[Operand], dict[str, Operand]], Abstract | None]]] = {}
"""The same for calls of them with arguments by name."""
STEPS: Final[set[Any]] = {stopped}
"""Those that are so on one way, too."""
BODIES[stopped] = stop


def call(
    inf: Inference, s: Statement, function: Operand, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """Call what an operand is known to be."""
    if require_value(inf, s, [function]):
        return None
    callee = inf.type_of(function)
    if isinstance(callee, Known) and not isinstance(callee.value, Enum):
        if isinstance(callee.value, (FunctionType, type)):
            inf.assume(function)
        found = call_known(inf, s, callee.value, args, kwargs)
        if function not in s.operands:
            # What has taken the place of the call is for this callable alone.
            inf.assumptions.call(function, callee)
        return found
    if isinstance(callee, OneOf) and not inf.one_way:
        dividing.called(inf, s, function, args, kwargs)
        return None
    if isinstance(callee, Closure):
        inf.assume(function)
        placed = inf.callees.place(inf, s, callee, args, kwargs) if inf.callees is not None else None
        if placed is not None:
            return placed
        bound = bind(callee.code, args, kwargs, callee.defaults, callee.keyword_defaults, made_before)
        inf.inline(s, callee.code, callee.globals, bound, list(callee.cells))
        return None
    if isinstance(callee, Bound):
        inf.assume(function)
        return call_known(inf, s, callee.function, [callee.receiver, *args], kwargs)
    if isinstance(callee, Partial):
        inf.assume(function)
        return call(inf, s, *partials.unfold(s, callee, args, kwargs))
    if isinstance(callee, Lookup):
        inf.assume(function)
        s.op, s.operands, s.data = "call_method", [callee.receiver, *args, *kwargs.values()], (callee.name, (*kwargs,))
        return inf.evaluate(inf, s)
    if is_of_several(callee) and not inf.one_way:
        dividing.called(inf, s, function, args, kwargs)
        return None
    cls = type(callee.value) if isinstance(callee, Known) else class_of(callee)
    if isinstance(callee, Dict) and is_kept(callee):
        inf.assume(function)
        together = keeping.put_together(inf, s, function, callee)
        s.op, s.operands, s.data = "call", [together, *args, *kwargs.values()], tuple(kwargs)
        return call(inf, s, together, args, kwargs)
    if cls is not None and not isinstance(callee, Tuple):
        method = look(inf, cls, "__call__")
        if type(method) is FunctionType:
            inf.assume(function)
            return call_known(inf, s, method, [function, *args], kwargs)
    raise Refused(f"a call of {named(callee)}")


def call_of(inf: Inference, s: Statement) -> Abstract | None:
    """``f(...)``."""
    function, *args = s.operands
    return call_with(inf, s, function, args, s.data or ())


def call_with(
    inf: Inference, s: Statement, function: Operand, args: list[Operand], names: tuple[str, ...]
) -> Abstract | None:
    """Call with the last arguments named."""
    count = len(args) - len(names)
    return call(inf, s, function, args[:count], dict(zip(names, args[count:])))


def call_expanded(inf: Inference, s: Statement) -> Abstract | None:
    """``f(*args, **kwargs)`` of tuples and dicts that are known in their parts."""
    function, args, kwargs = s.operands
    rows = following.rows(inf, s)
    if rows is not None:
        return inline_call(inf, s, rows, [args], {})
    made = following.one_by_one(inf, s, args)
    if made is not None:
        return inf.evaluate(inf, made)
    callee = inf.type_of(function)
    if isinstance(callee, OneOf) and not inf.one_way:
        dividing.by_code(inf, s, function)
        return None
    if isinstance(callee, Dict) and is_kept(callee):
        inf.assume(function)
        s.operands[0] = function = keeping.put_together(inf, s, function, callee)
    whole = inf.type_of(kwargs)
    named = whole.keys if isinstance(whole, Tuple) else ()
    args = of_one_length(inf, args, arity(inf, function, named))
    if isinstance(inf.type_of(args), List) and not inf.one_way:
        values: list[Operand] = [Rest("rest", inf.before(s, "call", [Constant(tuple), args], ()))]
    else:
        values = spread(inf, args)
    if isinstance(whole, Known) and whole.value is None:
        s.op, s.operands, s.data = "call", [function, *values], ()
        return call(inf, s, function, values, {})
    if not isinstance(whole, Tuple) or whole.cls is not dict:
        raise Refused("a call with **kwargs that are not known")
    return call(inf, s, function, values, dict(zip(whole.keys, spread(inf, kwargs, whole.keys))))


def call_known(
    inf: Inference, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """Call a known callable: a rule, a constant, or Python code in scope."""
    if isinstance(function, type) and find_in_type(type(function), "__call__") is dict:
        # A TypedDict.
        s.op, s.operands, s.data = "call", [Constant(dict), *args, *kwargs.values()], tuple(kwargs)
        return call_known(inf, s, dict, args, kwargs)
    args, kwargs = named_output(function, args, kwargs)
    moved = registry.parameters(function).by_place(len(args), kwargs) if kwargs and registry.has_rules(function) else ()
    if moved:
        args = [*args, *map(kwargs.__getitem__, moved)]
        kwargs = {name: x for name, x in kwargs.items() if name not in moved}
        s.op, s.operands, s.data = "call", [Constant(function), *args, *kwargs.values()], tuple(kwargs)
    if draws.as_method(s, function, args, kwargs):
        return inf.evaluate(inf, s)
    found = inf.known_call(s, function, args, kwargs)
    if found is not None:
        return found
    if isinstance(function, Body):
        return inline_call(inf, s, function.function, args, kwargs)
    if isinstance(function, managers.Silence):
        return known_as(inf, s, None)
    if _binds(function) and not kwargs and args and class_of(inf.type_of(args[0])) is not None:
        inf.leave_nothing(s)
        return Bound(function.__self__, args[0])
    if managers.is_of_errors(inf, function, args, [getattr(inf.type_of(x), "value", None) for x in kwargs.values()]):
        return known_as(inf, s, managers.ERRSTATE)
    if function is functools.partial:
        return partials.make(inf, s, args, kwargs)
    if type(function) is functools.partial:
        return call(inf, s, *partials.unfold_known(inf, s, function, args, kwargs))
    if _dispatches(function) and args:
        return _call_dispatched(inf, s, function, args, kwargs)
    target = _target(inf, function, args, kwargs)
    if target is not None:
        s.op, s.operands, s.data = "call", [Constant(target[0]), *target[1]], ()
        return call_known(inf, s, *target, {})
    key = type(function) if type(function) in BODIES or not is_hashable(function) else function
    placed = BODIES.get(key)
    by_name = NAMED.get(key) if placed is not None and kwargs else None
    if placed is not None and (by_name is not None or not kwargs):
        if inf.one_way and key not in STEPS:
            raise Refused(f"a call of {named(function)} on one way")
        return placed(inf, s, function, args) if by_name is None else by_name(inf, s, function, args, kwargs)
    if not inf.one_way and is_hashable(function) and function in _OF_VALUES and require_value(inf, s, args):
        return None
    if is_hashable(function):
        follow = _for_all_ways(inf, s, function, args, kwargs) if not inf.one_way else None
        if follow is not None:
            return follow()
        special = (None if inf.one_way else OF_ALL_WAYS.get(function)) or QUESTIONS.get(function)
        answer = special(inf, s, args) if special is not None and not kwargs else None
        if answer is not None:
            return answer
    constant = constants.written_out(inf, s, function, args, kwargs)
    if constant is not None:
        return constant
    stored = written(inf, s, function, args, kwargs)
    if stored is not None:
        return stored
    told = saying.said(inf, s, function, args, kwargs)
    if told is not None:
        return told
    if declared(EFFECTS, function) and id(function) not in DEFINITIONS:
        raise Refused(f"a call of {named(function)}, which has effects")
    if type(function) is MethodType:
        method = wrapped_by(function.__func__) if type(function.__func__) is FunctionType else function.__func__
        return call_known(inf, s, method, [Constant(function.__self__), *args], kwargs)
    types = [inf.type_of(x) for x in args]
    unsure = [x for x, t in zip(args, types) if is_of_several(t)]
    if unsure and asks_classes(function):
        return divided(inf, s, unsure[0])
    if not unsure and any(
        class_of(t) is not None and not isinstance(t, Tuple) or named_tuples.is_named(t) for t in types
    ):
        method = special_method(inf, function, types, args) if not kwargs else None
        if method is not None:
            for operand in args:
                inf.assume(operand)
            return inline_call(inf, s, method[0], method[1], {})
    if function in _SHOWING and not kwargs and not inf.one_way:
        args = [exceptions.shown(inf, s, x) for x in args]
        s.op, s.operands, types = "call", [Constant(function), *args], list(map(inf.type_of, args))
    if following.is_alike(function):
        args = [named_tuples.plain(inf, s, x) for x in args]
        types = [inf.type_of(x) for x in args]
    ruled = registry.has_rules(function) or registry.is_constant(function)
    unknown = [x for x, t in zip(args, types) if t is ANY or isinstance(t, Several)]
    if any(ruled or not isinstance(x, Rest) for x in unknown):
        raise Refused(f"an argument of {named(function)} of unknown type")
    if ruled:
        if require_value(inf, s, [*args, *kwargs.values()]):
            return None
        absent = [name for name, x in kwargs.items() if known(inf.type_of(x)) is np._NoValue]
        if absent:
            kwargs = {name: x for name, x in kwargs.items() if name not in absent}
            s.op, s.operands, s.data = "call", [Constant(function), *args, *kwargs.values()], tuple(kwargs)
        asked = next((x for x, t in zip(args, types) if array_method(inf, function, t)), None)
        if asked is not None and not inf.one_way:
            made = Statement("call_method", [asked], Variable("array"), ("__array__", ()), s.position)
            args = [made.made if x is asked else x for x in args]
            s.op, s.operands, s.data = "call", [Constant(function), *args, *kwargs.values()], tuple(kwargs)
            return inf.first(made)
        args, kwargs = inf.settled(s, function, args, kwargs)
        types = [inf.type_of(x) for x in args]
    if function in _BITWISE and all(map(is_of_bits, types)):
        return pure(inf, s, outcome(function, types, {}))
    if is_hashable(function) and function in _SPREAD and len(args) > 1 and not kwargs:
        alone = len(args) == 2 and number_types(types[1]) is None
        rest = args[1] if alone else inf.before(s, "build_tuple", args[1:])
        s.op, s.operands, s.data = "call", [Constant(_SPREAD[function]), args[0], rest], ()
        return call_known(inf, s, _SPREAD[function], [args[0], rest], {})
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
    if registry.is_constant(function) and is_pure(function):
        require_inert(*types, *map(inf.type_of, kwargs.values()))
        options = {k: inf.type_of(v) for k, v in kwargs.items()}
        result = result_of(inf, function, types, options, constant=True)
        if isinstance(result, Tuple) and not has_numpy_outcome(function):
            raise Refused(f"a call of {named(function)}, whose result may have another length")
        return pure(inf, s, result)
    if registry.is_constant(function):
        if type(function) is not FunctionType:
            raise Refused(f"a call of {named(function)}, which is declared to have no derivative")
        given = inf.before(s, "build_tuple", args)
        named_ones = inf.before(s, "build_map", [x for name, value in kwargs.items() for x in (Constant(name), value)])
        return inline_call(inf, s, without_derivative, [Constant(Body(function)), given, named_ones], {})
    if id(function) in DEFINITIONS:
        return inline_call(inf, s, DEFINITIONS[id(function)], args, kwargs)
    if type(function) is FunctionType and inf.world.in_scope(function):
        return inline_call(inf, s, function, args, kwargs)
    cached = type(function) is functools._lru_cache_wrapper
    if cached and all(isinstance(t, Known) for t in types) and not (kwargs or inf.wanted):
        return caching.ask(inf, s, function, args)
    if cached and assigns(inf) and depends(function, ()):
        raise Refused("a cache that may come to see what has been changed")
    inner = implementation(function)
    if inner is not None and inf.world.in_scope(inner):
        return inline_call(inf, s, inner, args, kwargs)
    if issubclass(type(function), type) and not inf.one_way and named_tuples.is_class(inf, function):
        return named_tuples.make(inf, s, function, args, kwargs)
    if issubclass(type(function), type):
        return construct(inf, s, function, args, kwargs)
    raise Refused(f"a call of {named(function)}")


def _dispatches(function: Any) -> bool:
    """Whether a function is one that ``functools.singledispatch`` has made."""
    return type(function) is FunctionType and function.__code__ is _DISPATCHING


_DISPATCHING: Final = functools.singledispatch(_dispatches).__code__  # type: ignore[attr-defined]


def _call_dispatched(
    inf: Inference, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """A call of what is registered for the class of the first argument."""
    first = inf.type_of(args[0])
    if is_of_several(first):
        return divided(inf, s, args[0])
    targets = {inf.world.dispatched(function, cls) for cls in classes_of(first)}
    if len(targets) != 1:
        raise Refused(f"a call of {named(function)}, of what may be of several classes")
    (target,) = targets
    s.op, s.operands, s.data = "call", [Constant(target), *args, *kwargs.values()], tuple(kwargs)
    return call_known(inf, s, target, args, kwargs)


def _binds(function: Any) -> bool:
    """Whether a callable makes bound methods of a function."""
    return type(function) is MethodWrapperType and function.__name__ == "__get__" and type(function.__self__) in _BOUND


_BOUND: Final = (FunctionType, WrapperDescriptorType)


def _made_anew(inf: Inference, s: Statement, cls: type, values: dict[str, Operand]) -> Abstract | None:
    return call(inf, s, Constant(cls), [], values)


def _for_all_ways(
    inf: Inference, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
) -> Callable[[], Abstract | None] | None:
    """What does a call where more than one way is followed: other statements, or a definition; None if nothing does."""
    if function is dict and not args and kwargs:
        return lambda: dicts.called(inf, s, kwargs)
    if function is dataclasses.replace:
        return lambda: _made_anew(inf, s, *helpers.replaced(inf, s, args, kwargs))
    if function in (functools.wraps, functools.update_wrapper):
        return lambda: helpers.wrapped(inf, s, function, args, kwargs)
    if function is getattr and not kwargs:
        return lambda: helpers.attribute_by_name(inf, s, args)
    if function is setattr and len(args) == 3 and not kwargs:
        return lambda: helpers.assigned_by_name(inf, s, args)
    cursor = stepping.cursor_class(inf, s, function)
    if cursor is not None:
        return lambda: construct(inf, s, cursor, args, kwargs)
    if function is next and len(args) == 1 and changing.first_of(inf, s, args[0]) is not None:
        return lambda: inf.evaluate(inf, s)
    if function is next and args:
        stepping.ask_for_cursor(inf, args[0])
    if function is iter and len(args) == 1 and not apart.is_iterated_by_code(inf, args[0]):
        s.op, s.operands, s.data = "get_iter", args, None
        return lambda: inf.evaluate(inf, s)
    if function is held:
        s.op, s.operands, s.data = "getitem", args, HELD
        return lambda: inf.evaluate(inf, s)
    made = apart.produced(inf, s, function, args) if not kwargs else None
    made = made or following.listed(inf, s, function, args, kwargs)
    if made is not None:
        return lambda: inf.evaluate(inf, made)
    own = changing.copying(inf, function, args, kwargs)
    if own is not None:
        inf.assume(args[0])
        return lambda: inline_call(inf, s, own, args, {})
    places = following.answered(inf, s, function, args) if not kwargs else None
    if places is not None:
        return lambda: places
    code = following.equivalent(inf, function, args, kwargs)
    return None if code is None else lambda: inline_call(inf, s, code, args, kwargs)


HELD: Final = "held"
"""The data of what reads an item that is there."""


def _target(
    inf: Inference, function: Any, args: list[Operand], kwargs: dict[str, Operand]
) -> tuple[Any, list[Operand]] | None:
    """The function that a method is of an object like the one at hand, and its arguments; None if it is none."""
    owner = getattr(function, "__self__", None)
    if isinstance(function, BuiltinMethodType) and isinstance(owner, np.ufunc):
        args = [Constant(owner), *args]
        function = getattr(np.ufunc, function.__name__)
        if id(function) in DEFINITIONS and lookup(METHODS, function) is None:
            return function, args
    find = lookup(METHODS, function)
    value = inf.type_of(args[0]) if args else None
    if find is None or not isinstance(value, (Outside, Known)):
        return None
    found: tuple[Any, list[Operand]] | None = find(example_of(value), args[1:], kwargs)
    return found


_SPREAD: Final[dict[Any, Any]] = {np.ndarray.reshape: np.reshape, np.ndarray.transpose: np.transpose}
"""Methods that are given items one by one, and functions that are given them together: these are put in their place."""
_OF_VALUES: Final = (len, int, range, enumerate, zip, reversed)
"""What raises if it is given None."""
_SHOWING: Final = (str, repr, format, ascii)
_BITWISE: Final = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.invert)
