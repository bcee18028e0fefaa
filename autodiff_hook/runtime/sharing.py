"""What is made of code objects, and shared by threads: where it is kept, and who makes it.

Who looks something up takes no lock. So whatever is kept is complete when it is put there, by one assignment,
and has no parts that change one after the other. Who makes something *claims* it, and others wait; nobody waits
for ever, and nobody waits who has a claim himself.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, get_ident
from types import CodeType
from typing import Any, Final, Generic, Protocol, TypeVar

from autodiff_hook.collecting import uncollected

T = TypeVar("T")


class Facts(Protocol):
    """What was taken for granted of the globals."""

    def hold(self, globals_: dict[str, Any]) -> bool:
        """Whether it is so now, in these."""


class Based(Protocol):
    """What is made on facts."""

    @property
    def facts(self) -> Facts:
        """What has to hold as long as it is used."""


B = TypeVar("B", bound=Based)

_PATIENCE: Final = 10.0
"""For how many seconds a thread waits for another: what that one runs may need a lock that this one has."""


class ByCode(Generic[T]):
    """One thing for each code object, until that dies or ``size`` others have come later."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.found: dict[int, T] = {}
        """By the identity of the code object, to be read."""
        self._references: dict[int, tuple[weakref.ref[CodeType], ...]] = {}

    def put(self, code: CodeType, thing: T) -> None:
        """Keep ``thing``, whatever was there."""
        self._prepare(code)
        self.found[id(code)] = thing

    def add(self, code: CodeType, thing: T) -> T:
        """Keep ``thing``, unless there is another; what is kept."""
        self._prepare(code)
        return self.found.setdefault(id(code), thing)

    def remove(self, code: CodeType, thing: T) -> None:
        """Give ``thing`` up, if it is there."""
        if self.found.get(id(code)) is thing:
            self.found.pop(id(code), None)

    def clear(self) -> None:
        """Give up everything."""
        self.found.clear()

    def _prepare(self, code: CodeType) -> None:
        key = id(code)
        if key not in self._references:
            # Code of another may get this number next, so these callbacks run no Python code, which may be
            # interrupted; what they are called with, the reference, is the default of ``pop``.
            tables = (self.found, self._references)
            self._references[key] = tuple(weakref.ref(code, partial(table.pop, key)) for table in tables)
        if key not in self.found:
            make_room(self.found, self.size)


class ByNamespace(Generic[B]):
    """What is made of code objects with the globals that their functions have; one thread makes it, others wait.

    Nobody is told when globals die, and others get their number, or when they change: so the facts are checked.
    """

    SIZE: Final = 8192
    NAMESPACES: Final = 64
    """For how many sets of globals: the same code may be executed again and again."""

    def __init__(self, make: Callable[[CodeType, dict[str, Any]], B], alike: bool = False) -> None:
        """``alike``: what is made for some globals serves all of which its facts hold."""
        self._make, self._alike = make, alike
        self._made: ByCode[dict[int, B]] = ByCode(self.SIZE)
        self._found: Final = self._made.found

    def __len__(self) -> int:
        return len(self._found)

    def __call__(self, code: CodeType, globals_: dict[str, Any]) -> B:
        by_globals = self._found.get(id(code))
        if by_globals is None:
            by_globals = self._made.add(code, {})
        found = by_globals.get(id(globals_))
        return found if found is not None and found.facts.hold(globals_) else self._new(by_globals, code, globals_)

    def clear(self) -> None:
        """Give up everything."""
        self._made.clear()

    def remove(self, code: CodeType) -> None:
        """Give up what is made of a code object."""
        self._found.pop(id(code), None)

    def _new(self, by_globals: dict[int, B], code: CodeType, globals_: dict[str, Any]) -> B:
        key = id(globals_)
        with making((id(by_globals), key)), uncollected():
            found = by_globals.get(key)
            if found is None or not found.facts.hold(globals_):
                others = [*by_globals.values()] if self._alike else []
                found = next((x for x in others if x.facts.hold(globals_)), None) or self._make(code, globals_)
                make_room(by_globals, self.NAMESPACES)
                by_globals[key] = found
            return found


def make_room(table: dict[Any, Any], size: int) -> None:
    """Give up the oldest entries of a table that is to have at most ``size`` with the next one.

    Some more are given up at once, as to find the oldest one takes as long as the table is.
    """
    if len(table) >= size:
        # While an iterator waits, a code object may die and take its entry along: a list is made in one go.
        for key in list(table)[: len(table) - size + 1 + size // _SHARE]:
            table.pop(key, None)


_SHARE: Final = 16


class _Claim:
    __slots__ = ("done", "thread")

    def __init__(self) -> None:
        self.done, self.thread = Event(), get_ident()


_claims: Final[dict[Hashable, _Claim]] = {}


@contextmanager
def making(what: Hashable) -> Iterator[bool]:
    """Whether this thread alone is to make ``what``; if another is at it, what that has made is awaited first.

    False for a thread that has to do without waiting: one that makes something already, which may run rules and
    finalizers, and what they differentiate; and one that has waited too long.
    """
    claim = _Claim()
    try:
        yield _claimed(what, claim)
    finally:
        # No calls up to here: an interrupt would come after them.
        if what in _claims and _claims[what] is claim:
            del _claims[what]
        claim.done.set()


def _claimed(what: Hashable, claim: _Claim) -> bool:
    end = time.monotonic() + _PATIENCE
    while (other := _claims.setdefault(what, claim)) is not claim:
        if _is_making(claim.thread) or not other.done.wait(end - time.monotonic()):
            return False
    return True


def _is_making(thread: int) -> bool:
    return any(claim.thread == thread for claim in list(_claims.values()))


def _drop_claims_of_others() -> None:
    """In a child process there is only the thread that forked."""
    for what, claim in list(_claims.items()):
        if claim.thread != get_ident():
            del _claims[what]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_claims_of_others)
