"""Guards on code, and on names: that functions, modules and classes are what they were when a program was made."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import operator
import sys
from abc import ABCMeta
from collections.abc import Container
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Variable
from autodiff_hook.runtime.arguments import constant_kind
from autodiff_hook.runtime.fitting import are_distinct, elsewhere, given_ids, is_alone, itself
from autodiff_hook.runtime.guards import Guards, identity
from autodiff_hook.runtime.lacking import lack
from autodiff_hook.runtime.lookup import HEAP_TYPE, behind, dictionary_of, home_of, is_open
from autodiff_hook.semantics.meanings import MEANINGS
from autodiff_hook.semantics.scope import in_library, in_scope, module_of
from autodiff_hook.transform.specialise.abstract import Abstract
from autodiff_hook.transform.specialise.bodies import Refused, is_plain
from autodiff_hook.transform.specialise.objects import is_descriptor
from autodiff_hook.transform.specialise.places import copied_from, place_of
from autodiff_hook.transform.specialise.results import is_fixed
from autodiff_hook.transform.specialise.wording import named


def _is_of_class(value: Any) -> bool:
    """Whether a value is a class method that is written in C."""
    return type(value) is BuiltinFunctionType and isinstance(value.__self__, type)


GIVEN_TOO: Final = "what is outside is (a part of) an argument, too"


class CodeGuards(Guards):
    """Guards on what is loaded as code, or asked of modules and classes; nothing is ``changed`` that is loaded.

    Lists, dicts, arrays and objects from outside that the program is ``changing`` are guarded to be known by one name.
    """

    types: dict[Any, Abstract]
    changing: dict[Variable, Any]
    """The lists and arrays that the program changes."""

    def __init__(self, f: Any, params: list[Variable], changed: Container[Any]) -> None:
        super().__init__(params)
        self.f, self.changed = f, changed
        self.modules = {module_of(f)}
        self.functions: list[FunctionType] = []
        """The functions whose default values are taken for constants."""
        self.asking = False
        self.roots: dict[tuple[Any, Any], Any] = {}
        """Where data are read: namespaces, with names or None for all; cells; (None, index) for one of its own."""

    def attribute(self, owner: Any, name: str) -> Any:
        """An attribute of a module or a class."""
        self.require_unassigned(owner, name)
        key = ("attribute", id(owner), name)
        if key not in self.loaded:
            try:
                value = getattr(owner, name)
            except Exception as error:
                # What a descriptor raises that is not asked for an object.
                raise Refused(f"the attribute {name} of {named(owner)}: {error}") from error
            if not constant_kind(value):
                self.reads(owner, name)
            here = self.emit("getattr", Constant(owner), data=name)
            if type(value) is MethodType:
                self.require_same(self.emit("getattr", here, data="__func__"), value.__func__)
            elif type(value) in (str, int, float, bytes) or _is_of_class(value):
                # Some are made anew at each access.
                self.require_same(self.call(type, here), type(value))
                self.require_equal(here, value)
            elif (
                isinstance(value, Enum)
                or constant_kind(value)
                or is_plain(value)
                or is_descriptor(value)
                or is_fixed(value)
            ):
                self.require_same(here, value)
            else:
                raise Refused(f"the attribute {name} of {named(owner)}")
            self.loaded[key] = Constant(value)
        return self.loaded[key].value  # type: ignore[union-attr]

    def reads(self, owner: Any, name: str) -> None:
        """Note that an attribute of a module, a class or another known object is read."""
        if issubclass(type(owner), ModuleType):
            self.root(vars(owner), name)
        elif not issubclass(type(owner), type):
            # A property may have read any of them.
            own = dictionary_of(owner) or {}
            for key in own:
                self.root(own, key)
        for base in owner.__mro__ if issubclass(type(owner), type) else ():
            if base.__flags__ & HEAP_TYPE:
                self.root(behind(base.__dict__), name)

    def root(self, holder: Any, name: Any) -> None:
        """Note that data are read from a namespace or a cell."""
        self.roots[id(holder), name] = holder, name

    def in_scope(self, function: FunctionType) -> bool:
        """Whether a Python function is followed."""
        return (self.asking or self._is_known(function)) and id(function) not in MEANINGS

    def is_foreign(self, function: FunctionType) -> bool:
        """Whether a Python function is of a module that is not in scope, and nothing is known of it."""
        of_engine = module_of(function).partition(".")[0] == __name__.partition(".")[0]
        return not (self.asking or of_engine or self._is_known(function) or id(function) in MEANINGS)

    def _is_known(self, function: FunctionType) -> bool:
        return in_scope(self, function) or in_library(function)

    def function(self, function: FunctionType) -> None:
        """Guard that a function still has its code and its default values."""
        if self.is_new("function", id(function)):
            self.functions.append(function)
            self.require_same(self.emit("getattr", Constant(function), data="__code__"), function.__code__)
            if function.__kwdefaults__:
                options = self.emit("getattr", Constant(function), data="__kwdefaults__")
                self.require_same_items(options, function.__kwdefaults__)
            if function.__defaults__:
                self.require_same(self.emit("getattr", Constant(function), data="__defaults__"), function.__defaults__)

    def members(self, cls: type) -> None:
        """Guard that a class gets no further attributes, by itself or from its bases, and no other bases."""
        opened = [base for base in cls.__mro__ if is_open(base)]
        if opened and self.is_new("bases", id(cls)):
            self.require_same(self.emit("getattr", Constant(cls), data="__mro__"), cls.__mro__)
        for base in opened:
            if self.is_new("members", id(base)):
                namespace = behind(base.__dict__)
                self.root(namespace, None)
                self.require_equal(self.call(dict.keys, Constant(namespace)), frozenset(namespace))

    def kept(self, cls: type, name: str) -> None:
        """Guard that a class goes on to have the same under a name: what it gives when it is asked may be made anew."""
        self.require_unassigned(cls, name)
        namespace = next(behind(base.__dict__) for base in cls.__mro__ if name in base.__dict__)
        if self.is_new("kept", id(namespace), name):
            self.require_same(self.emit("getitem", Constant(namespace), Constant(name)), namespace[name])

    def partial(self, made: partial[Any]) -> None:
        """Guard that a partial holds what it held: ``__setstate__`` may change that."""
        if self.is_new("partial", id(made)):
            for name in ("func", "args", "keywords"):
                self.require_same(self.emit("getattr", Constant(made), data=name), getattr(made, name))

    def answers(self, owner: Any, name: str) -> bool:
        """Whether a known object has an attribute, guarded."""
        found = hasattr(owner, name)
        if self.is_new("answers", id(owner), name):
            self.require_same(self.call(hasattr, Constant(owner), Constant(name)), found)
        return found

    def dispatched(self, function: Any, cls: type) -> Any:
        """What a function with ``functools.singledispatch`` calls for a class, guarded."""
        found = function.dispatch(cls)
        if self.is_new("dispatched", id(function), cls):
            self.require_same(self.call(function.dispatch, Constant(cls)), found)
        return found

    def is_subclass(self, cls: type, base: type) -> bool:
        """Whether a class is derived from another one, guarded where that may change."""
        found = issubclass(cls, base)
        certain = type(base) is type and (cls is base or not cls.__flags__ & HEAP_TYPE)
        if not certain and self.is_new("subclass", id(cls), id(base)):
            if type(base) not in (type, ABCMeta):
                self.members(type(base))
            self.require_same(self.call(issubclass, Constant(cls), Constant(base)), found)
        return found

    def missing(self, globals_: dict[str, Any], name: str) -> None:
        """Guard that there is no global of a name."""
        if self.is_new("missing", id(globals_), name):
            for namespace in (globals_, vars(builtins)):
                self.require(self.emit("not_in", Constant(name), Constant(namespace)))

    def not_installed(self, name: str) -> bool:
        """Whether there is no package of a name to be imported, guarded."""
        package = name.partition(".")[0]
        if package in sys.modules or importlib.util.find_spec(package) is not None:
            return False
        if self.is_new("not installed", package):
            self.require(self.emit("not_in", Constant(package), Constant(sys.modules)))
            self.require_same(self.call(importlib.util.find_spec, Constant(package)), None)
        return True

    def imported(self, name: str) -> Any:
        """A module that is imported by now."""
        if name not in sys.modules:
            if name.partition(".")[0] not in sys.modules:
                lack(name, partial(operator.contains, sys.modules, name))
                raise Refused(f"{name} is not imported")
            try:
                importlib.import_module(name)
            except ImportError as error:
                raise Refused(str(error)) from error
        if self.is_new("module", name):
            self.require_same(self.emit("getitem", Constant(sys.modules), Constant(name)), sys.modules[name])
        return sys.modules[name]

    def require_unassigned(self, example: Any, name: Any) -> None:
        """What the program assigns is not read as it was on entry."""
        home = home_of(example if isinstance(example, type) else type(example), name)
        if any(place_of(holder, name) in self.changed for holder in (example, home)):
            raise Refused(f"{name}, which the program assigns, is asked for in another way")

    def alone(self, here: Operand, example: Any, others: list[Operand]) -> None:
        """Guard that a list or an array is none of some values, and that these do not hold it or show its memory."""
        if isinstance(example, np.ndarray):
            self.require(self.call(is_alone, here, *others))
            return
        whole = copied_from(example) in self.changed
        mine = self.call(given_ids if whole else itself, here)
        for other in others:
            self.require(self.call(elsewhere, other, mine))

    def apart(self, owner: Operand, other: Operand, example: Any, another: Any) -> None:
        """Guard that two objects from outside are two, with attributes of their own."""
        if example is another:
            raise Refused("an object that is known in two ways is changed")
        if self.is_new("apart", identity(owner), identity(other)):
            first, second = _names(example), _names(another)
            if first is not None and second is not None:
                if first is second:
                    raise Refused("two objects share their attributes, and some are assigned")
                owner, other = self._names_of(owner, example), self._names_of(other, another)
            self.require(self.emit("is_not", owner, other))

    def _names_of(self, owner: Operand, example: Any) -> Operand:
        return owner if type(example) is dict else self.emit("getattr", owner, data="__dict__")

    def same(self, owner: Operand, other: Operand) -> bool:
        """Whether two objects that are loaded on entry are one, guarded."""
        found = self.types[owner].example is self.types[other].example
        if self.is_new("same", owner, other):
            self.require(self.emit("is" if found else "is_not", owner, other))
        return found

    def not_shown(self, view: Operand, owner: Operand) -> None:
        """Guard that a view of a dict shows another one than an object that is loaded on entry."""
        if self.is_new("not shown", view, owner):
            self.require(self.call(operator.is_not, self.call(behind, view), owner))

    def distinct(self, operands: list[Operand]) -> None:
        """Guard that no two objects that are loaded on entry are one."""
        if len(operands) > 1:
            self.require(self.call(are_distinct, *operands))

    def require_elsewhere(self, outside: Variable, example: Any, references: dict[Variable, Any]) -> None:
        """What is from outside is none of these arguments, nor in them."""
        if references:
            if not elsewhere(example, given_ids(*references.values())):
                raise Refused(GIVEN_TOO)
            self.require(self.call(elsewhere, outside, self.ids_of(list(references))))

    def ids_of(self, references: list[Variable]) -> Operand:
        """What is an argument, or in one; they are looked through once."""
        key = "given", *references
        if key not in self.loaded:
            self.loaded[key] = self.call(given_ids, *references)
        return self.loaded[key]


def _names(value: Any) -> Any:
    """The dict of the attributes of an object; a dict may be that of another one."""
    return value if type(value) is dict else getattr(value, "__dict__", None)
