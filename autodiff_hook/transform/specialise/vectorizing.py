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
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS, QUESTIONS
from autodiff_hook.transform.specialise.views import in_order

_DOUBLE: Final = np.dtype(float)
_OTYPES: Final = (None, "d", [_DOUBLE])
"""None, or doubles, as versions of NumPy keep that."""
_PLAIN: Final = (frozenset({float}), frozenset({int}))
_FLOATS: Final = frozenset({float, np.float64})


def vectorized(inf: Inference, s: Statement, called: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """A function is called for each number of an array of doubles, or each pair of two, with other numbers, or once."""
    if called is np.vectorize and kwargs:
        return _with_options(inf, s, args, kwargs)
    if called is np.vectorize and len(args) == 1:
        return partials.make(inf, s, [Constant(vectorizing.vectorized), *args], {})
    function: Operand = Constant(called)
    otypes = "d" if called is vectorizing.vectorized_as_float else None
    if called in (vectorizing.vectorized, vectorizing.vectorized_as_float):
        function, *args = args
    elif type(called) is not np.vectorize or not _is_plain(called, called.pyfunc, called.otypes):
        raise Refused("a call of np.vectorize with options")
    args, kwargs = [_handed_on(inf, s, x) for x in args], {name: _handed_on(inf, s, x) for name, x in kwargs.items()}
    shaped = _shaped(inf, args)
    single = [*args[shaped:], *kwargs.values()]
    if not (args or kwargs) or not all([_is_single(inf.type_of(x)) for x in single]):
        raise Refused("a call of np.vectorize of something else than arrays of doubles and numbers")
    if type(called) is np.vectorize:
        check = Statement("call", [Constant(require_plain), function, *map(Constant, _options(called))], None, ())
        inf.insert(check, plan=PURE)
        function, otypes = Constant(called.pyfunc), called.otypes
    for x, kind in zip(args, map(inf.type_of, args)):
        if isinstance(kind, Array) and kind.ndim != 1:
            inf.insert(Statement("call", [Constant(in_order), x], None, ()), plan=PURE)
    code: Any = _CODE[shaped, otypes is None]
    return inline_call(inf, s, code, [function, *args], kwargs)


def _with_options(inf: Inference, s: Statement, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``np.vectorize(f, otypes=[float])``."""
    made = maker(inf, kwargs["otypes"]) if {*kwargs} == {"otypes"} else None
    held = made.operands if made is not None and made.op == "build_list" else list(kwargs.values())
    kind = known(inf.type_of(held[0])) if len(held) == 1 else None
    if len(args) != 1 or not (kind == "d" or kind in (float, np.float64)):
        raise Refused("a call of np.vectorize with options")
    return partials.make(inf, s, [Constant(vectorizing.vectorized_as_float), *args], {})


_CODE: Final = {
    (0, True): vectorizing.vectorized_once,
    (0, False): vectorizing.vectorized_once_as_float,
    (1, True): vectorizing.vectorized,
    (1, False): vectorizing.vectorized_as_float,
    (2, True): vectorizing.vectorized_together,
    (2, False): vectorizing.vectorized_together_as_float,
}


def _is_single(kind: Abstract) -> bool:
    """Whether a value is a plain number, a text or None, which NumPy hands on as it is."""
    return number_types(kind) in _PLAIN or isinstance(kind, Known) and type(kind.value) in (bool, str, type(None))


def _shaped(inf: Inference, args: Args) -> int:
    """How many arguments say of what shape the result is: two arrays of doubles, a float and one, one, or none."""
    kinds = list(map(inf.type_of, args[:2]))
    first, second, *_ = [*map(_is_of_doubles, kinds), False, False]
    return 2 if second and (first or is_number_of(kinds[0], _FLOATS)) else int(first)


def _handed_on(inf: Inference, s: Statement, operand: Operand) -> Operand:
    """A list, a tuple or a number as NumPy takes it."""
    kind = inf.type_of(operand)
    if is_number_of(kind, _FLOATS) and number_types(kind) not in _PLAIN:
        return inf.before(s, "call", [Constant(float), operand], ())
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
QUESTIONS[vectorizing.require_float] = _require_float


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
