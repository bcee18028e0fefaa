"""Guards that what a program changes, or is differentiated by, is known by one name."""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from typing import Any

import numpy as np

from autodiff_hook.ir.types import Operand, Variable
from autodiff_hook.runtime.fitting import elsewhere, given_ids, is_alone, itself
from autodiff_hook.runtime.guards import Guards, identity
from autodiff_hook.transform.specialise.abstract import Abstract
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.places import copied_from


class NameGuards(Guards):
    """Guards on lists, dicts, arrays and objects from outside by their identity."""

    changed: Container[Any]
    types: dict[Variable, Abstract]
    changing: dict[Variable, Any]
    """The lists and arrays that the program changes."""

    def alone(self, here: Operand, example: Any, others: list[Operand]) -> None:
        """Guard that a list or an array is none of some values, and that these do not hold it or show its memory."""
        if isinstance(example, np.ndarray):
            self.require(self.call(is_alone, here, *others))
            return
        whole = copied_from(example) in self.changed and type(example) is not deque
        mine = self.call(given_ids if whole else itself, here)
        for other in others:
            self.require(self.call(elsewhere, other, mine))

    def apart(self, owner: Operand, other: Operand, example: Any, another: Any) -> None:
        """Guard that two objects from outside are two, with attributes of their own."""
        if example is another:
            raise Refused("an object that is known in two ways is changed")
        if self.is_new("apart", identity(owner), identity(other)):
            if hasattr(example, "__dict__") and hasattr(another, "__dict__"):
                if example.__dict__ is another.__dict__:
                    raise Refused("two objects share their attributes, and some are assigned")
                owner, other = (self.emit("getattr", x, data="__dict__") for x in (owner, other))
            self.require(self.emit("is_not", owner, other))

    def require_elsewhere(self, outside: Variable, references: list[Variable]) -> None:
        """What is from outside is none of these arguments, nor in them; they are looked through once."""
        if references:
            key = "given", *references
            if key not in self.loaded:
                self.loaded[key] = self.call(given_ids, *references)
            self.require(self.call(elsewhere, outside, self.loaded[key]))
