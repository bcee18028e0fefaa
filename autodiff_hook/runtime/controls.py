"""Functions that say how they are differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Checkpoint:
    """A function whose intermediate values are recomputed in the reverse sweep."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)
