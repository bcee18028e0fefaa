"""Native code that definitions of library functions call, with functions of a typed program or without; what these
definitions give.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.runtime.inner_programs import Within
from autodiff_hook.semantics.meanings import calling, calling_back, differentiated, result_of
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh, Known
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import BODIES, STEPS
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import example_of, is_virtual
from autodiff_hook.transform.specialise.plans import known_as, pure
from autodiff_hook.transform.specialise.program import Given
from autodiff_hook.transform.specialise.results import abstract_of
from autodiff_hook.transform.specialise.trying import tried

Step = Callable[[Inference, Statement, Any, list[Operand]], Abstract | None]


def _calling_back(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """Native code that is given a function of the program, which becomes one of its own."""
    target, result, function, like, *others = args
    inf.assume(function)
    inner = Within(inf, s)
    code, captured = inner.alone(function, [like])
    inf.assumptions.fixed += inner.fixed
    made = FunctionType(code, inf.globals_here)
    operands = target, Constant(made), Constant(len(captured)), *captured, *others
    return _calling(inf, s, called, [Constant(_call_back), result, *operands])


def _call_back(target: Any, function: FunctionType, count: int, *values: Any) -> Any:
    """Call native code with a function, of which ``count`` values are given already."""
    return target(partial(function, *values[:count]), *values[count:])


def _calling(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """Native code that gives a constant."""
    inf.once = True
    s.op, s.operands, s.data = "call", [Constant(_call_native), *args], ()
    return _called_native(inf, s, _call_native, args)


def _called_native(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    if any(is_virtual(inf.type_of(x)) for x in args):
        raise Refused("native code is given what exists only while the program is made")
    examples = [example_of(inf.type_of(x)) for x in args]
    return pure(inf, s, abstract_of(tried(called, examples, {}) if inf.one_way else examples[1]))


def _call_native(target: Any, result: Any, *operands: Any) -> Any:
    """Call native code, and give up if what comes back is of another type than ``result``."""
    found = target(*operands)
    pairs = [(found, result)] if type(result) is not tuple else zip(found, result, strict=True)
    if not all(_is_like(x, example) for x, example in pairs):
        raise Given("another type than native code is known to give")
    return found


def _is_like(x: Any, example: Any) -> bool:
    if isinstance(example, np.ndarray):
        return type(x) is np.ndarray and (x.dtype, x.ndim) == (example.dtype, example.ndim)
    return isinstance(x, type(example))


def _result_of(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """An object that is nowhere made: what would show it is refused, as its class is of a library."""
    cls = inf.type_of(args[0])
    if s.result is None or not isinstance(cls, Known):
        raise Refused("a result whose class is not known")
    for name, value in zip(example_of(inf.type_of(args[1])), args[2:], strict=True):
        inf.hold(s.result, name, value)
    inf.results.add(s.result)
    inf.leave_nothing(s)
    return Fresh(cls.value, s.result)


def _differentiated(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    return known_as(inf, s, not inf.values_only)


_BODIES: Final[dict[Any, Step]] = {
    calling: _calling,
    _call_native: _called_native,
    differentiated: _differentiated,
    result_of: _result_of,
    calling_back: _calling_back,
}
BODIES.update(_BODIES)
STEPS.update(_BODIES)
