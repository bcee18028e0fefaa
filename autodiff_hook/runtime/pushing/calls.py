"""What a call means for the tangent, decided from the actual values in the order of ``runtime.calls``."""

from __future__ import annotations

import functools
from collections import OrderedDict
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, Final

from autodiff_hook.runtime import calls
from autodiff_hook.runtime.applying import is_iterated_by_code
from autodiff_hook.runtime.arrays import writes_result
from autodiff_hook.runtime.lookup import builtin_behind, find_in_type
from autodiff_hook.runtime.oddities import adds_objects
from autodiff_hook.runtime.opaque import NOT_OPTED_IN, NOT_PYTHON
from autodiff_hook.runtime.pushing.applying import has_rules, is_constant, misfit_of, push_rule, rule_for
from autodiff_hook.runtime.pushing.attributes import getattr_
from autodiff_hook.runtime.pushing.context import Result, TangentContext, keep, kind, load, quiet, reaches, some
from autodiff_hook.runtime.pushing.functions import enter, in_library, in_scope
from autodiff_hook.runtime.pushing.handlers import PUSHERS, bookkeeping, pusher_of, pusher_with_options, pushes
from autodiff_hook.runtime.pushing.iteration import get_iter, is_iteration, is_view, python_method
from autodiff_hook.runtime.pushing.opaque import call_opaque
from autodiff_hook.runtime.pushing.outputs import call_with_out
from autodiff_hook.runtime.pushing.primitives import method_with, push_bound_arguments, receiver_of

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def call(ctx: TangentContext, t: Any, kwnames: tuple[str, ...], function: Any, *args: Any) -> Result:
    """``function(*args)``; the last arguments are those named in ``kwnames``."""
    if not kwnames:
        return apply(ctx, t, function, args, {})
    count = len(args) - len(kwnames)
    return apply(ctx, t, function, args[:count], dict(zip(kwnames, args[count:])))


def call_ex(ctx: TangentContext, t: Any, data: Any, function: Any, args: Any, kwargs: Any) -> Result:
    """``function(*args, **kwargs)``."""
    if type(args) is tuple:
        tangents = (None,) * len(args) if t[1] is None else t[1]
    else:
        pairs = list(get_iter(ctx, (t[1],), None, args)[0])
        args = tuple([item for item, _ in pairs])
        tangents = tuple([tangent for _, tangent in pairs])
    named = {} if kwargs is None else dict(kwargs)
    return apply(ctx, (t[0], *tangents, *[load(ctx, kwargs, name) for name in named]), function, args, named)


def load_method(ctx: TangentContext, t: Any, name: str, receiver: Any) -> Result:
    """``receiver.name``, to be called when the arguments are there; the tangent is the receiver's."""
    method = method_of(receiver, name)
    if method is not None:
        return method_with(method, receiver), t[0]
    return getattr_(ctx, t, name, receiver)


def call_loaded(ctx: TangentContext, t: Any, kwnames: tuple[str, ...], method: Any, *args: Any) -> Result:
    """``method(*args)``, where ``load_method`` has given the method."""
    kwargs: dict[str, Any] = {}
    if kwnames:
        count = len(args) - len(kwnames)
        kwargs = dict(zip(kwnames, args[count:]))
        args = args[:count]
    function = function_of(method)
    if function is None:
        return apply(ctx, t, method, args, kwargs)
    return apply(ctx, (None, *t), function, (receiver_of(method), *args), kwargs)


@bookkeeping
def function_of(method: Any) -> Any:
    """The function of a method that was looked up before its arguments; None if it was no plain method."""
    return method.__func__ if type(method) is calls.Method else None


def call_method(ctx: TangentContext, t: Any, data: Any, receiver: Any, *args: Any) -> Result:
    """``receiver.name(*args)``."""
    name, kwnames = data
    kwargs: dict[str, Any] = {}
    if kwnames:
        count = len(args) - len(kwnames)
        kwargs = dict(zip(kwnames, args[count:]))
        args = args[:count]
    method = method_of(receiver, name)
    if method is not None:
        return apply(ctx, (None, *t), method, (receiver, *args), kwargs)
    function, tangent = getattr_(ctx, t[:1], name, receiver)
    return apply(ctx, (tangent, *t[1:]), function, args, kwargs)


@bookkeeping
def method_of(receiver: Any, name: str) -> Any:
    """The function behind ``receiver.name`` if it is a plain method of the type; else None."""
    return None if isinstance(receiver, ModuleType) else calls.method_of(receiver, name)


