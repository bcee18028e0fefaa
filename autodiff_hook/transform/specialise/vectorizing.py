"""``np.vectorize`` and ``functools.reduce``, which are loops."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.semantics.equivalents import iterating, vectorizing
from autodiff_hook.transform.specialise import partials
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Known, List, Tuple, same_dtype
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.lattice import is_number_of, known, number_types
from autodiff_hook.transform.specialise.lists import maker
from autodiff_hook.transform.specialise.plans import checked, items_of, known_as, spread
from autodiff_hook.transform.specialise.program import PURE, Given
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS
from autodiff_hook.transform.specialise.views import in_order

_DOUBLE: Final = np.dtype(float)
_OTYPES: Final = (None, "d", [_DOUBLE])
"""None, or doubles, as versions of NumPy keep that."""
_PLAIN: Final = (frozenset({float}), frozenset({int}))
_FLOATS: Final = frozenset({float, np.float64})


def vectorized(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """A function is called for each number of one array of doubles, or each pair of two, with other numbers."""
    if called is np.vectorize and len(args) == 1:
        return partials.make(inf, s, [Constant(vectorizing.vectorized), *args], {})
    function: Operand = Constant(called)
    otypes = "d" if called is vectorizing.vectorized_as_float else None
    if called in (vectorizing.vectorized, vectorizing.vectorized_as_float):
        function, *args = args
    elif type(called) is not np.vectorize or not _is_plain(called, called.pyfunc, called.otypes):
        raise Refused("a call of np.vectorize with options")
    args = [_as_array(inf, s, x) for x in args]
    together = _are_paired(inf, args)
    kinds = list(map(inf.type_of, args[together:]))
    others = any(number_types(kind) not in _PLAIN for kind in kinds[not together :])
    if others or not args or not (together or _is_of_doubles(kinds[0])):
        raise Refused("a call of np.vectorize of something else than arrays of doubles and numbers")
    if type(called) is np.vectorize:
        check = Statement("call", [Constant(require_plain), function, *map(Constant, _options(called))], None, ())
        inf.insert(check, plan=PURE)
        function, otypes = Constant(called.pyfunc), called.otypes
    for x, kind in zip(args, map(inf.type_of, args)):
        if isinstance(kind, Array) and kind.ndim != 1:
            inf.insert(Statement("call", [Constant(in_order), x], None, ()), plan=PURE)
    code: Any = _CODE[bool(together), otypes is None]
    return inline_call(inf, s, code, [function, *args], {})


def with_options(inf: Inference, s: Statement, called: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``np.vectorize(f, otypes=[float])``."""
    made = maker(inf, kwargs["otypes"]) if {*kwargs} == {"otypes"} else None
    held = made.operands if made is not None and made.op == "build_list" else list(kwargs.values())
    kind = known(inf.type_of(held[0])) if len(held) == 1 else None
    if len(args) != 1 or not (kind == "d" or kind in (float, np.float64)):
        raise Refused("a call of np.vectorize with options")
    return partials.make(inf, s, [Constant(vectorizing.vectorized_as_float), *args], {})


_CODE: Final = {
    (False, True): vectorizing.vectorized,
    (False, False): vectorizing.vectorized_as_float,
    (True, True): vectorizing.vectorized_together,
    (True, False): vectorizing.vectorized_together_as_float,
}


def _are_paired(inf: Inference, args: Args) -> int:
    """2 if the first two arguments are arrays of doubles, or a float and one; else 0."""
    kinds = list(map(inf.type_of, args[:2]))
    pair = len(kinds) == 2 and _is_of_doubles(kinds[1])
    return 2 if pair and (_is_of_doubles(kinds[0]) or is_number_of(kinds[0], _FLOATS)) else 0


def _as_array(inf: Inference, s: Statement, operand: Operand) -> Operand:
    """A list or a tuple as NumPy takes it."""
    kind = inf.type_of(operand)
    cls = type(kind.value) if isinstance(kind, Known) else kind.cls if isinstance(kind, (List, Tuple)) else None
    listed = cls is list or cls is tuple
    return inf.before(s, "call", [Constant(np.asarray), operand], ()) if listed else operand


def _is_of_doubles(kind: Abstract) -> bool:
    return isinstance(kind, Array) and bool(kind.ndim) and same_dtype(kind.dtype, _DOUBLE)


def _options(called: Any) -> tuple[Any, Any]:
    return called.pyfunc, called.otypes


def _is_plain(called: Any, function: Any, otypes: Any) -> bool:
    same = called.pyfunc is function and called.otypes == otypes and otypes in _OTYPES
    return same and called.signature is None and not called.excluded and not called.cache


def require_plain(called: Any, function: Any, otypes: Any) -> None:
    """Give up if the options are others than they were."""
    if not _is_plain(called, function, otypes):
        raise Given("np.vectorize with other options")


def _require_float(inf: Inference, s: Statement, args: Args) -> Abstract:
    if not is_number_of(inf.type_of(args[0]), _FLOATS):
        raise Refused("np.vectorize of a function that does not return a float")
    return known_as(inf, s, None)


OF_ALL_WAYS[require_plain] = checked
OF_ALL_WAYS[vectorizing.require_float] = _require_float


def reduced(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """A call of ``functools.reduce``; it begins with the first of the items if nothing else is given."""
    if len(args) not in (2, 3):
        raise Refused("a call of functools.reduce")
    function, items, *initial = args
    if not initial and isinstance(inf.type_of(items), List):
        return inline_call(inf, s, iterating.reduced_from_first, args, {})
    if not initial:
        if not items_of(inf.type_of(items)):
            raise Refused("functools.reduce of items that are not known one by one")
        first, *rest = spread(inf, items)
        items, initial = inf.before(s, "build_tuple", rest), [first]
    return inline_call(inf, s, iterating.reduced, [function, items, *initial], {})
