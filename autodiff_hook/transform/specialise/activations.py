"""The functions around blocks: with which arguments they were entered, and from where in the function itself."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import Position
from autodiff_hook.transform.specialise.bodies import Refused

_DEPTH: Final = 40
_RECURSIONS: Final = 12
"""How many calls a function may make of itself, of each call by others, that are put in their places."""


class Activations:
    """What is known of chains of functions, the outermost first, by the identity of a chain."""

    def __init__(self) -> None:
        self._arguments: dict[int, tuple[tuple[Any, Any, list[Any]], ...]] = {}
        self._called_at: dict[int, Position | None] = {}
        self._kept: list[tuple[Any, ...]] = []

    def enter(self, chain: tuple[Any, ...], code: Any, kinds: tuple[Any, ...], at: Position | None) -> tuple[Any, ...]:
        """The chain around the body of a function that is called ``at`` a place, with arguments of these kinds.

        What calls itself has to do so with arguments that are known to be others.
        """
        around = self._arguments.get(id(chain), ())
        again = [(before, calls) for other, before, calls in around if code is other]
        calls = again[0][1] if again else []
        calls.append(kinds)
        if len(chain) > _DEPTH or any(kinds == before for before, _ in again) or len(calls) > _RECURSIONS + 1:
            raise Refused(f"{code.co_qualname} is recursive")
        entered = (*chain, code)
        self._arguments[id(entered)] = (*around, (code, kinds, calls))
        self._called_at[id(entered)] = self.place(chain, at)
        self._kept.append(entered)
        return entered

    def place(self, chain: tuple[Any, ...], position: Position | None) -> Position | None:
        """Where the function itself is, when a place within a chain is come to."""
        return self._called_at.get(id(chain), position)
