"""Methods of lists, dicts, sets and tuples, be they made step by step or known in their parts."""

from __future__ import annotations

from typing import Final

from autodiff_hook.ir.types import Args, Statement
from autodiff_hook.transform.specialise import changing, dicts, lists, sets
from autodiff_hook.transform.specialise.abstract import Abstract, Dict, Known, List, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import is_set
from autodiff_hook.transform.specialise.plans import alias, items_of, part_of, spread
from autodiff_hook.transform.specialise.wording import named

VIEWS: Final = ("keys", "values", "items")


def method_call(
    inf: Inference, s: Statement, value: Dict | List | Tuple, name: str, args: Args, names: tuple[str, ...]
) -> Abstract | None:
    """``owner.name(...)``."""
    owner = s.operands[0]
    if isinstance(value, Dict) and is_set(value):
        return sets.method(inf, s, name, args, names)
    if isinstance(value, List) and name == "append" and len(args) == 1 and not names:
        if s.result is not None:
            inf.types[s.result] = Known(None)
        s.op, s.operands, s.data, s.result = "list_append", [owner, args[0]], None, None
        return inf.evaluate(inf, s)
    if isinstance(value, List) and name == "extend" and len(args) == 1 and not names and not inf.one_way:
        if items_of(inf.type_of(args[0])) is not None:
            lists.extend(inf, s, owner, spread(inf, args[0]))
            return inf.evaluate(inf, s)
    if isinstance(value, List) and name == "pop" and not args and not inf.one_way:
        return lists.pop(inf, s)
    if name in VIEWS and not args and not inf.one_way:
        if isinstance(value, Dict) or isinstance(value, Tuple) and value.cls is dict:
            return dicts.view(inf, s, name)
    if isinstance(value, List) and name == "copy" and not args:
        found = lists.copy_of(inf, s, owner)
        if found is not None:
            return found
    if isinstance(value, Tuple) and (name in ("append", "extend") or name == "pop" and not args):
        lists.ask_for_changes(inf, owner)
    code = changing.method(inf, s, name, args, names)
    if code is not None:
        return changing.followed(inf, s, code, args, names)
    if isinstance(value, Tuple) and value.cls is dict and name in ("get", "pop") and not names and len(args) < 3:
        return _looked_up(inf, s, value, name, args)
    raise Refused(f"the method {name} of {named(value)}")


def _looked_up(inf: Inference, s: Statement, value: Tuple, name: str, args: Args) -> Abstract | None:
    """``items.get(key, default)`` of a dict that is known in its parts."""
    key = inf.type_of(args[0])
    if name == "get" and not isinstance(key, Known):
        lists.ask_for_changes(inf, s.operands[0])
    if isinstance(key, Known) and (key.value in value.keys or len(args) == 2) and name == "get":
        if key.value in value.keys:
            return part_of(inf, s, value.items, value.keys.index(key.value))
        return alias(inf, s, args[1])
    raise Refused(f"dict.{name}")
