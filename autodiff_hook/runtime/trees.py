"""Nested containers of numbers and arrays: mapping over them, their leaves, and all of them as a vector."""

from __future__ import annotations

import copy
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

import numpy as np

from autodiff_hook.errors import Unsupported
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.mirror import form_of, parts_of
from autodiff_hook.runtime.parted import PARTED, part_at
from autodiff_hook.tangent import Tangent, like_sequence

T = TypeVar("T")

Parts = Callable[[Any], Mapping[str, Any]]
Rebuild = Callable[[Any, dict[str, Any]], Any]
_REGISTERED: Final[dict[type, tuple[Parts, Rebuild]]] = {}


def register_tree(cls: type[T], parts: Callable[[T], Mapping[str, Any]], rebuild: Callable[[T, Any], T]) -> None:
    """Say what is part of the objects of a class, and of the classes derived from it, where trees are concerned.

    ``parts(value)`` gives the parts by name, ``rebuild(value, parts)`` a new object like ``value`` with others in
    their places. What is no part is no leaf, and stays. The names should be those of attributes: then a gradient, which
    has one for each attribute, fits the tree. Without this, all attributes in the ``__dict__`` of an object are parts,
    and a changed copy is made of it. Who registers a class again replaces what was said. Raises ``Unsupported`` if
    ``cls`` is not a class, or one whose objects are trees or leaves already (a list, an array).

    >>> class Layer:
    ...     __slots__ = ("weights", "seen")
    ...     def __init__(self, weights, seen=0.0):
    ...         self.weights, self.seen = weights, seen
    >>> register_tree(Layer, lambda x: {"weights": x.weights}, lambda x, parts: Layer(parts["weights"], x.seen))
    >>> tree_leaves([Layer([1.0, 2.0], 7.0)])
    [1.0, 2.0]
    >>> stepped = tree_map(lambda p: p + 1, Layer(3.0, 7.0))
    >>> stepped.weights, stepped.seen
    (4.0, 7.0)
    """
    if not isinstance(cls, type):
        raise Unsupported(f"a class can be registered as a tree, not {cls!r}")
    if kind_of(cls) != "object" or issubclass(cls, (deque, Tangent)):
        raise Unsupported(f"objects of {cls.__qualname__} are trees or leaves already")
    _REGISTERED[cls] = parts, rebuild


def _registered(value: Any) -> tuple[Parts, Rebuild] | None:
    if _REGISTERED:
        for cls in type(value).__mro__:
            if cls in _REGISTERED:
                return _REGISTERED[cls]
    return None


