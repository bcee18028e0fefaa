"""What a dict has by a key that depends on what is differentiated."""

from __future__ import annotations

from types import FunctionType, MemberDescriptorType
from typing import Any, Final

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, kind, known, load, load_attribute, lose
from autodiff_hook.errors import CONSTANT, CUT, NotDifferentiable, user_location
from autodiff_hook.runtime.lookup import dictionary_of, find_in_type
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
    if not _is_measured(alg, key, moving) or _is_own(alg, owner, key, moving):
        return None
    return lose(alg, value, alg.unknown(NotDifferentiable(_REMEMBERED, place=user_location(), remedies=_RECOMPUTED)))


_PLAIN: Final = frozenset({str, int, bool, float, bytes, type(None), type})


def _is_own(alg: Algebra, owner: Any, key: Any, moving: Any) -> bool:
    """Whether the program has put there what a dict has by a key: objects of its own depend on as much as this one."""
    if moving is not None:
        found = known(alg, owner)
        return found is not None and key in found
    there = [k for k in owner if k is key] or [k for k in owner if type(k) is type(key)]
    return all([_is_measured(alg, k, None) for k in there])


def _is_measured(alg: Algebra, key: Any, moving: Any) -> bool:
    """Whether a key depends on what is differentiated, and is more than a whole number."""
    form = kind(key)
    if form == "tuple" and type(moving) in (tuple, type(None)):
        return any([_is_measured(alg, *pair) for pair in zip(key, moving or (None,) * len(key))])
    if moving is not None:
        return not isinstance(key, int)
    return type(key) is frozenset and reaches(alg, key, names=False) or form == "object" and _is_told_apart(alg, key)


def _is_told_apart(alg: Algebra, key: Any) -> bool:
    """Whether an attribute that depends on what is differentiated tells an object from other keys."""
    asked = [method for method in map(python_method, (key, key), ("__hash__", "__eq__")) if method is not None]
    if not asked or not reaches(alg, key, names=False):
        return False
    names = _named(type(key), asked)
    held = _attributes(key)
    return any(
        [
            load_attribute(alg, key, name, value) is not None or reaches(alg, value, names=False)
            for name, value in held.items()
            if name in names or _OF_ALL & names
        ]
    )


def _named(cls: type, asked: list[FunctionType]) -> set[str]:
    """What some methods of a class name, and those methods and properties that they name."""
    names: set[str] = set()
    while asked:
        new = names_in(asked.pop().__code__) - names
        names |= new
        found = [getattr(held, "fget", held) for held in map(find_in_type, (cls,) * len(new), new)]
        asked += [method for method in found if type(method) is FunctionType]
    return names


def _attributes(value: Any) -> dict[str, Any]:
    """What an object holds by name, in its dict and in slots."""
    held = dict(dictionary_of(value) or {})
    for base in type(value).__mro__:
        for name, slot in base.__dict__.items():
            if type(slot) is MemberDescriptorType:
                try:
                    held[name] = slot.__get__(value)
                except AttributeError:
                    continue  # it is not assigned
    return held
