"""Calls of functions that have programs of their own: those that call themselves, and large ones of numbers.

Such a program is made for the types of what the function is given, in two halves, and stands in a typed program like a
rule: the forward half where the call is, the reverse half where the adjoint comes by. What it loads from outside is
loaded on the entry of the program that calls it. So it is made once, whoever calls it; but what is given lists, dicts
or objects knows of these what the program around knows, so it belongs to that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple

from autodiff_hook import config
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.analysis import closure
from autodiff_hook.ir.types import IR, Args, Constant, Operand, Statement, Variable
from autodiff_hook.lift.lifting import shared
from autodiff_hook.registry import registry
from autodiff_hook.runtime.arguments import common
from autodiff_hook.runtime.callee import Callee
from autodiff_hook.runtime.sharing import ByCode
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Closure,
    Optional,
    Outside,
    Reference,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Changes, Refused, bind, made_before
from autodiff_hook.transform.specialise.calling import BODIES
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import built_classes, content_of, sites_in
from autodiff_hook.transform.specialise.places import assigns, assigns_by_name
from autodiff_hook.transform.specialise.program import OwnPlan
from autodiff_hook.transform.specialise.splice import Use
from autodiff_hook.transform.specialise.taking_apart import Call, Form, Parts, general
from autodiff_hook.transform.specialise.world import bind_to

LARGE: Final = 80
"""How many operations a function of numbers has, with what it calls, that gets a program of its own."""
_SUSPENDED: Final = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_ROUNDS: Final = 6
_CACHE_SIZE: Final = 512
_PROGRAMS: Final = 8
"""How many programs of one function are kept, for other types."""


class _Unfolding(Changes):
    """A function calls itself with tuples of another form."""

    def __init__(self, function: Any) -> None:
        super().__init__("tuples of another form")
        self.function = function


def _form(kinds: Iterable[Abstract]) -> tuple[Any, ...]:
    """Which of some values are tuples, and of what form."""
    return tuple([_form(kind.items) if isinstance(kind, Tuple) else None for kind in map(content_of, kinds)])


class _Unknown(Refused):
    """What a function returns that calls itself is not known yet."""


_shared: Final[ByCode[list[Callee]]] = ByCode(_CACHE_SIZE)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shared.clear)


class OwnCall:
    """What a statement calls that calls a function by a program of its own; first it is given what that loads."""

    def __init__(self, call: Call, loads: int = 0) -> None:
        self.call, self.loads = call, loads


class Callees:
    """The functions that a program calls by programs of their own."""

    def __init__(self) -> None:
        self.tried = False
        """Whether a function was to have a program of its own."""
        self.sizes: dict[int, int] = {}
        self.begin()

    def begin(self) -> None:
        """Know nothing of the functions of a program that is followed again."""
        self.found: dict[tuple[Any, ...], Callee] = {}
        self.open: dict[tuple[Any, ...], Callee | None] = {}
        """Those that are being interpreted, as far as they are known."""
        self.asked: set[tuple[Any, ...]] = set()
        """Those of which something has been assumed by the innermost one that is open."""
        self.assumed: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {}
        """The same of those that are found, by their keys."""
        self.failed: set[tuple[Any, ...]] = set()
        self.before: dict[tuple[Any, ...], Callee] = {}
        """Those that are forgotten, of whose results something may be known elsewhere."""

    @property
    def inferences(self) -> list[Inference]:
        """What is known of these programs."""
        return [callee.inference for callee in self.found.values()]

    def halves(self) -> list[IR]:
        """The halves that are called, as IR."""
        return [half for callee in self.found.values() for key in list(callee.halves) for half in callee.irs(*key)]

    def place(
        self, inf: Inference, s: Statement, function: FunctionType | Closure, args: Args, kwargs: Any
    ) -> Abstract | None:
        """Call a function by a program of its own, if it is to have one; None if it is not."""
        code = function.code if isinstance(function, Closure) else function.__code__
        globals_ = function.globals if isinstance(function, Closure) else function.__globals__
        recursive = any(code is x for x in inf.chains[inf.block])
        if code.co_flags & _SUSPENDED or assigns(inf) and not (recursive and assigns_by_name(inf)):
            return None
        if not recursive and self.size(inf, code, globals_) < LARGE:
            return None
        before = s.op, s.operands, s.data
        try:
            parts = Parts(inf, s, asks=recursive)
            if isinstance(function, Closure):
                form = parts.closure(function)
                bound = bind(code, args, kwargs, function.defaults, function.keyword_defaults, made_before)
            else:
                form, bound = Form("known", (function,)), bind_to(inf.world, function, args, kwargs)
            self.tried = True
            call = Call(form, parts.parameters(bound), recursive)
            kinds = [inf.type_of(x) for x in parts.operands]
            if not recursive:
                _require_numbers(kinds)
                if any(map(sites_in, kinds)):
                    raise Refused("a large function of lists, dicts or objects")
            s.op, s.operands, s.data = "call", [Constant(OwnCall(call)), *parts.operands], ()
            s.result = s.result or Variable()
            return self.call(inf, s, call, parts.operands)
        except (Changes, _Unknown):
            raise
        except Refused:
            s.op, s.operands, s.data = before
            if recursive:
                _ask_for_any(inf, args)
            return None

    def call(self, inf: Inference, s: Statement, call: Call, operands: list[Operand]) -> Abstract:
        """The result of a call."""
        kinds = tuple(general(inf.type_of(x)) for x in operands)
        key = self._met(inf, ((*call.key(), *_assigned(inf, operands)), kinds))
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
        s.operands = [Constant(OwnCall(call, len(loaded))), *loaded, *operands]
        inf.plans[s] = OwnPlan(None, _variadic, [s.operands[1:]], lower=_Lowering(self, key))
        assert callee.result is not None
        return callee.result

    def _met(self, inf: Inference, key: tuple[Any, ...]) -> tuple[Any, ...]:
        """What a function is given that calls itself may be what it was given."""
        for other in self.open:
            if other[0] == key[0] and all(map(_is_alike, other[1], key[1])):
                for a, b in zip(other[1], key[1]):
                    inf.joined(a, b)
        return key

    def rests(self) -> bool:
        """Whether what these programs are made for is what is known now; if not, they are forgotten."""
        own = [(key, callee) for key, callee in self.found.items() if not callee.settled]
        # Two that were made for lists of several sites may be for the same by now.
        if self.open or len(dict(own)) == len(own) and all(callee.rests() for _, callee in own):
            return True
        self.before |= own
        for key, _ in own:
            self.assumed.pop(key, None)
        self.found = {
            key: callee for key, callee in self.found.items() if callee.callees is not self or not callee.state
        }
        return False

    def settle(self, inf: Inference) -> None:
        """Bring the programs into shape of which nothing is assumed any more."""
        if self.open:
            return
        waiting = [callee for callee in self.found.values() if not callee.settled]
        programs = [each.program for each in (inf, *(callee.inference for callee in waiting))]
        reads_keys = any(program.reads_keys for program in programs)
        for program in programs:
            program.reads_keys = reads_keys
        for callee in waiting:
            callee.settle()

    def _require_one_form(self, key: tuple[Any, ...]) -> None:
        """A function that takes tuples apart by calling itself is followed as deep as these are, not by programs."""
        for other, kinds in self.open:
            if other[0] == key[0][0] and _form(kinds) != _form(key[1]):
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
        before = self.before.get(key)
        around, self.asked = self.asked, set()
        try:
            for _ in range(_ROUNDS):
                self.open[key] = before
                self.asked.discard(key)
                self._forget_what_assumed(key)
                callee.result = None if before is None else before.result
                callee.follow(inf, operands)
                if key not in self.asked or before is not None and _is_same(before, callee):
                    break
                before, callee = callee, Callee(self, callee.call, callee.kinds)
            else:
                raise Refused("what a function returns that calls itself does not come to rest")
        finally:
            del self.open[key]
            asked = self.asked - {key}
            self.asked = around | asked
        if before is None:
            _require_numbers(callee.inference.types.values())
        self.found[key], self.assumed[key] = callee, asked
        if not any(x.shares for x in closure([callee], Callee.calls)):
            try:
                callee.settle()
            except Refused:
                del self.found[key], self.assumed[key]
                raise
        if not self.open and callee.settled:
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
    known: Callee | None = None
    """What is called by a function that other programs call as well."""

    @property
    def callee(self) -> Callee | None:
        """What is called, as far as it is known; None for calls that have turned out not to be made."""
        return self.known or self.callees.found.get(self.key) or self.callees.open.get(self.key)

    @property
    def shares(self) -> bool:
        """Whether lists, dicts or objects go in or out."""
        return self.callee is not None and self.callee.shares

    def changed(self) -> set[Site]:
        """Where the lists, dicts and objects come from that are changed."""
        return self.callee.changed if self.callee is not None and self.shares else set()

    def __call__(self, plan: OwnPlan, s: Statement, needs: set[Variable], strong: bool, table: Variable) -> Use:
        (operands,) = plan.values
        assert isinstance(operands, list)
        callee, wanted = self.callee, s.made in needs or bool(self.changed())
        assert callee is not None
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
        more: list[Operand] = [table] if callee.shares and any(active) else []
        return Use(operands, statements, called=residuals, reverse=halves.reverse, more=more, sure=sure)


def _variadic(*args: Any) -> Any:
    """Stands for the rule of a function with a program of its own."""


def _require_numbers(kinds: Iterable[Abstract]) -> None:
    """Arrays are faster where the program around knows their shapes."""
    if any(isinstance(kind, Array) for kind in kinds):
        raise Refused("a large function of arrays")


def _assigned(inf: Inference, operands: list[Operand]) -> list[int]:
    """The objects from outside, by their identity, of which some may be assigned and others not."""
    kinds = map(inf.type_of, operands) if assigns(inf) else ()
    return [id(kind.example) for kind in kinds if isinstance(kind, Outside)]


def _is_alike(a: Abstract, b: Abstract) -> bool:
    """Whether two values are of one kind, but for where their lists, dicts and objects come from."""
    if isinstance(a, Optional) and isinstance(b, Optional):
        return a.absent is b.absent and _is_alike(a.content, b.content)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        return all(map(_is_alike, a.items, b.items))
    if isinstance(a, Reference) and isinstance(b, Reference):
        alike = type(a) is type(b) and a.cls is b.cls and a.site.cls == b.site.cls  # type: ignore[attr-defined]
        return alike and built_classes(a) == built_classes(b)
    return a == b


def _ask_for_any(inf: Inference, args: Args) -> None:
    """Objects from outside are given to a function that calls itself: it is followed again with any of their kind."""
    found = [inf.type_of(x) for x in args]
    outside = {("outside", id(x.example)) for x in found if isinstance(x, Outside) and common([x.example]) is not None}
    if outside - inf.program.changed:
        raise Changes("an object from outside is one of many", *outside)


def _is_same(before: Callee, after: Callee) -> bool:
    """Whether what was assumed of a function that calls itself is what it is."""
    asked = [(q.name, q.kind) for q in before.questions] == [(q.name, q.kind) for q in after.questions]
    return asked and before.result == after.result and before.rests()


def _share(code: CodeType, callee: Callee) -> None:
    for each in closure([callee], Callee.calls):
        for plan in each.inference.plans.values():
            if isinstance(plan, OwnPlan):
                plan.lower = plan.lower._replace(known=plan.lower.callee)
    kept = [callee, *_shared.found.get(id(code), ())]
    _shared.put(code, kept[:_PROGRAMS])


def _called(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract:
    """A call that has been placed before, looked at again because more is known of its operands."""
    assert inf.callees is not None
    return inf.callees.call(inf, s, called.call, args[called.loads :])


BODIES[OwnCall] = _called
registry.when_changed(_shared.clear)
config.when_changed(_shared.clear)
