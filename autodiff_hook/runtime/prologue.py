"""The start of a specialised program: what it loads from outside, guarded."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Container
from dataclasses import replace
from types import MappingProxyType, MethodDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import UNBOUND, Args, Constant, Kwargs, Operand, Variable
from autodiff_hook.runtime.arguments import common, constant_kind, described, is_known
from autodiff_hook.runtime.asking import Arguments, answer_of, require_answered
from autodiff_hook.runtime.code_guards import GIVEN_TOO
from autodiff_hook.runtime.fitting import are_elsewhere, given_ids, has_keys
from autodiff_hook.runtime.given_functions import BY_CODE, is_anew
from autodiff_hook.runtime.guards import MISS, identity
from autodiff_hook.runtime.loaded_functions import LoadedFunctions, Slot
from autodiff_hook.runtime.lookup import behind, dictionary_of, find_in_type
from autodiff_hook.runtime.mirror import form_of
from autodiff_hook.runtime.slots import Attribute
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Instance,
    Known,
    List,
    Number,
    Outside,
    Reference,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Load, Refused, is_plain
from autodiff_hook.transform.specialise.lattice import sites_in
from autodiff_hook.transform.specialise.lists import is_flat
from autodiff_hook.transform.specialise.objects import is_object
from autodiff_hook.transform.specialise.places import appended_to, copied_from, place_of


def held_at(example: Any, key: Any) -> Any:
    """What a container has; a class derived from a builtin one is not asked."""
    base = next((cls for cls in _DERIVED_FROM if isinstance(example, cls)), None)
    return example[key] if base is None else base.__getitem__(example, key)


_DERIVED_FROM: Final[tuple[Any, ...]] = (dict, list, tuple)
_TOLD: Final = frozenset({logging.Logger, logging.RootLogger})
"""Classes of objects that are told things: most programs read nothing of them, and loggers know each other."""


def _is_container(value: Abstract) -> bool:
    return isinstance(value, Outside) and value.cls in (list, dict)


def _is_reference(value: Abstract) -> bool:
    """Whether a value from outside is one by identity."""
    return isinstance(value, (Outside, List)) or isinstance(value, Tuple) and value.cls in (list, dict)


def _is_own(owner: Any, name: str) -> bool:
    """Whether an attribute is one of the object itself, not of its class; of a tuple a field, as its gradient is."""
    if isinstance(owner, tuple):
        return name in getattr(type(owner), "_fields", ())
    return name in (dictionary_of(owner) or ()) or hasattr(type(getattr(type(owner), name, None)), "__set__")


def _of_copy(abstract: Abstract, value: Any) -> Abstract:
    """What is known of a copy of a list or an array, which is the program's own."""
    return List(Site(abstract.item), example=list(value)) if isinstance(abstract, List) else abstract


