"""Attribute lookup on types, without running user code."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Sequence
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, TypeGuard, cast

from autodiff_hook.runtime.kinds import ByClass, remember

MISSING: Final = object()
HEAP_TYPE: Final = 1 << 9
"""The flag of classes that are made while a program runs, most of which can be changed."""
_IMMUTABLE_TYPE: Final = 1 << 8


def native_method(cls: type, name: str) -> Any:
    """A special method of objects of a class past what is written in Python: C code lets no other one be called."""
    held = (base.__dict__.get(name) for base in cls.__mro__)
    return next(found for found in held if type(found) is WrapperDescriptorType)


def find_in_type(cls: type, name: str) -> Any:
    """What ``name`` is bound to in the classes of the MRO; None if nothing."""
    for base in cls.__mro__:
        found = base.__dict__.get(name, MISSING)
        if found is not MISSING:
            return wrapped_by(found) if type(found) is FunctionType else found
    return None


def behind(view: Any) -> Any:
    """The mapping behind a ``MappingProxyType``, or a view of its keys, values or items."""
    return gc.get_referents(view)[0]


def standing_for(method: FunctionType, run: Callable[..., Any]) -> FunctionType:
    """A method that calls ``run(method, ...)``; where it is looked up, ``method`` is found."""

    @functools.wraps(method)
    def asked(*given: Any) -> Any:
        return run(method, *given)

    return cast("FunctionType", asked)


def wrapped_by(function: FunctionType) -> Any:
    """The method that a function stands for, or itself."""
    return function.__wrapped__ if function.__code__ is _STANDING else function  # type: ignore[attr-defined]


_STANDING: Final = standing_for(cast("FunctionType", standing_for), cast).__code__


def is_plainly(found: Any, cls: type, method: str = "__get__") -> TypeGuard[Any]:
    """Whether a descriptor is of a class such as ``property``, or of a derived one that leaves a method as it is."""
    return isinstance(found, cls) and find_in_type(type(found), method) is find_in_type(cls, method)


def getter_of(found: Any) -> FunctionType | None:
    """The Python code by which a property is read; None for what is none, or is read otherwise."""
    plain = is_plainly(found, property) and type(found.fget) is FunctionType
    return found.fget if plain else None


def is_open(cls: type) -> bool:
    """Whether a class may have attributes that a program has put there."""
    return cls.__flags__ & (HEAP_TYPE | _IMMUTABLE_TYPE) == HEAP_TYPE


def is_importable(value: Any) -> bool:
    """Whether a class or a module is found where its name says, so that no call has made it on the way."""
    if issubclass(type(value), ModuleType):
        return sys.modules.get(value.__dict__.get("__name__")) is value
    found: Any = sys.modules.get(value.__dict__.get("__module__", "builtins"))
    for name in value.__qualname__.split("."):
        found = None if found is None else vars(found).get(name)
    return found is value


def has_in_type(cls: type, name: str) -> bool:
    """Whether one of the classes of the MRO has ``name``."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return True
    return False


def dictionary_of(value: Any) -> Any:
    """The dict of the attributes that an object has itself, not what its class may show as ``__dict__``; else None."""
    cls = type(value)
    own = reader_of_dictionary(cls)
    if own is not None:
        return own(value)
    if cls.__dictoffset__ and has_in_type(cls, "__dict__"):
        state: Any = object.__getstate__(value)
        return state[0] if type(state) is tuple else state
    # A weak proxy shows that of another object; what the code of a class would answer is none.
    asked = map(type, (find_in_type(cls, "__getattr__"), find_in_type(cls, "__getattribute__")))
    return None if has_in_type(cls, "__dict__") or FunctionType in asked else getattr(value, "__dict__", None)


def own_attributes(value: Any) -> dict[str, Any] | None:
    """``dictionary_of``, if it is a plain dict."""
    try:
        found = dictionary_of(value)
    except ReferenceError:  # a weak proxy of what is dead
        return None
    return found if type(found) is dict else None


def reader_of_dictionary(cls: type) -> Callable[[Any], Any] | None:
    """What gives the dict of an object of a class that has it in the usual way."""
    for base in cls.__mro__:
        found = base.__dict__.get("__dict__")
        if isinstance(found, _DESCRIPTORS):
            return found.__get__
    return None


