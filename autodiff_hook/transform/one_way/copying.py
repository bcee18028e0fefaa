"""Copies of lists, dicts and objects on one way."""

from __future__ import annotations

from autodiff_hook.ir.types import Operand
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import (
    Array,
    Container,
    Instance,
    Known,
    Number,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.wording import named


def copied_alone(inf: Path, operand: Operand) -> Operand | None:
    """The copy of what holds nothing else; None if it is not such."""
    value = inf.type_of(operand)
    if isinstance(value, (Known, Number)) or isinstance(value, Instance) and value.cls in (str, range):
        return operand
    return inf.perform("call_method", [operand], ("copy", ())) if isinstance(value, Array) else None


def copied(inf: Path, operand: Operand, done: dict[Operand, Operand]) -> Operand:
    """A deep copy; ``done`` has the copies that are made."""
    operand = inf.present(operand)
    if operand not in done:
        value = inf.type_of(operand)
        if isinstance(value, Container) and value.cls in (list, dict):
            token = done[operand] = inf.made(value.cls, value.cls())
            held = inf.content(operand)
            if value.cls is dict:
                inf.content(token).update((k, copied(inf, v, done)) for k, v in held.items())
            else:
                inf.content(token).extend(copied(inf, x, done) for x in held)
        elif operand in inf.tuples:
            done[operand] = inf.perform("build_tuple", [copied(inf, x, done) for x in inf.tuples[operand]])
        else:
            alone = copied_alone(inf, operand)
            if alone is None:
                raise Refused(f"a deep copy of {named(value)}")
            done[operand] = alone
    return done[operand]
