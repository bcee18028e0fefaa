"""``J`` at run time: what a call means for the derivative, decided from the actual values."""

from __future__ import annotations

import functools
import inspect
import math
from collections import OrderedDict, defaultdict
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

from autodiff_hook.registry import registry
from autodiff_hook.runtime import equivalents
from autodiff_hook.runtime.applying import apply_rule, apply_to_numbers, drain
from autodiff_hook.runtime.arrays import call_with_out, writes_result
from autodiff_hook.runtime.attributes import getattr_, itself
from autodiff_hook.runtime.checking import NUMBERS
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import accumulate, run, tuple_cotangent
from autodiff_hook.runtime.functions import enter, in_library, in_scope
from autodiff_hook.runtime.handlers import HANDLERS, LAZY, WITH_OPTIONS, handles
from autodiff_hook.runtime.iteration import Drained
from autodiff_hook.runtime.lookup import builtin_behind, find_in_type
from autodiff_hook.runtime.oddities import adds_objects, calls_back
from autodiff_hook.runtime.opaque import NOT_OPTED_IN, NOT_PYTHON, call_native, call_opaque, flows_in
from autodiff_hook.runtime.sequences import copy_of
from autodiff_hook.runtime.slots import loaded, stored
from autodiff_hook.runtime.special_attributes import RECEIVER

Result = tuple[Any, Pullback | None]

ADDING: Final[Any] = {sum: equivalents.total, math.prod: equivalents.product_of}
_HEAP_TYPE: Final = 1 << 9
_GETATTRIBUTE: Final = object.__dict__["__getattribute__"]


class Realigned:
    """A pullback whose cotangents are rearranged: ``places[i]`` is the index of operand ``i``."""

    __slots__ = ("places", "pullback")

    def __init__(self, pullback: Pullback, places: Any) -> None:
        self.pullback, self.places = pullback, places

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        given = run(self.pullback, sweep, cotangent)
        return given and tuple(None if i is None else given[i] for i in self.places)


def realigned(result: Result, places: Any) -> Result:
    """``result`` with the operands of its pullback rearranged."""
    value, pullback = result
    return value, None if pullback is None else Realigned(pullback, places)


def call(ctx: Context, w: Any, kwnames: tuple[str, ...], function: Any, *args: Any) -> Result:
    """``function(*args)``; the last arguments are those named in ``kwnames``."""
    if kwnames:
        count = len(args) - len(kwnames)
        return apply(ctx, w, function, args[:count], dict(zip(kwnames, args[count:])))
    return apply(ctx, w, function, args, {})


def call_ex(ctx: Context, w: Any, data: Any, function: Any, args: Any, kwargs: Any) -> Result:
    """``function(*args, **kwargs)``."""
    gathered: Pullback | None = None
    is_tuple = type(args) is tuple
    if not is_tuple:
        args, gathered = copy_of(ctx, (w[1],), (args,), tuple)
    witness = w[1] if is_tuple else gathered
    named = dict(kwargs) if kwargs is not None else {}
    loads = [loaded(ctx, kwargs, name, value) if ctx.marks else None for name, value in named.items()]
    value, pullback = apply(ctx, (w[0], *((witness,) * len(args)), *loads), function, args, named)
    if pullback is None and gathered is None:
        return value, None
    count = len(args)

    def call_ex_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = (pullback(sweep, cotangent) if pullback is not None else None) or (None,) * (1 + count + len(loads))
        for load, part in zip(loads, given[1 + count :]):
            if load is not None:
                load(sweep, part)
        parts = tuple_cotangent(*given[1 : 1 + count])
        if gathered is not None:
            parts = gathered(sweep, parts)[0]
        return given[0], parts, None

    return value, call_ex_pullback


def call_method(ctx: Context, w: Any, data: tuple[str, tuple[str, ...]], receiver: Any, *args: Any) -> Result:
    """``receiver.name(*args)``."""
    name, kwnames = data
    kwargs: dict[str, Any] = {}
    if kwnames:
        count = len(args) - len(kwnames)
        args, kwargs = args[:count], dict(zip(kwnames, args[count:]))
    cls = type(receiver)
    if cls is ModuleType:
        return apply(ctx, w, getattr(receiver, name), args, kwargs)
    method = method_of(receiver, name)
    if method is not None:
        result = apply(ctx, (None, *w), method, (receiver, *args), kwargs)
        return realigned(result, range(1, 2 + len(args) + len(kwargs)))
    function, pullback = getattr_(ctx, w[:1], name, receiver)
    return _then(pullback, apply(ctx, (pullback, *w[1:]), function, args, kwargs))


