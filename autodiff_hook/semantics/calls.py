"""What a call means for the token, decided from the actual values."""

from __future__ import annotations

import functools
import gc
import inspect
import weakref
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

import numpy as np

from autodiff_hook.algebras.implicit import call_natively, watch
from autodiff_hook.algebras.odd import holds_places, is_odd, odd_result
from autodiff_hook.algebras.searching import soon_searched
from autodiff_hook.algebras.shadows import Algebra, Result, idle, kind, load, quiet, some
from autodiff_hook.registry import registry
from autodiff_hook.runtime.arity import fits, misfits
from autodiff_hook.runtime.giving_up import is_part
from autodiff_hook.runtime.lookup import builtin_behind, find_in_type, require_none, wrapped_by
from autodiff_hook.runtime.losses import NOT_OPTED_IN, NOT_PYTHON
from autodiff_hook.runtime.native import DISPATCHED, apart_by_name, compiled_from, named_output
from autodiff_hook.runtime.oddities import is_own_number
from autodiff_hook.semantics.attributes import getattr_
from autodiff_hook.semantics.caching import call_cached
from autodiff_hook.semantics.equivalents import elementwise
from autodiff_hook.semantics.exceptions import note_raised
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.instances import instantiate
from autodiff_hook.semantics.iteration import get_iter, is_iteration
from autodiff_hook.semantics.meanings import CALLING, LAZY, MEANINGS, WITH_OPTIONS, Args, Kwargs, meaning_of
from autodiff_hook.semantics.methods import Method, method_of
from autodiff_hook.semantics.opaque import (
    call_constant,
    call_opaque,
    call_showing,
    loses,
    of_lost_integers,
    search_of,
    written,
)
from autodiff_hook.semantics.outputs import call_with_out, writes_result
from autodiff_hook.semantics.overrides import call_overridden, is_overridden
from autodiff_hook.semantics.partials import call_partial
from autodiff_hook.semantics.rule_arguments import (
    as_tuples,
    by_place,
    code_that_adds,
    converted,
    drained,
    plain_float,
    reads_floats,
    takes_items,
    with_floats,
)
from autodiff_hook.semantics.rules import call_rule, rule_for
from autodiff_hook.semantics.scope import in_library, in_scope, is_method_of_container
from autodiff_hook.semantics.subclasses import (
    WRAPS,
    asking,
    call_function_override,
    is_function_overridden,
    is_subclass,
    rule_behind,
    wraps,
)

_FLOAT: Final = (float,)


def call(alg: Algebra, t: Any, kwnames: tuple[str, ...], function: Any, *args: Any) -> Result:
    """``function(*args)``; the last arguments are those named in ``kwnames``."""
    if not kwnames:
        if type(function) is BuiltinFunctionType and len(args) == 1 and type(args[0]) is float:
            rule = registry.rule(function, _FLOAT)
            if rule is not None:
                if t[1] is None:
                    return function(args[0]), None
                try:
                    return alg.call_rule(rule, function, args, {}, t[1:])
                except Exception as error:
                    note_raised(alg, error, args, t[1:])
                    raise
        found = _again(alg, t, function, args, {}) if id(function) in alg.entered else None
        return apply(alg, t, function, args, {}) if found is None else found
    return apply(alg, t, function, *apart_by_name(args, kwnames))


def call_ex(alg: Algebra, t: Any, data: Any, function: Any, args: Any, kwargs: Any) -> Result:
    """``function(*args, **kwargs)``."""
    if type(args) is tuple:
        tokens = (None,) * len(args) if t[1] is None else t[1]
    else:
        pairs = list(get_iter(alg, (t[1],), None, args)[0])
        args = tuple([item for item, _ in pairs])
        tokens = tuple([token for _, token in pairs])
    named = {} if kwargs is None else dict(kwargs)
    if not all([isinstance(name, str) for name in named]):
        raise TypeError("keywords must be strings")
    return apply(
        alg, (t[0], *tokens, *[load(alg, kwargs, name, value) for name, value in named.items()]), function, args, named
    )


def load_method(alg: Algebra, t: Any, name: str, receiver: Any) -> Result:
    """``receiver.name``, to be called when the arguments are there; the token is the receiver's."""
    method = method_of(receiver, name)
    if method is not None:
        return Method(method, receiver), t[0]
    return getattr_(alg, t, name, receiver)


def call_loaded(alg: Algebra, t: Any, kwnames: tuple[str, ...], method: Any, *args: Any) -> Result:
    """``method(*args)``, where ``load_method`` has given the method."""
    args, kwargs = apart_by_name(args, kwnames) if kwnames else (args, {})
    function = function_of(method)
    if function is None:
        return apply(alg, t, method, args, kwargs)
    return apply(alg, (None, *t), function, (method.__self__, *args), kwargs)


