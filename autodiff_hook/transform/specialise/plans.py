"""Plans that several meanings share: a value that exists already, an operation that stays, a part of a tuple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_hook.ir.types import Args, Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Dict,
    Instance,
    Known,
    List,
    Number,
    Optional,
    Outside,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import example_of, in_parts, is_set
from autodiff_hook.transform.specialise.program import PURE, STRUCTURAL, Alias
from autodiff_hook.transform.specialise.wording import named

Question = Callable[[Inference, Statement, list[Operand]], "Abstract | None"]
"""What a call of a function is that asks something of its arguments; None if it is another call."""


def pure(inf: Inference, s: Statement, result: Abstract) -> Abstract:
    """The operation stays as it is, and carries no derivative."""
    inf.plans[s] = PURE
    return result


def checked(inf: Inference, s: Statement, args: Args) -> Abstract:
    """A check that one program makes is made by another one that holds it, too."""
    return pure(inf, s, Known(None))


def alias(inf: Inference, s: Statement, operand: Operand) -> Abstract:
    """The result is a value that exists already."""
    inf.plans[s] = Alias(operand)
    if s.result is not None:
        inf.aliases[s.result] = operand
    return inf.type_of(operand)


def known_as(inf: Inference, s: Statement, value: Any) -> Abstract:
    """The result is a known object."""
    return alias(inf, s, Constant(value))


def require_inert(*values: Abstract) -> None:
    """Refuse values that may have methods of their own."""
    for value in values:
        if isinstance(value, Reference) and value.site.cls is not None and not is_set(value):
            raise Refused("an operation on what only stands for another class")
        if isinstance(value, (Known, Number, Array, Instance, Dict)):
            continue
        if isinstance(value, Optional):
            require_inert(value.content)
            continue
        if isinstance(value, List):
            require_inert(*([] if value.item is None else [value.item]))
            continue
        if isinstance(value, Tuple) and value.cls in (tuple, list, dict):
            require_inert(*value.items)
            continue
        raise Refused(f"an operation on {named(value)}")


def require_value(inf: Inference, s: Statement, operands: list[Operand]) -> bool:
    """Whether one of ``operands`` may be absent: the program gives up before ``s`` if it is; Python mostly raises."""
    for operand in operands:
        if isinstance(operand, Variable) and isinstance(inf.type_of(operand), Optional):
            if operand not in s.operands or inf.one_way:
                raise Refused("something that may be None is used")
            inf.traps.require(inf.block, operand, s.position)
            return True
    return False


def items_of(value: Abstract) -> tuple[Abstract, ...] | None:
    """What is known of the items of a tuple or a list of known length."""
    value = in_parts(value)
    return value.items if isinstance(value, Tuple) and value.cls is not dict else None


def part_of(inf: Inference, s: Statement, items: tuple[Abstract, ...], index: int) -> Abstract:
    """An item of a tuple."""
    if not -len(items) <= index < len(items):
        raise Refused("an index out of range")
    item = items[index]
    if isinstance(item, Outside) and item.at is None and inf.world.is_outside(whole := inf.final(s.operands[0])):
        kind = inf.type_of(whole)
        key = kind.keys[index] if isinstance(kind, Tuple) and kind.cls is dict else index
        return alias(inf, s, inf.world.part(whole, example_of(kind), key, True))
    if isinstance(item, Known):
        return known_as(inf, s, example_of(item))
    inf.plans[s] = STRUCTURAL
    return item


def is_only_iterated(inf: Inference, s: Statement) -> bool:
    """Whether nothing is done with what a statement gives but to iterate over it."""
    for block in inf.program.blocks:
        passed = [*block.terminator.operands, *(x for edge in block.edges() for x in edge.args)]
        if s.result in passed or any(s.result in x.operands and x.op != "get_iter" for x in block.statements):
            return False
    return True


def is_hashable(key: Any) -> bool:
    """Whether something can be a key; a slice can from CPython 3.12 on."""
    try:
        hash(key)
    except TypeError:
        return False
    return True


def spread(inf: Inference, whole: Operand, keys: Any = None) -> list[Operand]:
    """The parts of a tuple or a dict that have these keys, or all of a tuple, read before the statement at hand."""
    if keys is None:
        items = items_of(inf.type_of(whole))
        keys = None if items is None else range(len(items))
    if keys is None:
        raise Refused("a call with *args that are not known")
    if isinstance(whole, Constant):
        return [Constant(whole.value[key]) for key in keys]
    parts: list[Operand] = []
    for key in keys:
        part = Statement("project", [whole], Variable(), key)
        if not isinstance(inf.type_of(whole), Tuple) or inf.type_of(whole).cls is not tuple:  # type: ignore[attr-defined]
            part.op, part.operands, part.data = "getitem", [whole, Constant(key)], None
        parts.append(inf.before(part, part.op, part.operands, part.data))
    return parts