def shows_another_dictionary(cls: type) -> bool:
    """Whether a class answers for ``__dict__`` itself."""
    shown = find_in_type(cls, "__dict__")
    return shown is not None and not isinstance(shown, _DESCRIPTORS)


_DESCRIPTORS: Final = (GetSetDescriptorType, MemberDescriptorType)


_SLOTS: Final[ByClass[list[str]]] = {}


def slots_of(cls: type) -> list[str]:
    """The names of the slots of a class, which is not kept alive."""
    known = _SLOTS.get(id(cls))
    if known is not None:
        return known[0]
    found: list[str] = []
    for base in cls.__mro__:
        if "__slots__" in base.__dict__:
            found += [name for name, item in base.__dict__.items() if type(item) is MemberDescriptorType]
    return remember(_SLOTS, cls, found)


def home_of(cls: type, name: str) -> type | None:
    """The class in the MRO of ``cls`` that has ``name``."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base
    return None


def home_after(cls: type, after: type, name: str) -> type | None:
    """The class in which ``super(after, …).name`` finds it in the MRO of ``cls``."""
    order = cls.__mro__
    for base in order[order.index(after) + 1 :]:
        if name in base.__dict__:
            return base
    return None


def asked_in_turn(a: type, b: type, own: str, reflected: str, compares: bool = False) -> list[tuple[int, str]]:
    """The special methods that Python asks of two operands one after the other: the place of the operand, the name."""
    asked = [(0, own), (1, reflected)]
    if a is b:
        return asked if compares else asked[:1]
    overrides = issubclass(b, a) and (compares or find_in_type(b, reflected) is not find_in_type(a, reflected))
    return asked[::-1] if overrides else asked


def require_no_more(name: str, cls: type, given: Any) -> None:
    """Raise what ``object.__new__`` and ``object.__init__`` raise where they are ``given`` more than they take."""
    other = "__init__" if name == "__new__" else "__new__"
    overrides = find_in_type(cls, name) is not object.__dict__[name]
    if given and (overrides or find_in_type(cls, other) is object.__dict__[other]):
        raise TypeError(
            f"object.{name}() takes exactly one argument" if overrides else f"{cls.__name__}() takes no arguments"
        )


def require_none(returned: Any) -> None:
    """Raise what calls of classes raise where ``__init__`` has returned something."""
    if returned is not None:
        raise TypeError(f"__init__() should return None, not {type(returned).__name__!r}")


def in_numpys_order(classes: Sequence[type]) -> list[int]:
    """The places of the first of each class, as NumPy asks them: from the left, but classes before their bases."""
    order: list[int] = []
    for place, cls in enumerate(classes):
        if all(classes[other] is not cls for other in order):
            bases = [i for i, other in enumerate(order) if issubclass(cls, classes[other])]
            order.insert(bases[0] if bases else len(order), place)
    return order


def builtin_behind(method: Any) -> Any:
    """The descriptor of a builtin class that a bound method was made from; None if there is none."""
    owner = getattr(method, "__objclass__", None)
    for base in (owner,) if owner is not None else type(method.__self__).__mro__:
        found = base.__dict__.get(method.__name__)
        if isinstance(found, (MethodDescriptorType, WrapperDescriptorType)):
            return found
    return None


def is_iterated_by_code(cls: type) -> bool:
    """Whether Python code gives the items of an object: its ``__iter__``, or ``__getitem__`` where there is none."""
    method = find_in_type(cls, "__iter__")
    return type(find_in_type(cls, "__getitem__") if method is None else method) is FunctionType


def keeps_elsewhere(descriptor: Any) -> bool:
    """Whether C code other than CPython's keeps an attribute, in memory that others may show: a field of ctypes."""
    if isinstance(descriptor, (GetSetDescriptorType, MemberDescriptorType, property)):
        return False
    return type(find_in_type(type(descriptor), "__set__")) is WrapperDescriptorType


def is_data_descriptor(descriptor: Any) -> bool:
    """Whether a class attribute takes precedence over the instance's own where it is read."""
    cls = type(descriptor)
    return hasattr(cls, "__get__") and (hasattr(cls, "__set__") or hasattr(cls, "__delete__"))
