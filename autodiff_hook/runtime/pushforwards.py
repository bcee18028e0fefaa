"""Typed programs of forward mode: value and tangent in one function."""

from __future__ import annotations

from functools import partial

from autodiff_hook.ir.types import Constant, Operand, Terminator, Variable
from autodiff_hook.ir.verifier import verify
from autodiff_hook.runtime.binding import Call
from autodiff_hook.runtime.forms import holds_objects, is_returned
from autodiff_hook.runtime.loaded_functions import Slot
from autodiff_hook.runtime.programs import Made, Understood, act, finish, following
from autodiff_hook.runtime.specialised_runtime import RUNTIME
from autodiff_hook.runtime.tangents import TANGENTS, given_back, seeded, slot_tangents, tangent_at, zero_tangent
from autodiff_hook.transform.specialise.activity import needed
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import sites_in
from autodiff_hook.transform.specialise.pushforward import Pushed, Pushforward
from autodiff_hook.transform.specialise.wording import named


def pushforward_ir(call: Call, one_way: int = 0, strong: bool = False, acts: bool = True) -> Made:
    """The program that gives value and tangent, for calls like this one with tangents of these arguments.

    ``acts``: it may change what is outside.
    """
    return following(call, one_way, partial(_value_and_tangent, strong, acts), acts=acts)


def _value_and_tangent(strong: bool, acts: bool, known: Understood) -> Made:
    value = known.inference.type_of(known.shape.exit.params[0])
    if not is_returned(value):
        raise Refused(f"a value of forward mode that is {named(value)}")
    program, pushed, seeds = pushed_program(known, strong, acts=acts)
    builder, last, result, tangent = pushed
    builder.emit(last, "call", Constant(RUNTIME["no_nan"]), tangent, data=(), result=False)
    tangent = builder.emit(last, "call", Constant(given_back), result, tangent, data=())
    both = act(builder, last, known.inference, builder.emit(last, "build_tuple", result, tangent))
    finish(builder, last, program.assigned)
    last.terminator = Terminator("return", [both])
    checks = [s for s in known.prologue.block.statements if s.result in seeds.values()]
    made = known.made(builder, [*checks, *program.primal], polished=True)
    verify(made.ir)
    return made


def pushed_program(
    known: Understood, strong: bool, aim: tuple[int, ...] = (), acts: bool = False
) -> tuple[Pushforward, Pushed, dict[Variable, Operand]]:
    """The program with tangents of the part of the value that ``aim`` leads to, and those of its sources."""
    inference, shape = known.inference, known.shape
    if inference.strict or not acts and (inference.said or inference.commits):
        raise Refused("a program with effects, in forward mode")
    moving = [(i, p) for i, p in enumerate(known.params) if known.call.shape.moving[i]]
    with known.located():
        sources = [p for _, p in moving]
        needs = needed(inference.program, shape, [*sources, *known.prologue.leaves()])
        known.clock("activity")
        seeds = _seeds(known, moving, needs)
        program = Pushforward(inference.program, shape, needs, RUNTIME | TANGENTS | {"strong": strong})
        return program, program.build(seeds, aim), seeds


Moving = list[tuple[int, Variable]]
"""The places and parameters of the arguments that have tangents."""


def _seeds(known: Understood, moving: Moving, needs: set[Variable]) -> dict[Variable, Operand]:
    """The tangents of the parameters, and of the parts of objects that are read, in the form that a program takes."""
    prologue, types, seeds = known.prologue, known.inference.types, dict[Variable, Operand]()
    given = [(param, i, tangent) for (i, param), tangent in zip(moving, prologue.tangents)]
    # An object that has several names has one tangent.
    made = prologue.emit("build_map")
    for param, i, tangent in given:
        if not holds_objects(types[param]):
            taken = known.taken[param]
            seeds[param] = prologue.emit("call", Constant(seeded), taken, tangent, Constant(f"tangents[{i}]"), data=())
    if len(seeds) < len(given):
        held = {known.taken[p]: Slot(Constant(None), i) for p, i, _ in given if p not in seeds}
        mine = dict(zip(known.taken.values(), known.taken))
        values = prologue.emit("build_tuple", *known.taken.values())
        tangents = {i: tangent for _, i, tangent in given}
        whole = prologue.emit("build_tuple", *[tangents.get(i, Constant(None)) for i in range(len(known.taken))])
        found = prologue.emit("call", Constant(slot_tangents), values, whole, data=())
        for part, (owner, key, path) in (held | prologue.leaves()).items():
            if mine.get(part, part) in needs:
                place = found, owner, Constant(key), Constant(path), part, made
                seeds[mine.get(part, part)] = prologue.emit("call", Constant(tangent_at), *place, data=())
    if known.inference.outer.stored:
        for x, kind in types.items():
            if x in needs and x not in seeds and known.inference.is_from_outside(x) and sites_in(kind):
                seeds[x] = prologue.emit("call", Constant(zero_tangent), known.taken.get(x, x), made, data=())
    return seeds
