"""Calls of Python code taken apart: what is differentiated, and what counts as constant."""

from __future__ import annotations

from functools import partial
from types import FunctionType, MethodType
from typing import Any, Final, NamedTuple

from autodiff_hook.registry import registry
from autodiff_hook.semantics.meanings import MEANINGS


class Shape(NamedTuple):
    """How the values of a call stand: the arguments, what a ``partial`` holds, what is named, then tangents.

    ``moving`` says of each argument whether there is a tangent of it, in forward mode; ``works`` which derivatives of
    the function are called, the innermost first, each with its ``argnums``.
    """

    given: int
    leading: int = 0
    names: tuple[str, ...] = ()
    moving: tuple[bool, ...] = ()
    works: tuple[tuple[Any, Any], ...] = ()


class Call(NamedTuple):
    """A call of a function, or of a method bound to an object: of its values, the first are differentiated."""

    function: Any
    values: tuple[Any, ...]
    shape: Shape

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


def unfolded(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
    """The call of Python code that ``f(*args, **kwargs)`` is; None if something else is known of ``f``."""
    if type(f) in OPERATORS:
        return _derived(f, args, kwargs)
    leading: tuple[Any, ...] = ()
    while type(f) is partial:
        leading, kwargs, f = (*f.args, *leading), {**f.keywords, **kwargs}, f.func
    function = f.__func__ if type(f) is MethodType else f
    if type(function) is not FunctionType or id(function) in MEANINGS:
        return None
    if registry.has_rules(function) or registry.is_constant(function):
        return None
    if not leading and not kwargs:
        return Call.plain(f, args)
    return Call(f, (*args, *leading, *kwargs.values()), Shape(len(args), len(leading), tuple(kwargs)))


OPERATORS: Final[set[type]] = set()
"""The class of what operators make."""


def _derived(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
    """The call of a derivative of a Python function by some of its arguments."""
    works: list[tuple[Any, Any]] = []
    while type(f) in OPERATORS:
        numbers = f._argnums if type(f._argnums) is tuple else (f._argnums,)
        if f._has_aux or kwargs or not all(type(i) is int for i in numbers):
            return None
        works.insert(0, (f._work, f._argnums))
        f = f._f
    call = unfolded(f, args, {}) if type(f) is FunctionType else None
    return None if call is None else call._replace(shape=call.shape._replace(works=tuple(works)))
