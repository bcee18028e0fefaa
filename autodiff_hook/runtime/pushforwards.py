"""Typed programs of forward mode: value and tangent in one function."""

from __future__ import annotations

from functools import partial

from autodiff_hook.ir.types import Constant, Operand, Terminator, Variable
from autodiff_hook.ir.verifier import verify
from autodiff_hook.runtime.binding import Call
from autodiff_hook.runtime.forms import holds_objects
from autodiff_hook.runtime.programs import Made, Understood, following, is_returned
from autodiff_hook.runtime.specialised_runtime import RUNTIME
from autodiff_hook.runtime.tangents import TANGENTS, given_back, seeded
from autodiff_hook.transform.specialise.activity import needed
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.pushforward import Pushed, Pushforward
from autodiff_hook.transform.specialise.wording import named


def pushforward_ir(call: Call, one_way: int = 0, strong: bool = False) -> Made:
    """The program that gives value and tangent, for calls like this one with tangents of these arguments."""
    return following(call, one_way, partial(_value_and_tangent, strong))


def _value_and_tangent(strong: bool, known: Understood) -> Made:
    value = known.inference.type_of(known.shape.exit.params[0])
    if not is_returned(value):
        raise Refused(f"a value of forward mode that is {named(value)}")
    program, pushed, seeds = pushed_program(known, strong)
    builder, last, result, tangent = pushed
    builder.emit(last, "call", Constant(RUNTIME["no_nan"]), tangent, data=(), result=False)
    tangent = builder.emit(last, "call", Constant(given_back), result, tangent, data=())
    last.terminator = Terminator("return", [builder.emit(last, "build_tuple", result, tangent)])
    checks = [s for s in known.prologue.block.statements if s.result in seeds.values()]
    made = known.made(builder, [*checks, *program.primal], polished=True)
    verify(made.ir)
    return made


def pushed_program(
    known: Understood, strong: bool = False, aim: tuple[int, ...] = ()
) -> tuple[Pushforward, Pushed, dict[Variable, Operand]]:
    """The program with tangents of the part of the value that ``aim`` leads to, and those of the parameters."""
    inference, shape = known.inference, known.shape
    effects = inference.warnings or inference.commits or inference.strict
    if effects or known.prologue.leaves() or any(map(holds_objects, known.types)):
        raise Refused("a program with effects, or of objects, in forward mode")
    seeds = _seeds(known)
    with known.located():
        needs = needed(inference.program, shape, list(seeds))
        known.clock("activity")
        program = Pushforward(inference.program, shape, needs, RUNTIME | TANGENTS | {"strong": strong})
        return program, program.build(seeds, aim), seeds


def _seeds(known: Understood) -> dict[Variable, Operand]:
    """The tangents of the parameters, as they are given, in the form that a program takes."""
    prologue, seeds = known.prologue, dict[Variable, Operand]()
    moving = [(i, p) for i, p in enumerate(known.params) if known.call.shape.moving[i]]
    for (i, param), tangent in zip(moving, prologue.tangents):
        where = Constant(f"tangents[{i}]")
        seeds[param] = prologue.emit("call", Constant(seeded), known.taken[param], tangent, where, data=())
    return seeds
