"""What a workload is, and the table of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Builder = Callable[[int], "Case"]


@dataclass(frozen=True)
class Case:
    """A workload at one size, ready to run.

    ``forward(*params, *constants)`` is the program. ``loss(*params)`` is the line that a user writes to differentiate
    it, spelt out in each workload because it is part of what is measured. ``adjoint(*params, *constants)`` is the
    gradient that one would write by hand for speed: a tuple with one item for each of ``params``, of the same structure
    (a dict of attributes for an object). It keeps the algorithm and its loops, but need not compute the value, may work
    in place, and may join operations.
    """

    forward: Callable[..., Any]
    loss: Callable[..., Any]
    adjoint: Callable[..., Any]
    params: tuple[Any, ...]
    constants: tuple[Any, ...] = ()

    def by_hand(self) -> tuple[Any, ...]:
        """The hand-written gradient."""
        gradients: tuple[Any, ...] = self.adjoint(*self.params, *self.constants)
        return gradients


@dataclass(frozen=True)
class Workload:
    """A program that can be built at any size: ``size`` is the one to measure, ``small`` the one to test."""

    name: str
    about: str
    size: int
    small: int
    build: Builder

    @property
    def group(self) -> str:
        """The module it is in."""
        return self.build.__module__.rpartition(".")[2]


WORKLOADS: dict[str, Workload] = {}
"""All workloads by name, in the order in which they are reported."""


def workload(name: str, about: str, size: int, small: int) -> Callable[[Builder], Builder]:
    """Decorate the function that builds the case of a given size."""

    def register(build: Builder) -> Builder:
        WORKLOADS[name] = Workload(name, about, size, small, build)
        return build

    return register


def floats(values: Any) -> list[float]:
    """The items as Python floats."""
    return [float(value) for value in values]


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The tree of lists, tuples and dicts with ``function`` applied to its floats and arrays."""
    if isinstance(tree, dict):
        return {key: mapped(function, item) for key, item in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(mapped(function, item) for item in tree)
    return function(tree) if isinstance(tree, (float, np.ndarray)) else tree


def paired(expected: Any, actual: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The path of each leaf of a hand-written gradient, with what two gradients have there."""
    if isinstance(expected, dict):
        for key, item in expected.items():
            yield from paired(item, actual[key], f"{path}[{key!r}]")
    elif isinstance(expected, (list, tuple)):
        if len(actual) != len(expected):
            raise ValueError(f"{len(actual)} gradients for {len(expected)} items at {path or 'the top'}")
        for place, item in enumerate(expected):
            yield from paired(item, actual[place], f"{path}[{place}]")
    else:
        yield path, expected, actual


def disagreement(expected: Any, actual: Any, tolerance: float = 1e-8) -> str | None:
    """Where and how a gradient differs from the hand-written one, None if nowhere.

    The difference is relative to the largest entry of the array, or to the number.
    """
    try:
        for path, want, got in paired(expected, actual):
            if want is None or got is None:
                if want is not got:
                    return f"{path}: {got!r} instead of {want!r}"
                continue
            if np.shape(want) != np.shape(got):
                return f"{path}: shape {np.shape(got)} instead of {np.shape(want)}"
            scale = np.max(np.abs(want), initial=0.0) or 1.0
            error = float(np.max(np.abs(np.subtract(want, got)), initial=0.0) / scale)
            if not error <= tolerance:  # written so that nan is an error
                return f"{path}: relative error {error:.1e}"
    except (LookupError, TypeError, ValueError) as problem:
        return f"the structure differs: {problem!r}"
    return None
