"""An IR made ready for scheduling: chains of blocks, copies propagated, cells and loops recognised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from typing import Any, Final

from autodiff_hook.emit import versions
from autodiff_hook.emit.idle import without_idle_handlers
from autodiff_hook.emit.items import NONE, CellVar, FreeVar
from autodiff_hook.ir.analysis import Loop, count_uses, natural_loops, reverse_postorder
from autodiff_hook.ir.substituting import resolve
from autodiff_hook.ir.types import (
    HANDLER_RECEIVED,
    IR,
    RECEIVED,
    TERMINATORS_THAT_RAISE,
    Block,
    Edge,
    Operand,
    Position,
    Statement,
    Terminator,
    Variable,
)
from autodiff_hook.records import record

MUTATORS: Final = frozenset(
    {"list_append", "set_add", "map_add", "list_extend", "set_update", "dict_update", "dict_merge"}
)
MULTIPLE: Final = frozenset({"unpack", "enter", "eg_match", "cleanup_throw", "enter_async"})


@record(eq=False)
class Step:
    """A statement in a chain; several results lie on the stack in this order, the last on top."""

    op: str
    operands: list[Operand]
    results: list[Variable]
    data: Any = None
    position: Position | None = None
    handler: Edge | None = None


@record(eq=False)
class Chain:
    """Blocks that follow each other without another way in or out but exceptions."""

    blocks: list[Block]
    received: list[Variable] = field(default_factory=list)
    caught: Variable | None = None
    params: list[Variable] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    terminator: Terminator = field(default_factory=lambda: Terminator("return"))
    handler: Edge | None = None
    depth: int = 0
    loops: frozenset[Loop] = frozenset()
    stack_loop: bool = False

    def end_operands(self) -> Iterator[list[Operand]]:
        """The operands of the terminator and of the edges that leave at the end."""
        yield self.terminator.operands
        for edge in self.terminator.edges:
            yield edge.args
        if self.handler is not None:
            yield self.handler.args

    def step_operands(self) -> Iterator[list[Operand]]:
        """The operands of the statements and of their exception edges."""
        for step in self.steps:
            yield step.operands
            if step.handler is not None:
                yield step.handler.args


class Graph:
    """The chains of a function and what is known about its variables."""

    def __init__(self, ir: IR) -> None:
        self.ir = ir = without_idle_handlers(ir)
        self.order = reverse_postorder(ir)
        self.aliases: dict[Variable, Operand] = {}
        self.incoming: dict[Block, list[tuple[Block, Edge, int]]] = {b: [] for b in self.order}
        self._find_edges()
        self._alias_params()
        self.multiple: dict[Variable, list[Variable]] = {}
        self._find_multiple()
        self.uses = self._count_uses()
        self.cells: dict[Variable, CellVar | FreeVar] = {}
        self.shared_cells: set[Variable] = set()
        self._find_cells()
        loops = natural_loops(ir)
        self.loops_of: dict[Block, frozenset[Loop]] = {
            b: frozenset(loop for loop in loops if b in loop.body) for b in self.order
        }
        self.stack_loops = {loop for loop in loops if self._keeps_iterator_on_stack(loop)}
        self.chain_of: dict[Block, Chain] = {}
        self.chains: list[Chain] = []
        self._find_chains()

    def resolve(self, operand: Operand) -> Operand:
        """The operand that stands for this one."""
        return resolve(operand, self.aliases)

    def resolve_all(self, operands: list[Operand]) -> list[Operand]:
        """``resolve`` for a list."""
        aliases = self.aliases
        if aliases.keys().isdisjoint(operands):
            return operands[:]
        return [self.resolve(x) if x in aliases else x for x in operands]

    def last_operands(self, chain: Chain) -> list[Operand]:
        """What the end of a chain takes from the stack: a loop's iterator is taken where the loop is entered."""
        operands = [] if chain.stack_loop else list(chain.terminator.operands)
        if chain.terminator.kind == "jump":
            target = self.chain_of[chain.terminator.edges[0].target]
            if target.stack_loop and target.depth > chain.depth:
                operands += target.terminator.operands
        return operands

    def _find_edges(self) -> None:
        for block in self.order:
            terminator = block.terminator
            received = RECEIVED.get(terminator.kind, ())
            for edge, count in zip(terminator.edges, received, strict=True):
                self.incoming[edge.target].append((block, edge, count))
            if block.handler is not None:
                self.incoming[block.handler.target].append((block, block.handler, HANDLER_RECEIVED))

    def _alias_params(self) -> None:
        for block, incoming in self.incoming.items():
            if not versions.LASTI and any(edge is source.handler for source, edge, _ in incoming):
                self.aliases[block.params[1]] = NONE
            if len(incoming) == 1 and block is not self.ir.entry:
                _, edge, count = incoming[0]
                self.aliases.update(zip(block.params[count:], edge.args, strict=True))
            for statement in block.statements:
                if statement.op == "check" and statement.result is not None:
                    self.aliases[statement.result] = statement.operands[0]

    def _find_multiple(self) -> None:
        """Operations with several results, each taken by ``project``."""
        made: dict[Variable, Statement] = {}
        whole: set[Operand] = set()
        projects: list[Statement] = []
        for block in self.order:
            for statement in block.statements:
                if statement.op in MULTIPLE and statement.result is not None:
                    made[statement.result] = statement
                if statement.op == "project":
                    projects.append(statement)
                else:
                    whole.update(self.resolve_all(statement.operands))
            for edge in block.edges():
                whole.update(self.resolve_all(edge.args))
            whole.update(self.resolve_all(block.terminator.operands))
        for variable, statement in made.items():
            if variable not in whole:
                self.multiple[variable] = [Variable() for _ in range(_result_count(statement))]
        for statement in projects:
            source = self.resolve(statement.operands[0])
            if source in self.multiple and statement.result is not None:
                part = self.multiple[source][statement.data]
                part.name = part.name or statement.result.name
                self.aliases[statement.result] = part

    def _find_cells(self) -> None:
        ir = self.ir
        count = len(ir.signature.names)
        for param, name in zip(ir.entry.params[count:], ir.free_names, strict=True):
            self.cells[param] = FreeVar(name)
        names = self._cell_names()
        taken = set(ir.free_names)
        uses = self.uses
        params = dict(zip(ir.entry.params[:count], ir.signature.names))
        for statement in ir.entry.statements:
            if statement.op != "make_cell" or statement.result is None:
                continue
            value = self.resolve(statement.operands[0])
            name = names.get(statement.result) or statement.result.name or "cell"
            own = isinstance(value, Variable) and params.get(value) == name
            if name in taken or (name in ir.signature.names and not (own and uses[value] == 1)):
                continue
            taken.add(name)
            self.cells[statement.result] = CellVar(name)
            if own:
                self.shared_cells.add(statement.result)

    def _cell_names(self) -> dict[Operand, str]:
        return {
            self.resolve(s.operands[0]): s.data
            for b in self.order
            for s in b.statements
            if s.op in ("cell_get", "cell_set", "cell_del")
        }

    def _count_uses(self) -> Counter[Operand]:
        used = Counter[Operand]()
        for operand, count in count_uses(self.order).items():
            used[self.resolve(operand)] += count
        return used

    def _keeps_iterator_on_stack(self, loop: Loop) -> bool:
        """A ``for`` loop entered at one place, whose iterator nobody else knows."""
        header = loop.header
        terminator = header.terminator
        if terminator.kind != "next" or header.statements:
            return False
        iterator = self.resolve(terminator.operands[0])
        outside = [(b, e) for b, e, _ in self.incoming[header] if b not in loop.body]
        if len(outside) != 1 or not isinstance(iterator, Variable) or iterator in self.cells:
            return False
        source, edge = outside[0]
        if source.terminator.kind != "jump" or source.handler is edge:
            return False
        if terminator.edges[1].target in loop.body or iterator in header.params:
            return False
        return self.uses[iterator] == 1 and source.terminator.edges[0] is edge

    def _find_chains(self) -> None:
        for block in self.order:
            if block in self.chain_of:
                continue
            chain = Chain([block])
            while True:
                self.chain_of[block] = chain
                following = self._continuation(block)
                if following is None:
                    break
                chain.blocks.append(following)
                block = following
            self._fill(chain)
            self.chains.append(chain)
        self._thread_all()

    def _continuation(self, block: Block) -> Block | None:
        """The block that can be appended to ``block``."""
        terminator = block.terminator
        if terminator.kind != "jump":
            return None
        target = terminator.edges[0].target
        if len(self.incoming[target]) != 1 or target is self.ir.entry:
            return None
        return target if self._stack_loops_of(target) == self._stack_loops_of(block) else None

    def _stack_loops_of(self, block: Block) -> frozenset[Loop]:
        return self.loops_of[block] & self.stack_loops

    def _fill(self, chain: Chain) -> None:
        first, last = chain.blocks[0], chain.blocks[-1]
        incoming = self.incoming[first]
        count = incoming[0][2] if len(incoming) == 1 else 0
        if any(edge is block.handler for block, edge, _ in incoming):
            count = HANDLER_RECEIVED
        chain.received = first.params[:count]
        if count == HANDLER_RECEIVED:
            chain.caught = first.params[0]
            chain.received = [first.params[1], first.params[0]] if versions.LASTI else [first.params[0]]
        if len(incoming) != 1 and first is not self.ir.entry:
            chain.params = first.params[count:]
        chain.loops = self.loops_of[first]
        chain.depth = len(self._stack_loops_of(first))
        chain.stack_loop = any(loop.header is first for loop in self.stack_loops)
        for block in chain.blocks:
            self._add_steps(chain, block)
        terminator = last.terminator
        edges = [Edge(e.target, self.resolve_all(e.args)) for e in terminator.edges]
        operands = self.resolve_all(terminator.operands)
        if terminator.kind == "reraise" and not versions.LASTI:
            operands[1] = NONE
        chain.terminator = Terminator(terminator.kind, operands, edges, terminator.position)

    def _add_steps(self, chain: Chain, block: Block) -> None:
        handler = block.handler and Edge(block.handler.target, self.resolve_all(block.handler.args))
        terminator = block.terminator
        own = terminator.kind in TERMINATORS_THAT_RAISE or not block.statements
        if own and block is chain.blocks[-1]:
            chain.handler = handler
        for statement in block.statements:
            covered = handler if statement is block.statements[-1] and not own else None
            self._add_step(chain, statement, covered)

    def _add_step(self, chain: Chain, statement: Statement, handler: Edge | None) -> None:
        operands = self.resolve_all(statement.operands)
        result = statement.result
        if statement.op == "project" and result in self.aliases:
            return
        step = Step(statement.op, operands, [], statement.data, statement.position, handler)
        chain.steps.append(step)
        if result is None or statement.op == "check":
            return
        if statement.op not in MULTIPLE:
            step.results = [result]
            return
        parts = self.multiple.get(result) or [Variable() for _ in range(_result_count(statement))]
        step.results = parts[::-1] if statement.op == "unpack" else list(parts)
        if result not in self.multiple:
            chain.steps.append(Step("build_tuple", list(parts), [result], None, statement.position))

    def _thread_mutators(self, chain: Chain, outside: dict[Variable, set[Chain]]) -> dict[Operand, Variable]:
        """Let ``l.append(v)`` give ``l`` anew while ``l`` is being built, so that it stays on the stack."""
        covered = any(step.handler is not None for step in chain.steps)
        made: set[Operand] = {
            step.results[0]
            for step in chain.steps
            if len(step.results) == 1
            and step.op.startswith("build_")
            and not (covered and outside.get(step.results[0], set()) - {chain})
        }
        current: dict[Operand, Variable] = {}
        finished: set[Operand] = set()
        for step in chain.steps:
            target = step.operands[0] if step.op in MUTATORS else None
            finished.update(step.operands if target is None else step.operands[1:])
            if step.handler is not None:
                finished.update(step.handler.args)
                step.handler.args = [current.get(x, x) for x in step.handler.args]
            step.operands = [current.get(x, x) for x in step.operands]
            if target in made and target not in finished:
                assert isinstance(target, Variable)
                step.results = [Variable(target.name)]
                current[target] = step.results[0]
        return current

    def _thread_all(self) -> None:
        used_in: dict[Variable, set[Chain]] = {}
        if not any(step.op in MUTATORS for chain in self.chains for step in chain.steps):
            return
        for chain in self.chains:
            for operands in (*chain.step_operands(), *chain.end_operands()):
                for x in operands:
                    if isinstance(x, Variable):
                        used_in.setdefault(x, set()).add(chain)
        renamed: dict[Operand, tuple[Chain, Variable]] = {}
        for chain in self.chains:
            for old, new in self._thread_mutators(chain, used_in).items():
                renamed[old] = chain, new
        for chain in self.chains if renamed else ():
            for operands in chain.step_operands():
                _rename(operands, renamed, chain)
            for operands in chain.end_operands():
                _rename(operands, renamed, None)


def _rename(operands: list[Operand], renamed: dict[Operand, tuple[Chain, Variable]], inside: Chain | None) -> None:
    for i, x in enumerate(operands):
        if x in renamed and renamed[x][0] is not inside:
            operands[i] = renamed[x][1]


def _result_count(statement: Statement) -> int:
    if statement.op != "unpack":
        return 2
    before, after = statement.data
    return int(before) if after is None else int(before) + 1 + int(after)
