"""How long compiling may take: passes count what they do, and stop where they are when that is too much.

Steps are counted, and no clock is asked: what is compiled must not depend on how fast and how busy a machine is.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

STEP: Final = 1.5e-5
"""The seconds that a step takes on the machine that all others are taken for."""


class OutOfTime(Exception):
    """A pass has been stopped."""


class _Work(threading.local):
    done = 0.0
    most = math.inf


_work = _Work()


def spent() -> float:
    """For how many seconds this thread has compiled so far."""
    return _work.done


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Let what is compiled meanwhile, in this thread, take so long."""
    before = _work.most
    _work.most = min(before, _work.done + seconds)
    try:
        yield
    finally:
        _work.most = before


def check(steps: int = 1) -> None:
    """Count what a pass is about to do, and stop it if that is too much.

    Passes count statements or blocks, each by how long they take for one: as many ``steps`` as were measured.
    """
    _work.done += steps * STEP
    if _work.done > _work.most:
        raise OutOfTime