class Method:
    """A plain method of the type of ``receiver``, which was looked up before the arguments of its call."""

    __slots__ = ("__func__", "__self__")

    def __init__(self, function: Any, receiver: Any) -> None:
        self.__func__, self.__self__ = function, receiver


def load_method(ctx: Context, w: Any, name: str, receiver: Any) -> Result:
    """``receiver.name``, to be called when the arguments are there; the cotangent is the receiver's."""
    method = method_of(receiver, name) if type(receiver) is not ModuleType else None
    if method is not None:
        return Method(method, receiver), None if w[0] is None else itself
    return getattr_(ctx, w, name, receiver)


def call_loaded(ctx: Context, w: Any, kwnames: tuple[str, ...], method: Any, *args: Any) -> Result:
    """``method(*args)``, where ``load_method`` has given the method."""
    kwargs: dict[str, Any] = {}
    if kwnames:
        count = len(args) - len(kwnames)
        args, kwargs = args[:count], dict(zip(kwnames, args[count:]))
    if type(method) is not Method:
        return apply(ctx, w, method, args, kwargs)
    result = apply(ctx, (None, *w), method.__func__, (method.__self__, *args), kwargs)
    return realigned(result, range(1, 2 + len(args) + len(kwargs)))


def _then(first: Pullback | None, second: Result) -> Result:
    """``second`` with the cotangent of its callable handed on to ``first``."""
    value, pullback = second
    if first is None or pullback is None:
        return value, pullback or first

    def then_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, cotangent)
        before = first(sweep, given[0] if given is not None else None)
        if given is None:
            return before
        return (before[0] if before is not None else None, *given[1:])

    return value, then_pullback


def method_of(receiver: Any, name: str) -> Any:
    """The function behind ``receiver.name`` if it is a plain method of the type; else None."""
    cls = type(receiver)
    if find_in_type(cls, "__getattribute__") is not _GETATTRIBUTE:
        return None
    found = find_in_type(cls, name)
    if isinstance(found, (FunctionType, MethodDescriptorType, WrapperDescriptorType)):
        dictionary = getattr(receiver, "__dict__", None)
        if dictionary is None or name not in dictionary:
            return found
    return None


def apply(ctx: Context, w: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """Call with derivatives: a rule, a constant, code in scope, or an opaque call, in this order."""
    if ctx.idle():
        for witness in w:
            if witness is not None:
                break
        else:
            if not looks_later(function):
                value = function(*args, **kwargs)
                ctx.memories.ran(function, args, kwargs, value)
                return value, None
    if writes_result(function, args, kwargs):
        return call_with_out(ctx, w, function, args, kwargs)
    if kwargs and (handler := WITH_OPTIONS.get(id(function))) is not None:
        value, pullback = handler(ctx, w[1:], args, kwargs)
        return value, None if pullback is None else _Led(pullback)
    misfit: str | None = None
    if registry.has_rules(function):
        args, drained = drain(ctx, function, args)
        if (function is sum or function is math.prod) and adds_objects(function, args, kwargs):
            return _add(ctx, w, ADDING[function], args, kwargs, drained)
        types = tuple(map(type, args))
        rule = registry.rule(function, types, tuple(kwargs))
        if rule is not None:
            if not kwargs and NUMBERS.issuperset(types):
                if all(witness is None for witness in w):
                    return function(*args), None
                return apply_to_numbers(ctx, w, 1, rule, args)
            return apply_rule(ctx, w, 1, rule, function, args, kwargs, drained)
        misfit = registry.misfit(function, types, tuple(kwargs))
    handler = HANDLERS.get(id(function))
    if handler is not None:
        value, pullback = handler(ctx, w[1:], args, kwargs)
        return value, None if pullback is None else _Led(pullback)
    if misfit is not None:
        return _opaque(ctx, w, function, args, kwargs, f"of which the rule does not know {misfit}")
    if registry.is_constant(function) and not calls_back(function, args):
        return call_native(ctx, function, args, kwargs)
    return _unfold(ctx, w, function, args, kwargs)


def _add(
    ctx: Context, w: Any, code: Any, args: tuple[Any, ...], kwargs: dict[str, Any], drained: dict[int, Drained] | None
) -> Result:
    """``sum`` or ``math.prod`` of objects: the Python code that stands for it, and what the items were taken from."""
    taken = drained or {}
    inner = [taken.get(i, x) for i, x in enumerate(w[1:])]
    value, pullback = enter(ctx, (None, *inner), code, args, kwargs)
    if not taken:
        return value, pullback

    def added_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, cotangent) if pullback is not None else None
        for i, items in taken.items():
            items(sweep, None if given is None else given[1 + i])
        return given and (None, *(None if i in taken else c for i, c in enumerate(given[1:])))

    return value, added_pullback


