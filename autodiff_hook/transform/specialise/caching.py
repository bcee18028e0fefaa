"""``functools.lru_cache`` of functions that a program makes: which keys it may have, and how many."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.semantics.equivalents import remembering
from autodiff_hook.transform.specialise.abstract import Abstract, Known
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Given, Inference
from autodiff_hook.transform.specialise.plans import known_as, pure


def require_room(count: int, limit: int) -> None:
    """Give up if a cache would forget something."""
    if count >= limit:
        raise Given("a cache is full")


def _with_room(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    count, limit = map(inf.type_of, args)
    if not isinstance(limit, Known):
        raise Refused("a cache whose size is not known")
    if limit.value is None:
        return known_as(inf, s, None)
    if isinstance(count, Known) and count.value >= limit.value:
        raise Refused("a cache is full")
    s.op, s.operands, s.data = "call", [Constant(require_room), *args], ()
    return pure(inf, s, Known(None))


def _constant(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    inf.program.reads_keys = True
    return known_as(inf, s, None)


QUESTIONS: Final[dict[Any, Any]] = dict.fromkeys((remembering.require_room, require_room), _with_room)
OF_ALL_WAYS: Final[dict[Any, Any]] = {remembering.require_constant: _constant}