def function_of(method: Any) -> Any:
    """The function of a method that was looked up before its arguments; None if it was no plain method."""
    return method.__func__ if type(method) is Method else None


_BUILTIN: Final = frozenset({list, dict, set})
_OF_BUILTIN_CLASSES: Final = (MethodDescriptorType, WrapperDescriptorType)


def call_method(alg: Algebra, t: Any, data: Any, receiver: Any, *args: Any) -> Result:
    """``receiver.name(*args)``."""
    name, kwnames = data
    if not kwnames and type(receiver) in _BUILTIN:
        meaning = MEANINGS.get(id(type(receiver).__dict__.get(name)))
        if meaning is not None and fits(type(receiver).__dict__[name], len(args) + 1):
            try:
                return meaning(alg, t, (receiver, *args), {})
            except Exception as error:
                note_raised(alg, error, (receiver, *args), t)
                raise
    if not kwnames and type(receiver) is type:
        found = find_in_type(receiver, name)
        meaning = MEANINGS.get(id(found)) if type(found) in _OF_BUILTIN_CLASSES else None
        if meaning is not None and fits(found, len(args)) and not is_of_another(found, args):
            return meaning(alg, t[1:], args, {})
    args, kwargs = apart_by_name(args, kwnames) if kwnames else (args, {})
    method = method_of(receiver, name)
    if method is not None:
        return apply(alg, (None, *t), method, (receiver, *args), kwargs)
    function, token = getattr_(alg, t[:1], name, receiver)
    return apply(alg, (token, *t[1:]), function, args, kwargs)


