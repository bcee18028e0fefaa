"""Calls of what has a rule, with arguments as NumPy takes them."""

from __future__ import annotations

import operator
from array import array
from collections import deque
from functools import partial
from itertools import compress, repeat
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, Token, keep_all, kind, known, load, lose, some
from autodiff_hook.registry import Rule, registry
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.losses import failure
from autodiff_hook.runtime.mirror import tuple_like
from autodiff_hook.runtime.oddities import hands_on, has_odd, is_strange
from autodiff_hook.semantics.equivalents import elementwise
from autodiff_hook.semantics.finalizing import has_moving, note_attributes
from autodiff_hook.semantics.iteration import flattened, python_method
from autodiff_hook.semantics.meanings import Args, apply
from autodiff_hook.semantics.object_arrays import (
    MAKING,
    call_on_objects,
    has_length,
    has_objects,
    made_objects,
    makes_objects,
    takes_objects,
)
from autodiff_hook.semantics.opaque import call_constant, call_opaque, first_lost, is_text, of_lost_integers, written
from autodiff_hook.semantics.records import call_on_records, handles_records, made_records, makes_records
from autodiff_hook.semantics.structures import gather
from autodiff_hook.semantics.subclasses import call_of_subclasses, call_wrapping, has_subclasses, wraps


def rule_for(function: Any, args: tuple[Any, ...], kwargs: Any = ()) -> Rule | None:
    """The rule for calling ``function`` with these arguments."""
    return registry.rule(function, tuple(map(type, args)), tuple(kwargs))


def whole_tokens(alg: Algebra, args: tuple[Any, ...], t: Any) -> Any:
    """The tokens of numbers, lists and tuples of them, and arrays of numbers, of what was stored into these, too.

    None for other arguments.
    """
    as_they_are = not alg.buffers and alg.over is None
    for value in args:
        cls = type(value)
        if cls is np.ndarray:
            if value.dtype.kind in _OF_PARTS:
                return None
        elif cls is list or cls is tuple:
            if not _is_of_numbers(value) or alg.losses:
                return None
            as_they_are = False
        elif cls is not float and kind_of(cls) not in ("number", "inert"):
            return None
    return t if as_they_are else tuple(map(partial(_whole, alg), args, t))


_NUMBERS: Final = frozenset({int, float, np.float64})


def _is_of_numbers(value: Any) -> bool:
    """Whether a value is a number, an array of numbers, or a list or tuple of such."""
    cls = type(value)
    if cls is np.ndarray:
        return value.dtype.kind not in _OF_PARTS
    return (
        cls in _NUMBERS
        or cls in _SEQUENCES
        and (_NUMBERS.issuperset(map(type, value)) or all(map(_is_of_numbers, value)))
    )


_SEQUENCES: Final = frozenset({list, tuple})


def _whole(alg: Algebra, value: Any, token: Token) -> Token:
    if type(value) is np.ndarray:
        return alg.read(value, token)
    if type(value) not in _SEQUENCES:
        return token
    if type(value) is list:
        token = known(alg, value)
    tokens = repeat(None) if token is None else token
    tokens = [moving if type(x) in _NUMBERS else _whole(alg, x, moving) for x, moving in zip(value, tokens)]
    if not some(tokens):
        return None
    return tokens if type(value) is list else tuple(tokens)


_ODD: Final = "whose rule is for numbers and arrays of numbers: not for objects, structured or masked arrays"

_STRANGE: Final = "whose rule returned neither numbers nor arrays of numbers"


OF_BITS: Final = frozenset(
    map(
        id,
        (
            *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.invert),
            *(operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift),
        ),
    )
)
"""The rules of these know numbers only, and that they are constant."""
_WITH_MEMO: Final = frozenset(map(id, (np.ndarray.__deepcopy__, np.generic.__deepcopy__)))


