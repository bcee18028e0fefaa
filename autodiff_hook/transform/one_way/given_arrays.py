"""Arrays from outside that a program stores into: it works on versions, and rewrites them at its end."""

from __future__ import annotations

from typing import Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.runtime.fitting import is_alone
from autodiff_hook.transform.one_way.asked import is_asked
from autodiff_hook.transform.one_way.trail import Trail
from autodiff_hook.transform.specialise.abstract import BOOL, Abstract, Array, Known, Number
from autodiff_hook.transform.specialise.bodies import Refused


def take(inf: Trail, array: Operand) -> None:
    """Let an array that is an argument be one of the program's own."""
    if array not in inf.program.blocks[0].params or not _is_writable(inf.type_of(array)):
        raise Refused("an array is changed in place that others may hold, too")
    inf.own.add(array)
    inf.rewritten.append(array)


def settle(inf: Trail) -> None:
    """What is rewritten shares memory with nothing else that the program has read."""
    if inf.rewritten and any(map(is_asked, inf.types.values())):
        raise Refused("an array is changed in place whose memory a table may have")
    for array in inf.rewritten:
        others = [x for x in list(inf.types) if x is not array and _is_given(inf, x) and _may_show(inf.types[x])]
        inf.guard(inf.emit("call", Constant(is_alone), array, *others, abstract=BOOL, data=()), True)
        inf.commits.append((array, None, inf.present(array)))


def _is_given(inf: Trail, operand: Operand) -> bool:
    return operand in inf.program.blocks[0].params or inf.world.is_outside(operand)


def _may_show(value: Abstract) -> bool:
    return not isinstance(value, (Number, Known))


def _is_writable(value: Abstract) -> bool:
    if not isinstance(value, Array) or value.scalar or not value.ndim:
        return False
    array = value.example
    return type(array) is np.ndarray and array.dtype.kind in _KINDS and is_alone(array)


_KINDS: Final = "fiub"
