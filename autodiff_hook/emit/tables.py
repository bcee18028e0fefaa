"""The two tables beside the instructions of a code object: source locations and exception handlers.

CPython describes them in ``Objects/locations.md`` and ``Objects/exception_handling_notes.txt``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from autodiff_hook.ir.types import Position

_NO_COLUMNS: Final = 13
_LONG: Final = 14
_NO_LOCATION: Final = 15
_ENTRY_UNITS: Final = 8


def location_table(first_line: int, positions: Iterable[Position | None], sizes: Iterable[int]) -> bytes:
    """``co_linetable`` for instructions of these sizes; one without a position has that of the one before it."""
    table = bytearray()
    line = first_line
    current = seen = Position(first_line, None, None, None)
    units = 0
    for position, size in zip(positions, sizes):
        location = current
        if position is not None and position is not seen:
            seen = position
            location = _sound(position)
        if location == current and current.line is not None:
            units += size
            continue
        if units:
            line = _write(table, units, line, current)
        current, units = location, size
    if units:
        _write(table, units, line, current)
    return bytes(table)


def _sound(position: Position) -> Position:
    """The position, or its line alone if the table cannot express the rest."""
    line, end_line, column, end_column = position
    if end_line is None and column is None and end_column is None:
        return position
    whole = line is not None and end_line is not None and column is not None and end_column is not None
    if whole and line >= 0 and end_line >= 1 and column >= 0 and end_column >= 0:  # type: ignore[operator]
        if line < end_line or (line == end_line and column <= end_column):  # type: ignore[operator]
            return position
    return Position(line, None, None, None)


def _write(table: bytearray, units: int, line: int, location: Position) -> int:
    """Add the entries of a run of instructions; the line that the next entry counts from."""
    while units > 0:
        _entry(table, min(units, _ENTRY_UNITS), line, location)
        if location.line is not None:
            line = location.line
        units -= _ENTRY_UNITS
    return line


def _entry(table: bytearray, units: int, before: int, location: Position) -> None:
    line, end_line, column, end_column = location
    if line is None:
        table.append(_header(_NO_LOCATION, units))
    elif column is None or end_column is None or end_line is None:
        table.append(_header(_NO_COLUMNS, units))
        _signed(table, line - before)
    elif line == before and end_line == line and column < 72 and end_column - column <= 15:
        table.append(_header(column >> 3, units))
        table.append((column & 7) << 4 | end_column - column)
    elif 1 <= line - before <= 2 and end_line == line and column < 128 and end_column < 128:
        table += bytes((_header(10 + line - before, units), column, end_column))
    else:
        table.append(_header(_LONG, units))
        _signed(table, line - before)
        for number in (end_line - line, column + 1, end_column + 1):
            _unsigned(table, number)


def _header(code: int, units: int) -> int:
    return 0x80 | code << 3 | units - 1


def _signed(table: bytearray, number: int) -> None:
    _unsigned(table, -number << 1 | 1 if number < 0 else number << 1)


def _unsigned(table: bytearray, number: int) -> None:
    """Six bits at a time, the lowest first."""
    while number > 63:
        table.append(0x40 | number & 63)
        number >>= 6
    table.append(number)


def exception_table(regions: Iterable[tuple[int, int, int, int]], lasti: bool) -> bytes:
    """``co_exceptiontable``; regions are start, end, handler (in code units) and the depth of the stack there.

    With ``lasti`` the handlers find the place of the error below it.
    """
    table = bytearray()
    for start, end, target, depth in regions:
        first = len(table)
        for number in (start, end - start, target, depth << 1 | lasti):
            _high_first(table, number)
        table[first] |= 0x80
    return bytes(table)


def _high_first(table: bytearray, number: int) -> None:
    """Six bits at a time, the highest first."""
    for shift in range((max(number.bit_length(), 1) - 1) // 6 * 6, 0, -6):
        table.append(0x40 | number >> shift & 63)
    table.append(number & 63)
