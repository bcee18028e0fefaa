"""``a, b = items`` and ``a, *b = items``."""

from __future__ import annotations

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise import lists
from autodiff_hook.transform.specialise.abstract import INT, Abstract, Array, List, Number
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.following import one_by_one
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.plans import alias, items_of, spread


def unpack(inf: Inference, s: Statement) -> Abstract | None:
    """``a, b = items``: a tuple of the parts."""
    before, after = s.data
    made = one_by_one(inf, s, s.operands[0])
    if made is not None:
        return inf.evaluate(inf, made)
    owner = inf.type_of(s.operands[0])
    if isinstance(owner, List) and after is None:
        return lists.taken_apart(inf, s, owner, before)
    if isinstance(owner, List):
        s.op = "unpack_rest"
        _require_length(inf, s, before + after, ">=")
        return None
    if isinstance(owner, Array) and owner.ndim and not owner.scalar and after is None:
        s.op, s.data = "check", None
        _require_length(inf, s, before, "==")
        return None
    items = items_of(owner)
    if items is None or (len(items) != before if after is None else len(items) < before + after):
        raise Refused("unpacking of what is not a tuple of known length")
    if after is None:
        return alias(inf, s, s.operands[0])
    parts = spread(inf, s.operands[0])
    rest = inf.before(s, "build_list", parts[before : len(parts) - after])
    return _put_together(inf, s, [*parts[:before], rest, *parts[len(parts) - after :]])


def with_rest(inf: Inference, s: Statement) -> Abstract | None:
    """``a, *b, c = items`` of a list that is long enough."""
    before, after = s.data
    owner = s.operands[0]
    places = [*range(before), slice(before, -after or None), *range(-after, 0)]
    return _put_together(inf, s, [inf.before(s, "getitem", [owner, Constant(place)]) for place in places])


def _put_together(inf: Inference, s: Statement, parts: list[Operand]) -> Abstract | None:
    s.op, s.operands, s.data = "build_tuple", parts, None
    return inf.evaluate(inf, s)


def _require_length(inf: Inference, s: Statement, count: int, fits: str) -> None:
    """Give up if what is taken apart has another length."""
    assert inf.block is not None
    length, holds = Statement("call", [Constant(len), s.operands[0]], Variable(), ()), Variable()
    inf.types[length.made] = Number(INT.types, example=count)
    test = Statement("compare", [length.made, Constant(count)], holds, fits)
    inf.ensure(inf.block, [length, test], f"it is not unpacked to {count} items", s.position)
