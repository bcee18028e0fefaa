"""Deques from outside: a program works on a copy, of a class in Python, and gives back what that has become."""

from __future__ import annotations

from collections import deque
from typing import Any

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.semantics.equivalents.deques import Deque
from autodiff_hook.transform.improve.shortcuts import effects
from autodiff_hook.transform.specialise.abstract import INT, Abstract, Dict, Known, Outside, Site
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import item_like
from autodiff_hook.transform.specialise.places import ask_for_copy
from autodiff_hook.transform.specialise.program import ITEMS, LOAD, PARTS

_ITEMS, _BEGIN, _CHANGES, _BOUND = (f"_{name}" for name in ("items", "begin", "changes", "bound"))


def queue(items: Abstract, value: Any) -> Dict:
    """What stands for a deque whose items are in a list."""
    site = Site()
    site.stand_for(Deque)
    bound = item_like(Known(value.maxlen))
    assert bound is not None
    site.named |= {_ITEMS: items, _BEGIN: INT, _CHANGES: INT, _BOUND: bound}
    return Dict(site, example=value)


def ask_for_queue(inf: Inference, owner: Operand) -> None:
    """A deque from outside is used: the program is followed again with a copy of it."""
    kind = inf.type_of(owner)
    if isinstance(kind, Outside) and kind.cls is deque and not inf.one_way:
        ask_for_copy(inf, inf.final(owner))


def copied(inf: Inference, here: Variable, own: Variable) -> tuple[list[Statement], list[Statement]]:
    """What makes the copy where the program begins, and what gives it back."""
    items, kind = inf.world.queues[here], inf.types[here]
    assert isinstance(kind, Dict)
    listed, left, begin = Variable(), Variable(), Variable()
    held = kind.site.named[_ITEMS]
    inf.types |= {listed: held, left: held, begin: kind.site.named[_BEGIN]}
    bound = Constant(inf.world.changing[here].maxlen)
    fields: dict[str, Operand] = {_ITEMS: listed, _BEGIN: Constant(0), _CHANGES: Constant(0), _BOUND: bound}
    parts: list[Operand] = [x for name, value in fields.items() for x in (Constant(name), value)]
    made = [Statement("getitem", [items, Constant(slice(None))], listed), Statement("build_map", parts, own)]
    loads = [Statement("getitem", [own, Constant(name)], x) for name, x in ((_ITEMS, left), (_BEGIN, begin))]
    inf.plans |= {made[0]: PARTS, made[1]: ITEMS, loads[0]: LOAD, loads[1]: LOAD}
    return made, [*loads, Statement("call", [Constant(give_back), here, left, begin], None, ())]


def give_back(value: Any, items: list[Any], begin: int) -> None:
    """Let a deque hold what the program has made of it."""
    left = items[begin:]
    if len(left) != len(value) or any([a is not b for a, b in zip(left, value)]):
        value.clear()
        value.extend(left)


effects(give_back)
