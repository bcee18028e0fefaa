"""What objects say of themselves as keys, on one way: their ``__hash__`` and ``__eq__`` are followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from types import FunctionType
from typing import Any

from autodiff_hook.ir.analysis import definitions, statements_of
from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.runtime.hashes import Hashed
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Standing
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh, Instance, Known, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import is_number_of
from autodiff_hook.transform.specialise.objects import written
from autodiff_hook.transform.specialise.wording import named


class ObjectKey(Standing):
    """An object as a key of a dict that the program makes: such a dict asks it as Python does."""

    def __init__(self, inf: Path, operand: Operand) -> None:
        super().__init__(operand)
        self._inf, self._number = inf, _silently(inf, [operand], lambda: number_of(inf, operand))

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ObjectKey):
            raise Refused("keys of several kinds that have the same hash")
        both = [self.operand, other.operand]
        return bool(_silently(self._inf, both, lambda: equals(self._inf, *both)))


def _silently(inf: Path, items: list[Operand], ask: Callable[[], int]) -> int:
    """What keys are asked, if that changes nothing, and no number that is differentiated decides about it."""
    pinned, before = set(inf.pinned), effects(inf, items)
    found = ask()
    require_silent(inf, items, before)
    require_constant(inf, inf.pinned.keys() - pinned)
    return found


def number_of(inf: Path, operand: Operand) -> int:
    """The hash of an object, as its class says it."""
    value = inf.type_of(operand)
    assert isinstance(value, (Fresh, Outside))
    return hash(Hashed(inf.pin(inf.call(Constant(hash_method(inf, value)), [operand]))))


def equals(inf: Path, stored: Operand, given: Operand) -> bool:
    """Whether a key equals what is looked up, as Python asks it: by identity first."""
    if inf.final(stored) is inf.final(given):
        return True
    ask: Callable[..., Operand] = inf.perform
    if all(isinstance(inf.type_of(x), Outside) for x in (stored, given)) and inf.pin(ask("is", [stored, given])):
        return True
    return bool(inf.pin(ask("truth", [ask("compare", [stored, given], "==")])))


def effects(inf: Path, items: Sequence[Operand] = ()) -> Any:
    """What the program has changed that others can see, but for what is looked up, which may keep its hash."""
    stored = {owner for owner, _ in inf.assigned} - set(map(inf.final, items))
    contents = {token: copy(inf.contents[token]) for token in inf.dirty}
    return stored, contents, len(inf.said), dict(inf.class_attributes), dict(inf.stored_globals)


def require_silent(inf: Path, items: list[Operand], before: Any) -> None:
    """Refuse a key that changes something when it is looked up, which is done natively, too."""
    if effects(inf, items) != before:
        raise Refused("a key that changes something when it is looked up")


def hash_method(inf: Path, value: Fresh | Outside) -> FunctionType:
    """The ``__hash__`` of an object, which has to be Python code."""
    method = written(inf, value.cls, "__hash__")
    if method is None:
        raise Refused(f"the hash of {named(value)}")
    return method


def require_constant(inf: Path, decided: Iterable[Operand]) -> None:
    """Refuse a key or a hash that a number decides about which is differentiated: what it finds has no derivative."""
    made, seen, left = definitions(statements_of(inf.program.blocks)), set[Operand](), list(decided)
    while left:
        x = inf.final(left.pop())
        if x in seen or isinstance(inf.type_of(x), Known):
            continue
        seen.add(x)
        s = made.get(x)
        given = x in inf.params or inf.world.is_given(x) or s is None and x not in inf.tuples
        if given and not (inf.world.is_outside(x) and not inf.world.is_given(x) or _is_whole(inf.type_of(x))):
            raise Refused("a key that depends on what is differentiated")
        left += [*inf.tuples.get(x, ()), *(s.operands if s is not None else ())]


def _is_whole(value: Abstract) -> bool:
    """Whether a value is a whole number or a text, of which there are no derivatives."""
    return is_number_of(value, {int, bool}) or isinstance(value, Instance) and value.cls in (str, bytes)
