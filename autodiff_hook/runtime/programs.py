"""Joint programs put together: prologue, primal and adjoint; the gradients in the form of the arguments."""

from __future__ import annotations

import collections.abc
import time
from collections.abc import Callable, Container, Iterable
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from types import CodeType, FunctionType, MethodType
from typing import Any, Final, Literal, TypeVar

from autodiff_hook.ir.analysis import statements_of
from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Signature, Statement, Terminator, Variable
from autodiff_hook.ir.verifier import verify
from autodiff_hook.records import record
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.arguments import are_shared, arguments
from autodiff_hook.runtime.binding import Call
from autodiff_hook.runtime.callees import Callees
from autodiff_hook.runtime.deriving import cell_of, derivative
from autodiff_hook.runtime.finishing import only_numbers, simplified, small_of
from autodiff_hook.runtime.forms import Forms, aimed, holds_objects, holds_references
from autodiff_hook.runtime.given_functions import BY_CODE
from autodiff_hook.runtime.prologue import Prologue
from autodiff_hook.runtime.saying import say
from autodiff_hook.runtime.specialised_runtime import RUNTIME
from autodiff_hook.runtime.undefined import (
    may_be_undefined,
    refuse_nan,
    refuse_nan_if_infinite,
    refuse_nan_in_objects,
    value_tells,
    watch_factors,
)
from autodiff_hook.runtime.updates import updated
from autodiff_hook.transform.one_way.steps import path
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Closure, Outside
from autodiff_hook.transform.specialise.activity import needed
from autodiff_hook.transform.specialise.bodies import Changes, Refused, bind, made_before
from autodiff_hook.transform.specialise.folding import merge
from autodiff_hook.transform.specialise.infer import STATEMENTS, Inference
from autodiff_hook.transform.specialise.infer import Callees as Called
from autodiff_hook.transform.specialise.joint import joint_pass
from autodiff_hook.transform.specialise.joint_primal import Split
from autodiff_hook.transform.specialise.lattice import reached, sites_in
from autodiff_hook.transform.specialise.objects import assigns_plainly
from autodiff_hook.transform.specialise.prepare import prepare
from autodiff_hook.transform.specialise.raising import UNHANDLED
from autodiff_hook.transform.specialise.resolve import evaluate


@record
class Made:
    """A joint program, and what was found on the way."""

    ir: IR
    times: dict[str, float]
    body: Block
    """Where the program begins behind its guards."""
    small: Container[Variable]
    """What holds nothing of size."""
    functions: list[FunctionType]
    """The callees whose default values are constants of the program."""
    quiet: bool = False
    """Whether the program has told NumPy not to warn."""
    strict: bool = False
    """Whether the program has made errors of warnings, somewhere."""
    inlined: tuple[CodeType, ...] = ()
    """The functions that are part of the program."""
    left: tuple[Reason, ...] = ()
    """Where it gives up."""
    callees: Called | None = None
    """Who knows the programs that it calls."""
    alters: bool = False
    """Whether it changes what is outside as it runs."""
    locks: tuple[Any, ...] = ()
    """What it holds while it runs."""
    roots: tuple[tuple[Any, Any], ...] = ()
    """Where it reads what is outside (``CodeGuards.roots``)."""


Form = Literal[
    "gradient",
    "value",
    "value_aux",
    "pullback",
    "pullback_aux",
    "split",
    "apart",
    "jvp",
    "push",
    "hvp",
    "hvp_aux",
    "row",
]
"""What a program returns: the gradients; the value and them; value and tangent; or it is to be cut in two.

Numbers go into a program of ``split`` and come out of it. One of ``apart`` is given arguments of which nobody else has
hold, and gives nothing back that it was given.

A program of ``push`` is one of ``jvp`` that changes nothing outside, so it may run again, and one of ``row`` or
``hvp_aux`` is such a one of ``hvp``. With ``pullback`` it is to be cut in two as well, and its reverse returns
gradients in the form of the arguments. With ``_aux``, the function returns a pair, of which the second part has no
derivative.
"""


CUT: Final[dict[str, Split]] = {
    "pullback": "anything",
    "pullback_aux": "anything",
    "split": "numbers",
    "apart": "anything",
}
HVP: Final = frozenset({"hvp", "hvp_aux", "row"})
WITH_AUX: Final = frozenset({"value_aux", "pullback_aux", "hvp_aux"})


