"""A region of a function that is carried becomes a function of its own, and a call of that stands in its place."""

from __future__ import annotations

from types import CodeType
from typing import Final

from autodiff_hook.emit import emit
from autodiff_hook.ir.analysis import (
    count_uses,
    dominates,
    dominators,
    free_variables,
    natural_loops,
    reverse_postorder,
    statements_of,
)
from autodiff_hook.ir.substituting import copy_blocks
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Signature, Statement, Terminator, Variable

_NONE: Final = Constant(None)


class Outlining:
    """Puts a region into a function of its own, and a call of that in its place."""

    def __init__(self, ir: IR, entry: Block, region: list[Block], leads_to: Block | None) -> None:
        self.ir, self.entry, self.leads_to = ir, entry, leads_to
        self.region = [entry, *[block for block in region if block is not entry]]
        self.inside = set(region)
        self.begun = begun(ir, self.region, leads_to)
        """The empty lists and dicts that the region alone fills: it makes them."""
        cells = cells_of(ir)
        read = [x for x in free_variables(self.region) if x not in self.begun]
        self.cells = {x: cells[x] for x in read if x in cells}
        self.read = [x for x in read if x not in cells]
        uses = count_uses([block for block in ir.blocks if block not in self.inside])
        self.results = [] if leads_to is None else [*used_behind(ir, self.region), *[x for x in self.begun if uses[x]]]
        outer = [b.handler for b in region if b.handler is not None and b.handler.target not in self.inside]
        self.handler = outer[0] if outer else None
        self.position = next((s.position for s in statements_of(self.region)), None)

    def replace(self) -> CodeType:
        """Let the first block of the region call its function; the code of that."""
        code = emit(self._function())
        function, found = Variable(), Variable()
        statements, closed = list[Statement](), Variable()
        if self.cells:
            statements.append(Statement("build_tuple", [*self.cells], closed, None, self.position))
        made = [_NONE, _NONE, _NONE, closed if self.cells else _NONE, _NONE]
        statements.append(Statement("make_function", made, function, code, self.position))
        statements.append(Statement("call", [function, *self.entry.params, *self.read], found, (), self.position))
        self.entry.statements, self.entry.handler = statements, self.handler
        gone = {*self.region[1:]}
        self.ir.blocks = [block for block in self.ir.blocks if block not in gone]
        for block in self.ir.blocks:
            block.statements = [s for s in block.statements if s.result not in self.begun]
        behind = Block(terminator=Terminator("return", [found], [], self.position))
        if self.leads_to is not None:
            passed = [Variable(p.name) for p in self.leads_to.params]
            parts, whole = [*passed, *self.results], Variable()
            behind.statements.append(Statement("unpack", [found], whole, (len(parts), None), self.position))
            behind.statements += [Statement("project", [whole], x, i, self.position) for i, x in enumerate(parts)]
            behind.terminator = Terminator("jump", [], [Edge(self.leads_to, [*passed])], self.position)
        self.entry.terminator = Terminator("jump", [], [Edge(behind)], self.position)
        self.ir.blocks.append(behind)
        return code

    def _function(self) -> IR:
        ir, names = self.ir, dict[Operand, Operand]()
        first_given = [Variable(x.name) for x in self.entry.params]
        read = [Variable(x.name) for x in self.read]
        cells = [Variable(name) for name in self.cells.values()]
        empty = [Statement(s.op, [], Variable(x.name), s.data, s.position) for x, s in self.begun.items()]
        names.update(zip([*self.read, *self.cells, *self.begun], [*read, *cells, *(s.made for s in empty)]))
        copies = copy_blocks(self.region, names)
        first = Block([*first_given, *read, *cells], empty)
        first.terminator = Terminator("jump", [], [Edge(copies[self.entry], [*first_given])], self.position)
        blocks = [first, *copies.values()]
        if self.leads_to is not None:
            blocks.append(self._last(copies, names))
        for block in copies.values():
            if block.handler is not None and self.handler is not None and block.handler.target is self.handler.target:
                block.handler = None
        parameters = _different([x.name for x in (*first_given, *read)])
        signature = Signature(parameters, len(parameters), len(parameters))
        free_names = tuple(self.cells.values())
        return IR(ir.name, signature, ir.qualname, ir.filename, ir.first_line, "function", free_names, blocks)

    def _last(self, copies: dict[Block, Block], names: dict[Operand, Operand]) -> Block:
        """The block that returns what is used behind the region."""
        assert self.leads_to is not None
        last, whole = Block([Variable(p.name) for p in self.leads_to.params]), Variable()
        parts = [*last.params, *[names[x] for x in self.results]]
        last.statements = [Statement("build_tuple", parts, whole, None, self.position)]
        last.terminator = Terminator("return", [whole], [], self.position)
        for block in copies.values():
            for edge in block.terminator.edges:
                edge.target = last if edge.target is self.leads_to else edge.target
        return last


def begun(ir: IR, region: list[Block], leads_to: Block | None) -> dict[Variable, Statement]:
    """The empty lists and dicts that are made before a region, in the same loops, and are first used in it."""
    inside, order = set(region), reverse_postorder(ir)
    idom, loops = dominators(ir, order), [loop.body for loop in natural_loops(ir)]
    around = [body for body in loops if region[0] in body]
    elsewhere: dict[Operand, list[Block]] = {}
    for block in order:
        if block not in inside:
            for x in count_uses([block]):
                elsewhere.setdefault(x, []).append(block)
    found: dict[Variable, Statement] = {}
    for block in order:
        if block in inside or not all(block in body for body in around):
            continue
        for s in block.statements:
            if s.op in ("build_list", "build_map") and not s.operands and s.result is not None:
                users = elsewhere.get(s.result, [])
                if all(leads_to is not None and dominates(idom, leads_to, user) for user in users):
                    found[s.result] = s
    read = {*free_variables(region)}
    return {x: s for x, s in found.items() if x in read}


def _different(names: list[str | None]) -> tuple[str, ...]:
    """Names for parameters, of which no two are one."""
    found: dict[str, None] = {}
    for index, name in enumerate(names):
        found[f".{index}" if name is None or name in found else name] = None
    return tuple(found)


def used_behind(ir: IR, region: list[Block]) -> list[Variable]:
    """What a region makes, but for the parameters of its first block, and other blocks use."""
    inside = set(region)
    uses = count_uses([block for block in ir.blocks if block not in inside])
    made = [p for block in region[1:] for p in block.params]
    made += [s.result for s in statements_of(region) if s.result is not None]
    return [v for v in made if uses[v]]


def cells_of(ir: IR) -> dict[Operand, str]:
    """The cells of a function, with their names."""
    frees = ir.entry.params[len(ir.signature.names) :]
    found: dict[Operand, str] = dict(zip(frees, ir.free_names))
    for block in ir.blocks:
        for s in block.statements:
            if s.op == "make_cell" and s.result is not None:
                found[s.result] = s.result.name or f"cell {len(found)}"
    return found