def apply(ctx: TangentContext, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """Call with tangents: a rule, a constant, code in scope, or an opaque call, in this order."""
    if quiet(ctx, t) and not looks_later(function):
        return function(*args, **kwargs), None
    if fills_array(function, args, kwargs):
        return call_with_out(ctx, t, function, args, kwargs)
    pusher = pusher_with_options(function, kwargs)
    if pusher is not None:
        return pusher(ctx, t[1:], args, kwargs)
    misfit = None
    if has_rules(function):
        args, t = drained(ctx, t, function, args)
        adding = code_that_adds(function, args, kwargs)
        if adding is not None:
            return enter(ctx, t, adding, args, kwargs)
        rule = rule_for(function, args, kwargs)
        if rule is not None:
            return push_rule(ctx, t[1:], rule, function, args, kwargs)
        misfit = misfit_of(function, args, kwargs)
    pusher = pusher_of(function)
    if pusher is not None:
        return pusher(ctx, t[1:], args, kwargs)
    if misfit is not None:
        return call_opaque(ctx, t[1:], function, args, kwargs, f"of which the rule does not know {misfit}")
    if is_constant(function):
        return function(*args, **kwargs), None
    return _unfold(ctx, t, function, args, kwargs)


looks_later = bookkeeping(calls.looks_later)


@bookkeeping
def code_that_adds(function: Any, args: Args, kwargs: Kwargs) -> Any:
    """The Python code for ``sum`` or ``math.prod`` of objects; None for others, and for numbers."""
    code = calls.ADDING.get(function) if type(function) is BuiltinFunctionType else None
    return code if code is not None and adds_objects(function, args, kwargs) else None


fills_array = bookkeeping(writes_result)


def drained(ctx: TangentContext, t: Any, function: Any, args: Args) -> tuple[Args, Any]:
    """Arguments that are iterated over with tangents turned into tuples, as rules want them."""
    drains = [drains_as(ctx, function, value) for value in args]
    if True not in drains:
        return args, t
    values: list[Any] = []
    tangents: list[Any] = []
    for value, tangent, drain in zip(args, t[1:], drains):
        if drain:
            pairs = list(get_iter(ctx, (None,), None, value)[0])
            value = tuple([item for item, _ in pairs])
            tangent = tuple([moving for _, moving in pairs])
            tangent = tangent if some(tangent) else None
        values.append(value)
        tangents.append(tangent)
    return tuple(values), (t[0], *tangents, *t[1 + len(args) :])


@bookkeeping
def drains_as(ctx: TangentContext, function: Any, value: Any) -> bool:
    """Whether a rule of ``function`` has to be given the items of ``value``."""
    if is_iteration(value):
        return True
    form = kind(value)
    if is_view(value) or form == "set":
        return reaches(ctx, value)
    summing = function in (sum, max, min) or getattr(function, "__module__", None) == "math"
    return form in ("object", "list", "tuple", "dict") and is_iterated_by_code(type(value)) and summing


@bookkeeping
def unfolding(function: Any) -> tuple[str, Any]:
    """The Python code that a callable stands for, and how to get there."""
    cls = type(function)
    if cls is FunctionType:
        return "function", None
    if cls is MethodType:
        return "bound", function.__func__
    if cls in (BuiltinFunctionType, MethodWrapperType) and not isinstance(
        function.__self__, (ModuleType, type, type(None))
    ):
        method = builtin_behind(function)
        if method is not None:
            return "bound", method
    if cls is MethodWrapperType and id(builtin_behind(function)) in PUSHERS:
        return "bound", builtin_behind(function)
    if cls is BuiltinFunctionType and isinstance(function.__self__, type):
        method = find_in_type(function.__self__, function.__name__)
        return ("method", method) if id(method) in PUSHERS else ("opaque", None)
    if isinstance(function, type):
        return "class", None
    if cls is functools.partial:
        return "partial", function.func
    inner = getattr(function, "_implementation", None) if cls.__module__ == "numpy" else None
    if cls is functools._lru_cache_wrapper:
        return "cache", function.__wrapped__
    if isinstance(inner, FunctionType):
        return "wrapper", inner
    caller = find_in_type(cls, "__call__")
    return ("callable", caller) if isinstance(caller, FunctionType) or id(caller) in PUSHERS else ("opaque", None)


def _unfold(ctx: TangentContext, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    form, inner = unfolding(function)
    if form == "function":
        return _call_function(ctx, t, function, args, kwargs)
    if form == "bound":
        return apply(ctx, (None, *t), inner, (receiver_of(function), *args), kwargs)
    if form == "method":
        return apply(ctx, (None, *t), inner, (function.__self__, *args), kwargs)
    if form == "class":
        return _instantiate(ctx, t, function, args, kwargs)
    if form == "partial":
        return _call_partial(ctx, t, function, inner, args, kwargs)
    if form == "wrapper" or form == "cache" and _flows_in(ctx, t, function, args, kwargs):
        return apply(ctx, t, inner, args, kwargs)
    if form == "callable":
        return apply(ctx, (None, *t), inner, (function, *args), kwargs)
    return call_opaque(ctx, t[1:], function, args, kwargs, NOT_PYTHON)


def _flows_in(ctx: TangentContext, t: Any, function: Any, args: Args, kwargs: Kwargs) -> bool:
    """Whether something with a tangent goes into a call, or can be reached from it."""
    return some(t[1:]) or reaches(ctx, (function, *args, *kwargs.values()))


def _call_function(ctx: TangentContext, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    if in_scope(ctx, function):
        return enter(ctx, t, function, args, kwargs)
    if in_library(function) and _flows_in(ctx, t, function, args, kwargs):
        return enter(ctx, t, function, args, kwargs)
    return call_opaque(ctx, t[1:], function, args, kwargs, NOT_OPTED_IN)


@bookkeeping
def constructors(cls: Any) -> tuple[Any, bool, Any]:
    """The ``__new__`` of a class, whether that takes no arguments, and the ``__init__``; None: not known here."""
    new, init = find_in_type(cls, "__new__"), find_in_type(cls, "__init__")
    new = new.__func__ if isinstance(new, staticmethod) else new
    is_code = isinstance(new, FunctionType) or isinstance(init, FunctionType)
    known = isinstance(new, FunctionType) or id(new) in PUSHERS or new in _BLANK
    heap = bool(cls.__flags__ & _HEAP_TYPE) and new is not object.__new__
    if not known or not is_code and not heap and cls is not OrderedDict:
        return None, False, None
    return new, new in _BLANK, init if isinstance(init, FunctionType) or id(init) in PUSHERS else None


_BLANK: Final = (object.__new__, dict.__new__, list.__new__, OrderedDict.__new__)
_HEAP_TYPE: Final = 1 << 9


@bookkeeping
def blank(cls: Any) -> Any:
    """A new instance of a class, with nothing in it."""
    new = find_in_type(cls, "__new__")
    return cls.__new__(cls) if new in _BLANK else object.__new__(cls)


@bookkeeping
def fields_of(cls: Any) -> tuple[str, ...] | None:
    """The field names of a class made by ``collections.namedtuple``, if instances are made as that does."""
    new = find_in_type(cls, "__new__")
    module = getattr(getattr(new, "__func__", new), "__module__", None)
    return cls._fields if issubclass(cls, tuple) and str(module).startswith("namedtuple_") else None


def _instantiate(ctx: TangentContext, t: Any, cls: Any, args: Args, kwargs: Kwargs) -> Result:
    """``cls(*args)``: ``__new__`` and ``__init__``, each with tangents."""
    maker = python_method(cls, "__call__")
    if maker is not None:
        return apply(ctx, (None, *t), maker, (cls, *args), kwargs)
    return make_instance(ctx, t, cls, args, kwargs)


def make_instance(ctx: TangentContext, t: Any, cls: Any, args: Args, kwargs: Kwargs) -> Result:
    """A new instance, past what a metaclass makes of the call."""
    fields = fields_of(cls)
    if fields is not None and len(args) + len(kwargs) == len(fields):
        named = dict(zip((*fields[: len(args)], *kwargs), t[1:]))
        return cls(*args, **kwargs), tuple([named.get(name) for name in fields])
    new, empty, init = constructors(cls)
    if new is None:
        return call_opaque(ctx, t[1:], cls, args, kwargs, "a class without Python code")
    tangent = None
    if empty:
        instance = blank(cls)
    else:
        instance, tangent = apply(ctx, (None, *t), new, (cls, *args), kwargs)
        init = constructors(type(instance))[2]
    if isinstance(instance, cls) and init is not None:
        apply(ctx, (None, tangent, *t[1:]), init, (instance, *args), kwargs)
    return instance, tangent


def _call_partial(ctx: TangentContext, t: Any, partial: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A ``functools.partial``: a reference whose slots are what it was made with."""
    values, tangents = push_bound_arguments(ctx, (None,), (partial,), {})
    names = keyword_names(partial)
    count = len(values) - len(names)
    named = dict(zip(names, values[count:])) | kwargs
    moving = dict(zip(names, tangents[count:])) | dict(zip(kwargs, t[1 + len(args) :]))
    inner = (None, *tangents[:count], *t[1 : 1 + len(args)], *[moving[name] for name in named])
    return apply(ctx, inner, function, (*values[:count], *args), named)


@bookkeeping
def keyword_names(partial: Any) -> tuple[str, ...]:
    """The names of the keyword arguments in a ``functools.partial``."""
    return tuple(partial.keywords)


@pushes(functools.partial)
def make_partial(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``functools.partial(function, *args, **kwargs)``."""
    partial: Any = functools.partial(args[0], *args[1:], **kwargs)
    lead = 0
    if type(args[0]) is functools.partial:
        lead = len(partial.args) - len(args) + 1
        for key in (*range(lead), *keyword_names(args[0])):
            keep(ctx, partial, key, load(ctx, args[0], key))
    for index in range(1, len(args)):
        keep(ctx, partial, lead + index - 1, t[index])
    for name, tangent in zip(kwargs, t[len(args) :]):
        keep(ctx, partial, name, tangent)
    return partial, None
