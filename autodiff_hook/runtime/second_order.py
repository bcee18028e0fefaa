"""Typed second order: the gradient of the tangent.

The program that gives the tangent of a function is made in two parts: what is loaded and guarded on entry, and a
function of that, which is differentiated like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Final

from autodiff_hook.emit import emit
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Terminator, Variable
from autodiff_hook.ir.verifier import verify
from autodiff_hook.records import record
from autodiff_hook.runtime.altering import tried
from autodiff_hook.runtime.arguments import are_shared
from autodiff_hook.runtime.binding import Call, Shape
from autodiff_hook.runtime.finishing import take_parameters
from autodiff_hook.runtime.forms import aimed
from autodiff_hook.runtime.given_functions import BY_CODE
from autodiff_hook.runtime.given_objects import object_gradients
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.loaded_functions import Slot
from autodiff_hook.runtime.programs import Form, Made, Understood, following, joint_ir
from autodiff_hook.runtime.pushforwards import pushed_program
from autodiff_hook.runtime.specialised_runtime import Undefined, no_nan
from autodiff_hook.runtime.tangents import WithoutSlots, slot_tangents
from autodiff_hook.transform.one_way.trail import Elsewhere
from autodiff_hook.transform.specialise.abstract import Known, Outside, Reference
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.folding import merge
from autodiff_hook.transform.specialise.lattice import differentiable, is_real
from autodiff_hook.transform.specialise.program import Given
from autodiff_hook.transform.specialise.pushforward import Pushforward

_STATEMENTS: Final = 20000
"""How many statements a tangent may have."""


def second_order(
    call: Call, one_way: int, has_aux: bool, strong: bool, acts: bool
) -> tuple[Made, Callable[[Any, tuple[Any, ...]], Any]]:
    """What gives the Hessian-vector products of calls like this one.

    With ``has_aux`` the function returns a pair, of which the first part is differentiated. ``acts``: it may change
    what is outside.
    """
    _require_seeds(call)
    made, (collecting, acting), sources = following(call, one_way, partial(_slope, has_aux, strong), acts=acts)
    f = call.function
    collect, slope = [FunctionType(emit(ir), f.__globals__, f.__name__) for ir in (collecting, made.ir)]
    act = None if acting is None else FunctionType(emit(acting), f.__globals__, f.__name__)
    found = collect(f, call.values)
    if found is MISS:
        raise Refused("what is guarded on entry is not so")
    constants, primals, _, _ = found
    if are_shared(primals):
        raise Refused("a list or a dict that is known in two ways, in second order")
    given = Call(slope, (*primals, *constants), Shape(len(primals), len(constants)))
    within, gradients = _gradients(given, "gradient" if act is None else "value_aux", strong)
    for stage, seconds in within.times.items():
        made.times[stage] = made.times.get(stage, 0.0) + seconds
    return made, _Product(call.shape.given, collect, gradients, slope, act, sources)


class Postponed(Refused):
    """There is no program now, and may be one at another call."""


def _require_seeds(call: Call) -> None:
    """Leave it to the carried program to say what is wrong with tangents."""
    tangents = iter(call.values[len(call.values) - sum(call.shape.moving) :])
    try:
        slot_tangents(call.args, tuple([next(tangents) if moves else None for moves in call.shape.moving]))
    except Unsupported as error:
        raise Postponed(str(error)) from error
    except WithoutSlots as error:
        raise Refused(error.reason.text) from error


def _gradients(call: Call, form: Form, strong: bool) -> tuple[Made, FunctionType]:
    """The joint program of a tangent: for all ways, or if that comes to what it does not know, for the one at hand."""
    try:
        made, gradients = _emitted(joint_ir(call, form, strong=strong, limit=_STATEMENTS), call)
    except Refused:
        return _emitted(joint_ir(call, form, one_way=_STATEMENTS, strong=strong), call)
    if _gives_up(gradients, call):
        return _emitted(joint_ir(call, form, one_way=_STATEMENTS, strong=strong), call)
    return made, gradients


def _emitted(made: Made, call: Call) -> tuple[Made, FunctionType]:
    code = emit(made.ir, release=True, small=made.small)
    return made, FunctionType(code, call.function.__globals__, call.function.__name__)


def _gives_up(gradients: FunctionType, call: Call) -> bool:
    """Whether a program comes to what it does not know; what else it raises, it raises when it is entered."""
    try:
        with tried():
            gradients(call.function, call.values)
    except Exception as error:
        return isinstance(error, Given) and not isinstance(error, (Elsewhere, Undefined))
    return False


def _slope(has_aux: bool, strong: bool, known: Understood) -> tuple[Made, tuple[IR, IR | None], _Sources]:
    aim, value = aimed(known.inference.type_of(known.shape.exit.params[0]), has_aux)
    if isinstance(value, Known) or not is_real(value):
        raise Refused("the function does not return a real scalar")
    if known.inference.outer.stored or known.shared:
        raise Refused("objects in lists or arguments are changed, or lists are passed twice, in second order")
    if known.inference.once:
        raise Refused("what has only first derivatives here, in second order")
    program, pushed, _ = pushed_program(known, strong, aim)
    outside, kept = _assigned(known, program)
    result: Operand = pushed.tangent
    if program.assigned:
        result = pushed.builder.emit(pushed.last, "build_tuple", *kept)
        result = pushed.builder.emit(pushed.last, "build_tuple", pushed.tangent, result)
    pushed.last.terminator = Terminator("return", [result])
    blocks = pushed.builder.finish()
    merge(blocks)
    ir = known.program((), blocks)
    take_parameters(ir, known.params)
    made = known.simplified(ir, blocks, program.primal, polished=False)
    # What is dead may have named what is nowhere made.
    used = take_parameters(ir, ())
    sources = _Sources.of(known, used)
    constants = take_parameters(ir, sources.variables)
    verify(ir)
    act = _acting(known, [*outside, *kept], program.assigned) if program.assigned else None
    return made, (_collecting(known, constants, sources, outside), act), sources


def _assigned(known: Understood, program: Pushforward) -> tuple[list[Variable], list[Variable]]:
    """What is assigned outside, and to what: what is loaded on entry, and what the program makes."""
    used = dict.fromkeys(x for s in program.assigned for x in s.operands if isinstance(x, Variable))
    loaded = known.prologue.outside | set(known.params)
    return [x for x in used if x in loaded], [x for x in used if x not in loaded]


def _acting(known: Understood, taken: list[Variable], assigned: list[Statement]) -> IR:
    """What does outside what the program has come to."""
    ir = known.program((), [Block([], assigned, Terminator("return", [Constant(None)]))])
    take_parameters(ir, taken)
    verify(ir)
    return ir


@record
class _Sources:
    """What a tangent is differentiated by: arguments, and the parts of those that are objects."""

    plain: list[tuple[int, Variable]]
    """The arguments that are no objects, with their places."""
    parts: dict[Variable, Slot]
    lists: list[bool]
    """Which parts are lists or dicts."""

    @classmethod
    def of(cls, known: Understood, used: list[Variable]) -> _Sources:
        types, leaves = known.inference.types, known.prologue.leaves()
        plain = [(i, p) for i, p in enumerate(known.params) if not isinstance(types[p], (*BY_CODE, Outside))]
        parts = {x: leaves[x] for x in used if x in leaves and differentiable(types[x])}
        return cls(plain, parts, [isinstance(types[x], Reference) for x in parts])

    @property
    def variables(self) -> list[Variable]:
        return [*[p for _, p in self.plain], *self.parts]

    def products(self, values: tuple[Any, ...], primals: Any, owners: Any, found: Any) -> tuple[Any, ...]:
        """The products in the form of the arguments."""
        whole = {i: x for (i, _), x in zip(self.plain, found)}
        if len(whole) == len(values):
            return tuple(found)
        parts: list[Any] = []
        begin = len(self.plain)
        for slot, owner, is_list, part, x in zip(
            self.parts.values(), owners, self.lists, primals[begin:], found[begin:]
        ):
            if is_list:
                items = x.items() if isinstance(x, dict) else enumerate(x)
                parts += [y for key, item in items for y in (part, key, (), item)]
            else:
                parts += [owner, slot.key, slot.path, x]
        objects = object_gradients(tuple([None if i in whole else x for i, x in enumerate(values)]), {}, *parts)
        return tuple([whole.get(i, x) for i, x in enumerate(objects)])


def _collecting(known: Understood, constants: list[Variable], sources: _Sources, outside: list[Variable]) -> IR:
    """What loads and guards on entry: the constants, the primals, what is assigned to and what holds the primals.

    It gives ``MISS`` if a guard fails.
    """
    prologue = known.prologue
    loaded = [[known.taken.get(x, x) for x in those] for those in (constants, sources.variables, outside)]
    made: list[Operand] = [prologue.emit("build_tuple", *those) for those in loaded]
    made.append(prologue.emit("build_tuple", *[slot.owner for slot in sources.parts.values()]))
    prologue.block.terminator = Terminator("return", [prologue.emit("build_tuple", *made)])
    ir = known.program(("f", "args"), [*prologue.blocks, prologue.miss])
    verify(ir)
    return ir


@record
class _Product:
    """Gives Hessian-vector products, by what is loaded on entry, and the gradients of the tangent."""

    given: int
    collect: Any
    gradients: Any
    slope: Any
    act: Any
    """What does outside what the program has come to; None if that is nothing."""
    sources: _Sources

    def __call__(self, f: Any, values: tuple[Any, ...]) -> Any:
        found = self.collect(f, values)
        if found is MISS:
            return MISS
        constants, primals, outside, owners = found
        products = self.gradients(self.slope, (*primals, *constants))
        if products is MISS:
            return MISS
        if self.act is not None:
            (_, kept), products = products
        no_nan(*products)
        result = self.sources.products(values[: self.given], primals, owners, products)
        if self.act is not None:
            self.act(*outside, *kept)
        return result
