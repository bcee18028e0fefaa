"""Operations that raise whatever the values are: of numbers, and of what else is builtin, their types decide that.

``len(2.0)``, ``x[0]`` of a number, ``None * x`` or ``x.shape`` of a list are how code asks what it was given. Where
such an operation is not understood, it is tried out on samples: a handler may be waiting for what it raises.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np

from autodiff_hook.errors import is_engines_file
from autodiff_hook.ir.types import Statement
from autodiff_hook.runtime.lookup import has_in_type
from autodiff_hook.semantics.operations import BINARY, COMPARE
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Closure, Dict, Known, List, Number, Tuple
from autodiff_hook.transform.specialise.bodies import Refused, Unfit
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.lattice import inert_class
from autodiff_hook.transform.specialise.trying import samples

if TYPE_CHECKING:
    from autodiff_hook.transform.specialise.infer import Inference

_ASKING: Final = frozenset(
    (len, iter, next, list, tuple, set, frozenset, dict, sum, sorted, reversed, enumerate, zip, any, all, min, max)
)
_CONVERTING: Final = frozenset((abs, round, float, int, complex, range, divmod, pow))
_OPERATORS: Final[dict[str, dict[Any, Any]]] = {"binary": BINARY, "inplace": BINARY, "compare": COMPARE}
_TRIED: Final[dict[str, Callable[..., Any]]] = {"getitem": operator.getitem, "get_iter": iter, "unpack": iter}
_OF_ATTRIBUTES: Final = frozenset({"getattr", "load_method", "call_method"})
_TEXTS: Final = (str, bytes)
_NO_FUNCTIONS: Final = (type(None), int, float, complex, bool, tuple, *_TEXTS)
"""Types of constants that cannot be called; there are others that stand for what can."""


def certain_error(inf: Inference, s: Statement, refused: Refused) -> type[Exception] | None:
    """The class of what a statement that was refused raises with certainty; None if that is not known."""
    types = [inf.type_of(x) for x in s.operands]
    if isinstance(refused, Unfit) and (inf.one_way or refused.code is None):
        ours = refused.code is not None and is_engines_file(refused.code.co_filename)
        return None if ours else TypeError
    if s.op in _OF_ATTRIBUTES:
        # A method is looked for before the arguments are computed, which stand before the call here.
        if s.op == "call_method" and len(types) > 1 and not inf.one_way:
            return None
        return AttributeError if lacks(types[0], s.data[0] if s.op == "call_method" else s.data) else None
    if s.op == "call":
        return _of_call(types, bool(s.data), refused)
    if s.op in _OPERATORS:
        return _raised_by(_OPERATORS[s.op][s.data], types)
    return _raised_by(_TRIED[s.op], types) if s.op in _TRIED else None


def lacks(value: Abstract, name: str) -> bool:
    """Whether a value has no attribute of a name, which objects of its class have not unless their class has."""
    if not isinstance(value, (Number, Array, Tuple, List, Dict)) and inert_class(value) is None:
        return False
    classes = classes_of(value)
    system = all(cls.__module__ in ("builtins", "numpy") and not cls.__dictoffset__ for cls in classes)
    return system and not any(has_in_type(cls, name) for cls in classes)


def _of_call(types: list[Abstract], named: bool, refused: Refused) -> type[Exception] | None:
    """What a call raises: that of what is no function, one that does not fit, or of a builtin for what it is given."""
    callee, *args = types
    if isinstance(refused, Unfit):
        code = callee.code if isinstance(callee, Closure) else None
        function = callee.value if isinstance(callee, Known) else None
        code = function.__code__ if type(function) is FunctionType else code
        return TypeError if code is refused.code else None
    if isinstance(callee, Number) or isinstance(callee, Known) and type(callee.value) in _NO_FUNCTIONS:
        return TypeError
    if not isinstance(callee, Known):
        return None
    asks = type(callee.value) in (type, type(len)) and callee.value in _ASKING | _CONVERTING
    return _raised_by(callee.value, args) if asks and not named else None


def _raised_by(run: Callable[..., Any], types: list[Abstract]) -> type[Exception] | None:
    """What a function raises for all combinations of arguments, if that is one thing, and due to their types."""
    found = set[type[Exception]]()
    for combination in product(*map(_samples_of, types)):
        try:
            run(*combination)
        except Exception as error:
            found.add(type(error))
        else:
            return None
    if found == {IndexError} and run is operator.getitem and (isinstance(types[0], Number) or _is_point(types[0])):
        return IndexError
    return TypeError if found == {TypeError} else None


def _samples_of(value: Abstract) -> list[Any]:
    """One value of each type that a number may have, a constant, an array without axes; none of what else there is."""
    if isinstance(value, Number):
        return [samples(cls)[0] for cls in value.types]
    if isinstance(value, Known) and (value.value is None or isinstance(value.value, (int, float, complex, *_TEXTS))):
        return [value.value]
    if _is_point(value):
        return [np.ones((), value.dtype)]
    if inert_class(value) in _TEXTS:
        return [inert_class(value)()]  # type: ignore[misc]
    return [np.True_] if inert_class(value) is np.bool_ else []


def _is_point(value: Abstract) -> TypeGuard[Array]:
    """Whether a value is an array without axes."""
    return isinstance(value, Array) and value.ndim == 0 and not value.scalar and value.dtype is not None
