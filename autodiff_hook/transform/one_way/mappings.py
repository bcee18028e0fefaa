"""Dicts of the standard library on one way: ``defaultdict``, ``OrderedDict`` and ``Counter``."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand
from autodiff_hook.runtime.kinds import DICTS
from autodiff_hook.semantics.equivalents.ordering import count_in
from autodiff_hook.transform.one_way.containers import as_key, pairs, pairs_for, parts
from autodiff_hook.transform.one_way.methods import METHODS
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import Abstract, Container, Fresh, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.wording import named

LAST: Final = ("last",)
"""The names of the arguments of methods that say which end they mean."""


def make(inf: Path, cls: type, args: Args, kwargs: Kwargs) -> Abstract:
    """``cls(…)`` of one of ``DICTS``."""
    factory: Operand | None = None
    if cls is defaultdict and args:
        factory, *args = args
    if len(args) > 1:
        raise Refused(f"{cls.__name__} of several values")
    if cls is Counter:
        made = inf.made(cls, {})
        for source in args:
            _count(inf, made, [source])
        _add(inf, made, kwargs.items())
        return inf.type_of(made)
    content = pairs_for(inf, cls, args[0]) if args else {}
    made = inf.made(cls, {**content, **kwargs})
    if factory is not None:
        inf.set_factory(made, factory)
    return inf.type_of(made)


def _count(inf: Path, owner: Operand, args: Args) -> Operand:
    """``Counter.update``."""
    for source in args:
        if _is_of_dict(inf.type_of(source)):
            _add(inf, owner, pairs(inf, source).items())
        else:
            _add(inf, owner, [(as_key(inf, item), Constant(1)) for item in parts(inf, source)])
    return Constant(None)


def _is_of_dict(value: Abstract) -> bool:
    if isinstance(value, (Fresh, Outside)) and issubclass(value.cls, Mapping) and not issubclass(value.cls, dict):
        raise Refused(f"the items of {named(value)} are counted")
    return isinstance(value, (Container, Tuple, Fresh, Outside)) and issubclass(value.cls, dict)


def _add(inf: Path, owner: Operand, found: Iterable[tuple[Any, Operand]]) -> None:
    held = inf.changed(owner)
    for key, count in list(found):
        held[key] = inf.perform("binary", [held[key], count], "+") if key in held else count


def _most_common(inf: Path, owner: Operand, args: Args) -> Operand:
    items = inf.perform("call_method", [owner], ("items", ()))
    options: dict[str, Operand] = {"key": Constant(count_in), "reverse": Constant(True)}
    ordered = parts(inf, inf.call(Constant(sorted), [items], options))
    count = inf.pin(args[0]) if args else None
    return inf.made(list, ordered if count is None else ordered[: max(count, 0)])


def _total(inf: Path, owner: Operand, args: Args) -> Operand:
    return inf.call(Constant(sum), [inf.perform("call_method", [owner], ("values", ()))])


def _copy(inf: Path, owner: Operand, args: Args) -> Operand:
    return inf.made_like(owner, dict(inf.content(owner)))


def _pop_item(inf: Path, owner: Operand, args: Args) -> Operand:
    held = inf.changed(owner)
    if not held:
        raise Raised(KeyError("dictionary is empty"))
    key = next(reversed(held)) if not args or inf.pin(args[0]) else next(iter(held))
    return inf.perform("build_tuple", [inf.shown(key), held.pop(key)])


def _move(inf: Path, owner: Operand, args: Args) -> Operand:
    held, key = inf.changed(owner), as_key(inf, args[0])
    if key not in held:
        raise Raised(KeyError(key))
    item = held.pop(key)
    rest = dict(held)
    last = len(args) == 1 or inf.pin(args[1])
    held.clear()
    held.update(rest | {key: item} if last else {key: item} | rest)
    return Constant(None)


_SHARED: Final = (
    *("get", "pop", "setdefault", "keys", "values", "items", "update", "clear"),
    *("__setitem__", "__getitem__", "__contains__"),
)
METHODS.update({(cls, name): METHODS[dict, name] for cls in DICTS for name in _SHARED})
METHODS.update({(cls, "copy"): _copy for cls in DICTS})
METHODS.update({(cls, "popitem"): _pop_item for cls in DICTS})
METHODS[OrderedDict, "move_to_end"] = _move
METHODS.update({(Counter, "update"): _count, (Counter, "most_common"): _most_common, (Counter, "total"): _total})
