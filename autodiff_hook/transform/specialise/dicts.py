"""Dicts that the program makes and changes; objects keep in one what is assigned to them again."""

from __future__ import annotations

from functools import reduce

from autodiff_hook.ir.types import Statement, Variable
from autodiff_hook.transform.specialise.abstract import Abstract, Known, OwnDict, Tuple, inert_class, join, number_types
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import ITEMS, STRUCTURAL, Inference
from autodiff_hook.transform.specialise.lists import item_like, put, slot_of


def into_dict(inf: Inference, owner: OwnDict, key: Abstract, value: Abstract) -> None:
    """``items[key] = value``."""
    known = key.value if isinstance(key, Known) and type(key.value) is str else None
    if known is None and number_types(key) is None and inert_class(key) is None:
        raise Refused("a key that may have methods of its own")
    put(inf, owner, value, known)


def item_of_dict(inf: Inference, owner: OwnDict, key: Abstract) -> Abstract:
    """What is known of the item of a dict by a key."""
    if isinstance(key, Known) and type(key.value) is str:
        found = [inf.items.get(slot_of(owner, name)) for name in (key.value, None)]
    else:
        found = [value for slot, value in inf.items.items() if type(slot) is tuple and slot[0] is owner.made]
    present = [x for x in found if x is not None]
    together = reduce(join, present) if present else None
    if together is None or item_like(together) is None:
        raise Refused("an item of a dict that is not known so far")
    return together


def mapping(inf: Inference, s: Statement) -> Abstract:
    """``{"a": x, "b": y}``."""
    assert s.result is not None
    keys, values = [inf.type_of(x) for x in s.operands[::2]], [inf.type_of(x) for x in s.operands[1::2]]
    names = [key.value for key in keys if isinstance(key, Known) and type(key.value) in (str, int)]
    if len(names) < len(keys) or len(set(names)) < len(names):
        raise Refused("a dict of keys that are not known")
    before = inf.types.get(s.result)
    if s.position not in inf.program.changed and not isinstance(before, OwnDict):
        inf.plans[s] = STRUCTURAL
        return Tuple(tuple(values), dict, tuple(names))
    made = before if isinstance(before, OwnDict) else OwnDict(s.result)
    for key, value in zip(keys, values):
        into_dict(inf, made, key, value)
    inf.plans[s] = ITEMS
    return made


def record(inf: Inference, cls: type, made: Variable) -> Statement | None:
    """What makes the dict of those attributes of a new object that are assigned again; None if there are none."""
    if not any(type(place) is tuple and place[0] is cls for place in inf.program.changed):
        return None
    s = Statement("build_map", [], Variable("record"))
    assert s.result is not None
    inf.plans[s], inf.types[s.result], inf.records[made] = ITEMS, OwnDict(s.result), s.result
    return s
