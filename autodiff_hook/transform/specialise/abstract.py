"""What the specialiser knows of a value before the program runs: abstract values.

Beside what is certain, an abstract value carries an *example*: what the value was when the arguments at
hand were followed through the program. Examples are only for working out the types of results.
"""

from __future__ import annotations

from dataclasses import field, fields
from types import CodeType, UnionType
from typing import Any, ClassVar, Final, Generic, TypeVar

from autodiff_hook.ir.types import Constant, Kwargs, Operand, Statement
from autodiff_hook.records import record

T = TypeVar("T")


class Missing:
    """The example of a value that none is known for."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


@record(frozen=True)
class Abstract:
    """Anything at all."""

    example: Any = field(default=MISSING, compare=False, kw_only=True)


class _ByParts:
    """Equal if all parts are: operands and code by identity, tuples and dicts of them item by item."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        names = [f.name for f in fields(self) if f.name != "example"]  # type: ignore[arg-type]
        return all(_is_part(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        return hash(type(self))


def _is_part(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_is_part, a, b))
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return all(_is_part(a[key], b[key]) for key in a)
    if isinstance(a, Constant) and isinstance(b, Constant):
        return a.value is b.value
    return False


@record(frozen=True, eq=False)
class Known(Abstract):
    """One object, known by identity (numbers and strings: by type and value)."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known):
            return False
        a, b = self.value, other.value
        if a is b or type(a) is not type(b) or not issubclass(type(a), _COMPARED):
            return a is b
        # A call gives another nan each time it is interpreted; none is equal to itself.
        return bool(a == b or a != a) and repr(a) == repr(b)

    def __hash__(self) -> int:
        return hash(type(self.value))


_COMPARED: Final = (int, float, str, bytes, slice, tuple, UnionType)


@record(frozen=True, eq=False)
class OneOf(Abstract):
    """One of several functions or classes from outside."""

    values: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OneOf) and set(map(id, self.values)) == set(map(id, other.values))

    def __hash__(self) -> int:
        return hash(OneOf)


@record(frozen=True)
class Number(Abstract):
    """A number whose exact type is one of a few."""

    types: frozenset[type]


@record(frozen=True, eq=False)
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


@record(frozen=True)
class Tuple(Abstract):
    """An exact tuple of known length; or a list, or a dict with known keys, that nothing in the program changes."""

    items: tuple[Abstract, ...]
    cls: type = tuple
    keys: tuple[Any, ...] = ()
    place: Any = field(default=None, compare=False, kw_only=True)
    """Where a list is written out."""


class _OfRoot(Generic[T]):
    """What is known of a site: it is known of the one that stands for all that were united."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, site: Site, owner: type | None = None) -> T:
        found: T = getattr(site.root(), self.name)
        return found

    def __set__(self, site: Site, value: T) -> None:
        setattr(site.root(), self.name, value)


class Site:
    """Where lists or dicts come from that may be one: what they hold is of one kind, or of one by each name.

    Sites whose lists come by one name are united (Steensgaard, "Points-to Analysis in Almost Linear Time", 1996).
    """

    __slots__ = ("_absent", "_cls", "_examples", "_given", "_item", "_key", "_made_by", "_named", "_united", "_whole")
    item = _OfRoot[Abstract | None]()
    """What is known of the items; None if nothing has been put into such a list so far."""
    key = _OfRoot[Abstract | None]()
    """What is known of the keys of a dict."""
    named = _OfRoot[dict[str, Abstract]]()
    """What is known of items of a dict by their keys."""
    examples = _OfRoot[list[Any]]()
    """Objects whose attributes are examples."""
    whole = _OfRoot[bool]()
    """Whether all objects of their class that they hold are among them."""
    absent = _OfRoot[set[str]]()
    """The attributes that objects must not have."""
    given = _OfRoot[bool]()
    """Whether one of the lists is not the program's own."""
    cls = _OfRoot[Any]()
    """What the program takes its lists or dicts for, if it is something else: a class, or, of objects, a family of
    classes; MISSING if they are of several."""
    made_by = _OfRoot[Any]()
    """What gives the items of dicts that are not there."""

    def __init__(self, item: Abstract | None = None, given: bool = False, key: Abstract | None = None) -> None:
        self._united: Site | None = None
        self.item, self.given, self.key = item, given, key
        self.named, self.examples, self.absent = {}, [], set()
        self.cls = self.made_by = None
        self.whole = False

    def root(self) -> Site:
        """The site that stands for all that were united."""
        site = self
        while site._united is not None:
            site = site._united
        return site

    def stand_for(self, cls: type | frozenset[type], made_by: Any = None) -> None:
        """Let lists be tuples for the program, or dicts have items that ``made_by`` gives."""
        self.cls, self.made_by = cls, made_by

    def kinds(self) -> list[Abstract]:
        """All that is known of items."""
        return [*self.named.values(), *([] if self.item is None else [self.item])]

    def new_to(self, other: Site) -> list[Any]:
        """The examples that another site does not have."""
        known = set(map(id, other.examples))
        return [x for x in self.examples if id(x) not in known]

    def unite(self, other: Site) -> None:
        """A list of one may be one of the other; what they hold is for the caller to join."""
        a, b = self.root(), other.root()
        if a is not b:
            if a.cls != b.cls or a.made_by is not b.made_by:
                a.cls = MISSING
            a.given = a.given or b.given
            a.examples += b.new_to(a)
            a.absent |= b.absent
            a.whole = a.whole and b.whole
            b._united = a


@record(frozen=True, eq=False)
class Reference(Abstract):
    """A list, a dict or an object, whose cotangents are found by its identity."""

    site: Site

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.site.root() is other.site.root()

    def __hash__(self) -> int:
        return hash(type(self))


@record(frozen=True, eq=False)
class List(Reference):
    """An exact list of items of one kind."""

    cls: ClassVar[type] = list

    @property
    def item(self) -> Abstract | None:
        """What is known of the items."""
        return self.site.item


@record(frozen=True, eq=False)
class Dict(Reference):
    """An exact dict: items of one kind, or of one by each name."""

    cls: ClassVar[type] = dict
    among: frozenset[type] | None = None
    """Of which classes an object is, if its site has more of them."""

    def __eq__(self, other: object) -> bool:
        return Reference.__eq__(self, other) and self.among == other.among  # type: ignore[attr-defined]

    __hash__ = Reference.__hash__


@record(frozen=True, eq=False)
class Record(Reference):
    """An object from outside, of an exact class: its attributes are read, and guarded to be of one kind."""

    cls: type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.cls is other.cls and self.site.root() is other.site.root()

    def __hash__(self) -> int:
        return hash(self.cls)


@record(frozen=True, eq=False)
class Mixed(Reference):
    """An object from outside of one of several classes: its site has a record for each, by what tells them apart."""

    among: frozenset[type]

    def __eq__(self, other: object) -> bool:
        return Reference.__eq__(self, other) and self.among == other.among  # type: ignore[attr-defined]

    __hash__ = Reference.__hash__


@record(frozen=True)
class Instance(Abstract):
    """A value of an exact type that carries no derivative."""

    cls: type


@record(frozen=True)
class Outside(Abstract):
    """An object from outside, of an exact type; its parts are loaded, and guarded, on entry."""

    cls: type
    at: Operand | None = None
    """What it is loaded as on entry; None if that is not known."""


@record(frozen=True)
class Optional(Abstract):
    """Absent, or what ``content`` says: numbers, arrays, what has no derivative, and tuples of these."""

    content: Abstract
    absent: Any = None
    """None, or ``UNBOUND`` for a variable that may not be assigned yet."""


@record(frozen=True)
class Nothing(Abstract):
    """The item of what is empty as far as is known: no iteration begins."""


NOTHING: Final = Nothing()


@record(frozen=True)
class Iterator(Abstract):
    """What a ``for`` runs over, and its class if that is known."""

    item: Abstract
    cls: type | None = None


@record(frozen=True, eq=False)
class Cell(_ByParts, Abstract):
    """A closure cell of the program; what it holds is looked up by the operand."""


@record(frozen=True, eq=False)
class Closure(_ByParts, Abstract):
    """A function made in the program: its code, and the operands of what it captures."""

    code: CodeType
    globals: dict[str, Any]
    cells: tuple[Operand, ...]
    defaults: tuple[Operand, ...] = ()
    keyword_defaults: Any = None
    described: bool = False
    """Whether its parameters have defaults or annotations, which are values of the program."""
    wraps: Operand | None = None
    """The function whose names it tells (``functools.wraps``)."""


@record(frozen=True, eq=False)
class Bound(_ByParts, Abstract):
    """A bound method of a value in the program."""

    function: Any
    receiver: Operand


@record(frozen=True, eq=False)
class Lookup(_ByParts, Abstract):
    """A method of a value that no argument of its call can replace: it is looked up at the call."""

    name: str
    receiver: Operand


@record(frozen=True)
class Fresh(Abstract):
    """An object that the program makes, with attributes that are assigned once: it is never built."""

    cls: type
    made: Any


@record(frozen=True)
class Container(Abstract):
    """A list, a dict or a set on one way through the program: what it holds is known step by step."""

    cls: type
    made: Any


@record(frozen=True, eq=False)
class Partial(_ByParts, Abstract):
    """A ``functools.partial`` that the program makes."""

    function: Operand
    args: tuple[Operand, ...]
    kwargs: Kwargs


@record(frozen=True)
class Producer(Abstract):
    """A generator that the program makes: its body stands where it is iterated over.

    ``made`` is what makes it, a statement whose data are the ``Suspended`` call.
    """

    made: Statement


@record(frozen=True)
class Error(Abstract):
    """An exception, of which no more is known than its class."""

    cls: type


@record(frozen=True, eq=False)
class Super(_ByParts, Abstract):
    """``super(after, receiver)``."""

    after: type
    receiver: Operand


@record(frozen=True)
class Several(Abstract):
    """One of several values of which one exists only while the program is made: nothing can be asked of it."""


ANY: Final = Abstract()
REALS: Final = (float, int)
BOOL: Final = Number(frozenset({bool}))
INT: Final = Number(frozenset({int}))
