"""Text for a terminal, as wide as that."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence


def width() -> int:
    """The columns of the terminal."""
    return shutil.get_terminal_size().columns


def table(rows: Sequence[Sequence[object]], right: Iterable[int] = (), indent: int = 0) -> list[str]:
    """Rows with aligned columns, those in ``right`` to the right; the first one gives way where they do not fit.

    Before the rows comes an ``indent``, which is the caller's.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    columns = [max(map(len, column)) for column in zip(*cells)]
    if not columns:
        return []
    rest = sum(columns[1:]) + 2 * (len(columns) - 1) + indent
    columns[0] = max(min(columns[0], width() - rest), 8)
    return [_row(row, columns, frozenset(right), width() - indent) for row in cells]


def _row(row: list[str], columns: list[int], right: frozenset[int], most: int) -> str:
    parts = [
        end_of(cell, size).rjust(size) if index in right else end_of(cell, size).ljust(size)
        for index, (cell, size) in enumerate(zip(row, columns))
    ]
    return clipped("  ".join(parts).rstrip(), most)


def end_of(name: str, size: int) -> str:
    """A dotted name that fits; its end says more than its beginning."""
    return name if len(name) <= size else f"…{name[len(name) - size + 1 :]}"


def bar(part: int, whole: int, size: int = 20) -> str:
    """How much of a whole: ``#####...``; full is what has all of it, empty what has nothing."""
    filled = round(size * part / whole) if whole else 0
    if 0 < part < whole:
        filled = min(max(filled, 1), size - 1)
    return "#" * filled + "." * (size - filled)


def plural(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def clipped(text: str, width: int) -> str:
    """A line of text that fits."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    """A text as lines that fit, as far as its words do."""
    space = " " * indent
    return textwrap.wrap(
        text,
        width,
        initial_indent=space,
        subsequent_indent=f"{space}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
