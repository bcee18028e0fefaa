"""From the IR to a code object for the running CPython."""

from __future__ import annotations

from autodiff_hook.emit.emitting import emit

__all__ = ["emit"]
