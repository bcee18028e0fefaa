"""``functools.lru_cache``: what has to do with derivatives is kept for the session, with its token."""

from __future__ import annotations

import functools
import gc
from itertools import chain
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, some
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means
from autodiff_hook.semantics.opaque import call_constant, loses

_key_of: Final[Any] = functools._make_key
_NUMBERS: Final = frozenset({int, float})


def call_cached(alg: Algebra, t: Any, cache: Any, args: Args, kwargs: Kwargs) -> Result:
    """Ask the cache, or call its function if that has to do with derivatives: once for the same arguments."""
    if not loses(alg, t[1:], cache.__wrapped__, args, kwargs):
        return call_constant(alg, cache, args, kwargs, searched=True)
    parameters = cache.cache_parameters()
    if parameters["maxsize"] == 0:
        return apply(alg, t, cache.__wrapped__, args, kwargs)
    key = _key_of(args, kwargs, parameters["typed"])
    if id(cache) not in alg.cached:
        alg.cached[id(cache)] = cache, {}, _Kept(cache)
    _, entries, before = alg.cached[id(cache)]
    if key in entries and is_same(entries[key][0], t):
        kept: Result = entries[key][1]
        return kept
    if not some(t[1:]) and before.has(args, kwargs):
        # The plain run is given what the function said of another world.
        return call_constant(alg, cache, args, kwargs)
    found = apply(alg, t, cache.__wrapped__, args, kwargs)
    entries[key] = t, found
    if parameters["maxsize"] is not None and len(entries) > parameters["maxsize"]:
        del entries[next(iter(entries))]
    return found


class _Kept:
    """The answers that a cache has, to ask without calling whether one is there.

    Only the garbage collector is shown their dict, the last one before the attributes, and what stands in keys before
    arguments by name.
    """

    __slots__ = ("_answers", "_before_names", "_typed")

    def __init__(self, cache: Any) -> None:
        held = gc.get_referents(cache)[::-1]
        self._answers = next(x for x in held if type(x) is dict and x is not cache.__dict__)
        self._before_names = next(x for x in held if type(x) is object)
        self._typed = cache.cache_parameters()["typed"]

    def has(self, args: Args, kwargs: Kwargs) -> bool:
        """Whether a cache has the answer to a call."""
        if len(args) == 1 and type(args[0]) in (int, str) and not (kwargs or self._typed):
            return args[0] in self._answers
        named = [self._before_names, *chain.from_iterable(kwargs.items())] if kwargs else []
        types = map(type, (*args, *kwargs.values())) if self._typed else ()
        return (*args, *named, *types) in self._answers


def is_same(token: Any, other: Any) -> bool:
    """Whether two tokens are the same, part by part."""
    if type(token) is tuple is type(other) and len(token) == len(other):
        return all(map(is_same, token, other))
    return token is other or type(token) is type(other) and type(token) in _NUMBERS and bool(token == other)


@means(find_in_type(functools._lru_cache_wrapper, "cache_clear"))
def cache_clear(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    alg.cached.pop(id(args[0]), None)
    return args[0].cache_clear(), None
