"""Joint programs over arrays, written with the knowledge of types: calls that handle every kind of value go.

A cotangent whose elements are all one number (that of a sum) stays a number where it can: ``Site.spread``.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from typing import Any

import numpy as np

from autodiff_hook.ir.analysis import defined_in, natural_loops, predecessors, reverse_postorder
from autodiff_hook.ir.substituting import substitute
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.improve.facts import NOTHING, ArrayFact, Fact, joined
from autodiff_hook.transform.improve.rewriting import Rewriting
from autodiff_hook.transform.improve.shortcuts import RANKS, SUMS, declared
from autodiff_hook.transform.improve.site import Site
from autodiff_hook.transform.improve.transfer import transfer
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Number
from autodiff_hook.transform.specialise.folding import straighten

_ROUNDS = 5


def polish(
    ir: IR,
    types: dict[Variable, Abstract],
    essential: set[Statement],
    adjoint: set[Statement],
    volatile: Container[Variable],
    guarded: bool,
) -> Site | None:
    """Rewrite ``ir`` by the types of its variables; what is known in the end, None if there are but Python's reals.

    ``adjoint`` are the statements of derivatives. Where ``ir`` is ``guarded``, shapes that are equal in the examples
    are assumed to be so.
    """
    if "numpy" not in sys.modules or not any(map(_has_kinds, types.values())):
        return None
    first = program_start(ir) if guarded else ir.entry
    outside = _outside(ir, first) if guarded else set[Variable]()
    _adopt(ir, types, first)
    _fold_ranks(ir, types)
    straighten(ir, first)
    site = Site(types, outside, transfer, _made_once(ir))
    site.volatile = volatile
    if not _learn(ir, site):
        return None
    if _start_with_zeros(ir, site) and not _learn(ir, site):
        return None
    Rewriting(ir, site, essential, adjoint).run()
    _guard(ir, site)
    return site


def _has_kinds(value: Abstract) -> bool:
    """Whether cotangents of a value depend on more than that it is a number, or may be NumPy's."""
    return isinstance(value, Array) or isinstance(value, Number) and not value.types.isdisjoint({complex, np.float64})


def program_start(ir: IR) -> Block:
    """The block after the prologue, which loads and guards what comes from outside."""
    block = ir.entry
    while True:
        if block.terminator.kind != "branch" or _is_miss(block.terminator.edges[0].target):
            return block.terminator.edges[0].target if block.terminator.kind == "jump" else block
        if not _is_miss(block.terminator.edges[1].target):
            return block
        block = block.terminator.edges[0].target


def _is_miss(block: Block) -> bool:
    terminator = block.terminator
    return not block.statements and terminator.kind == "return"


def _outside(ir: IR, first: Block) -> set[Variable]:
    found = set(ir.entry.params)
    block = ir.entry
    while block is not first:
        found |= {s.result for s in block.statements if s.result is not None}
        block = block.terminator.edges[0].target
    return found


def _made_once(ir: IR) -> set[Operand]:
    """The variables that are defined outside loops."""
    repeated = {block for loop in natural_loops(ir) for block in loop.body}
    return defined_in([block for block in ir.blocks if block not in repeated])


def _adopt(ir: IR, types: dict[Variable, Abstract], first: Block) -> None:
    """What is known of a parameter of the program is known of the argument."""
    for block in ir.blocks:
        for edge in block.edges():
            if edge.target is first:
                for param, arg in zip(first.params, edge.args):
                    if isinstance(arg, Variable) and param in types:
                        types.setdefault(arg, types[param])


def _fold_ranks(ir: IR, types: dict[Variable, Abstract]) -> None:
    """How many axes an array has is known where rules ask for it, and that it is none of their sentinels."""
    known: dict[Operand, Operand] = {}
    for block in ir.blocks:
        for s in block.statements:
            if not s.data and len(s.operands) == 2 and declared(RANKS, s.callee):
                abstract = types.get(s.operands[1])  # type: ignore[arg-type]
                if isinstance(abstract, Array) and abstract.ndim is not None and s.result is not None:
                    known[s.result] = Constant(abstract.ndim)
            elif s.op in ("is", "is_not") and s.result is not None and _are_distinct(s.operands, types):
                known[s.result] = Constant(s.op == "is_not")
    if known:
        substitute(ir.blocks, known)
        for block in ir.blocks:
            block.statements = [s for s in block.statements if s.result not in known]


def _are_distinct(operands: list[Operand], types: dict[Variable, Abstract]) -> bool:
    """Whether one operand is an array or a number, and the other a constant of another type."""
    for a, b in (operands, operands[::-1]):
        abstract = types.get(a) if isinstance(a, Variable) else None
        if isinstance(b, Constant) and isinstance(abstract, (Array, Number)):
            return type(b.value).__module__ != "numpy" and not isinstance(b.value, (int, float))
    return False


