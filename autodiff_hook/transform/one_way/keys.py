"""``hash`` on one way, and keys of dicts from outside whose class says it: the one that a dict has is found once."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from autodiff_hook import budget
from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.runtime.hashes import Hashed
from autodiff_hook.runtime.lacking import lack
from autodiff_hook.transform.one_way.containers import UNKNOWN, known_value, parts
from autodiff_hook.transform.one_way.hashes import (
    effects,
    equals,
    hash_method,
    number_of,
    require_constant,
    require_silent,
)
from autodiff_hook.transform.one_way.identities import is_alone, the_one
from autodiff_hook.transform.one_way.operators import is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.plans import known_as
from autodiff_hook.transform.specialise.wording import named


def key_in(inf: Path, held: dict[Any, Any], operand: Operand) -> Any:
    """What an operand is as a key of a dict from outside: a constant, or the key there that it equals."""
    items = inf.tuples.get(operand, [operand])
    if not any(is_object(inf.type_of(x)) for x in items):
        return inf.pin_key(operand)
    if all(_is_like_no_other(inf, x) or not is_object(inf.type_of(x)) for x in items):
        found = [_itself(inf, x) if is_object(inf.type_of(x)) else inf.pin_key(x) for x in items]
        return tuple(found) if operand in inf.tuples else found[0]
    budget.check(len(held))
    pinned = set(inf.pinned)
    before, own = effects(inf, items), {kind.cls for kind in map(inf.type_of, items) if is_object(kind)}
    hashes = [_hash_of(inf, x) for x in items]
    whole = hash(tuple(map(Hashed, hashes))) if operand in inf.tuples else hashes[0]
    _follow_others(inf, held, own)
    require_silent(inf, items, before)
    found = [key for key in held if hash(key) == whole]
    if any((type(key) is tuple) != (operand in inf.tuples) for key in found):
        raise Refused("keys of several kinds that have the same hash")
    same = next((key for key in found if _equals(inf, inf.world.constant(key), operand)), None)
    require_silent(inf, items, before)
    require_constant(inf, inf.pinned.keys() - pinned)
    if same is None:
        lack(("key", id(held), whole), partial(_has_grown, held, len(held)))
        raise Refused("an object that is no key of a dict")
    return same


def _is_like_no_other(inf: Path, operand: Operand) -> bool:
    """Whether a value is an object that equals none but itself, from outside or made by the program."""
    return isinstance(inf.type_of(operand), Fresh) and is_alone(inf, operand) or _is_from_outside(inf, operand)


def _itself(inf: Path, operand: Operand) -> Any:
    """An object from outside, or what no dict from outside has: one that the program makes."""
    value = inf.type_of(operand)
    return value.made if isinstance(value, Fresh) else the_one(inf, operand)


def _is_from_outside(inf: Path, operand: Operand) -> bool:
    """Whether a value is an object from outside that equals none but itself."""
    return isinstance(inf.type_of(operand), Outside) and is_alone(inf, operand)


def _hash_of(inf: Path, operand: Operand) -> int:
    if _is_from_outside(inf, operand):
        return hash(the_one(inf, operand))
    return number_of(inf, operand) if is_object(inf.type_of(operand)) else hash(inf.pin_key(operand))


def _follow_others(inf: Path, held: dict[Any, Any], known: set[type]) -> None:
    """See that no key of another class changes anything when it is asked for its hash, by one of each class."""
    for key in held:
        for place, part in enumerate(key if type(key) is tuple else (key,)):
            cls = type(part)
            if cls in _INERT or cls in known:
                continue
            loaded = inf.world.constant(key)
            loaded = parts(inf, loaded)[place] if type(key) is tuple else loaded
            if not is_object(inf.type_of(loaded)):
                raise Refused(f"a search among keys that are {named(inf.type_of(loaded))}")
            _hash_of(inf, loaded)
            known.add(cls)


_INERT: Final = (str, int, float, bool, bytes, type(None))


def _has_grown(held: dict[Any, Any], count: int) -> bool:
    return len(held) != count


def _equals(inf: Path, stored: Operand, given: Operand) -> bool:
    """Whether a key equals what is looked up, as Python asks it: by identity first."""
    if given in inf.tuples:
        first, second = parts(inf, stored), inf.tuples[given]
        return len(first) == len(second) and all(_equals(inf, a, b) for a, b in zip(first, second))
    return equals(inf, stored, given)


def hashed(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """``hash(x)``; None if native code says it of what is not known."""
    value = inf.type_of(args[0])
    if is_object(value):
        method = hash_method(inf, value)
        number = inf.pin(inf.call(Constant(method), list(args)))
        if not isinstance(number, int):
            raise Raised(TypeError("__hash__ method should return an integer"))
        return known_as(inf, s, hash(Hashed(number)))
    known = known_value(inf, args[0])
    if known is not UNKNOWN:
        return known_as(inf, s, hash(known)) if _is_constant(known) else None
    require_constant(inf, args)
    return None


def _is_constant(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_is_constant, value))
    return type(value) in _CONSTANT


_CONSTANT: Final = (int, float, bool, str, bytes, type(None))
