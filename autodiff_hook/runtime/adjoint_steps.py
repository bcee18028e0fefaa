"""What the functions that adjoints call are to a program which holds the adjoint of another one.

Cotangents are values like others there, so that they have derivatives in their turn: what is None is known to be, or it
is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.runtime.specialised_runtime import RUNTIME
from autodiff_hook.runtime.tangents import along_slope, partial, units, zero_tangent
from autodiff_hook.strong import PLAIN, contraction
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Known, List, Optional
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import BODIES, STEPS, call
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.invariants import item_or_none
from autodiff_hook.transform.specialise.lattice import is_none, number_types
from autodiff_hook.transform.specialise.lists import is_flat
from autodiff_hook.transform.specialise.parts import is_basic_key
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.program import LOAD
from autodiff_hook.transform.specialise.wording import named

_DOUBLE: Final[frozenset[type]] = frozenset({np.float64})
_FLOAT: Final[frozenset[type]] = frozenset({float})
Step = Callable[[Inference, Statement, Any, list[Operand]], "Abstract | None"]


def _sum(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``accumulate`` and ``counted``."""
    kinds = [inf.type_of(x) for x in args]
    for kind, other in zip(kinds, reversed(args)):
        if is_none(kind):
            return alias(inf, s, other)
    if any(isinstance(kind, Optional) for kind in kinds):
        return inline_call(inf, s, _sum_of_present, args, {})
    for kind in kinds:
        if not isinstance(kind, Array) and number_types(kind) is None:
            raise Refused(f"a sum of cotangents that are {named(kind)}")
    return _instead(inf, s, "binary", args, "+")


def _sum_of_present(a: Any, b: Any) -> Any:
    if a is None:
        return b
    if b is None:
        return a
    return a + b


