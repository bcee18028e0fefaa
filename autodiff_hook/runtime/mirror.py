"""Gradients in the form of the arguments: what an argument looked like when it was passed in, and its gradient."""

from __future__ import annotations

import contextlib
import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.registry import registry
from autodiff_hook.runtime.buffers import dense
from autodiff_hook.runtime.kinds import ByClass, kind_of, remember
from autodiff_hook.runtime.lookup import own_attributes, slots_of
from autodiff_hook.runtime.parted import PARTED, blank, elements_of, fields_of, parted_form
from autodiff_hook.tangent import Tangent

Leaf = Callable[["Mirror"], tuple[Any, Any]]


class Mirror:
    """The form of one value."""

    __slots__ = ("children", "kind", "value")

    def __init__(self, value: Any, kind: str) -> None:
        self.value, self.kind = value, kind
        self.children: dict[Any, Mirror] = {}


def mirror_of(value: Any, known: dict[Any, Mirror] | None = None) -> Mirror:
    """The form of ``value`` as it is now; ``known`` has those of references, by identity, and of what is in places."""
    known = {} if known is None else known
    kind = form_of(value)
    if kind in _SHARED and id(value) in known:
        return known[id(value)]
    if kind == "method":
        return mirror_of(value.__self__, known)
    mirror = known[id(value)] = Mirror(value, kind)
    for key, item in parts_of(value, kind):
        place = _place_of(value, kind, key)
        child = mirror.children[key] = known.get(place) or mirror_of(item, known)
        if place is not None:
            known[place] = child
    return mirror


def _place_of(value: Any, kind: str, key: Any) -> Any:
    """What others may show, too, that has a part of a value: a captured variable, or an attribute in a dict."""
    if kind == "function":
        return id(value.__closure__[value.__code__.co_freevars.index(key)])
    own = own_attributes(value) if kind == "object" else value if kind == "dict" else None
    return None if own is None or key not in own else (id(own), key)


_SHARED: Final = PARTED | {"list", "dict", "object", "function", "method"}


def form_of(value: Any) -> str:
    """How the gradient of ``value`` looks."""
    if type(value) is FunctionType:
        return "function" if any(form_of(v) != "inert" for _, v in _captured(value)) else "inert"
    if type(value) is MethodType:
        return "method" if form_of(value.__self__) != "inert" else "inert"
    kind = kind_of(type(value))
    if kind == "object" and (issubclass(type(value), deque) or type(value) is array and value.typecode in "fd"):
        return "list"
    if kind == "array":
        return "array" if value.dtype.kind in "fciu" else parted_form(value, form_of)
    if issubclass(type(value), np.void):
        return parted_form(value, form_of)
    if kind == "object":
        return "object" if is_plain_kind(type(value)) and attributes_of(value) else "inert"
    return "inert" if kind in ("set", "cell") else kind


def parts_of(value: Any, kind: str) -> list[tuple[Any, Any]]:
    """The parts of a value that get gradients of their own, by key."""
    if kind in ("tuple", "list"):
        return list(enumerate(value))
    if kind == "dict":
        return list(value.items())
    if kind == "object":
        return attributes_of(value)
    if kind in PARTED:
        return fields_of(value, form_of) if kind == "records" else elements_of(value)
    return _captured(value) if kind == "function" else []


def is_like(value: Any, gradient: Any) -> bool:
    """Whether ``gradient`` is an array of the shape of ``value``, and of records or objects as that is."""
    if not isinstance(gradient, (np.ndarray, np.void)) or gradient.shape != value.shape:
        return False
    return gradient.dtype.kind == value.dtype.kind and (gradient.dtype.names is None) == (value.dtype.names is None)


def is_plain_kind(cls: type) -> bool:
    """Whether the gradients of objects of a class are those of their attributes, as far as they have any."""
    known = _PLAIN.get(id(cls))
    if known is not None:
        return known[0]
    if cls is FunctionType or cls is MethodType or kind_of(cls) != "object":
        return remember(_PLAIN, cls, False)
    system = issubclass(cls, ModuleType) or cls.__module__ in ("builtins", "_thread", "_io", "re")
    return remember(_PLAIN, cls, not system and not issubclass(cls, deque) and registry.asked(cls) is None)


_PLAIN: Final[ByClass[bool]] = {}


