"""What ``hash`` makes of the number that a class gives: no hash of that number, which may be another one."""

from __future__ import annotations

from typing import Any


class Hashed:
    """What has a hash that is known."""

    def __init__(self, number: Any) -> None:
        self._number: int = number

    def __hash__(self) -> int:
        return self._number
