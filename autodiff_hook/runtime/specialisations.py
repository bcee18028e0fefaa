"""What is known of the typed programs of one code object: which there are, and what making others may cost."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final

from autodiff_hook.records import record
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.binding import Shape
from autodiff_hook.runtime.entering import Entry

MANY: Final = 8
"""How many programs of one code object there are at most, those included that were refused."""
FREE = 0.5
MOST = 2.0
"""How many seconds compiling a function may take beyond those that it has run, and at once."""
_FIRST: Final = 2
"""After how many calls what is filled once, a table or a cache, is taken to be."""
_PATIENCE: Final = 3
"""After how many calls it may take the most once, though the function has not run for so long."""


@record(eq=False)
class Specialisations:
    """What has been specialised of one code object, newest first, each with its number of arguments.

    Only the thread that makes an entry adds it or withdraws it, which are single steps; who reads takes a copy.
    """

    entries: list[tuple[Entry, Shape]] = field(default_factory=list)
    refused: set[tuple[Any, ...]] = field(default_factory=set)
    one_way: bool = False
    follows: bool = True
    """Whether, if there is no program for all ways, those that are taken are followed one by one."""
    traps: int = 0
    failures: int = 0
    missed: int = 0
    attempts: int = 0
    given_up: Reason | None = None
    calls: int = 0
    ran: float = 0.0
    """How often, and for how many seconds, the function has run carried."""
    spent: float = 0.0
    """For how many seconds the ways that it takes have been followed."""
    price: float = 0.0
    """For how many seconds another one has to be followed at least."""
    undefined: int = 0
    """How often a program has come to a gradient that is nan."""
    resting: int = 0
    """For how many calls no program is entered for that."""
    cost: float = 0.0
    """How many seconds it took to make a program, or to find out that there is none, at last."""
    since: float = 0.0
    """What ``ran`` was then."""

    def allowance(self) -> float:
        """For how many seconds a program may be made now.

        Who has been stopped once waits for the time that most programs need, and is not stopped over and over.
        """
        caught_up = FREE + self.ran - self.spent
        if not self.one_way:
            return max(MOST, caught_up)
        if self.calls >= _PATIENCE and self.spent < 2 * FREE:
            return MOST
        return min(MOST, caught_up) if self.price == 0.0 or self.calls >= _PATIENCE or caught_up >= MOST else 0.0

    def begins_again(self) -> bool:
        """Whether it is tried once more what was refused: the first calls may fill what the later ones only read."""
        return self.calls == _FIRST and bool(self.refused) and not self.entries and self.cost <= FREE

    def make_room(self) -> bool:
        """Whether there is room for another program: what was made first goes when that has come to pay."""
        if len(self.entries) + len(self.refused) < MANY:
            return True
        if self.ran - self.since < self.cost:
            return False
        self.refused.clear()
        self.entries = self.entries[: MANY - 1]
        return True
