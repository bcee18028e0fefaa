"""The parameters of a rule: which calls it can take, and how many cotangents its pullback owes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from itertools import takewhile
from typing import Any, Final

Names = tuple[str, ...]


class Parameters:
    """The signature of a rule; ``places`` has the index among the cotangents of what can be given by name."""

    __slots__ = ("_bindable", "_first", "_positional", "_variadic", "places")

    def __init__(self, rule: Callable[..., Any]) -> None:
        self.places: dict[str, int] = {}
        self._positional, self._variadic = 0, True
        self._bindable: inspect.Signature | None = None
        self._first: tuple[str | None, ...] = ()
        try:
            self._bindable = inspect.signature(rule)
        except (TypeError, ValueError):
            return
        self._variadic = False
        self._first = _first_names([*self._bindable.parameters.values()])
        for parameter in self._bindable.parameters.values():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                    self.places[parameter.name] = self._positional
                self._positional += 1
            self._variadic = self._variadic or parameter.kind is parameter.VAR_POSITIONAL

    @property
    def known(self) -> bool:
        """Whether there is a signature, as there is not of some code in C."""
        return self._bindable is not None

    def by_place(self, count: int, names: Collection[str]) -> tuple[str, ...]:
        """Which of the ``names`` of a call stand at the places behind its ``count`` positional arguments.

        Rules are chosen, and lists taken apart, by what stands at a place. What has a default stays an option.
        """
        return tuple([name for name in takewhile(names.__contains__, self._first[count:]) if name is not None])

    def owed(self, count: int) -> int:
        """How many cotangents the pullback of a call with ``count`` positional arguments returns."""
        return max(count, self._positional) if self._variadic else self._positional

    def misfit(self, count: int, names: Names) -> str | None:
        """What a call with ``count`` positional arguments and these named ones has that the rule does not know."""
        if self._bindable is None:
            return None
        try:
            self._bindable.bind(*(None,) * count, **dict.fromkeys(names))
        except TypeError:
            return self._unknown(count, names)
        return None

    def _unknown(self, count: int, names: Names) -> str:
        if count > self._positional and not self._variadic:
            return f"argument {self._positional + 1}"
        assert self._bindable is not None
        taken = [name for name, place in self.places.items() if place >= count]
        kinds = {p.name: p.kind for p in self._bindable.parameters.values()}
        if inspect.Parameter.VAR_KEYWORD not in kinds.values():
            taken += [name for name, kind in kinds.items() if kind is inspect.Parameter.KEYWORD_ONLY]
            for name in names:
                if name not in taken:
                    return f"the option {name!r}"
        return f"what a call with {count} positional arguments leaves out"


def _first_names(parameters: list[inspect.Parameter]) -> tuple[str | None, ...]:
    """The names of the first parameter and of those behind it that have no default; None has no name."""
    count = 1
    while count < len(parameters) and parameters[count].default is inspect.Parameter.empty:
        count += 1
    placed = takewhile(lambda p: p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD), parameters[:count])
    return tuple([p.name if p.kind is p.POSITIONAL_OR_KEYWORD else None for p in placed])


_known: Final[dict[int, tuple[Any, Parameters]]] = {}


def parameters_of(rule: Any) -> Parameters:
    """The parameters of ``rule``, looked at once."""
    known = _known.get(id(rule))
    if known is None or known[0] is not rule:
        known = _known[id(rule)] = (rule, Parameters(rule))
    return known[1]


def forget() -> None:
    """Keep no rule alive that has been replaced."""
    _known.clear()