def _learn(ir: IR, site: Site) -> bool:
    """Work out what is known of all variables; whether that came to an end."""
    incoming = predecessors(ir)
    for block in ir.blocks:
        for s in block.statements:
            if s.result is not None:
                site.made[s.result] = s
            if s.op == "record":
                site.recorded |= {(s.data[0], i): x for i, x in enumerate(zip(s.data[1], s.operands[1:]))}
    order = reverse_postorder(ir)
    place = {block: i for i, block in enumerate(order)}
    loops = any(place[edge.target] <= place[block] for block in order for edge in block.edges())
    for _ in range(_ROUNDS):
        changed = False
        for block in order:
            for variable, fact in _facts_at(block, incoming[block], site):
                if variable not in site.facts or site.facts[variable] != fact:
                    site.facts[variable] = fact
                    changed = True
        if not (changed and loops):
            return True
    return False


def _facts_at(block: Block, incoming: list[tuple[Block, Edge]], site: Site) -> Any:
    count = max((len(block.params) - len(edge.args) for _, edge in incoming), default=len(block.params))
    for i, param in enumerate(block.params):
        given = [edge.args[i - count] for _, edge in incoming] if i >= count else []
        known = [x for x in given if isinstance(x, Constant) or x in site.facts]
        yield param, _met(param, [site.fact(x) for x in known], site)
    for s in block.statements:
        if s.result is not None:
            yield s.result, site.transfer(s)


def _met(param: Variable, facts: list[Fact | None], site: Site) -> Fact | None:
    if site.inferred(param) is not None:
        # What is not there on some ways is not read after these.
        facts = [fact for fact in facts if fact is not NOTHING]
    if not facts:
        return site.inferred(param)
    if len(facts) == 1 and facts[0] is not NOTHING:
        return facts[0] or site.inferred(param)
    return joined(facts, site.shapes, site.facts.get(param)) or site.inferred(param)


def _start_with_zeros(ir: IR, site: Site) -> bool:
    """Let sums of cotangents in loops start with zeros, not with None."""
    found = False
    for block, edges in predecessors(ir).items():
        for i, param in enumerate(block.params):
            fact = site.facts.get(param)
            if not isinstance(fact, ArrayFact) or not fact.optional or fact is NOTHING:
                continue
            shape = site.known_shape(fact.dims)
            places = [(source, edge, i - len(block.params)) for source, edge in edges]
            if shape is None or not _is_accumulated(param, ir) or fact.dtype.char != "d":
                continue
            for source, edge, place in places:
                if isinstance(edge.args[place], Constant):
                    edge.args[place] = _zeros(source, shape)
                    found = True
    return found


def _is_accumulated(param: Variable, ir: IR) -> bool:
    return any(param in s.operands[1:] and declared(SUMS, s.callee) for block in ir.blocks for s in block.statements)


def _zeros(block: Block, known: Operand) -> Variable:
    shape, zeros = known, Variable("zeros")
    if isinstance(known, Variable):
        shape = Variable("shape")
        block.statements.append(Statement("getattr", [known], shape, "shape"))
    block.statements.append(Statement("call", [Constant(np.zeros), shape], zeros, ()))
    return zeros


def _guard(ir: IR, site: Site) -> None:
    """Enter the program only if lengths are to each other as they were assumed to be."""
    if not site.shapes.assumed:
        return
    block, miss = _last_guard(ir)
    for a, relation, b in site.shapes.assumed:
        lengths: list[Operand] = []
        rest = Block()
        for dim in (a, b):
            if isinstance(dim, int):
                lengths.append(Constant(dim))
                continue
            assert dim.source is not None
            (variable, axis), shape, length = dim.source, Variable("shape"), Variable("length")
            rest.statements.append(Statement("getattr", [variable], shape, "shape"))
            rest.statements.append(Statement("getitem", [shape, Constant(axis)], length))
            lengths.append(length)
        same = Variable("same")
        rest.statements.append(Statement("compare", lengths, same, relation))
        after = block.terminator.edges[0]
        block.terminator.edges[0] = Edge(rest, [])
        rest.terminator = Terminator("branch", [same], [after, Edge(miss, [])])
        ir.blocks.insert(ir.blocks.index(block) + 1, rest)
        block = rest


def _last_guard(ir: IR) -> tuple[Block, Block]:
    block = ir.entry
    miss = block.terminator.edges[1].target
    while True:
        following = block.terminator.edges[0].target
        terminator = following.terminator
        if terminator.kind != "branch" or terminator.edges[1].target is not miss:
            return block, miss
        block = following
