"""Sets: the tokens of their members, by the members themselves."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, keep, keep_all, kind, known, load, to_change
from autodiff_hook.semantics.items import materialised
from autodiff_hook.semantics.iteration import ITEMS, VIEWS, get_iter, is_view, iteration, set_pairs
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, giving_owner, means


def _members(alg: Algebra, t: Any, sources: Any) -> dict[Any, Any]:
    """The tokens of all members, of the first of equal ones."""
    found: dict[Any, Any] = {}
    for token, source in zip(t, sources):
        values, tokens = materialised(alg, token, source)
        for value, moving in zip(values, tokens):
            if value not in found:
                found[value] = moving
    return found


def _held(alg: Algebra, token: Any, source: Any) -> tuple[list[Any], list[Any]]:
    """The members that a set takes over, with their tokens: of another set those that it has, whatever it says."""
    if kind(source) != "set":
        values, tokens = materialised(alg, token, source)
        return list(values), list(tokens)
    pairs = list(set_pairs(alg, source))
    return [member for member, _ in pairs], [moving for _, moving in pairs]


@means(set.__iter__, frozenset.__iter__)
def set_iter(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``set.__iter__``, which a class calls from its own."""
    return iteration(alg, set_pairs(alg, args[0]), type(iter(set()))), None


def _operands(alg: Algebra, t: Any, args: Args) -> tuple[list[Any], dict[int, Any]]:
    """The operands of a set operation, and the tokens in them, by identity.

    Where it makes no difference how often something is iterated over, it is the operand: the order of a set depends
    on what it was made of.
    """
    operands: list[Any] = []
    moving: dict[int, Any] = {}
    for token, source in zip(t, args):
        values, tokens = _held(alg, token, source)
        operands.append(source if kind(source) in ("set", "dict") or is_view(source) else values)
        for value, part in zip(values, tokens):
            moving.setdefault(id(value), part)
    return operands, moving


@means(set)
def set_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``set(...)``: members keep their tokens."""
    return _made(alg, t, set, args)


@means(frozenset)
def frozenset_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    return _made(alg, t, frozenset, args)


def _made(alg: Algebra, t: Any, function: Any, args: Args) -> Result:
    """What a function makes of the members of several, with their tokens."""
    operands, moving = _operands(alg, t, args)
    result = function(*operands)
    if kind(result) == "set":
        keep_all(alg, result, {member: moving.get(id(member)) for member in result})
    return result, None


def combining(function: Any, operator: bool = False, order: int = 1) -> Meaning:
    """A method of sets, or of views of dicts, that makes a new set of the members of several.

    ``order``: -1 if it is the operator of the second operand, which is asked first.
    """

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        owner, *others = args
        if operator and not all([kind(x) == "set" or is_view(x) for x in others]) and not is_view(owner):
            return function(*args), None
        if not isinstance(owner, ITEMS):
            return _made(alg, t, function, args)
        found = _members(alg, t[::order], args[::order])
        result = function(*args)
        keep_all(alg, result, {member: found.get(member) for member in result})
        return result, None

    return carried


for _cls in (set, frozenset):
    for _name in ("union", "intersection", "difference", "symmetric_difference", "copy"):
        means(getattr(_cls, _name))(combining(getattr(_cls, _name)))
_OPERATED: Final[tuple[type, ...]] = (set, frozenset, *VIEWS[1:])
for _owner in _OPERATED:
    for _name in ("__or__", "__and__", "__sub__", "__xor__"):
        means(getattr(_owner, _name))(combining(getattr(_owner, _name), operator=True))
for _owner in VIEWS[1:]:
    for _name in ("__ror__", "__rand__", "__rsub__", "__rxor__"):
        means(getattr(_owner, _name))(combining(getattr(_owner, _name), operator=True, order=-1))


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
    owner, *others = args
    for moving, source in zip(t[1:], others):
        if kind(source) in ("set", "dict"):
            pairs = list(zip(*_held(alg, moving, source)))
            # A set makes room for all of them at once, and its order is another one then.
            pairs = [(value, token) for value, token in pairs if not set.__contains__(owner, value)]
            set.update(owner, source)
            for value, token in pairs:
                keep(alg, owner, value, token)
            continue
        for value, token in get_iter(alg, (moving,), None, source)[0]:
            set_add(alg, (None, token), (owner, value), {})
    return None, None


@means(set.symmetric_difference_update)
def set_toggle(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner = args[0]
    operands, moving = _operands(alg, t, args)
    found = to_change(alg, owner, moving.values())
    set.symmetric_difference_update(owner, *operands[1:])
    if found is not None:
        found.clear()
        found.update({member: moving.get(id(member)) for member in owner})
    return None, None


def dropping(function: Any) -> Meaning:
    """A method that takes members out of a set, and puts none in."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        owner = args[0]
        before = list(owner)
        result = function(*args)
        token = load(alg, owner, result, result) if function is set.pop else None
        found = known(alg, owner)
        if found is not None:
            for member in before:
                if member not in owner:
                    found.pop(member, None)
        return result, token

    return carried


for _method in (set.pop, set.discard, set.remove, set.clear, set.difference_update, set.intersection_update):
    means(_method)(dropping(_method))


def _augmented(meaning: Meaning) -> Meaning:
    """The same for sets alone: of other operands Python makes a new set, if they know how, or an error."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        return meaning(alg, t, args, kwargs) if kind(args[1]) == "set" else (NotImplemented, None)

    return carried


means(set.__ior__)(_augmented(giving_owner(set_update)))
means(set.__ixor__)(_augmented(giving_owner(set_toggle)))
means(set.__isub__)(_augmented(dropping(set.__isub__)))
means(set.__iand__)(_augmented(dropping(set.__iand__)))
