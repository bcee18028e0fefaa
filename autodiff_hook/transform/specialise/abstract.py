"""What the specialiser knows of a value before the program runs: abstract values, and their joins.

Beside what is certain, an abstract value carries an *example*: what the value was when the arguments at
hand were followed through the program. Examples are only for working out the types of results.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from types import CodeType, ModuleType
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand


class Missing:
    """The example of a value that none is known for."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


@dataclass(frozen=True, slots=True)
class Abstract:
    """Anything at all."""

    example: Any = field(default=MISSING, compare=False, kw_only=True)


class _ByParts:
    """Equal if all parts are: operands and code by identity, tuples of them item by item."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        names = [f.name for f in fields(self) if f.name != "example"]  # type: ignore[arg-type]
        return all(_is_part(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        return hash(type(self))


def _is_part(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_is_part, a, b))
    if isinstance(a, Constant) and isinstance(b, Constant):
        return a.value is b.value
    return a is b


@dataclass(frozen=True, slots=True, eq=False)
class Known(Abstract):
    """One object, known by identity (numbers and strings: by type and value)."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known):
            return False
        a, b = self.value, other.value
        return a is b or (type(a) is type(b) and issubclass(type(a), _COMPARED) and a == b and repr(a) == repr(b))

    def __hash__(self) -> int:
        return hash(type(self.value))


_COMPARED: Final = (int, float, str, bytes, slice, tuple)


@dataclass(frozen=True, slots=True)
class Number(Abstract):
    """A number whose exact type is one of a few."""

    types: frozenset[type]


@dataclass(frozen=True, slots=True, eq=False)
class Array(Abstract):
    """An exact ``numpy.ndarray``; with ``scalar`` it may also be a NumPy scalar. None: not known."""

    dtype: Any = None
    ndim: int | None = None
    scalar: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array):
            return False
        return same_dtype(self.dtype, other.dtype) and (self.ndim, self.scalar) == (other.ndim, other.scalar)

    def __hash__(self) -> int:
        return hash((Array, self.ndim, self.scalar))


def same_dtype(a: Any, b: Any) -> bool:
    """Whether two dtypes are one; NumPy takes None, which is not known here, for float64."""
    return a is b or (a is not None and b is not None and a == b)


@dataclass(frozen=True, slots=True)
class Tuple(Abstract):
    """An exact tuple of known length; or a list, or a dict with known keys, that nothing in the program changes."""

    items: tuple[Abstract, ...]
    cls: type = tuple
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class List(Abstract):
    """An exact list of items of one kind, which nothing in the program changes."""

    item: Abstract


@dataclass(frozen=True, slots=True)
class OwnList(Abstract):
    """A list of numbers or arrays that the program makes at ``made`` and changes."""

    made: Any


@dataclass(frozen=True, slots=True)
class OwnDict(Abstract):
    """A dict that the program makes at ``made`` and changes: numbers, arrays or what has no derivative, by key."""

    made: Any


@dataclass(frozen=True, slots=True)
class Instance(Abstract):
    """A value of an exact type that carries no derivative."""

    cls: type


@dataclass(frozen=True, slots=True)
class Outside(Abstract):
    """An object from outside, of an exact type; its parts are loaded, and guarded, on entry."""

    cls: type


@dataclass(frozen=True, slots=True)
class Iterator(Abstract):
    """What a ``for`` runs over."""

    item: Abstract


@dataclass(frozen=True, slots=True, eq=False)
class Cell(_ByParts, Abstract):
    """A closure cell that is assigned once, to ``content``."""

    content: Operand | None


@dataclass(frozen=True, slots=True, eq=False)
class Closure(_ByParts, Abstract):
    """A function made in the program: its code, and the operands of what it captures."""

    code: CodeType
    globals: dict[str, Any]
    cells: tuple[Operand, ...]
    defaults: tuple[Operand, ...] = ()
    keyword_defaults: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Bound(_ByParts, Abstract):
    """A bound method of a value in the program."""

    function: Any
    receiver: Operand


