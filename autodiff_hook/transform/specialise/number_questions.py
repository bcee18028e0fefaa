"""What is asked of numbers and arrays: conversions, ranks and types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Statement
from autodiff_hook.runtime.whole_numbers import makes_steps
from autodiff_hook.transform.specialise import raises_when
from autodiff_hook.transform.specialise.abstract import INT, Abstract, Array, Instance, Known, Number
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import inert_class, number_types
from autodiff_hook.transform.specialise.plans import Question, alias, checked, known_as, pure
from autodiff_hook.transform.specialise.program import Given
from autodiff_hook.transform.specialise.results import outcome
from autodiff_hook.transform.specialise.wording import named


def _int(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``int(x)``: an int itself, or a float cut off, which has no derivative."""
    if not args:
        return known_as(inf, s, 0)
    kind = inf.type_of(args[0])
    if inert_class(kind) is str and len(args) == 1 and raises_when.before_call(inf, s, int, args):
        return None
    if isinstance(kind, Instance) and kind.cls is str and len(args) == 1:
        _check_steps(inf, s, require_few_digits, args)
        return pure(inf, s, _read(int, kind))
    types = number_types(kind) if len(args) == 1 else None
    if types == INT.types:
        return alias(inf, s, args[0])
    if types is not None and types <= {float, np.float64, bool, np.int64}:
        if not types <= {bool, np.int64}:
            _check_steps(inf, s, require_steps, args)
        return pure(inf, s, outcome(int, [inf.type_of(args[0])], {}))
    return None


def _read(cls: type, text: Abstract) -> Abstract:
    """The number that is read out of a text: of one that is no example of a number, any."""
    try:
        return outcome(cls, [text], {})
    except Refused:
        return Number(frozenset({cls}))


def _check_steps(inf: Inference, s: Statement, require: Callable[[Any], None], args: Args) -> None:
    """Put a check in front of a call of ``int``, once."""
    if s not in inf.checked:
        check = Statement("call", [Constant(require), args[0]], None, ())
        checked(inf, check, args)
        inf.insert(check)
        inf.checked.add(s)


def require_steps(x: float) -> None:
    """Give up where ``int`` keeps all digits: the carried program decides whether a derivative is lost."""
    if not makes_steps(x):
        raise Given("a whole number that has all digits of a float")


def require_few_digits(text: str) -> None:
    """The same for a text, whose digits a float may have left."""
    if len(text) >= _DIGITS:
        require_steps(int(text))


_DIGITS: Final = 16
"""How many digits 2**52 has."""


@cache
def _limits_of(function: Any, dtype: Any) -> Any:
    """NumPy makes other objects at each call, and what is known by identity has to rest."""
    return function(dtype)


def _limits(function: Any, inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``np.finfo(float)``."""
    kind = inf.type_of(args[0]) if len(args) == 1 else None
    if not isinstance(kind, Known):
        return None
    try:
        return known_as(inf, s, _limits_of(function, kind.value))
    except (TypeError, ValueError) as error:
        raise Refused(f"{named(function)} raised {error}") from error


def _float(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``float("inf")`` and ``float()``."""
    if not args:
        return known_as(inf, s, 0.0)
    kind = inf.type_of(args[0]) if len(args) == 1 else None
    if kind is not None and inert_class(kind) is str and raises_when.before_call(inf, s, float, args):
        return None
    if isinstance(kind, Instance) and kind.cls is str:
        return pure(inf, s, _read(float, kind))
    if not isinstance(kind, Known) or type(kind.value) is not str:
        return None
    try:
        return known_as(inf, s, float(kind.value))
    except ValueError as error:
        raise Refused(str(error)) from error


def _complex(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``complex()``, of which dicts with defaults make their items."""
    return None if args else known_as(inf, s, 0j)


def _rank(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``np.ndim(x)`` of an array or a number."""
    kind = inf.type_of(args[0]) if len(args) == 1 else None
    if isinstance(kind, Array) and kind.ndim is not None and not kind.scalar:
        return known_as(inf, s, kind.ndim)
    return known_as(inf, s, 0) if isinstance(kind, Number) else None


def _is_complex(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``np.iscomplexobj(x)`` of an array or a number."""
    kind = inf.type_of(args[0]) if len(args) == 1 else None
    if isinstance(kind, Array) and kind.dtype is not None:
        return known_as(inf, s, kind.dtype.kind == "c")
    if not isinstance(kind, Number):
        return None
    found = {issubclass(cls, (complex, np.complexfloating)) for cls in kind.types}
    return known_as(inf, s, found.pop()) if len(found) == 1 else None


def _common_type(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``np.common_type(a, b)``: the dtypes of arrays say what it is."""
    dtypes = [getattr(inf.type_of(x), "dtype", None) for x in args]
    if any(dtype is None for dtype in dtypes):
        return None
    return known_as(inf, s, np.common_type(*(np.empty(0, dtype) for dtype in dtypes)))


QUESTIONS: Final[dict[Any, Question]] = {
    int: _int,
    float: _float,
    complex: _complex,
    require_steps: checked,
    require_few_digits: checked,
    np.ndim: _rank,
    np.iscomplexobj: _is_complex,
    np.common_type: _common_type,
    np.finfo: partial(_limits, np.finfo),
    np.iinfo: partial(_limits, np.iinfo),
}
