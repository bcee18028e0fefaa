"""What the interpretation of a program asks of the process."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

from autodiff_hook.ir.types import Args, Kwargs, Operand, Variable
from autodiff_hook.transform.specialise.abstract import Abstract
from autodiff_hook.transform.specialise.bodies import Load, Parameters, bind


class World(Protocol):
    """What the specialiser asks of the process, and guards."""

    asking: bool
    """Whether code that is not in scope is followed, too: it answers a question."""

    @property
    def changing(self) -> dict[Variable, Any]:
        """The lists and arrays from outside, as they were loaded, that the program changes."""

    def foresee(self, globals_: dict[str, Any]) -> Load:
        """What globals of code with these globals are now, if they are guarded to stay so when they are loaded."""

    def load(self, globals_: dict[str, Any]) -> Load:
        """How code with these globals loads a global: an operand, guarded on entry, or None."""

    def attribute(self, owner: Any, name: str) -> Any:
        """An attribute of a module or class, guarded by identity."""

    def kept(self, cls: type, name: str) -> None:
        """Guard that a class goes on to have the same descriptor under a name, written in Python."""

    def is_subclass(self, cls: type, base: type) -> bool:
        """Whether a class is derived from another one, guarded."""

    def captured(self, cell: Any) -> Operand:
        """What a closure cell of a function from outside holds, guarded on entry."""

    def in_scope(self, function: Any) -> bool:
        """Whether a Python function is to be followed."""

    def is_foreign(self, function: Any) -> bool:
        """Whether a Python function is of a module that is not in scope, and nothing is known of it."""

    def part(self, owner: Operand, example: Any, name: Any, item: bool) -> Operand:
        """An attribute or an item of an object from outside, loaded and guarded on entry."""

    def default(self, defaults: Any, place: Any) -> Operand:
        """A default value of a function from outside: a constant, or loaded and guarded on entry."""

    def constant(self, value: Any) -> Operand:
        """A value that is known by identity, whose parts are loaded and guarded on entry."""

    def initial(self, owner: Operand, example: Any, name: str) -> Operand | None:
        """What an attribute, an item or a global is on entry that the program assigns; None if it is missing."""

    def array(self, owner: Operand, example: Any) -> Operand:
        """The array that computes for one of a derived class from outside, loaded and guarded on entry."""

    def argument(self, place: int) -> Operand:
        """An argument as it is taken on entry."""

    def arguments(self) -> Operand:
        """All that is given, to be asked whether something else is a part of it."""

    def answer(self, cache: Any, args: Args, kwargs: Kwargs) -> Operand:
        """What a cache has answered for constants, and for what is loaded on entry; asked and guarded there."""

    def attribute_kind(self, examples: list[Any], name: str) -> Abstract | None:
        """What is known of an attribute of objects like these; None if it is of several kinds."""

    def is_outside(self, operand: Operand) -> bool:
        """Whether an operand is loaded on entry."""

    def is_given(self, operand: Operand) -> bool:
        """Whether an object is an argument, or a part of one."""

    def length(self, owner: Operand, example: Any) -> None:
        """Guard that a list or dict from outside has as many items, or the same keys."""

    def holds(self, owner: Operand, example: Any, key: Any) -> bool:
        """Whether a dict from outside has a key, guarded."""

    def missing(self, globals_: dict[str, Any], name: str) -> None:
        """Guard that there is no global of a name."""

    def answers(self, owner: Any, name: str) -> bool:
        """Whether a known object has an attribute, guarded."""

    def dispatched(self, function: Any, cls: type) -> Any:
        """What a function with ``functools.singledispatch`` calls for a class, guarded."""

    def has(self, owner: Operand, example: Any, name: str) -> bool:
        """Whether an object from outside has an attribute of its own, guarded."""

    def names(self, owner: Operand, example: Any) -> None:
        """Guard that an object from outside has attributes of the same names."""

    def apart(self, owner: Operand, other: Operand, example: Any, another: Any) -> None:
        """Guard that two objects from outside are two, with attributes of their own."""

    def separate(self) -> None:
        """Guard that no list, dict or object from outside is (in) an argument."""

    def same(self, owner: Operand, other: Operand) -> bool:
        """Whether two objects that are loaded on entry are one, guarded."""

    def not_shown(self, view: Operand, owner: Operand) -> None:
        """Guard that a view of a dict shows another one than an object that is loaded on entry."""

    def distinct(self, operands: list[Operand]) -> None:
        """Guard that no two objects that are loaded on entry are one."""

    def alone(self, here: Operand, example: Any, others: list[Operand]) -> None:
        """Guard that a list or an array is none of some values, and that these do not hold it or show its memory."""

    def method(self, owner: Operand, example: Any, name: str) -> None:
        """Guard that an object from outside has the method of its class."""

    def not_installed(self, name: str) -> bool:
        """Whether there is no package of a name to be imported, guarded."""

    def imported(self, name: str) -> Any:
        """A module that is imported by now."""

    def members(self, cls: type) -> None:
        """Guard that a class gets no further attributes, and no other bases."""

    def partial(self, made: partial[Any]) -> None:
        """Guard that a partial holds what it held."""

    def function(self, function: Any) -> None:
        """Guard that a function still has its code and defaults."""


def bind_to(world: World, function: Any, args: Args, kwargs: Kwargs) -> Parameters:
    """The parameters of a call of a function from outside."""
    defaults, keyword = function.__defaults__ or (), function.__kwdefaults__
    return bind(function.__code__, args, kwargs, defaults, keyword, world.default)