@dataclass(frozen=True, slots=True, eq=False)
class Lookup(_ByParts, Abstract):
    """A method of a value that no argument of its call can replace: it is looked up at the call."""

    name: str
    receiver: Operand


@dataclass(frozen=True, slots=True)
class Fresh(Abstract):
    """An object that the program makes, with attributes that are assigned once: it is never built."""

    cls: type
    made: Any


@dataclass(frozen=True, slots=True)
class Container(Abstract):
    """A list, a dict or a set on one way through the program: what it holds is known step by step."""

    cls: type
    made: Any


@dataclass(frozen=True, slots=True, eq=False)
class Partial(_ByParts, Abstract):
    """A ``functools.partial`` that the program makes."""

    function: Operand
    args: tuple[Operand, ...]
    kwargs: dict[str, Operand]


@dataclass(frozen=True, slots=True)
class Error(Abstract):
    """An exception, of which no more is known than its class."""

    cls: type


@dataclass(frozen=True, slots=True, eq=False)
class Super(_ByParts, Abstract):
    """``super(after, receiver)``."""

    after: type
    receiver: Operand


@dataclass(frozen=True, slots=True)
class Several(Abstract):
    """One of several values of which one exists only while the program is made: nothing can be asked of it."""


ANY: Final = Abstract()
REALS: Final = (float, int)
BOOL: Final = Number(frozenset({bool}))
INT: Final = Number(frozenset({int}))


def join(a: Abstract, b: Abstract) -> Abstract:
    """The least that is true of both."""
    if a == b:
        return a
    numbers = number_types(a), number_types(b)
    if numbers[0] is not None and numbers[1] is not None:
        return Number(numbers[0] | numbers[1], example=example_of(a))
    if isinstance(a, Array) and isinstance(b, Array):
        return Array(
            a.dtype if same_dtype(a.dtype, b.dtype) else None,
            a.ndim if a.ndim == b.ndim else None,
            a.scalar or b.scalar,
            example=a.example,
        )
    if isinstance(a, Tuple) and isinstance(b, Tuple) and (len(a.items), a.cls, a.keys) == (len(b.items), b.cls, b.keys):
        return Tuple(tuple(map(join, a.items, b.items)), a.cls, a.keys, example=a.example)
    if isinstance(a, List) and isinstance(b, List):
        return List(join(a.item, b.item), example=a.example)
    if is_virtual(a) or is_virtual(b):
        return Several()
    classes = inert_class(a), inert_class(b)
    if classes[0] is not None and classes[0] is classes[1]:
        return Instance(classes[0], example=example_of(a))
    return ANY


def is_virtual(value: Abstract) -> bool:
    """Whether a value exists only while the program is made, or something in it."""
    if isinstance(value, Tuple):
        return any(map(is_virtual, value.items))
    return isinstance(value, (Fresh, Closure, Bound, Lookup, Cell, Container, Partial, Super, Error, Several))


def number_types(value: Abstract) -> frozenset[type] | None:
    """The types that a number may have; None if it may be something else."""
    if isinstance(value, Number):
        return value.types
    if isinstance(value, Known) and type(value.value) in (int, float, bool, complex):
        return frozenset({type(value.value)})
    return None


def inert_class(value: Abstract) -> type | None:
    """The exact type of a value without derivative."""
    if isinstance(value, Instance):
        return value.cls
    if isinstance(value, Known) and not isinstance(value.value, (ModuleType, type)) and not callable(value.value):
        return type(value.value)
    return None


def example_of(value: Abstract) -> Any:
    """An example of the value."""
    return value.value if isinstance(value, Known) else value.example


def is_true(value: Abstract) -> bool | None:
    """The truth of a value, if it is known."""
    if isinstance(value, Known):
        try:
            return bool(value.value)
        except Exception:
            return None
    if isinstance(value, (Closure, Bound, Cell, Partial)):
        return True
    if isinstance(value, Fresh):
        return None if hasattr(value.cls, "__bool__") or hasattr(value.cls, "__len__") else True
    return bool(value.items) if isinstance(value, Tuple) else None