def call_on_bits(alg: Algebra, t: Any, function: Any, args: Args) -> Result:
    """Bits are constants, but those of an unknown integer may be what is left of a float: so a slope of 0 passes."""
    if not some(t):
        return function(*args), None
    lost = first_lost(alg, t)
    if lost is not None:
        return function(*args), lost

    def rule(*given: Any) -> tuple[Any, Any]:
        return function(*given), lambda cotangent: (0.0,) * len(given)

    return alg.call_rule(rule, function, args, {}, t)


def call_rule(alg: Algebra, t: Any, rule: Any, function: Any, args: tuple[Any, ...], kwargs: Any) -> Result:
    """Call ``rule``; ``t`` has the tokens of the arguments, positional and named."""
    if kwargs and any(x is np._NoValue for x in kwargs.values()):
        # What NumPy says of an option that is not given.
        given = [x is not np._NoValue for x in kwargs.values()]
        t = (*t[: len(args)], *compress(t[len(args) :], given))
        kwargs = dict(compress(kwargs.items(), given))
    if id(function) in OF_BITS:
        return call_on_bits(alg, t, function, args)
    if id(function) in MAKING and makes_objects(function, args, kwargs):
        return made_objects(alg, t, function, args, kwargs)
    if id(function) in _WITH_MEMO and not has_parts(args[0]):
        # The memo is of no use to what refers to nothing.
        args, t = (args[0], None), (t[0], None)
    if function is np.ndarray.tolist and args[0].dtype.kind in "US" and some(t):
        return apply(alg, (None, *t), elementwise.listed_texts, args, kwargs)
    whole = None if kwargs else whole_tokens(alg, args, t)
    if whole is not None:
        if not some(whole):
            return call_constant(alg, function, args, kwargs)
        if makes_records(function, args, kwargs):
            return made_records(alg, whole, function, args, kwargs)
        held = tuple([unchanging(x) if type(x) in _SEQUENCES else x for x in args])
        value, token = alg.call_rule(rule, function, held, kwargs, whole)
        if type(value) is float or type(value) is np.ndarray and value.dtype.kind == "f":
            return value, token
        return _checked(alg, value, token, function, args, args, whole)
    values = (*args, *kwargs.values())
    tokens = tuple([gather(alg, value, token, of="argument") for value, token in zip(values, t)])
    carrying = [True if token is not None or _holds(alg, x) else None for x, token in zip(values, tokens)]
    if not some(carrying):
        found = call_constant(alg, function, args, kwargs)
        note_attributes(alg, found[0], values)
        return found
    lost = first_lost(alg, tokens) if any(map(has_parts, values)) else None
    if lost is not None:
        value = function(*args, **kwargs)
        return value, lose(alg, value, lost)
    if has_objects(values):
        return call_on_objects(alg, t, function, args, kwargs)
    if has_subclasses(alg, values):
        return call_of_subclasses(alg, rule, function, args, kwargs, t, tokens)
    if makes_records(function, args, kwargs):
        return made_records(alg, tokens, function, args, kwargs)
    if handles_records(function, values):
        return call_on_records(alg, tokens, function, args, kwargs)
    if id(rule) in registry.tested and has_odd(function, zip(values, carrying)):
        if args and kind(args[0]) == "object" and hands_on(function, type(args[0])):
            return apply(alg, (None, *t), function._implementation, args, kwargs)
        again = converted(alg, function, args, t)
        if again is not None and any(map(wraps, args)):
            return call_wrapping(alg, t, function, args, kwargs, again[1], again[0])
        if again is not None:
            return apply(alg, again[0], function, again[1], kwargs)
        if takes_objects(function, args):
            return call_on_objects(alg, t, function, args, kwargs)
        return call_opaque(alg, t, function, args, kwargs, _ODD)
    args, kwargs = tuple(map(unchanging, args)), {name: unchanging(x) for name, x in kwargs.items()}
    value, token = alg.call_rule(rule, function, args, kwargs, tokens)
    return _checked(alg, value, token, function, args, values, tokens)


