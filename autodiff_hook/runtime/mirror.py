"""Gradients in the form of the arguments: what an argument looked like when it was passed in, and its gradient."""

from __future__ import annotations

import sys
from types import FunctionType, MethodType, ModuleType
from typing import Any

from autodiff_hook.registry import NotImplementedCotangent
from autodiff_hook.runtime.buffers import dense
from autodiff_hook.runtime.context import Sweep
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.slots import Attribute
from autodiff_hook.tangent import Tangent


class Mirror:
    """The form of one value; ``gradient`` fills it from an edge cotangent and the shadows of a sweep."""

    __slots__ = ("children", "kind", "value")

    def __init__(self, value: Any, kind: str) -> None:
        self.value, self.kind = value, kind
        self.children: dict[Any, Mirror] = {}

    def gradient(self, sweep: Sweep, cotangent: Any, done: dict[int, Any]) -> Any:
        """The gradient with respect to the value."""
        if self.kind == "inert":
            return None
        if type(cotangent) is NotImplementedCotangent:
            raise cotangent.fail()
        if self.kind == "number":
            return number_gradient(self.value, cotangent)
        if self.kind == "array":
            return array_gradient(self.value, dense(accumulate(cotangent, sweep.buffers.take(self.value))))
        if id(self) in done:
            return done[id(self)]
        if self.kind == "tuple":
            parts = cotangent if cotangent is not None else (None,) * len(self.children)
            items = [child.gradient(sweep, parts[i], done) for i, child in self.children.items()]
            return tuple(items) if type(self.value) is tuple else _tuple_like(self.value, items)
        return self._reference_gradient(sweep, cotangent, done)

    def _reference_gradient(self, sweep: Sweep, cotangent: Any, done: dict[int, Any]) -> Any:
        shadow = sweep.peek(self.value)
        container: Any = [] if self.kind == "list" else {}
        result = done[id(self)] = container if self.kind in ("list", "dict") else self._tangent(container)
        for key, child in self.children.items():
            reference, slot = self._slot(key)
            part = (shadow if reference is self.value else sweep.peek(reference)).get(slot)
            if isinstance(cotangent, (list, tuple, dict)):
                part = accumulate(part, cotangent[key])
            gradient = child.gradient(sweep, part, done)
            if self.kind == "list":
                container.append(gradient)
            else:
                container[key] = gradient
        return result

    def _slot(self, key: Any) -> tuple[Any, Any]:
        if self.kind == "function":
            index = self.value.__code__.co_freevars.index(key)
            return self.value.__closure__[index], 0
        return self.value, Attribute(key) if self.kind == "object" else key

    def _tangent(self, fields: dict[str, Any]) -> Tangent:
        named = self.value if self.kind == "function" else type(self.value)
        return Tangent(named.__qualname__, fields)


def mirror_of(value: Any, known: dict[int, Mirror] | None = None) -> Mirror:
    """The form of ``value`` as it is now."""
    known = {} if known is None else known
    kind = form_of(value)
    if kind in ("list", "dict", "object", "function", "method") and id(value) in known:
        return known[id(value)]
    if kind == "method":
        return mirror_of(value.__self__, known)
    mirror = known[id(value)] = Mirror(value, kind)
    for key, item in parts_of(value, kind):
        mirror.children[key] = mirror_of(item, known)
    return mirror


def form_of(value: Any) -> str:
    """How the gradient of ``value`` looks."""
    if type(value) is FunctionType:
        return "function" if any(form_of(v) != "inert" for _, v in _captured(value)) else "inert"
    if type(value) is MethodType:
        return "method" if form_of(value.__self__) != "inert" else "inert"
    kind = kind_of(type(value))
    if kind == "array":
        return "array" if value.dtype.kind in "fciu" else "inert"
    if kind == "object":
        return "object" if _attributes(value) and not _is_system(value) else "inert"
    return "inert" if kind in ("set", "cell") else kind


def parts_of(value: Any, kind: str) -> list[tuple[Any, Any]]:
    """The parts of a value that get gradients of their own, by key."""
    if kind in ("tuple", "list"):
        return list(enumerate(value))
    if kind == "dict":
        return list(value.items())
    if kind == "object":
        return _attributes(value)
    return _captured(value) if kind == "function" else []


def _is_system(value: Any) -> bool:
    return issubclass(type(value), ModuleType) or type(value).__module__ in ("builtins", "_thread", "_io", "re")


def _attributes(value: Any) -> list[tuple[str, Any]]:
    try:
        own = getattr(value, "__dict__", None)
    except ReferenceError:  # a weak proxy of what is dead
        return []
    found = dict(own) if isinstance(own, dict) else {}
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found.setdefault(name, getattr(value, name))
    return list(found.items())


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


def whole_numbers_in(value: Any, seen: set[int] | None = None) -> bool:
    """Whether an int, or an array of ints, is among the leaves of a value."""
    seen = set() if seen is None else seen
    kind = form_of(value)
    if kind == "number":
        return isinstance(value, int) or type(value).__module__ == "numpy" and value.dtype.kind in "iu"
    if kind == "array":
        return bool(value.dtype.kind in "iu")
    if id(value) in seen:
        return False
    seen.add(id(value))
    return any(whole_numbers_in(item, seen) for _, item in parts_of(value, kind))


def number_gradient(value: Any, cotangent: Any) -> Any:
    """The gradient of a number: a number of its precision."""
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
    import numpy as np

    dtype = value.dtype if value.dtype.kind in "fc" else np.dtype(float)
    if cotangent is None:
        return np.zeros(value.shape, dtype)
    cotangent = np.asarray(cotangent)
    if dtype.kind != "c" and cotangent.dtype.kind == "c":
        cotangent = cotangent.real
    if cotangent.shape == value.shape:
        return np.array(cotangent, dtype)
    return np.array(np.broadcast_to(cotangent, value.shape), dtype)


def _tuple_like(value: Any, items: list[Any]) -> Any:
    make = getattr(type(value), "_make", None)
    return tuple(items) if make is None else make(items)
