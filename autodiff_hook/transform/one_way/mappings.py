"""Dicts of the standard library on one way: ``defaultdict``, ``OrderedDict`` and ``Counter``."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand
from autodiff_hook.runtime.kinds import DICTS
from autodiff_hook.semantics.equivalents import changing
from autodiff_hook.transform.one_way.containers import as_key, pairs, pairs_for, parts
from autodiff_hook.transform.one_way.methods import METHODS
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import Abstract, Container, Fresh, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.wording import named

LAST: Final = ("last",)
"""The names of the arguments of methods that say which end they mean."""


def make(inf: Path, cls: type, args: Args, kwargs: Kwargs) -> Abstract:
    """``cls(…)`` of one of ``DICTS``."""
    factory: Operand | None = None
    if cls is defaultdict and args:
        factory, *args = args
        if number_types(inf.type_of(factory)) is not None:
            raise Raised(TypeError("first argument must be callable or None"))
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


def _copy(inf: Path, owner: Operand, args: Args) -> Operand:
    return inf.made_like(owner, dict(inf.content(owner)))


def _by_definition(code: Any) -> Any:
    """A method of which a definition in Python code is followed."""
    return lambda inf, owner, args: inf.call(Constant(code), [owner, *args])


_SHARED: Final = (
    *("get", "pop", "setdefault", "keys", "values", "items", "update", "clear"),
    *("__setitem__", "__getitem__", "__contains__"),
)
METHODS.update({(cls, name): METHODS[dict, name] for cls in DICTS for name in _SHARED})
METHODS.update({(cls, "copy"): _copy for cls in DICTS})
METHODS.update({(cls, "popitem"): _by_definition(changing.last_taken) for cls in DICTS})
METHODS[OrderedDict, "popitem"] = _by_definition(changing.end_taken)
METHODS[OrderedDict, "move_to_end"] = _by_definition(changing.move_to_end)
METHODS[Counter, "update"] = _count
METHODS[Counter, "most_common"] = _by_definition(changing.most_common)
METHODS[Counter, "total"] = _by_definition(changing.total)
