"""What programs were refused for because it was not there, each with whether it is there now."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

_MOST: Final = 1024
_lacked: Final[dict[Hashable, Callable[[], bool]]] = {}


def lack(key: Hashable, is_there: Callable[[], bool]) -> None:
    """Note what a program is refused for."""
    if len(_lacked) >= _MOST:
        _lacked.clear()
    _lacked[key] = is_there


def is_something_there() -> bool:
    """Whether something is there by now; it is forgotten."""
    found = [key for key, is_there in list(_lacked.items()) if is_there()]
    for key in found:
        _lacked.pop(key, None)
    return bool(found)
