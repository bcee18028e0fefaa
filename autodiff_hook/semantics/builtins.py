"""Builtins that iterate or call back: zip, map, enumerate, reduce…"""

from __future__ import annotations

import builtins
import functools
import operator
from typing import Any

import numpy as np

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, kind, load, lose, some
from autodiff_hook.semantics.generators import exchange_of, resumed
from autodiff_hook.semantics.items import getitem
from autodiff_hook.semantics.iteration import (
    ITERATORS,
    CarriedIterator,
    Pairs,
    begun,
    get_iter,
    is_iteration,
    is_view,
    iteration,
    key_pairs,
    python_method,
    unknown_of,
)
from autodiff_hook.semantics.meanings import LAZY, Args, Kwargs, apply, means, natively

LAZY.update(map(id, (zip, enumerate, map, filter, reversed, iter)))


def _start(alg: Algebra, t: Any, iterables: Any) -> list[Pairs]:
    return [get_iter(alg, (token,), None, iterable)[0] for token, iterable in zip(t, iterables)]


@means(zip)
def zip_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    return iteration(alg, _zip_pairs(_start(alg, t, args), kwargs.get("strict", False)), zip), None


def _zip_pairs(sources: list[Pairs], strict: bool) -> Pairs:
    for rows in zip(*sources, strict=strict):
        tokens = tuple([token for _, token in rows])
        yield tuple([item for item, _ in rows]), tokens if some(tokens) else None


@means(enumerate)
def enumerate_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    named = dict(zip(("iterable", "start"), args)) | kwargs
    moving = dict(zip((*("iterable", "start")[: len(args)], *kwargs), t))
    source = get_iter(alg, (moving["iterable"],), None, named["iterable"])[0]
    return iteration(alg, _enumerate_pairs(source, int(operator.index(named.get("start", 0)))), enumerate), None


def _enumerate_pairs(source: Pairs, index: int) -> Pairs:
    for item, token in source:
        yield (index, item), None if token is None else (None, token)
        index += 1


@means(reversed)
def reversed_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    sequence = args[0]
    method = python_method(sequence, "__reversed__")
    if method is not None:
        return apply(alg, (None, t[0]), method, (sequence,), {})
    if is_view(sequence) or kind(sequence) == "dict":
        pairs = list(get_iter(alg, t, None, sequence)[0] if is_view(sequence) else key_pairs(alg, sequence))
        return iteration(alg, _given_pairs(pairs[::-1])), None
    if not hasattr(sequence, "__getitem__") or not hasattr(sequence, "__len__"):
        return builtins.reversed(sequence), None
    shown: type = type(builtins.reversed([])) if type(sequence) is list else builtins.reversed
    if isinstance(sequence, list):
        return iteration(alg, _list_backwards(alg, sequence, list.__len__(sequence) - 1), shown), None
    return iteration(alg, _backwards(alg, t[0], sequence, len(sequence)), shown), None


def _given_pairs(pairs: list[Any]) -> Pairs:
    for pair in pairs:  # noqa: UP028 (differentiated in its turn: without a delegate)
        yield pair


def _list_backwards(alg: Algebra, items: list[Any], index: int) -> Pairs:
    """The items of a list, whatever its class says of items by place."""
    while 0 <= index < list.__len__(items):
        item = list.__getitem__(items, index)
        yield item, load(alg, items, index, item)
        index -= 1


def _backwards(alg: Algebra, token: Any, sequence: Any, count: int) -> Pairs:
    for index in range(count - 1, -1, -1):
        if index >= len(sequence):
            return
        yield getitem(alg, (token, None), None, sequence, index)


@means(iter)
def iter_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    if len(args) == 2:
        if not callable(args[0]):
            builtins.iter(*args)  # says what is wrong
        return iteration(alg, _called_pairs(alg, t[0], *args), type(iter(int, 1))), None
    if is_iteration(args[0]) or exchange_of(alg, args[0]) is not None:
        return args[0], None
    method = python_method(args[0], "__iter__")
    if method is not None:
        return begun(alg, args[0], t[0], method)
    return iteration(alg, get_iter(alg, t, None, args[0])[0], ITERATORS.get(type(args[0]))), None


def _called_pairs(alg: Algebra, token: Any, function: Any, sentinel: Any) -> Pairs:

    pair = apply(alg, (token,), function, (), {})
    while not (sentinel is pair[0] or sentinel == pair[0]):
        yield pair
        pair = apply(alg, (token,), function, (), {})


@means(next, CarriedIterator.__next__)
def next_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    iterator, *default = args
    if is_iteration(iterator):
        found: Result | None = builtins.next(iterator.pairs, None)
        if found is not None:
            return found
        if default:
            return default[0], t[1]
        raise StopIteration
    exchange = exchange_of(alg, iterator)
    try:
        if exchange is not None:
            pair = resumed(alg, iterator, exchange, builtins.next, (), None)
        elif python_method(iterator, "__next__") is not None:
            pair = apply(alg, (None, None), python_method(iterator, "__next__"), (iterator,), {})
        elif type(iterator) is np.flatiter:
            pair = builtins.next(get_iter(alg, (None,), None, iterator)[0])
        else:
            value = builtins.next(iterator)
            pair = value, lose(alg, value, unknown_of(alg, iterator)) if reaches(alg, iterator) else None
    except StopIteration:
        if not default:
            raise
        return default[0], t[1]
    return pair


for _target in (
    *(dict.__len__, dict.__contains__, set.__len__, set.__contains__, tuple.__len__, tuple.index, tuple.count),
    *(any, all, isinstance, issubclass, id, callable, functools.wraps),
):
    natively(_target)


@means(super)
def super_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``super(cls, self)``, with the token of ``self``."""
    return super(*args), t[1] if len(t) > 1 else None
