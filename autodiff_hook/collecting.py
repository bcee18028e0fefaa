"""The garbage collector waits while something large is made: nearly all of it is in use, and it would look at all."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Let the garbage collector wait."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def lasting() -> Iterator[None]:
    """Let it wait for what is never let go: that is among the old at once, and only full collections look at it."""
    with uncollected():
        yield
        if not gc.get_freeze_count():  # what others have frozen would be thawed
            gc.freeze()
            gc.unfreeze()
