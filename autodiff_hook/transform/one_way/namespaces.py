"""Namespaces as dicts, on one way: what is read by ``globals()["k"]`` and ``vars(module)["k"]`` is the name itself.

So is what ``vars(x)["k"]`` reads of an argument: an attribute, by whose slot the derivative comes back.
"""

from __future__ import annotations

import builtins
from typing import Any, Final, TypeGuard

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import Abstract, Lookup, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.objects import is_set_by_code, look
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.wording import named

_NAME: Final = "__dict__"


def namespace(owner: Operand) -> Lookup:
    """The dict of the names of a module (a constant), or of the attributes of an object."""
    return Lookup(_NAME, owner)


def of_function(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """``globals()``."""
    return namespace(Constant(inf.globals_here)) if not args else None


def item(inf: Path, s: Statement) -> Abstract | None:
    """``namespace[key]``; None if it is none."""
    owner, key = s.operands
    value = inf.type_of(owner)
    if not _is_namespace(value):
        return None
    found = _found(inf, value, key)
    if found is None:
        raise Raised(KeyError(inf.pin(key)))
    return alias(inf, s, found)


def contains(inf: Path, s: Statement) -> Abstract | None:
    """``key in namespace``; None if it is none."""
    key, owner = s.operands
    value = inf.type_of(owner)
    if not _is_namespace(value):
        return None
    return known_as(inf, s, (_found(inf, value, key) is not None) == (s.op == "in"))


def got(inf: Path, s: Statement, name: str, owner: Operand, args: Args) -> Abstract | None:
    """``namespace.get(key)``; None if it is another call."""
    value = inf.type_of(owner)
    if name != "get" or not args or not _is_namespace(value):
        return None
    found = _found(inf, value, args[0])
    return alias(inf, s, found or (args[1] if len(args) > 1 else Constant(None)))


def _is_namespace(value: Abstract) -> TypeGuard[Lookup]:
    return isinstance(value, Lookup) and value.name == _NAME


def _found(inf: Path, value: Lookup, key: Operand) -> Operand | None:
    """What has a name; None if nothing has."""
    owner = value.receiver
    name = inf.pin(key)
    if type(name) is not str:
        raise Refused("a key of a namespace that is no text")
    return _global(inf, owner.value, name) if isinstance(owner, Constant) else _attribute(inf, owner, name)


def _global(inf: Path, names: dict[str, Any], name: str) -> Operand | None:
    stored = inf.stored_globals.get((id(names), name))
    if stored is not None:
        return stored[1]
    if name in names:
        return inf.world.load(names)(name)
    if hasattr(builtins, name):
        raise Refused("a name that only builtins have")
    inf.world.missing(names, name)
    return None


def _attribute(inf: Path, owner: Operand, name: str) -> Operand | None:
    value = inf.type_of(owner)
    if not isinstance(value, Outside) or is_set_by_code(look(inf, value.cls, name)):
        raise Refused(f"the dictionary of {named(value)}")
    key = inf.final(owner)
    if (inf.assigned_as(key, name), name) not in inf.assigned and not inf.world.has(key, value.example, name):
        return None
    return inf.perform("getattr", [owner], name)
