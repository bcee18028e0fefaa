"""Cotangents that nobody has worked out."""

from __future__ import annotations

from typing import Any

from autodiff_hook.errors import NotDifferentiable


class NotImplementedCotangent:
    """A cotangent that nobody has worked out yet; using it is an error, ignoring it is not."""

    def __init__(self, why: str, place: str | None = None) -> None:
        self.why = why
        self.place = place
        """The line of the program whose call has this cotangent, if it is known."""

    def __repr__(self) -> str:
        return f"not_implemented({self.why!r})"

    def __getitem__(self, key: object) -> NotImplementedCotangent:
        return self

    def __mul__(self, factor: object) -> NotImplementedCotangent:
        return self

    __iter__ = None

    def fail(self) -> NotDifferentiable:
        """The error that using this cotangent is."""
        return NotDifferentiable(f"this derivative is not implemented: {self.why}", place=self.place)

    def at(self, place: str | None) -> NotImplementedCotangent:
        """The same for the call on this line of the program, if none is known yet."""
        return self if self.place is not None else NotImplementedCotangent(self.why, place)


def not_implemented(why: str) -> Any:
    """A cotangent for an argument whose derivative is unknown: an error only if somebody uses it."""
    return NotImplementedCotangent(why)
