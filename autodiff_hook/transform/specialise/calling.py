"""Calls: of what has a rule, of Python code that is put in their place, of classes."""

from __future__ import annotations

import dataclasses
import functools
import operator
import sys
from collections.abc import Callable, Collection
from inspect import CO_VARARGS
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.registry import registry
from autodiff_hook.runtime.answers import depends
from autodiff_hook.runtime.lookup import find_in_type, wrapped_by
from autodiff_hook.semantics.equivalents import operating
from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_hook.transform.improve.shortcuts import COMPUTING, EFFECTS, METHODS, declared, lookup
from autodiff_hook.transform.specialise import (
    apart,
    caching,
    constants,
    dicts,
    draws,
    exceptions,
    following,
    helpers,
    managers,
    named_tuples,
    partials,
    raises_when,
    saying,
)
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    Abstract,
    Array,
    Bound,
    Closure,
    Fresh,
    Known,
    List,
    Lookup,
    Number,
    Outside,
    Partial,
    Several,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused, Rest, bind, constant_default, made_before
from autodiff_hook.transform.specialise.infer import PURE, TAKE, Given, Inference, RulePlan
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.lattice import (
    differentiable,
    example_of,
    inert_class,
    is_none,
    may_be_complex,
    number_types,
)
from autodiff_hook.transform.specialise.lists import item_of_list
from autodiff_hook.transform.specialise.objects import (
    class_of,
    is_called_plainly,
    is_made_plainly,
    look,
    remembered,
    special_method,
)
from autodiff_hook.transform.specialise.places import assigns, default_of
from autodiff_hook.transform.specialise.plans import (
    alias,
    is_hashable,
    known_as,
    pure,
    require_inert,
    require_value,
    spread,
)
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS, QUESTIONS, checked
from autodiff_hook.transform.specialise.results import exact_types, outcome, rule_for
from autodiff_hook.transform.specialise.stopping import Body, stop, stopped, without_derivative
from autodiff_hook.transform.specialise.wording import named
from autodiff_hook.transform.specialise.world import bind_to
from autodiff_hook.transform.specialise.writing import named_output, written

BODIES: Final[dict[Any, Callable[[Inference, Statement, Any, list[Operand]], Abstract | None]]] = {}
"""Functions, and classes of callables, in whose calls' place the program gets a body that is made for it, or another
statement, of which it is known what it gives."""
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
    if isinstance(callee, Known):
        if isinstance(callee.value, (FunctionType, type)):
            inf.assume(function)
        return call_known(inf, s, callee.value, args, kwargs)
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
    cls = class_of(callee)
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


def arity(inf: Inference, function: Operand, names: Collection[str] | None = ()) -> int | None:
    """How many values a callable has to be given beside those that are named; None if that is not certain."""
    if names is None:
        return None
    callee = inf.type_of(function)
    if isinstance(callee, Known) and isinstance(callee.value, type):
        init = find_in_type(callee.value, "__init__")
        if type(init) is not FunctionType:
            return None if names else named_tuples.arity(inf, callee.value)
        callee = Bound(init, function)
    if isinstance(callee, Bound) and type(callee.function) is FunctionType:
        count = arity(inf, Constant(callee.function), names)
        return None if count is None else count - 1
    if isinstance(callee, Closure):
        code, defaults = callee.code, callee.defaults
    elif isinstance(callee, Known) and type(callee.value) is FunctionType:
        code, defaults = callee.value.__code__, callee.value.__defaults__ or ()
    else:
        return None
    if defaults or code.co_flags & CO_VARARGS:
        return None
    return code.co_argcount - len({*names}.intersection(code.co_varnames[: code.co_argcount]))


