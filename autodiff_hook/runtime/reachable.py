"""What a value refers to: elements, attributes, captured cells, bound objects."""

from __future__ import annotations

import dis
import enum
import gc
import re
import sys
import weakref
from collections.abc import Iterable, Iterator
from functools import _lru_cache_wrapper, cached_property, lru_cache, partial
from itertools import chain
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.errors import LIBRARIES
from autodiff_hook.runtime.buffers import operands_of
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import dictionary_of, is_open, wrapped_by
from autodiff_hook.runtime.sharing import ByCode

_WITHOUT_PROGRAMS: Final = LIBRARIES | {"autodiff_hook", "autodiff_rules", "numba", "pandas", "sympy"}
"""Packages whose globals hold nothing that a program has made."""
_ATTACHED: Final = frozenset({"J"})
"""The attributes that the loader gives to functions."""
LEAVES: Final = frozenset({int, float, complex, bool, str, bytes, type(None), CodeType})
"""What refers to nothing that matters; most of what large structures hold, beside tuples of these."""


def reachable(
    value: Any,
    arrays: bool = False,
    given: dict[int, tuple[Any, list[Any]]] | None = None,
    seen: set[int] | None = None,
    names: bool = True,
) -> Iterator[Any]:
    """``value`` and what it refers to: elements, attributes, captured cells, bound objects, and what functions name.

    That is globals, and, of classes that are met, methods and other attributes; not if ``names`` is false. What is
    ``seen`` is passed by, and grows by what is met. Leaves, and tuples of nothing but leaves, are passed by as well.
    """
    return chain.from_iterable(Walk(arrays, given, seen, names).levels(value))


_PASSED: Final = 0
_PLAIN: Final = 1
"""What refers to what the garbage collector says."""
_TUPLE: Final = 2
_ARRAY: Final = 3
_CLASS: Final = 4
_OTHER: Final = 5


class Walk:
    """A search through references, level by level: most of what there is asks for no call of its own."""

    __slots__ = ("_arrays", "_bases", "_given", "_named", "_names", "_seen", "arrays", "namespaces")

    def __init__(
        self,
        arrays: bool = False,
        given: dict[int, tuple[Any, list[Any]]] | None = None,
        seen: set[int] | None = None,
        names: bool = True,
    ) -> None:
        self._arrays = arrays
        self._given = given or {}
        self._seen = set() if seen is None else seen
        self._names = names
        self._named = _Named()
        self._bases: set[int] = set()
        self.arrays: list[Any] = []
        """The arrays that were met, or passed by."""
        self.namespaces: set[int] = set()
        """The globals in which functions were met to name something, by identity."""

    def levels(self, *values: Any) -> Iterator[list[Any]]:
        """What is ``reachable`` from values: what is near comes first."""
        given, waiting = self._given, [*values]
        while waiting:
            items, waiting = self._met(waiting)
            if items:
                yield items
            if given and not given.keys().isdisjoint(map(id, items)):
                waiting += [held for item in items if id(item) in given for held in given[id(item)][1]]
            waiting = waiting or self._named.attributes()

    def _met(self, waiting: list[Any]) -> tuple[list[Any], list[Any]]:
        """What is new of a level, and what that refers to."""
        seen, ways = self._seen, _ways
        plain, others, further = [], [], []
        for item in waiting:
            cls = type(item)
            try:
                way = ways[id(cls)]
            except KeyError:
                way = _way_of(cls)
            key = id(item)
            if not way or key in seen or way == _TUPLE and LEAVES.issuperset(map(type, item)):
                continue
            if way == _CLASS and not self._names:
                continue
            seen.add(key)
            if way == _ARRAY:
                self.arrays.append(item)
                if not self._arrays and _is_numbers_alone(item):
                    continue
            if way <= _TUPLE:
                plain.append(item)
                continue
            if way != _CLASS or is_open(item):
                others.append(item)
            further += self._held_by_class(item) if way == _CLASS else self._held_by(item)
        return plain + others, [*further, *gc.get_referents(*plain)]

    def _held_by_class(self, cls: Any) -> list[Any]:
        new = [base for base in cls.__mro__ if id(base) not in self._bases]
        self._bases.update(map(id, new))
        held: list[Any] = [*captured_by([method for base in new for method in _methods_in(base)])]
        if is_open(cls):
            self._named.classes += cls.__mro__
            held.append(type(cls))
        return held

    def _held_by(self, item: Any) -> list[Any]:
        found = _referents(item)
        if type(item) is FunctionType:
            names = names_in(item.__code__)
            spaces = namespaces_of(item, names)
            self.namespaces.update(map(id, spaces))
            if self._names:
                self._named.names |= names
                found += [held[name] for held in spaces for name in held.keys() & names]
        return found


