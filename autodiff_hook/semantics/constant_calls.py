"""Calls of functions in scope that have to do with no derivative, where a search shows it sooner than carrying them.

What is given nothing with a token may still reach one: by a reference, or a name. Where a function would carry many
others, it is searched for one first; if there is none, the call runs natively, like any that no derivative goes into.
All is counted and nothing clocked, so that what is done can be repeated.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from autodiff_hook.algebras.searching import Search
from autodiff_hook.algebras.shadows import Algebra
from autodiff_hook.debugging import NANS
from autodiff_hook.runtime.giving_up import is_part

MANY: Final = 8
"""How many functions a call carries that is worth a search."""
_SEARCHED: Final = 20
"""How many things are searched for tokens in less time than one function is carried."""
_PATIENCE: Final = 10


class Constant:
    """What is known of the calls of one function that were given nothing with a token."""

    __slots__ = ("_failures", "_runs", "_size", "_wait", "calls")

    def __init__(self) -> None:
        self.calls = 0
        """How many functions such calls have carried, from the first that has carried many."""
        self._runs = 0
        self._size = 0
        """How many things the last search has met."""
        self._failures = self._wait = 0

    def note(self, calls: int, value: Any) -> None:
        """A call has carried so many functions, and given a value."""
        self.calls += calls
        self._runs += 1
        if any(hasattr(type(x), "__next__") for x in (value if type(value) is tuple else (value,))):
            # What goes on later may come to a derivative then.
            self._wait = sys.maxsize

    def searched(self, alg: Algebra, function: Any, operands: tuple[Any, ...]) -> Search | None:
        """A search that has shown that a call reaches nothing with a token, in less time than it takes on the average.

        None if there is none.
        """
        most = self.calls * _SEARCHED // self._runs
        if self._wait > 0:
            self._wait -= 1
            return None
        if NANS.on or self._size > most or alg.memories.of_call(function) or is_part(function.__code__):
            return None
        search = Search(alg)
        found, met = search.finds_within((function, *operands), most)
        self._size = met
        if found:
            self._failures = min(self._failures + 1, _PATIENCE)
            self._wait = 1 << self._failures
        return search if found is False else None
