"""What lists, dicts and objects are by identity on one way, and objects that equal none but themselves as keys."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.transform.one_way.operators import is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import ANY, Abstract, Array, Container, Fresh, Number, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias, known_as


def same(inf: Path, s: Statement) -> Abstract | None:
    """``a is b`` of lists, dicts and sets: what the program makes is nothing else; None of other values."""
    kinds = list(map(inf.type_of, s.operands))
    if any(isinstance(x, Fresh) for x in kinds) and any(isinstance(x, _NO_OBJECTS) for x in kinds):
        return known_as(inf, s, s.op == "is_not")
    if not all(_is_container(inf, x) for x in s.operands):
        return None
    a, b = s.operands
    found = inf.contents[a] is inf.contents[b]
    if not found and a in inf.origins and b in inf.origins:
        raise Refused("which of several containers it is")
    return known_as(inf, s, found == (s.op == "is"))


_NO_OBJECTS: Final = (Array, Number, Container, Tuple)


def _is_container(inf: Path, operand: Operand) -> bool:
    value = inf.type_of(operand)
    return isinstance(value, Container) and value.cls in (list, dict, set)


def is_like_no_other(inf: Path, cls: type) -> bool:
    """Whether objects of a class are hashed by what they are, so that none is found as another."""
    found = look(inf, cls, "__hash__")
    return found is object.__hash__ or type(found) is FunctionType and _is_by_identity(inf, found)


def _is_by_identity(inf: Path, function: FunctionType) -> bool:
    code = function.__code__
    said = any((code.co_code, code.co_names) == (x.co_code, x.co_names) for x in _BY_IDENTITY)
    loaded = [inf.world.load(function.__globals__)(name) for name in code.co_names] if said else []
    return said and all(isinstance(x, Constant) and x.value in (id, hash) for x in loaded)


_BY_IDENTITY: Final = tuple([f.__code__ for f in (lambda self: id(self), lambda self: hash(id(self)))])


def identity(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """``id(x)``: of an object of the program a key that nothing else is, of one from outside a number that is known."""
    value = inf.type_of(args[0]) if len(args) == 1 else None
    if isinstance(value, Fresh):
        if value.made not in inf.identities:
            inf.identities[value.made] = inf.token("id", ANY)
        return alias(inf, s, inf.identities[value.made])
    if isinstance(value, Outside) and not inf.world.is_given(inf.final(args[0])):
        return known_as(inf, s, id(the_one(inf, args[0])))
    return None


def is_alone(inf: Path, operand: Operand) -> bool:
    """Whether a value is an object that equals none but itself."""
    value = inf.type_of(operand)
    return is_object(value) and is_like_no_other(inf, value.cls)


def itself(inf: Path, operand: Operand) -> Any:
    """What such an object is as a key: itself if it is from outside, which decides about the way, else an operand."""
    value, key = inf.type_of(operand), inf.final(operand)
    if isinstance(value, Fresh):
        return value.made
    if not inf.world.is_given(key):
        return the_one(inf, operand)
    same = next((x for x in inf.given_keys if x is key or inf.world.same(x, key)), None)
    if same is None:
        inf.given_keys.append(key)
    return same or key


def the_one(inf: Path, operand: Operand) -> Any:
    """An object from outside: which one it is decides about the way."""
    value, key = inf.type_of(operand), inf.final(operand)
    if not isinstance(value, Outside) or not inf.world.is_outside(key):
        raise Refused("an object that is not known on entry is a key")
    if not inf.world.same(key, inf.world.constant(value.example)):
        raise Refused("an object that was another one")
    return value.example