_ways: Final[dict[int, int]] = {}
"""What the values of classes refer to, by the identity of the classes."""
_references: Final[dict[int, tuple[weakref.ref[type], ...]]] = {}


def _way_of(cls: type) -> int:
    """Find out what the values of a class refer to; the class is not kept alive."""
    key = id(cls)
    _ways[key] = way = _classified(cls)
    # Another class may get this number next, so the callback runs no Python code, which may be interrupted.
    tables: tuple[dict[int, Any], ...] = (_ways, _references)
    _references[key] = tuple([weakref.ref(cls, partial(table.pop, key)) for table in tables])
    return way


def _classified(cls: type) -> int:
    if cls in LEAVES:
        return _PASSED
    if cls is tuple:
        return _TUPLE
    kind = kind_of(cls)
    if kind == "number":
        return _PASSED
    if kind == "array":
        return _ARRAY
    if kind == "inert" and not issubclass(cls, _REFERRING):
        return _CLASS if issubclass(cls, type) else _PASSED
    return _OTHER if _is_told_apart(cls, kind) else _PLAIN


def _is_told_apart(cls: type, kind: str) -> bool:
    """Whether ``_referents`` knows more of the values of a class than the garbage collector."""
    if cls in _TOLD_APART or issubclass(cls, (BuiltinFunctionType, np.void, weakref.ReferenceType)):
        return True
    return _is_of_numba(cls) or _has_dict_aside(cls, kind)


def _is_of_numba(cls: type) -> bool:
    return str(cls.__module__).startswith("numba.")


def _has_dict_aside(cls: type, kind: str) -> bool:
    return _DICTS_ASIDE and (kind == "object" or issubclass(cls, enum.Enum)) and bool(cls.__dictoffset__)


_TOLD_APART: Final = frozenset({FunctionType, _lru_cache_wrapper, memoryview, np.flatiter, np.broadcast, np.nditer})


def changeable(values: Iterable[Any]) -> Iterator[Any]:
    """What values refer to, and what else code among it may assign: attributes of functions, globals, modules."""
    seen, spaces = set[int](), set[int]()
    for item in chain.from_iterable(Walk(seen=seen).levels(*values)):
        yield item
        for held in [held for function in _run_by(item) for held in _assigned_by(function)]:
            if id(held) not in seen and id(held) not in spaces:
                spaces.add(id(held))
                yield held


def _run_by(item: Any) -> list[FunctionType]:
    """A function itself, and the special methods of a class: native code may call them."""
    if type(item) is FunctionType:
        return [item]
    if not issubclass(type(item), type) or is_without_programs(item.__module__):
        return []
    return [method for method in _methods_in(item) if method.__name__[:2] == "__"]


def _assigned_by(function: FunctionType) -> list[dict[str, Any]]:
    """The dicts in which a function may assign names."""
    return [function.__dict__, *(namespaces_of(function, names_in(function.__code__)) if _assigns(function) else ())]


def _assigns(function: FunctionType) -> bool:
    return not _ASSIGNING.isdisjoint(operations_in(function.__code__)) or not _BY_CALLS.isdisjoint(
        names_in(function.__code__)
    )


