"""Displays with stars, ``(a, *b)``, ``[*a, b]``, ``{**a, "k": b}``, and arguments of calls like ``f(a, *b, **c)``.

What they spread is known in its parts, or as many as a call has room for; then they are written out. Else they are
made step by step: a list is extended, a dict updated by one of any keys. What takes sequences apart, ``a, *b = items``,
knows how many items there are.
"""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise import lists
from autodiff_hook.transform.specialise.abstract import INT, Abstract, Array, Dict, Known, List, Number, Tuple
from autodiff_hook.transform.specialise.bodies import Changes, Refused
from autodiff_hook.transform.specialise.following import one_by_one
from autodiff_hook.transform.specialise.gathering import STEPS
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lengths import arity, of_one_length
from autodiff_hook.transform.specialise.plans import alias, items_of, spread


def star(inf: Inference, s: Statement) -> Abstract | None:
    """What is spread: a tuple or a dict that is known in its parts, or a list of so many items as there have to be."""
    operand = of_one_length(inf, s.operands[0], _room(inf, s))
    kind = inf.type_of(operand)
    known = items_of(kind) is not None
    step, place = s.data
    if not known and step == "list_extend":
        raise Changes("a list of any length is spread into one that is written out", place)
    if step in STEPS["build_map"]:
        known = isinstance(kind, Tuple) and kind.cls is dict
    if step == "dict_update" and isinstance(kind, Dict):
        raise Changes("a dict of any keys is spread into one that is written out", place)
    if not known:
        raise Refused("what a star spreads is not known in its parts")
    s.operands = [operand]
    return alias(inf, s, operand)


def _room(inf: Inference, s: Statement) -> int | None:
    """For how many items a call has room beside its other arguments, all of which are known."""
    following = inf.block.statements[inf.index :]
    whole = next((x for x in following if x.op == "display" and s.result in x.operands), None)
    if whole is None or whole.data[0] != "build_tuple":
        return None
    call = next((x for x in following if x.op == "call_ex" and x.operands[1] is whole.result), None)
    count = None if call is None else arity(inf, call.operands[0], _names(following, call.operands[2]))
    for operand, starred in zip(whole.operands, whole.data[1]):
        if operand is not s.result and count is not None:
            parts = items_of(inf.type_of(operand)) if starred else (operand,)
            count = None if parts is None else count - len(parts)
    return count if count is not None and count >= 0 else None


def _names(statements: list[Statement], keywords: Operand) -> Any:
    """What a call names that is to come; None if that is not written out."""
    if isinstance(keywords, Constant):
        return ()
    made = next((x for x in statements if x.op == "build_map" and x.result is keywords), None)
    keys = [] if made is None else [x.value for x in made.operands[::2] if isinstance(x, Constant)]
    return keys if made is not None and 2 * len(keys) == len(made.operands) else None


def display(inf: Inference, s: Statement) -> Abstract | None:
    """A display whose stars are known in their parts: it is written out."""
    kind, stars = s.data
    s.op, s.data = kind, None
    if kind == "build_map":
        s.operands = _entries(inf, s.operands, stars)
        return inf.evaluate(inf, s)
    parts: list[Operand] = []
    for operand, starred in zip(s.operands, stars):
        parts += spread(inf, operand) if starred else [operand]
    s.operands = parts
    return inf.evaluate(inf, s)


def updated(inf: Inference, s: Statement) -> Abstract | None:
    """A dict in a display that is made step by step."""
    s.op, s.data = "call_method", ("update", ())
    return inf.evaluate(inf, s)


def extended(inf: Inference, s: Statement) -> Abstract | None:
    """A list in a display that is made step by step."""
    s.op, s.data = "call_method", ("extend", ())
    return inf.evaluate(inf, s)


def finished(inf: Inference, s: Statement) -> Abstract | None:
    """The arguments of a call, or a tuple, that were made step by step."""
    s.op, s.operands, s.data = "call", [Constant(tuple), *s.operands], ()
    return inf.evaluate(inf, s)


def _entries(inf: Inference, operands: list[Operand], stars: tuple[str, ...]) -> list[Operand]:
    """Keys and values of a dict, each key once."""
    count = stars.count("")
    entries: dict[Any, tuple[Operand, Operand]] = {}
    for key, value in zip(operands[:count:2], operands[1:count:2]):
        if not isinstance(key, Constant):
            raise Refused("a dict with stars and a key that is not written out")
        entries[key.value] = key, value
    for operand, star in zip(operands[count:], stars[count:]):
        whole = inf.type_of(operand)
        assert isinstance(whole, Tuple)
        if star == "dict_merge" and not entries.keys().isdisjoint(whole.keys):
            raise Refused("a keyword that is given twice")
        values = spread(inf, operand, whole.keys)
        entries |= {k: (Constant(k), v) for k, v in zip(whole.keys, values)}
    return [x for entry in entries.values() for x in entry]


def joined(inf: Inference, s: Statement) -> Abstract | None:
    """``a + b`` and ``a * n`` of tuples whose parts are known; None of what else there is."""
    a, b = s.operands
    kinds = [inf.type_of(a), inf.type_of(b)]
    if s.data == "+" and all(map(_is_tuple, kinds)):
        parts = [*spread(inf, a), *spread(inf, b)]
    elif s.data == "*" and _is_tuple(kinds[0]) and isinstance(kinds[1], Known) and type(kinds[1].value) is int:
        if kinds[1].value * len(items_of(kinds[0]) or ()) > _LONGEST:
            return None
        parts = spread(inf, a) * kinds[1].value
    else:
        return None
    s.op, s.operands, s.data = "build_tuple", list(parts), None
    return inf.evaluate(inf, s)


_LONGEST: Final = 32
"""How long tuples are that are written out."""


def _is_tuple(value: Abstract) -> bool:
    """Whether a value is a tuple whose parts are known, of no class of its own."""
    plain = isinstance(value, Known) or isinstance(value, Tuple) and value.cls is tuple
    return plain and items_of(value) is not None


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
    length, holds = Statement("call", [Constant(len), s.operands[0]], Variable(), ()), Variable()
    inf.types[length.made] = Number(INT.types, example=count)
    test = Statement("compare", [length.made, Constant(count)], holds, fits)
    inf.traps.ensure(inf.block, [length, test], f"it is not unpacked to {count} items", s.position)
