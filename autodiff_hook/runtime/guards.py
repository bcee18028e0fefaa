"""Guards on the entry of a specialised program: what it takes for granted is tested before it begins."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.runtime.specialised_runtime import uniform
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Instance,
    Known,
    List,
    Number,
    Outside,
    Tuple,
    number_types,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.wording import named

MISS: Final = object()
"""What a specialised program returns if a guard fails."""


class Guards:
    """A chain of blocks that go on if a test holds, and else return ``MISS``."""

    def __init__(self, params: list[Variable]) -> None:
        self.miss = Block(terminator=Terminator("return", [Constant(MISS)]))
        self.block = Block(params)
        self.blocks = [self.block]
        self.references: list[Variable] = []
        """The lists and dicts among the arguments."""

    def emit(self, op: str, *operands: Operand, data: Any = None) -> Variable:
        """A statement of the prologue."""
        result = Variable()
        self.block.statements.append(Statement(op, list(operands), result, data))
        return result

    def require(self, test: Operand) -> None:
        """Go on only if ``test`` holds."""
        rest = Block()
        self.block.terminator = Terminator("branch", [test], [Edge(rest), Edge(self.miss)])
        self.block = rest
        self.blocks.append(rest)

    def require_same(self, operand: Operand, value: Any) -> None:
        """Go on only if an operand is this object."""
        self.require(self.emit("is", operand, Constant(value)))

    def require_alike(self, operand: Operand, value: Any) -> None:
        """Go on only if an operand is this object, or equal to it."""
        self.require(self.emit("in", operand, Constant((value,))))

    def same_items(self, found: Variable, items: tuple[Any, ...]) -> None:
        """Guard that a tuple of pairs has the same keys and the very same values."""
        count = self.emit("call", Constant(len), found, data=())
        self.require(self.emit("compare", count, Constant(len(items)), data="=="))
        for place, (key, value) in enumerate(items):
            pair = self.emit("getitem", found, Constant(place))
            self.require(self.emit("compare", self.emit("getitem", pair, Constant(0)), Constant(key), data="=="))
            self.require_same(self.emit("getitem", pair, Constant(1)), value)

    def check(self, operand: Variable, abstract: Abstract, given: bool = False) -> None:
        """Guard that a value is of the kind that ``abstract`` describes."""
        if isinstance(abstract, Known):
            if type(abstract.value) is not str:
                self.require_same(operand, abstract.value)
                return
            self.require_same(self.emit("call", Constant(type), operand, data=()), str)
            self.require(self.emit("compare", operand, Constant(abstract.value), data="=="))
            return
        cls = self.emit("call", Constant(type), operand, data=())
        self.require_same(cls, _class_of(abstract))
        if given and (isinstance(abstract, List) or isinstance(abstract, Tuple) and abstract.cls in (dict, list)):
            self.references.append(operand)
        if isinstance(abstract, Array):
            # Arrays that were pickled have dtypes of their own.
            self.require_alike(self.emit("getattr", operand, data="dtype"), abstract.dtype)
            ndim = self.emit("getattr", operand, data="ndim")
            self.require(self.emit("compare", ndim, Constant(abstract.ndim), data="=="))
        elif isinstance(abstract, Tuple) and abstract.cls is dict:
            keys = self.emit("call", Constant(tuple), operand, data=())
            self.require(self.emit("compare", keys, Constant(abstract.keys), data="=="))
            for key, item in zip(abstract.keys, abstract.items):
                self.check(self.emit("getitem", operand, Constant(key)), item, given)
        elif isinstance(abstract, Tuple):
            count = self.emit("call", Constant(len), operand, data=())
            self.require(self.emit("compare", count, Constant(len(abstract.items)), data="=="))
            for i, item in enumerate(abstract.items):
                part = self.emit("getitem", operand, Constant(i))
                self.check(part, item, given)
        elif isinstance(abstract, List):
            item_type = next(iter(number_types(abstract.item) or ()))
            self.require(self.emit("call", Constant(uniform), operand, Constant(item_type), data=()))


def _class_of(abstract: Abstract) -> type:
    import numpy as np

    if isinstance(abstract, Number):
        (cls,) = abstract.types
        return cls
    if isinstance(abstract, Array):
        return np.ndarray
    if isinstance(abstract, (Tuple, Instance, Outside)):
        return abstract.cls
    if isinstance(abstract, List):
        return list
    raise Refused(f"no guard for {named(abstract)}")
