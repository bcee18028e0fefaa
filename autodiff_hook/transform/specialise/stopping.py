"""What has no derivative because it is declared: ``stop_gradient``, and functions that are constants."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Statement
from autodiff_hook.records import record
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Container,
    Instance,
    Known,
    Number,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.plans import alias, pure
from autodiff_hook.transform.specialise.wording import named


def stopped(x: Any) -> Any:
    """``x``, which has no derivative in typed programs."""
    return x


@record(frozen=True)
class Body:
    """The code of a function, whatever is declared of the function."""

    function: FunctionType


def without_derivative(body: Any, args: Any, kwargs: Any) -> Any:
    """What stands in the place of a call of what is declared to have no derivative."""
    return stopped(body(*args, **kwargs))


def stop(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``stop_gradient``, of numbers, arrays and tuples of them."""
    if len(args) != 1:
        raise Refused("stop_gradient of several values")
    kind = inf.type_of(args[0])
    if isinstance(kind, Container) and called is not stopped:
        return inf.known_call(s, stopped, args, {})
    # What is declared gives its own list, where ``stop_gradient`` gives a copy.
    own = kind.site.kinds() if called is stopped and isinstance(kind, Reference) else [kind]
    if not any(map(_has_slopes, own)):
        return alias(inf, s, args[0])
    if isinstance(kind, (Number, Array)):
        s.op, s.operands, s.data = "call", [Constant(stopped), *args], ()
        return pure(inf, s, kind)
    if isinstance(kind, Tuple) and kind.cls is tuple:
        items = [inf.before(s, "project", args, i) for i in range(len(kind.items))]
        parts = [inf.before(s, "call", [Constant(stopped), x], ()) for x in items]
        s.op, s.operands, s.data = "build_tuple", parts, None
        return inf.evaluate(inf, s)
    raise Refused(f"stop_gradient of {named(kind)}")


def _has_slopes(kind: Abstract) -> bool:
    """Whether a value may have a derivative: no whole number has one."""
    if isinstance(kind, Number):
        return not all(issubclass(cls, (int, np.integer, np.bool_)) for cls in kind.types)
    if isinstance(kind, Tuple):
        return any(map(_has_slopes, kind.items))
    if isinstance(kind, Array):
        return kind.dtype is None or kind.dtype.kind not in "iub"
    return not isinstance(kind, (Known, Instance))
