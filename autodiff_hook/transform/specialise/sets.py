"""Sets: dicts that are taken for them, of which only is asked whether something is among the keys."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.semantics.equivalents import changing
from autodiff_hook.transform.specialise.abstract import Abstract, Known
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.dicts import into_dict, standing_for
from autodiff_hook.transform.specialise.infer import ITEMS, Inference
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS

_METHODS: Final[dict[str, Any]] = {
    "add": changing.add,
    "discard": changing.discard,
    "remove": changing.remove_key,
    "update": changing.add_all,
}


def method(name: str, names: tuple[str, ...]) -> FunctionType:
    """The definition of a method."""
    if name not in _METHODS or names:
        raise Refused(f"the method {name} of a set")
    found: FunctionType = _METHODS[name]
    return found


def made(inf: Inference, s: Statement) -> Abstract | None:
    """``{a, b}``."""
    if s.result is None:
        raise Refused("a set")
    kind = standing_for(inf, s, set)
    for key in s.operands:
        into_dict(inf, kind, inf.type_of(key), Known(True))
    s.op, s.operands, s.data = "build_map", [y for x in s.operands for y in (x, Constant(True))], None
    inf.plans[s] = ITEMS
    return kind


def step(inf: Inference, s: Statement) -> Abstract | None:
    """``items.add(x)`` and ``items.update(xs)`` of displays and comprehensions."""
    s.op, s.data = "call_method", (s.op.removeprefix("set_"), ())
    return inf.evaluate(inf, s)


def _called(inf: Inference, s: Statement, args: list[Operand]) -> Abstract | None:
    """``set()``."""
    if args:
        return None
    s.operands = []
    return made(inf, s)


OF_ALL_WAYS[set] = _called
