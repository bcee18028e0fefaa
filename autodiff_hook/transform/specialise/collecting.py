"""Generators that call themselves: a function with a program of its own makes a list of their items.

So the generator runs to its end before the first item is used. That is the same if it changes nothing, if what uses the
items asks for all of them, and changes nothing meanwhile that the generator reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FunctionType
from typing import Any, Final

from autodiff_hook.ir.analysis import closure, places_of, successors
from autodiff_hook.ir.types import Args, Block, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.semantics.equivalents import iterating
from autodiff_hook.transform.specialise.abstract import Abstract, Closure, Reference, Site
from autodiff_hook.transform.specialise.bodies import Refused, bind, made_before
from autodiff_hook.transform.specialise.infer import COLLECTED, Inference
from autodiff_hook.transform.specialise.invariants import sites_changed
from autodiff_hook.transform.specialise.lattice import built_class, reached, sites_in
from autodiff_hook.transform.specialise.program import LOAD, STORE, Alias, OwnPlan, Program
from autodiff_hook.transform.specialise.world import bind_to

COLLECTING: Final[Any] = iterating.collected.__code__
_PASSED_ON: Final = (enumerate,)
"""What gives an item for each that it asks for."""
Names = set[tuple[Site, Any]]
"""Where lists, dicts and objects come from, each with the name of an item or an attribute, or None for all of them."""


def begin(
    inf: Inference, s: Statement, function: FunctionType | Closure, args: Args, kwargs: Kwargs
) -> Abstract | None:
    """A call of a generator that calls itself, from outside or within; None for other generators."""
    code = function.code if isinstance(function, Closure) else function.__code__
    if (COLLECTED, id(code)) not in inf.program.changed or inf.chains[inf.block][-1] is COLLECTING:
        return None
    called: Operand = Constant(function)
    if isinstance(function, Closure):
        called = Variable()
        inf.types[called] = function
    args, kwargs = _by_place(inf, function, code, args, kwargs)
    operands = [Constant(iterating.collected), called, *args, *kwargs.values()]
    made = Statement("call", operands, Variable(), tuple(kwargs), s.position)
    s.op, s.operands, s.data = "get_iter", [made.made], None
    s.result = s.result or Variable()
    inf.collected.append(s)
    return inf.first(made)


def _by_place(
    inf: Inference, function: FunctionType | Closure, code: CodeType, args: Args, kwargs: Kwargs
) -> tuple[Args, Kwargs]:
    """The arguments of a call, all in their places with the defaults, where that is possible: in one form."""
    if code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        return args, kwargs
    if isinstance(function, Closure):
        bound = bind(code, args, kwargs, function.defaults, None, made_before)
    else:
        bound = bind_to(inf.world, function, args, kwargs)
    return bound.values, {}  # type: ignore[return-value]


def confirm(programs: Iterable[Inference]) -> None:
    """``Refused`` if it makes a difference that a generator runs to its end at once."""
    for inf in programs:
        homes = places_of(inf.program.blocks)
        for s in [s for s in inf.collected if s in homes]:
            _confirm(inf, s, homes)


def _confirm(inf: Inference, s: Statement, homes: dict[Statement, Block]) -> None:
    made = next(x for x in homes if x.result is s.operands[0])
    plan = inf.plans.get(made)
    if not isinstance(plan, OwnPlan) or plan.lower.callee is None:
        raise Refused("a recursive generator that has no program of its own")
    callees = closure([plan.lower.callee], type(plan.lower.callee).calls)
    read = {x for callee in callees for x in _read(callee.inference.program)}
    given = {x for callee in callees for kind in _kinds(callee) for site in sites_in(kind) for x in reached(site)}
    if given & {site.root() for site in plan.changed}:
        raise Refused("a recursive generator that changes what it is given")
    read = {(site, name) for site, name in read if site in given}
    for change in _meanwhile(inf, s, homes):
        changed = _changed(change, inf.program)
        if any(a is b and (None in (n, m) or n == m) for a, n in changed for b, m in read):
            raise Refused("what a recursive generator reads is changed while it runs")


def _kinds(callee: Any) -> list[Abstract]:
    """What is known of all that a function is given or loads."""
    return [*callee.kinds, *map(callee.inference.type_of, callee.loaded)]


def _meanwhile(inf: Inference, s: Statement, homes: dict[Statement, Block]) -> list[Statement]:
    """What is done between the call of a generator and its end; ``Refused`` if that may not be come to."""
    home, names = homes[s], _names(inf, s.made, homes)
    headers = [b for b in inf.program.blocks if b.terminator.kind == "next" and b.terminator.operands[0] in names]
    if not headers:
        raise Refused("a recursive generator that is not iterated over")
    ends = [header.terminator.edges[1].target for header in headers]

    def going_on(block: Block) -> list[Block]:
        following = successors(block)
        return following[:1] if block in headers else [x for x in following if x is not home]

    region = closure([home], going_on)
    incoming: dict[Block, list[Block]] = {}
    for block in region:
        for after in going_on(block):
            incoming.setdefault(after, []).append(block)
    running = closure(headers, lambda block: incoming.get(block, ()))
    # Blocks without successors give the program up.
    if any(x not in running and going_on(x) or x.terminator.kind == "return" for x in region) or set(ends) & {home}:
        raise Refused("a recursive generator that is left before its end")
    behind = home.statements[home.statements.index(s) + 1 :]
    return behind + [x for block in region if block is not home for x in block.statements]


def _names(inf: Inference, made: Variable, homes: dict[Statement, Block]) -> set[Operand]:
    """The names of an iterator, and of those that ask it for each of their items."""
    names: set[Operand] = {made}
    for _ in range(2):
        for x in homes:
            if names.isdisjoint(x.operands):
                continue
            if isinstance(inf.plans.get(x), Alias):
                names |= {x.made} if inf.final(x.made) in names else set()
            elif x.op == "get_iter" or x.callee in _PASSED_ON:
                names.add(x.made)
            else:
                raise Refused("a recursive generator that is given away")
    if any(not names.isdisjoint(edge.args) for block in inf.program.blocks for edge in block.edges()):
        raise Refused("a recursive generator that comes by several ways")
    return names


def _read(program: Program) -> Names:
    """What a program reads of lists, dicts and objects."""
    found: Names = set()
    for block in program.blocks:
        for s in block.statements:
            for operand in s.operands:
                kind = program.type_of(operand)
                if not isinstance(kind, Reference):
                    continue
                if program.plans.get(s) == LOAD:
                    found.add((kind.site.root(), _name(s, program)))
                elif built_class(kind) is None:
                    found.add((kind.site.root(), None))
    return found


def _changed(s: Statement, program: Program) -> Names:
    name = _name(s, program) if program.plans.get(s) == STORE else None
    return {(site.root(), name) for site in sites_changed(s, program)}


def _name(s: Statement, program: Program) -> Any:
    """By which name a statement reads or assigns an attribute."""
    if s in program.slots:
        return program.slots[s][1]
    return s.data if s.op in ("getattr", "setattr") else None
