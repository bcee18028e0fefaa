"""What a program was made for, of values whose types are not at rest yet: it is confirmed when they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_hook.ir.types import Operand, Statement
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Bound,
    Closure,
    Dict,
    Fresh,
    Known,
    Lookup,
    Number,
    Outside,
    Partial,
    Producer,
    Record,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import built_classes, join, number_types
from autodiff_hook.transform.specialise.own_kinds import ask_for_own_kind


class Assumptions:
    """What is called, what is copied with which attributes, and for what derivatives within were made."""

    def __init__(self) -> None:
        self.called: list[tuple[Operand, Any]] = []
        """What bodies were put in the place of calls of."""
        self.copied: dict[Statement, tuple[Operand, list[str]]] = {}
        """The objects that are copied, and which attributes they have."""
        self.fixed: list[tuple[Operand, Abstract]] = []
        """What derivatives within the program have been made for."""

    def call(self, operand: Operand, kind: Abstract) -> None:
        """Remember what is called."""
        self.called.append((operand, _called(kind)))

    def confirm(
        self, type_of: Callable[[Operand], Abstract], attributes_of: Callable[[Abstract], dict[str, Abstract]]
    ) -> None:
        """Refuse the program unless all of it is true of what is known in the end."""
        for operand, assumed in self.called:
            found = _called(type_of(operand))
            alike = found is assumed or isinstance(found, (frozenset, str)) and found == assumed
            if not (alike or _same_closure(found, assumed)):
                ask_for_own_kind(assumed, type_of(operand))
                raise Refused("what is called changes while the program runs")
        for operand, names in self.copied.values():
            if names != sorted(attributes_of(type_of(operand))):
                raise Refused("an object gets other attributes than those that were copied")
        for operand, kind in self.fixed:
            if join(kind, type_of(operand)) != kind:
                raise Refused("what is differentiated within changes its type while the program runs")


def _called(found: Abstract) -> Any:
    """What of a value decides about a call: the object itself, or the class of the receiver, whose fields are read."""
    types = number_types(found)
    if isinstance(found, Known):
        return found.value if types is None else Number(types)
    if isinstance(found, Dict) and found.site.cls is not None:
        return built_classes(found) or found.site.cls
    return found.cls if isinstance(found, (Fresh, Outside, Record, Tuple)) else found


def _same_closure(a: Any, b: Any) -> bool:
    if isinstance(a, (Number, Array)) and isinstance(b, (Number, Array)):
        return True
    if isinstance(a, (Bound, Lookup, Partial, Producer)):
        return bool(a == b)
    return isinstance(a, Closure) and isinstance(b, Closure) and a.code is b.code and a.cells == b.cells
