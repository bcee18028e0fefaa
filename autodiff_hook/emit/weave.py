"""From chains to segments: every chain scheduled, its end and the edges that leave it in place."""

from __future__ import annotations

from autodiff_hook import budget
from autodiff_hook.emit import versions
from autodiff_hook.emit.graph import Chain, Graph, Step
from autodiff_hook.emit.items import NO_ARG, Copies, Entry, Exit, Label, Mark, Op, Pending, Segment, Store
from autodiff_hook.emit.schedule import Candidates, Scheduler
from autodiff_hook.emit.select import Context, Selection, is_bool
from autodiff_hook.emit.versions import Code
from autodiff_hook.ir.types import Block, Constant, Edge, Operand, Position, Variable, is_nothing

_BOOLS = frozenset({"is", "is_not", "in", "not_in", "not", "truth", "match_mapping", "match_sequence", "exc_match"})


class Weaver:
    """Makes the segments of a function."""

    def __init__(self, graph: Graph, keep: bool) -> None:
        self.graph = graph
        self.candidates = Candidates(graph, keep)
        self.segments = {chain: Segment(chain.depth) for chain in graph.chains}
        self.stubs: list[Segment] = []
        self.handlers: dict[Block, tuple[Segment, list[Variable], bool]] = {}
        ranks = {block: i for i, block in enumerate(graph.ir.blocks)}
        for chain, segment in self.segments.items():
            budget.check(3)
            segment.rank = ranks[chain.blocks[0]]
            segment.nesting = len(chain.loops)
        for block in graph.order:
            if block.handler is not None:
                chain = graph.chain_of[block.handler.target]
                self.handlers[block.handler.target] = self.segments[chain], chain.params, _is_closed(chain)
        steps = [step for chain in graph.chains for step in chain.steps if step.results]
        end_sends = {s: Label() for chain in graph.chains for s in chain.steps if s.op == "end_async_for"}
        self.context = Context(graph.cells, set(), {s.results[0] for s in steps if s.op in _BOOLS}, end_sends)
        for chain in graph.chains:
            self._find_casts(chain)

    def weave(self) -> list[Segment]:
        """All segments, the entry first."""
        fused = {}
        for chain in self.graph.chains:
            if chain.terminator.kind == "send":
                fused[chain] = self._fuse_yield(chain)
        for chain in self.graph.chains:
            self._schedule(chain, fused.get(chain))
        return [*self.segments.values(), *self.stubs]

    def _find_casts(self, chain: Chain) -> None:
        """Comparisons of which only the truth is asked at once."""
        for step, after in zip(chain.steps, chain.steps[1:]):
            if step.op == "compare" and after.op in ("truth", "not") and after.operands == step.results:
                if step.results[0] in self.candidates and _same_handler(step.handler, after.handler):
                    self.context.casts.add(step.results[0])

    def _schedule(self, chain: Chain, fused: Step | None) -> None:
        segment = self.segments[chain]
        scheduler = Scheduler(self.candidates, self.context, self.handlers)
        scheduler.position = chain.terminator.position
        steps = list(chain.steps)
        kind = chain.terminator.kind
        if kind == "jump":
            self._jump(chain, segment, scheduler)
        elif kind == "branch":
            self._branch(chain, segment, scheduler, steps)
        elif kind == "next":
            self._next(chain, segment, scheduler)
        elif kind == "send":
            self._send(chain, segment, scheduler, fused)
        elif kind == "return":
            self._return(chain, scheduler)
        else:
            self._raise(chain, scheduler)
        for step in reversed(steps):
            if not (step.results and step.results[0] in self.graph.shared_cells):
                scheduler.step(step)
        segment.items = scheduler.finish(chain.received)

    def _handler(self, edge: Edge | None) -> Segment | None:
        return self.handlers[edge.target][0] if edge is not None else None

    def _jump(self, chain: Chain, segment: Segment, scheduler: Scheduler) -> None:
        edge = chain.terminator.edges[0]
        target = self.graph.chain_of[edge.target]
        position = chain.terminator.position
        segment.exit = Exit("jump", [self.segments[target]], position)
        if not chain.steps and chain.handler is not None:
            segment.exit.handler = self._handler(chain.handler)
        scheduler.items.extend(_pops(chain.depth - target.depth, position))
        pairs = [(p, a) for p, a in zip(target.params, edge.args) if p is not a]
        stacked = self._stacked(chain, pairs)
        scheduler.forced.update(stacked)
        scheduler.demoted.update(a for _, a in pairs if isinstance(a, Variable) and a not in stacked)
        if pairs:
            rest = [(p, a) for p, a in pairs if a not in stacked]
            by_argument = {a: p for p, a in pairs}
            scheduler.items.append(Copies(rest, [by_argument[a] for a in stacked], position))
        entries: list[Entry] = list(stacked)
        if target.depth > chain.depth:
            entries = [target.terminator.operands[0], *entries]
        if segment.exit.handler is not None and chain.handler is not None:
            copies = scheduler.copies(chain.handler)
            scheduler.items.extend([copies] if copies else [])
        scheduler.expect(entries)

    def _stacked(self, chain: Chain, pairs: list[tuple[Variable, Operand]]) -> list[Variable]:
        """The arguments better left on the stack: the parameter's old value is still used after they are made."""
        made: dict[Operand, int] = {v: i for i, step in enumerate(chain.steps) for v in step.results}
        last_use: dict[Operand, int] = {}
        for i, step in enumerate(chain.steps):
            last_use.update(dict.fromkeys(step.operands, i))
            if step.handler is not None:
                last_use.update(dict.fromkeys(step.handler.args, i))
        last_use.update(dict.fromkeys((a for _, a in pairs), len(chain.steps)))
        chosen = [
            a
            for p, a in pairs
            if a in made and self.candidates.used_once(a) and a.name in (p.name, None) and last_use.get(p, -1) > made[a]
        ]
        return sorted(chosen, key=made.__getitem__)

    def _branch(self, chain: Chain, segment: Segment, scheduler: Scheduler, steps: list[Step]) -> None:
        terminator = chain.terminator
        operand = terminator.operands[0]
        condition, negated, tests, handler = "true", False, list[Code](), None
        if steps and steps[-1].results == [operand] and operand in self.candidates:
            last = steps[-1]
            if last.op in ("truth", "not"):
                steps.pop()
                operand, negated, handler = last.operands[0], last.op == "not", last.handler
                tests = [] if is_bool(operand, self.context) else versions.truth_test()
                scheduler.position = last.position
            elif last.op in ("is", "is_not") and is_nothing(last.operands[1]):
                steps.pop()
                operand, condition = last.operands[0], "none" if last.op == "is" else "not_none"
        yes, no = (self._route(chain, edge) for edge in terminator.edges)
        if negated:
            yes, no = no, yes
        segment.exit = Exit(condition, [yes, no], scheduler.position, self._handler(handler))
        scheduler.operate(Selection([operand], [*tests], 0), handler, scheduler.position)

    def _next(self, chain: Chain, segment: Segment, scheduler: Scheduler) -> None:
        terminator = chain.terminator
        segment.exit = Exit("next", [], terminator.position, self._handler(chain.handler))
        below = chain.depth
        operands: list[Entry] = []
        if chain.stack_loop:
            below -= 1
        else:
            operands = [terminator.operands[0]]
            segment.exit.after = [Op("SWAP", 2, terminator.position), Op("POP_TOP", NO_ARG, terminator.position)]
        body = self._route(chain, terminator.edges[0], 1)
        done = self._route(chain, terminator.edges[1], 0, below, versions.after_exhaustion(), True)
        segment.exit.targets = [body, done]
        scheduler.operate(Selection(operands, [], 0), chain.handler, terminator.position)

    def _fuse_yield(self, chain: Chain) -> Step | None:
        """The ``yield`` that hands on what the receiver of this ``send`` yielded, taken out of its chain."""
        target = self.graph.chain_of[chain.terminator.edges[0].target]
        if not target.steps or not target.received or len(self.graph.incoming[target.blocks[0]]) != 1:
            return None
        first = target.steps[0]
        if first.op != "yield" or first.operands != target.received or first.operands[0] not in self.candidates:
            return None
        target.steps.pop(0)
        target.received = first.results or [Variable()]
        return first

    def _send(self, chain: Chain, segment: Segment, scheduler: Scheduler, fused: Step | None) -> None:
        terminator = chain.terminator
        position = terminator.position
        segment.exit = Exit("send", [], position, self._handler(chain.handler))
        after = segment.exit.after
        operands: list[Entry] = list(terminator.operands)
        if fused is not None:
            covering = self._handler(fused.handler)
            after += [Op(*code, fused.position, covering) for code in versions.suspend(fused.data, True)]
            copies = scheduler.copies(fused.handler) if fused.handler is not None else None
            operands += [Pending([copies])] if copies else []
        after += [Op("SWAP", 2, position), Op("POP_TOP", NO_ARG, position)]
        yielded = self._route(chain, terminator.edges[0], 1)
        label = self._end_send(chain)
        before = versions.after_send(label is not None)
        returned = self._route(chain, terminator.edges[1], 1, chain.depth, before, True)
        returned.label = label or returned.label
        segment.exit.targets = [yielded, returned]
        if fused is not None and versions.SEND_LANDS_BEFORE:
            segment.exit.landing = Label()
            landing = Mark(segment.exit.landing)
            returned.items[:0] = [Op("NOP", NO_ARG, fused.position, self._handler(fused.handler)), landing]
            returned.fixed += 2
        scheduler.operate(Selection(operands, [], 0), chain.handler, position)

    def _end_send(self, chain: Chain) -> Label | None:
        """What the END_SEND of an ``async for`` is called by the end of that loop."""
        handler = self.graph.chain_of[chain.handler.target] if chain.handler is not None else None
        steps = handler.steps if handler is not None else []
        return next((self.context.end_sends[s] for s in steps if s in self.context.end_sends), None)

    def _return(self, chain: Chain, scheduler: Scheduler) -> None:
        position = chain.terminator.position
        value = chain.terminator.operands[0]
        scheduler.items.append(Op("RETURN_VALUE", NO_ARG, position))
        if scheduler.on_stack(value):
            for _ in range(chain.depth):
                scheduler.items.extend([Op("POP_TOP", NO_ARG, position), Op("SWAP", 2, position)])
        scheduler.expect([value])
        if not scheduler.on_stack(value):
            scheduler.items.extend(_pops(chain.depth, position))

    def _raise(self, chain: Chain, scheduler: Scheduler) -> None:
        terminator = chain.terminator
        operands: list[Entry] = list(terminator.operands)
        code: Code = ("RAISE_VARARGS", len(operands))
        if terminator.kind == "reraise":
            error, lasti = terminator.operands
            operands = [error] if isinstance(lasti, Constant) else [lasti, error]
            code = ("RERAISE", len(operands) - 1)
        scheduler.operate(Selection(operands, [code], 0), chain.handler, terminator.position)

    def _route(
        self,
        chain: Chain,
        edge: Edge,
        received: int = 0,
        depth: int | None = None,
        before: list[Code] | None = None,
        always: bool = False,
    ) -> Segment:
        """Where an edge leads: its target, or a stub that prepares what the target wants."""
        target = self.graph.chain_of[edge.target]
        position = chain.terminator.position
        alone = len(self.graph.incoming[edge.target]) == 1
        pairs = [(p, a) for p, a in zip(target.params[0 if alone else received :], edge.args) if p is not a]
        pops = (chain.depth if depth is None else depth) - target.depth
        if not (pairs or pops or before or always or (received and not alone)):
            return self.segments[target]
        stub = Segment(target.depth, rank=self.segments[target].rank)
        stub.pinned = always
        stub.nesting = len(chain.loops & target.loops)
        stub.items += [Op(*code, position) for code in before or []]
        stub.fixed = len(stub.items)
        if received:
            for _ in range(pops):
                stub.items += [Op("SWAP", 2, position), Op("POP_TOP", NO_ARG, position)]
            if not alone:
                stub.items.append(Store(edge.target.params[0], position))
        else:
            stub.items += _pops(pops, position)
        if pairs:
            stub.items.append(Copies(pairs, [], position))
        stub.exit = Exit("jump", [self.segments[target]], position)
        self.stubs.append(stub)
        return stub


def _pops(count: int, position: Position | None) -> list[Op]:
    return [Op("POP_TOP", NO_ARG, position) for _ in range(count)]


def _same_handler(a: Edge | None, b: Edge | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.target is b.target and all(
        x is y or (isinstance(x, Constant) and isinstance(y, Constant) and x.value is y.value)
        for x, y in zip(a.args, b.args, strict=True)
    )


def _is_closed(chain: Chain) -> bool:
    """Whether a handler reads nothing but the exception and leaves the function."""
    if chain.terminator.edges or chain.handler is not None or any(step.handler for step in chain.steps):
        return False
    own = {*chain.received, *(v for step in chain.steps for v in step.results)}
    operands = [x for operands in (*chain.step_operands(), *chain.end_operands()) for x in operands]
    return all(isinstance(x, Constant) or x in own for x in operands)
