"""An understood program in the shape that the joint adjoint expects.

Aliases are gone, values that are known are constants, branches that cannot be taken are cut, chains of
blocks are merged. There is one exit, an item that ``next`` hands over enters a block of its own, and each
loop has one way in and one latch. What is used up by an iteration is used once: how far one has come is not followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce

from autodiff_hook.ir.analysis import (
    Loop,
    count_uses,
    dominates,
    dominators,
    natural_loops,
    passed_on,
    predecessors,
    reverse_postorder,
    statements_of,
)
from autodiff_hook.ir.substituting import go_on_at, resolve, substitute
from autodiff_hook.ir.types import (
    IR,
    RECEIVED,
    Block,
    Constant,
    Edge,
    Operand,
    Signature,
    Statement,
    Terminator,
    Variable,
)
from autodiff_hook.records import record
from autodiff_hook.transform.improve.simplify import drop_params
from autodiff_hook.transform.specialise.abstract import Iterator, Known
from autodiff_hook.transform.specialise.assigned import require_apart, require_promoted, take_copies
from autodiff_hook.transform.specialise.assigned import settle as settle_assigned
from autodiff_hook.transform.specialise.bodies import Refused, is_plain, refused_for
from autodiff_hook.transform.specialise.folding import merge
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.invariants import hoist, take_items
from autodiff_hook.transform.specialise.lattice import VIRTUAL, differentiable, is_true, join
from autodiff_hook.transform.specialise.memory import Memory, settle
from autodiff_hook.transform.specialise.owners import settle_owners
from autodiff_hook.transform.specialise.places import ask_for_copies, ask_for_default
from autodiff_hook.transform.specialise.program import LOAD, STORE, Alias, Program, RulePlan
from autodiff_hook.transform.specialise.promotion import promote
from autodiff_hook.transform.specialise.replacing import replace
from autodiff_hook.transform.specialise.views import take_anew


@record
class Shape:
    """The control flow of a prepared program."""

    ir: IR
    exit: Block
    loops: list[Loop]
    loops_of: dict[Block, list[Loop]]
    incoming: dict[Block, list[tuple[Block, Edge]]]
    memory: Memory


def prepare(inference: Inference) -> Shape:
    """Bring the program of ``inference`` into shape."""
    program = inference.program
    if inference.traps.reasons and not any(b.terminator.kind == "return" for b in program.blocks):
        raise refused_for(inference.traps.reasons)
    _require_orders(inference)
    _read_slots(program)
    _apply_aliases(program)
    copies = take_copies(inference)
    _substitute(program, program.blocks, dict[Operand, Operand](copies.items()))
    settle_assigned(inference, copies)
    _cut_branches(inference)
    ir = IR("joint", Signature(), blocks=program.blocks)
    ir.blocks = reverse_postorder(ir)
    refined = {p for p, test in inference.tests.items() if program.type_of(p) != program.type_of(test.variable)}
    merge(ir.blocks, partial(_substitute, program))
    _substitute(program, ir.blocks, take_items(ir.blocks, program.plans))
    _substitute(program, ir.blocks, promote(ir, program))
    require_promoted(inference, ir.blocks)
    if STORE in program.plans.values():
        _substitute(program, ir.blocks, drop_params(ir, ir.entry, refined))
    exit_block = _single_exit(ir, program)
    _isolate_items(ir, program)
    _shape_loops(ir, program)
    if STORE in program.plans.values():
        _substitute(program, ir.blocks, drop_params(ir, exit_block, refined))
    ir.blocks = reverse_postorder(ir)
    if exit_block not in ir.blocks:
        raise Refused("a program that does not return")
    loops = natural_loops(ir)
    _require_reducible(ir, loops)
    loops_of = {block: [loop for loop in loops if block in loop.body] for block in ir.blocks}
    incoming = predecessors(ir)
    require_once(ir.blocks, loops_of, inference)
    replace(ir, program, inference.outer.stored)
    ask_for_copies(inference, ir.blocks)
    require_apart(inference, ir.blocks, copies)
    take_anew(ir, program)
    settle_owners(ir, program)
    memory = settle(ir, program)
    _substitute(program, ir.blocks, hoist(ir, loops, incoming, program, memory.volatile))
    return Shape(ir, exit_block, loops, loops_of, incoming, memory)


def _require_orders(inference: Inference) -> None:
    """What is read of an attribute or a cell has to be assigned on every way there."""
    if not inference.orders:
        return
    blocks = inference.program.blocks
    place: dict[Statement | Edge, tuple[Block, int]] = {s: (b, i) for b in blocks for i, s in enumerate(b.statements)}
    place |= {edge: (b, len(b.statements)) for b in blocks for edge in b.edges()}
    _cut_branches(inference)
    immediate = dominators(IR("", Signature(), blocks=blocks))
    for store, read in [(store, read) for read, stores in inference.orders.items() for store in stores]:
        if store not in place or read not in place:
            continue
        (home, first), (block, second) = place[store], place[read]
        if block not in immediate:
            continue
        if home not in immediate or not (first < second if home is block else dominates(immediate, home, block)):
            ask_for_default(inference, store)
            raise Refused("what is assigned on one way only is read on others")


def _read_slots(program: Program) -> None:
    """Attributes that are assigned again are items of dicts."""
    for s, (owner, name) in program.slots.items():
        if program.plans.get(s) == LOAD:
            s.op, s.operands, s.data = "getitem", [owner, Constant(name)], None
        elif program.plans.get(s) == STORE:
            s.op, s.operands, s.data = "setitem", [owner, Constant(name), s.operands[-1]], None


def _apply_aliases(program: Program) -> None:
    mapping: dict[Operand, Operand] = {}
    for block in program.blocks:
        kept = []
        for s in block.statements:
            plan = program.plans.get(s)
            if isinstance(plan, Alias):
                if s.result is not None:
                    mapping[s.result] = plan.operand
            else:
                kept.append(s)
        block.statements = kept
    for variable, abstract in program.types.items():
        if variable in mapping:
            continue
        if isinstance(abstract, Known) and is_plain(abstract.value):
            mapping[variable] = Constant(abstract.value)
        elif isinstance(abstract, VIRTUAL):
            # These exist only while the program is made.
            mapping[variable] = Constant(None)
    _substitute(program, program.blocks, mapping)


def _substitute(program: Program, blocks: list[Block], mapping: dict[Operand, Operand]) -> None:
    """Replace operands in statements and in what their plans say of them."""
    substitute(blocks, mapping)
    for plan in program.plans.values() if mapping else ():
        values = plan.values if isinstance(plan, RulePlan) else []
        for i, value in enumerate(values):
            if isinstance(value, dict):
                values[i] = {key: resolve(x, mapping) for key, x in value.items()}
            else:
                values[i] = [resolve(x, mapping) for x in value] if isinstance(value, list) else resolve(value, mapping)


def _cut_branches(inference: Inference) -> None:
    for block in inference.program.blocks:
        terminator = block.terminator
        if terminator.kind == "branch":
            truth = is_true(inference.type_of(terminator.operands[0]))
            if truth is not None:
                edge = terminator.edges[0 if truth else 1]
                block.terminator = Terminator("jump", [], [edge], terminator.position)


def _single_exit(ir: IR, program: Program) -> Block:
    returning = [b for b in ir.blocks if b.terminator.kind == "return"]
    if not returning:
        raise Refused("a program that does not return")
    value = Variable("result")
    exit_block = Block([value], terminator=Terminator("return", [value]))
    program.types[value] = reduce(join, [program.type_of(b.terminator.operands[0]) for b in returning])
    go_on_at(exit_block, returning)
    ir.blocks.append(exit_block)
    return exit_block


def _isolate_items(ir: IR, program: Program) -> None:
    for block in list(ir.blocks):
        terminator = block.terminator
        for edge, received in zip(terminator.edges, RECEIVED.get(terminator.kind, ())):
            if received:
                item = Variable("item")
                program.types[item] = program.types[edge.target.params[0]]
                landing = Block([item], [], Terminator("jump", [], [Edge(edge.target, [item, *edge.args])]))
                ir.blocks.append(landing)
                edge.target, edge.args = landing, []
        if len({e.target for e in terminator.edges}) < len(terminator.edges):
            for edge in terminator.edges[1:]:
                _split(ir, edge)


def _split(ir: IR, edge: Edge) -> Block:
    """A block of its own on an edge."""
    middle = Block([], [], Terminator("jump", [], [Edge(edge.target, edge.args)]))
    edge.target, edge.args = middle, []
    ir.blocks.append(middle)
    return middle


def _shape_loops(ir: IR, program: Program) -> None:
    """Give each loop one edge in, from a block that only leads there, and one latch."""
    loops = natural_loops(ir)
    for loop in loops:
        incoming = predecessors(ir)[loop.header]
        outside = [(b, e) for b, e in incoming if b not in loop.body]
        inside = [(b, e) for b, e in incoming if b in loop.body]
        _gather(ir, program, loop.header, outside)
        inner = [x for x in loops if x is not loop and x.header in loop.body]
        if len(inside) > 1 or any(inside[0][0] in x.body for x in inner) or _lags(ir, loop):
            _gather(ir, program, loop.header, inside)


def _lags(ir: IR, loop: Loop) -> bool:
    """Whether what the last iteration began with is read after a loop that is left at its latch."""
    leaving = [edge for block, edge in loop.exits if block in loop.latches]
    after = [b for b in ir.blocks if b not in loop.body] if leaving else []
    read = {*count_uses(after), *(x for edge in leaving for x in edge.args)}
    return not read.isdisjoint(loop.header.params)


def _gather(ir: IR, program: Program, target: Block, edges: list[tuple[Block, Edge]]) -> None:
    """Lead several edges through one new block."""
    params = []
    for param in target.params:
        new = Variable(param.name)
        program.types[new] = program.types[param]
        params.append(new)
    middle = Block(list(params), [], Terminator("jump", [], [Edge(target, list(params))]))
    for _, edge in edges:
        edge.target = middle
    if len(edges) == 1:
        args = edges[0][1].args
        middle.params = []
        middle.terminator.edges[0].args, edges[0][1].args = args, []
    ir.blocks.append(middle)


def _require_reducible(ir: IR, loops: list[Loop]) -> None:
    headers = {loop.header: loop for loop in loops}
    order = {block: i for i, block in enumerate(ir.blocks)}
    for block in ir.blocks:
        for edge in block.edges():
            if order[edge.target] <= order[block]:
                loop = headers.get(edge.target)
                if loop is None or block not in loop.latches:
                    raise Refused("control flow that no loop describes")


def require_once(blocks: list[Block], loops_of: Mapping[Block, list[Loop]], inference: Inference) -> None:
    """``Refused`` if an iterator is used twice."""
    program = inference.program
    given = {x for s in statements_of(blocks) for x in s.operands}
    homes: dict[Operand, Block] = {}
    for block in blocks:
        for s in block.statements:
            kind = program.type_of(s.result) if s.result in given else None
            if s.op in ("call", "get_iter") and isinstance(kind, Iterator) and differentiable(kind):
                homes[s.made] = block
    if not homes:
        return
    used: set[Operand] = set()
    read = count_uses(blocks)
    for block in blocks:
        uses = [(x, s) for s in block.statements for x in s.operands if s.op != "build_tuple" or s.result in read]
        # Loops that go on where others have stopped know how far these have come.
        begun = [(x, None) for x in block.terminator.operands if block.terminator.kind == "next" and x in given]
        for x, use in [*uses, *begun]:
            if x in homes:
                if x in used or use is not None and loops_of[homes[x]] != loops_of[block]:
                    raise Refused("an iterator is used more than once", use)
                used.add(x)
        if not homes.keys().isdisjoint(passed_on(block)):
            raise Refused("an iterator has several names")