_CHANGES: Final = 64
T = TypeVar("T")


def joint_ir(
    call: Call, form: Form = "gradient", one_way: int = 0, strong: bool = False, limit: int = STATEMENTS
) -> Made:
    """The joint program of a function for calls like this one.

    It has all ways through the function, of up to ``limit`` statements, or the one that this call takes, of up to
    ``one_way`` operations. Where its products are ``strong``, nothing is known of arrays in the adjoint.
    """
    follow = partial(following, call, one_way, partial(_joint_ir, form, strong), acts=form not in CUT)
    if one_way:
        return follow()
    callees, copies = Callees(), form == "apart"
    try:
        return follow(callees, limit, copies=copies)
    except Refused:
        if not callees.tried:
            raise
        return follow(limit=limit, copies=copies)


def following(
    call: Call,
    one_way: int,
    make: Callable[[Understood], T],
    callees: Callees | None = None,
    limit: int = STATEMENTS,
    acts: bool = True,
    copies: bool = False,
) -> T:
    """What is made of a function that is understood, once it is known what it changes.

    ``acts``: it may change what is outside; ``copies``: what it is given are copies.
    """
    changed: frozenset[Any] = frozenset()
    while True:
        if callees is not None:
            callees.begin()
        try:
            known = Understood(call, one_way, changed, callees, limit, acts, copies)
            return make(known)
        except Changes as found:
            if found.places <= changed or len(changed) >= _CHANGES:
                raise
            changed |= found.places


