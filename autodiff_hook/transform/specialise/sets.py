"""Sets: real ones, whose order is their own. To who asks what may have a derivative, they are dicts without items."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import Args, Statement
from autodiff_hook.semantics.equivalents import changing
from autodiff_hook.transform.specialise import lists
from autodiff_hook.transform.specialise.abstract import BOOL, NOTHING, Abstract, Dict, Fresh, Known, Producer
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.dicts import any_key, enter, standing_for
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.lattice import SETS, is_set
from autodiff_hook.transform.specialise.plans import alias, pure
from autodiff_hook.transform.specialise.program import ITEMS, STORE
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS, item_of

_BY_ONE: Final = ("add", "discard", "remove")
_TAKING: Final = ("clear", "difference_update", "intersection_update")
_PUTTING: Final = ("update", "symmetric_difference_update")
_MAKING: Final = ("copy", "union", "difference", "intersection", "symmetric_difference")
_ASKING: Final = ("issubset", "issuperset", "isdisjoint")
_OPERATORS: Final = dict(zip("|^-&", (*_PUTTING, *_TAKING[1:])))


def method(inf: Inference, s: Statement, name: str, args: Args, names: tuple[str, ...]) -> Abstract | None:
    """``items.name(...)``."""
    owner = inf.type_of(s.operands[0])
    assert isinstance(owner, Dict)
    made = name in (*_MAKING, *_ASKING)
    if names or not made and (owner.site.cls is frozenset or name not in (*_BY_ONE, *_TAKING, *_PUTTING, "pop")):
        raise Refused(f"the method {name} of a set")
    kinds = list(map(inf.type_of, args))
    if name == "update" and len(args) == 1 and isinstance(kinds[0], (Producer, Fresh)):
        return inline_call(inf, s, changing.add_all, s.operands, {})
    keys = kinds if name in _BY_ONE else _keys(inf, kinds)
    if name in _ASKING:
        return pure(inf, s, BOOL)
    if made:
        return _new(inf, s, owner.site.cls, _keys(inf, [owner]) + keys)
    lists.require_own(inf, s, owner)
    for key in keys if name not in _TAKING else ():
        enter(inf, owner, key)
    inf.plans[s] = STORE
    return any_key(inf, owner) if name == "pop" else Known(None)


def _keys(inf: Inference, kinds: list[Abstract]) -> list[Abstract]:
    """What may come out of some sets or other iterables that no code of the program is behind."""
    if any(isinstance(kind, (Producer, Fresh)) for kind in kinds):
        raise Refused("a set is made of what code gives one by one")
    return [key for key in (item_of(inf, kind) for kind in kinds) if key != NOTHING]


def _new(inf: Inference, s: Statement, cls: type, keys: list[Abstract]) -> Dict:
    """A set that a statement makes."""
    kind = standing_for(inf, s, cls)
    for key in keys:
        enter(inf, kind, key)
    inf.plans[s] = ITEMS
    return kind


def made(inf: Inference, s: Statement) -> Abstract | None:
    """``{a, b}``."""
    return _new(inf, s, set, list(map(inf.type_of, s.operands)))


def step(inf: Inference, s: Statement) -> Abstract | None:
    """``items.add(x)`` and ``items.update(xs)`` of displays and comprehensions."""
    s.op, s.data = "call_method", (s.op.removeprefix("set_"), ())
    return inf.evaluate(inf, s)


def operation(inf: Inference, s: Statement) -> Abstract | None:
    """``a - b``, ``a |= b`` and the like of sets; None of something else."""
    first, second = map(inf.type_of, s.operands)
    if not (is_set(first) and is_set(second)) or s.data not in _OPERATORS or inf.one_way:
        return None
    cls = first.site.cls if isinstance(first, Dict) else frozenset
    if s.op == "binary" or cls is frozenset:
        return _new(inf, s, cls, _keys(inf, [first, second]))
    change = Statement("call_method", list(s.operands), None, (_OPERATORS[s.data], ()), s.position)
    inf.evaluate(inf, change)
    inf.insert(change)
    s.op, s.operands, s.data = "same", s.operands[:1], None
    return alias(inf, s, s.operands[0])


def compared(inf: Inference, s: Statement) -> Abstract | None:
    """``a <= b`` of sets; None of something else."""
    sets = not inf.one_way and all(is_set(inf.type_of(x)) for x in s.operands)
    return pure(inf, s, BOOL) if sets else None


def _called(cls: type) -> Any:
    def called(inf: Inference, s: Statement, args: Args) -> Abstract | None:
        """``set(xs)``."""
        return _new(inf, s, cls, _keys(inf, list(map(inf.type_of, args))))

    return called


OF_ALL_WAYS.update({cls: _called(cls) for cls in SETS})
