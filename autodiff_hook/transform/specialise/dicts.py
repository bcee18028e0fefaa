"""Dicts; objects keep in one what is assigned to them again."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

from autodiff_hook.ir.types import Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import NOTHING, Abstract, Dict, Iterator, Known, Outside, Site, Tuple
from autodiff_hook.transform.specialise.bodies import Changes, Refused
from autodiff_hook.transform.specialise.families import TAG, family_of, tag_of
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import built_class, built_of, is_plain_key, item_like
from autodiff_hook.transform.specialise.lists import has_slots, put
from autodiff_hook.transform.specialise.program import ITEMS, LOAD, PURE, STORE, STRUCTURAL


def into_dict(inf: Inference, owner: Dict, key: Abstract, value: Abstract) -> None:
    """``items[key] = value``."""
    put(inf, owner, value, enter(inf, owner, key))


def enter(inf: Inference, owner: Dict, key: Abstract) -> str | None:
    """A dict or a set may have such a key; its name."""
    site, like, name = owner.site, item_like(key), name_of(key)
    after = like if site.key is None or like is None else inf.joined(site.key, like)
    inf.stale = inf.stale or after != site.key
    site.key = after
    return name


def name_of(key: Abstract) -> str | None:
    """The name that a key is; None for keys of which only the kind is known."""
    if isinstance(key, Known) and type(key.value) is str:
        return key.value
    if not is_plain_key(key):
        raise Refused("a key that may have methods of its own")
    return None


def item_of_dict(inf: Inference, owner: Dict, key: Abstract) -> Abstract:
    """What is known of the item of a dict by a key."""
    site, name = owner.site, name_of(key)
    present = site.kinds() if name is None else [x for x in (site.named.get(name), site.item) if x is not None]
    together = reduce(inf.joined, present) if present else None
    if together is None or item_like(together) is None:
        raise Refused("an item of a dict that is not known so far")
    return together


def load_slot(inf: Inference, s: Statement, owner: Operand, kind: Dict, name: str) -> Abstract:
    """An attribute, or an item by name, that a dict of the program holds for its owner."""
    inf.program.slots[s] = owner, name
    inf.plans[s] = LOAD
    return item_of_dict(inf, kind, Known(name))


def store_slot(inf: Inference, s: Statement, owner: Operand, kind: Dict, name: str, value: Operand) -> Abstract:
    """Such an attribute or item is assigned."""
    into_dict(inf, kind, Known(name), inf.type_of(value))
    inf.program.slots[s] = owner, name
    inf.plans[s] = STORE
    return Known(None)


def ask_for_any_key(inf: Inference, value: Abstract | None) -> None:
    """A dict or a list from outside is not asked for one item: the program is followed again, knowing any of them."""
    if not isinstance(value, Outside) or value.cls not in (dict, list) or inf.one_way:
        return
    name, place = value.cls.__name__, ("outside", id(value.example))
    if place in inf.program.changed:
        raise Refused(f"a {name} of several kinds of things is asked for more than known items")
    raise Changes(f"a {name} from outside is asked for more than known items", place)


def item_by_unknown_key(inf: Inference, s: Statement, owner: Tuple) -> Abstract:
    """``items[key]`` of a dict whose keys are known, by one that is not."""
    together = reduce(inf.joined, owner.items) if owner.items else None
    if together is not None and item_like(together) is not None and not has_slots(together):
        inf.plans[s] = LOAD
        return together
    if owner.place is None or inf.one_way:
        raise Refused("an item of a dict by an unknown key")
    raise Changes("an item of a dict that is written out is read by an unknown key", owner.place)


def is_empty(owner: Dict) -> bool:
    """Whether nothing is put into a dict so far."""
    return built_class(owner) is None and owner.site.key is None and not owner.site.kinds()


def any_key(inf: Inference, owner: Dict) -> Abstract:
    """What is known of the keys of a dict."""
    if built_class(owner) is not None:
        raise Refused("an iteration over an object")
    if owner.site.key is None or item_like(owner.site.key) is None:
        raise Refused("the keys of a dict")
    inf.program.reads_keys = True
    return owner.site.key


def view(inf: Inference, s: Statement, name: str) -> Abstract:
    """``items.keys()``, ``items.values()``, ``items.items()``."""
    kind = inf.type_of(s.operands[0])
    if isinstance(kind, Tuple) and kind.place is not None and not inf.one_way:
        raise Changes("the items of a dict that is written out are asked for", kind.place)
    if not isinstance(kind, Dict) or inf.one_way:
        raise Refused(f"dict.{name}")
    inf.plans[s] = PURE
    if is_empty(kind):
        return Iterator(NOTHING)
    key = any_key(inf, kind)
    if name == "keys":
        return Iterator(key)
    item = reduce(inf.joined, kind.site.kinds())
    return Iterator(item if name == "values" else Tuple((key, item)))


def called(inf: Inference, s: Statement, kwargs: Kwargs) -> Abstract | None:
    """``dict(a=..., b=...)``."""
    s.op, s.operands, s.data = "build_map", [x for name, value in kwargs.items() for x in (Constant(name), value)], None
    return inf.evaluate(inf, s)


def mapping(inf: Inference, s: Statement) -> Abstract:
    """``{"a": x, "b": y}``."""
    keys, values = [inf.type_of(x) for x in s.operands[::2]], [inf.type_of(x) for x in s.operands[1::2]]
    names = [key.value for key in keys if isinstance(key, Known) and type(key.value) in (str, int)]
    before = inf.types.get(s.made)
    written = s.position not in inf.program.changed and not isinstance(before, Dict)
    if written and (len(names) < len(keys) or len(set(names)) < len(names)):
        raise Changes("a dict of keys that are not known", s.position)
    if written:
        inf.plans[s] = STRUCTURAL
        return Tuple(tuple(values), dict, tuple(names), place=s.position)
    made = before if isinstance(before, Dict) else Dict(Site())
    for key, value in zip(keys, values):
        into_dict(inf, made, key, value)
    inf.plans[s] = ITEMS
    return made


def standing_for(inf: Inference, s: Statement, cls: type | frozenset[type], made_by: Any = None) -> Dict:
    """The dict that a statement makes, which the program takes for something of another class."""
    before = inf.types.get(s.made)
    made = before if isinstance(before, Dict) else Dict(Site())
    made.site.stand_for(cls, made_by)
    return made


def record(inf: Inference, cls: type, made: Variable) -> None:
    """Make the dict of those attributes of a new object that are assigned again, if there are some."""
    if made not in inf.records and any(type(place) is tuple and place[0] is cls for place in inf.program.changed):
        s = Statement("build_map", [], Variable("record"))
        inf.records[made] = s.made
        inf.insert(s, Dict(Site()), ITEMS)


def built(inf: Inference, s: Statement, cls: type) -> Dict | None:
    """An object of a class that is put into lists: a dict that stands for it. None for other classes."""
    return standing_object(inf, s, cls) if built_of(cls) in inf.program.changed else None


def standing_object(inf: Inference, s: Statement, cls: type) -> Dict:
    """A dict that stands for an object of a class, which may be one of a family."""
    family = family_of(inf.program.changed, cls)
    s.op, s.operands, s.data = "build_map", [], None
    inf.plans[s] = ITEMS
    if family is None:
        return standing_for(inf, s, cls)
    s.operands = [Constant(TAG), Constant(tag_of(cls))]
    made = standing_for(inf, s, family)
    into_dict(inf, made, Known(TAG), Known(tag_of(cls)))
    return replace(made, among=frozenset({cls}))
