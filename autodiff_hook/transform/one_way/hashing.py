"""``hash`` on one way through a program: of constants, of sets of them, and of objects whose class says it."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any, Final

from autodiff_hook.ir.analysis import definitions, statements_of
from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.runtime.hashes import Hashed
from autodiff_hook.transform.one_way.containers import UNKNOWN, known_value
from autodiff_hook.transform.one_way.operators import is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh, Instance, Known, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import is_number_of
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import known_as
from autodiff_hook.transform.specialise.wording import named


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


def hash_method(inf: Path, value: Fresh | Outside) -> FunctionType:
    """The ``__hash__`` of an object, which has to be Python code."""
    method = look(inf, value.cls, "__hash__")
    if type(method) is not FunctionType:
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


def _is_constant(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_is_constant, value))
    return type(value) in _CONSTANT


_CONSTANT: Final = (int, float, bool, str, bytes, type(None))
