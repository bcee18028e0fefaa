"""What went wrong in the specialiser itself, by its description and how often; the carried program did the work."""

from __future__ import annotations

from _thread import allocate_lock

_DIFFERENT = 100

counted: dict[str, int] = {}
_lock = allocate_lock()


def count(description: str) -> None:
    """Count one failure; of many different ones, the first hundred are told apart."""
    with _lock:
        if description not in counted and len(counted) >= _DIFFERENT:
            description = "others"
        counted[description] = counted.get(description, 0) + 1
