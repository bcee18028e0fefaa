"""Where in the program a node was made, kept as code and instruction: lines are looked up when something fails."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any, Final

from autodiff_hook.errors import NotDifferentiable, is_engine, place_of

Place = tuple[CodeType, int]
Node = tuple[Any, ...]
"""A pullback, where its cotangents go, and, if it may fail, the place."""

_OF_ENGINE: Final[dict[Any, bool]] = {}


def here() -> Place | None:
    """The instruction of the program that is carried now, for a method of an algebra that the engine has called."""
    frame: FrameType | None = sys._getframe(3)
    while frame is not None:
        name = frame.f_globals.get("__name__")
        own = _OF_ENGINE.get(name)
        if own is None:
            own = _OF_ENGINE[name] = is_engine(frame)
        if not own:
            return frame.f_code, frame.f_lasti
        frame = frame.f_back
    return None


def made_at(node: Node) -> Place | None:
    """Where a node was made, if that was noted."""
    return node[2] if len(node) == 3 else None


def line_of(place: Place | None) -> str | None:
    """The line of the program, as texts of errors have it."""
    if place is None:
        return None
    code, instruction = place
    line = next((n for start, end, n in code.co_lines() if start <= instruction < end), code.co_firstlineno)
    return place_of(code.co_filename, line, getattr(code, "co_qualname", code.co_name))


def tell(error: BaseException, place: Place | None) -> None:
    """Say in an error that left a pullback where the call is to which that belongs."""
    text = line_of(place)
    if text is None:
        return
    if isinstance(error, NotDifferentiable):
        error.place = text
    elif hasattr(error, "add_note"):
        error.add_note(f"in the pullback of the call at {text}")
