"""What ``case Class(...)`` asks of a class."""

from __future__ import annotations

from typing import Final

_MATCH_SELF: Final = 1 << 22
"""The flag of builtin classes whose pattern ``cls(x)`` binds the subject itself."""


def matched_names(count: int, cls: type, names: tuple[str, ...]) -> list[str | None]:
    """The attributes that a class pattern binds of an instance, None being the instance itself."""
    known: tuple[str, ...] | None = getattr(cls, "__match_args__", None)
    if known is None and cls.__flags__ & _MATCH_SELF and count == 1:
        return [None, *names]
    _check_count(cls, known or (), count)
    return [*(known or ())[:count], *names]


def _check_count(cls: type, known: tuple[str, ...], count: int) -> None:
    if count > len(known):
        plural = "" if len(known) == 1 else "s"
        raise TypeError(f"{cls.__name__}() accepts {len(known)} positional sub-pattern{plural} ({count} given)")