class Understood:
    """A function and what is known of its values, for calls like one."""

    def __init__(
        self,
        call: Call,
        one_way: int,
        changed: frozenset[Any],
        callees: Callees | None,
        limit: int,
        acts: bool,
        copies: bool = False,
    ) -> None:
        self.call, self.one_way = call, bool(one_way)
        self.times: dict[str, float] = {}
        self.clock = _Clock(self.times)
        f = call.function
        self.shared = are_shared(call.args)
        if self.shared and not (acts and one_way):
            raise Refused("a list or a dict that is passed twice")
        self.types = arguments(call.args, self.one_way, () if one_way else changed, self.shared)
        if not acts and any(isinstance(kind, BY_CODE) for kind in self.types):
            raise Refused("a function as an argument that is made anew, or has captured something")
        self.prologue = prologue = Prologue(f, self.one_way, () if one_way else changed, call.anew, acts)
        taken, constants = prologue.parameters(self.types, call.constants, sum(call.shape.moving))
        self.params = [Variable(name) for name in _names(call)]
        self.taken = dict(zip(self.params, taken))
        self.inference = (
            path(prologue, prologue.types, updated, one_way, changed)
            if one_way
            else Inference(prologue, evaluate, prologue.types, changed, limit)
        )
        self.inference.of_copies, self.inference.cells = copies, prologue.cells
        self.inference.callees = callees
        self.inference.outer.allowed, self.inference.outer.acts = acts and not one_way, acts
        kinds = [prologue.types[x] if isinstance(kind, BY_CODE) else kind for x, kind in zip(taken, self.types)]
        types = {p: prologue.copied(p, *found) for p, *found in zip(self.params, kinds, call.args)}
        if not one_way:
            self.inference.aliases.update((p, x) for p, x in self.taken.items() if isinstance(types[p], Outside))
        if call.shape.works:
            self._follow_derivative(types, constants)
        else:
            bound = prologue.bound(call.shape, self.params, constants)
            with self._handling(changed):
                self.inference.run(f.__code__, f.__globals__, f.__closure__, types, bound)
        prologue.settle()
        self.clock("infer")
        with self._handling(changed), self.located():
            self.shape = prepare(self.inference)

    @contextmanager
    def _handling(self, changed: frozenset[Any]) -> collections.abc.Iterator[None]:
        """A program that is refused with its handlers gives up where it comes to one."""
        try:
            yield
        except Changes:
            raise
        except Refused as refused:
            if not self.inference.written or UNHANDLED in changed:
                raise
            raise Changes(refused.args[0], UNHANDLED) from refused

    def _follow_derivative(self, types: dict[Variable, Abstract], constants: list[Operand]) -> None:
        """Interpret a derivative of the function."""
        inference, f, shape = self.inference, self.call.function, self.call.shape
        if self.one_way or f.__kwdefaults__:
            raise Refused("a derivative of a function with defaults by keyword, or on one way")
        cells = [cell_of(inference, self.prologue.captured(cell)) for cell in f.__closure__ or ()]
        args: list[Operand] = shape.positional(self.params, constants)
        made = Closure(f.__code__, f.__globals__, tuple(cells), self.prologue.defaults(len(args)))
        for work, argnums in shape.works:
            function = Variable()
            inference.types[function] = made
            made = derivative(inference, work, argnums, function)
        bound = bind(made.code, args, {}, (), None, made_before)
        inference.interpret(made.code, made.globals, types, bound, [*made.cells])

    @contextmanager
    def located(self) -> collections.abc.Iterator[None]:
        """Let what is refused know its line."""
        try:
            yield
        except Refused as reason:
            self.inference.traps.locate(reason)
            raise

    def made(self, builder: Builder, primal: Iterable[Statement], polished: bool) -> Made:
        """The program that a builder has, behind its guards; ``primal`` are the statements that are not derivatives."""
        blocks, prologue = builder.finish(), self.prologue
        merge(blocks)
        _join_prologue(prologue, blocks, self.taken)
        ir = self.program(("f", "args"), [*prologue.blocks, *blocks, prologue.miss])
        return self.simplified(ir, blocks, primal, polished)

    def program(self, parameters: tuple[str, ...], blocks: list[Block]) -> IR:
        """A program in the name of the function."""
        f = self.call.function
        name, code, count = f.__code__.co_name, f.__code__, len(parameters)
        signature = Signature(parameters, count, count)
        return IR(name, signature, f.__qualname__, code.co_filename, code.co_firstlineno, blocks=blocks)

    def simplified(self, ir: IR, blocks: list[Block], primal: Iterable[Statement], polished: bool) -> Made:
        """A program made simpler, which has these blocks behind its guards; who has it all verifies it."""
        inference, prologue, body = self.inference, self.prologue, blocks[0]
        self.clock("adjoint")
        simplified(ir, inference, self.shape, blocks, primal, polished)
        self.clock("simplify")
        # Code with slices among its constants, as emitted code has, cannot be hashed.
        codes = tuple({id(code): code for code in self._all("codes")}.values())
        told = inference.quiet, inference.strict, codes, tuple(dict.fromkeys(self._all("traps.reasons")))
        return Made(
            ir,
            self.times,
            body,
            small_of(inference),
            prologue.functions,
            *told,
            inference.callees,
            bool(inference.outer.stored or inference.outer.drawn),
            tuple(inference.locks.values()),
            tuple(prologue.roots.values()),
        )

    def _all(self, what: str) -> tuple[Any, ...]:
        """What is known of this program, and of those of its callees."""
        callees = self.inference.callees
        inferences = [self.inference, *(callees.inferences if callees is not None else ())]
        return tuple(x for each in inferences for x in attrgetter(what)(each))


