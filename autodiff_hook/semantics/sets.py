"""Sets: the tokens of their members, by the members themselves."""

from __future__ import annotations

from typing import Any

from autodiff_hook.algebras.shadows import Algebra, Result, keep, keep_all, kind, known, load
from autodiff_hook.semantics.items import materialised
from autodiff_hook.semantics.iteration import get_iter
from autodiff_hook.semantics.meanings import means

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def _members(alg: Algebra, t: Any, sources: Any) -> dict[Any, Any]:
    """The tokens of all members, of the first of equal ones."""
    found: dict[Any, Any] = {}
    for token, source in zip(t, sources):
        values, tokens = materialised(alg, token, source)
        for value, moving in zip(values, tokens):
            if value not in found:
                found[value] = moving
    return found


@means(set)
def set_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``set(...)``: members keep their tokens."""
    found = _members(alg, t, args)
    result = set(found)
    keep_all(alg, result, found)
    return result, None


@means(frozenset)
def frozenset_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``frozenset(...)``."""
    found = _members(alg, t, args)
    result = frozenset(found)
    keep_all(alg, result, found)
    return result, None


class Combining:
    """A method of sets that makes a new set of the members of several."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def carried(self, alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The operation with tokens."""
        found = _members(alg, t, args) if all([kind(x) != "object" for x in args]) else {}
        result = combined(self.function, args)
        if kind(result) == "set":
            keep_all(alg, result, {member: found.get(member) for member in result})
        return result, None


def combined(function: Any, args: Args) -> Any:
    """A set operation, by Python itself."""
    return function(*args)


for _cls in (set, frozenset):
    for _name in ("union", "intersection", "difference", "symmetric_difference", "copy"):
        means(getattr(_cls, _name))(Combining(getattr(_cls, _name)).carried)
    for _name in ("__or__", "__and__", "__sub__", "__xor__"):
        means(getattr(_cls, _name))(Combining(getattr(_cls, _name)).carried)


@means(set.add)
def set_add(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``set.add``: a member that is there already stays."""
    owner, value = args
    if not set.__contains__(owner, value):
        set.add(owner, value)
        keep(alg, owner, value, t[1])
    return None, None


@means(set.update)
def set_update(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``set.update``."""
    owner, *others = args
    for moving, source in zip(t[1:], others):
        for value, token in get_iter(alg, (moving,), None, list(source) if source is owner else source)[0]:
            set_add(alg, (None, token), (owner, value), {})
    return None, None


@means(set.__ior__)
def set_ior(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``set |= set``."""
    set_update(alg, t, args, kwargs)
    return args[0], None


class Dropping:
    """A method that takes members out of a set, and puts none in."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def carried(self, alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The operation with tokens."""
        owner = args[0]
        before = list(owner)
        result = self.function(*args)
        token = load(alg, owner, result, result) if self.function is set.pop else None
        found = known(alg, owner)
        if found is not None:
            for member in before:
                if member not in owner:
                    found.pop(member, None)
        return result, token


for _method in (
    *(set.pop, set.discard, set.remove, set.clear),
    *(set.difference_update, set.intersection_update, set.__isub__, set.__iand__),
):
    means(_method)(Dropping(_method).carried)
