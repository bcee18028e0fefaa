"""Calls through which no derivative goes, on one way.

Questions to Python code that is not in scope: it is followed, as what it answers holds no derivative. Ufuncs that have
no rule, of values that have none: they only compute.
"""

from __future__ import annotations

from collections import deque
from copy import copy
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Statement
from autodiff_hook.registry import registry
from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_hook.transform.one_way.caching import is_active
from autodiff_hook.transform.one_way.containers import known_value
from autodiff_hook.transform.one_way.hashes import effects
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import BOOL, Abstract, Array, Fresh, Known, Number, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.plans import alias, pure
from autodiff_hook.transform.specialise.ruled import is_pure, result_of
from autodiff_hook.transform.specialise.wording import named


def asked(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``is_frame(x)`` of another package; None if a callable is in scope, or something is declared of it.

    ``np.isscalar(x)`` and what else is declared to be constant is asked, too, about what such code would look into.
    """
    if type(function) is not FunctionType:
        return None
    is_constant = registry.is_constant(function)
    if is_constant:
        if not (is_pure(function) and any(_is_looked_into(inf.type_of(x)) for x in (*args, *kwargs.values()))):
            return None
    elif not inf.world.is_foreign(function) or registry.has_rules(function) or registry.refusal(function) is not None:
        return None
    before = _Before(inf)
    inf.world.asking = True
    try:
        if is_constant:
            inline_call(inf, s, function, args, kwargs)
            answer = inf.inlined
        else:
            answer = inf.call(Constant(function), args, kwargs)
    except Raised:
        if before.is_changed():
            raise Refused(f"a call of {named(function)}, which is not in scope and stores something") from None
        raise
    finally:
        inf.world.asking = False
    is_answer = inf.type_of(answer) == BOOL or isinstance(known_value(inf, answer), _ANSWERS)
    if not is_answer or before.is_changed():
        raise Refused(f"a call of {named(function)}, which is not in scope and does more than answer")
    return alias(inf, s, answer)


def _is_looked_into(value: Abstract) -> bool:
    """Whether a value is an object, or a list or a dict from outside: native code would see what it holds."""
    return isinstance(value, (Fresh, Outside))


_ANSWERS: Final = (type(None), bool, str, int, float)


class _Before:
    """What there was before a question was asked: what is made for the answer may be changed."""

    def __init__(self, inf: Path) -> None:
        self._inf, self._known, self._versions, self._effects = inf, {*inf.types}, {*inf.versions}, effects(inf)
        self._begun, self._cells = {*inf.objects, *inf.contents}, [*inf.cells.items()]
        stores: tuple[dict[Any, Any], ...] = (inf.objects, inf.contents)
        kept = (list, dict, set, deque)
        self._held = [(x, key, copy(held)) for x in stores for key, held in x.items() if isinstance(held, kept)]

    def is_changed(self) -> bool:
        """Whether something of that is another one now."""
        inf = self._inf
        replaced = not self._known.isdisjoint(inf.versions.keys() - self._versions)
        begun = {*inf.objects, *inf.contents} - self._begun
        replaced = replaced or not self._known.isdisjoint(begun)
        changed = any(store.get(key) != held for store, key, held in self._held)
        changed = changed or any(inf.cells.get(cell) is not value for cell, value in self._cells)
        return replaced or changed or effects(inf) != self._effects


def computed(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``ufunc(x, y)``; None if that is no such call, or one that a derivative would have to pass."""
    if type(function) is not np.ufunc or kwargs or id(function) in DEFINITIONS:
        return None
    if registry.has_rules(function) or registry.is_constant(function):
        return None
    kinds = [inf.type_of(x) for x in args]
    if not all(isinstance(kind, (Known, Number, Array)) for kind in kinds) or is_active(inf, args):
        return None
    s.op, s.operands, s.data = "call", [Constant(function), *map(inf.present, args)], ()
    return pure(inf, s, result_of(inf, function, kinds, {}, constant=True))
