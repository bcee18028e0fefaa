"""What emitted code calls where no instruction serves: cells that are ordinary values."""

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


def _unbound(name: str) -> NoReturn:
    raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value") from None
