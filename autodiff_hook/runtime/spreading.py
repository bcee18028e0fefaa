"""``np.broadcast_arrays`` in typed programs, where each result depends on one argument alone.

What is not differentiated stays so, whatever it is broadcast with: the order of a distribution, say.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Statement
from autodiff_hook.runtime.within import NO_OPTIONS, Options
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Known
from autodiff_hook.transform.specialise.calling import BODIES, NAMED, STEPS
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import inert_class, number_types
from autodiff_hook.transform.specialise.ruled import by_rule
from autodiff_hook.transform.specialise.stopping import stopped


def first_spread(array: Any, *others: Any) -> Any:
    """The first of the results of ``np.broadcast_arrays``."""
    return np.broadcast_arrays(array, *others)[0]


def _broadcast(inf: Inference, s: Statement, called: Any, args: Args, options: Options = NO_OPTIONS) -> Abstract | None:
    known = all([isinstance(inf.type_of(x), Known) for x in options.values()])
    if not args or not known or not all([_is_plain(inf.type_of(x)) for x in args]):
        return by_rule(inf, s, called, args, dict(options), called)
    others = [inf.before(s, "call", [Constant(stopped), x], ()) for x in args]
    parts = [inf.before(s, "call", [Constant(first_spread), x, *others], ()) for x in args]
    s.op, s.operands, s.data = _BUILDING, parts, None
    return inf.evaluate(inf, s)


def _is_plain(value: Abstract) -> bool:
    return isinstance(value, Array) or number_types(value) is not None or inert_class(value) is np.bool_


_BUILDING: Final = "build_tuple" if type(np.broadcast_arrays(0.0)) is tuple else "build_list"
BODIES[np.broadcast_arrays] = NAMED[np.broadcast_arrays] = _broadcast
STEPS.add(np.broadcast_arrays)
