"""``functools.lru_cache``: what has to do with derivatives is kept for the session, with its token."""

from __future__ import annotations

import functools
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, lose, some
from autodiff_hook.runtime.answers import is_answered
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means
from autodiff_hook.semantics.opaque import call_constant, loses

_key_of: Final[Any] = functools._make_key
_NUMBERS: Final = frozenset({int, float})
_CONSTANT: Final = object()
_OF_ANOTHER_WORLD: Final = None, _CONSTANT


def call_cached(alg: Algebra, t: Any, cache: Any, args: Args, kwargs: Kwargs) -> Result:
    """Ask the cache, or call its function if that has to do with derivatives: once for the same arguments."""
    loose = loses(alg, t[1:], cache.__wrapped__, args, kwargs)
    if not loose and id(cache) not in alg.cached:
        return call_constant(alg, cache, args, kwargs, searched=True)
    parameters = cache.cache_parameters()
    if parameters["maxsize"] == 0:
        return apply(alg, t, cache.__wrapped__, args, kwargs)
    key = _key_of(args, kwargs, parameters["typed"])
    _, entries = alg.cached.setdefault(id(cache), (cache, {}))
    if key in entries and is_same(entries[key][0], t):
        kept: Result = entries[key][1]
        return kept
    if not loose:
        return call_constant(alg, cache, args, kwargs)
    # Of an argument, another one is meant than that which was asked for before.
    of_given = alg.given is not None and any(id(x) in alg.given.ids for x in (*args, *kwargs.values()))
    if not (some(t[1:]) or of_given) and is_answered(cache, args, kwargs):
        _, unknown = alg.answered.get(id(cache), _OF_ANOTHER_WORLD)
        if unknown is not None:
            # The plain run is given what the function said of another world.
            value, _ = call_constant(alg, cache, args, kwargs)
            return value, None if unknown is _CONSTANT else lose(alg, value, unknown)
    found = apply(alg, t, cache.__wrapped__, args, kwargs)
    entries[key] = t, found
    if parameters["maxsize"] is not None and len(entries) > parameters["maxsize"]:
        del entries[next(iter(entries))]
    return found


def is_same(token: Any, other: Any) -> bool:
    """Whether two tokens are the same, part by part."""
    if type(token) is tuple is type(other) and len(token) == len(other):
        return all(map(is_same, token, other))
    return token is other or type(token) is type(other) and type(token) in _NUMBERS and bool(token == other)


@means(find_in_type(functools._lru_cache_wrapper, "cache_clear"))
def cache_clear(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    alg.cached.pop(id(args[0]), None)
    return args[0].cache_clear(), None