def _present_or(make: Callable[..., Any]) -> Step:
    """The step of a cotangent that is made of the other arguments if it is None."""

    def present(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
        kind = inf.type_of(args[0])
        if is_none(kind) or isinstance(kind, Optional):
            return inline_call(inf, s, make, args, {})
        return alias(inf, s, args[0])

    return present


def _number(cotangent: Any) -> Any:
    return 0.0 if cotangent is None else cotangent


def _array(cotangent: Any, value: Any) -> Any:
    return np.zeros(value.shape) if cotangent is None else cotangent


def _part(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    kind = inf.type_of(args[0])
    if is_none(kind):
        return alias(inf, s, args[0])
    return _instead(inf, s, "getitem", args)


def _added_part(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``add_part``: the part is one of an array, or all of it."""
    kind = inf.type_of(args[1])
    if is_none(kind):
        return alias(inf, s, args[0])
    if isinstance(kind, Optional):
        raise Refused("a cotangent that may be missing is added to a part")
    return _instead(inf, s, "inplace", args, "+")


def _added_at(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``add_at``: what is read and stored again."""
    buffer, index, cotangent = args
    if not is_basic_key(inf.type_of(index)):
        raise Refused("a cotangent is added to places that may be repeated")
    return inline_call(inf, s, _stored, [buffer, index, cotangent], {})


def _stored(buffer: Any, index: Any, cotangent: Any) -> None:
    buffer[index] = buffer[index] + cotangent


def _buffer(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``buffer``: the cotangents of a list of numbers, which is looked up once."""
    kind = inf.type_of(args[1])
    if not isinstance(kind, List) or not is_flat(kind):
        raise Refused(f"a derivative with respect to what is in {named(kind)}")
    return inline_call(inf, s, _zeros_of_list, args[1:], {})


def _of_list(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``list_gradient``, where nothing has a cotangent."""
    if not is_none(inf.type_of(args[0])):
        raise Refused("a derivative with respect to a list of lists")
    return _buffer(inf, s, called, args)


def _zeros_of_list(items: Any) -> Any:
    return [0.0] * len(items)


def _floats(items: Any) -> Any:
    return [float(x) for x in items]


def _instead(inf: Inference, s: Statement, op: str, operands: list[Operand], data: Any = None) -> Abstract | None:
    """Let a statement be another operation."""
    s.op, s.operands, s.data = op, operands, data
    return inf.evaluate(inf, s)


def _followed(function: Callable[..., Any]) -> Step:
    """The step of what is followed as Python code."""

    def follow(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
        return inline_call(inf, s, function, args, {})

    return follow


def _of_number(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``number_gradient``: a number of the precision of the value."""
    value, cotangent = map(inf.type_of, args)
    types = number_types(value)
    if types == _DOUBLE:
        same = number_types(cotangent) == _DOUBLE
        return alias(inf, s, args[1]) if same else _instead(inf, s, "binary", [args[1], Constant(np.float64(1.0))], "*")
    if types is not None and all(issubclass(cls, np.integer) for cls in types) and _is_zero(cotangent):
        return alias(inf, s, Constant(0.0))
    if types is None or not types <= {float, int}:
        raise Refused(f"a derivative with respect to {named(value)}")
    if number_types(cotangent) == _FLOAT and not any(isinstance(kind, Array) for kind in inf.types.values()):
        return alias(inf, s, args[1])
    # Of arrays cotangents may be summed up to numbers of NumPy's where their types say float.
    return call(inf, s, Constant(float), args[1:], {})


def _is_zero(cotangent: Abstract) -> bool:
    return is_none(cotangent) or isinstance(cotangent, Known) and cotangent.value == 0.0


def _of_array(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``array_gradient``: an array that is nobody else's."""
    value, cotangent = map(inf.type_of, args)
    complex_part = isinstance(cotangent, Array) and (cotangent.dtype is None or cotangent.dtype.kind == "c")
    if not isinstance(value, Array) or not _is_real_array(value) or complex_part:
        raise Refused(f"a derivative with respect to {named(value)}")
    if isinstance(cotangent, Array) and not cotangent.scalar and cotangent == value:
        return _instead(inf, s, "call_method", args[1:], ("copy", ()))
    if is_none(cotangent):
        return inline_call(inf, s, _zeros, args[:1], {})
    if isinstance(cotangent, Optional):
        return inline_call(inf, s, _present_array, args, {})
    return inline_call(inf, s, _begun, [args[1], args[0]], {})


def _is_real_array(value: Array) -> bool:
    """Whether cotangents of an array are of doubles."""
    return value.dtype is not None and (value.dtype.kind in "iu" or value.dtype == np.dtype(float))


def _present_array(value: Any, cotangent: Any) -> Any:
    return np.zeros(value.shape) if cotangent is None else np.zeros(value.shape) + cotangent


def _zeros(array: Any) -> Any:
    return np.zeros(array.shape)


def _begun(cotangent: Any, value: Any) -> Any:
    return np.zeros(value.shape) + cotangent


def _product(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``times`` and ``over``, of arrays without asking for nan: who runs the program does that."""
    if any(isinstance(inf.type_of(x), Array) for x in args):
        return _instead(inf, s, "binary", args, PLAIN[called])
    return inline_call(inf, s, called, args, {})


def _item_or_none(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """What is read before a loop that may have no iteration: as an item, and no error if there is none."""
    found = _instead(inf, s, "getitem", args)
    if s.op == "getitem" and inf.plans.get(s) == LOAD:
        s.op, s.operands, s.data = "call", [Constant(called), *args], ()
    return found


def _is_as_taken(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``as_taken``: the result that was looked at is looked at where it is computed again."""
    return known_as(inf, s, None)


def _zero_tangent(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    kind = inf.type_of(args[0])
    if not isinstance(kind, List):
        raise Refused(f"a tangent of {named(kind)}")
    return inline_call(inf, s, _zeros_of_list if is_flat(kind) else _zeros_of_rows, args, {})


def _zeros_of_rows(rows: Any) -> Any:
    return [zero_tangent(row) for row in rows]


def _contraction(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    s.operands, s.data = args, ()
    return call(inf, s, args[0], args[1:], {})


_STEPS: Final[dict[str, Step]] = {
    "accumulate": _sum,
    "counted": _sum,
    "number": _present_or(_number),
    "array": _present_or(_array),
    "number_gradient": _of_number,
    "array_gradient": _of_array,
    "part": _part,
    "zeros_like": _followed(_zeros),
    "first": _followed(_begun),
    "add_part": _added_part,
    "add_at": _added_at,
    "buffer": _buffer,
    "list_gradient": _of_list,
    "float_list": _followed(_floats),
    "as_taken": _is_as_taken,
    "chosen": _followed(RUNTIME["chosen"]),
}

_BODIES: Final[dict[Any, Step]] = {
    **{function: _product for function in PLAIN},
    **{function: _followed(function) for function in (units, along_slope)},
    **{RUNTIME[name]: step for name, step in _STEPS.items()},
    contraction: _contraction,
    item_or_none: _item_or_none,
    partial: _present_or(_number),
    zero_tangent: _zero_tangent,
}
BODIES.update(_BODIES)
STEPS.update(_BODIES)