def of_one_length(inf: Inference, args: Operand, count: int | None = None) -> Operand:
    """A list or an array has ``count`` items, or as many as the one at hand; else the program gives up."""
    kind = inf.type_of(args)
    if inf.block is None or not isinstance(kind, (List, Array)):
        return args
    if count is None:
        given = kind.site.given if isinstance(kind, List) else type(kind.example) is np.ndarray and kind.example.ndim
        if not given:
            return args
        count = len(kind.example)
    inf.insert(Statement("call", [Constant(exactly), args, Constant(count)], None, ()), plan=PURE)
    if isinstance(kind, List):
        taken = Statement("unpack", [args], Variable(), (count, None))
        inf.insert(taken, Tuple((item_of_list(kind),) * count), TAKE)
    else:
        taken = Statement("build_tuple", spread(inf, args, range(count)), Variable())
        inf.insert(taken, inf.evaluate(inf, taken))
    return taken.made


def exactly(items: list[Any], count: int) -> None:
    """Give up if a list has another length."""
    if len(items) != count:
        raise Given("a list of another length")


QUESTIONS[exactly] = checked
QUESTIONS[raises_when.has_item] = raises_when.has_item_answered


def call_known(
    inf: Inference, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """Call a known callable: a rule, a constant, or Python code in scope."""
    args, kwargs = named_output(function, args, kwargs)
    if draws.as_method(inf, s, function, args, kwargs):
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
    if managers.is_silent(function, args, [getattr(inf.type_of(x), "value", None) for x in kwargs.values()]):
        return known_as(inf, s, managers.ERRSTATE)
    if function is functools.partial:
        return partials.make(inf, s, args, kwargs)
    if type(function) is functools.partial:
        return call(inf, s, *partials.unfold_known(inf, s, function, args, kwargs))
    target = _target(inf, function, args, kwargs)
    if target is not None:
        s.op, s.operands, s.data = "call", [Constant(target[0]), *target[1]], ()
        return call_known(inf, s, *target, {})
    placed = BODIES.get(type(function)) or (BODIES.get(function) if is_hashable(function) else None)
    if placed is not None and not kwargs:
        if inf.one_way and function not in STEPS:
            raise Refused(f"a call of {named(function)} on one way")
        return placed(inf, s, function, args)
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
    if not inf.one_way:
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
    if any(class_of(t) is not None and not isinstance(t, Tuple) or named_tuples.is_named(t) for t in types):
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
        args, kwargs = inf.settled(s, function, args, kwargs)
        types = [inf.type_of(x) for x in args]
    if function in _BITWISE and all(map(_is_of_bits, types)):
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
    if function is operator.or_ and any(map(_is_class, types)) and all(_is_class(t) or is_none(t) for t in types):
        return known_as(inf, s, operator.or_(*map(example_of, types)))
    if registry.has_rules(function):
        return by_rule(inf, s, function, args, kwargs, function)
    if registry.is_constant(function) and is_pure(function):
        require_inert(*types, *map(inf.type_of, kwargs.values()))
        result = outcome(function, types, {k: inf.type_of(v) for k, v in kwargs.items()}, constant=True)
        if isinstance(result, Tuple) and not _has_numpy_outcome(function):
            raise Refused(f"a call of {named(function)}, whose result may have another length")
        return pure(inf, s, result)
    if registry.is_constant(function):
        if type(function) is not FunctionType:
            raise Refused(f"a call of {named(function)}, which is declared to have no derivative")
        given = inf.before(s, "build_tuple", args)
        options = inf.before(s, "build_map", [x for name, value in kwargs.items() for x in (Constant(name), value)])
        return inline_call(inf, s, without_derivative, [Constant(Body(function)), given, options], {})
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
        return _construct(inf, s, function, args, kwargs)
    raise Refused(f"a call of {named(function)}")


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
    if function is getattr and not kwargs:
        return lambda: _attribute_by_name(inf, s, args)
    if function is setattr and len(args) == 3 and not kwargs:
        return lambda: _assigned_by_name(inf, s, args)
    if function is iter and len(args) == 1:
        s.op, s.operands, s.data = "get_iter", args, None
        return lambda: inf.evaluate(inf, s)
    made = apart.produced(inf, s, function, args) if not kwargs else None
    made = made or following.listed(inf, s, function, args, kwargs)
    if made is not None:
        return lambda: inf.evaluate(inf, made)
    places = following.answered(inf, s, function, args) if not kwargs else None
    if places is not None:
        return lambda: places
    code = following.equivalent(inf, function, args, kwargs)
    return None if code is None else lambda: inline_call(inf, s, code, args, kwargs)


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


def _attribute_by_name(inf: Inference, s: Statement, args: list[Operand]) -> Abstract | None:
    """``getattr(owner, "name")``; a default only matters where the class of a number or an array decides."""
    owner, name, *default = map(inf.type_of, args)
    if not isinstance(name, Known) or type(name.value) is not str:
        raise Refused("an attribute whose name is not known")
    if default:
        if not isinstance(owner, (Number, Array)):
            raise Refused("an attribute that may be missing")
        present = {hasattr(cls, name.value) for cls in classes_of(owner)}
        if len(present) > 1:
            raise Refused("an attribute that may be missing")
        if not present.pop():
            return alias(inf, s, args[2])
    s.op, s.operands, s.data = "getattr", [args[0]], name.value
    return inf.evaluate(inf, s)


def _assigned_by_name(inf: Inference, s: Statement, args: list[Operand]) -> Abstract | None:
    """``setattr(owner, "name", value)``."""
    name = inf.type_of(args[1])
    if not isinstance(name, Known) or type(name.value) is not str:
        raise Refused("an attribute whose name is not known is assigned")
    if s.result is not None:
        inf.types[s.result] = Known(None)
    s.op, s.operands, s.data, s.result = "setattr", [args[0], args[2]], name.value, None
    return inf.evaluate(inf, s)


def implementation(function: Any) -> FunctionType | None:
    """The Python code behind a dispatcher of NumPy's."""
    inner = getattr(function, "_implementation", None) if type(function).__module__ == "numpy" else None
    return inner if type(inner) is FunctionType else None


def _construct(
    inf: Inference, s: Statement, cls: type, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """Make an object: ``__new__``, and a call of ``__init__`` behind it."""
    error = exceptions.is_exception(inf, cls)
    if s.result is None or inf.block is None or not is_called_plainly(inf, cls):
        raise Refused(f"a call of {named(cls)}")
    new, init = look(inf, cls, "__new__"), look(inf, cls, "__init__")
    new = new.__func__ if issubclass(type(new), staticmethod) else new
    if error:
        exceptions.begin(inf, s, s.result, args)
        if init in exceptions.INITIALISERS and not kwargs:
            inf.leave_nothing(s)
            return Fresh(cls, s.result)
    elif new is object.__new__ and is_made_plainly(inf, cls):
        if init is object.__init__ and not (args or kwargs):
            return _object(new, inf, s, [Constant(cls)])
    elif type(new) is FunctionType and init is object.__init__:
        return inline_call(inf, s, new, [Constant(cls), *args], kwargs)
    elif type(new) is FunctionType:
        return inline_call(inf, s, operating.made, [Constant(cls), Constant(new), Constant(init), *args], kwargs)
    if type(init) is not FunctionType or not inf.world.in_scope(init):
        raise Refused(f"a call of {named(cls)}")
    start = Statement("call", [Constant(init), s.result, *args, *kwargs.values()], None, tuple(kwargs), s.position)
    inf.block.statements.insert(inf.index + 1, start)
    return _object(new, inf, s, [Constant(cls)])


def _object(new: Any, inf: Inference, s: Statement, args: list[Operand]) -> Abstract | None:
    """``object.__new__(cls)``."""
    cls = inf.type_of(args[0]) if len(args) == 1 else None
    if s.result is None or not isinstance(cls, Known) or not isinstance(cls.value, type):
        return None
    if not (is_made_plainly if new is object.__new__ else exceptions.is_exception)(inf, cls.value):
        raise Refused(f"an object of {named(cls.value)}")
    s.op, s.operands, s.data = "call", [Constant(new), *args], ()
    if s not in inf.checked and inf.block is not None:
        inf.checked.add(s)
        begun: dict[str, Operand] = dict.fromkeys(remembered(cls.value), Constant(None))
        for name in sorted(x[2] for x in inf.program.changed if type(x) is tuple and x == default_of(cls.value, x[-1])):
            begun[name] = inf.world.part(Constant(cls.value), cls.value, name, False)
        for name, value in begun.items():
            store = Statement("setattr", [s.result, value], None, name, s.position)
            inf.block.statements.insert(inf.index + 1, store)
    made = dicts.built(inf, s, cls.value)
    if made is not None:
        return made
    inf.leave_nothing(s)
    dicts.record(inf, cls.value, s.result)
    return Fresh(cls.value, s.result)


OF_ALL_WAYS.update({new: functools.partial(_object, new) for new in (object.__new__, *exceptions.MAKERS)})


def inline_call(
    inf: Inference, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """Put a function from outside, written in Python, in the place of a call."""
    placed = inf.callees.place(inf, s, function, args, kwargs) if inf.callees is not None else None
    if placed is not None:
        return placed
    inf.world.function(function)
    cells: list[Operand] = []
    for cell in function.__closure__ or ():
        variable = Variable()
        inf.cells[variable] = inf.world.captured(cell)
        cells.append(variable)
    call = bind_to(inf.world, function, args, kwargs)
    inf.inline(s, function.__code__, function.__globals__, call, cells)
    return None


_SPREAD: Final[dict[Any, Any]] = {np.ndarray.reshape: np.reshape, np.ndarray.transpose: np.transpose}
"""Methods that are given items one by one, and functions that are given them together: these are put in their place."""
_OF_VALUES: Final = (len, int, range, enumerate, zip, reversed)
"""What raises if it is given None."""
_SHOWING: Final = (str, repr, format, ascii)
_BITWISE: Final = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.invert)
_BITS: Final[set[Any]] = {int, bool, np.bool_}


def _is_of_bits(value: Abstract) -> bool:
    if isinstance(value, Array):
        return value.dtype is not None and value.dtype.kind == "b"
    return (number_types(value) or {inert_class(value)}) <= _BITS


def _is_class(value: Abstract) -> bool:
    """Whether a value is a class, or several, as one that ``|`` joins to a union."""
    return isinstance(value, Known) and (
        isinstance(value.value, UnionType) or getattr(type(value.value), "__or__", None) is type.__or__
    )


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
    return getattr(function, "__module__", None) in _PURE or _has_numpy_outcome(function)


def _has_numpy_outcome(function: Any) -> bool:
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


def by_rule(
    inf: Inference,
    s: Statement,
    function: Any,
    args: list[Operand],
    kwargs: dict[str, Operand],
    run: Callable[..., Any],
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
    if not any(map(differentiable, given)) and not all(isinstance(t, Known) for t in given):
        require_inert(*given)
        return pure(inf, s, outcome(run, types, options, loose=not inf.one_way))
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
    result = outcome(run, types, options, loose=not inf.one_way)
    of_numbers = all(number_types(t) is not None for t in given)
    inf.plans[s] = RulePlan(
        function, rule, bound.values, function is operator.pow and _may_be_complex(types), of_numbers
    )
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


def _may_be_complex(types: list[Abstract]) -> bool:
    """Whether a power of real numbers may be complex, which their types do not say."""
    base, exponent = map(number_types, types)
    if base is None or exponent is None or any(map(may_be_complex, types)):
        return False
    value = types[1].value if isinstance(types[1], Known) else None
    return exponent != {int} and not (isinstance(value, float) and value.is_integer())