def attributes_of(value: Any) -> list[tuple[str, Any]]:
    """The attributes of an object, those in slots too."""
    return list(attributes_with(value, own_attributes(value)).items())


def attributes_with(value: Any, own: dict[str, Any] | None) -> dict[str, Any]:
    """The attributes of an object that has this dict of them."""
    slots = slots_of(type(value))
    if not slots:
        return own or {}
    found = dict(own or ())
    for name in slots:
        # A slot that is empty has no value, whatever __getattr__ would give.
        with contextlib.suppress(AttributeError):
            found.setdefault(name, object.__getattribute__(value, name))
    return found


def _captured(function: FunctionType) -> list[tuple[str, Any]]:
    found = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        if type(content) is not FunctionType:
            found.append((name, content))
    return found


def gradient_of(mirror: Mirror, leaf: Leaf, done: dict[Any, tuple[Any, Any]]) -> tuple[Any, Any]:
    """The gradient of what a mirror shows, and what goes with its parts, both made by ``leaf`` where it has no parts.

    ``done`` has what was made before: gradients share what the values share.
    """
    if mirror.kind == "inert":
        return None, None
    if mirror in done:
        return done[mirror]
    if mirror.kind in ("number", "array"):
        done[mirror] = leaf(mirror)
        return done[mirror]
    parts = mirror.children.items()
    return in_form(mirror.value, mirror.kind, parts, lambda _, child: gradient_of(child, leaf, done), done, mirror)


def in_form(
    value: Any,
    form: str,
    parts: Iterable[tuple[Any, Any]],
    make: Callable[[Any, Any], tuple[Any, Any]],
    done: dict[Any, tuple[Any, Any]],
    known_as: Any,
) -> tuple[Any, Any]:
    """A gradient of what has parts, and what goes with it, of what ``make`` gives for each key and part.

    What may hold itself is in ``done`` before its parts are made.
    """
    if form == "tuple":
        items = [make(*part) for part in parts]
        return tuple_like(value, [gradient for gradient, _ in items]), tuple([tree for _, tree in items])
    container: Any = blank(value, form_of) if form in PARTED else [] if form == "list" else {}
    trees: Any = [] if form == "list" else {}
    named = value if form == "function" else type(value)
    is_tangent = form in ("object", "function")
    done[known_as] = Tangent(named.__qualname__, container) if is_tangent else container, trees
    for key, part in parts:
        gradient, tree = make(key, part)
        if form == "list":
            container.append(gradient)
            trees.append(tree)
        else:
            container[key], trees[key] = gradient, tree
    return done[known_as]


def formed(mirror: Mirror, cotangent: Any) -> Any:
    """The gradient of a number or an array."""
    if type(cotangent) is NotImplementedCotangent:
        raise cotangent.fail()
    make = number_gradient if mirror.kind == "number" else array_gradient
    return make(mirror.value, dense(cotangent))


def number_gradient(value: Any, cotangent: Any) -> Any:
    """The gradient of a number: a number of its precision."""
    if type(value) is float and isinstance(cotangent, float):
        return float(cotangent)
    is_complex = isinstance(value, complex) or (type(value).__module__ == "numpy" and value.dtype.kind == "c")
    if cotangent is None:
        cotangent = 0.0
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(cotangent, (numpy.ndarray, numpy.generic)):
        cotangent = cotangent.item() if cotangent.size == 1 else cotangent.sum().item()
    if not is_complex and isinstance(cotangent, complex):
        cotangent = cotangent.real
    if type(value).__module__ == "numpy" and value.dtype.kind in "fc":
        return value.dtype.type(cotangent)
    return complex(cotangent) if is_complex else float(cotangent)


def array_gradient(value: Any, cotangent: Any) -> Any:
    """The gradient of an array: a fresh array of its shape and float dtype."""
    dtype = value.dtype if value.dtype.kind in "fc" else np.dtype(float)
    if cotangent is None:
        return np.zeros(value.shape, dtype)
    cotangent = np.asarray(cotangent)
    if dtype.kind != "c" and cotangent.dtype.kind == "c":
        cotangent = cotangent.real
    if cotangent.shape == value.shape:
        return np.array(cotangent, dtype)
    return np.array(np.broadcast_to(cotangent, value.shape), dtype)


def tuple_like(value: Any, items: list[Any]) -> Any:
    """Items in a tuple of the type of ``value``."""
    make = getattr(type(value), "_make", None)
    return tuple(items) if make is None else make(items)
