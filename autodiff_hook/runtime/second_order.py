"""Typed second order: the gradient of the tangent.

The program that gives the tangent of a function is made in two parts: what is loaded and guarded on entry, and a
function of that, which is differentiated like any other.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.emit import emit
from autodiff_hook.ir.types import IR, Operand, Terminator, Variable
from autodiff_hook.ir.verifier import verify
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.binding import Call
from autodiff_hook.runtime.finishing import take_parameters
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.programs import Made, Understood, following, require_pair
from autodiff_hook.runtime.pushforwards import pushed_program
from autodiff_hook.runtime.specialised_runtime import no_nan
from autodiff_hook.transform.specialise.abstract import Known
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.folding import merge
from autodiff_hook.transform.specialise.infer import Given
from autodiff_hook.transform.specialise.lattice import number_types

_REAL: Final = {float, np.float64, int}


def second_order(call: Call, one_way: int = 0, has_aux: bool = False) -> tuple[Made, tuple[FunctionType, FunctionType]]:
    """What collects constants and primals for calls like this one, and the tangent as a function of these.

    With ``has_aux`` the function returns a pair, of which the first part is differentiated.
    """
    made, collecting = following(call, one_way, partial(_slope, has_aux))
    f = call.function
    codes = [emit(ir) for ir in (collecting, made.ir)]
    collect, slope = [FunctionType(code, f.__globals__, f.__name__) for code in codes]
    return made, (collect, slope)


def _slope(has_aux: bool, known: Understood) -> tuple[Made, IR]:
    value = known.inference.type_of(known.shape.exit.params[0])
    aim = require_pair(known) if has_aux else ()
    for place in aim:
        value = value.items[place]  # type: ignore[attr-defined]
    types = number_types(value)
    if isinstance(value, Known) or types is None or not types <= _REAL:
        raise Refused("the function does not return a real scalar")
    program, pushed, _ = pushed_program(known, aim=aim)
    pushed.last.terminator = Terminator("return", [pushed.tangent])
    blocks = pushed.builder.finish()
    merge(blocks)
    ir = known.program((), blocks)
    take_parameters(ir, known.params)
    derivatives = {s for block in blocks for s in block.statements} - set(program.primal)
    made = known.simplified(ir, blocks[0], derivatives, program.primal, polished=False)
    # What is dead may have named what is nowhere made.
    constants = take_parameters(ir, known.params)
    verify(ir)
    return made, _collecting(known, constants)


def _collecting(known: Understood, constants: list[Variable]) -> IR:
    """What loads and guards on entry: it gives the constants and the primals, or ``MISS``."""
    prologue = known.prologue
    made: list[Operand] = [prologue.emit("build_tuple", *constants)]
    made.append(prologue.emit("build_tuple", *known.taken.values()))
    prologue.block.terminator = Terminator("return", [prologue.emit("build_tuple", *made)])
    ir = known.program(("f", "args"), [*prologue.blocks, prologue.miss])
    verify(ir)
    return ir


def product(collect: Any, slope: Any, differentiated: Any, f: Any, values: tuple[Any, ...]) -> Any:
    """The Hessian-vector product, or ``MISS``."""
    found = collect(f, values)
    if found is MISS:
        return MISS
    constants, primals = found
    products = differentiated(partial(slope, *constants), primals, {}, "gradient", _missing)
    no_nan(*products)
    return products


class Carried(Given):
    """The tangent of a function, as a function, is not typed."""

    reason = Reason("a tangent that is carried")


def _missing(f: Any, *args: Any) -> Any:
    raise Carried
