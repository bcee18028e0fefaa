"""Keys of attributes, where items have theirs."""

from __future__ import annotations

from typing import ClassVar


class Attribute:
    """The key of an attribute among the slots of its object."""

    __slots__ = ("name",)
    _known: ClassVar[dict[str, Attribute]] = {}
    name: str

    def __new__(cls, name: str) -> Attribute:
        found = cls._known.get(name)
        if found is None:
            found = super().__new__(cls)
            found.name = name
            cls._known[name] = found
        return found

    def __repr__(self) -> str:
        return f".{self.name}"
