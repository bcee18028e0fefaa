"""Signatures: the types of arguments that a rule is for, and which of two is the more specific."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from itertools import zip_longest
from typing import Any as AnyType
from typing import Final


class Kind:
    """A set of types that a rule's signature can ask for: ``Real``, ``Complex``, ``Array``, ``Any``."""

    def __init__(self, name: str, rank: int, contains: Callable[[type], bool]) -> None:
        self.name, self.rank, self.contains = name, rank, contains

    def __repr__(self) -> str:
        return self.name


def _numpy_type(cls: type, *names: str) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(cls, tuple(getattr(numpy, name) for name in names))


_ARITHMETIC: Final = (
    "add sub mul truediv floordiv mod pow radd rsub rmul rtruediv rfloordiv rmod rpow neg pos abs".split()
)


def _is_real(cls: type) -> bool:
    if cls is float or cls is int or cls is getattr(sys.modules.get("numpy"), "float64", None):
        return True
    base = float if issubclass(cls, float) else int
    if issubclass(cls, base) and cls is not bool:
        return _keeps_arithmetic(cls, base) or _numpy_type(cls, "floating")
    return _numpy_type(cls, "floating", "integer") and not _numpy_type(cls, "timedelta64")


def _keeps_arithmetic(cls: type, base: type) -> bool:
    """Whether a class has the arithmetic of its base: one that redefines it has derivatives of its own."""
    return all(getattr(cls, f"__{name}__", None) is getattr(base, f"__{name}__", None) for name in _ARITHMETIC)


def may_redefine(cls: type) -> bool:
    """Whether a class of numbers or arrays may be given other arithmetic while a program runs."""
    number = issubclass(cls, (int, float, complex)) or _numpy_type(cls, "ndarray", "generic")
    return number and not cls.__flags__ & _IMMUTABLE_TYPE


def redefines(cls: type) -> bool:
    """Whether a class, or one that it is derived from and that may be changed, has arithmetic of its own."""
    opened = [base.__dict__ for base in cls.__mro__ if not base.__flags__ & _IMMUTABLE_TYPE]
    return any(not _REDEFINED.isdisjoint(namespace) for namespace in opened)


_IMMUTABLE_TYPE: Final = 1 << 8
_REDEFINED: Final = frozenset([f"__{name}__" for name in (*_ARITHMETIC, "matmul", "array_ufunc", "array_function")])


_EXACT: Final = (("fractions", "Fraction"), ("decimal", "Decimal"))


def is_exact(cls: type) -> bool:
    """Whether a type is one of the standard library's exact numbers."""
    return any(cls is getattr(sys.modules.get(module), name, None) for module, name in _EXACT)


def _is_array(cls: type) -> bool:
    if not _numpy_type(cls, "ndarray"):
        return False
    base: AnyType = sys.modules["numpy"].ndarray
    names = [f"__{name}__" for name in (*_ARITHMETIC, "matmul", "array_ufunc", "array_function")]
    return cls is base or all(getattr(cls, name, None) is getattr(base, name, None) for name in names)


def _is_complex(cls: type) -> bool:
    if issubclass(cls, complex) and _keeps_arithmetic(cls, complex):
        return True
    return _is_real(cls) or _numpy_type(cls, "complexfloating")


Real: Final = Kind("Real", 1, _is_real)
"""int, float and NumPy's real scalars; not bool."""
Complex: Final = Kind("Complex", 2, _is_complex)
"""``Real``, complex and NumPy's complex scalars."""
Exact: Final = Kind("Exact", 1, is_exact)
"""``Fraction`` and ``Decimal``; not subclasses, whose arithmetic may be another one."""
Array: Final = Kind("Array", 1, _is_array)
"""``numpy.ndarray`` of any dtype, 0-d arrays included, and subclasses that leave its arithmetic alone."""
Any: Final = Kind("Any", 3, lambda cls: True)
"""Every type."""

Entry = Kind | type


def _accepts(entry: Entry, cls: type) -> bool:
    return entry.contains(cls) if isinstance(entry, Kind) else issubclass(cls, entry)


def _within(a: Entry, b: Entry) -> bool:
    """Whether every type of ``a`` is one of ``b``."""
    if a is b or b is Any:
        return True
    if isinstance(a, Kind):
        return isinstance(b, Kind) and (a, b) == (Real, Complex)
    return _accepts(b, a)


Signature = tuple[Entry, ...]
"""The types of the leading arguments; those that are not listed are ``Any``."""


def is_more_specific(a: Signature, b: Signature) -> bool:
    """Whether all types of ``a`` are of ``b``."""
    length = max(len(a), len(b))
    return all(map(_within, padded(a, length), padded(b, length)))


def padded(signature: Signature, length: int) -> Signature:
    """A signature with ``Any`` for what it does not list, up to a length."""
    return signature + (Any,) * (length - len(signature))


@functools.lru_cache(maxsize=8192)  # the rules of NumPy alone ask of 1500 pairs, each time and again
def are_ambiguous(a: Signature, b: Signature) -> bool:
    """Whether some arguments fit both, and neither is the more specific one."""
    wider = narrower = False
    for x, y in zip_longest(a, b, fillvalue=Any):
        if x is not y:
            narrow = _within(x, y)
            if not narrow and not _within(y, x):
                return False
            wider, narrower = wider or not narrow, narrower or narrow
    return wider and narrower


def meet(a: Signature, b: Signature) -> Signature:
    """The widest signature of what both are for, of two that are ambiguous beside one another."""
    length = max(len(a), len(b))
    return tuple(x if _within(x, y) else y for x, y in zip(padded(a, length), padded(b, length)))


def matches(signature: Signature, types: tuple[type, ...]) -> bool:
    """Whether arguments of these types fit; what either side does not list is ``Any``, or absent."""
    listed = all(_accepts(entry, cls) for entry, cls in zip(signature, types))
    return listed and all(entry is Any for entry in signature[len(types) :])
