"""Callables that are written in C, by their equivalents in Python code."""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
from types import GeneratorType, MethodType
from typing import Any

from autodiff_hook.algebras.shadows import Algebra, Result, keep, kind, load, some
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.oddities import is_own_number
from autodiff_hook.semantics import equivalents
from autodiff_hook.semantics.equivalents import iterating, operating, ordering
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.iteration import get_iter, iteration, python_method, started
from autodiff_hook.semantics.meanings import (
    LAZY,
    WITH_OPTIONS,
    Args,
    Kwargs,
    Meaning,
    apply,
    call_method,
    means,
    natively,
)


def substitute(function: Any) -> Meaning:
    """A Python function that is called instead."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        return enter(alg, (None, *t), function, args, kwargs)

    return carried


def iterating_now(function: Any, places: slice, lead: int = 0, counted: Any = None) -> Meaning:
    """The same of what goes over the arguments at these places, and begins with it at once.

    What is ``counted`` is what looks at numbers behind its first argument before it begins, and is asked about these.
    """

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        values, tokens = list(args[lead:]), list(t[lead:])
        for i in range(len(values))[places]:
            values[i], tokens[i] = started(alg, tokens[i], values[i])
        if counted is not None:
            for i in range(1, len(values)):
                if python_method(values[i], "__index__") is not None:
                    values[i], tokens[i] = apply(alg, (None, tokens[i]), operator.index, (values[i],), {})
            counted((), *values[1:])
        return enter(alg, (None, *tokens), function, tuple(values), kwargs)

    return carried


def shown_as(target: Any, meaning: Meaning) -> Meaning:
    """The same, whose generator is shown as an iterator of the class that is called: a program may ask."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        made, token = meaning(alg, t, args, kwargs)
        if type(made) is not GeneratorType:
            return made, token
        return iteration(alg, get_iter(alg, (token,), None, made)[0], target), None

    return carried if isinstance(target, type) else meaning


def counting(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``itertools.count``, which holds nothing but its number: one without a derivative is what it is."""
    if some(t) or any(kind(value) != "number" or is_own_number(value) for value in (*args, *kwargs.values())):
        return enter(alg, (None, *t), equivalents.count, args, kwargs)
    return itertools.count(*args, **kwargs), None


for _target, _function in [*equivalents.SUBSTITUTES, *operating.LATER]:
    _places = equivalents.BEGUN.get(_target, slice(0))
    _counted = _target if _target in (itertools.islice, itertools.repeat, itertools.tee) else None
    means(_target)(shown_as(_target, iterating_now(_function, _places, counted=_counted)))
    LAZY.add(id(_target))
means(itertools.count)(counting)
for _target, _function in [*ordering.IMMEDIATE, *operating.IMMEDIATE]:
    means(_target)(substitute(_function))
for _target, _function in [*equivalents.WITH_OPTIONS, *operating.WITH_OPTIONS]:
    WITH_OPTIONS[id(_target)] = substitute(_function)
means(find_in_type(itertools.chain, "from_iterable"))(iterating_now(equivalents.chain_from, slice(1), lead=1))


def getting(function: Any) -> Meaning:
    """Calling an ``itemgetter`` or ``attrgetter``."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        getter, owner = args
        return enter(alg, (None, None, t[1]), function, (names_of(getter), owner), {})

    return carried


def names_of(getter: Any) -> tuple[Any, ...]:
    """What an ``itemgetter`` or ``attrgetter`` gets."""
    return tuple(getter.__reduce__()[1])


for _target, _function in equivalents.GETTERS:
    means(_target)(getting(_function))


@means(operator.methodcaller)
def make_methodcaller(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """A ``methodcaller``: a reference whose slots are the arguments of the call to come."""
    caller = operator.methodcaller(*args, **kwargs)
    for key, token in zip((*range(len(args) - 1), *kwargs), t[1:]):
        keep(alg, caller, key, token)
    return caller, None


@means(operator.methodcaller.__call__)
def call_method_of(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """Calling a ``methodcaller``."""
    caller, owner = args
    name, rest, named = parts_of(caller)
    values = (*rest, *named.values())
    tokens = [load(alg, caller, key, value) for key, value in zip((*range(len(rest)), *named), values)]
    return call_method(alg, (t[1], *tokens), (name, tuple(named)), owner, *values)


def parts_of(caller: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The name, the arguments and the named arguments of a ``methodcaller``."""
    made, given = caller.__reduce__()[:2]
    if isinstance(made, functools.partial):
        return made.args[0], given, made.keywords
    return given[0], given[1:], {}


@means(type(functools.cmp_to_key(max)).__call__)
def make_comparable(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """Calling what ``functools.cmp_to_key`` has made natively: the item is an attribute of what it gives."""
    key, *item = args
    made = key(*item, **kwargs)
    keep(alg, made, "obj", t[1])
    return made, None


@means(MethodType)
def make_method(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """A bound method: its token is that of what it is bound to."""
    return MethodType(*args, **kwargs), t[1]


for _target in equivalents.NATIVE:
    natively(_target)
for _target in (inspect.getgeneratorlocals, inspect.getcoroutinelocals):
    means(_target)(substitute(_target))
means(functools.reduce)(substitute(iterating.reduced))
means(map)(shown_as(map, iterating_now(iterating.mapped, equivalents.BEGUN[map])))
WITH_OPTIONS[id(map)] = substitute(iterating.mapped_strictly)
means(filter)(shown_as(filter, iterating_now(iterating.filtered, equivalents.BEGUN[filter])))
means(functools.cmp_to_key)(substitute(equivalents.cmp_to_key))
