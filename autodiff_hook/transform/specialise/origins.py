"""Which statements make memory of their own, and which may hand on that of an array."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.analysis import bindings
from autodiff_hook.ir.types import Block, Operand, Statement, Variable
from autodiff_hook.runtime.memories import hides
from autodiff_hook.transform.improve.shortcuts import FRESH, declared
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    Abstract,
    Array,
    Iterator,
    Known,
    List,
    Number,
    Optional,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.lattice import content_of, number_types, sites_in
from autodiff_hook.transform.specialise.parts import parts_of
from autodiff_hook.transform.specialise.program import PARTS, Program

TypeOf = Callable[[Operand], Abstract]
_VIEWING: Final = (np.broadcast_to, np.broadcast_arrays)
_COPYING: Final = frozenset(
    "copy flatten astype round take sum mean prod cumsum cumprod max min std var dot repeat clip compress".split()
)
_FOURIER: Final = (np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2, np.fft.fftn, np.fft.ifftn, np.fft.irfftn)
_METHODS: Final = [*_FOURIER, *(getattr(np.ndarray, name) for name in _COPYING)]
_UNSURE: Final = frozenset({"out", "copy", "axes"})


def makes_new(s: Statement, type_of: TypeOf) -> bool:
    """Whether what a statement makes shares memory with nothing else."""
    if s.op in ("binary", "unary", "compare") or s.op == "inplace" and number_types(type_of(s.operands[0])):
        return True
    if s.op == "getitem":
        return _chooses(type_of(s.operands[1]))
    if s.op == "call_method" and isinstance(type_of(s.operands[0]), Array):
        return s.data[0] in _COPYING and _is_sure(s, type_of, 2)
    if s.op == "call_method" and _class_of(type_of(s.operands[0])) in (np.random.Generator, np.random.RandomState):
        return all(_has_no_memory(type_of(x)) for x in s.operands[1:])
    function = _function(s, type_of)
    if function is None:
        return False
    if is_numpy(function) and function not in _VIEWING and all(_has_no_memory(type_of(x)) for x in s.operands[1:]):
        return True
    if function is np.array or function is np.meshgrid:
        return _is_copy(s, type_of)
    if function is np.diff:
        return len(s.operands) == 2
    if function is np.einsum:
        return sum(isinstance(type_of(x), Array) for x in s.operands) > 1 and "out" not in _keywords(s)
    if _is_ufunc(s, type_of):
        return True
    if function is np.diag:
        given = type_of(s.operands[1])
        return isinstance(given, Array) and given.ndim == 1
    if any(function is method for method in _METHODS):
        return _is_sure(s, type_of, 3)
    return (declared(FRESH, function) and "out" not in _keywords(s)) or function is abs


def _chooses(key: Abstract) -> bool:
    """Whether a key chooses elements by a sequence, and so copies them."""
    return any(isinstance(x, (Array, List)) or _class_of(x) in (tuple, list, np.ndarray) for x in parts_of(key))


def _class_of(value: Abstract) -> type | None:
    return type(value.value) if isinstance(value, Known) else getattr(value, "cls", None)


def heirs(
    program: Program, blocks: Iterable[Block], holds: Callable[[Abstract], bool]
) -> dict[Operand, list[Variable]]:
    """What may be each value, lie in its memory, or have it in it, because a statement or an edge hands it on.

    ``holds`` says of what is known of a value whether it can.
    """
    found: dict[Operand, list[Variable]] = {}
    type_of = program.type_of
    for block in blocks:
        for s in block.statements:
            if s.result is not None and holds(type_of(s.result)):
                if program.plans.get(s) != PARTS and not makes_new(s, type_of):
                    for operand in s.operands:
                        found.setdefault(operand, []).append(s.result)
        for param, arg in bindings(block):
            if holds(type_of(param)):
                found.setdefault(arg, []).append(param)
    return found


def _is_sure(s: Statement, type_of: TypeOf, most: int) -> bool:
    """Whether a call has so many operands at most, and no options that say where the result lies."""
    copied = "copy" in _keywords(s) and _is_copy(s, type_of)
    said = set(_keywords(s)) - ({"copy"} if copied else set())
    return len(s.operands) - copied <= most and _UNSURE.isdisjoint(said)


def _is_copy(s: Statement, type_of: TypeOf) -> bool:
    """Whether a call copies what it is given, unless ``copy`` says something else."""
    names = _keywords(s)
    if "copy" not in names:
        return True
    asked = type_of(s.operands[len(s.operands) - len(names) + names.index("copy")])
    return isinstance(asked, Known) and asked.value is True


def may_hold(value: Abstract) -> bool:
    """Whether a value may lie in the memory of an array."""
    if isinstance(value, Tuple):
        return any(map(may_hold, value.items))
    if isinstance(value, Iterator):
        return may_hold(value.item)
    if isinstance(value, Optional):
        return may_hold(value.content)
    return isinstance(value, Array) or value is ANY or type(value) is Abstract


def holds(value: Abstract, array: bool) -> bool:
    """Whether a value from outside may be, or hold, a list, a dict or an object, or with ``array`` show an array."""
    value = content_of(value)
    if isinstance(value, Tuple):
        return any(holds(x, array) for x in value.items)
    if isinstance(value, Iterator):
        return holds(value.item, array)
    shows = isinstance(value, Array) or isinstance(value, Outside) and hides(value.example)
    return bool(sites_in(value)) or array and shows


def is_arithmetic(s: Statement, part: Variable, type_of: TypeOf) -> bool:
    """Whether a statement only reads the elements of a part, and keeps nothing of it."""
    if s.op == "setitem":
        return s.operands[2] is part and part not in s.operands[:2]
    return is_elementary(s, type_of)


def is_elementary(s: Statement, type_of: TypeOf) -> bool:
    """Whether a statement is an operator or a ufunc with nothing but elements."""
    return s.op in ("binary", "unary", "compare") or _is_ufunc(s, type_of)


def _is_ufunc(s: Statement, type_of: TypeOf) -> bool:
    function = _function(s, type_of)
    pointwise = type(function).__name__ == "ufunc" and function.signature is None
    return pointwise and len(s.operands) == 1 + function.nin and not _keywords(s)


def _function(s: Statement, type_of: TypeOf) -> Any:
    """What a statement calls, if that is known."""
    if s.op not in ("call", "call_method"):
        return None
    callee = type_of(s.operands[0])
    value = callee.value if isinstance(callee, Known) else None
    if s.op == "call":
        return value
    return getattr(value, s.data[0], None) if isinstance(value, (ModuleType, type)) else None


def _keywords(s: Statement) -> tuple[str, ...]:
    return (s.data[1] if s.op == "call_method" else s.data) or ()


def is_numpy(function: Any) -> bool:
    """Whether a function is one of NumPy's that only compute."""
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] == "numpy" and "random" not in module


def _has_no_memory(value: Abstract) -> bool:
    """Whether a value has no memory of an array that NumPy would hand on: of lists and tuples it makes arrays anew."""
    if isinstance(value, Tuple):
        return value.cls in (list, tuple) or all(map(_has_no_memory, value.items))
    return isinstance(value, (Number, List)) or isinstance(value, Known) and not isinstance(value.value, np.ndarray)
