"""Objects of classes derived from ``tuple`` on one way, named ones too: tuples to all that only reads items."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Final

from autodiff_hook.ir.types import Operand, Statement
from autodiff_hook.runtime.oddities import is_converted_by_code
from autodiff_hook.semantics.operations import COMPARING_METHODS, NAMES
from autodiff_hook.transform.one_way.classes import instance
from autodiff_hook.transform.one_way.containers import parts
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh, Known
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias
from autodiff_hook.transform.specialise.wording import named

_FIELD: Final = type(namedtuple("_Fields", "x").x)  # type: ignore[attr-defined]
_METHODS: Final[dict[str, tuple[int | None, tuple[str, ...]]]] = {
    "getitem": (0, ("__getitem__",)),
    **dict.fromkeys(("unpack", "get_iter"), (0, ("__iter__",))),
    **dict.fromkeys(("truth", "not"), (0, ("__bool__", "__len__"))),
    "get_len": (0, ("__len__",)),
    **dict.fromkeys(("in", "not_in"), (1, ("__contains__",))),
    "compare": (None, tuple(COMPARING_METHODS.values())),
}
"""The operand of an operation that may be such an object, and what its class must not say of it; None: all operands."""


def new(inf: Path, s: Statement, args: list[Operand]) -> Abstract | None:
    """``tuple.__new__(cls, items)``."""
    cls = inf.type_of(args[0])
    if not isinstance(cls, Known) or not isinstance(cls.value, type) or not issubclass(cls.value, tuple):
        return None
    held = inf.perform("build_tuple", list(parts(inf, args[1])) if len(args) > 1 else [])
    return alias(inf, s, held if cls.value is tuple else made(inf, cls.value, held))


def made(inf: Path, cls: type, held: Operand) -> Operand:
    """A new object of a class derived from ``tuple``."""
    if is_converted_by_code(cls):
        raise Refused(f"{named(cls)} says by itself what NumPy makes of it")
    token = instance(inf, cls)
    inf.numbers[token] = held
    return token


def held_by(inf: Path, operand: Operand) -> Operand | None:
    """The tuple that an object is; None if it is another one."""
    value = inf.type_of(operand)
    return inf.numbers.get(value.made) if isinstance(value, Fresh) and issubclass(value.cls, tuple) else None


def step(inf: Path, s: Statement) -> Abstract | None:
    """What an operation means with such objects; None without such, or if it is for a class to say."""
    if s.op in ("getattr", "load_method"):
        return _field(inf, s)
    place, names = _METHODS.get(s.op, (0, ()))
    if s.op == "binary":
        place, names = None, (f"__{(name := NAMES[s.data])}__", f"__r{name}__")
    if not names:
        return None
    operands = list(s.operands)
    for i in range(len(operands)) if place is None else (place,):
        held = held_by(inf, operands[i])
        if held is not None:
            cls: Any = inf.type_of(operands[i]).cls  # type: ignore[attr-defined]
            if any(look(inf, cls, name) is not tuple.__dict__.get(name) for name in names if name != "__ne__"):
                return None
            operands[i] = held
    if operands == s.operands:
        return None
    return alias(inf, s, inf.perform(s.op, operands, s.data))


def _field(inf: Path, s: Statement) -> Abstract | None:
    """``point.x``."""
    held = held_by(inf, s.operands[0])
    if held is None or s.data == "__dict__":
        return None
    found = look(inf, inf.type_of(s.operands[0]).cls, str(s.data))  # type: ignore[attr-defined]
    return alias(inf, s, parts(inf, held)[found.__reduce__()[1][0]]) if type(found) is _FIELD else None
