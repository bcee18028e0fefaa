"""``int`` of floats so large that they are whole: of these it makes no step, but keeps all digits."""

from __future__ import annotations

from typing import Any, Final

REASON: Final = (
    "which keeps a float of 2**52 or more to the last digit, where arithmetic of integers would drop its derivative "
    "(compute with the float itself, or with a Fraction)"
)
_WHOLE: Final = 2.0**52


def makes_steps(x: Any) -> bool:
    """Whether ``int(x)`` cuts digits off, as far as the size of ``x`` says."""
    return -_WHOLE < x < _WHOLE  # type: ignore[no-any-return]
