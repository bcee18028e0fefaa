"""Where rule packs and the runtime declare what the typed pass may know of the functions they call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from autodiff_hook.ir.types import Operand, Statement

if TYPE_CHECKING:
    from autodiff_hook.transform.improve.facts import Fact

Shortcut = Callable[..., "Operand | None"]
Typing = Callable[..., "Fact | None"]

SHORTCUTS: Final[dict[Any, Shortcut]] = {}
"""How a call of a function is written where the types are known: the operand that replaces its result, or None."""
TYPINGS: Final[dict[Any, Typing]] = {}
"""What is known of the result of a function."""
FRESH: Final[set[Any]] = set()
"""Functions whose result shares no memory with their arguments, which they do not keep either."""
BORROWING: Final[set[Any]] = set()
"""Functions that do not keep their arguments, but may return one, or a view of one."""

VIEWING: Final[set[Any]] = set()
"""Functions that do not keep their arguments, but may return a view of one that cannot be written to."""
INTO: Final[set[Any]] = set()
"""Functions that change their first argument and return it, and keep nothing else."""
EFFECTS: Final[set[Any]] = set()
"""Functions that are called for what they change, not for a result."""
LOOKING: Final[set[Any]] = set()
"""Those of them that change nothing, and only may give the program up."""
RANKS: Final[set[Any]] = set()
"""Functions that say how many axes an array has."""
ZEROS: Final[set[Any]] = set()
"""Functions that make an array of zeros."""
HARMLESS: Final[set[Any]] = set()
"""Functions that cannot raise where something is known of their result."""
COMPUTING: Final[set[Any]] = set()
"""Functions that only compute, so that types are found by calling them, and calls that nobody needs are left out."""
LOOKUPS: Final[set[Any]] = set()
"""Functions that find or begin what belongs to an object, which may as well be done later."""
MIRRORING: Final[set[Any]] = set()
"""Functions that find or make what has the places of their last argument: its indices or keys."""
METHODS: Final[dict[Any, Callable[..., Any]]] = {}
"""For methods: which function with a rule a call of one is, and of what; None if it is none."""
SHAPED: Final[set[Any]] = set()
"""Functions whose result has a shape that follows from shapes, dtypes and constants, not from what arrays hold."""
SUMS: Final[set[Any]] = set()
"""Functions that add two cotangents, None being zero."""
COMPLEX_BY_VALUE: Final[set[Any]] = set()
"""Functions of real numbers and arrays whose results are complex for some values of these, and real for others."""


def shortcut(*functions: Any) -> Callable[[Shortcut], Shortcut]:
    """Declare how calls of ``functions`` are written where types are known: ``f(site, *operands)``."""

    def register(write: Shortcut) -> Shortcut:
        for function in functions:
            SHORTCUTS[function] = write
        return write

    return register


def typed(*functions: Any) -> Callable[[Typing], Typing]:
    """Declare what is known of the results of ``functions``: ``f(site, *operands)``."""

    def register(typing: Typing) -> Typing:
        for function in functions:
            TYPINGS[function] = typing
        return typing

    return register


def fresh(*functions: Any) -> None:
    """Declare that ``functions`` return new objects and keep nothing."""
    FRESH.update(functions)


def pure(*functions: Any) -> None:
    """Declare that ``functions``, Python code of others, only compute: they may be called on examples, or not at all.

    It is known of NumPy, SciPy, the standard library, ufuncs, and functions that are not Python code.
    """
    COMPUTING.update(functions)


def pointwise(*functions: Any) -> None:
    """Declare that ``functions`` map arrays of doubles element by element, broadcast, to new ones, and do nothing else.

    It is known of ufuncs.
    """
    pure(*functions)
    fresh(*functions)
    for function in functions:
        TYPINGS.setdefault(function, _pointwise)


def _pointwise(site: Any, *operands: Operand) -> Any:
    doubles = [x for x in operands if site.is_double(x)]
    plain = all(site.is_double(x) or site.is_floating(x) for x in operands)
    return site.elementwise(site.fact(doubles[0]).dtype, *operands) if doubles and plain else None


def borrowing(*functions: Any) -> None:
    """Declare that ``functions`` keep nothing, though they may return what they were given."""
    BORROWING.update(functions)


def ranks(*functions: Any) -> None:
    """Declare that ``functions`` say how many axes an array has."""
    RANKS.update(functions)


def effects(*functions: Any) -> None:
    """Declare that ``functions`` change what they are given, and keep nothing of it."""
    EFFECTS.update(functions)
    FRESH.update(functions)


def zeros(*functions: Any) -> None:
    """Declare that ``functions`` make arrays of zeros."""
    ZEROS.update(functions)


def complex_by_value(*functions: Any) -> None:
    """Declare that what ``functions`` give is real or complex by what numbers and arrays hold, not by their types."""
    COMPLEX_BY_VALUE.update(functions)


def harmless(*functions: Any) -> None:
    """Declare that ``functions`` cannot raise where their result is known."""
    HARMLESS.update(functions)


def shaped(*functions: Any) -> None:
    """Declare that the shapes of the results of ``functions`` do not depend on what floats and arrays hold."""
    SHAPED.update(functions)


def viewing(*functions: Any) -> None:
    """Declare that ``functions`` keep nothing, though their result may be a view that cannot be written to."""
    VIEWING.update(functions)


def method_of(function: Any, target: Callable[..., Any]) -> None:
    """Declare what calls of a method are: ``target(object, args, kwargs)``, a function and its arguments."""
    METHODS[function] = target


def lookup(table: dict[Any, Any], function: Any) -> Any:
    """What is declared of a function, if anything."""
    try:
        return table.get(function)
    except TypeError:
        return None


def applied(table: dict[Any, Any], site: Any, s: Statement) -> Any:
    """What the declaration for the function that ``s`` calls says of this call; None if there is none."""
    write = None if s.callee is None else lookup(table, s.callee)
    if write is None:
        return None
    count = len(s.operands) - len(s.data)
    if not _takes(write, count, s.data):
        return None
    return write(site, *s.operands[1:count], **dict(zip(s.data, s.operands[count:])))


def _takes(write: Any, count: int, names: tuple[str, ...]) -> bool:
    """Whether a declaration speaks of calls with so many arguments (the site takes the place of the callee)."""
    code = write.__code__
    if not set(names).issubset(code.co_varnames):
        return False
    required = code.co_varnames[: code.co_argcount - len(write.__defaults__ or ())]
    return (count <= code.co_argcount or bool(code.co_flags & 0x04)) and set(required[count:]).issubset(names)


def declared(table: set[Any], function: Any) -> bool:
    """Whether something is declared of a function."""
    try:
        return function in table
    except TypeError:
        return False
