"""Callables whose derivative concerns references or calls back: known to the runtime itself.

A handler has the form ``handler(ctx, witnesses, args, kwargs) -> (value, pullback)``; the pullback gives
one cotangent for each of ``args`` and ``kwargs``. A rule (``registry``) is asked first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Handler = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], tuple[Any, Any]]

HANDLERS: Final[dict[int, Handler]] = {}
WITH_OPTIONS: Final[dict[int, Handler]] = {}
"""Handlers of calls with keywords, which are asked before the rules."""

LAZY: Final[set[int]] = set()
"""The ids of callables that look into their arguments only later: never left to run natively."""

_targets: Final[list[Any]] = []


def handles(*targets: Any) -> Callable[[Handler], Handler]:
    """Register a handler of builtin callables."""

    def register(handler: Handler) -> Handler:
        for target in targets:
            HANDLERS[id(target)] = handler
            _targets.append(target)
        return handler

    return register
