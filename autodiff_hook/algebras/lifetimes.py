"""How long shadows last: they must not prolong the life of what a program can observe dying.

What can be referenced weakly is: its shadow goes when it dies. A shadow of the ``__dict__`` of an object goes with
the object, unless the program has taken hold of the dict. What cannot be referenced weakly (lists, dicts, cells,
builtin exceptions) is held. If it may hold what can be observed dying, it is *suspect*: where variables end, suspects
that nobody else refers to are dropped. All else that is held is looked through when the table has doubled.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import islice
from sys import getrefcount
from types import CellType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.implicit import SEEN, watch
from autodiff_hook.runtime.lookup import dictionary_of

Table = dict[int, tuple[Any, ...]]
"""By identity: what holds the reference, what is known of it; the dict of an object, if it is the object that holds."""

_PLAIN: Final = frozenset({float, int, complex, bool, str, bytes, type(None), np.ndarray, np.float64, slice, range})
"""Types of what nobody observes dying, of all that is often held; arrays are held by pullbacks as well."""

_UNSEEN: Final = 2
"""The count of references to what an entry alone holds, as it is seen there."""
MANY: Final = 1024
"""How much is entered without a look at it."""
_AT_ONCE: Final = 64
"""How many suspects are looked at wherever a variable ends."""


class Weak(weakref.ref[Any]):
    """What holds a reference weakly: another type than that of weak references that a program may hold."""

    __slots__ = ("key", "table")
    key: int
    table: Table


class Owner(weakref.ref[Any]):
    """What holds an object weakly whose dict has a shadow."""

    __slots__ = ("key", "lifetimes")
    key: int
    lifetimes: Lifetimes


_WEAK: Final = frozenset({Weak, Owner})


class Lifetimes:
    """What is held for shadows of one differentiation, at all its levels."""

    __slots__ = ("_failure", "_passed", "fresh", "limit", "suspects", "table")

    def __init__(self, table: Table) -> None:
        self.table = table
        self.limit = MANY
        self.fresh: list[int] = []
        """What was entered without a look at it."""
        self.suspects: dict[int, None] = {}
        self._passed = 0
        self._failure: Exception | None = None

    def hold(self, reference: Any, tokens: Any) -> None:
        """Enter a shadow."""
        cls, key = type(reference), id(reference)
        if cls is list or cls is dict or cls is CellType:
            self.table[key] = reference, tokens
            self.fresh.append(key)
            if len(self.fresh) > MANY:
                self.look_through()
        elif tells_death(cls):
            enter_weakly(self.table, reference, tokens)
        else:
            self.table[key] = reference, tokens
            self.suspects[key] = None

    def hold_owned(self, owner: Any, dictionary: dict[str, Any], tokens: Any) -> None:
        """Enter the shadow of the dict of an object."""
        cls, key = type(owner), id(dictionary)
        if id(cls) not in SEEN:
            watch(cls)
        if tells_death(cls):
            holder = Owner(owner, _owner_gone)
            holder.lifetimes, holder.key = self, key
            self.table[key] = holder, tokens, dictionary
        else:
            self.table[key] = dictionary, tokens
            self.suspects[key] = None

    def failed(self, error: Exception) -> None:
        """What an object stored when it died has a derivative that is not known."""
        self._failure = self._failure or error

    def check(self) -> None:
        """Raise what could not be raised where an object died."""
        error, self._failure = self._failure, None
        if error is not None:
            raise error

    def end(self) -> None:
        """The program is over: nothing is held for its sake."""
        self.table.clear()
        self.fresh.clear()
        self.suspects.clear()

    def note(self, reference: Any, value: Any) -> None:
        """A value without a token is stored where others have one."""
        if type(value) not in _PLAIN and type(reference) in (list, dict, CellType):
            self.suspects[id(reference)] = None

    def look_through(self) -> None:
        """Find out what of the fresh has to be looked at again, and drop what nobody else refers to."""
        fresh, self.fresh[:] = self.fresh[:], ()
        while fresh:
            key = fresh.pop()
            if not self._drop(key):
                entry = self.table.get(key)
                if entry is not None and may_be_observed(entry[0]):
                    self.suspects[key] = None
        if len(self.table) > self.limit:
            self.drop_all()

    def drop_suspects(self) -> None:
        """Some variables have ended: drop the suspects that nobody else refers to."""
        if self.fresh:
            self.look_through()
        suspects = self.suspects
        self._passed += _AT_ONCE
        count = _AT_ONCE
        if self._passed >= len(suspects):
            self._passed, count = 0, len(suspects)
        table = self.table
        while suspects:
            found = 0
            for key in list(islice(reversed(suspects), count)):
                entry = table.get(key)
                # Most are in use.
                if entry is None or getrefcount(entry[0]) <= _UNSEEN or type(entry[0]) in _WEAK:
                    found += self._drop(key)
            if not found:
                return

    def drop_all(self) -> None:
        """Drop all that nobody else refers to."""
        self.limit = len(self.table) + MANY
        for key in reversed(list(self.table)):
            self._drop(key)
        self.limit = max(MANY, 2 * len(self.table))

    def _drop(self, key: int) -> bool:
        entry = self.table.get(key)
        if entry is None or type(entry[0]) in _WEAK:
            self.suspects.pop(key, None)
            return False
        if getrefcount(entry[0]) > _UNSEEN:
            return False
        self.suspects.pop(key, None)
        del self.table[key]
        return True

    def released(self, function: Callable[..., Any], *args: Any) -> Any:
        """What a function gives that looks for cycles which nobody refers to, as shadows do."""
        self.drop_all()
        table, held = self.table, []
        for key in list(table):
            entry = table.get(key, ())
            if len(entry) == 3 and getrefcount(entry[2]) == _OWNED:
                table[key] = entry[:2]
                held.append(key)
        entry = ()
        try:
            return function(*args)
        finally:
            for key in held:
                if key in table:
                    _own_again(table, key)


_OWNED: Final = 3
"""The count of references to a dict that only its object and an entry have, as it is seen there."""


def _own_again(table: Table, key: int) -> None:
    """Hold the dict of an object that was not collected; a finalizer may have had another one made."""
    holder, tokens = table.pop(key)
    owner = holder()
    if owner is not None:
        dictionary = dictionary_of(owner)
        table[id(dictionary)] = holder, tokens, dictionary


def _gone(holder: Weak) -> None:
    entry = holder.table.get(holder.key)
    if entry is not None and entry[0] is holder:
        del holder.table[holder.key]


def _owner_gone(holder: Owner) -> None:
    """An object has died, which still refers to its dict: if others do, too, that goes on."""
    lifetimes = holder.lifetimes
    entry = lifetimes.table.get(holder.key)
    if entry is None or entry[0] is not holder:
        return
    del lifetimes.table[holder.key]
    if len(entry) == 3 and getrefcount(entry[2]) > _OWNED:
        lifetimes.hold(entry[2], entry[1])


def may_be_observed(reference: Any) -> bool:
    """Whether a list, dict or cell holds what a program may observe dying."""
    cls = type(reference)
    if cls is CellType:
        try:
            return type(reference.cell_contents) not in _PLAIN
        except ValueError:
            return False
    for value in list(reference.values()) if cls is dict else reference:
        if type(value) not in _PLAIN:
            return True
    return False


def alive(table: Table) -> Table:
    """A copy of a table, for a time when some of what it knows weakly may have died."""
    found = dict(table)
    return {key: entry for key, entry in found.items() if type(entry[0]) not in _WEAK or entry[0]() is not None}


def tells_death(cls: type) -> bool:
    """Whether weak references to an object learn of its death: SWIG's have a place for them, and leave them behind."""
    return bool(cls.__weakrefoffset__) and cls.__name__ != "SwigPyObject"


def enter_weakly(table: Table, reference: Any, *known: Any) -> None:
    """Enter what is known of a reference until it dies, if that can be told."""
    key = id(reference)
    if tells_death(type(reference)):
        holder = Weak(reference, _gone)
        holder.table, holder.key = table, key
        table[key] = holder, *known
    else:
        table[key] = reference, *known


def drop_buffers(buffers: dict[int, tuple[Any, Any]]) -> int:
    """Drop what is known of buffers that nobody else refers to; how many there may be before that is done again."""
    for key in list(buffers):
        if getrefcount(buffers[key][0]) <= _UNSEEN:
            del buffers[key]
    return max(MANY, 2 * len(buffers))
