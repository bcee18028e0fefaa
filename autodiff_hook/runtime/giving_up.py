"""Where typed programs of functions give up: that statement is carried, and what is around it may be typed apart."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Final

from autodiff_hook.ir.types import Position
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.sharing import ByCode

_CACHE_SIZE: Final = 8192
_places: Final[ByCode[frozenset[Position]]] = ByCode(_CACHE_SIZE)
_listeners: Final[list[Callable[[CodeType], None]]] = []


def gave_up(code: CodeType, reason: Reason) -> None:
    """Note the statement of a function, or the call in it, at which no typed program goes on."""
    known = places(code)
    if reason.around is not None and reason.around not in known:
        _places.put(code, known | {reason.around})
        for listener in _listeners:
            listener(code)


def places(code: CodeType) -> frozenset[Position]:
    """Where the typed programs of a function have given up."""
    return _places.found.get(id(code), frozenset())


def when_noted(listener: Callable[[CodeType], None]) -> None:
    """Have a function called with each code object of which another place is noted."""
    _listeners.append(listener)


forget: Final = _places.clear
