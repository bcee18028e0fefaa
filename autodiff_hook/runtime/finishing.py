"""What every program goes through when it is built: what it reads becomes parameters, it is made simpler."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.analysis import free_variables, statements_of
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Signature, Statement, Variable
from autodiff_hook.transform.improve.simplify import simplify
from autodiff_hook.transform.specialise.abstract import (
    Array,
    Instance,
    Iterator,
    Known,
    List,
    Number,
    Optional,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.invariants import is_total, item_or_none, sites_changed, sums_floats
from autodiff_hook.transform.specialise.lasting import Lasting
from autodiff_hook.transform.specialise.lattice import is_number_of
from autodiff_hook.transform.specialise.prepare import Shape


def simplified(
    ir: IR,
    inference: Inference,
    shape: Shape,
    blocks: Iterable[Block],
    primal: Iterable[Statement],
    polished: bool,
    guarded: bool = True,
) -> None:
    """Make a program simpler; what the ``primal`` may raise stays, other statements of ``blocks`` are derivatives."""
    primal = list(primal)
    derivatives = set(statements_of(blocks)) - set(primal)
    early = {s.result for s in primal if s.callee is item_or_none}
    strict = _COMPUTING if inference.strict else ()
    essential = {s for s in primal if s.op in strict or not early.isdisjoint(s.operands) or _may_raise(s, inference)}
    essential |= {s for s in derivatives if _shares(s.callee)}
    # Polishing drops what only computes, and with it what it would have been warned of.
    polished = polished and not inference.strict and not _is_complex(inference)
    types = inference.types if polished else None
    numbers, volatile = only_numbers(inference), shape.memory.volatile
    changed = {x for s in statements_of(shape.ir.blocks) for x in sites_changed(s, inference.program)}

    def is_steady(operand: Operand) -> bool:
        kind = Known(operand.value) if isinstance(operand, Constant) else inference.types.get(operand)
        if isinstance(kind, Optional):
            kind = kind.content
        if isinstance(kind, Reference):
            return kind.site.root() not in changed
        if isinstance(kind, Known):
            return not isinstance(kind.value, (list, dict, set, np.ndarray)) and not hasattr(kind.value, "__next__")
        return isinstance(kind, (Number, Tuple)) or isinstance(kind, Array) and operand not in volatile

    def floats(operand: Operand) -> bool:
        return _is_float(operand, inference)

    lasts = Lasting(shape, inference.program)
    simplify(ir, essential, derivatives, floats, types, numbers, volatile, guarded, is_steady, lasts)


SHARES: Final = "shares"
"""The mark of functions that change the table of cotangents that they are given."""


def _shares(function: Any) -> bool:
    return type(function) is FunctionType and SHARES in function.__dict__


def take_parameters(ir: IR, params: Sequence[Variable]) -> list[Variable]:
    """Let what a program reads that it does not make be parameters before its own; which these are."""
    first = ir.blocks[0]
    first.params = []
    loaded = [x for x in free_variables(ir.blocks) if x not in params]
    first.params = [*loaded, *params]
    count = len(first.params)
    ir.signature = Signature(tuple(f"x{i}" for i in range(count)), count)
    return loaded


def only_numbers(inference: Inference) -> bool:
    """Whether no array takes part."""
    return isinstance(small_of(inference), _Everything)


def _is_complex(inference: Inference) -> bool:
    """Whether an array of complex numbers takes part, of which the typed pass knows nothing."""
    return any(isinstance(x, Array) and x.dtype is not None and x.dtype.kind == "c" for x in inference.types.values())


class _Everything:
    """Contains everything."""

    def __contains__(self, item: object) -> bool:
        return True


def small_of(inference: Inference) -> Container[Variable]:
    """The variables of numbers; all, if no array takes part."""
    if not any(isinstance(abstract, Array) for abstract in inference.types.values()):
        return _Everything()
    return {v for v, abstract in inference.types.items() if isinstance(abstract, (Number, Known, Instance, Iterator))}


def _is_float(operand: Operand, inference: Inference) -> bool:
    """Whether an operand is a float or an array of floats; what the types do not know is a cotangent."""
    if isinstance(operand, Constant):
        return type(operand.value) is float
    abstract = inference.types.get(operand)
    if isinstance(abstract, Number):
        return not _may_be_whole(abstract.types)
    return abstract is None or isinstance(abstract, Array) and abstract.dtype is not None and abstract.dtype.kind == "f"


@lru_cache(maxsize=64)
def _may_be_whole(types: frozenset[type]) -> bool:
    return any(issubclass(cls, (int, np.integer)) for cls in types)


_ALLOCATING: Final = frozenset(
    "build_tuple build_list build_map project unpack is is_not build_slice list_append make_function".split()
)


_COMPUTING: Final = ("call", "binary", "unary", "compare")
"""The operations that may warn, which is an error where a program says so."""


def _may_raise(s: Statement, inference: Inference) -> bool:
    """Whether a statement of the primal must happen even if nobody reads its result."""
    if s.op == "unpack" and isinstance(inference.type_of(s.operands[0]), List):
        return True
    if s.op == "call_method" and s.data == ("copy", ()) and isinstance(inference.type_of(s.operands[0]), Array):
        return False
    if s.op in _ALLOCATING or sums_floats(s, inference.type_of):
        return False
    if s.op in ("binary", "inplace", "unary", "compare", "truth", "not"):
        plain = frozenset({float, int, bool})
        numbers = all(is_number_of(inference.type_of(x), plain) for x in s.operands)
        plainly = s.data in ("+", "-", "*", "<", "<=", ">", ">=", "==", "!=", None)
        return not (numbers and plainly or is_total(s, inference.type_of))
    return True