def apply(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """Call with tokens: a rule, a constant, code in scope, or an opaque call, in this order."""
    if id(function) in alg.entered:
        found = _again(alg, t, function, args, kwargs)
        if found is not None:
            return found
    if quiet(alg, t) and not looks_later(function):
        if issubclass(type(function), type):
            watch(function)
        return call_natively(function, args, kwargs), None
    if type(function) is FunctionType and not kwargs:
        # The registry is asked first: that loads the packs of what is imported by now, which know meanings as well.
        if not registry.knows(function) and id(function) not in MEANINGS:
            return _call_function(alg, t, function, args, kwargs)
    elif type(function) is type and is_plain_class(function, kwargs):
        watch(function)
        instance: Any = object.__new__(function)
        require_none(apply(alg, (None, None, *t[1:]), function.__init__, (instance, *args), kwargs)[0])  # type: ignore[misc]
        _note_entered(alg, function)
        return instance, None
    elif not kwargs and handles_texts(function, args) and not some(t):
        return function(*args), None
    try:
        return _called(alg, t, function, args, kwargs)
    except Exception as error:
        note_raised(alg, error, (*args, *kwargs.values()), t[1:])
        raise


def _called(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """What ``apply`` gives for all but functions and classes in Python that nobody knows more of."""
    if misfits(function, len(args), kwargs) or is_of_another(function, args):
        return call_opaque(alg, t[1:], function, args, kwargs, "which takes other arguments")
    args, kwargs = named_output(function, args, kwargs)
    if is_overridden(function, args, kwargs):
        return call_overridden(alg, t, function, args, kwargs)
    if type(function) is MethodDescriptorType and function in _WRAPPED and any(map(wraps, args)):
        return call_opaque(alg, t[1:], function, args, kwargs, WRAPS)
    if fills_array(function, args, kwargs):
        return call_with_out(alg, t, function, args, kwargs)
    meaning = WITH_OPTIONS.get(id(function)) if kwargs else None
    if meaning is not None:
        return meaning(alg, t[1:], args, kwargs)
    misfit = None
    if is_function_overridden(function, args):
        return call_function_override(alg, t, function, args, kwargs)
    if registry.has_rules(function):
        if kwargs:
            args, kwargs, t = by_place(t, function, args, kwargs)
        if not _AS_THEY_ARE.issuperset(map(type, args)):
            args, t = drained(alg, t, function, args)
            args, t = converted(alg, t, function, args)
        adding = code_that_adds(function, args, kwargs)
        if adding is not None:
            return enter(alg, t, adding, args, kwargs)
        if reads_floats(function, args):
            args = tuple([plain_float(x) if is_own_number(x) else x for x in args])
        rule = rule_for(function, args, kwargs)
        if rule is None and takes_items(function):
            args, t = as_tuples(alg, t, args)
            rule = rule_for(function, args, kwargs)
        if rule is None and getattr(function, "__module__", None) == "math" and any(kind(x) == "array" for x in args):
            return apply(alg, *with_floats(alg, t, function, args), kwargs)
        rule = rule_behind(function, args, kwargs) if rule is None else rule
        if rule is not None:
            return call_rule(alg, t[1:], rule, function, args, kwargs)
        misfit = registry.misfit(function, tuple(map(type, args)), tuple(kwargs))
    meaning = meaning_of(function)
    if meaning is not None:
        return meaning(alg, t[1:], args, kwargs)
    if misfit is not None:
        return call_opaque(alg, t[1:], function, args, kwargs, f"of which the rule does not know {misfit}")
    if registry.is_constant(function):
        inner = asking(function, args) if any(map(is_subclass, args)) else None
        if inner is not None:
            return apply(alg, t, inner, args, kwargs)
        if isinstance(function, (np.ufunc, DISPATCHED)) and any(map(wraps, args)):
            return call_opaque(alg, t[1:], function, args, kwargs, WRAPS)
        # What a rule pack declares stores nothing itself, but may show objects, and so run their code.
        shows = function is not type and registry.reason(function) is not None
        value, token = (call_showing if shows else call_constant)(alg, function, args, kwargs)
        kept = is_odd(value) and function not in _EMPTY and not holds_places(value)
        if kept and loses(alg, t[1:], function, args, kwargs):
            return value, alg.unknown(odd_result(function, value))
        if token is None and _INTEGERS.issuperset(map(type, args)):
            token = of_lost_integers(alg, t[1:], value)
        return value, written(alg, t[1:], function, args, kwargs, value) if token is None else token
    return _unfold(alg, t, function, args, kwargs)


def is_of_another(function: Any, args: Args) -> bool:
    """Whether a method of a builtin class is called of what is no object of that class."""
    if type(function) not in _OF_BUILTIN_CLASSES or not args:
        return False
    return not issubclass(type(args[0]), function.__objclass__) and not is_iteration(args[0])


_AS_THEY_ARE: Final = frozenset({float, int, bool, str, type(None), np.ndarray, np.float64, list, tuple, slice})
_WRAPPED: Final = (np.ufunc.accumulate, np.ufunc.reduceat)
_INTEGERS: Final = frozenset({int, bool})
_EMPTY: Final = (np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like)


def is_plain_class(cls: Any, kwargs: Kwargs) -> bool:
    """Whether calling a class, whose metaclass is ``type``, is a call of its ``__init__`` in Python and no more."""
    if cls.__new__ is not _NEW or type(cls.__init__) is not FunctionType:
        return False
    return not registry.knows(cls) and id(cls) not in MEANINGS and not (kwargs and id(cls) in WITH_OPTIONS)


_NEW: Final = object.__new__


def handles_texts(function: Any, args: Args) -> bool:
    """Whether a call has to do with texts alone, or reads one: nothing else can be reached from it."""
    of_text = type(function) is MethodDescriptorType and function.__objclass__ in (str, bytes)
    if of_text or function is float or function is int or function is len:
        return _TEXT_AND_PLACES.issuperset(map(type, args))
    return False


_TEXT_AND_PLACES: Final = frozenset({str, bytes, int, bool, type(None)})


def looks_later(function: Any) -> bool:
    """Whether a call only begins to look at its arguments, which may change before it goes on.

    A part of a function may leave generators behind, on which the rest of it goes on. Nor is called natively what
    looks for its caller.
    """
    if type(function) is FunctionType and (function.__code__.co_flags & _LATER or is_part(function.__code__)):
        return True
    return id(function.__func__ if type(function) is MethodType else function) in LAZY


_LATER: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE


def fills_array(function: Any, args: Args, kwargs: Kwargs) -> bool:
    """Whether a call is one without an array for its result, and a store of what that gives.

    A ufunc of arrays may need that array to know the shape.
    """
    by_element = isinstance(function, np.ufunc) and function.signature is None
    return writes_result(function, args, kwargs) and (by_element or registry.has_rules(function))


def unfolding(function: Any) -> tuple[str, Any]:
    """The Python code that a callable stands for, and how to get there."""
    cls = type(function)
    if cls is FunctionType:
        return "function", None
    if cls is MethodType:
        return "bound", function.__func__
    if issubclass(cls, (BuiltinFunctionType, MethodWrapperType)) and not isinstance(
        function.__self__, (ModuleType, type, type(None))
    ):
        method = builtin_behind(function)
        if method is not None:
            return "bound", method
    if cls is MethodWrapperType and id(builtin_behind(function)) in MEANINGS:
        return "bound", builtin_behind(function)
    if issubclass(cls, BuiltinFunctionType) and isinstance(function.__self__, type):
        method = find_in_type(function.__self__, function.__name__)
        if method is None and (method := builtin_behind(function)) is not None:  # of the class of the class
            return "bound", method
        return ("method", method) if id(method) in MEANINGS else ("opaque", None)
    if issubclass(cls, type):
        return "class", None
    if cls is functools.partial:
        return "partial", function.func
    inner = getattr(function, "_implementation", None) if cls.__module__ == "numpy" else None
    if cls is functools._lru_cache_wrapper:
        return "cache", function.__wrapped__
    if isinstance(function, np.ufunc) and (called := gc.get_referents(function)) and type(called[0]) is FunctionType:
        return "ufunc", called[0]
    if type(inner) is FunctionType:
        return "wrapper", inner
    if isinstance(function, (np.ufunc, DISPATCHED)):
        return "opaque", None
    compiled = compiled_from(function)
    if compiled is not None:
        return "compiled", compiled
    caller = find_in_type(cls, "__call__")
    if isinstance(caller, (staticmethod, classmethod)) and type(caller.__func__) is FunctionType:
        return "wrapper", caller.__get__(function, cls)
    return ("callable", caller) if type(caller) is FunctionType or id(caller) in MEANINGS else ("opaque", None)


def _unfold(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    form, inner = unfolding(function)
    if form == "function":
        return _call_function(alg, t, function, args, kwargs)
    if form == "bound":
        return apply(alg, (None, *t), inner, (function.__self__, *args), kwargs)
    if form == "method":
        return apply(alg, (None, *t), inner, (function.__self__, *args), kwargs)
    if form == "class":
        return instantiate(alg, t, function, args, kwargs)
    if form == "partial":
        return call_partial(alg, t, function, inner, args, kwargs)
    if form == "cache":
        return call_cached(alg, t, function, args, kwargs)
    if form == "wrapper":
        return apply(alg, t, inner, args, kwargs)
    if form == "ufunc" and not kwargs and len(args) == function.nin:
        several = elementwise.by_element if function.nout == 1 else elementwise.by_element_several
        return apply(alg, (None, None, *t[1:]), several, (inner, *args), {})
    if form == "callable":
        return apply(alg, (None, *t), inner, (function, *args), kwargs)
    if form == "compiled":
        search = search_of(alg, t[1:], function, args, kwargs)
        if search is None:
            return apply(alg, t, inner, args, kwargs)
        if not alg.memories.of_call(function):
            return call_constant(alg, function, args, kwargs, search)
    return call_opaque(alg, t[1:], function, args, kwargs, NOT_PYTHON)


def _note_entered(alg: Algebra, function: Any) -> None:
    """A function in scope, or a class, was called: rule packs are loaded, and it is no more than its Python code."""
    if len(alg.entered) > _ENTERED:
        alg.entered.clear()
    alg.entered[id(function)] = weakref.ref(function), registry.version


_ENTERED: Final = 10_000


def _again(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result | None:
    """A call of what was entered before; None if all has to be decided anew."""
    entered, version = alg.entered[id(function)]
    if entered() is not function or version != registry.version or kwargs and id(function) in WITH_OPTIONS:
        return None
    for token in t:
        if token is not None:
            break
    else:
        if idle(alg):
            return None
    if type(function) is FunctionType:
        return enter(alg, t, function, args, kwargs)
    cls: Any = function
    init = cls.__init__
    if cls.__new__ is not _NEW or type(init) is not FunctionType:
        return None
    instance: Any = object.__new__(cls)
    before = alg.entered.get(id(init))
    known = before is not None and before[0]() is init and before[1] == version and not kwargs
    require_none((enter if known else apply)(alg, (None, None, *t[1:]), init, (instance, *args), kwargs)[0])
    return instance, None


def _call_function(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    function = wrapped_by(function)
    if in_scope(alg, function):
        _note_entered(alg, function)
        return enter(alg, t, function, args, kwargs)
    if id(function) not in alg.losses and in_library(function):
        at_once = function.__code__.co_flags & inspect.CO_COROUTINE or is_method_of_container(function)
        if at_once or alg.unsearched or alg.files or some(t[1:]):
            return enter(alg, t, function, args, kwargs)
        reached, search = soon_searched(alg, function, *args, *kwargs.values())
        if reached is None:
            return _enter_unsearched(alg, t, function, args, kwargs)
        if reached:
            return enter(alg, t, function, args, kwargs)
        if not alg.memories.of_call(function):
            return call_constant(alg, function, args, kwargs, search)
    return call_opaque(alg, t[1:], function, args, kwargs, NOT_OPTED_IN)


def _enter_unsearched(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    alg.unsearched += 1
    try:
        return enter(alg, t, function, args, kwargs)
    finally:
        alg.unsearched -= 1


CALLING.update(apply=apply, call_method=call_method)
