"""Calls of functions that have programs of their own: those that call themselves, and large ones of numbers.

Such a program is made for the types of what the function is given, in two halves, and stands in a typed program like a
rule: the forward half where the call is, the reverse half where the adjoint comes by. What it loads from outside is
loaded on the entry of the program that calls it. So it is made once, whoever calls it.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple, cast
from weakref import WeakValueDictionary

from autodiff_hook import config
from autodiff_hook.collecting import uncollected
from autodiff_hook.emit import emit
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Signature, Statement, Terminator, Variable
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift.lifting import shared
from autodiff_hook.registry import registry
from autodiff_hook.runtime.finishing import simplified, small_of
from autodiff_hook.runtime.recording import Question, Recorded, asked_again
from autodiff_hook.runtime.sharing import ByCode
from autodiff_hook.runtime.specialised_runtime import RUNTIME
from autodiff_hook.runtime.taking_apart import Built, Call, Form, Parts, general
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Closure, Number, Outside, Tuple
from autodiff_hook.transform.specialise.activity import needed
from autodiff_hook.transform.specialise.bodies import Changes, Refused, bind, made_before
from autodiff_hook.transform.specialise.calling import BODIES
from autodiff_hook.transform.specialise.cut import cut
from autodiff_hook.transform.specialise.folding import merge
from autodiff_hook.transform.specialise.infer import Inference, OwnPlan
from autodiff_hook.transform.specialise.joint import joint_pass
from autodiff_hook.transform.specialise.lattice import join
from autodiff_hook.transform.specialise.places import assigns
from autodiff_hook.transform.specialise.prepare import Shape, prepare
from autodiff_hook.transform.specialise.splice import Use
from autodiff_hook.transform.specialise.world import World, bind_to

LARGE: Final = 80
"""How many operations a function of numbers has, with what it calls, that gets a program of its own."""
_SUSPENDED: Final = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_ROUNDS: Final = 6
_CACHE_SIZE: Final = 512
_PROGRAMS: Final = 8
"""How many programs of one function are kept, for other types."""


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
        self.questions: list[Question]
        self.result: Abstract

    def follow(self, outer: Inference, operands: list[Operand]) -> None:
        """Interpret the function."""
        types: dict[Variable, Abstract] = {}
        inner = self.inference = Inference(outer.world, outer.evaluate, types, outer.program.changed)
        inner.callees = self.callees
        built = Built(inner, self.kinds)
        self.params = built.params
        world = Recorded(outer, self._given(outer, operands), types)
        inner.world = cast(World, world)
        types.update(built.types)
        function, values = self.call
        if function.what == "known":
            (f,) = function.known
            inner.world.function(f)
            inner.run(f.__code__, f.__globals__, f.__closure__, built.types, built.parameters(values))
        else:
            made = built.function(function)
            bound = built.parameters(values)
            inner.interpret(made.code, made.globals, built.types, bound, list(made.cells))
        self.questions, self.loaded = world.questions, world.loaded
        self.result = _returned(inner)

    def settle(self) -> None:
        """Bring the program into shape, of which nothing is assumed any more."""
        inner = self.inference
        self.shape = prepare(inner)
        # All has been asked; who called it may go.
        del inner.world
        if inner.warnings or inner.commits or inner.quiet or inner.strict:
            raise Refused("a call of what has effects")

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

    def _joint(self, active: tuple[bool, ...], strong: bool) -> tuple[IR, set[Statement]]:
        """Primal and adjoint, and the statements of the primal: whatever is refused is refused here."""
        inner, shape, taken = self.inference, self.shape, [*self.loaded, *self.params]
        sources = [x for x, is_active in zip(taken, active) if is_active]
        needs = needed(inner.program, shape, sources)
        joint = joint_pass(inner.program, shape, sources, needs, RUNTIME | {"strong": strong}, "anything")
        own = {s for block in joint.builder.blocks[: len(shape.ir.blocks)] for s in block.statements}
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
        blocks[0].params = list(taken)
        return ir, own

    def _halved(self, ir: IR, own: set[Statement], strong: bool) -> tuple[IR, IR]:
        taken = list(ir.blocks[0].params)
        simplified(ir, self.inference, self.shape, ir.blocks, own, polished=not strong, guarded=False)
        ir.blocks[0].params = taken
        return cut(ir)

    def _build(self, halves: Halves, active: tuple[bool, ...], strong: bool) -> None:
        """Let the halves be finished when the first is called: of all that may be called a run calls a part."""
        joint = [self._joint(active, strong)]

        def finish() -> None:
            ir, own = joint.pop() if joint else self._joint(active, strong)
            forward, reverse = [self._emitted(half) for half in self._halved(ir, own, strong)]
            # The reverse half is first called when the other one has returned.
            halves.reverse.__code__ = reverse
            halves.forward.__code__ = forward

        halves.forward.__code__, halves.finish = _waiting(halves, joint[0][0]), finish

    def _emitted(self, half: IR) -> CodeType:
        verify(half)
        return emit(half, release=True, small=small_of(self.inference))


class _Unfolding(Changes):
    """A function calls itself with tuples of another form."""

    def __init__(self, function: Any) -> None:
        super().__init__("tuples of another form")
        self.function = function


def _tuples(kinds: tuple[Abstract, ...]) -> list[Abstract]:
    return [kind for kind in kinds if isinstance(kind, Tuple)]


class _Unknown(Refused):
    """What a function returns that calls itself is not known yet."""


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
_shared: Final[ByCode[list[Callee]]] = ByCode(_CACHE_SIZE)


def _begin_anew() -> None:
    """In a child process nobody finishes what other threads were at."""
    global _BUILDING
    _BUILDING = threading.RLock()
    _shared.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


class OwnCall:
    """What a statement calls that calls a function by a program of its own."""

    def __init__(self, call: Call) -> None:
        self.call = call


class Callees:
    """The functions that a program calls by programs of their own."""

    def __init__(self) -> None:
        self.found: dict[tuple[Any, ...], Callee] = {}
        self.open: dict[tuple[Any, ...], Callee | None] = {}
        """Those that are being interpreted, as far as they are known."""
        self.asked: set[tuple[Any, ...]] = set()
        """Those of which something has been assumed by the innermost one that is open."""
        self.assumed: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {}
        """The same of those that are found, by their keys."""
        self.failed: set[tuple[Any, ...]] = set()
        self.sizes: dict[int, int] = {}

    @property
    def inferences(self) -> list[Inference]:
        """What is known of these programs."""
        return [callee.inference for callee in self.found.values()]

    def halves(self) -> list[IR]:
        """The halves that are called, as IR."""
        return [half for callee in self.found.values() for key in list(callee.halves) for half in callee.irs(*key)]

    def place(
        self, inf: Inference, s: Statement, function: FunctionType | Closure, args: list[Operand], kwargs: Any
    ) -> Abstract | None:
        """Call a function by a program of its own, if it is to have one; None if it is not."""
        code = function.code if isinstance(function, Closure) else function.__code__
        globals_ = function.globals if isinstance(function, Closure) else function.__globals__
        assert inf.block is not None
        recursive = any(code is x for x in inf.chains[inf.block])
        if s.result is None or code.co_flags & _SUSPENDED or assigns(inf):
            return None
        if not recursive and self.size(inf, code, globals_) < LARGE:
            return None
        before = s.op, s.operands, s.data
        try:
            parts = Parts(inf, s)
            if isinstance(function, Closure):
                form = parts.closure(function)
                bound = bind(code, args, kwargs, function.defaults, None, made_before)
            else:
                form, bound = Form("known", (function,)), bind_to(inf.world, function, args, kwargs)
            call = Call(form, parts.parameters(bound))
            if not recursive:
                _require_numbers(inf.type_of(x) for x in parts.operands)
            s.op, s.operands, s.data = "call", [Constant(OwnCall(call)), *parts.operands], ()
            return self.call(inf, s, call, parts.operands)
        except (Changes, _Unknown):
            raise
        except Refused:
            s.op, s.operands, s.data = before
            return None

    def call(self, inf: Inference, s: Statement, call: Call, operands: list[Operand]) -> Abstract:
        """The result of a call."""
        kinds = tuple(general(inf.type_of(x)) for x in operands)
        key = call.key(), kinds
        self._require_one_form(key)
        if key in self.failed:
            raise Refused("a call that has no program of its own")
        callee, loaded = self._known(inf, key, operands)
        if callee is None:
            try:
                callee, loaded = self._understood(inf, Callee(self, call, kinds), key, operands)
            except _Unfolding as unfolding:
                if unfolding.function != key[0][0]:
                    raise
                self.failed.add(key)
                raise Refused("a function that calls itself with tuples of another form") from None
            except (Changes, _Unknown):
                raise
            except Refused:
                self.failed.add(key)
                raise
        if loaded is None:
            raise Refused("what a function loads is something else where it is called")
        inf.plans[s] = OwnPlan(None, _variadic, [[*loaded, *operands]], lower=_Lowering(self, key))
        return callee.result

    def _require_one_form(self, key: tuple[Any, ...]) -> None:
        """A function that takes tuples apart by calling itself is followed as deep as these are, not by programs."""
        for other, kinds in self.open:
            if other[0] == key[0][0] and _tuples(kinds) != _tuples(key[1]):
                raise _Unfolding(other[0])

    def _known(
        self, inf: Inference, key: tuple[Any, ...], operands: list[Operand]
    ) -> tuple[Callee | None, list[Operand] | None]:
        if key in self.open:
            self.asked.add(key)
            callee = self.open[key]
            if callee is None:
                raise _Unknown("a call within a call, whose result is not known so far")
            return callee, callee.load(inf, operands)
        if key in self.found:
            self.asked |= self.assumed.get(key, set())
            return self.found[key], self.found[key].load(inf, operands)
        return None, None

    def _understood(
        self, inf: Inference, callee: Callee, key: tuple[Any, ...], operands: list[Operand]
    ) -> tuple[Callee, list[Operand] | None]:
        """A function interpreted, again and again if it calls itself, until its result is known."""
        code = callee.source()[0]
        for other in _shared.found.get(id(code), ()):
            if (other.call.key(), other.kinds) == key:
                loaded = other.load(inf, operands)
                if loaded is not None:
                    self.found[key] = other
                    return other, loaded
        before: Callee | None = None
        around, self.asked = self.asked, set()
        try:
            for _ in range(_ROUNDS):
                self.open[key] = before
                self.asked.discard(key)
                self._forget_what_assumed(key)
                callee.follow(inf, operands)
                if key not in self.asked or before is not None and _is_same(before, callee):
                    break
                if before is not None:
                    callee.result = join(before.result, callee.result)
                before, callee = callee, Callee(self, callee.call, callee.kinds)
            else:
                raise Refused("what a function returns that calls itself does not come to rest")
        finally:
            del self.open[key]
            asked = self.asked - {key}
            self.asked = around | asked
        if before is None:
            _require_numbers(callee.inference.types.values())
        callee.settle()
        self.found[key], self.assumed[key] = callee, asked
        if not self.open:
            _share(code, callee)
        return callee, callee.load(inf, operands)

    def _forget_what_assumed(self, key: tuple[Any, ...]) -> None:
        """Forget the functions that were interpreted with what was assumed of this one."""
        for other in [x for x, assumed in self.assumed.items() if key in assumed]:
            if self.assumed.pop(other, None) is not None:
                del self.found[other]
                self._forget_what_assumed(other)

    def size(self, inf: Inference, code: CodeType, globals_: dict[str, Any]) -> int:
        """How many operations a function has, with those that it calls by name."""
        # By identity: code with slices among its constants, as emitted code has, cannot be hashed.
        key = id(code)
        if key not in self.sizes:
            self.sizes[key] = 0
            ir = shared(code)
            if isinstance(ir, Unsupported):
                return 0
            named = [globals_.get(name) for name in code.co_names]
            called = [f for f in named if type(f) is FunctionType and inf.world.in_scope(f)]
            own = sum(len(block.statements) + 1 for block in ir.blocks)
            self.sizes[key] = own + sum(self.size(inf, f.__code__, f.__globals__) for f in called)
        return self.sizes[key]


class _Lowering(NamedTuple):
    """How a call is lowered once it is known of what there are cotangents."""

    callees: Callees
    key: tuple[Any, ...]

    def __call__(self, plan: OwnPlan, s: Statement, needs: set[Variable], strong: bool) -> Use:
        (operands,) = plan.values
        assert isinstance(operands, list)
        callee, wanted = self.callees.found[self.key], s.made in needs
        active = tuple(wanted and isinstance(x, Variable) and x in needs for x in operands)
        halves = callee.program(active, strong)
        whole, pair, residuals = Variable(), Variable("pair"), Variable("residuals")
        statements = [
            Statement("call", [Constant(halves.forward), *operands], pair, ()),
            Statement("unpack", [pair], whole, (2, None)),
            Statement("project", [whole], s.made, 0),
            Statement("project", [whole], residuals, 1),
        ]
        sure = callee.certain(active)
        return Use(operands, statements, called=residuals, reverse=halves.reverse, sure=sure)


def _variadic(*args: Any) -> Any:
    """Stands for the rule of a function with a program of its own."""


def _returned(inner: Inference) -> Abstract:
    """What a function returns: numbers, arrays, and tuples of them."""
    blocks = [b for b in inner.program.blocks if b.terminator.kind == "return"]
    if not blocks or inner.returns_none:
        raise Refused("a function that may not return a value")
    kinds = [inner.type_of(b.terminator.operands[0]) for b in blocks]
    result = general(reduce(join, kinds))
    if not _is_made_of_numbers(result):
        raise Refused("a function that returns something else than numbers and arrays")
    return result


def _require_numbers(kinds: Iterable[Abstract]) -> None:
    """Arrays are faster where the program around knows their shapes."""
    if any(isinstance(kind, Array) for kind in kinds):
        raise Refused("a large function of arrays")


def _is_made_of_numbers(kind: Abstract) -> bool:
    if isinstance(kind, Tuple):
        return all(map(_is_made_of_numbers, kind.items))
    return isinstance(kind, (Number, Array))


def _is_same(before: Callee, after: Callee) -> bool:
    """Whether what was assumed of a function that calls itself is what it is."""
    asked = [(q.name, q.kind) for q in before.questions] == [(q.name, q.kind) for q in after.questions]
    return asked and before.result == after.result


def _share(code: CodeType, callee: Callee) -> None:
    kept = [callee, *_shared.found.get(id(code), ())]
    _shared.put(code, kept[:_PROGRAMS])


def _called(inf: Inference, s: Statement, called: Any, args: list[Operand]) -> Abstract:
    """A call that has been placed before, looked at again because more is known of its operands."""
    assert inf.callees is not None
    return inf.callees.call(inf, s, called.call, args)


BODIES[OwnCall] = _called
registry.when_changed(_shared.clear)
config.when_changed(_shared.clear)