def _checked(alg: Algebra, value: Any, token: Token, function: Any, args: Args, given: Args, tokens: Any) -> Result:
    """What a rule says of a value that was made of what is ``given``: of whole parts of floats it may know nothing."""
    if is_text(value):
        return value, written(alg, tokens, function, args, {}, value)
    if issubclass(type(value), (np.ndarray, np.generic)) and value.dtype.kind in "iub":
        pairs = zip(given, tokens)
        return value, None if any(moving is not None and _has_floats(x) for x, moving in pairs) else token
    if type(value) is not np.ndarray and is_strange(value, args):
        return value, lose(alg, value, alg.unknown(failure(function, _STRANGE)))
    lost = of_lost_integers(alg, tokens, value)
    return value, token if lost is None else lost


def _has_floats(value: Any) -> bool:
    """Whether a value is a float or a complex number, or an array, a list or a tuple of some."""
    if type(value) in (list, tuple):
        return any(map(_has_floats, value))
    dtype = getattr(value, "dtype", None)
    return isinstance(value, (float, complex)) if dtype is None else dtype.kind in "fc"


def _holds(alg: Algebra, value: Any) -> bool:
    """Whether what a value refers to has tokens; an array of numbers refers to nothing but its attributes."""
    if kind(value) == "array" and value.dtype.kind not in "OV":
        return has_moving(alg, value)
    return reaches(alg, value)


def has_parts(value: Any) -> bool:
    """Whether a value is a structured array or one of objects, texts or times, or a list or tuple of such."""
    if type(value) in (list, tuple):
        return any(map(has_parts, value))
    return kind(value) == "array" and value.dtype.kind in _OF_PARTS


_OF_PARTS: Final = "OVUSmM"


def unchanging(value: Any) -> Any:
    """An argument of which a pullback may keep hold: containers are copied, they may change."""
    kind = kind_of(type(value))
    if kind == "tuple":
        return tuple_like(value, [unchanging(item) for item in value])
    if kind == "list":
        return [unchanging(item) for item in value]
    if kind == "dict":
        return {key: unchanging(item) for key, item in value.items()}
    return value


def converted(alg: Algebra, function: Any, args: Args, t: Any) -> tuple[Any, Args] | None:
    """Tokens and arguments of a call with arrays in the place of what NumPy makes some of; None if there is none."""
    pairs = [_argument(alg, function, *pair) for pair in zip(args, t)]
    if all(value is before for (value, _), before in zip(pairs, args)):
        return None
    return (None, *[token for _, token in pairs], *t[len(args) :]), tuple([value for value, _ in pairs])


def _argument(alg: Algebra, function: Any, value: Any, token: Token) -> Result:
    if type(value) in (list, tuple) and id(function) not in MAKING and makes_objects(np.array, (value,), {}):
        return made_objects(alg, (token,), np.array, (value,), {})
    # What is made of numbers in a buffer may show its memory.
    return (value, token) if type(value) is array else _converted(alg, value, token)


def _converted(alg: Algebra, value: Any, token: Token) -> Result:
    cls = type(value)
    if cls is np.flatiter:
        return flattened(alg, value)
    if cls is tuple or cls is list:
        return _with_converted_items(alg, value, token)
    if issubclass(cls, (deque, array)) or cls is memoryview and not reaches(alg, value):
        return apply(alg, (None, token), np.array, (value,), {})
    method = python_method(value, "__array__")
    if kind(value) != "object" and (method is None or kind(value) == "array"):
        return value, token
    if method is not None:
        return apply(alg, (None, token), method, (value,), {})
    if has_length(value) and python_method(value, "__getitem__") is not None:
        return _converted(alg, *apply(alg, (None, token), list, (value,), {}))
    return value, token


def _with_converted_items(alg: Algebra, items: Any, token: Token) -> Result:
    if type(items) is list:
        tokens = [load(alg, items, i, item) for i, item in enumerate(items)]
    else:
        tokens = [None] * len(items) if token is None else token
    pairs = [_converted(alg, *pair) for pair in zip(items, tokens)]
    if all(value is before for (value, _), before in zip(pairs, items)):
        return items, token
    made, tokens = type(items)([value for value, _ in pairs]), [token for _, token in pairs]
    if type(items) is tuple:
        return made, tuple(tokens)
    keep_all(alg, made, tokens)
    return made, None
