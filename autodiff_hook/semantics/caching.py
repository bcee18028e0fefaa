"""``functools.lru_cache``: what has to do with derivatives is kept for the session, with its token."""

from __future__ import annotations

import functools
from typing import Any, Final

from autodiff_hook.algebras.implicit import is_asked_in_secret
from autodiff_hook.algebras.shadows import Algebra, Result, idle, lose, some
from autodiff_hook.runtime.answers import is_answered
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means
from autodiff_hook.semantics.opaque import call_constant, search_of

_key_of: Final[Any] = functools._make_key
_NUMBERS: Final = frozenset({int, float})
_CONSTANT: Final = object()
_OF_ANOTHER_WORLD: Final = None, _CONSTANT
_NOT_KEPT: Final = None, None


def call_cached(alg: Algebra, t: Any, cache: Any, args: Args, kwargs: Kwargs) -> Result:
    """Ask the cache, or call its function if that has to do with derivatives: once for the same arguments."""
    parameters = cache.cache_parameters()
    kept = _kept(alg, t, cache, _key_of(args, kwargs, parameters["typed"])) if id(cache) in alg.cached else None
    if kept is not None:
        return kept
    found, is_here = _found(alg, t, cache, args, kwargs)
    # A cache with few places forgets for what it has been asked natively, too.
    if is_here and parameters["maxsize"] != 0 or parameters["maxsize"] and id(cache) in alg.cached:
        _, entries = alg.cached.setdefault(id(cache), (cache, {}))
        entries[_key_of(args, kwargs, parameters["typed"])] = t, found
        if parameters["maxsize"] is not None and len(entries) > parameters["maxsize"]:
            del entries[next(iter(entries))]
    return found


def _found(alg: Algebra, t: Any, cache: Any, args: Args, kwargs: Kwargs) -> tuple[Result, bool]:
    """What a cache that has not kept it here gives, and whether its function was followed for that."""
    # Where the answer is there, the function is not called, whatever it could come to: nothing is searched.
    in_secret = not idle(alg) and all(map(is_asked_in_secret, (*args, *kwargs.values())))
    unknown = _answered(alg, t, cache, args, kwargs) if in_secret else None
    if unknown is None:
        search = search_of(alg, t[1:], cache.__wrapped__, args, kwargs)
        if search is not None:
            return call_constant(alg, cache, args, kwargs, search), False
        unknown = _answered(alg, t, cache, args, kwargs)
    if unknown is not None:
        value = cache(*args, **kwargs)
        alg.memories.ran(cache, args, kwargs, value)
        return (value, None if unknown is _CONSTANT else lose(alg, value, unknown)), False
    return apply(alg, t, cache.__wrapped__, args, kwargs), True


def _kept(alg: Algebra, t: Any, cache: Any, key: Any) -> Result | None:
    """What the function of a cache has given for the same arguments since the pass began."""
    entries = alg.cached[id(cache)][1]
    entry: tuple[Any, Result | None] = entries.get(key, _NOT_KEPT)
    token, found = entry
    if found is None or not is_same(token, t):
        return None
    entries[key] = entries.pop(key)  # used last, forgotten last
    return found


def _answered(alg: Algebra, t: Any, cache: Any, args: Args, kwargs: Kwargs) -> Any:
    """The token of the answer that a cache has, which the plain run is given as well; None if it has none.

    That may be the answer of another world: what the function has come to read since then makes no difference.
    """
    if some(t[1:]) or alg.given is not None and any(id(x) in alg.given.ids for x in (*args, *kwargs.values())):
        # Of an argument, another one is meant than that which was asked for before.
        return None
    return alg.answered.get(id(cache), _OF_ANOTHER_WORLD)[1] if is_answered(cache, args, kwargs) else None


def is_same(token: Any, other: Any) -> bool:
    """Whether two tokens are the same, part by part."""
    if type(token) is tuple is type(other) and len(token) == len(other):
        return all(map(is_same, token, other))
    return token is other or type(token) is type(other) and type(token) in _NUMBERS and bool(token == other)


@means(find_in_type(functools._lru_cache_wrapper, "cache_clear"))
def cache_clear(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    alg.cached.pop(id(args[0]), None)
    return args[0].cache_clear(), None
