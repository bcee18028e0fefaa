"""Calls of Python code taken apart: what is differentiated, and what counts as constant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from operator import itemgetter
from types import FunctionType, MethodType
from typing import Any, Final, NamedTuple, TypeVar

from autodiff_hook.registry import registry
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.native import compiled_from
from autodiff_hook.semantics.meanings import MEANINGS

T = TypeVar("T")


class Shape(NamedTuple):
    """How the values of a call stand: what is differentiated, what a ``partial`` holds, others, named ones, tangents.

    ``moving`` says of each argument whether there is a tangent of it, in forward mode; ``works`` which derivatives of
    the function are called, the innermost first, each with its ``argnums``; ``others`` at which places arguments are
    constants.
    """

    given: int
    leading: int = 0
    names: tuple[str, ...] = ()
    moving: tuple[bool, ...] = ()
    works: tuple[tuple[Any, Any], ...] = ()
    others: tuple[int, ...] = ()

    def places(self) -> list[int]:
        """At which places the arguments are that are differentiated."""
        return [i for i in range(self.given + len(self.others)) if i not in self.others]

    def positional(self, given: Iterable[T], constants: Sequence[T]) -> list[T]:
        """The arguments by position, in order; ``constants`` are all that is not differentiated."""
        others = zip(self.others, constants[self.leading :])
        return [x for _, x in sorted([*zip(self.places(), given), *others], key=itemgetter(0))]

    def named(self, constants: Sequence[T]) -> dict[str, T]:
        """The arguments by name."""
        return dict(zip(self.names, constants[self.leading + len(self.others) :]))


class Call(NamedTuple):
    """A call of a function, or of a method bound to an object: of its values, the first are differentiated."""

    function: Any
    values: tuple[Any, ...]
    shape: Shape
    anew: bool = False
    """Whether the functions that it finds may be others at each call, with the same code."""

    @staticmethod
    def plain(function: Any, args: tuple[Any, ...]) -> Call:
        """A call with positional arguments, all of which are differentiated."""
        return Call(function, args, Shape(len(args)))

    @property
    def args(self) -> tuple[Any, ...]:
        """The values that are differentiated."""
        return self.values[: self.shape.given]

    @property
    def constants(self) -> tuple[Any, ...]:
        """The values that are not."""
        return self.values[self.shape.given : len(self.values) - sum(self.shape.moving)]

    def along(self, tangents: tuple[Any, ...]) -> Call:
        """The same call with tangents of its arguments, None standing for zero."""
        moving = tuple([x is not None for x in tangents])
        values = (*self.values, *[x for x in tangents if x is not None])
        return Call(self.function, values, self.shape._replace(moving=moving))


class Places(NamedTuple):
    """At which places arguments by position are differentiated, in order, and at which they are constants."""

    given: tuple[int, ...]
    others: tuple[int, ...]
    order: tuple[int, ...]
    """All of them: the former, then the latter."""
    key: tuple[int, ...]
    """How many are differentiated, and the places of the others."""

    @classmethod
    def of(cls, given: tuple[int, ...], count: int) -> Places:
        """These places of so many."""
        others = tuple([i for i in range(count) if i not in given])
        return cls(given, others, given + others, (len(given), *others))


def given_at(places: Places | None, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments that are differentiated."""
    return args if places is None else tuple([args[i] for i in places.given])


def unfolded(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], places: Places | None = None) -> Call | None:
    """The call of Python code that ``f(*args, **kwargs)`` is; None if something else is known of ``f``."""
    if type(f) in OPERATORS:
        return _derived(f, args, kwargs, places)
    leading: tuple[Any, ...] = ()
    while type(f) is partial:
        leading, kwargs, f = (*f.args, *leading), {**f.keywords, **kwargs}, f.func
    f = f if type(f) in _CALLED else _called_method(f)
    function = f.__func__ if type(f) is MethodType else f
    if type(function) is not FunctionType or id(function) in MEANINGS or registry.knows(function):
        return None
    if not leading and not kwargs and places is None:
        return Call.plain(f, args)
    given, others = given_at(places, args), () if places is None else places.others
    shape = Shape(len(given), len(leading), tuple(kwargs), others=others)
    return Call(f, (*given, *leading, *[args[i] for i in others], *kwargs.values()), shape)


def _called_method(f: Any) -> Any:
    """The method that a call of an object is, if nothing else is known of the object; else what was given."""
    method = find_in_type(type(f), "__call__")
    if type(method) is not FunctionType or isinstance(f, type) or type(f) in OPERATORS:
        return f
    known = id(f) in MEANINGS or registry.knows(f) or compiled_from(f) is not None
    return f if known else MethodType(method, f)


_CALLED: Final = (FunctionType, MethodType)
OPERATORS: Final[set[type]] = set()
"""The class of what operators make."""


def _derived(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], places: Places | None) -> Call | None:
    """The call of a derivative of a Python function by some of its arguments."""
    works: list[tuple[Any, Any]] = []
    while type(f) in OPERATORS:
        numbers = f._argnums if type(f._argnums) is tuple else (f._argnums,)
        if f._has_aux or kwargs or not all(type(i) is int for i in numbers):
            return None
        works.insert(0, (f._work, f._argnums))
        f = f._f
    call = unfolded(f, args, {}, places) if type(f) is FunctionType else None
    return None if call is None else call._replace(shape=call.shape._replace(works=tuple(works)))
