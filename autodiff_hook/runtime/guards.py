"""Guards on the entry of a specialised program: what it takes for granted is tested before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.runtime.fitting import Kind, ids_if_apart, test_of
from autodiff_hook.runtime.kinds import MAPPINGS
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    MISSING,
    Abstract,
    Array,
    Dict,
    Instance,
    Known,
    List,
    Mixed,
    Number,
    OneOf,
    Optional,
    Record,
    Reference,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.families import tag_of
from autodiff_hook.transform.specialise.lattice import codes_in
from autodiff_hook.transform.specialise.lists import is_flat
from autodiff_hook.transform.specialise.results import exact_types

MISS: Final = object()
"""What a specialised program returns if a guard fails."""
NOTHING: Final[Mapping[Site, Kind]] = MappingProxyType({})

_FEW: Final = 4
"""Of how many lists it is fastest to compare each with each."""


class Guards:
    """A chain of blocks that go on if a test holds, and else return ``MISS``."""

    def __init__(self, params: list[Variable]) -> None:
        self.miss = Block(terminator=Terminator("return", [Constant(MISS)]))
        self.block = Block(params)
        self.blocks = [self.block]
        self.loaded: dict[tuple[Any, ...], Operand] = {}
        """What was loaded and guarded, by what was asked."""
        self.references: dict[Variable, Any] = {}
        """The lists, dicts and objects among the arguments, with what the program is made for."""
        self.kinds: list[tuple[Statement, Abstract]] = []
        """What asks of what kind lists, dicts and objects are, which is known when the program is."""
        self.flat = True
        """Whether these hold no others."""

    def settle(self) -> None:
        """The program is known: so is what it reads of what it is given."""
        for asked, abstract in self.kinds:
            kind = Kind()
            kind.spec = _kind(abstract)
            asked.operands[0] = Constant(test_of(kind))

    def emit(self, op: str, *operands: Operand, data: Any = None) -> Variable:
        """A statement of the prologue."""
        result = Variable()
        self.block.statements.append(Statement(op, list(operands), result, data))
        return result

    def call(self, function: Any, *operands: Operand) -> Variable:
        """A call that is made on entry."""
        return self.emit("call", Constant(function), *operands, data=())

    def is_new(self, *key: Any) -> bool:
        """Whether something is guarded for the first time."""
        new = key not in self.loaded
        self.loaded.setdefault(key, Constant(None))
        return new

    def require(self, test: Operand) -> None:
        """Go on only if ``test`` holds."""
        rest = Block()
        self.block.terminator = Terminator("branch", [test], [Edge(rest), Edge(self.miss)])
        self.block = rest
        self.blocks.append(rest)

    def require_same(self, operand: Operand, value: Any) -> None:
        """Go on only if an operand is this object."""
        self.require(self.emit("is", operand, Constant(value)))

    def require_equal(self, operand: Operand, value: Any) -> None:
        """Go on only if an operand is equal to this value."""
        self.require(self.emit("compare", operand, Constant(value), data="=="))

    def require_alike(self, operand: Operand, value: Any) -> None:
        """Go on only if an operand is this object, or equal to it."""
        self.require(self.emit("in", operand, Constant((value,))))

    def require_same_items(self, operand: Operand, items: dict[Any, Any]) -> None:
        """Go on only if a dict has the same keys in the same order, and the very same values."""
        found = self.call(tuple, self.call(dict.items, operand))
        self.require_equal(self.call(len, found), len(items))
        for place, (key, value) in enumerate(items.items()):
            pair = self.emit("getitem", found, Constant(place))
            self.require_equal(self.emit("getitem", pair, Constant(0)), key)
            self.require_same(self.emit("getitem", pair, Constant(1)), value)

    def check(self, operand: Variable, abstract: Abstract, given: bool = False) -> None:
        """Guard that a value is of the kind that ``abstract`` describes."""
        if isinstance(abstract, Known):
            self._check_known(operand, abstract.value)
            return
        (expected,) = (_class_of(abstract),) if isinstance(abstract, (List, Dict, Record)) else exact_types(abstract)
        self.require_same(self.call(type, operand), expected)
        if given and (isinstance(abstract, Reference) or isinstance(abstract, Tuple) and abstract.cls in (dict, list)):
            self.references[operand] = abstract.example
            self.flat, given = self.flat and is_flat(abstract), False
        if isinstance(abstract, Array):
            self._check_array(operand, abstract.dtype, abstract.ndim)
        elif isinstance(abstract, Instance) and abstract.cls is np.ndarray:
            self._check_array(operand, abstract.example.dtype, abstract.example.ndim)
        elif isinstance(abstract, Tuple) and abstract.cls is dict:
            self.require_equal(self.call(tuple, operand), abstract.keys)
            for key, item in zip(abstract.keys, abstract.items):
                self.check(self.emit("getitem", operand, Constant(key)), item, given)
        elif isinstance(abstract, Tuple):
            self.require_equal(self.call(len, operand), len(abstract.items))
            for i, item in enumerate(abstract.items):
                part = self.emit("getitem", operand, Constant(i))
                self.check(part, item, given)
        elif isinstance(abstract, Reference):
            fits = self.call(None, operand)
            self.kinds.append((self.block.statements[-1], abstract))
            self.require(fits)

    def _check_known(self, operand: Variable, value: Any) -> None:
        copied = isinstance(value, np.dtype) and np.dtype(value.str) is not value and np.dtype(value.str) == value
        if type(value) is not str and not copied:
            self.require_same(operand, value)
            return
        self.require_same(self.call(type, operand), type(value))
        if copied:
            # Each copy of an object that is unpickled has a dtype of its own.
            self.require(self.emit("is_not", operand, Constant(np.dtype(value.str))))
        self.require_equal(operand, value)

    def require_apart(self) -> None:
        """Go on only if no two of the arguments are one, or hold the same."""
        if self.flat and len(self.references) <= _FEW:
            for one, other in combinations(self.references, 2):
                self.require(self.emit("is_not", one, other))
        elif len(self.references) > 1:
            examples = list(self.references.values())
            if not any(x is MISSING for x in examples) and ids_if_apart(*examples) is None:
                raise Refused("arguments that share a list, a dict or an object, or hold a list or a dict twice")
            given = self.loaded["given", *self.references] = self.call(ids_if_apart, *self.references)
            self.require(self.emit("is_not", given, Constant(None)))

    def _check_array(self, operand: Variable, dtype: Any, ndim: int | None) -> None:
        # Arrays that were pickled have dtypes of their own.
        self.require_alike(self.emit("getattr", operand, data="dtype"), dtype)
        self.require_equal(self.emit("getattr", operand, data="ndim"), ndim)


def identity(owner: Operand) -> int:
    """What tells values from each other that are asked on entry."""
    return id(owner) if isinstance(owner, Variable) else id(owner.value)


def _kind(value: Abstract, around: Mapping[Site, Kind] = NOTHING) -> Any:
    """Of what kind a value has to be: ``fits``; ``around`` are the kinds of what holds it, by their sites."""
    if isinstance(value, Number):
        return value.types
    if isinstance(value, Tuple):
        return (value.cls, *[_kind(item, around) for item in value.items])
    if isinstance(value, Array):
        return np.ndarray, value.dtype, value.ndim
    if isinstance(value, Instance) and value.cls is np.ndarray:
        return np.ndarray, value.example.dtype, value.example.ndim
    if isinstance(value, Reference):
        root = value.site.root()
        if root not in around:
            kind = Kind()
            kind.spec = _kind_of_reference(value, {**around, root: kind})
            return kind.spec
        if not any(site.examples for site in around):
            raise Refused("what is given holds itself")
        return around[root]
    if isinstance(value, Optional):
        return "absent", _kind(value.content, around)
    if isinstance(value, (Known, OneOf)):
        return "among", codes_in(value)
    return frozenset(exact_types(value))


def _kind_of_reference(value: Reference, around: Mapping[Site, Kind]) -> Any:
    if isinstance(value, Record):
        named = tuple([(name, _kind(kind, around)) for name, kind in value.site.named.items()])
        return "record", value.cls, named, frozenset(value.site.absent)
    site = value.site
    if isinstance(value, Mixed):
        return "mixed", {cls: _kind(site.named[tag_of(cls)], around) for cls in value.among}
    assert isinstance(value, (List, Dict))
    # What was empty stays so: of no types are no items.
    parts = [frozenset() if part is None else _kind(part, around) for part in (site.item, site.key)]
    if isinstance(value, List):
        return list, parts[0]
    by_name = site.named if site.item is None else {}
    kinds = {name: None if kind is ANY else _kind(kind, around) for name, kind in by_name.items()}
    return _class_of(value), site.made_by, *parts, kinds


def _class_of(value: List | Dict | Record) -> type:
    """The exact class of what is given."""
    cls: type = value.site.cls if isinstance(value, Dict) and value.site.cls in MAPPINGS else value.cls
    return cls
