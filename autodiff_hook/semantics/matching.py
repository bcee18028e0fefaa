"""What ``case Class(...)`` asks of a class."""

from __future__ import annotations

from typing import Any, Final

_MATCH_SELF: Final = 1 << 22
"""The flag of builtin classes whose pattern ``cls(x)`` binds the subject itself."""


def matched_names(count: int, subject: Any, cls: Any, names: tuple[str, ...]) -> list[str | None] | None:
    """The attributes that a class pattern binds, None being the subject itself; None if it does not match."""
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(subject, cls):
        return None
    known: tuple[str, ...] | None = getattr(cls, "__match_args__", None)
    if known is None and cls.__flags__ & _MATCH_SELF and count == 1:
        return [None, *names]
    _check_count(cls, known or (), count)
    return [*(known or ())[:count], *names]


def _check_count(cls: type, known: tuple[str, ...], count: int) -> None:
    if count > len(known):
        plural = "" if len(known) == 1 else "s"
        raise TypeError(f"{cls.__name__}() accepts {len(known)} positional sub-pattern{plural} ({count} given)")
