"""Calls: of what has a rule, of Python code that is put in their place, of classes."""

from __future__ import annotations

import dataclasses
import functools
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

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.registry import registry
from autodiff_hook.runtime.lookup import find_in_type, is_open, wrapped_by
from autodiff_hook.runtime.native import apart_by_name, named_output
from autodiff_hook.semantics.equivalents.changing import held
from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_hook.transform.improve.shortcuts import EFFECTS, METHODS, declared, lookup
from autodiff_hook.transform.specialise import (
    apart,
    callables,
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
from autodiff_hook.transform.specialise.fitting import require_fit
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.kept import is_kept
from autodiff_hook.transform.specialise.lattice import example_of, known, number_types
from autodiff_hook.transform.specialise.lengths import arity, is_zipped_plainly, of_one_length
from autodiff_hook.transform.specialise.objects import (
    array_method,
    asks_classes,
    class_of,
    special_method,
    written,
)
from autodiff_hook.transform.specialise.overrides import overridden
from autodiff_hook.transform.specialise.plans import is_hashable, known_as, require_value, spread
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS, QUESTIONS
from autodiff_hook.transform.specialise.stopping import Body, stop, stopped
from autodiff_hook.transform.specialise.wording import named
from autodiff_hook.transform.specialise.writing import writing

Does = Callable[[], Abstract | None]
"""What does a call: it gives the abstract value of the result, or None if something else stands in its place."""

BODIES: Final[dict[Any, Callable[[Inference, Statement, Any, list[Operand]], Abstract | None]]] = {}
"""Functions, and classes of callables, in whose calls' place the program gets a body that is made for it, or another
statement, of which it is known what it gives."""
NAMED: Final[dict[Any, Callable[[Inference, Statement, Any, list[Operand], dict[str, Operand]], Abstract | None]]] = {}
"""The same for calls of them with arguments by name."""
STEPS: Final[set[Any]] = {stopped}
"""Those that are so on one way, too."""
BODIES[stopped] = stop


def call(inf: Inference, s: Statement, function: Operand, args: Args, kwargs: Kwargs) -> Abstract | None:
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
        method = written(inf, cls, "__call__")
        if method is not None:
            inf.assume(function)
            return call_known(inf, s, method, [function, *args], kwargs)
    raise Refused(f"a call of {named(callee)}")


def call_of(inf: Inference, s: Statement) -> Abstract | None:
    """``f(...)``."""
    function, *args = s.operands
    return call_with(inf, s, function, args, s.data or ())


def call_with(inf: Inference, s: Statement, function: Operand, args: Args, names: tuple[str, ...]) -> Abstract | None:
    """Call with the last arguments named."""
    return call(inf, s, function, *apart_by_name(args, names))


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
    count, held = arity(inf, function, named), inf.type_of(args)
    if count is None and isinstance(held, List) and isinstance(callee, Known) and registry.has_rules(callee.value):
        # What is native takes items one by one.
        count = len(held.example)
    args = of_one_length(inf, args, count)
    if isinstance(inf.type_of(args), List) and not inf.one_way:
        values: list[Operand] = [Rest("rest", inf.before(s, "call", [Constant(tuple), args], ()))]
    else:
        values = spread(inf, args)
    if isinstance(whole, Known) and whole.value is None:
        s.op, s.operands, s.data = "call", [function, *values], ()
        return call(inf, s, function, values, {})
    if not isinstance(whole, Tuple) or whole.cls is not dict or not all(isinstance(x, str) for x in whole.keys):
        raise Refused("a call with **kwargs that are not known")
    return call(inf, s, function, values, dict(zip(whole.keys, spread(inf, kwargs, whole.keys))))


def call_known(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """Call a known callable: a rule, a constant, or Python code in scope."""
    if type(function).__hash__ is None and not is_open(type(function)):
        raise Refused(f"a call of {named(function)}, which cannot be looked up")
    require_fit(inf, function, args, kwargs)
    if isinstance(function, type) and find_in_type(type(function), "__call__") is dict:
        # A TypedDict.
        _write(s, dict, args, kwargs)
        return call_known(inf, s, dict, args, kwargs)
    args, kwargs = _by_place(s, function, *named_output(function, args, kwargs))
    if function is zip and kwargs.keys() == {"strict"} and is_zipped_plainly(inf, args, kwargs["strict"]):
        kwargs = {}
        _write(s, function, args, kwargs)
    if draws.seeded(function, args, kwargs):
        args, kwargs = [*kwargs.values()], {}
        _write(s, function, args, kwargs)
    if draws.as_method(s, function, args, kwargs):
        return inf.evaluate(inf, s)
    override = overridden(inf, s, function, args, kwargs)
    if override is not None:
        return inline_call(inf, s, *override)
    found = inf.known_call(s, function, args, kwargs)
    if found is not None:
        return found
    for meaning in (_unfolded, _placed, _for_all_ways, writing):
        does = meaning(inf, s, function, args, kwargs)
        if does is not None:
            return does()
    for answer in (_asked, constants.written_out, saying.said):
        found = answer(inf, s, function, args, kwargs)
        if found is not None:
            return found
    if declared(EFFECTS, function) and id(function) not in DEFINITIONS:
        raise Refused(f"a call of {named(function)}, which has effects")
    if type(function) is MethodType:
        return call_known(inf, s, function.__func__, [inf.world.constant(function.__self__), *args], kwargs)
    if type(function) is FunctionType and wrapped_by(function) is not function:
        return call_known(inf, s, wrapped_by(function), args, kwargs)
    does = _of_objects(inf, s, function, args, kwargs)
    return _call_plainly(inf, s, function, args, kwargs) if does is None else does()


def _write(s: Statement, function: Any, args: Args, kwargs: Kwargs) -> None:
    """Let a statement be a call of a known callable."""
    s.op, s.operands, s.data = "call", [Constant(function), *args, *kwargs.values()], tuple(kwargs)


def _by_place(s: Statement, function: Any, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """The arguments of a call, in their places as far as the rules of the callable have them there."""
    moved = registry.parameters(function).by_place(len(args), kwargs) if kwargs and registry.has_rules(function) else ()
    if moved:
        args = [*args, *map(kwargs.__getitem__, moved)]
        kwargs = {name: x for name, x in kwargs.items() if name not in moved}
        _write(s, function, args, kwargs)
    return args, kwargs


def _unfolded(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Does | None:
    """What does a call that is another one, or makes what is only there while the program is made."""
    if isinstance(function, Body):
        return lambda: inline_call(inf, s, function.function, args, kwargs)
    if managers.is_silence(function):
        return lambda: known_as(inf, s, None)
    bound = None if kwargs else _bound(inf, function, args)
    if bound is not None:
        inf.leave_nothing(s)
        return lambda: bound
    if managers.is_of_errors(inf, function, args, [getattr(inf.type_of(x), "value", None) for x in kwargs.values()]):
        return lambda: known_as(inf, s, managers.ERRSTATE)
    if function is functools.partial:
        return lambda: partials.make(inf, s, args, kwargs)
    if type(function) is functools.partial:
        return lambda: call(inf, s, *partials.unfold_known(inf, s, function, args, kwargs))
    if _dispatches(function) and args:
        return lambda: _call_dispatched(inf, s, function, args, kwargs)
    target = _target(inf, function, args, kwargs)
    if target is None:
        through_source = type(function) is FunctionType and lookup(METHODS, function) is not None
        return (lambda: inline_call(inf, s, function, args, kwargs)) if through_source else None
    _write(s, *target, {})
    return lambda: call_known(inf, s, *target, {})


def _placed(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Does | None:
    """What puts the body in the place of a call that is made for it."""
    key = type(function) if type(function) in BODIES or not is_hashable(function) else function
    by_place, by_name = BODIES.get(key), NAMED.get(key)
    if by_place is None or kwargs and by_name is None:
        return None
    if inf.one_way and key not in STEPS:
        raise Refused(f"a call of {named(function)} on one way")
    if by_name is not None and kwargs:
        return lambda: by_name(inf, s, function, args, kwargs)
    return lambda: by_place(inf, s, function, args)


def _asked(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """What a builtin gives that asks for types and lengths, or begins an iteration."""
    if kwargs or not is_hashable(function):
        return None
    answer = (None if inf.one_way else OF_ALL_WAYS.get(function)) or QUESTIONS.get(function)
    return None if answer is None else answer(inf, s, args)


def _of_objects(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Does | None:
    """What does a call that the classes of its arguments decide about, in Python code."""
    types = [inf.type_of(x) for x in args]
    unsure = [x for x, t in zip(args, types) if is_of_several(t)]
    if unsure:
        return (lambda: divided(inf, s, unsure[0])) if asks_classes(function) else None
    objects = any(class_of(t) is not None and not isinstance(t, Tuple) or named_tuples.is_named(t) for t in types)
    method = special_method(inf, function, types, args) if objects and not kwargs else None
    if method is None:
        return None
    for operand in args:
        inf.assume(operand)
    return lambda: inline_call(inf, s, *method, {})


def _call_plainly(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """Call what is not decided about by what it is given."""
    if function in _SHOWING and not kwargs and not inf.one_way:
        args = [exceptions.shown(inf, s, x) for x in args]
        _write(s, function, args, {})
    if following.is_alike(function):
        args = [named_tuples.plain(inf, s, x) for x in args]
    ruled = registry.has_rules(function) or registry.is_constant(function)
    unknown = [x for x in args if inf.type_of(x) is ANY or isinstance(inf.type_of(x), Several)]
    if any(ruled or not isinstance(x, Rest) for x in unknown):
        raise Refused(f"an argument of {named(function)} of unknown type")
    if ruled:
        if require_value(inf, s, [*args, *kwargs.values()]):
            return None
        absent = [name for name, x in kwargs.items() if known(inf.type_of(x)) is np._NoValue]
        if absent:
            kwargs = {name: x for name, x in kwargs.items() if name not in absent}
            _write(s, function, args, kwargs)
        asked = next((x for x in args if array_method(inf, function, inf.type_of(x))), None)
        if asked is not None and not inf.one_way:
            made = Statement("call_method", [asked], Variable("array"), ("__array__", ()), s.position)
            _write(s, function, [made.made if x is asked else x for x in args], kwargs)
            return inf.first(made)
        args, kwargs = inf.settled(s, function, args, kwargs)
    if is_hashable(function) and function in _SPREAD and len(args) > 1 and not kwargs:
        alone = len(args) == 2 and number_types(inf.type_of(args[1])) is None
        together = [args[0], args[1] if alone else inf.before(s, "build_tuple", args[1:])]
        _write(s, _SPREAD[function], together, {})
        return call_known(inf, s, _SPREAD[function], together, {})
    return callables.call(inf, s, function, args, kwargs)


def _dispatches(function: Any) -> bool:
    """Whether a function is one that ``functools.singledispatch`` has made."""
    return type(function) is FunctionType and function.__code__ is _DISPATCHING


_DISPATCHING: Final = functools.singledispatch(_dispatches).__code__  # type: ignore[attr-defined]


def _call_dispatched(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """A call of what is registered for the class of the first argument."""
    first = inf.type_of(args[0])
    if is_of_several(first):
        return divided(inf, s, args[0])
    targets = {inf.world.dispatched(function, cls) for cls in classes_of(first)}
    if len(targets) != 1:
        raise Refused(f"a call of {named(function)}, of what may be of several classes")
    (target,) = targets
    _write(s, target, args, kwargs)
    return call_known(inf, s, target, args, kwargs)


def _bound(inf: Inference, function: Any, args: Args) -> Bound | None:
    """What ``function.__get__(x, …)`` and ``MethodType(function, x)`` make of an object; None if it is another call."""
    if function is MethodType and len(args) == 2:
        method, receiver = known(inf.type_of(args[0])), args[1]
    elif type(function) is MethodWrapperType and function.__name__ == "__get__" and args:
        method, receiver = function.__self__, args[0]
    else:
        return None
    of_object = type(method) in _BOUND and class_of(inf.type_of(receiver)) is not None
    return Bound(method, receiver) if of_object else None


_BOUND: Final = (FunctionType, WrapperDescriptorType)


def _for_all_ways(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Does | None:
    """What does a call where more than one way is followed: other statements, or a definition; None if nothing does."""
    if inf.one_way or not is_hashable(function):
        return None
    if function in _OF_VALUES and require_value(inf, s, args):
        return lambda: None
    if function is dict and not args and kwargs:
        return lambda: dicts.called(inf, s, kwargs)
    if function is dataclasses.replace:
        return lambda: call(inf, s, *helpers.replaced(inf, s, args, kwargs))
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


def _target(inf: Inference, function: Any, args: Args, kwargs: Kwargs) -> tuple[Any, list[Operand]] | None:
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