def looks_later(function: Any) -> bool:
    """Whether a call only begins to look at its arguments, which may change before it goes on."""
    if type(function) is FunctionType and function.__code__.co_flags & inspect.CO_GENERATOR:
        return True
    return id(function) in LAZY


class _Led:
    """A pullback of arguments, with no cotangent for the callable in front."""

    __slots__ = ("pullback",)

    def __init__(self, pullback: Pullback) -> None:
        self.pullback = pullback

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        given = run(self.pullback, sweep, cotangent)
        return None if given is None else (None, *given)


def _unfold(ctx: Context, w: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """Find the Python code that a callable stands for."""
    cls = type(function)
    if cls is FunctionType:
        return _call_function(ctx, w, function, args, kwargs)
    if cls is MethodType:
        return _call_bound(ctx, w, function, function.__func__, args, kwargs)
    if cls is MethodWrapperType or _is_bound(function):
        method = builtin_behind(function)
        if method is not None:
            return _call_bound(ctx, w, function, method, args, kwargs)
    if cls is BuiltinFunctionType and isinstance(function.__self__, type):
        method = find_in_type(function.__self__, function.__name__)
        if id(method) in HANDLERS:
            value, pullback = HANDLERS[id(method)](ctx, (None, *w[1:]), (function.__self__, *args), kwargs)
            return value, pullback
    if isinstance(function, type):
        return _instantiate(ctx, w, function, args, kwargs)
    if cls is functools.partial:
        return _call_partial(ctx, w, function, args, kwargs)
    inner = getattr(function, "_implementation", None) if cls.__module__ == "numpy" else None
    if inner is None and cls is functools._lru_cache_wrapper:
        if flows_in(ctx, w[1:], [*args, *kwargs.values()]) or ctx.reaches(function):
            inner = function.__wrapped__
    if isinstance(inner, FunctionType):
        return apply(ctx, w, inner, args, kwargs)
    caller = find_in_type(cls, "__call__")
    if isinstance(caller, FunctionType) or id(caller) in HANDLERS:
        result = apply(ctx, (None, *w), caller, (function, *args), kwargs)
        return realigned(result, range(1, 2 + len(args) + len(kwargs)))
    return _opaque(ctx, w, function, args, kwargs, NOT_PYTHON)


def _is_bound(function: Any) -> bool:
    """Whether a builtin is a method bound to an instance."""
    return type(function) is BuiltinFunctionType and not isinstance(function.__self__, (ModuleType, type, type(None)))


def _call_bound(ctx: Context, w: Any, bound: Any, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """Call a bound method: what it is bound to is a slot of it, or comes with it."""
    receiver = bound.__self__
    load = loaded(ctx, bound, RECEIVER, receiver) if ctx.marks else None
    result = apply(ctx, (None, load or w[0], *w[1:]), method, (receiver, *args), kwargs)
    if load is None or result[1] is None:
        return realigned(result, range(1, 2 + len(args) + len(kwargs)))
    value, pullback = result[0], result[1]

    def bound_call_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, cotangent)
        if given is None:
            return None
        load(sweep, given[1])
        return (None, *given[2:])

    return value, bound_call_pullback


def _opaque(ctx: Context, w: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str) -> Result:
    return call_opaque(ctx, w[1:], function, args, kwargs, reason)


def _call_function(
    ctx: Context, w: Any, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Result:
    if in_scope(ctx, function):
        return enter(ctx, w, function, args, kwargs)
    if in_library(function):
        if flows_in(ctx, w[1:], [*args, *kwargs.values()]) or ctx.reaches(function):
            return enter(ctx, w, function, args, kwargs)
    return _opaque(ctx, w, function, args, kwargs, NOT_OPTED_IN)


def _instantiate(ctx: Context, w: Any, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``cls(*args)``: ``__new__`` and ``__init__``, each with derivatives."""
    maker = find_in_type(type(cls), "__call__")
    if isinstance(maker, FunctionType):
        result = apply(ctx, (None, *w), maker, (cls, *args), kwargs)
        return realigned(result, range(1, 2 + len(args) + len(kwargs)))
    return _make_instance(ctx, w, cls, args, kwargs)


@handles(type.__call__)
def call_class(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``type.__call__(cls, …)``, past what a metaclass makes of it."""
    return _make_instance(ctx, w, args[0], args[1:], kwargs)


def _make_instance(ctx: Context, w: Any, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    new, init = find_in_type(cls, "__new__"), find_in_type(cls, "__init__")
    new = new.__func__ if isinstance(new, staticmethod) else new
    if not isinstance(new, FunctionType) and not isinstance(init, FunctionType) and not _is_derived(cls, new):
        return _opaque(ctx, w, cls, args, kwargs, "a class without Python code")
    made: Pullback | None = None
    if isinstance(new, FunctionType) or new in (tuple.__new__, float.__new__):
        instance, made = apply(ctx, (None, *w), new, (cls, *args), kwargs)
    elif new in (object.__new__, dict.__new__, list.__new__, OrderedDict.__new__):
        instance = cls.__new__(cls)
    else:
        instance, made = _opaque(
            ctx, (None, None, *w[1:]), new, (cls, *args), kwargs, "a constructor that is not Python code"
        )
    if isinstance(instance, cls):
        init = find_in_type(type(instance), "__init__")
    if not isinstance(instance, cls) or not (isinstance(init, FunctionType) or id(init) in HANDLERS):
        return realigned((instance, made), range(1, 2 + len(args) + len(kwargs)))
    _, filled = apply(ctx, (None, made, *w[1:]), init, (instance, *args), kwargs)
    return instance, _constructed(made, filled)


def _is_derived(cls: type, new: Any) -> bool:
    """Whether a class without constructor of its own is made of a builtin one that the engine knows."""
    known = (dict.__new__, list.__new__, tuple.__new__, float.__new__)
    return cls in (OrderedDict, defaultdict) or (cls.__flags__ & _HEAP_TYPE != 0 and new in known)


def _constructed(made: Pullback | None, filled: Pullback | None) -> Pullback | None:
    if made is None and filled is None:
        return None

    def constructed_pullback(sweep: Sweep, cotangent: Any) -> Any:
        after = filled(sweep, None) if filled is not None else None
        before = made(sweep, cotangent) if made is not None else None
        if after is None or before is None:
            given = after if before is None else before
            return given and (None, *given[2:])
        return (None, *(accumulate(a, b) for a, b in zip(after[2:], before[2:])))

    return constructed_pullback


def _call_partial(ctx: Context, w: Any, partial: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """A ``functools.partial``: a reference whose slots are what it was made with."""
    keywords = {**partial.keywords, **kwargs}
    bound: list[Any] = [loaded(ctx, partial, i, value) for i, value in enumerate(partial.args)]
    given = dict(zip(kwargs, w[1 + len(args) :]))
    named: list[Any] = [given[k] if k in kwargs else loaded(ctx, partial, k, v) for k, v in keywords.items()]
    inner = (None, *bound, *w[1 : 1 + len(args)], *named)
    value, pullback = apply(ctx, inner, partial.func, (*partial.args, *args), keywords)
    if pullback is None:
        return value, None
    count = len(bound)

    def partial_pullback(sweep: Sweep, cotangent: Any) -> Any:
        cotangents = pullback(sweep, cotangent)
        if cotangents is None:
            return None
        for load, c in zip(bound, cotangents[1:]):
            if load is not None:
                load(sweep, c)
        by_name = dict(zip(keywords, cotangents[1 + count + len(args) :]))
        for (name, c), load in zip(by_name.items(), named):
            if name not in kwargs and load is not None:
                load(sweep, c)
        return (None, *cotangents[1 + count : 1 + count + len(args)], *(by_name[name] for name in kwargs))

    return value, partial_pullback


@handles(functools.partial)
def make_partial(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``functools.partial(function, *args, **kwargs)``; a partial of a partial takes over its arguments."""
    partial: Any = functools.partial(args[0], *args[1:], **kwargs)
    before = args[0]
    count = len(partial.args) - len(args) + 1
    inherited: list[tuple[Any, Any]] = [(i, i) for i in range(count)] if isinstance(before, functools.partial) else []
    if isinstance(before, functools.partial):
        inherited += [(name, name) for name in before.keywords if name not in kwargs]
    source = ctx.marks.get(id(before))
    live = {key for key, _ in inherited if source is not None and source.covers(key)}
    for key in live:
        ctx.mark(partial, key)
    if source is not None and source.loss is not None:
        ctx.mark_all(partial).loss = source.loss
    keys: list[Any] = [None, *range(count, len(partial.args)), *kwargs]
    stores = [
        None if key is None else stored(ctx, x, partial, key, value, 0, 1)
        for key, x, value in zip(keys, w, [*args, *kwargs.values()])
    ]
    if all(store is None for store in stores) and not live:
        return partial, None
    ctx.effects += 1

    def partial_made(sweep: Sweep, cotangent: Any) -> Any:
        for key in live:
            sweep.add(before, key, sweep.pop(partial, key))
        return tuple(None if store is None else store(sweep, None)[0] for store in stores)

    return partial, partial_made
