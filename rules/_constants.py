"""Why something has no derivative, or shall have none: the reasons that packs share, and declarations by reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from autodiff_hook.extend import nondifferentiable, refused

COMPARES = "it is a truth value"
CONSISTS_OF_STEPS = "it is constant by steps"
IS_TEXT = "it is text, or bytes"
SETTING = "it sets or tells how something is done"
TIMES = "it is about dates and clocks"
IS_A_SOURCE = "it is a source of random numbers, or draws from a fixed distribution"
IS_OF_INTEGERS = "it is of integers and bits"
IS_A_POSITION = "it is a position, an order or a count"
IS_A_SHAPE = "it is about shapes, types and memory"
ASKS_THE_SYSTEM = "it asks or tells the system: files, the process, the interpreter"

SHOWS_MEMORY = "shows memory past what derivatives follow"
TAKES_APART = "takes a number apart into digits"
RUNS_TEXT = "runs text, or looks at the variables of a frame"
IS_ASYNCHRONOUS = "waits for code that others drive"
DRAWS_INTEGERS = "draws whole numbers: the draw has no derivative, and that of the expected value is another one"


def declare(reason: str, *targets: Any) -> None:
    for target in targets:
        nondifferentiable(target, reason)


def declare_names(owner: Any, table: Mapping[str, str | Iterable[str]]) -> None:
    """Declare names of ``owner``, by reason: those that this version has, and has not from ``object``."""
    for reason, names in table.items():
        for name in names.split() if isinstance(names, str) else names:
            target = getattr(owner, name, None)
            if target is not None and target is not getattr(object, name, None):
                nondifferentiable(target, reason)


def refuse(owner: Any, table: Mapping[str, str]) -> None:
    """Say why names of ``owner`` that this version has are errors if a gradient wants to pass."""
    for reason, names in table.items():
        for name in names.split():
            if hasattr(owner, name):
                refused(getattr(owner, name), reason)
