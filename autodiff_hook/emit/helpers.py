"""What emitted code calls where no instruction serves: cells and exits that are ordinary values."""

from __future__ import annotations

from types import CellType
from typing import Any, NoReturn

from autodiff_hook.ir.types import UNBOUND


def make_cell(value: Any) -> CellType:
    """A cell, empty if ``value`` is UNBOUND."""
    return CellType() if value is UNBOUND else CellType(value)


def cell_get(cell: CellType, name: str) -> Any:
    """The content of a cell."""
    try:
        return cell.cell_contents
    except ValueError:
        _unbound(name)


def cell_set(cell: CellType, name: str, value: Any) -> None:
    """Fill a cell."""
    cell.cell_contents = value


def cell_del(cell: CellType, name: str) -> None:
    """Empty a cell."""
    cell_get(cell, name)
    del cell.cell_contents


def exit_of(manager: Any) -> Any:
    """The bound exit of a context manager."""
    found = _special(manager, "__exit__")
    if found is UNBOUND:
        with manager:  # says what is missing
            pass
    return found


def async_exit_of(manager: Any) -> Any:
    """The bound exit of an asynchronous context manager."""
    found = _special(manager, "__aexit__")
    if found is UNBOUND:
        _enter_async(manager).send(None)
    return found


async def _enter_async(manager: Any) -> None:
    async with manager:  # says what is missing
        pass


def _special(manager: Any, name: str) -> Any:
    """A method that is looked up on the type, as a with statement does."""
    cls = type(manager)
    for base in cls.__mro__:
        if name in base.__dict__:
            method = base.__dict__[name]
            bind = getattr(type(method), "__get__", None)
            return method if bind is None else bind(method, manager, cls)
    return UNBOUND


def _unbound(name: str) -> NoReturn:
    raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value") from None
