"""Which values need a cotangent: they depend on what is differentiated, and the result depends on them."""

from __future__ import annotations

from autodiff_hook.ir.analysis import bindings
from autodiff_hook.ir.types import Block, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import (
    Dict,
    Iterator,
    Reference,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import (
    APPEND,
    COPY,
    ITEMS,
    LOAD,
    PARTS,
    PURE,
    READ,
    STORE,
    STRUCTURAL,
    TAKE,
    Program,
    RulePlan,
)
from autodiff_hook.transform.specialise.lattice import (
    differentiable,
    reached,
    sites_in,
)
from autodiff_hook.transform.specialise.lists import view_of
from autodiff_hook.transform.specialise.prepare import Shape

_CHANGES = (APPEND, STORE)


def needed(program: Program, shape: Shape, params: list[Variable]) -> set[Variable]:
    """The variables whose cotangents matter."""
    active = _spread({p for p in params if differentiable(program.types[p])}, program, shape.ir.blocks)
    useful = _collect(program, shape)
    result = active & useful
    # Who gets a dict may ask for its keys.
    given = {site for p in shape.exit.params for own in sites_in(program.types[p]) for site in reached(own)}
    reads_keys = program.reads_keys or any(site.key is not None for site in given)
    for block in shape.ir.blocks:
        for s in block.statements:
            iterates = isinstance(program.type_of(s.result), Iterator) if s.result is not None else False
            kind = None if s.result is None else program.type_of(s.result)
            begins = isinstance(kind, Reference) or s.result in shape.memory.stored
            if s.result in result and program.plans.get(s) == PURE and not iterates and not begins:
                raise Refused(f"{s.op} of what is differentiated", s)
            plan = program.plans.get(s)
            if reads_keys and any(x in active for x in _keys(s, program)):
                raise Refused("a key of a dict depends on what is differentiated", s)
            if isinstance(plan, RulePlan) and any(x in active for x in _options(plan)):
                raise Refused("an option of a call depends on what is differentiated", s)
    return result


def _keys(s: Statement, program: Program) -> list[Operand]:
    """The keys that a statement puts into a dict."""
    plan = program.plans.get(s)
    if plan == ITEMS and s.op == "build_map":
        return s.operands[::2]
    return s.operands[1:2] if plan == STORE and isinstance(program.type_of(s.operands[0]), Dict) else []


def _options(plan: RulePlan) -> list[Operand]:
    """What a rule takes by keyword only, and has no cotangent for."""
    code = plan.rule.__code__
    rest = plan.values[code.co_argcount :]
    return [x for v in rest if not isinstance(v, list) for x in flat(v)]


def flat(value: Operand | list[Operand] | dict[str, Operand]) -> list[Operand]:
    """The operands that a parameter is bound to."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


class _Sites:
    """The lists and dicts of a program: all that may be one go together, and those that hold them."""

    def __init__(self, program: Program) -> None:
        lists = {v: value.site for v, value in program.types.items() if isinstance(value, Reference)}
        self.own = {v: site.root() for v, site in lists.items()}
        self.reached = {v: reached(site) for v, site in lists.items()}

    def link(self, found: set[Variable]) -> None:
        """Let what one of them is be what all are that may be it, or hold it."""
        sites = {self.own[v] for v in found if v in self.own}
        if sites:
            found.update(v for v, reached in self.reached.items() if not sites.isdisjoint(reached))


def _spread(active: set[Variable], program: Program, blocks: list[Block]) -> set[Variable]:
    """Forwards: what depends on the parameters."""

    def is_active(operand: Operand) -> bool:
        return operand in active

    changed, sites, keys = True, _Sites(program), _keys_of_items(blocks)
    while changed:
        before = len(active)
        sites.link(active)
        for block in blocks:
            for s in block.statements:
                if program.plans.get(s) in _CHANGES and is_active(s.operands[-1]):
                    active.add(s.operands[0])  # type: ignore[arg-type]
                if (
                    s.result is None
                    or s.result in active
                    or s.result in keys
                    or not differentiable(program.type_of(s.result))
                ):
                    continue
                if any(map(is_active, sources(s, program))):
                    active.add(s.result)
            for param, arg in bindings(block):
                if is_active(arg) and differentiable(program.type_of(param)):
                    active.add(param)
        changed = len(active) != before
    return active


def _keys_of_items(blocks: list[Block]) -> set[Variable]:
    """The keys in iterations over items of dicts: no key that is put into one depends on what is differentiated."""
    made = {s.result: s for block in blocks for s in block.statements if s.result is not None}
    items = set()
    for block in blocks:
        start = made.get(block.terminator.operands[0]) if block.terminator.kind == "next" else None  # type: ignore[arg-type]
        view = made.get(start.operands[0]) if start is not None and start.op == "get_iter" else None  # type: ignore[arg-type]
        if view is not None and view_of(view) == "items":
            items.add(block.terminator.edges[0].target.params[0])
    items |= {s.result for s in made.values() if s.op == "unpack" and s.operands[0] in items}  # type: ignore[misc]
    return {v for v, s in made.items() if s.op == "project" and s.data == 0 and s.operands[0] in items}


def sources(s: Statement, program: Program) -> list[Operand]:
    """The operands of a statement that a derivative may come from."""
    plan = program.plans.get(s)
    if isinstance(plan, RulePlan):
        return [x for v in plan.values for x in flat(v)]
    if plan in (STRUCTURAL, ITEMS):
        return s.operands
    if plan in (LOAD, READ, COPY, TAKE):
        return s.operands[s.op == "call" :][:1]
    if plan == PARTS:
        return s.operands
    carries = isinstance(program.type_of(s.result), Iterator) if s.result is not None else False
    return s.operands if carries else []


def _collect(program: Program, shape: Shape) -> set[Variable]:
    """Backwards: what the result depends on."""
    useful: set[Variable] = set(shape.exit.params)
    changed, sites = True, _Sites(program)
    while changed:
        before = len(useful)
        sites.link(useful)
        for block in reversed(shape.ir.blocks):
            useful.update(arg for param, arg in bindings(block) if param in useful and isinstance(arg, Variable))
            for s in reversed(block.statements):
                if program.plans.get(s) in _CHANGES and s.operands[0] in useful:
                    useful.update(x for x in s.operands[-1:] if isinstance(x, Variable))
                if s.result in useful:
                    useful.update(x for x in sources(s, program) if isinstance(x, Variable))
        changed = len(useful) != before
    return useful
