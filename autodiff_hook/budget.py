"""How long compiling may take: passes ask whether their time is up, and stop where they are.

It is the processor's time, of one thread: that of other threads and programs does not count.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Not every platform has a clock of the thread (WebAssembly has none).
cpu_time: Callable[[], float] = getattr(time, "thread_time", time.process_time)


class OutOfTime(Exception):
    """A pass has been stopped."""


class _Deadline(threading.local):
    at = math.inf
    questions = 0


_deadline = _Deadline()


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Let what is compiled meanwhile, in this thread, take so long."""
    before = _deadline.at
    _deadline.at = min(before, cpu_time() + seconds)
    try:
        yield
    finally:
        _deadline.at = before


def check() -> None:
    """Stop the pass if its time is up; the clock is asked every eighth time."""
    _deadline.questions += 1
    if not _deadline.questions & 7 and cpu_time() > _deadline.at:
        raise OutOfTime
