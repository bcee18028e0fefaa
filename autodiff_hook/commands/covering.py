"""Says of each public callable of modules and classes what is known of it.

A *rule*: a derivative is registered, or known by other means. *Own source*: Python code that lifts, and comes to
nothing that has no derivative. *In part*: Python code that may come to such, on some way. *Constant*: declared to have
no derivative. *Refused*: an error on purpose, if a gradient wants to pass. *Missing*: native code that nothing is known
of. Which of them take and give floats is not known: functions of text and files are listed, too. By default, the
modules that have rules.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from types import GetSetDescriptorType, ModuleType
from typing import Any, Final

from autodiff_hook.commands.inputs import BadInput, imported
from autodiff_hook.registry import registry

KINDS: Final = ("rule", "own source", "in part", "constant", "refused", "missing")
BEGINS_EMPTY: Final = "it makes an object that begins without numbers"
_KIND_OF: Final = {
    **{"rule": "rule", "constant": "constant", "refused": "refused", "native": "missing"},
    **dict.fromkeys(("source", "library", "not opted in"), "own source"),
}


@dataclass(slots=True)
class Coverage:
    """What is known of one module or class: the names of its public callables by kind."""

    module: str
    names: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    reasons: dict[str, str] = field(default_factory=dict)
    """Why names are constants, or refused."""
    obstacles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What own source may come to."""

    @property
    def total(self) -> int:
        return sum(map(len, self.names.values()))


def coverage(*modules: str) -> list[Coverage]:
    """What is known of the public callables of modules, and of classes: ``numpy.ndarray``.

    >>> (found,) = coverage("math")
    >>> "sin" in found.names["rule"], "floor" in found.names["missing"]
    (True, False)
    >>> found.reasons["floor"]
    'it is constant by steps'
    """
    # Where it runs: --help, and status on an interpreter that is not supported, do without the engine.
    from autodiff_hook.commands.reaching import Reach, standing

    reach = Reach([module.partition(".")[0] for module in modules])
    result = []
    for module in modules:
        found = Coverage(module)
        for name, value in _public(_owner(module)):
            kind = _KIND_OF[standing(value)]
            if kind == "own source" and (obstacles := reach.obstacles(value)):
                kind, found.obstacles[name] = "in part", obstacles
            if kind == "constant":
                found.reasons[name] = registry.reason(value) or BEGINS_EMPTY
            if kind == "refused":
                found.reasons[name] = f"it {registry.refusal(value)}"
            found.names[kind].append(name)
        result.append(found)
    return result


def _owner(name: str) -> Any:
    """The module of this name, or the class of a module."""
    home, _, last = name.rpartition(".")
    try:
        return imported(name)
    except BadInput:
        owner = getattr(imported(home), last, None) if home else None
        if not inspect.isclass(owner):
            raise
        return owner


def _public(owner: Any) -> Iterator[tuple[str, Any]]:
    return _of_class(owner) if inspect.isclass(owner) else _of_module(owner)


def _of_class(owner: type) -> Iterator[tuple[str, Any]]:
    """The public methods of a class, and the attributes that are computed."""
    for name in dir(owner):
        found = inspect.getattr_static(owner, name)
        value = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
        if not name.startswith("_") and (callable(value) or isinstance(value, GetSetDescriptorType)):
            yield name, value


def _of_module(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The callables that a module offers: no exceptions, and nothing that belongs to another package."""
    listed = getattr(module, "__all__", None)
    names = [name for name in vars(module) if not name.startswith("_")] if listed is None else listed
    for name in sorted(set(names)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(module, name, None)
        if callable(value) and not _is_exception(value) and (listed is not None or _belongs(value, module)):
            yield name, value


def _is_exception(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)


def _belongs(value: Any, module: ModuleType) -> bool:
    home = getattr(value, "__module__", None)
    return not isinstance(home, str) or home.partition(".")[0].lstrip("_") == module.__name__.partition(".")[0]


def default_modules() -> list[str]:
    """The modules that have rules, as far as they are installed."""
    found = []
    for name in sorted({entry.name for entry in entry_points(group="autodiff_hook.rules")}):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        found.append(name)
    return found


def totals(found: Sequence[Coverage]) -> list[tuple[object, ...]]:
    """One row for each module, and one for all."""
    rows: list[tuple[object, ...]] = [("module", "callables", *KINDS)]
    rows += [(each.module, each.total, *(len(each.names[kind]) for kind in KINDS)) for each in found]
    if len(found) > 1:
        sums = [sum(len(each.names[kind]) for each in found) for kind in KINDS]
        rows.append(("total", sum(sums), *sums))
    return rows
