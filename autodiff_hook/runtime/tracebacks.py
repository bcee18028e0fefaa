"""Tracebacks as the user's program would have them: without the frames of the engine."""

from __future__ import annotations

import os
from types import FrameType, TracebackType
from typing import Final

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEBUG: Final = bool(os.environ.get("AUTODIFF_DEBUG"))


def is_engine(frame: FrameType) -> bool:
    """Whether a frame is of this package or of its rules."""
    if frame.f_code.co_filename.startswith(_PACKAGE):
        return True
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "autodiff_rules"


def without_engine(traceback: TracebackType | None) -> TracebackType | None:
    """``traceback`` with the frames of this package left out."""
    if DEBUG:
        return traceback
    kept = []
    while traceback is not None:
        if not is_engine(traceback.tb_frame):
            kept.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result
