"""When operations raise what the program handles: a test stands before them, which leads to the handler if it fails.

What is not in the tables raises natively, and gives the program up.
"""

from __future__ import annotations

import math
import operator
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from autodiff_hook.ir.types import Args, Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.semantics.operations import COMPARE
from autodiff_hook.transform.specialise import exceptions, raising
from autodiff_hook.transform.specialise.abstract import (
    BOOL,
    INT,
    Abstract,
    Array,
    Dict,
    Error,
    Fresh,
    Known,
    List,
    Tuple,
)
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import built_class, is_virtual, number_types
from autodiff_hook.transform.specialise.plans import is_hashable, pure

_ATTEMPTED: Final[dict[Any, tuple[type[Exception], ...]]] = {
    **dict.fromkeys((math.exp, math.expm1, math.cosh, math.sinh), (OverflowError,)),
    **dict.fromkeys((operator.pow, math.pow), (OverflowError, ZeroDivisionError)),
    **dict.fromkeys((float, int), (ValueError,)),
    **dict.fromkeys(
        (np.linalg.cholesky, np.linalg.inv, np.linalg.solve, np.linalg.eigh, np.linalg.svd, np.linalg.lstsq),
        (np.linalg.LinAlgError,),
    ),
}
"""What functions raise for arguments that no comparison tells apart."""


class Condition(NamedTuple):
    """A function raises ``cls`` if its argument in a ``place``, of these types, compares so with one of the values."""

    cls: type[Exception]
    place: int
    arity: int
    types: frozenset[type] | None
    comparisons: tuple[tuple[str, float], ...]


def _outside(*comparisons: tuple[str, float]) -> Condition:
    return Condition(ValueError, 0, 1, None, comparisons)


_DIVIDED: Final = Condition(ZeroDivisionError, 1, 2, frozenset({int, float, bool}), (("==", 0),))
_CONDITIONS: Final[dict[Any, Condition]] = {
    **dict.fromkeys((operator.truediv, operator.floordiv, operator.mod), _DIVIDED),
    math.sqrt: _outside(("<", 0)),
    **dict.fromkeys((math.log, math.log2, math.log10), _outside(("<=", 0))),
    math.log1p: _outside(("<=", -1)),
    **dict.fromkeys((math.asin, math.acos), _outside(("<", -1), (">", 1))),
    math.atanh: _outside(("<=", -1), (">=", 1)),
    math.acosh: _outside(("<", 1)),
}


def before_call(inf: Inference, s: Statement, function: Any, args: Sequence[Operand]) -> bool:
    """Whether the block at hand was cut by a test before a call that may raise what the program handles."""
    if not _is_covered(inf, s):
        return False
    found = _CONDITIONS.get(function)
    if found is None or len(args) != found.arity or not _is_met(inf, found.cls):
        return _before_attempt(inf, s, function, args)
    types = [number_types(inf.type_of(x)) for x in args]
    if any(t is None or complex in t or found.types is not None and not t <= found.types for t in types):
        return False
    value = inf.type_of(args[found.place])
    for op, bound in found.comparisons:
        if not isinstance(value, Known) or COMPARE[op](value.value, bound):
            test = Statement("compare", [args[found.place], Constant(bound)], Variable(), op, s.position)
            if test.data not in inf.tested.setdefault(s, set()):
                return _cut(inf, s, test, False, Error(found.cls))
    return _before_attempt(inf, s, function, args)


def _before_attempt(inf: Inference, s: Statement, function: Any, args: Sequence[Operand]) -> bool:
    """The same of what is only known to raise when it has been called: it is called twice."""
    for cls in _ATTEMPTED.get(function, ()):
        if cls not in inf.tested.setdefault(s, set()) and _is_met(inf, cls) and not _is_for_all(inf, cls):
            operands: list[Operand] = [Constant(raises), Constant(cls), Constant(function), *args]
            return _cut(inf, s, Statement("call", operands, Variable(), (), s.position), False, Error(cls), cls)
    return False


def _is_for_all(inf: Inference, cls: type) -> bool:
    """Whether what handles a failure of arithmetic handles all others, too: most arithmetic there never fails."""
    return issubclass(cls, ArithmeticError) and _is_met(inf, Exception)


def raises(cls: type[Exception], function: Any, *args: Any) -> bool:
    """Whether a call raises an exception of exactly this class."""
    try:
        function(*args)
    except Exception as error:
        return type(error) is cls
    return False


def before_item(inf: Inference, s: Statement) -> bool:
    """The same of an item of a dict, a list, or an array."""
    if not _is_covered(inf, s) or inf.tested.get(s):
        return False
    whole, key = s.operands
    kind, index = inf.type_of(whole), inf.type_of(key)
    if _may_lack(kind, index) and not is_virtual(index) and _is_met(inf, KeyError):
        error = Variable("error")
        exceptions.begin(inf, s, error, [key])
        return _cut(inf, s, Statement("in", [key, whole], Variable(), None, s.position), True, Fresh(KeyError, error))
    items = _counted(kind, whole)
    if items is not None and number_types(index) == INT.types and _is_met(inf, IndexError):
        test = Statement("call", [Constant(has_item), items, key], Variable(), (), s.position)
        return _cut(inf, s, test, True, Error(IndexError))
    return False


def _counted(kind: Abstract, whole: Operand) -> Operand | None:
    """What has as many items as a value has by an index; None if it may have none, or is no sequence."""
    if isinstance(kind, Tuple) and kind.cls in (list, tuple):
        return Constant(range(len(kind.items)))
    return whole if isinstance(kind, List) or isinstance(kind, Array) and not kind.scalar and kind.ndim else None


def has_item(items: Any, index: int) -> bool:
    """Whether a list or an array has an item by an index."""
    count = len(items)
    return -count <= index < count


def answered(inf: Inference, s: Statement, args: Args) -> Abstract:
    """What is known of ``has_item`` and ``raises``."""
    return pure(inf, s, BOOL)


def _may_lack(kind: Abstract, key: Abstract) -> bool:
    """Whether a value is a dict that may not have a key; one that is written out is asked for known keys alone."""
    if isinstance(kind, Dict):
        return built_class(kind) is None and kind.site.cls in (None, OrderedDict) and kind.site.made_by is None
    if not isinstance(kind, Tuple) or kind.cls is not dict:
        return False
    return not kind.keys or isinstance(key, Known) and is_hashable(key.value) and key.value not in kind.keys


def _is_covered(inf: Inference, s: Statement) -> bool:
    if inf.one_way or inf.block.handler is None:
        return False
    return inf.index < len(inf.block.statements) and inf.block.statements[inf.index] is s


def _is_met(inf: Inference, cls: type) -> bool:
    assert inf.block.handler is not None
    return raising.is_met(inf, inf.block.handler, cls)


def _cut(inf: Inference, s: Statement, test: Statement, holds: bool, error: Error | Fresh, name: Any = None) -> bool:
    """Raise before the statement at hand unless a test comes out as it ``holds``."""
    block = inf.block
    assert block.handler is not None
    exact = Statement("truth", [test.made], Variable(), None, s.position)
    for asked in (test, exact):
        found = inf.evaluate(inf, asked)
        assert found is not None
        inf.types[asked.made] = found
    inf.tested.setdefault(s, set()).add(test.data if name is None else name)
    raised = error.made if isinstance(error, Fresh) else Variable("error")
    inf.types[raised] = error
    handler = Edge(block.handler.target, list(block.handler.args))
    failing = Block([], [], Terminator("raise", [raised], [], s.position), handler)
    inf.fork(block, [test, exact], failing, holds)
    return True
