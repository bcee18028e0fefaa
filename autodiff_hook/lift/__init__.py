"""From a code object to the IR."""

from __future__ import annotations

from autodiff_hook.lift.lifting import lift

__all__ = ["lift"]
