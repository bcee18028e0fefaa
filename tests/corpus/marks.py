"""What the engine has to say about a program in a mode, where that is not the right derivative."""

from __future__ import annotations

import sys

from corpus import outcomes
from corpus.collected import collected
from corpus.registry import Program

RIGHT, ERROR = "right", "error"
ISSUES = tuple(outcomes.WAITING)
FIRST_ORDER = ("typed", "path", "carried", "pullback")


def _applies(version: str) -> bool:
    """Whether a mark is one of this version: ``3.11``, ``3.13+``, or of all, without one."""
    if not version:
        return True
    marked = tuple(map(int, version.rstrip("+").split(".")))
    return sys.version_info[:2] >= marked if version.endswith("+") else sys.version_info[:2] == marked


def _marks(everywhere: bool) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for mark, marked in ((ERROR, outcomes.CLEAR_ERRORS), *outcomes.WAITING.items()):
        for name, modes in marked.items():
            for text in modes.split():
                mode, _, version = text.partition("@")
                assert mode in collected()[name].modes, f"{name} is not run in the mode {mode}"
                assert (name, mode) not in found, f"{name} has two marks in the mode {mode}"
                if everywhere or _applies(version):
                    found[name, mode] = mark
    return found


MARKS = _marks(everywhere=False)
"""The marks of this version of CPython, by program and mode."""
MARKS_EVERYWHERE = _marks(everywhere=True)


def mark(program: Program, mode: str, everywhere: bool = False) -> str:
    """``RIGHT``, ``ERROR``, or the issue that a program waits for in a mode."""
    return (MARKS_EVERYWHERE if everywhere else MARKS).get((program.name, mode), RIGHT)


def is_acceptable(program: Program, mode: str) -> bool:
    """Whether a clear error will do."""
    return program.error_allowed or mode not in FIRST_ORDER
