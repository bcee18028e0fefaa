"""Builtins and formatting that ask one special method of an object, which may be written in Python."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, quiet, some
from autodiff_hook.registry import registry
from autodiff_hook.runtime.hashes import Hashed
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.losses import failure
from autodiff_hook.runtime.oddities import is_own_number
from autodiff_hook.semantics import calls
from autodiff_hook.semantics.equivalents import operating
from autodiff_hook.semantics.files import note_printed
from autodiff_hook.semantics.items import materialised
from autodiff_hook.semantics.iteration import python_method
from autodiff_hook.semantics.keys import is_measured
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, means
from autodiff_hook.semantics.opaque import call_constant, call_opaque, call_showing, written
from autodiff_hook.semantics.rule_arguments import plain_float, plain_number
from autodiff_hook.semantics.scope import in_scope


def by_method(function: Any, name: str) -> Meaning:
    """A builtin that calls a special method, for objects whose class is written in Python."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        method = python_method(args[0], name) if args else None
        if method is not None and function is complex and (kwargs or len(args) > 1):
            value, token = calls.apply(alg, (None, t[0]), method, args[:1], {})
            return calls.apply(alg, (None, token, *t[1:]), complex, (plain_number(value), *args[1:]), kwargs)
        if method is not None and not kwargs and function in _KINDS:
            return calls.apply(alg, (None, *t, None, None), operating.converted, (*args, method, _KINDS[function]), {})
        if method is not None and not kwargs:
            return calls.apply(alg, (None, *t), method, args, {})
        if args and is_own_number(args[0]) and issubclass(type(args[0]), (float, complex)):
            return calls.apply(alg, (None, *t), function, (plain_float(args[0]), *args[1:]), kwargs)
        if registry.is_constant(function):
            return call_constant(alg, function, args, kwargs)
        return call_opaque(alg, t, function, args, kwargs, "which has no rule for these types")

    return carried


_KINDS: Final[dict[Any, type]] = {float: float, complex: complex, operator.index: int}
"""Those whose method has to give a number of a type."""
for _function, _name in (
    *((float, "__float__"), (complex, "__complex__"), (abs, "__abs__"), (operator.abs, "__abs__")),
    *((round, "__round__"), (divmod, "__divmod__")),
    *((math.floor, "__floor__"), (math.ceil, "__ceil__"), (math.trunc, "__trunc__")),
    (operator.index, "__index__"),
):
    means(_function)(by_method(_function, _name))


@means(hash)
def hash_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    method = python_method(args[0], "__hash__") if args else None
    if method is not None:
        value, token = calls.apply(alg, (None, *t), method, args, kwargs)
        return hash(Hashed(value)), token
    value = call_constant(alg, hash, args, kwargs)[0]
    return value, alg.unknown(failure(hash, _TELLS_ALL)) if args and is_measured(alg, args[0], t[0]) else None


_TELLS_ALL: Final = "whose value stands for all digits of what it is made of"


def showing(function: Any, *names: str) -> Meaning:
    """A builtin that makes a text, by the first of these special methods that is not the one of ``object``."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        method = shown_by(alg, args, names) if args and not kwargs else None
        if method is None:
            value = call_showing(alg, function, args, kwargs)[0]
            return value, written(alg, t, function, args, kwargs, value)
        name, code = method
        given = (*args, "")[:2] if name == "__format__" else args[:1]
        value, token = calls.apply(alg, (None, *t, None)[: 1 + len(given)], code, given, {})
        if not isinstance(value, str):
            raise TypeError(f"{name} returned non-string (type {type(value).__name__})")
        return value, token

    return carried


def shown_by(alg: Algebra, args: Args, names: tuple[str, ...]) -> tuple[str, FunctionType] | None:
    """The special method, written in Python and in scope, that shows an object; None if it is no such method."""
    for name in names:
        found = find_in_type(type(args[0]), name)
        if type(found) is FunctionType:
            return (name, found) if in_scope(alg, found) else None
        if found is not getattr(object, name) or len(args) > 1 and args[1]:
            return None
    return None


_SHOWN_BY: Final[dict[Callable[..., str], tuple[str, ...]]] = {
    str: ("__str__", "__repr__"),
    repr: ("__repr__",),
    format: ("__format__", "__str__", "__repr__"),
}
for _shower, _names in _SHOWN_BY.items():
    means(_shower)(showing(_shower, *_names))
for _native in (str.format, str.format_map, str.__mod__, ascii, dir):
    means(_native)(showing(_native))


@means(print)
def print_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    texts = [calls.apply(alg, (None, token), str, (value,), {}) for value, token in zip(args, t)]
    result = call_constant(alg, print, tuple([text for text, _ in texts]), kwargs)
    if some([token for _, token in texts]):
        note_printed(alg, kwargs.get("file"))
    return result


def formatted(alg: Algebra, t: Any, conversion: str, value: Any, spec: str = "") -> Result:
    """A value in an f-string: ``{value!conversion:spec}``."""
    if conversion:
        value, token = calls.apply(alg, (None, t[0]), _CONVERSIONS[conversion], (value,), {})
        t = (token,)
    if type(value) is str and not spec:
        return value, t[0]
    if quiet(alg, t) or t[0] is None and type(value) in _PLAIN:
        return builtins.format(value, spec), None
    return calls.apply(alg, (None, t[0], None), builtins.format, (value, spec), {})


def joined(alg: Algebra, t: Any, data: Any, *pieces: str) -> Result:
    """The pieces of an f-string, as one text."""
    value = "".join(pieces)
    return value, written(alg, t, str.join, (), {}, value) if some(t) else None


@means(str.join)
def join_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    pieces, tokens = materialised(alg, t[1], args[1])
    value = str.join(args[0], pieces)
    return value, written(alg, (t[0], *tokens), str.join, (), {}, value) if some((t[0], *tokens)) else None


_CONVERSIONS: Final = {"s": str, "r": repr, "a": ascii}
_PLAIN: Final = frozenset({str, float, int, bool, type(None)})
