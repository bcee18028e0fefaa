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
from autodiff_hook.tangent import Tangent

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
    if kind in ("list", "tuple"):
        items = [tree_map(fn, item, *(r[i] for r in rest)) for i, item in enumerate(tree)]
        return like_sequence(tree, items)
    if kind == "dict":
        changed = {k: tree_map(fn, v, *(r[k] for r in rest)) for k, v in tree.items()}
        return changed if type(tree) is dict else _like_dict(tree, changed)
    if kind in PARTED:
        copied = tree.copy()
        for key, part in parts_of(tree, kind):
            copied[key] = tree_map(fn, part, *(part_at(r, key) for r in rest))
        return copied
    if isinstance(tree, Tangent):
        return Tangent(tree._of, {k: tree_map(fn, tree[k], *(_field(r, k) for r in rest)) for k in tree})
    registered = _registered(tree)
    if registered is not None:
        parts, rebuild = registered
        return rebuild(tree, {k: tree_map(fn, v, *(_field(r, k) for r in rest)) for k, v in parts(tree).items()})
    result = copy.copy(tree)
    for name, value in vars(tree).items() if hasattr(tree, "__dict__") else ():
        object.__setattr__(result, name, tree_map(fn, value, *(_field(r, name) for r in rest)))
    return result


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
    return [leaf for part in _parts(tree, kind) for leaf in tree_leaves(part)]


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


def _parts(tree: Any, kind: str) -> Iterable[Any]:
    """What a container or an object holds."""
    if kind in ("list", "tuple"):
        return tree  # type: ignore[no-any-return]
    if kind == "dict":
        return tree.values()  # type: ignore[no-any-return]
    if kind in PARTED:
        return [part for _, part in parts_of(tree, kind)]
    if isinstance(tree, Tangent):
        return [tree[name] for name in tree]
    registered = _registered(tree)
    if registered is not None:
        return registered[0](tree).values()
    return vars(tree).values() if hasattr(tree, "__dict__") else ()


def _like_dict(tree: Any, items: dict[Any, Any]) -> Any:
    """A dict of the type of ``tree``, whatever its constructor takes."""
    result = copy.copy(tree)
    for key, item in items.items():
        result[key] = item
    return result


def kind_in_tree(value: Any) -> str:
    """What a value is in a tree: a container, a number, an array of numbers, an object, or inert."""
    if isinstance(value, deque):
        return "list"
    kind = kind_of(type(value))
    has_parts = kind == "array" and value.dtype.kind in "OV" or issubclass(type(value), np.void)
    return form_of(value) if has_parts else kind


def like_sequence(value: Any, items: list[Any]) -> Any:
    """Items in a list, deque or tuple of the type of ``value``."""
    if isinstance(value, deque):
        return type(value)(items, value.maxlen)
    return getattr(type(value), "_make", type(value))(items)


def _field(tree: Any, name: str) -> Any:
    if isinstance(tree, (Tangent, dict)):
        return tree[name]
    registered = _registered(tree)
    return getattr(tree, name) if registered is None else registered[0](tree)[name]


def refuse_complex(value: Any) -> None:
    """Raise for complex numbers and arrays in an argument or value of a Jacobian."""
    kind = kind_in_tree(value)
    if kind in ("list", "tuple"):
        for item in value:
            refuse_complex(item)
    elif kind == "dict" or kind in PARTED:
        for item in _parts(value, kind):
            refuse_complex(item)
    elif isinstance(value, complex) or kind == "array" and value.dtype.kind == "c":
        raise Unsupported("jacobian and hessian are defined here for real arguments and values; this one is complex")
