"""How many there are: values that are spread into a call, as many as it takes or as are at hand, and axes of arrays."""

from __future__ import annotations

from collections.abc import Collection
from inspect import CO_VARARGS
from types import FunctionType
from typing import Any

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Operand, Statement, Variable
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.transform.specialise import named_tuples, raises_when
from autodiff_hook.transform.specialise.abstract import INT, Abstract, Array, Bound, Closure, Known, List, Number, Tuple
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import known
from autodiff_hook.transform.specialise.lists import item_of_list
from autodiff_hook.transform.specialise.plans import checked, pure, spread
from autodiff_hook.transform.specialise.program import PURE, TAKE, Given
from autodiff_hook.transform.specialise.questions import QUESTIONS


def arity(inf: Inference, function: Operand, names: Collection[str] | None) -> int | None:
    """How many values a callable has to be given beside those that are named; None if that is not certain."""
    if names is None:
        return None
    callee = inf.type_of(function)
    if isinstance(callee, Known) and isinstance(callee.value, type):
        init = find_in_type(callee.value, "__init__")
        if type(init) is not FunctionType:
            return None if names else named_tuples.arity(inf, callee.value)
        callee = Bound(init, function)
    if isinstance(callee, Bound) and type(callee.function) is FunctionType:
        count = arity(inf, Constant(callee.function), names)
        return None if count is None else count - 1
    if isinstance(callee, Closure):
        code, defaults = callee.code, callee.defaults
    elif isinstance(callee, Known) and type(callee.value) is FunctionType:
        code, defaults = callee.value.__code__, callee.value.__defaults__ or ()
    else:
        return None
    if defaults or code.co_flags & CO_VARARGS:
        return None
    return code.co_argcount - len({*names}.intersection(code.co_varnames[: code.co_argcount]))


def of_one_length(inf: Inference, args: Operand, count: int | None = None) -> Operand:
    """A list or an array has ``count`` items, or as many as the one at hand; else the program gives up."""
    kind = inf.type_of(args)
    if not isinstance(kind, (List, Array)):
        return args
    if count is None:
        given = kind.site.given if isinstance(kind, List) else type(kind.example) is np.ndarray and kind.example.ndim
        if not given:
            return args
        count = len(kind.example)
    inf.insert(Statement("call", [Constant(exactly), args, Constant(count)], None, ()), plan=PURE)
    if isinstance(kind, List):
        taken = Statement("unpack", [args], Variable(), (count, None))
        inf.insert(taken, Tuple((item_of_list(kind),) * count), TAKE)
    else:
        taken = Statement("build_tuple", spread(inf, args, range(count)), Variable())
        inf.insert(taken, inf.evaluate(inf, taken))
    return taken.made


def exactly(items: list[Any], count: int) -> None:
    """Give up if a list has another length."""
    if len(items) != count:
        raise Given("a list of another length")


def is_zipped_plainly(inf: Inference, args: Args, strict: Operand) -> bool:
    """Whether ``zip(*args, strict=strict)`` may be ``zip(*args)``; the program gives up if lengths are not as asked."""
    asked = known(inf.type_of(strict))
    if inf.one_way or asked is not True:
        return asked is False
    # Iterators would be used up.
    if not all(isinstance(inf.type_of(x), (List, Tuple, Array)) for x in args):
        return False
    inf.insert(Statement("call", [Constant(alike), *args], None, ()), plan=PURE)
    return True


def alike(*items: Any) -> None:
    """Give up if lists or tuples are of several lengths."""
    if len({*map(len, items)}) > 1:
        raise Given("a zip of several lengths")


def shape_of(inf: Inference, s: Statement, array: Array, count: int) -> Abstract:
    """The shape of an array of so many axes."""
    lengths = np.shape(array.example)
    items = tuple([Number(INT.types, example=n) for n in lengths]) if len(lengths) == count else (INT,) * count
    return pure(inf, s, Tuple(items, example=lengths))


def of_as_many_axes(inf: Inference, s: Statement, array: Array, operand: Operand) -> Abstract:
    """The same of one that may have any number of axes: it has to have as many as its example."""
    count = np.ndim(array.example)
    s.op, s.operands, s.data = "call", [Constant(_shape), operand, Constant(count)], ()
    return shape_of(inf, s, array, count)


def _shape(array: Any, count: int) -> Any:
    if array.ndim != count:
        raise Given("an array has another number of axes")
    return array.shape


def _shape_again(inf: Inference, s: Statement, args: Args) -> Abstract:
    array, count = inf.type_of(args[0]), args[1]
    assert isinstance(array, Array) and isinstance(count, Constant)
    return shape_of(inf, s, array, count.value)


QUESTIONS[_shape] = _shape_again
QUESTIONS[exactly] = QUESTIONS[alike] = checked
QUESTIONS[raises_when.has_item] = QUESTIONS[raises_when.raises] = raises_when.answered
