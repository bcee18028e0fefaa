"""Tracebacks as the user's program would have them: without the frames of the engine."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Final

from autodiff_hook.errors import is_engine
from autodiff_hook.runtime.giving_up import is_part

DEBUG: Final = bool(os.environ.get("AUTODIFF_DEBUG"))


def without_engine(traceback: TracebackType | None) -> TracebackType | None:
    """``traceback`` with the frames of this package left out, and those that only call a part of their function."""
    if DEBUG:
        return traceback
    kept = list[TracebackType]()
    while traceback is not None:
        if not is_engine(traceback.tb_frame):
            if kept and is_part(traceback.tb_frame.f_code):
                kept.pop()
            kept.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for entry in reversed(kept):
        # Instructions that the compiler adds, which only an interrupt stops at, have no line.
        line = entry.tb_lineno or entry.tb_frame.f_code.co_firstlineno
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, line)
    return result
