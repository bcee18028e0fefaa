"""Closure cells, globals and displays."""

from __future__ import annotations

import builtins
from types import CellType, ModuleType
from typing import Any

from autodiff_hook.algebras.shadows import Algebra, Result, ended, keep, keep_all, keep_keys, load, note_kept, note_made
from autodiff_hook.ir.types import UNBOUND


def global_loaded(alg: Algebra, t: Any, name: str, value: Any, globals_: dict[str, Any]) -> Result:
    """Note the load of a global variable, or of a builtin, that may have been stored to."""
    return value, load(alg, namespace_of(name, globals_), name, value)


def imported(alg: Algebra, t: Any, name: str, value: Any, module: Any) -> Result:
    """Note what ``from module import name`` has found: an attribute of the module that may have been stored to."""
    return value, load(alg, module.__dict__, name, value) if isinstance(module, ModuleType) else None


def namespace_of(name: str, globals_: dict[str, Any]) -> dict[str, Any]:
    """Where a global variable is found: in its module, or among the builtins."""
    if name in globals_:
        return globals_
    found = globals_.get("__builtins__", builtins)
    return found if type(found) is dict else vars(found)


def store_global(alg: Algebra, t: Any, name: str, value: Any, globals_: dict[str, Any]) -> Result:
    """Rebind a global variable."""
    globals_[name] = value
    keep(alg, globals_, name, t[0])
    note_kept(alg, globals_, name, value)
    return None, None


def make_cell(alg: Algebra, t: Any, data: Any, value: Any) -> Result:
    """A new closure cell."""
    cell = CellType() if value is UNBOUND else CellType(value)
    keep(alg, cell, 0, t[0])
    note_made(alg, cell)
    return cell, None


def cell_get(alg: Algebra, t: Any, name: str, cell: Any) -> Result:
    """What a closure cell holds."""
    try:
        value = cell.cell_contents
    except ValueError:
        raise NameError(
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        ) from None
    return value, load(alg, cell, 0, value)


def cell_set(alg: Algebra, t: Any, name: str, cell: Any, value: Any) -> Result:
    """Rebind a captured variable."""
    cell.cell_contents = value
    keep(alg, cell, 0, t[1])
    if t[1] is None:
        alg.lifetimes.note(cell, value)
        ended(alg)
    note_kept(alg, cell, 0, value)
    return None, None


def function_made(alg: Algebra, t: Any, data: Any, function: Any, defaults: Any) -> Result:
    """Note the default values of a new function, which are slots of it."""
    if t[0] is not None:
        keep_all(alg, function, dict(enumerate(t[0])))
    note_made(alg, function)
    return function, None


def build_list(alg: Algebra, t: Any, data: Any, *items: Any) -> Result:
    """A list display."""
    result = list(items)
    keep_all(alg, result, list(t))
    note_made(alg, result)
    return result, None


def build_slice(alg: Algebra, t: Any, data: Any, *parts: Any) -> Result:
    """``start:stop:step``."""
    result = slice(*parts)
    names = ("stop",) if len(parts) == 1 else ("start", "stop", "step")
    keep_all(alg, result, dict(zip(names, t)))
    note_made(alg, result)
    return result, None


def build_set(alg: Algebra, t: Any, data: Any, *items: Any) -> Result:
    """A set display."""
    result = set(items)
    keep_all(alg, result, dict(zip(items, t)))
    note_made(alg, result)
    return result, None


def build_map(alg: Algebra, t: Any, data: Any, *items: Any) -> Result:
    """A dict display."""
    keys = items[::2]
    result = dict(zip(keys, items[1::2]))
    keep_all(alg, result, dict(zip(keys, t[1::2])))
    note_made(alg, result)
    keep_keys(alg, result, keys, t[::2])
    return result, None