def tree_map(fn: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """Apply ``fn`` to the numbers and arrays of ``tree``, with the matching leaves of ``rest``.

    Containers, objects and ``Tangent`` trees may be nested; a leaf whose gradient is None stays as it is. What is part
    of an object of your own class, ``register_tree`` can say.

    >>> params, grads = {"w": [1.0, 2.0], "name": "a"}, {"w": [0.5, 0.5], "name": None}
    >>> tree_map(lambda p, g: p - 0.1 * g, params, grads)
    {'w': [0.95, 1.95], 'name': 'a'}
    """
    kind = kind_in_tree(tree)
    if kind == "inert" or tree is None or any(r is None for r in rest):
        return tree
    if kind in ("number", "array"):
        return fn(tree, *rest)
    changed = {
        key: tree_map(fn, part, *(_part(r, key, kind) for r in rest)) for key, part in _parts(tree, kind).items()
    }
    return _rebuilt(tree, kind, changed)


def apart(tree: Any, known: dict[int, Any]) -> Any:
    """Tangents in containers of their own, with the same leaves; they may hold themselves."""
    if id(tree) in known:
        return known[id(tree)]
    kind = kind_in_tree(tree)
    if kind == "tuple":
        return like_sequence(tree, [apart(item, known) for item in tree])
    if kind in PARTED:
        return tree.copy()
    if isinstance(tree, Tangent):
        fields: dict[str, Any] = {}
        known[id(tree)] = made = Tangent(tree._of, fields)
        for name in tree:
            fields[name] = apart(tree[name], known)
    elif kind in ("list", "dict"):
        known[id(tree)] = made = copy.copy(tree)
        for key in range(len(tree)) if kind == "list" else list(tree):
            made[key] = apart(tree[key], known)
    else:
        return tree
    return made


def tree_leaves(tree: Any) -> list[Any]:
    """The numbers and arrays of ``tree``, in the order in which ``tree_map`` meets them.

    >>> tree_leaves({"w": [1.0, 2.0], "name": "a", "b": (3.0, None)})
    [1.0, 2.0, 3.0]
    """
    kind = kind_in_tree(tree)
    if kind == "inert":
        return []
    if kind in ("number", "array"):
        return [tree]
    return [leaf for part in _parts(tree, kind).values() for leaf in tree_leaves(part)]


def tree_flatten(tree: Any) -> tuple[list[Any], Callable[[Iterable[Any]], Any]]:
    """The leaves of ``tree``, and the function that puts others in their places.

    >>> leaves, rebuild = tree_flatten({"w": [1.0, 2.0], "name": "a"})
    >>> rebuild([10 * leaf for leaf in leaves])
    {'w': [10.0, 20.0], 'name': 'a'}
    """
    found = tree_leaves(tree)

    def rebuild(leaves: Iterable[Any]) -> Any:
        given = list(leaves)
        if len(given) != len(found):
            raise Unsupported(f"this tree has {len(found)} leaves, and {len(given)} are given")
        items = iter(given)
        return tree_map(lambda _: next(items), tree)

    return found, rebuild


def ravel(tree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All floats in ``tree`` as one vector, and the function that makes such a tree of a vector.

    That is what an optimiser wants. Numbers come back as floats, arrays in their shape and dtype; whole numbers are no
    part of the vector, and stay as they are. What the function gives can be differentiated.

    >>> import numpy as np
    >>> params = {"w": np.ones((2, 2)), "b": 0.5, "steps": 3}
    >>> vector, unravel = ravel(params)
    >>> vector
    array([1. , 1. , 1. , 1. , 0.5])
    >>> unravel(2 * vector)
    {'w': array([[2., 2.],
           [2., 2.]]), 'b': 1.0, 'steps': 3}
    """
    leaves, rebuild = tree_flatten(tree)
    refuse_complex(leaves)
    floats = [leaf for leaf in leaves if _is_float(leaf)]
    ends = list(itertools.accumulate(map(np.size, floats), initial=0))
    vector = np.concatenate([np.ravel(leaf).astype(float) for leaf in floats]) if floats else np.zeros(0)

    def unravel(vector: Any) -> Any:
        if np.shape(vector) != (ends[-1],):
            raise Unsupported(f"this tree has {ends[-1]} floats, and a vector of shape {np.shape(vector)} is given")
        given = []
        place = 0
        for leaf in leaves:
            if not _is_float(leaf):
                given.append(leaf)
                continue
            part = vector[ends[place] : ends[place + 1]]
            given.append(_as_leaf(part, leaf))
            place += 1
        return rebuild(given)

    return vector, unravel


def _is_float(leaf: Any) -> bool:
    return leaf.dtype.kind == "f" if hasattr(leaf, "dtype") else isinstance(leaf, float)


def _as_leaf(part: Any, leaf: Any) -> Any:
    """A part of a vector in the form of a leaf."""
    if kind_in_tree(leaf) == "number":
        return float(part[0])
    shaped = part.reshape(leaf.shape)
    return shaped if leaf.dtype == part.dtype else shaped.astype(leaf.dtype)


def _parts(tree: Any, kind: str) -> Mapping[Any, Any]:
    """What a container or an object holds."""
    if kind in ("list", "tuple"):
        return dict(enumerate(tree))
    if kind == "dict":
        held: Mapping[Any, Any] = tree
        return held
    if kind in PARTED:
        return dict(parts_of(tree, kind))
    if isinstance(tree, Tangent):
        return tree._fields
    registered = _registered(tree)
    return getattr(tree, "__dict__", {}) if registered is None else registered[0](tree)


def _part(tree: Any, key: Any, kind: str) -> Any:
    """The part of a tree that belongs to that of one of this kind."""
    if kind in PARTED:
        return part_at(tree, key)
    if kind in ("list", "tuple", "dict") or isinstance(tree, (Tangent, dict)):
        return tree[key]
    registered = _registered(tree)
    return getattr(tree, key) if registered is None else registered[0](tree)[key]


def _rebuilt(tree: Any, kind: str, parts: dict[Any, Any]) -> Any:
    """A tree like another one, with these parts."""
    if kind in ("list", "tuple"):
        return like_sequence(tree, list(parts.values()))
    if kind == "dict" and type(tree) is dict:
        return parts
    if isinstance(tree, Tangent):
        return Tangent(tree._of, parts)
    registered = _registered(tree) if kind == "object" else None
    if registered is not None:
        return registered[1](tree, parts)
    result = tree.copy() if kind in PARTED else copy.copy(tree)
    for key, part in parts.items():
        if kind == "dict" or kind in PARTED:
            result[key] = part
        else:
            object.__setattr__(result, key, part)
    return result


def kind_in_tree(value: Any) -> str:
    """What a value is in a tree: a container, a number, an array of numbers, an object, or inert."""
    if isinstance(value, deque):
        return "list"
    kind = kind_of(type(value))
    has_parts = kind == "array" and value.dtype.kind in "OV" or issubclass(type(value), np.void)
    return form_of(value) if has_parts else kind


def refuse_complex(value: Any) -> None:
    """Raise for complex numbers and arrays in an argument or value of a Jacobian."""
    kind = kind_in_tree(value)
    if kind in ("list", "tuple", "dict") or kind in PARTED:
        for part in _parts(value, kind).values():
            refuse_complex(part)
    elif isinstance(value, complex) or kind == "array" and value.dtype.kind == "c":
        raise Unsupported("jacobian and hessian are defined here for real arguments and values; this one is complex")


def same(a: Any, b: Any) -> bool:
    """Whether two runs gave the same value, as far as numbers and text in containers say it; nan is nan."""
    if type(a) is not type(b):
        return False
    kind = kind_of(type(a))
    if kind == "array":
        if a.dtype.kind == "O":
            return a.shape == b.shape and all(map(same, a.flat, b.flat))
        return np.array_equal(a, b) or a.dtype.kind in "fc" and np.array_equal(a, b, equal_nan=True)
    if kind in ("tuple", "list"):
        return len(a) == len(b) and all(map(same, a, b))
    if kind == "dict":
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    return kind not in ("number", "inert") or bool(a == b or a != a and b != b)
