"""What a dict has by a key that depends on what is differentiated."""

from __future__ import annotations

import gc
from types import FunctionType
from typing import Any, Final

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, kind, known, load, load_attribute, lose
from autodiff_hook.errors import CONSTANT, CUT, NotDifferentiable, user_location
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.mirror import attributes_of
from autodiff_hook.runtime.reachable import names_in
from autodiff_hook.semantics.iteration import python_method

_REMEMBERED: Final = "a dict is asked for a key that depends on what is differentiated, and had its value before"
_RECOMPUTED: Final = (
    "empty the dict before (or let it be a functools.lru_cache, which is computed again)",
    CONSTANT,
    CUT,
)
_OF_ALL: Final = frozenset({"__dict__", "__getstate__", "__slots__", "asdict", "astuple", "fields", "getattr", "vars"})
"""What code names that may read any attribute."""


def load_by(alg: Algebra, owner: Any, key: Any, moving: Any, value: Any) -> Any:
    """The token of ``value``, which a dict has by a key whose token is ``moving``.

    What was there before the program came is known for this number alone, and not how it depends on it.
    """
    token = load(alg, owner, key, value)
    if token is not None or moving is None and type(key) in _PLAIN or kind(value) == "inert" or type(value) is int:
        return token
    if not is_measured(alg, key, moving) or _is_own(alg, owner, key, moving):
        return None
    return lose(alg, value, alg.unknown(NotDifferentiable(_REMEMBERED, place=user_location(), remedies=_RECOMPUTED)))


_PLAIN: Final = frozenset({str, int, bool, float, bytes, type(None), type})


def _is_own(alg: Algebra, owner: Any, key: Any, moving: Any) -> bool:
    """Whether the program has put there what a dict has by a key: objects of its own depend on as much as this one.

    Those that hold an argument may have been put there by an earlier call.
    """
    if moving is not None:
        found = known(alg, owner)
        return found is not None and key in found
    there = [k for k in owner if k is key] or [k for k in owner if type(k) is type(key)]
    return all([is_measured(alg, k, None) and not (alg.given and alg.given.is_key_before(owner, k)) for k in there])


def is_measured(alg: Algebra, key: Any, moving: Any) -> bool:
    """Whether a key depends on what is differentiated, and is more than a whole number that leaves digits away."""
    form = kind(key)
    if form == "tuple" and type(moving) in (tuple, type(None)):
        return any([is_measured(alg, *pair) for pair in zip(key, moving or (None,) * len(key))])
    if moving is not None:
        return not isinstance(key, int) or alg.is_unknown(moving)
    return type(key) is frozenset and reaches(alg, key, names=False) or form == "object" and _is_told_apart(alg, key)


def _is_told_apart(alg: Algebra, key: Any) -> bool:
    """Whether an attribute that depends on what is differentiated tells an object from other keys."""
    asked = [method for name in ("__hash__", "__eq__") if (method := python_method(key, name)) is not None]
    if not asked or not reaches(alg, key, names=False):
        return False
    names = _named(type(key), asked)
    told = [(name, value) for name, value in attributes_of(key) if name in names or _OF_ALL & names]
    return any([load_attribute(alg, key, *pair) is not None or reaches(alg, pair[1], names=False) for pair in told])


def _named(cls: type, asked: list[FunctionType]) -> set[str]:
    """What some methods of a class name, and what those methods, properties and functions name that they come to."""
    names, seen = set[str](), set[FunctionType]()
    while asked:
        function = asked.pop()
        if function in seen:
            continue
        seen.add(function)
        new = names_in(function.__code__)
        names |= new
        found = [getattr(x, "fget", x) for x in (find_in_type(cls, name) for name in new)]
        found += [function.__globals__.get(name) for name in new]
        found += gc.get_referents(*function.__closure__ or ())
        asked += [code for code in found if type(code) is FunctionType]
    return names
