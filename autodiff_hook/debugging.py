"""The switch of ``debug_nans``, which derivatives ask when they begin."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final


class _Switch:
    """Whether operations that make nan are errors, and who has to know when that changes."""

    def __init__(self) -> None:
        self.on = os.environ.get("AUTODIFF_DEBUG_NANS", "0") not in ("", "0")
        self.listeners: list[Callable[[], None]] = []

    def turn(self, on: bool) -> None:
        """Switch, for all threads."""
        if on != self.on:
            self.on = on
            for listener in self.listeners:
                listener()


NANS: Final = _Switch()


class debug_nans:
    """From now on, or within a ``with`` block: an error at the first operation that makes nan of what has none.

    In the function or in the reverse sweep; ``NotANumber`` names the line of the program and the callable. Derivatives
    are slow meanwhile. ``debug_nans(False)`` switches it off, AUTODIFF_DEBUG_NANS=1 on for a whole process.

    >>> from autodiff_hook import NotANumber, gradient
    >>> with debug_nans():
    ...     try:
    ...         gradient(lambda x: (x * float("inf")) * 0.0 + x, 2.0)
    ...     except NotANumber as error:
    ...         print(str(error).partition(": ")[2])
    the operator * has made nan
    """

    def __init__(self, on: bool = True) -> None:
        self._before = NANS.on
        NANS.turn(on)

    def __enter__(self) -> debug_nans:
        return self

    def __exit__(self, *_: Any) -> None:
        NANS.turn(self._before)
