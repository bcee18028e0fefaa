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
_depths: Final[ByCode[int]] = ByCode(_CACHE_SIZE)
"""How often a function was cut until it is the part that it is."""
_MOST: Final = 8
"""In how many places a function is cut, and how often a part of a part: each time costs another program."""
_listeners: Final[list[Callable[[CodeType], None]]] = []


def gave_up(code: CodeType, reason: Reason) -> None:
    """Note the statement of a function, or the call in it, at which no typed program goes on."""
    known = places(code)
    if max(len(known), _depths.found.get(id(code), 0)) >= _MOST:
        return
    if reason.around is not None and reason.around not in known:
        _places.put(code, known | {reason.around})
        for listener in _listeners:
            listener(code)


def places(code: CodeType) -> frozenset[Position]:
    """Where the typed programs of a function have given up."""
    return _places.found.get(id(code), frozenset())


def note_part(code: CodeType, whole: CodeType) -> None:
    """Note that a function was made of a part of another one."""
    _depths.put(code, _depths.found.get(id(whole), 0) + 1)


def is_part(code: CodeType) -> bool:
    """Whether a function was made of a part of another one, or is the carried program of one that was."""
    return id(code) in _depths.found


def when_noted(listener: Callable[[CodeType], None]) -> None:
    """Have a function called with each code object of which another place is noted."""
    _listeners.append(listener)


forget: Final = _places.clear
