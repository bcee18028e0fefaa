"""``functools.reduce`` as a loop."""

from __future__ import annotations

from typing import Any

from autodiff_hook.ir.types import Operand, Statement
from autodiff_hook.semantics.equivalents import iterating
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import inline_call
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.plans import items_of, spread


def reduced(inf: Inference, s: Statement, called: Any, args: list[Operand]) -> None:
    """Without a value to begin with, the items have to be known one by one."""
    if len(args) not in (2, 3):
        raise Refused("a call of functools.reduce")
    function, items, *initial = args
    if not initial:
        if not items_of(inf.type_of(items)):
            raise Refused("functools.reduce of items that are not known one by one")
        first, *rest = spread(inf, items)
        items, initial = inf.before(s, "build_tuple", rest), [first]
    inline_call(inf, s, iterating.reduced, [function, items, *initial], {})
