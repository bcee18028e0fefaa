"""Helpers that are written out: ``getattr``, ``setattr``, ``dataclasses.replace``, ``itemgetter``, ``attrgetter``."""

from __future__ import annotations

import dataclasses
import functools
import operator
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.runtime.lookup import has_in_type
from autodiff_hook.transform.specialise import partials
from autodiff_hook.transform.specialise.abstract import MISSING, Abstract, Array, Closure, Known, Number, Super
from autodiff_hook.transform.specialise.bodies import Refused, is_plain
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.lattice import known
from autodiff_hook.transform.specialise.objects import class_of, look_after
from autodiff_hook.transform.specialise.plans import alias


def replaced(inf: Inference, s: Statement, args: Args, kwargs: Kwargs) -> tuple[Operand, Args, Kwargs]:
    """Of ``dataclasses.replace(point, x=x)``: the class, and what it is called with."""
    cls = class_of(inf.type_of(args[0])) if len(args) == 1 else None
    if cls is None or not dataclasses.is_dataclass(cls):
        raise Refused("a call of dataclasses.replace")
    inf.world.members(cls)
    fields: list[Any] = [f for f in cls.__dataclass_fields__.values() if f.init]
    kinds = {f.name: f._field_type for f in fields if f._field_type is not dataclasses._FIELD_CLASSVAR}  # type: ignore[attr-defined]
    passed = {name for name, kind in kinds.items() if kind is dataclasses._FIELD_INITVAR}  # type: ignore[attr-defined]
    if not passed <= kwargs.keys() <= kinds.keys():
        raise Refused(f"a call of replace for a {cls.__qualname__}")
    return Constant(cls), [], {name: kwargs.get(name) or inf.before(s, "getattr", [args[0]], name) for name in kinds}


def wrapped(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract:
    """``wraps`` and ``update_wrapper``: a function that the program makes is what it is, as nobody reads its name."""
    if function is functools.wraps:
        return partials.make(inf, s, [Constant(functools.update_wrapper)], dict(zip(_WRAPPED, args)) | kwargs)
    kind = inf.type_of(args[0]) if args else None
    if not isinstance(kind, Closure):
        raise Refused("a call of functools.update_wrapper")
    s.op, s.operands, s.data = "same", [args[0]], None
    return alias(inf, s, args[0])


_WRAPPED: Final = ("wrapped", "assigned", "updated")


def getter(inf: Inference, s: Statement, function: Any, args: Args) -> Abstract | None:
    """``itemgetter(1)`` and its kin, and what it gives of a value."""
    if isinstance(function, type):
        keys = [known(inf.type_of(x)) for x in args]
        if not keys or any(x is MISSING or not is_plain(x) for x in keys):
            raise Refused(f"a call of operator.{function.__name__}")
        s.op, s.operands, s.data = "same", [Constant(function(*keys))], None
        return inf.evaluate(inf, s)
    made, keys = function.__reduce__()[:2]
    by_name = type(function) is operator.attrgetter
    if len(args) != 1 or not isinstance(made, type):
        raise Refused(f"a call of an operator.{type(function).__name__}")
    if made is operator.methodcaller:
        s.op, s.operands, s.data = "call_method", [args[0], *map(Constant, keys[1:])], (keys[0], ())
        return inf.evaluate(inf, s)
    if len(keys) == 1:
        s.op = "getattr" if by_name else "getitem"
        if by_name:
            *path, s.data = keys[0].split(".")
            s.operands = [_attribute(inf, s, args[0], path)]
        else:
            s.operands, s.data = [args[0], Constant(keys[0])], None
        return inf.evaluate(inf, s)
    parts = [_part(inf, s, args[0], key, by_name) for key in keys]
    s.op, s.operands, s.data = "build_tuple", parts, None
    return inf.evaluate(inf, s)


def _part(inf: Inference, s: Statement, owner: Operand, key: Any, by_name: bool) -> Operand:
    if by_name:
        return _attribute(inf, s, owner, key.split("."))
    return inf.before(s, "getitem", [owner, Constant(key)])


def _attribute(inf: Inference, s: Statement, owner: Operand, path: list[str]) -> Operand:
    for name in path:
        owner = inf.before(s, "getattr", [owner], name)
    return owner


def attribute_by_name(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``getattr(owner, "name")``; a default only matters where classes decide."""
    owner, name, *default = map(inf.type_of, args)
    if not isinstance(name, Known) or type(name.value) is not str:
        raise Refused("an attribute whose name is not known")
    inf.assume(args[1])
    if default and not _is_present(inf, owner, name.value):
        return alias(inf, s, args[2])
    s.op, s.operands, s.data = "getattr", [args[0]], name.value
    return inf.evaluate(inf, s)


def _is_present(inf: Inference, owner: Abstract, name: str) -> bool:
    """Whether a number, an array or what ``super()`` finds has an attribute."""
    if isinstance(owner, Super):
        receiver = inf.type_of(owner.receiver)
        cls = receiver.value if isinstance(receiver, Known) and isinstance(receiver.value, type) else class_of(receiver)
        if cls is not None:
            return look_after(inf, cls, owner.after, name) is not None
    present = {has_in_type(cls, name) for cls in classes_of(owner)} if isinstance(owner, (Number, Array)) else set()
    if len(present) != 1:
        raise Refused("an attribute that may be missing")
    return present.pop()


def assigned_by_name(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``setattr(owner, "name", value)``."""
    name = inf.type_of(args[1])
    if not isinstance(name, Known) or type(name.value) is not str:
        raise Refused("an attribute whose name is not known is assigned")
    inf.assume(args[1])
    if s.result is not None:
        inf.types[s.result] = Known(None)
    s.op, s.operands, s.data, s.result = "setattr", [args[0], args[2]], name.value, None
    return inf.evaluate(inf, s)
