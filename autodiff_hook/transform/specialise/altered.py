"""Attributes that a program assigns to objects in lists from outside, and to arguments: they are assigned in place.

What the objects were is kept on entry, and put back where the program fails, and while the adjoint runs.
"""

from __future__ import annotations

from autodiff_hook.ir.types import Constant, Statement, Variable
from autodiff_hook.runtime.altering import Alter, leave
from autodiff_hook.runtime.altering import finish as altering_finished
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Instance,
    Known,
    Outside,
    Record,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import content_of, item_like
from autodiff_hook.transform.specialise.lists import maker
from autodiff_hook.transform.specialise.origins import holds
from autodiff_hook.transform.specialise.places import altered_of, argument_of
from autodiff_hook.transform.specialise.program import PURE, STORE, Alias


def write(inf: Inference, s: Statement, target: Record, name: str) -> Abstract:
    """``owner.name = value``."""
    place, site = altered_of(target.cls), target.site
    if not inf.outer.allowed:
        raise Refused(f"{name} of what is outside is assigned")
    if place not in inf.program.changed:
        own = argument_of(target)
        if own in inf.program.changed:
            raise Refused("an attribute of one of several objects is assigned")
        # An argument is followed again as an object of its own.
        place = own or place
        inf.wanted[place] = None
        inf.plans[s] = Alias(Constant(None))
        return Known(None)
    if not all(isinstance(getattr(x, "__dict__", None), dict) for x in site.examples) or name == "__dict__":
        raise Refused(f"the attribute {name} of objects without attributes of their own")
    before = site.named.get(name) or inf.world.attribute_kind(site.examples, name)
    kinds = [None if kind is None else item_like(kind) for kind in (before, inf.type_of(s.operands[1]))]
    if any(kind is None or isinstance(content_of(kind), (Reference, Tuple)) for kind in kinds):
        raise Refused(f"the attribute {name} of objects becomes something else")
    found = item_like(inf.joined(kinds[0], kinds[1]))  # type: ignore[arg-type]
    if found is None:
        raise Refused(f"the attribute {name} of objects becomes something else")
    inf.stale = inf.stale or found != site.named.get(name)
    site.named[name] = found
    _note(inf, target.cls, name, _is_changed(inf, s, name))
    inf.plans[s] = STORE
    return Known(None)


def _is_changed(inf: Inference, s: Statement, name: str) -> bool:
    """Whether this is the end of ``owner.name += value``, which changes an array."""
    owner, value = map(inf.final, s.operands)
    made = maker(inf, value)
    read = made is not None and made.op == "getattr" and made.data == name and inf.final(made.operands[0]) is owner
    return read and isinstance(inf.type_of(value), Array)


def _note(inf: Inference, cls: type, name: str, changes: bool) -> None:
    names = inf.outer.stored.setdefault(cls, {})
    if names.setdefault(name, changes) is not changes:
        raise Refused(f"the attribute {name} is assigned, and the array that it was is changed")


def settle(inf: Inference) -> list[Statement]:
    """What leaves the objects as they were until the end, and what ends it."""
    if not inf.outer.stored:
        return []
    for cls, names in inf.outer.stored.items():
        if any(isinstance(kind, Outside) and type(kind.example) is cls for kind in inf.types.values()):
            raise Refused("an object is known by itself, and changed in a list")
        if any(site.absent & names.keys() or "__dict__" in site.named for site in inf.merging.sites_of(cls)):
            raise Refused("an attribute of a class is assigned to its objects")
    changes = any(in_place for names in inf.outer.stored.values() for in_place in names.values())
    held = [v for v, kind in inf.types.items() if inf.is_from_outside(v) and holds(kind, changes)]
    altered = Variable("altered")
    begin = Statement("call", [Constant(Alter(inf.outer.stored)), *held], altered, ())
    away = Statement("call", [Constant(leave), altered], Variable(), ())
    inf.types[altered], inf.types[away.made] = Instance(list), Known(None)
    inf.plans.update({begin: PURE, away: PURE})
    inf.outer.first.statements.insert(0, begin)
    return [away, Statement("call", [Constant(altering_finished), altered], None, ())]
