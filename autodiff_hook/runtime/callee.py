"""A function with a program of its own, understood for what it is given: its two halves.

They are finished when the first is called.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

from autodiff_hook.collecting import uncollected
from autodiff_hook.emit import emit
from autodiff_hook.ir.analysis import closure, statements_of
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Signature, Statement, Terminator, Variable
from autodiff_hook.ir.verifier import verify
from autodiff_hook.runtime.finishing import SHARES, simplified, small_of
from autodiff_hook.runtime.recording import Question, Recorded, asked_again
from autodiff_hook.runtime.specialised_runtime import RUNTIME
from autodiff_hook.transform.improve.plain import PLAIN
from autodiff_hook.transform.lazy import lazy
from autodiff_hook.transform.specialise.abstract import ANY, Abstract, Array, Number, Outside, Reference, Site, Tuple
from autodiff_hook.transform.specialise.activity import needed
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.cut import cut
from autodiff_hook.transform.specialise.folding import merge
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.joint import joint_pass
from autodiff_hook.transform.specialise.joint_primal import Split
from autodiff_hook.transform.specialise.lattice import content_of, is_none, is_number_of, reached, sites_in
from autodiff_hook.transform.specialise.prepare import Shape, prepare
from autodiff_hook.transform.specialise.program import APPEND, DROP, STORE, OwnPlan
from autodiff_hook.transform.specialise.taking_apart import Built, Call, ask_for_references, general
from autodiff_hook.transform.specialise.world import World

if TYPE_CHECKING:
    from autodiff_hook.runtime.callees import Callees


class Halves:
    """``forward(loaded and given) -> (value, residuals)``, ``reverse(residuals, cotangent) -> cotangents``.

    They live as long as what calls them: the collector does not look into code, so it would not find who holds whom.
    """

    def __init__(self, forward: FunctionType, reverse: FunctionType) -> None:
        self.forward, self.reverse = forward, reverse
        self.finish: Callable[[], None] | None = None
        """What gives them their code."""
        forward.__dict__["halves"] = self


class Callee:
    """A function understood for what it is given."""

    def __init__(self, callees: Callees, call: Call, kinds: tuple[Abstract, ...]) -> None:
        self.callees, self.call, self.kinds = callees, call, kinds
        self.halves = WeakValueDictionary[tuple[Any, ...], Halves]()
        self.inference: Inference
        self.shape: Shape
        self.params: list[Variable]
        self.loaded: list[Variable]
        self.questions: list[Question] = []
        self.result: Abstract | None = None
        self.state: list[tuple[Any, ...]] = []
        """What was known of the lists, dicts and objects that it has to do with."""
        self.settled = False

    def follow(self, outer: Inference, operands: list[Operand]) -> None:
        """Interpret the function."""
        types: dict[Variable, Abstract] = {}
        inner = self.inference = Inference(outer.world, outer.evaluate, types, outer.program.changed)
        inner.callees, inner.give = self.callees, self._give
        inner.around = (*outer.around, *outer.chains[outer.block])
        self.params = [Variable() for _ in self.kinds]
        built = Built(inner, self.params)
        world = Recorded(outer, self._given(outer, operands), types, self.call.recursive)
        inner.world = cast(World, world)
        given = {p: replace(x, at=p) if isinstance(x, Outside) else x for p, x in zip(self.params, self.kinds)}
        types.update(given)
        function, values, _ = self.call
        if function.what == "known":
            (f,) = function.known
            inner.world.function(f)
            inner.run(f.__code__, f.__globals__, f.__closure__, given, built.parameters(values))
        else:
            made = built.function(function)
            bound = built.parameters(values)
            inner.interpret(made.code, made.globals, given, bound, list(made.cells))
        self.questions, self.loaded = world.questions, world.loaded
        if self.result is None:
            raise Refused("a function that may not return a value")
        self.state = _state_of(types.values())

    def _give(self, value: Operand) -> None:
        """One more value is returned: numbers, arrays, lists, dicts, objects, tuples of them, or nothing."""
        inner = self.inference
        kind = inner.type_of(value)
        ask_for_references(inner, kind)
        kind = kind if is_none(kind) else general(kind)
        self.result = kind if self.result is None else inner.joined(self.result, kind)
        if not _is_given(self.result):
            raise Refused("a function that returns something else than numbers, arrays, lists, dicts or objects")

    @property
    def shares(self) -> bool:
        """Whether lists, dicts or objects go in or out."""
        loaded = map(self.inference.types.__getitem__, self.loaded)
        return any(map(sites_in, [*self.kinds, *loaded, self.result or ANY]))

    def rests(self) -> bool:
        """Whether what it is made for is what is known now."""
        roots = [site.root() for site, *_ in self.state]
        return len(set(roots)) == len(roots) and all(_is_as_before(*known) for known in self.state)

    def calls(self) -> list[Callee]:
        """What it calls by programs of their own."""
        plans = self.inference.plans.values()
        found = [plan.lower.callee for plan in plans if isinstance(plan, OwnPlan)]
        return [callee for callee in found if callee is not None]

    @lazy
    def changed(self) -> set[Site]:
        """Where the lists, dicts and objects come from that it changes, itself or by what it calls."""
        programs = [callee.inference.program for callee in closure([self], Callee.calls)]
        owners = [s.operands[0] for p in programs for s, plan in p.plans.items() if plan in (APPEND, DROP, STORE)]
        kinds = [p.type_of(x) for p in programs for x in owners]
        return {kind.site.root() for kind in kinds if isinstance(kind, Reference)}

    def settle(self) -> None:
        """Bring the program into shape, of which nothing is assumed any more."""
        inner, self.settled = self.inference, True
        if self.shares:
            inner.program.lent = [*self.kinds, *map(inner.type_of, self.loaded), self.result or ANY]
        self.shape = prepare(inner)
        # All has been asked; who called it may go.
        del inner.world
        if inner.acts:
            raise Refused("a call of what has effects")
        if inner.once:
            raise Refused("a call of what has only first derivatives here")

    def _given(self, outer: Inference, operands: list[Operand]) -> dict[Variable, Operand]:
        """The parameters that are objects from outside, whose parts are loaded on entry."""
        outside = (isinstance(kind, Outside) for kind in self.kinds)
        return {p: outer.final(x) for p, x, is_outside in zip(self.params, operands, outside) if is_outside}

    def load(self, outer: Inference, operands: list[Operand]) -> list[Operand] | None:
        """What a program that calls it has to load for it; None if that is something else there."""
        found = asked_again(self.questions, outer, self._given(outer, operands))
        return None if found is None else [found[x] for x in self.loaded]

    def program(self, active: tuple[bool, ...], strong: bool) -> Halves:
        """The two halves, with cotangents of those that are ``active`` of what is loaded and given."""
        key = active, strong
        with _BUILDING:
            halves = self.halves.get(key)
            if halves is None:
                self.halves[key] = halves = Halves(self._empty(), self._empty())
                if self.shares:
                    halves.reverse.__dict__[SHARES] = True
                if self.result is not None and is_number_of(self.result, {float}):
                    halves.reverse.__dict__[PLAIN] = True
                try:
                    self._build(halves, active, strong)
                except BaseException:
                    # Others that were made meanwhile may call these.
                    for callee in (self, *self.callees.found.values()):
                        callee.halves.clear()
                    raise
            return halves

    def certain(self, active: tuple[bool, ...]) -> list[bool]:
        """Which cotangents are numbers."""
        types = self.inference.types
        return [x and isinstance(types[v], Number) for x, v in zip(active, [*self.loaded, *self.params])]

    def _empty(self) -> FunctionType:
        """A function whose code is not known yet: it may be called in its own."""
        code, globals_ = self.source()
        made = FunctionType(_nothing.__code__, globals_, code.co_name)
        made.__qualname__ = code.co_qualname
        return made

    def source(self) -> tuple[CodeType, dict[str, Any]]:
        """The code of the function, and its globals."""
        known = self.call.function.known
        return (known[0].__code__, known[0].__globals__) if self.call.function.what == "known" else known[:2]

    def irs(self, active: tuple[bool, ...], strong: bool) -> tuple[IR, IR]:
        """The two halves as IR."""
        return self._halved(*self._joint(active, strong), strong)

    def _joint(self, active: tuple[bool, ...], strong: bool) -> tuple[IR, set[Statement], list[Variable]]:
        """Primal and adjoint, the statements of the primal, what is shared: whatever is refused is refused here."""
        inner, shape, taken = self.inference, self.shape, [*self.loaded, *self.params]
        sources = [x for x, is_active in zip(taken, active) if is_active]
        lent = [x for x in sources if sites_in(inner.types[x])]
        needs = needed(inner.program, shape, sources, lent)
        split: Split = "shared" if self.shares else "anything"
        joint = joint_pass(inner.program, shape, sources, needs, RUNTIME | {"strong": strong}, split, lent)
        own = set(statements_of(joint.builder.blocks[: len(shape.ir.blocks)]))
        absent = [Constant(0.0 if sure else None) for sure in self.certain(active)]
        cotangents = [joint.cotangents[x] if x in needs else none for x, none in zip(taken, absent)]
        result = joint.builder.emit(joint.last, "build_tuple", *cotangents)
        joint.last.terminator = Terminator("return", [result])
        blocks = joint.builder.finish()
        merge(blocks)
        code = self.source()[0]
        names = tuple(f"x{i}" for i in range(len(taken)))
        ir = IR(code.co_name, Signature(names, len(names)), code.co_qualname, code.co_filename, code.co_firstlineno)
        ir.blocks = blocks
        shared = [joint.table] if self.shares else []
        blocks[0].params = [*taken, *shared]
        return ir, own, shared

    def _halved(self, ir: IR, own: set[Statement], shared: list[Variable], strong: bool) -> tuple[IR, IR]:
        simplified(ir, self.inference, self.shape, ir.blocks, own, polished=not strong, guarded=False)
        ir.blocks[0].params = [*self.loaded, *self.params]
        return cut(ir, *shared)

    def _build(self, halves: Halves, active: tuple[bool, ...], strong: bool) -> None:
        """Let the halves be finished when the first is called: of all that may be called a run calls a part."""
        joint = [self._joint(active, strong)]

        def finish() -> None:
            found = joint.pop() if joint else self._joint(active, strong)
            forward, reverse = [self._emitted(half) for half in self._halved(*found, strong)]
            # The reverse half is first called when the other one has returned.
            halves.reverse.__code__ = reverse
            halves.forward.__code__ = forward

        halves.forward.__code__, halves.finish = _waiting(halves, joint[0][0]), finish

    def _emitted(self, half: IR) -> CodeType:
        verify(half)
        return emit(half, release=True, small=small_of(self.inference))


def _first_call(waiting: weakref.ref[Halves], *given: Any) -> Any:
    halves = waiting()
    assert halves is not None
    with _BUILDING, uncollected():
        if halves.finish is not None:
            halves.finish()
            halves.finish = None
    return halves.forward(*given)


def _waiting(halves: Halves, ir: IR) -> CodeType:
    """The code of a forward half that has yet to be finished, with the parameters of ``ir``."""
    params, result = [Variable() for _ in ir.signature.names], Variable()
    call = Statement("call", [Constant(_first_call), Constant(weakref.ref(halves)), *params], result, ())
    block = Block(params, [call], Terminator("return", [result]))
    return emit(replace(ir, blocks=[block]))


def _nothing() -> None:
    raise NotImplementedError


_BUILDING = threading.RLock()


def _begin_anew() -> None:
    """In a child process nobody finishes what other threads were at."""
    global _BUILDING
    _BUILDING = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def _is_given(kind: Abstract) -> bool:
    """Whether a function with a program of its own may return such a value."""
    if isinstance(kind, Tuple):
        return all(map(_is_given, kind.items))
    return isinstance(content_of(kind), Reference) or is_none(kind) or isinstance(kind, (Number, Array))


def _state_of(kinds: Iterable[Abstract]) -> list[tuple[Any, ...]]:
    """What is known of the lists, dicts and objects in some values."""
    roots = {root: None for kind in kinds for site in sites_in(kind) for root in reached(site)}
    return [(x, x.item, x.key, dict(x.named), x.cls, x.given, len(x.absent), len(x.examples)) for x in roots]


def _is_as_before(site: Site, *known: Any) -> bool:
    return (site.item, site.key, site.named, site.cls, site.given, len(site.absent), len(site.examples)) == known
