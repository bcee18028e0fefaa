"""What a program changes outside: ``Program.changed`` has the places, and the program is followed again for each."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from autodiff_hook.ir.analysis import definitions, statements_of
from autodiff_hook.ir.types import Block, Operand, Statement
from autodiff_hook.runtime.altering import GENERATORS
from autodiff_hook.runtime.fitting import is_alone
from autodiff_hook.runtime.lookup import dictionary_of, find_in_type, has_in_type
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Fresh, Outside, Record
from autodiff_hook.transform.specialise.bodies import Changes
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import example_of
from autodiff_hook.transform.specialise.program import STORE

_ASSIGNED: Final = "assigned"
_COPIED: Final = "copied"
_APPENDED: Final = "appended"
_ALTERED: Final = "altered"


_OUTSIDE: Final = (_ASSIGNED, _COPIED, _APPENDED, _ALTERED)


def default_of(cls: type, name: str) -> tuple[Any, ...]:
    """What stands for an attribute of objects that is read before it is assigned, as their class has it."""
    return "default", cls, name


def ask_for_default(inf: Inference, store: Statement) -> None:
    """An attribute is assigned that was read of the class: the program is followed again, with objects that have it."""
    kind, name = inf.type_of(store.operands[0]), store.data
    if store.op != "setattr" or not isinstance(kind, Fresh) or not has_in_type(kind.cls, name):
        return
    place = default_of(kind.cls, name)
    if place not in inf.program.changed and not hasattr(type(find_in_type(kind.cls, name)), "__get__"):
        raise Changes("an attribute is assigned that the class has as well", place, (kind.cls, name))


def assigned_to(example: Any) -> tuple[Any, ...]:
    """What stands for an object to which attributes are assigned."""
    return _ASSIGNED, id(example)


def place_of(example: Any, name: Any) -> tuple[Any, ...]:
    """Where an attribute, an item or a global is kept."""
    return *assigned_to(vars(example) if isinstance(example, ModuleType) else example), name


def copied_from(example: Any) -> tuple[Any, ...]:
    """What stands for a list or an array that is changed."""
    return _COPIED, id(example)


def appended_to(example: Any) -> tuple[Any, ...]:
    """What stands for a list to which items are appended, of which nothing else is asked."""
    return _APPENDED, id(example)


def altered_of(cls: type) -> tuple[Any, ...]:
    """What stands for a class of objects in lists from outside, and of arguments, to which attributes are assigned."""
    return _ALTERED, cls


def is_assigned(inf: Inference, value: Abstract, name: Any) -> bool:
    """Whether the program assigns an attribute of an object from outside, or an item of a dict."""
    return isinstance(value, Outside) and place_of(value.example, name) in inf.program.changed


def assigns(inf: Inference) -> bool:
    """Whether the program assigns anything outside."""
    return any(type(place) is tuple and place[0] in _OUTSIDE for place in inf.program.changed)


def assigns_by_name(inf: Inference) -> bool:
    """Whether all that it assigns outside are attributes, globals and items of dicts, by their names."""
    return all(place[0] == _ASSIGNED for place in inf.program.changed if type(place) is tuple and place[0] in _OUTSIDE)


def ask_for_copy(inf: Inference, owner: Operand) -> None:
    """A list or an array from outside, or an argument, is changed: the program is followed again with a copy of it."""
    value = inf.type_of(owner)
    place = copied_from(example_of(value))
    own = inf.outer.allowed and inf.is_from_outside(owner)
    if isinstance(value, Array):
        own = own and is_alone(example_of(value))
    else:
        own = own and not inf.world.is_given(owner)
    if own and place not in inf.program.changed:
        raise Changes("a list or an array from outside is changed", place)


def ask_to_append(inf: Inference, owner: Operand, example: Any) -> None:
    """A list from outside is appended to: the program is followed again with a list of what is appended."""
    place = appended_to(example)
    if inf.outer.allowed and inf.world.is_outside(owner) and not inf.world.is_given(owner):
        if place not in inf.program.changed and copied_from(example) not in inf.program.changed:
            raise Changes("a list from outside is appended to", place)


def ask_for_copies(inf: Inference, blocks: list[Block]) -> None:
    """The same of all arrays that are stored into."""
    made = definitions(statements_of(blocks))
    for block in blocks:
        for s in block.statements:
            if inf.plans.get(s) == STORE and isinstance(inf.type_of(s.operands[0]), Array):
                ask_for_copy(inf, s.operands[0])
                load = made.get(s.operands[0])
                kind = inf.type_of(load.operands[0]) if load is not None and load.op == "getattr" else None
                if isinstance(kind, Record):
                    ask_for_argument(inf, kind)


def argument_of(value: Record) -> tuple[Any, ...] | None:
    """What stands for an argument that may be followed as an object of its own; None if it is not one, or may not."""
    (first, *others) = value.site.examples
    held = [x for x in (dictionary_of(first) or {}).values() if type(x) not in GENERATORS]
    if others or not held or any(type(x) in (list, dict) or hasattr(x, "__dict__") for x in held):
        return None
    return assigned_to(first)


def ask_for_argument(inf: Inference, value: Record) -> None:
    """More is asked of an argument than of one of many: the program is followed again with an object of its own."""
    place = argument_of(value)
    if place is not None and inf.outer.allowed and place not in inf.program.changed:
        raise Changes("an argument is an object of its own", place)
