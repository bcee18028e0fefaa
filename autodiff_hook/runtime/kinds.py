"""What a type means for differentiation: does it hold numbers, references, or nothing of interest?

It is the type that is asked, of whatever may be reached: ``isinstance`` asks the value for its ``__class__`` as well,
and a weak proxy of what is dead, or a class with such a property, answers with an error.
"""

from __future__ import annotations

import enum
import types
import weakref
from collections import Counter, OrderedDict, defaultdict
from functools import partial
from typing import Final, Literal, TypeVar

import numpy as np

from autodiff_hook.signatures import is_exact

Kind = Literal["number", "array", "tuple", "list", "dict", "set", "cell", "object", "inert"]

_KINDS: Final[dict[type, Kind]] = {
    float: "number",
    int: "number",
    complex: "number",
    tuple: "tuple",
    list: "list",
    dict: "dict",
    set: "set",
    types.CellType: "cell",
}
_KINDS_BY_ID: Final[dict[int, tuple[Kind, weakref.ref[type]]]] = {}

_BASES: Final[tuple[tuple[type, Kind], ...]] = (
    (float, "number"),
    (int, "number"),
    (complex, "number"),
    (tuple, "tuple"),
    (list, "list"),
    (dict, "dict"),
    (set, "set"),
    (frozenset, "set"),
)

_INERT: Final = (
    str,
    bytes,
    bool,
    type(None),
    type,
    types.ModuleType,
    slice,
    range,
    type(Ellipsis),
    type(NotImplemented),
    enum.Enum,
    types.BuiltinFunctionType,
    types.CodeType,
    types.FrameType,
    types.TracebackType,
)


WRITTEN: Final = (str, bytes, np.datetime64, np.timedelta64, types.CodeType)
"""Types of what is inert, but numbers may be read from it again: its token is that of what was written."""


MAPPINGS: Final = (defaultdict, OrderedDict, Counter)
DICTS: Final = (dict, *MAPPINGS)
"""The dicts of the standard library; such objects are their items, and nothing more."""


def kind_of(cls: type) -> Kind:
    """The kind of the values of type ``cls``."""
    kind = _KINDS.get(cls)
    if kind is not None:
        return kind
    known = _KINDS_BY_ID.get(id(cls))
    return known[0] if known is not None else remember(_KINDS_BY_ID, cls, _classify(cls))


T = TypeVar("T")
ByClass = dict[int, tuple[T, weakref.ref[type]]]


def remember(table: ByClass[T], cls: type, found: T) -> T:
    """Enter what has been found out about a class into a table; the class is not kept alive."""
    # Another class may get this number next, so the callback runs no Python code, which may be interrupted.
    table[id(cls)] = (found, weakref.ref(cls, partial(table.pop, id(cls))))
    return found


def _classify(cls: type) -> Kind:
    if issubclass(cls, np.ndarray):
        return "array"
    if issubclass(cls, (np.bool_, np.timedelta64)):
        return "inert"
    if issubclass(cls, np.number):
        return "number"
    if issubclass(cls, np.void):
        return "object"
    if issubclass(cls, (np.dtype, np.ufunc, np.generic)):
        return "inert"
    if issubclass(cls, _INERT) or any(base.__dict__.get("is_algebra") is True for base in cls.__mro__):
        return "inert"
    if is_exact(cls):
        return "number"
    for base, kind in _BASES:
        if issubclass(cls, base):
            return kind
    return "object"
