"""Helpers of the standard library that are written out: ``dataclasses.replace``, ``itemgetter`` and ``attrgetter``."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.transform.specialise.abstract import MISSING, Abstract
from autodiff_hook.transform.specialise.bodies import Refused, is_plain
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import known
from autodiff_hook.transform.specialise.objects import class_of


def replaced(
    inf: Inference, s: Statement, args: list[Operand], kwargs: dict[str, Operand]
) -> tuple[type, dict[str, Operand]]:
    """Of ``dataclasses.replace(point, x=x)``: the class, and what it is called with."""
    cls = class_of(inf.type_of(args[0])) if len(args) == 1 else None
    if cls is None or not dataclasses.is_dataclass(cls):
        raise Refused("a call of dataclasses.replace")
    inf.world.members(cls)
    fields: dict[str, Any] = cls.__dataclass_fields__
    plain = all(f.init and f._field_type is dataclasses._FIELD for f in fields.values())  # type: ignore[attr-defined]
    if not plain or not kwargs.keys() <= fields.keys():
        raise Refused(f"a call of replace for a {cls.__qualname__}")
    return cls, {name: kwargs.get(name) or inf.before(s, "getattr", [args[0]], name) for name in fields}


def getter(inf: Inference, s: Statement, function: Any, args: list[Operand]) -> Abstract | None:
    """``itemgetter(1)``, and what it gives of a value."""
    if isinstance(function, type):
        keys = [known(inf.type_of(x)) for x in args]
        if not keys or any(x is MISSING or not is_plain(x) for x in keys):
            raise Refused(f"a call of operator.{function.__name__}")
        s.op, s.operands, s.data = "same", [Constant(function(*keys))], None
        return inf.evaluate(inf, s)
    keys = list(function.__reduce__()[1])
    by_name = type(function) is operator.attrgetter
    if len(args) != 1 or by_name and any("." in key for key in keys):
        raise Refused(f"a call of an operator.{type(function).__name__}")
    if len(keys) == 1:
        s.op = "getattr" if by_name else "getitem"
        s.operands, s.data = (args, keys[0]) if by_name else ([args[0], Constant(keys[0])], None)
        return inf.evaluate(inf, s)
    parts = [_part(inf, s, args[0], key, by_name) for key in keys]
    s.op, s.operands, s.data = "build_tuple", parts, None
    return inf.evaluate(inf, s)


def _part(inf: Inference, s: Statement, owner: Operand, key: Any, by_name: bool) -> Operand:
    if by_name:
        return inf.before(s, "getattr", [owner], key)
    return inf.before(s, "getitem", [owner, Constant(key)])
