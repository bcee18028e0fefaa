"""Trees for the checks in ``testing``: numbers and arrays in lists, tuples, dicts and objects with attributes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any, Final

import numpy as np

from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.runtime.altering import GENERATORS
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.mirror import form_of, parts_of
from autodiff_hook.runtime.parted import PARTED, part_at
from autodiff_hook.signatures import Complex, is_exact
from autodiff_hook.tangent import Tangent

Path = tuple[Any, ...]
SOURCES: Final = tuple(GENERATORS)
"""What draws random numbers, and is in another state after that."""
_WHOLE: Final = (NotImplementedCotangent, Tangent, FunctionType, MethodType, partial, *SOURCES)


def is_leaf(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "iufc"
    return Complex.contains(type(x)) or is_exact(type(x))


def plain(leaf: Any) -> Any:
    """A leaf that NumPy computes with: a float for an exact number."""
    return float(leaf) if is_exact(type(leaf)) else leaf


def is_integer(leaf: Any) -> bool:
    return np.asarray(plain(leaf)).dtype.kind in "iuO"


def is_object(x: Any) -> bool:
    """Whether ``x`` is of a class of the program, with attributes of its own."""
    return not isinstance(x, _WHOLE) and kind_of(type(x)) == "object" and type(getattr(x, "__dict__", None)) is dict


def keys_of(tree: Any) -> list[Any] | None:
    """What the parts of a container or of an object, or of a gradient of one, are reached by; None of others."""
    if isinstance(tree, (dict, Tangent)):
        return list(tree)
    if isinstance(tree, (list, tuple)):
        return list(range(len(tree)))
    if isinstance(tree, np.ndarray) and form_of(tree) in PARTED:
        return [key for key, _ in parts_of(tree, form_of(tree))]
    return list(vars(tree)) if is_object(tree) else None


def part_of(tree: Any, key: Any) -> Any:
    """A part of a tree; None where there is none."""
    if tree is None or isinstance(tree, NotImplementedCotangent):
        return tree
    if isinstance(tree, dict):
        return tree.get(key)
    if isinstance(tree, np.ndarray) and tree.dtype.kind in "OV":
        return part_at(tree, key)
    if isinstance(tree, Tangent):
        return tree[key] if key in tree else None
    return vars(tree)[key] if is_object(tree) else tree[key]


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    keys = keys_of(tree)
    if keys is not None:
        for key in keys:
            yield from leaves(part_of(tree, key), (*path, key))
    elif is_leaf(tree):
        yield path, tree


def at(tree: Any, path: Path) -> Any:
    for key in path:
        tree = part_of(tree, key)
    return tree


def shown(path: Path, tree: Any = None) -> str:
    """A path as it would be written in the program."""
    text = ""
    for key in path:
        text += f".{key}" if is_object(tree) else f"[{key!r}]"
        tree = part_of(tree, key)
    return text


def rebuilt(tree: Any, parts: list[Any]) -> Any:
    if isinstance(tree, dict):
        return type(tree)(zip(tree, parts))
    if isinstance(tree, Tangent):
        return Tangent(tree._of, dict(zip(tree, parts)))
    if isinstance(tree, np.ndarray):
        filled = tree.copy()
        for key, part in zip(keys_of(tree) or (), parts):
            filled[key] = part
        return filled
    if is_object(tree):
        made = copy.copy(tree)
        vars(made).update(zip(vars(tree), parts))
        return made
    return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)


def replaced(tree: Any, path: Path, leaf: Any) -> Any:
    if not path:
        return leaf
    parts = {key: part_of(tree, key) for key in keys_of(tree) or ()}
    return rebuilt(tree, [replaced(x, path[1:], leaf) if key == path[0] else x for key, x in parts.items()])


def mapped(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """``function`` of the numbers and arrays, and of whatever stands there in the other trees."""
    keys = keys_of(tree)
    if keys is not None:
        return rebuilt(tree, [mapped(function, part_of(tree, k), *(part_of(other, k) for other in rest)) for k in keys])
    return function(tree, *rest) if is_leaf(tree) else tree


def copied(tree: Any, writeable: bool = True) -> Any:
    keys = keys_of(tree)
    if keys is not None:
        return rebuilt(tree, [copied(part_of(tree, key), writeable) for key in keys])
    if isinstance(tree, SOURCES):
        return copy.deepcopy(tree)
    if not (isinstance(tree, np.ndarray) and is_leaf(tree)):
        return tree
    own = tree.copy()
    own.flags.writeable = writeable
    return own


def zero(leaf: Any) -> Any:
    return plain(leaf) * 0.0


def absolute(tree: Any) -> Any:
    return mapped(abs, tree)


def combined(a: Any, b: Any) -> Any:
    return a if b is None else a + 2.0 * b


def like(number: float, value: Any) -> Any:
    """``number`` as a cotangent of ``value``: of its shape and precision."""
    if isinstance(value, np.ndarray):
        return np.full(value.shape, number, value.dtype if value.dtype.kind in "fc" else float)
    return type(value)(number) if isinstance(value, np.inexact) else number


def cotangent(value: Any, rng: np.random.Generator) -> Any:
    """A random cotangent of ``value``; None where it has none. Its arrays are read-only."""

    def random(leaf: Any) -> Any:
        real, imaginary = rng.standard_normal((2, *np.shape(leaf)))
        drawn = real + 1j * imaginary if np.iscomplexobj(leaf) else real
        if not isinstance(leaf, np.ndarray):
            return type(leaf)(drawn) if isinstance(leaf, np.inexact) else drawn.item()
        drawn = np.asarray(drawn, leaf.dtype if leaf.dtype.kind in "fc" else float)
        drawn.flags.writeable = False
        return drawn

    if isinstance(value, (list, tuple, dict)):
        return rebuilt(value, [cotangent(x, rng) for x in (value.values() if isinstance(value, dict) else value)])
    return random(value) if is_leaf(value) else None


def direction(leaf: Any, rng: np.random.Generator) -> Any:
    """A random direction of the size of ``leaf``."""
    leaf = plain(leaf)
    size = largest(leaf) or 1.0
    drawn = rng.uniform(0.5, 1.5, np.shape(leaf)) * rng.choice((-1.0, 1.0), np.shape(leaf)) * size
    return drawn * np.exp(1j * rng.uniform(0, 7, np.shape(leaf))) if np.iscomplexobj(leaf) else drawn


def shifted(leaf: Any, direction: Any, step: float) -> Any:
    """``leaf`` moved, in double precision."""
    moved = np.asarray(leaf, complex if np.iscomplexobj(leaf) else float) + step * direction
    if isinstance(leaf, np.ndarray):
        return moved
    if is_exact(type(leaf)):
        return type(leaf)(moved.item())
    return moved[()] if isinstance(leaf, np.generic) else moved.item()


def inner(x̄: Any, ẋ: Any) -> float:
    """The real inner product; None is zero."""
    keys = keys_of(x̄)
    if keys is not None:
        return sum(inner(part_of(x̄, key), part_of(ẋ, key)) for key in keys)
    if x̄ is None or ẋ is None or isinstance(x̄, NotImplementedCotangent):
        return 0.0
    return float(np.real(np.sum(np.conj(plain(x̄)) * plain(ẋ))))


def tolerances(trees: Any, rtol: float, atol: float) -> tuple[float, float]:
    single = any(getattr(leaf, "dtype", None) in (np.float32, np.complex64) for _, leaf in leaves(trees))
    return (max(rtol, 1e-4), max(atol, 1e-5)) if single else (rtol, atol)


def same(a: Any, b: Any) -> bool:
    """Equality of types and values, NaN included; what draws random numbers may have drawn."""
    if type(a) is not type(b):
        return False
    if isinstance(a, SOURCES):
        return True
    keys = keys_of(a)
    if keys is not None:
        return keys == keys_of(b) and all(same(part_of(a, key), part_of(b, key)) for key in keys)
    if isinstance(a, np.ndarray) and is_leaf(a):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)
    return bool(np.all(a == b)) or (is_leaf(a) and a != a and b != b) or isinstance(a, NotImplementedCotangent)


def close(a: Any, b: Any, ȳ: Any) -> bool:
    """Agreement of two results for ``ȳ`` up to rounding; None is zero."""
    rtol = tolerances((a, b), 1e-9, 0.0)[0]
    size = max(_size((a, b)), 1e-5 * _size((ȳ,)))
    return _close(a, b, rtol, rtol * size)


def _size(tree: Any) -> float:
    return max([largest(leaf) for _, leaf in leaves(tree)], default=0.0)


def largest(leaf: Any) -> float:
    leaf = plain(leaf)
    return float(np.max(np.abs(leaf), initial=0.0, where=np.isfinite(leaf)))


def _close(a: Any, b: Any, rtol: float, atol: float) -> bool:
    if a is None:
        a, b = b, a
    keys = keys_of(a)
    if keys is not None:
        return all(_close(part_of(a, key), part_of(b, key), rtol, atol) for key in keys)
    if isinstance(a, NotImplementedCotangent) or isinstance(b, NotImplementedCotangent):
        return True
    return np.allclose(0.0 if a is None else a, 0.0 if b is None else b, rtol, atol, equal_nan=True)