_ASSIGNING: Final = frozenset(
    dis.opmap[name] for name in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR") if name in dis.opmap
)
_BY_CALLS: Final = frozenset({"setattr", "delattr", "globals", "vars", "exec", "eval", "__dict__"})


def operations_in(code: CodeType) -> frozenset[int]:
    """The opcodes of some code, and of what is made within it."""
    return frozenset(code.co_code[::2]).union(*[operations_in(x) for x in code.co_consts if type(x) is CodeType])


_REFERRING: Final = (BuiltinFunctionType, slice, enum.Enum, np.ufunc)
"""Classes of what is inert, but refers to something: attributes of members of an Enum may be assigned."""


class _Named:
    """The names in functions, and classes, whose attributes by these names are met as well."""

    def __init__(self) -> None:
        self.classes: list[type] = []
        self.names = {"__call__"}
        self._asked: set[str] = set()
        self._left: dict[int, tuple[type, dict[str, Any]]] = {}

    def attributes(self) -> list[Any]:
        """The attributes that were not given before."""
        if not self.classes and not self._left:
            return []
        new = self.names - self._asked
        operators_from_now = len(self._asked) < 2 <= len(self.names)
        self._asked |= new
        classes, self.classes = self.classes, []
        found = []
        for cls, left in self._left.values():
            if operators_from_now or cls.__name__ in new or not left.keys().isdisjoint(new):
                found += self._taken(cls, left)
        for cls in classes:
            if id(cls) not in self._left and is_open(cls) and not is_without_programs(cls.__module__):
                members = vars(cls).get("_member_map_", {}) if issubclass(type(cls), enum.EnumMeta) else {}
                self._left[id(cls)] = cls, left = cls, {**vars(cls), **members}
                found += self._taken(cls, left)
        return found

    def _taken(self, cls: type, left: dict[str, Any]) -> list[Any]:
        return [function_in(left.pop(x)) for x in [x for x in left if self._asks(cls, x, left[x])]]

    def _asks(self, cls: type, name: str, held: Any) -> bool:
        """Whether functions may ask for an attribute: operators have no names, and who names a class may call it."""
        if name in ("__init__", "__new__"):
            return cls.__name__ in self.names
        special = len(self.names) > 1 and type(held) is FunctionType and name[:2] == "__" == name[-2:]
        return special or name in self.names


def function_in(attribute: Any) -> Any:
    """The function that a descriptor calls, else the attribute of a class itself."""
    cls = type(attribute)
    if issubclass(cls, (staticmethod, classmethod)):
        attribute = attribute.__func__
    elif issubclass(cls, property):
        attribute = attribute.fget
    elif issubclass(cls, cached_property):
        attribute = attribute.func
    return wrapped_by(attribute) if type(attribute) is FunctionType else attribute


@lru_cache(1 << 12)
def is_without_programs(module: Any) -> bool:
    """Whether a module, by its name, is of a package whose globals hold nothing that a program has made."""
    return str(module).partition(".")[0] in _WITHOUT_PROGRAMS


def _is_of_library(function: Any) -> bool:
    """Whether what a cache of a function holds is, like its globals, nothing that a program has made."""
    return type(function) is FunctionType and is_without_programs(function.__globals__.get("__name__"))


def _referents(item: Any) -> list[Any]:
    cls = type(item)
    kind = kind_of(cls)
    if cls is FunctionType:
        own = item.__dict__
        return [
            *(item.__closure__ or ()),
            *(item.__defaults__ or ()),
            item.__kwdefaults__,
            own if own.keys() - _ATTACHED else None,
        ]
    if issubclass(cls, BuiltinFunctionType):
        return [item.__self__]
    if cls is _lru_cache_wrapper and _is_of_library(item.__wrapped__):
        return [item.__wrapped__]
    if kind == "array":
        return _referents_of_array(item)
    if cls is memoryview:
        return [item.obj]
    if issubclass(cls, weakref.ReferenceType):
        return [*gc.get_referents(item), weakref.ref.__call__(item)]
    if cls is np.flatiter or issubclass(cls, np.void):
        return [item.base]
    if cls is np.broadcast:
        return list(item.iters)
    if cls is np.nditer:
        return list(operands_of(item))
    if _is_of_numba(cls) and type(getattr(item, "__wrapped__", None)) is FunctionType:
        # Beside the function that was compiled, there is nothing but the compiler.
        return [item.__wrapped__]
    if _has_dict_aside(cls, kind):
        dictionary = dictionary_of(item)
        if type(dictionary) is dict:
            return [dictionary, *gc.get_referents(item)]
    return gc.get_referents(item)


