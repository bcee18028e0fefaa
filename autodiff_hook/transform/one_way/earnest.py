"""Values in earnest: what exists only while a program is followed, as other code gets hold of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import FunctionType, MappingProxyType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.registry import registry
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.transform.one_way.building import (
    built_container,
    built_object,
    is_buildable,
    is_container_buildable,
)
from autodiff_hook.transform.one_way.trail import Trail, has_objects, is_container, is_open, is_virtual
from autodiff_hook.transform.specialise.abstract import Container, Fresh, Instance, Number, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.instances import shown
from autodiff_hook.transform.specialise.lattice import example_of
from autodiff_hook.transform.specialise.objects import array_method
from autodiff_hook.transform.specialise.origins import is_numpy
from autodiff_hook.transform.specialise.program import STRUCTURAL
from autodiff_hook.transform.specialise.wording import named


class Earnest(Trail):
    """The program so far, and its values as code outside of it is given them."""

    def settled(self, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        """The arguments of a call that stays in the program, as a call of this very function."""
        if registry.has_rules(function) and function not in _CHOOSING:
            plain = self._plain_items if is_numpy(function) or function is math.fsum else self.plain
            args = [self._array_of(function, x) for x in args]
            args, kwargs = [*map(plain, args)], {k: plain(v) for k, v in kwargs.items()}
        args = [self._real(x) for x in args]
        kwargs = {k: self._real(v) for k, v in kwargs.items()}
        if s.op in ("call", "call_method"):
            s.op, s.data = "call", tuple(kwargs)
            s.operands = [Constant(function), *args, *kwargs.values()]
        else:
            s.operands = list(args)
        return args, kwargs

    def _array_of(self, function: Any, operand: Operand) -> Operand:
        """What an object is for a function of NumPy's that asks it for an array."""
        method = array_method(self, function, self.type_of(operand))
        return operand if method is None else self.call(Constant(method), [operand])

    def _plain_items(self, operand: Operand) -> Operand:
        """The same for code that makes arrays of lists, or floats of their items."""
        value = self.type_of(operand)
        if not isinstance(value, Container) or value.cls is not list:
            return self.plain(operand)
        held = [self._plain_items(x) for x in self.contents[operand]]
        return operand if held == self.contents[operand] else self.made(list, held)

    def plain(self, operand: Operand) -> Operand:
        """What an object of the program is for code that only computes with it; else the operand itself."""
        value = self.type_of(operand)
        self.require_conversion(operand)
        if isinstance(value, Fresh) and _says_ufuncs(value.cls):
            raise Refused(f"{named(value)} says by itself what NumPy makes of it")
        if isinstance(value, Outside) and issubclass(value.cls, float) and not self.world.is_given(self.final(operand)):
            kind = Number(frozenset({float}), example=float.__float__(value.example))
            return self.emit("call", Constant(float.__float__), operand, abstract=kind, data=())
        return self.numbers.get(value.made, operand) if isinstance(value, Fresh) else operand

    def require_conversion(self, operand: Operand) -> None:
        """Refuse an object whose own code says what native code computes with."""
        value = self.type_of(operand)
        if isinstance(value, (Fresh, Outside)) and _converts_itself(value.cls):
            raise Refused(f"{named(value)} is converted by its own code")

    def _real(self, operand: Operand) -> Operand:
        """An argument of code that is called in earnest."""
        found = self.frozen(operand, opened=True)
        if is_virtual(self.type_of(found)):
            raise Refused(f"{named(self.type_of(found))} is given to other code")
        return found

    def frozen(self, operand: Operand, built: dict[Operand, Operand] | None = None, opened: bool = False) -> Operand:
        """A value that code can get hold of: containers are built, each once if ``built`` says which have been.

        ``opened``: those of the arguments, too, of their parts, where derivatives come from.
        """
        operand = self.present(operand)
        if built is None:
            return self.written_out(operand, {}, opened)
        if operand not in built:
            built[operand] = self.written_out(operand, built, opened)
        return built[operand]

    def written_out(self, operand: Operand, built: dict[Operand, Operand], opened: bool = False) -> Operand:
        if opened and self._is_closed(operand):
            operand = self._opened(operand)
        abstract = self.type_of(operand)
        if isinstance(abstract, Container):
            if abstract.cls is dict:
                keys = list(self.contents[operand])
                if any(map(is_open, keys)):
                    raise Refused("a dict is built whose keys are objects of the program")
                values = [self.frozen(x, built, opened) for x in self.contents[operand].values()]
                pairs = [x for key, value in zip(keys, values) for x in (Constant(key), value)]
                types = tuple(map(self.type_of, values))
                whole = Tuple(types, dict, tuple(keys), example=dict(zip(keys, map(example_of, types))))
                return self.emit("build_map", *pairs, abstract=whole, plan=STRUCTURAL)
            if abstract.cls in (set, frozenset):
                return self._built_set(abstract.cls, self.contents[operand])
            if abstract.cls is not list:
                raise Refused(f"a {abstract.cls.__name__} that is built")
            return self._built(list, self.contents[operand], built, opened)
        if operand in self.tuples and self._is_open(operand, opened):
            return self._built(tuple, self.tuples[operand], built, opened)
        buildable = isinstance(abstract, Fresh) and (is_buildable(abstract.cls) or is_container_buildable(abstract.cls))
        if self.settling and isinstance(abstract, Fresh) and buildable:
            return self._built_object(operand, abstract, built)
        return operand

    def _built_set(self, cls: type, held: Any) -> Operand:
        if any(map(is_open, held)):
            raise Refused(f"a {cls.__name__} is built of what is not known")
        example = cls(held)
        return self.emit(
            "call", Constant(cls), Constant(frozenset(held)), abstract=Instance(cls, example=example), data=()
        )

    def _built_object(self, operand: Operand, value: Fresh, built: dict[Operand, Operand]) -> Operand:
        """An object in earnest, as something from outside is to keep it."""
        if value.made in self.results or shown(value.cls) is not value.cls:
            raise Refused(f"{named(value)} is kept")
        if operand in self.building:
            raise Refused("objects that refer to each other are kept")
        self.building.add(operand)
        held = self.members(value.made)
        values = [self.frozen(x, built) for x in held.values()]
        if is_container_buildable(value.cls):
            values.insert(0, self.frozen(self.numbers[value.made], built))
        self.building.remove(operand)
        if any(is_virtual(self.type_of(x)) for x in values):
            raise Refused("an object is kept that holds what exists only while the program is followed")
        build = built_container if is_container_buildable(value.cls) else built_object
        made = (Constant(build), Constant(value.cls), Constant(tuple(held)))
        return self.emit("call", *made, *values, abstract=Instance(value.cls), data=())

    def _is_closed(self, operand: Operand) -> bool:
        """Whether an operand is of an argument, and has parts that are loaded one by one."""
        return self.world.is_given(self.final(operand)) and has_objects(self.type_of(operand))

    def _opened(self, operand: Operand) -> Operand:
        """A list, tuple or dict of an argument, made of its parts."""
        value = self.type_of(operand)
        if isinstance(value, Outside) and is_container(value.cls):
            return self.adopted(operand, value)
        if isinstance(value, Tuple) and value.cls is tuple:
            return self.perform("list_to_tuple", [operand])
        raise Refused(f"an object of type {value.cls.__qualname__} from the arguments is used whole")  # type: ignore[attr-defined]

    def adopted(self, operand: Operand, value: Outside) -> Operand:
        """A list, tuple or dict from outside, with what it holds loaded on entry."""
        if operand not in self.aliased:
            example = value.example
            self.world.length(self.final(operand), example)
            if value.cls in (set, frozenset):
                content: Any = set(example)
            elif issubclass(value.cls, (dict, MappingProxyType)):
                content = {k: self.world.part(self.final(operand), example, k, True) for k in example}
            else:
                content = [self.world.part(self.final(operand), example, i, True) for i in range(len(example))]
            if issubclass(value.cls, tuple):
                self.aliased[operand] = self.perform("build_tuple", content)
            else:
                base = dict if type(content) is dict else list if issubclass(value.cls, list) else value.cls
                self.aliased[operand] = self.made(base, content, origin=operand)
        return self.aliased[operand]

    def _is_open(self, operand: Operand, opened: bool) -> bool:
        inside = self.tuples.get(operand, ())
        changed = operand in self.versions or operand in self.stale_views
        changed = changed or self.settling and isinstance(self.type_of(operand), Fresh)
        changed = changed or isinstance(self.type_of(operand), Container) or opened and self._is_closed(operand)
        return changed or any(self._is_open(x, opened) for x in inside)

    def _built(self, cls: type, items: Iterable[Operand], built: dict[Operand, Operand], opened: bool) -> Operand:
        operands = [self.frozen(x, built, opened) for x in items]
        types = tuple(map(self.type_of, operands))
        whole = Tuple(types, cls, example=cls(map(example_of, types)))
        return self.emit(f"build_{cls.__name__}", *operands, abstract=whole, plan=STRUCTURAL)


_CHOOSING: Final = (max, min)
"""What gives back one of its arguments, and not only a number."""


def _says_ufuncs(cls: type) -> bool:
    """Whether a class of arrays says in Python what ufuncs of them are."""
    return issubclass(cls, np.ndarray) and type(find_in_type(cls, "__array_ufunc__")) is FunctionType


def _converts_itself(cls: type) -> bool:
    """Whether Python code says what native code computes with in the place of a container or a float."""
    asked = "__iter__" if issubclass(cls, (tuple, list, dict)) else "__float__" if issubclass(cls, float) else None
    return asked is not None and type(find_in_type(cls, asked)) is FunctionType
