"""Which values need a cotangent: they depend on what is differentiated, and the result depends on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autodiff_hook.ir.analysis import bindings, statements_of
from autodiff_hook.ir.types import Operand, Statement, Variable, value_of
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    BOOL,
    INT,
    Abstract,
    Array,
    Dict,
    Instance,
    Iterator,
    List,
    Number,
    Reference,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import (
    content_of,
    differentiable,
    inert_class,
    is_set,
    leaves_in,
    reached,
    sites_in,
)
from autodiff_hook.transform.specialise.prepare import Shape
from autodiff_hook.transform.specialise.program import APPEND, ITEMS, LOAD, PURE, STORE, OwnPlan, Program, RulePlan
from autodiff_hook.transform.specialise.results import MOMENTS
from autodiff_hook.transform.specialise.spreading import Spread, flat, sources

_CHANGES = (APPEND, STORE)


def needed(program: Program, shape: Shape, params: list[Variable], lent: Iterable[Variable] = ()) -> set[Variable]:
    """The variables whose cotangents matter; those of what ``lent`` lists hold do anyway."""
    active = Spread(program, shape.ir.blocks, {p for p in params if differentiable(program.types[p])}).found()
    useful = _collect(program, shape, lent)
    result = active & useful
    # Who gets a dict may ask for its keys.
    given = {site for p in shape.exit.params for own in sites_in(program.types[p]) for site in reached(own)}
    reads_keys = program.reads_keys or any(site.key is not None for site in given)
    pinned = program.pinned
    if any(x in active and x in pinned and pinned[x] in program.shown for x in program.keyed):
        raise Refused("a key of a dict depends on what is differentiated")
    statements = list(statements_of(shape.ir.blocks))
    texts = [s for s in statements if program.plans.get(s) == PURE and s.result and _says(s.result, program)]
    writes = any(not active.isdisjoint(s.operands) for s in texts)
    if writes and any(s.result in pinned for s in texts):
        raise Refused("a text decides about the way, and one is written of what is differentiated")
    moments = [s for s in statements if program.plans.get(s) == PURE and _is_moment(s.result, program)]
    if any(not active.isdisjoint(s.operands) for s in moments):
        raise Refused("a date or a time is made of what is differentiated")
    for s in statements:
        iterates = isinstance(program.type_of(s.result), Iterator) if s.result is not None else False
        kind = None if s.result is None else program.type_of(s.result)
        begins = isinstance(kind, Reference) or s.result in shape.memory.stored
        if s.result in result and program.plans.get(s) == PURE and not iterates and not begins:
            raise Refused(f"{s.op} of what is differentiated", s)
        plan = program.plans.get(s)
        if s.result in useful and s.result not in active and _key_asked(s, program) in active:
            raise Refused("a dict is asked for a key that depends on what is differentiated", s)
        if reads_keys and any(x in active for x in _keys(s, program)):
            raise Refused("a key of a dict depends on what is differentiated", s)
        if isinstance(plan, RulePlan) and any(x in active for x in _options(plan)):
            raise Refused("an option of a call depends on what is differentiated", s)
        if writes and _reads(s, program):
            raise Refused("a number is read from a text, and a text is written of what is differentiated", s)
    return result


def _reads(s: Statement, program: Program) -> bool:
    """Whether a statement may make a number that is not whole of a text, or of several."""
    plan, kind = program.plans.get(s), ANY if s.result is None else program.type_of(s.result)
    if plan != PURE and not isinstance(plan, RulePlan) or not isinstance(kind, (Number, Array)):
        return False
    if kind in (INT, BOOL):
        return False
    given = list(map(program.type_of, s.operands))
    held = [site for x in given for own in sites_in(x) for site in reached(own)] if isinstance(plan, OwnPlan) else []
    return any(map(_holds_text, given)) or any(_holds_text(x) for site in held for x in site.kinds())


def _holds_text(kind: Abstract) -> bool:
    """Whether a value is a text that is not known, or is made of some."""
    leaves = leaves_in(kind)
    items = [x.site.item for x in leaves if isinstance(x, (List, Dict)) and x.site.item is not None]
    return any(isinstance(x, Instance) and x.cls is str for x in leaves) or any(map(_holds_text, items))


def _says(operand: Operand, program: Program) -> bool:
    """Whether an operand is a text that is made while the program runs, or an exception, of which one is made."""
    cls = inert_class(program.type_of(operand)) if isinstance(operand, Variable) else None
    return cls is not None and issubclass(cls, (str, BaseException))


def _is_moment(operand: Operand | None, program: Program) -> bool:
    return isinstance(operand, Variable) and inert_class(program.type_of(operand)) in MOMENTS


def _keys(s: Statement, program: Program) -> list[Operand]:
    """The keys that a statement puts into a dict or a set."""
    plan = program.plans.get(s)
    if s.result is not None and is_set(program.type_of(s.result)):
        return [x for x in s.operands if not _is_dict(program.type_of(x))]
    if plan == STORE and is_set(program.type_of(s.operands[0])):
        return [x for x in s.operands[1:] if not _is_dict(program.type_of(x))]
    if plan == ITEMS and s.op == "build_map":
        return s.operands[::2]
    return s.operands[1:2] if plan == STORE and isinstance(program.type_of(s.operands[0]), Dict) else []


def _key_asked(s: Statement, program: Program) -> Operand | None:
    """The key by which a statement takes a number or an array out of a dict."""
    plan = program.plans.get(s)
    if plan != LOAD or s.op != "getitem" or not isinstance(program.type_of(s.operands[0]), Dict):
        return None
    return s.operands[1] if differentiable(program.type_of(s.made)) else None


def _is_dict(value: Abstract) -> bool:
    """Whether what comes out of an iteration over a value are keys of a dict."""
    return isinstance(value, Dict) or isinstance(value, Tuple) and value.cls is dict


def _options(plan: RulePlan) -> list[Operand]:
    """What a rule takes by keyword only, and has no cotangent for."""
    code = plan.rule.__code__
    rest = plan.values[code.co_argcount :]
    return [x for v in rest if not isinstance(v, list) for x in flat(v)]


class _Sites:
    """The lists and dicts of a program: all that may be one go together, and those that hold them."""

    def __init__(self, program: Program) -> None:
        lists = {v: sites for v, value in program.types.items() if (sites := sites_in(value))}
        self.own = {v: {site.root() for site in sites} for v, sites in lists.items()}
        self.reached = {v: set[Site]().union(*map(reached, sites)) for v, sites in lists.items()}

    def link(self, found: set[Variable]) -> None:
        """Let what one of them is be what all are that may be it, or hold it."""
        sites = {site for v in found for site in self.own.get(v, ())}
        if sites:
            found.update(v for v, reached in self.reached.items() if not sites.isdisjoint(reached))

    def held(self, variables: Iterable[Any]) -> set[Variable]:
        """What may be one of the lists and dicts that some variables are or hold."""
        sites = {site for v in variables for site in self.reached.get(v, ())}
        return {v for v, own in self.own.items() if not sites.isdisjoint(own)}


def part_taken(s: Statement, path: tuple[int, ...], program: Program) -> tuple[Operand, tuple[int, ...]]:
    """Of which operand of a structural statement a part of its result is a part, and which."""
    if s.op in ("build_tuple", "build_list", "build_map"):
        return s.operands[2 * path[0] + 1 if s.op == "build_map" else path[0]], path[1:]
    whole = content_of(program.type_of(s.operands[0]))
    assert isinstance(whole, Tuple)
    index = s.data if s.op == "project" else value_of(s.operands[1])
    index = whole.keys.index(index) if whole.cls is dict else index
    return s.operands[0], (index % len(whole.items), *path)


def _leaves(s: Statement, program: Program, useful: set[Variable]) -> bool:
    """Whether a statement calls a function that may leave something in useful lists."""
    plan = program.plans.get(s)
    return isinstance(plan, OwnPlan) and bool(plan.changed) and not useful.isdisjoint(sources(s, program))


def _collect(program: Program, shape: Shape, lent: Iterable[Variable]) -> set[Variable]:
    """Backwards: what the result depends on, and what is left in ``lent`` lists."""
    changed, sites = True, _Sites(program)
    useful: set[Variable] = {*shape.exit.params, *lent, *sites.held(lent)}
    while changed:
        before = len(useful)
        sites.link(useful)
        for block in reversed(shape.ir.blocks):
            useful.update(arg for param, arg in bindings(block) if param in useful and isinstance(arg, Variable))
            for s in reversed(block.statements):
                if program.plans.get(s) in _CHANGES and s.operands[0] in useful:
                    useful.update(x for x in s.operands[-1:] if isinstance(x, Variable))
                if s.result in useful or _leaves(s, program, useful):
                    useful.update(x for x in sources(s, program) if isinstance(x, Variable))
                    if isinstance(program.plans.get(s), OwnPlan):
                        useful.update(sites.held(sources(s, program)))
        changed = len(useful) != before
    return useful
