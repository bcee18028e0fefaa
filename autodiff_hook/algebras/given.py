"""Arguments that are met under another name.

A list, a dict or an object that is an argument and, say, a global, too, is two variables of the function: the
derivative is with respect to the argument alone. References are known by identity, so the two cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CellType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.object_slots import selected_places
from autodiff_hook.algebras.shadows import Algebra, Key, Token, holder_of, is_list, keep, lose
from autodiff_hook.errors import NotDifferentiable, user_location
from autodiff_hook.registry import describe
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.mirror import Mirror, form_of, parts_of
from autodiff_hook.runtime.parted import PARTED, array_of
from autodiff_hook.runtime.reachable import reachable
from autodiff_hook.runtime.slots import Attribute

_SHARED: Final = "a store into an array whose memory several arguments show: whose derivative it changes is not known"
_PARTS_SHARED: Final = (
    "several arguments show the memory of one array of records or objects, whose parts are known by their places there"
)
_SCAN_LIMIT: Final = 100_000
_REFERENCES: Final = PARTED | {"list", "dict", "object"}


class Given:
    """The references among the arguments that hold numbers or arrays."""

    __slots__ = ("_function", "_outside", "_roots", "ids", "kept", "keys", "made", "shared")

    def __init__(self, function: Any, mirrors: list[Mirror]) -> None:
        self._function = function
        self._outside: dict[int, Any] | None = None
        self.ids: set[int] = set()
        self._roots: dict[int, list[Mirror]] = {}
        """The arrays among the arguments, by their memories."""
        self.shared: set[int] = set()
        """The memories that several arrays among the arguments show."""
        self.kept: set[tuple[int, Any]] = set()
        """The slots that the program itself has put an argument into, by the identity of their references."""
        self.keys: set[tuple[int, int]] = set()
        """The keys that the program itself has put into dicts, by the identities of both."""
        self.made: set[int] = set()
        """References that the program itself has made: whoever gets such an identity later was not there before."""
        for mirror in mirrors:
            self._holds_leaves(mirror, {})

    def _holds_leaves(self, mirror: Mirror, found: dict[Mirror, bool]) -> bool:
        if mirror.kind == "array" or mirror.kind in PARTED:
            self._note_memory(mirror)
        if mirror.kind in ("number", "array", "records"):
            self.ids |= {id(mirror.value)} if mirror.kind == "records" else set()
            return True
        if mirror not in found:
            found[mirror] = False
            found[mirror] = any([self._holds_leaves(child, found) for child in mirror.children.values()])
            if found[mirror] and mirror.kind in _REFERENCES:
                self.ids |= {id(mirror.value), *(id(holder_of(mirror.value, key)) for key in _attributes(mirror))}
        return found[mirror]

    @property
    def has_parts(self) -> bool:
        """Whether there are structured arrays, or arrays of objects, that hold something with a derivative."""
        return any(mirror.kind in PARTED for mirrors in self._roots.values() for mirror in mirrors)

    def _note_memory(self, mirror: Mirror) -> None:
        root = id(root_of(array_of(mirror.value)))
        others = self._roots.setdefault(root, [])
        if others:
            self.shared.add(root)
        if any(_share_parts(mirror, other) for other in others):
            raise NotDifferentiable(_PARTS_SHARED, remedies=("pass copies (x.copy())",))
        others.append(mirror)

    def require_one_array(self, array: Any) -> None:
        """Raise if what is stored into an array would change another argument, whose derivatives are others."""
        if id(root_of(array)) in self.shared:
            raise NotDifferentiable(_SHARED, place=user_location(), remedies=("pass copies (x.copy())",))

    def met(self, alg: Algebra, reference: Any, key: Any, value: Any) -> None:
        """An argument was read from a slot of what is none; if it was there before, it is unknown from now on."""
        if self.renames(reference, key):
            self._lose(alg, value, _other_name(reference, key, value))

    def renames(self, reference: Any, key: Any) -> bool:
        """Whether a slot held an argument before the program ran, or may have."""
        return (id(reference), key) not in self.kept and self._is_outside(reference)

    def is_key_before(self, reference: Any, key: Any) -> bool:
        """Whether a dict had a key that holds an argument before the program ran, or may have."""
        if not self.ids or (id(reference), id(key)) in self.keys or not self._is_outside(reference):
            return False
        return any(id(item) in self.ids for item in reachable(key))

    def _lose(self, alg: Algebra, value: Any, why: NotDifferentiable) -> None:
        """What an argument holds is unknown from now on."""
        unknown = alg.unknown(why)
        if form_of(value) in PARTED:
            self._lose_parts(alg, value, unknown)
        for item in reachable(value):
            entry = alg.shadows.get(id(item))
            tokens = [] if entry is None else entry[1]
            for key in range(len(tokens)) if is_list(tokens) else list(tokens):
                tokens[key] = _lost(tokens[key], unknown)

    def _lose_parts(self, alg: Algebra, array: Any, unknown: Token) -> None:
        for key, part in parts_of(array, form_of(array)):
            if array.dtype.names is None:
                keep(alg, root_of(array), int(selected_places(array, key)), lose(alg, part, unknown))
            elif form_of(part) in PARTED:
                self._lose_parts(alg, part, unknown)
            else:
                alg.begin(part, unknown)

    def _is_outside(self, reference: Any) -> bool:
        """Whether a reference was there before the program ran."""
        if issubclass(type(reference), (type, ModuleType)) or type(reference) is dict and "__builtins__" in reference:
            return True
        if id(reference) in self.made:
            return False
        if self._outside is None:
            self._outside = _environment(self._function)
        return id(reference) in self._outside or len(self._outside) >= _SCAN_LIMIT


def _share_parts(a: Mirror, b: Mirror) -> bool:
    """Whether parts of one array are (in) another one, which is known by its parts or by its token."""
    if a.kind in PARTED and b.kind in PARTED:
        return np.may_share_memory(array_of(a.value), array_of(b.value))
    return a.kind in PARTED or b.kind in PARTED


def _attributes(mirror: Mirror) -> Iterable[str]:
    return mirror.children if mirror.kind == "object" else ()


def _lost(token: Token, unknown: Token) -> Token:
    if type(token) is tuple:
        return tuple([_lost(part, unknown) for part in token])
    return None if token is None else unknown


def _other_name(reference: Any, key: Any, value: Any) -> NotDifferentiable:
    """The error for having read an argument under another name."""
    return NotDifferentiable(
        f"{_name_of(reference, key)} holds a {describe(type(value))} that is (a part of) an argument, too. As such it "
        f"is another variable of the function, and the two cannot be told apart",
        place=user_location(),
        remedies=("pass a copy of the argument (copy.deepcopy)",),
    )


def _name_of(reference: Any, key: Any) -> str:
    """What a slot is called in a program."""
    if isinstance(reference, CellType):
        return "a captured variable"
    if type(reference) is FunctionType:
        return f"a default value of {reference.__qualname__}"
    if isinstance(key, Key):
        return f"a key of a {type(reference).__qualname__}"
    if isinstance(key, Attribute):
        return f"the attribute {key.name}"
    if type(reference) is dict and "__builtins__" in reference:
        return f"the global {key}"
    return f"the item {key!r} of a {type(reference).__qualname__}"


def _environment(function: Any) -> dict[int, Any]:
    """What a function can reach before it is called, by identity: what it captured, is bound to, and names.

    The scan ends at a limit, beyond which nobody knows what was there.
    """
    found: dict[int, Any] = {}
    seen: set[int] = set()
    stack = [function]
    while stack:
        for item in reachable(stack.pop(), seen=seen):
            if len(found) >= _SCAN_LIMIT:
                return found
            found[id(item)] = item
            if type(item) is not FunctionType:
                stack += [f for cls in type(item).__mro__ for f in vars(cls).values() if type(f) is FunctionType]
    return found