class Prologue(LoadedFunctions):
    """Loads what a program needs from outside, on entry; the ``World`` of its inference."""

    def __init__(
        self,
        f: Any,
        one_way: bool = False,
        changed: Container[Any] = (),
        anew: bool = False,
        acts: bool = True,
    ) -> None:
        self.one_way, self.acts = one_way, acts
        self.args = Variable("args")
        super().__init__(f, [Variable("f"), self.args], changed, anew)
        self.types: dict[Variable, Abstract] = {}
        self.outside: set[Variable] = set()
        self.taken: list[Variable] = []
        self.tangents: list[Variable] = []
        self.changing: dict[Variable, Any] = {}
        self.own_globals = False
        self.asked: set[Variable] = set()
        """The loggers of which a part is loaded."""

    def foresee(self, globals_: dict[str, Any]) -> Load:
        """What globals are now that are guarded to stay so when they are loaded."""

        def foresee(name: str) -> Operand | None:
            value = globals_[name] if name in globals_ else getattr(builtins, name, UNBOUND)
            assigned = value is UNBOUND or place_of(globals_, name) in self.changed
            return None if assigned or not is_known(value) else Constant(value)

        return foresee

    def load(self, globals_: dict[str, Any]) -> Load:
        """How code with these globals loads a global name."""

        def load(name: str) -> Operand | None:
            if place_of(globals_, name) in self.changed:
                return None
            key = ("global", id(globals_), name)
            if key not in self.loaded:
                found = self._global(globals_, name)
                if found is None:
                    return None
                self.loaded[key] = found
            return self.loaded[key]

        return load

    def _global(self, globals_: dict[str, Any], name: str) -> Operand | None:
        own = globals_ is self.f.__globals__
        if own and not self.own_globals:
            self.own_globals = True
            self.require_same(self.emit("getattr", self.callee, data="__globals__"), globals_)
        if name in globals_:
            value = globals_[name]
            here = self.emit("global", data=name) if own else self.emit("getitem", Constant(globals_), Constant(name))
        elif hasattr(builtins, name):
            value = getattr(builtins, name)
            if own:
                here = self.emit("global", data=name)
            else:
                self.require(self.emit("not_in", Constant(name), Constant(globals_)))
                return Constant(value)
        else:
            return None
        if not constant_kind(value):
            self.root(globals_, name)
        return self.guarded(here, value)

    def default(self, defaults: Any, place: Any) -> Operand:
        """A default value of a function from outside: a constant, or loaded and guarded on entry."""
        value = defaults[place]
        if is_plain(value) and not is_object(self, value):
            return Constant(value)
        return self.part(Constant(defaults), defaults, place, True)

    def _known_on_entry(self, owner: Operand) -> None:
        if isinstance(owner, Variable) and owner not in self.outside:
            raise Refused("a part of an object that is not known on entry")

    def part(self, owner: Operand, example: Any, name: Any, item: bool) -> Operand:
        """An attribute or an item of an object from outside."""
        self.require_unassigned(example, name)
        return self._part(owner, example, name, item)

    def initial(self, owner: Operand, example: Any, name: str) -> Operand | None:
        """What an attribute, an item or a global is on entry that the program assigns; None if it is missing."""
        if isinstance(owner, Constant) and isinstance(example, dict):
            if name in example:
                return self._global(example, name)
            self.missing(example, name)
            return None
        item = type(example) is dict
        if item and name not in example:
            self.require(self.emit("not_in", Constant(name), owner))
            return None
        if not item and not self.has(owner, example, name) and not hasattr(example, name):
            return None
        return self._part(owner, example, name, item, True)

    def _part(self, owner: Operand, example: Any, name: Any, item: bool, loose: bool = False) -> Operand:
        """A part of an object, loaded; ``loose``: of a text or a bool only the type matters."""
        key = ("part", identity(owner), name, item)
        if key not in self.loaded:
            self._known_on_entry(owner)
            if type(example) in _TOLD and isinstance(owner, Variable):
                self._is_asked(owner, example)
            try:
                value = held_at(example, name) if item else getattr(example, name)
            except Exception as error:
                raise Refused(str(error)) from error
            if not item:
                self.reads(example if isinstance(owner, Constant) else type(example), name)
            elif isinstance(owner, Constant):
                self.root(example, name)
            holds = owner in self.slots and form_of(value) in ("function", "method")
            if holds and not (self.acts and is_anew(value)):
                raise Refused("what an argument holds is bound to, or has captured, what is differentiated")
            here = self._item(owner, example, name) if item else self.emit("getattr", owner, data=name)
            found = self.loaded[key] = self._by_code(here, value, True) if holds else self.guarded(here, value, loose)
            if owner in self.slots and not self.one_way and isinstance(found, Variable) and sites_in(self.types[found]):
                raise Refused("lists, dicts and objects of an argument whose attributes are assigned")
            own = owner in self.slots and (item or _is_own(example, name))
            if owner in self.slots and not own:
                self.has(owner, example, name)
            if own and isinstance(found, Variable) and not isinstance(self.types[found], BY_CODE):
                self.slots[found] = self._slot(owner, example, name, item)
            elif type(value) in (list, dict):
                # On one way the arguments are no references.
                containers = [x for x in self.taken if x in self.slots and _is_container(self.types[x])]
                self.require_elsewhere(here, value, self._with_examples(containers))
        return self.loaded[key]

    def constant(self, value: Any) -> Operand:
        """A value that is known by identity, whose parts are loaded and guarded on entry."""
        key = ("constant", id(value))
        if key not in self.loaded:
            self.loaded[key] = self.guarded(self.emit("getitem", Constant((value,)), Constant(0)), value)
        return self.loaded[key]

    def _item(self, owner: Operand, example: Any, key: Any) -> Variable:
        """What a container has; no class is asked for what is missing."""
        if isinstance(example, dict) and type(example) is not dict:
            return self.call(dict.get, owner, Constant(key), Constant(MISS))
        if isinstance(example, (list, tuple)) and type(example) not in (list, tuple):
            return self.call((list if isinstance(example, list) else tuple).__getitem__, owner, Constant(key))
        return self.emit("getitem", owner, Constant(key))

    def _slot(self, owner: Operand, example: Any, name: Any, item: bool) -> Slot:
        """Where a part is kept; a tuple has no identity, so its parts are kept where it is."""
        if not isinstance(example, tuple):
            return Slot(owner, name if item else Attribute(name))
        place = range(len(example))[name] if item else type(example)._fields.index(name)  # type: ignore[attr-defined]
        whole = self.slots[owner]
        return Slot(whole.owner, whole.key, (*whole.path, (len(example), place)))

    def array(self, owner: Operand, example: Any) -> Operand:
        """The array that computes for one of a derived class from outside: its derivatives are the owner's."""
        key = ("array", identity(owner))
        if key not in self.loaded:
            self._known_on_entry(owner)
            here = self.call(np.ndarray.view, owner, Constant(np.ndarray))
            found = self.loaded[key] = self.guarded(here, np.ndarray.view(example, np.ndarray))
            if owner in self.slots:
                self.slots[found] = self.slots[owner]
        return self.loaded[key]

    def copied(self, param: Variable, abstract: Abstract, value: Any) -> Abstract:
        """What is known of an argument, of which the program takes a copy if it changes it."""
        if not isinstance(abstract, (List, Array)) or copied_from(value) not in self.changed:
            return abstract
        self.changing[param] = value
        return _of_copy(abstract, value)

    def argument(self, place: int) -> Operand:
        """An argument as it is taken on entry."""
        return self.taken[place]

    def arguments(self) -> Operand:
        """All that is given, to be asked whether something else is a part of it."""
        key = ("arguments",)
        if key not in self.loaded:
            found = self.loaded[key] = self.call(Arguments, self.args)
            self.types[found] = Instance(Arguments)
            self.outside.add(found)
        return self.loaded[key]

    def answer(self, cache: Any, args: Args, kwargs: Kwargs) -> Operand:
        """What a cache has answered for constants, and for what is loaded on entry; asked and guarded there."""
        given = [*args, *kwargs.values()]
        held = [(type(x.value), x.value) if isinstance(x, Constant) else x for x in given]
        key = ("answer", id(cache), *held, tuple(kwargs))
        if key not in self.loaded:
            examples = [x.value if isinstance(x, Constant) else self.types[x].example for x in given]
            by_place, by_name = tuple(examples[: len(args)]), dict(zip(kwargs, examples[len(args) :]))
            require_answered(cache, by_place, by_name)
            here = self.emit("call", Constant(answer_of), Constant(cache), self.arguments(), *given, data=tuple(kwargs))
            self.loaded[key] = self.guarded(here, cache(*by_place, **by_name))
        return self.loaded[key]

    def separate(self) -> None:
        """Guard that no list, dict or object from outside is (in) an argument: derivatives would be missed there."""
        outside = self.outside - self.slots.keys()
        # What is no part of another one: arguments, and what functions hold that are.
        roots = [x for x, slot in self.slots.items() if isinstance(x, Variable) and slot.owner not in self.slots]
        given = [x for x in roots if _is_reference(self.types[x])]
        others = [x for x, kind in self.types.items() if x in outside and _is_reference(kind) and self._is_read(x)]
        if given and others:
            if not are_elsewhere(given_ids(*self._examples(given)), *self._examples(others)):
                raise Refused(GIVEN_TOO)
            self.require(self.call(are_elsewhere, self.ids_of(given), *others))

    def _is_asked(self, logger: Variable, example: Any) -> None:
        """A part of a logger is read."""
        if logger not in self.asked:
            self.asked.add(logger)
            if logger not in self.slots:
                self.require_elsewhere(logger, example, self.references)

    def _is_read(self, outside: Variable) -> bool:
        """Whether a derivative may be missed in what is from outside: not in a logger that is only told things."""
        return type(self.types[outside].example) not in _TOLD or outside in self.asked

    def _with_examples(self, operands: list[Variable]) -> dict[Variable, Any]:
        return dict(zip(operands, self._examples(operands)))

    def _examples(self, operands: list[Variable]) -> list[Any]:
        return [self.types[x].example for x in operands]

    def leaves(self) -> dict[Variable, Slot]:
        """The parts of arguments that are objects, as far as they were read, each with its slot."""
        return {v: slot for v, slot in self.slots.items() if isinstance(v, Variable) and v not in self.taken}

    def attribute_kind(self, examples: list[Any], name: str) -> Abstract | None:
        """What is known of an attribute of objects like these; None if it is of several kinds."""
        try:
            return common([getattr(example, name) for example in examples])
        except AttributeError:
            return None

    def is_outside(self, operand: Operand) -> bool:
        """Whether an operand is loaded on entry."""
        return operand in self.outside

    def is_given(self, operand: Operand) -> bool:
        """Whether an object is an argument, or a part of one."""
        return operand in self.slots

    def length(self, owner: Operand, example: Any) -> None:
        """Guard that a list from outside has as many items, a dict the same keys, a set the same items."""
        if self.is_new("length", identity(owner)):
            if isinstance(example, (set, frozenset)):
                self.require_equal(owner, frozenset(example))
            elif isinstance(example, (dict, MappingProxyType)):
                keys = tuple(example)
                if any(is_object(self, part) for key in keys for part in (key if type(key) is tuple else (key,))):
                    self.require(self.call(has_keys, owner, Constant(keys)))
                else:
                    self.require_equal(self.call(tuple, owner), keys)
            else:
                self.require_equal(self.call(len, owner), len(example))

    def holds(self, owner: Operand, example: Any, key: Any) -> bool:
        """Whether a dict from outside has a key, guarded."""
        found = key in example
        if not found:
            self.require_unassigned(example, key)
            self._known_on_entry(owner)
            if self.is_new("holds", identity(owner), key):
                self.require(self.emit("not_in", Constant(key), owner))
        elif ("part", identity(owner), key, True) not in self.loaded:
            self.part(owner, example, key, True)
        return found

    def has(self, owner: Operand, example: Any, name: str) -> bool:
        """Whether an object from outside has an attribute of its own, guarded."""
        own = dictionary_of(example)
        if own is None:
            return False
        if name in own and not hasattr(type(example), name):
            # Loading it is enough.
            return True
        self._known_on_entry(owner)
        if self.is_new("has", identity(owner), name):
            held = self.emit("getattr", owner, data="__dict__")
            self.require(self.emit("in" if name in own else "not_in", Constant(name), held))
        return name in own

    def names(self, owner: Operand, example: Any) -> None:
        """Guard that an object from outside has attributes of the same names, in their order."""
        self._known_on_entry(owner)
        if self.is_new("names", identity(owner)):
            held = self.emit("getattr", owner, data="__dict__")
            self.require_equal(self.call(tuple, held), tuple(dictionary_of(example) or ()))

    def method(self, owner: Operand, example: Any, name: str) -> None:
        """Guard that ``owner.name`` is what its class has."""
        self._known_on_entry(owner)
        if self.is_new("method", identity(owner), name):
            if type(find_in_type(type(example), name)) is MethodDescriptorType:
                # Each look makes another bound method, and that of the class is guarded.
                self.has(owner, example, name)
                return
            bound = getattr(example, name)
            here = self.emit("getattr", owner, data=name)
            if hasattr(bound, "__func__"):
                here = self.emit("getattr", here, data="__func__")
                bound = bound.__func__
            self.require_same(here, bound)

    def guarded(self, operand: Variable, value: Any, loose: bool = False) -> Operand:
        """A value from outside: the object itself if it is code, else a value of its type."""
        if self.anew and is_anew(value):
            return self._by_code(operand, value)
        if self.anew and type(value) is tuple and any(map(is_anew, value)):
            return self._several(operand, value)
        if type(value) is MappingProxyType:
            shown = self.call(behind, operand)
            self.require_same(self.call(type, shown), type(behind(value)))
            slots = self._with_examples([x for x in self.taken if x in self.slots])
            self.require_elsewhere(shown, behind(value), self.references | slots)
        abstract = described(value, self.one_way, ("outside", id(value)) in self.changed)
        if isinstance(abstract, Outside) and ("outside", id(value)) in self.changed:
            abstract = common([value]) or abstract
        if type(value) is set and not self.one_way:
            # Whether something is in it is looked up each time.
            abstract = Instance(set, example=value)
        if loose and type(value) is str:
            abstract = Instance(str, example=value)
        elif loose and type(value) is bool:
            abstract = Number(frozenset({bool}), example=value)
        if isinstance(abstract, Tuple) and abstract.cls is list:
            abstract = Outside(list, example=value)
        empty = type(value) is list and not value
        copied = (empty or isinstance(abstract, (List, Array))) and copied_from(value) in self.changed
        appended = not copied and appended_to(value) in self.changed
        self.check(operand, Outside(list) if appended else Tuple((), list) if copied and empty else abstract)
        if copied or appended:
            self.changing[operand] = value
        if appended or copied and empty:
            abstract = List(Site(), example=[])
        elif copied:
            abstract = _of_copy(abstract, value)
        held = bool(sites_in(abstract)) and not (self.flat and is_flat(abstract))
        if self.references and (held or isinstance(abstract, Outside) and not self.flat):
            if type(value) not in _TOLD:
                self.require_elsewhere(operand, value, self.references)
        elif isinstance(abstract, (Reference, Outside)):
            for reference in self.references:
                if reference is not operand:
                    self.require(self.emit("is_not", operand, reference))
        if isinstance(abstract, Known):
            return Constant(value)
        self.types[operand] = replace(abstract, at=operand) if isinstance(abstract, Outside) else abstract
        self.outside.add(operand)
        return operand

    def parameters(
        self, types: list[Abstract], constants: tuple[Any, ...], tangents: int = 0
    ) -> tuple[list[Variable], list[Operand]]:
        """Take the arguments and the constants beside them apart, and guard what they are; behind them are tangents.

        With another number of them, this raises ``ValueError``.
        """
        count = len(types) + len(constants) + tangents
        whole = self.emit("unpack", self.args, data=(count, None)) if count else self.args
        parts = [self.emit("project", whole, data=i) for i in range(count)]
        taken = self.taken
        taken += parts[: len(types)]
        for variable, abstract in zip(taken, types):
            if isinstance(abstract, BY_CODE):
                self._by_code(variable, abstract.example, True)
                continue
            self.check(variable, abstract, given=True)
            if isinstance(abstract, Outside):
                self.types[variable] = replace(abstract, at=variable)
                self.slots[variable] = Slot(Constant(None), taken.index(variable))
                self.outside.add(variable)
        self.require_apart()
        self.tangents = parts[count - tangents :]
        return taken, [self.guarded(part, value) for part, value in zip(parts[len(types) :], constants)]
