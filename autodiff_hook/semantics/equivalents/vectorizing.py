"""``np.vectorize`` of a function of numbers, as typed programs follow it."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from autodiff_hook.registry import nondifferentiable

_KINDS: Final = {"d": "float", "l": "int"}
"""What NumPy makes of the elements of arrays of floats and of whole numbers."""


def whole(chosen: Any, function: Any, /, *args: Any, **options: Any) -> Any:
    """All calls; the options of ``np.vectorize`` are known."""


def made(kinds: str, first: Any, function: Any, /, *args: Any, **options: Any) -> Any:
    """The same after the call that decides of what types the results are."""


@functools.cache
def tried(kinds: str) -> Any:
    """A function that calls another one for the first elements, then for all."""
    names = [f"a{i}" for i in range(len(kinds))]
    first = [f"np.ravel({name})[0]" if kind in _KINDS else name for name, kind in zip(names, kinds)]
    call = f"function({', '.join([*first, '**options'])})"
    return _written(
        f"{', '.join(['kinds', 'function', *names])}, /, **options",
        [f"return made(kinds, {call}, {', '.join(['function', *names])}, **options)"],
    )


@functools.cache
def by_element(kinds: str, results: int) -> Any:
    """A function that calls another one for each element, which gives so many floats."""
    names = [f"a{i}" for i in range(len(kinds))]
    arrays = [name for name, kind in zip(names, kinds) if kind in _KINDS]
    given = [f"{_KINDS[kind]}(x_{name})" if kind in _KINDS else name for name, kind in zip(names, kinds)]
    call = f"function({', '.join([*given, '**options'])})"
    values = [call] if results == 1 else [f"y{i}" for i in range(results)]
    step = [] if results == 1 else [f"{', '.join(values)} = {call}"]
    if arrays:
        first, *others = arrays
        lines = [f"{', '.join(arrays)} = np.broadcast_arrays({', '.join(arrays)})"] if others else []
        lines += [f"flat_{name} = np.ravel({name})" for name in arrays]
        lines += [f"made_{i} = np.zeros(len(flat_{first}))" for i in range(results)]
        lines += [f"for place, x_{first} in enumerate(flat_{first}):"]
        lines += [f"    x_{name} = flat_{name}[place]" for name in others]
        lines += [f"    {line}" for line in (*step, *(f"made_{i}[place] = float({x})" for i, x in enumerate(values)))]
        whole = [f"np.reshape(made_{i}, np.shape({first}))" for i in range(results)]
    else:
        lines, whole = step, [f"np.asarray(float({value}))" for value in values]
    return _written(f"{', '.join(['function', *names])}, /, **options", [*lines, f"return {', '.join(whole)}"])


@functools.cache
def by_signature(inputs: Any, loops: Any, outputs: Any) -> Any:
    """The same for a signature: of each argument the names of its dimensions and over how many one loops, or None."""
    names, results = [f"a{i}" for i in range(len(inputs))], range(len(outputs))
    over = [(name, inner) for name, inner, outer in zip(names, inputs, loops) if outer]
    shaped = [(name, inner, outer) for name, inner, outer in zip(names, inputs, loops) if inner is not None]
    values = [f"y{i}" for i in results]
    given = {name: f"x_{name}" if (name, inner) in over else name for name, inner in zip(names, inputs)}
    step = [f"{', '.join(values)} = function({', '.join(given.values())}, **options)"]
    step += [f"require_floats({value}, {len(inner)})" for value, inner in zip(values, outputs)]
    lines = _checked(shaped)
    if over:
        (first, _), depth = over[0], max(filter(None, loops))
        lines += [f"n{i} = np.shape({first})[{i}]" for i in range(depth)]
        outer = [f"n{i}" for i in range(depth)]
        if depth > 1:
            lines += [
                f"{x} = np.reshape({x}, ({', '.join(['-1', *_lengths(x, depth, inner), ''])}))" for x, inner in over
            ]
        lines += [f"made_{i} = {'[]' if outputs[i] else f'np.zeros(len({first}))'}" for i in results]
        lines += [f"for place in range(len({first})):", *(f"    x_{name} = {name}[place]" for name, _ in over)]
        step += [f"made_{i}.append(y{i})" if outputs[i] else f"made_{i}[place] = y{i}" for i in results]
        lines += [f"    {line}" for line in step]
        values = [f"made_{i}[0]" for i in results]
        whole = [f"np.array(made_{i})" for i in results]
        if depth > 1:
            shapes = [[*outer, *_lengths(f"made_{i}[0]", 0, outputs[i])] for i in results]
            whole = [f"np.reshape({x}, ({', '.join([*lengths[:-1], '-1'])}))" for x, lengths in zip(whole, shapes)]
    else:
        lines += step
        whole = [f"np.array({value})" for value in values]
    lines += _checked(
        [*((name, inner, 0) for name, inner, _ in shaped), *((x, outputs[i], 0) for i, x in enumerate(values))]
    )
    return _written(f"{', '.join(['function', *names])}, /, **options", [*lines, f"return {', '.join(whole)}"])


def _checked(shaped: list[Any]) -> list[str]:
    names, inner, outer = zip(*shaped)
    return [f"require_fitting({', '.join([repr(inner), repr(outer), *names])})"]


def _lengths(name: str, start: int, inner: Any) -> list[str]:
    return [f"np.shape({name})[{start + i}]" for i in range(len(inner))]


@nondifferentiable
def require_floats(value: Any, dimensions: int) -> None:
    """The first value decides of what type all are."""


@nondifferentiable
def require_fitting(dimensions: Any, loops: Any, *arrays: Any) -> None:
    """The dimensions of a signature are of one length each, and there is anything to loop over, alike for all."""


def _written(parameters: str, lines: list[str]) -> Any:
    text = "".join([f"def vectorized({parameters}):\n", *(f"    {line}\n" for line in lines)])
    namespace = {
        "__name__": __name__,
        "np": np,
        "made": made,
        "require_fitting": require_fitting,
        "require_floats": require_floats,
    }
    exec(compile(text, __file__, "exec"), namespace)
    return namespace["vectorized"]
