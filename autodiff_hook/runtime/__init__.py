"""The engine. It is imported by the first derivative, and only where it works."""

from __future__ import annotations

from autodiff_hook import interpreter
from autodiff_hook.errors import AutodiffWarning, Unsupported
from autodiff_hook.telling import warn

if (_obstacle := interpreter.obstacle()) is not None:
    raise Unsupported(_obstacle)
if interpreter.is_free_threaded():
    warn(
        "CPython without the global interpreter lock (a free-threaded build) is not supported: "
        "take derivatives in one thread only",
        AutodiffWarning,
    )