def _joint_ir(form: Form, strong: bool, known: Understood) -> Made:
    inference, shape, params = known.inference, known.shape, known.params
    leaves = known.prologue.leaves()
    shared = form != "apart" and any(map(holds_references, known.types))
    if form in CUT and (inference.commits or shared):
        raise Refused("a pullback of a program with effects, or with respect to what holds objects or lists")
    returned = [x for p in shape.exit.params for site in sites_in(inference.type_of(p)) for x in reached(site)]
    if form in ("split", "apart") and inference.locks:
        raise Refused("a lock, in a part of a carried program")
    if form == "apart" and any(site.given for site in returned):
        raise Refused("what was given is given back")
    sources = [*params, *leaves]
    with known.located():
        aim, _ = aimed(inference.type_of(shape.exit.params[0]), form in WITH_AUX)
        needs = needed(inference.program, shape, sources)
        known.clock("activity")
        builder, last, found, value, table, assigned = joint_pass(
            inference.program, shape, sources, needs, RUNTIME | {"strong": strong}, CUT.get(form), leaves, aim
        )
    primal = builder.blocks[: len(shape.ir.blocks)]
    own = list(statements_of(primal))
    small = only_numbers(inference)
    chooses = any(_chooses(s) for s in inference.plans)
    doubtful = chooses or may_be_undefined(inference, primal, small)
    if doubtful:
        whole = [(inference.types[p], found[p]) for p in params if p in found and not holds_objects(inference.types[p])]
        if not (strong or small or chooses or aim) and form not in CUT and value_tells(primal, value):
            refuse_nan_if_infinite(builder, last, value, whole)
        else:
            last = refuse_nan(builder, last, whole)
    if form == "split":
        grads = [found[p] if p in needs else Constant(None) for p in params]
    else:
        grads = Forms(builder, last, inference, table).gradients(params, found, leaves)
        if doubtful:
            objects = [g for p, g in zip(params, grads) if holds_objects(inference.types[p])]
            refuse_nan_in_objects(builder, last, objects)
    result: Operand = builder.emit(last, "build_tuple", *grads)
    if form in ("value", "value_aux"):
        result = builder.emit(last, "build_tuple", value, result)
    arrays = [owner for owner, *_ in inference.commits if isinstance(inference.type_of(owner), Array)]
    if arrays and (aim or any(map(holds_objects, known.types))):
        raise Refused("an array is changed in place, and objects are given, or has_aux")
    result = act(builder, last, inference, result)
    finish(builder, last, assigned)
    last.terminator = Terminator("return", [result])
    made = known.made(builder, own, polished=form != "split" and not strong)
    watch_factors(made.ir)
    verify(made.ir)
    return made


def finish(builder: Builder, last: Block, assigned: Iterable[Statement]) -> None:
    """Do outside what the program has come to."""
    for s in assigned:
        builder.emit(last, s.op, *s.operands, data=s.data, result=False, position=s.position)


def _chooses(s: Statement) -> bool:
    """Whether a statement gives a zero cotangent to what it does not choose."""
    return s.callee is min or s.callee is max


def _names(call: Call) -> list[str | None]:
    """The names of the parameters that the arguments are bound to, as far as each has one of its own."""
    code = call.function.__code__
    first = call.shape.leading + (type(call.function) is MethodType)
    names = dict(enumerate(code.co_varnames[: code.co_argcount][first:]))
    return [names.get(place) for place in call.shape.places()]


def _join_prologue(prologue: Prologue, blocks: list[Block], mapping: dict[Variable, Variable]) -> None:
    first = blocks[0]
    first.params = [p for p in first.params if p in mapping]
    args: list[Operand] = [mapping[p] for p in first.params]
    prologue.block.terminator = Terminator("jump", [], [Edge(first, args)])
    for param in mapping:
        if param not in first.params:
            first.params.append(param)
            args.append(mapping[param])
    prologue.block.terminator.edges[0].args = args


class _Clock:
    def __init__(self, times: dict[str, float]) -> None:
        self.times, self.last = times, time.perf_counter()

    def __call__(self, stage: str) -> None:
        now = time.perf_counter()
        self.times[stage] = now - self.last
        self.last = now


def act(builder: Builder, out: Block, inference: Inference, result: Operand) -> Operand:
    """What can be seen from outside comes last; what is said first, because it may fail. Returns the result."""
    if inference.said:
        said = builder.emit(out, "build_list", *inference.said)
        builder.emit(out, "call", Constant(say), said, data=(), result=False)
    for owner, name, kept in inference.commits:
        if isinstance(inference.type_of(owner), Array):
            result = builder.emit(out, "call", Constant(RUNTIME["rewritten"]), owner, kept, result, data=())
        elif name is None:
            builder.emit(out, "call", Constant(RUNTIME["refill"]), owner, kept, data=(), result=False)
        elif isinstance(owner, Constant) and type(owner.value) is dict:
            builder.emit(out, "setitem", owner, Constant(name), kept, result=False)
        elif isinstance(kind := inference.type_of(owner), Outside) and not assigns_plainly(kind.cls):
            # What its class does besides has been followed.
            assign = Constant(object.__setattr__)
            builder.emit(out, "call", assign, owner, Constant(name), kept, data=(), result=False)
        else:
            builder.emit(out, "setattr", owner, kept, data=name, result=False)
    return result
