"""The IR of five small functions, as text.

``golden/NAME.txt`` holds for all versions, ``golden/NAME-3.11.txt`` for one whose compiler does it
differently. ``AUTODIFF_GOLDEN=write`` writes the file of the running version.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff_hook.ir.printer import to_text
from autodiff_hook.lift import lift

GOLDEN = Path(__file__).parent / "golden"


def branch(x: Any) -> Any:
    if x > 0:
        y = x * x
    else:
        y = -x
    return y + 1


def while_loop(x: Any, n: int) -> Any:
    r = 1
    while n > 0:
        n -= 1
        r *= x
    return r


def for_loop(xs: Any) -> Any:
    total = 0.0
    for x in xs:
        if x is None:
            break
        total += x
    return total


def closure(x: Any) -> Any:
    scale = x.scale

    def scaled(y: Any) -> Any:
        return y * scale

    return scaled(x)


def try_except(x: Any) -> Any:
    try:
        y = 1 / x
    except ZeroDivisionError:
        y = 0
    return y


@pytest.mark.parametrize("function", [branch, while_loop, for_loop, closure, try_except])
def test_golden(function: Callable[..., Any]) -> None:
    text = to_text(lift(function.__code__))
    shared = GOLDEN / f"{function.__name__}.txt"
    own = GOLDEN / f"{function.__name__}-{sys.version_info[0]}.{sys.version_info[1]}.txt"
    if os.environ.get("AUTODIFF_GOLDEN") == "write":
        GOLDEN.mkdir(exist_ok=True)
        if not shared.exists() or shared.read_text() == text:
            shared.write_text(text)
        else:
            own.write_text(text)
    assert text == (own if own.exists() else shared).read_text()