def methods_of(cls: type) -> list[FunctionType]:
    """The methods of a class and of those that it is derived from, if they may know something of a program."""
    return [method for base in cls.__mro__ for method in _methods_in(base)]


def captured_by(methods: list[FunctionType]) -> list[CellType]:
    """The variables that methods have captured."""
    return [cell for method in methods for cell in method.__closure__ or ()]


def _methods_in(cls: type) -> list[FunctionType]:
    if not is_open(cls) or is_without_programs(cls.__module__) and "<" not in cls.__qualname__:
        return []
    found = [function_in(x) for x in vars(cls).values() if type(x) in _METHODS]
    return [x for x in found if type(x) is FunctionType]


_METHODS: Final = frozenset({FunctionType, staticmethod, classmethod, property, cached_property})


_DICTS_ASIDE: Final = sys.version_info >= (3, 13)
"""Whether an object refers to what its dict holds, and not to that."""


def namespaces_of(function: FunctionType, names: frozenset[str]) -> list[dict[str, Any]]:
    """The globals of a function of a program, and those of the modules that it names."""
    if _is_of_library(function):
        return []
    found = [function.__globals__]
    known = {id(function.__globals__)}
    for held in found:  # it grows
        for name in held.keys() & names:
            module = held[name]
            if issubclass(type(module), ModuleType) and id(module.__dict__) not in known:
                known.add(id(module.__dict__))
                if not is_without_programs(module.__dict__.get("__name__")):
                    found.append(module.__dict__)
    return found


def names_in(code: CodeType) -> frozenset[str]:
    """The names of globals, and of attributes, in code and the code of functions in it."""
    found = _names.found.get(id(code))
    if found is None:
        within = [names_in(x) for x in code.co_consts if type(x) is CodeType]
        found = _names.add(code, frozenset(code.co_names).union(_texts_in(code), *within))
    return found


def _texts_in(code: CodeType) -> list[str]:
    """The names in texts by which code may ask for globals and attributes."""
    texts = [] if BY_TEXTS.isdisjoint(code.co_names) else [x for x in code.co_consts if type(x) is str]
    if _OF_CODE.isdisjoint(code.co_names):
        return [text for text in texts if text.isidentifier()]
    return [word for text in texts for word in re.findall(r"\w+", text)]


_OF_CODE: Final = frozenset({"eval", "exec", "compile"})
BY_TEXTS: Final = _OF_CODE | {"getattr", "globals", "vars", "__dict__", "attrgetter", "methodcaller"}
"""What asks for globals and attributes by texts."""


_names: Final[ByCode[frozenset[str]]] = ByCode(1 << 14)


def _is_numbers_alone(array: Any) -> bool:
    """Whether an array refers to nothing but, at most, another array that has its elements."""
    base = array.base
    return type(array) is np.ndarray and not array.dtype.hasobject and (base is None or isinstance(base, np.ndarray))


def _referents_of_array(array: Any) -> list[Any]:
    """What an array refers to; the array that it is a view of has the same elements."""
    found = [] if array.base is None or kind_of(type(array.base)) == "array" else [array.base]
    if array.dtype.hasobject:
        found += np.ndarray.flatten(array).tolist()
    if type(array) is np.ndarray:
        return found
    return [*found, dictionary_of(array), *gc.get_referents(array)]
