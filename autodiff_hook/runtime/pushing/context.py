"""The tangents of what references hold; those of values travel along the edges of the program.

The entry of a list is a parallel list of tangents; that of anything else is a dict, by key, attribute,
element, or 0 for a cell. None is zero.
"""

from __future__ import annotations

from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

from autodiff_hook.errors import Unsupported, located
from autodiff_hook.runtime.context import reachable
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.pushing.handlers import bookkeeping

Tangent = Any
Result = tuple[Any, Tangent]

_SLOTS: Final = (MemberDescriptorType, GetSetDescriptorType)


class TangentContext:
    """What a pushforward knows of the references and of the written arrays it met."""

    def __init__(self) -> None:
        self.tangents: dict[int, tuple[Any, Any]] = {}
        self.arrays: dict[int, tuple[Any, Any]] = {}
        self.made: dict[int, tuple[Any, Any, Any]] = {}
        self.modules: set[str] = set()
        self.iterates = False
        self.sessions: dict[int, tuple[Any, ...]] = {}


@bookkeeping
def kind(value: Any) -> str:
    """What the type of a value means for differentiation."""
    return kind_of(type(value))


@bookkeeping
def is_list(value: Any) -> bool:
    """Whether the tangents of ``value`` are kept in a list."""
    return isinstance(value, list)


@bookkeeping
def some(tangents: Any) -> bool:
    """Whether one of the tangents is not a structural zero."""
    return any(tangent is not None for tangent in tangents)


@bookkeeping
def quiet(ctx: TangentContext, tangents: Any) -> bool:
    """Whether a call with these tangents can have no derivative at all."""
    if ctx.tangents or ctx.arrays or ctx.iterates:
        return False
    return all(tangent is None for tangent in tangents)


@bookkeeping
def reaches(ctx: TangentContext, value: Any) -> bool:
    """Whether something with a tangent can be reached from ``value`` by reference."""
    if not ctx.tangents and not ctx.arrays and not ctx.iterates:
        return False
    return any(_has_tangent(ctx, item) for item in reachable(value, arrays=True)) or _holds_written(ctx, value)


def _has_tangent(ctx: TangentContext, item: Any) -> bool:
    if type(item).__name__ == "PushIteration":
        return True
    entry = ctx.tangents.get(id(item))
    if entry is None and kind_of(type(item)) == "object" and type(item).__dictoffset__:
        # From CPython 3.13 on the collector sees the values of the attributes, and not the dict.
        entry = ctx.tangents.get(id(object.__getattribute__(item, "__dict__")))
    if entry is None:
        return False
    return some(entry[1] if isinstance(entry[1], list) else entry[1].values())


def _holds_written(ctx: TangentContext, value: Any) -> bool:
    from autodiff_hook.runtime.pushing.arrays import is_written

    if not ctx.arrays:
        return False
    if kind_of(type(value)) == "array":
        return is_written(ctx, value)
    return kind_of(type(value)) in ("tuple", "list") and any(_holds_written(ctx, item) for item in value)


@bookkeeping
def check_length(reference: Any, tangents: Any) -> None:
    """Raise if a list was changed by code that the pushforward has not seen."""
    if isinstance(reference, list) and len(reference) != len(tangents):
        raise Unsupported(
            located("a list that holds what is differentiated was changed by code that is not differentiated")
        )


def known(ctx: TangentContext, reference: Any) -> Any:
    """The tangents of the slots of ``reference``; None if it never held one."""
    entry = ctx.tangents.get(id(reference))
    if entry is None:
        return None
    check_length(reference, entry[1])
    return entry[1]


def opened(ctx: TangentContext, reference: Any) -> Any:
    """The tangents of the slots of ``reference``, to be changed."""
    found = known(ctx, reference)
    if found is None:
        found = [None] * len(reference) if is_list(reference) else {}
        ctx.tangents[id(reference)] = (reference, found)
    return found


def to_change(ctx: TangentContext, reference: Any, tangents: Any) -> Any:
    """The tangents of the slots of ``reference`` if they matter when ``tangents`` are stored there."""
    return opened(ctx, reference) if some(tangents) else known(ctx, reference)


def load_attribute(ctx: TangentContext, owner: Any, name: str) -> Tangent:
    """The tangent of an attribute that ``owner`` itself has."""
    holder = holder_of(owner, name)
    return None if is_list(holder) else load(ctx, holder, name)


def keep_attribute(ctx: TangentContext, owner: Any, name: str, tangent: Tangent) -> None:
    """The tangent of an attribute that ``owner`` itself has is this from now on."""
    holder = holder_of(owner, name)
    if not is_list(holder):
        keep(ctx, holder, name, tangent)
    elif tangent is not None:
        refuse_slots(owner, name)


@bookkeeping
def refuse_slots(owner: Any, name: str) -> None:
    """Raise for an attribute of a list that has no ``__dict__``."""
    raise Unsupported(located(f"the attribute {name!r} of a {type(owner).__qualname__}, a list with __slots__"))


@bookkeeping
def holder_of(owner: Any, name: str) -> Any:
    """The reference that an attribute of ``owner`` is a slot of: its ``__dict__``, or ``owner`` itself."""
    dictionary = getattr(owner, "__dict__", None)
    if type(dictionary) is dict and (name in dictionary or not isinstance(find_in_type(type(owner), name), _SLOTS)):
        return dictionary
    return owner


def load(ctx: TangentContext, reference: Any, key: Any) -> Tangent:
    """The tangent of one slot."""
    found = known(ctx, reference)
    if found is None:
        return None
    return found[key] if is_list(reference) else found.get(key)


def keep(ctx: TangentContext, reference: Any, key: Any, tangent: Tangent) -> None:
    """The tangent of one slot is this from now on."""
    if tangent is not None or known(ctx, reference) is not None:
        opened(ctx, reference)[key] = tangent


def keep_all(ctx: TangentContext, reference: Any, tangents: Any) -> None:
    """The tangents of all slots of a new reference."""
    if some(tangents if is_list(tangents) else tangents.values()):
        ctx.tangents[id(reference)] = (reference, tangents)
