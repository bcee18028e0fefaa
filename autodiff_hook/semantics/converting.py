"""Arguments as NumPy takes them: arrays in the place of what becomes one, and lists in that of sequences by code."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.algebras.shadows import Algebra, Result, Token, keep_all, kind, load
from autodiff_hook.semantics.iteration import flattened, python_method
from autodiff_hook.semantics.meanings import Args, apply
from autodiff_hook.semantics.object_arrays import MAKING, has_length, made_objects, makes_objects


def converted(alg: Algebra, function: Any, args: Args, t: Any) -> tuple[Any, Args] | None:
    """Tokens and arguments of a call with arrays in the place of what NumPy makes some of; None if there is none."""
    pairs = [_argument(alg, function, *pair) for pair in zip(args, t)]
    if all(value is before for (value, _), before in zip(pairs, args)):
        return None
    return (None, *[token for _, token in pairs], *t[len(args) :]), tuple([value for value, _ in pairs])


def _argument(alg: Algebra, function: Any, value: Any, token: Token) -> Result:
    if type(value) in (list, tuple) and id(function) not in MAKING and makes_objects(np.array, (value,), {}):
        return made_objects(alg, (token,), np.array, (value,), {})
    return _converted(alg, value, token)


def _converted(alg: Algebra, value: Any, token: Token) -> Result:
    cls = type(value)
    if cls is np.flatiter:
        return flattened(alg, value)
    if cls is tuple or cls is list:
        return _with_converted_items(alg, value, token)
    if kind(value) != "object":
        return value, token
    method = python_method(value, "__array__")
    if method is not None:
        return apply(alg, (None, token), method, (value,), {})
    if has_length(value) and python_method(value, "__getitem__") is not None:
        return _converted(alg, *apply(alg, (None, None, token), list, (value,), {}))
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
