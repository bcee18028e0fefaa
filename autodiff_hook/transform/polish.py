"""Joint programs over arrays, written with the knowledge of types: calls that handle every kind of value go.

A cotangent whose elements are all one number (that of a sum) stays a number where it can: ``Site.spread``.
"""

from __future__ import annotations

import sys
from typing import Any

from autodiff_hook.ir.analysis import predecessors, reverse_postorder
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.abstract import Abstract, Array
from autodiff_hook.transform.bodies import substitute
from autodiff_hook.transform.facts import NOTHING, ArrayFact, Fact, NumberFact, Symbol, constant_fact, is_number, joined, value_of
from autodiff_hook.transform.folding import fold_statement, resolve, straighten
from autodiff_hook.transform.shortcuts import HARMLESS, SHORTCUTS, SUMS, declared, lookup
from autodiff_hook.transform.site import ARITHMETIC, Site, common_dtype, is_elementwise

_ROUNDS = 5


def polish(ir: IR, types: dict[Variable, Abstract], essential: set[Statement]) -> Site | None:
    """Rewrite ``ir`` by the types of its variables; what is known in the end, None if there are no arrays."""
    if "numpy" not in sys.modules or not any(isinstance(t, Array) for t in types.values()):
        return None
    first = _program_start(ir)
    outside = _outside(ir, first)
    _adopt(ir, types, first)
    straighten(ir)
    site = Site(types, outside)
    if not _learn(ir, site):
        return None
    if _start_with_zeros(ir, site) and not _learn(ir, site):
        return None
    _Rewriting(ir, site, essential).run()
    _guard(ir, site)
    return site


def _program_start(ir: IR) -> Block:
    """The block after the prologue, which loads and guards what comes from outside."""
    block = ir.entry
    while True:
        assert block.terminator is not None
        if block.terminator.kind != "branch" or _is_miss(block.terminator.edges[0].target):
            return block.terminator.edges[0].target if block.terminator.kind == "jump" else block
        if not _is_miss(block.terminator.edges[1].target):
            return block
        block = block.terminator.edges[0].target


def _is_miss(block: Block) -> bool:
    terminator = block.terminator
    return not block.statements and terminator is not None and terminator.kind == "return"


def _outside(ir: IR, first: Block) -> set[Variable]:
    found = set(ir.entry.params)
    block = ir.entry
    while block is not first:
        found |= {s.result for s in block.statements if s.result is not None}
        assert block.terminator is not None
        block = block.terminator.edges[0].target
    return found


def _adopt(ir: IR, types: dict[Variable, Abstract], first: Block) -> None:
    """What is known of a parameter of the program is known of the argument."""
    for block in ir.blocks:
        for edge in block.edges():
            if edge.target is first:
                for param, arg in zip(first.params, edge.args):
                    if isinstance(arg, Variable) and param in types:
                        types.setdefault(arg, types[param])


def _learn(ir: IR, site: Site) -> bool:
    """Work out what is known of all variables; whether that came to an end."""
    incoming = predecessors(ir)
    for block in ir.blocks:
        for s in block.statements:
            if s.result is not None:
                site.made[s.result] = s
            if s.op == "record":
                site.recorded |= {(s.data[0], i): x for i, x in enumerate(s.operands[1:])}
    for _ in range(_ROUNDS):
        changed = False
        for block in reverse_postorder(ir):
            for variable, fact in _facts_at(ir, block, incoming[block], site):
                if variable not in site.facts or site.facts[variable] != fact:
                    site.facts[variable] = fact
                    changed = True
        if not changed:
            return True
    return False


def _facts_at(ir: IR, block: Block, incoming: list[tuple[Block, Edge]], site: Site) -> Any:
    count = max((len(block.params) - len(edge.args) for _, edge in incoming), default=len(block.params))
    for i, param in enumerate(block.params):
        given = [edge.args[i - count] for _, edge in incoming] if i >= count else []
        known = [x for x in given if isinstance(x, Constant) or x in site.facts]
        yield param, _met(param, [site.fact(x) for x in known], site)
    for s in block.statements:
        if s.result is not None:
            yield s.result, site.transfer(s)


def _met(param: Variable, facts: list[Fact | None], site: Site) -> Fact | None:
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
            donor = _donor(fact, site)
            places = [(source, edge, i - len(block.params)) for source, edge in edges]
            if donor is None or not _is_accumulated(param, ir) or fact.dtype.char != "d":
                continue
            for source, edge, place in places:
                if isinstance(edge.args[place], Constant):
                    edge.args[place] = _zeros(source, donor)
                    found = True
    return found


def _is_accumulated(param: Variable, ir: IR) -> bool:
    return any(
        s.op == "call" and param in s.operands[1:] and declared(SUMS, value_of(s.operands[0]))
        for block in ir.blocks
        for s in block.statements
    )


def _donor(fact: ArrayFact, site: Site) -> Variable | None:
    """A variable from outside that has this shape."""
    for dim in fact.dims:
        dim = site.shapes.find(dim)
        if isinstance(dim, Symbol) and dim.source is not None:
            candidates = [v for v in site.outside if isinstance(site.facts.get(v), ArrayFact)]
            for v in candidates:
                known = site.facts[v]
                if isinstance(known, ArrayFact) and site.shapes.known_equal(known.dims, fact.dims):
                    return v
    return None


def _zeros(block: Block, donor: Variable) -> Variable:
    import numpy as np

    shape, zeros = Variable("shape"), Variable("zeros")
    block.statements.append(Statement("getattr", [donor], shape, "shape"))
    block.statements.append(Statement("call", [Constant(np.zeros), shape], zeros, ()))
    return zeros


class _Rewriting:
    """One pass over the program."""

    def __init__(self, ir: IR, site: Site, essential: set[Statement]) -> None:
        self.ir, self.site, self.essential = ir, site, essential
        self.known: dict[Operand, Operand] = {}
        site.simplified = self.simplified

    def run(self) -> None:
        """Rewrite all blocks."""
        for block in reverse_postorder(self.ir):
            statements, block.statements = block.statements, []
            self.site.out = block.statements
            for s in statements:
                self._statement(s)
        substitute(self.ir.blocks, self.known)

    def _statement(self, s: Statement) -> None:
        site = self.site
        s.operands = [resolve(x, self.known) for x in s.operands]
        if s.result is None:
            site.out.append(s)
            return
        site.position = s.position
        start = len(site.out)
        found = self.simplified(s)
        if found is None:
            site.add(s)
            if s in self.essential and self._is_harmless(s):
                self.essential.discard(s)
            return
        if s in self.essential:
            self.essential |= {x for x in site.out[start:] if not self._is_harmless(x)}
        self.known[s.result] = found

    def _is_harmless(self, s: Statement) -> bool:
        """Whether a statement cannot raise: it works element by element on shapes that fit."""
        site = self.site
        function = site.value(s.operands[0]) if s.op == "call" and s.operands else None
        operands = s.operands[1:] if s.op == "call" else s.operands
        if s.op == "call" and declared(HARMLESS, function):
            return site.facts.get(s.result) is not None if s.result is not None else False
        if s.op == "call" and not (is_elementwise(function) and len(operands) == function.nin and not s.data):
            return False
        if s.op not in ("call", "binary", "unary") or s.result is None or site.facts.get(s.result) is None:
            return False
        dims = [d for d in map(site.dims, operands) if d is not None]
        if not dims:
            double = any(site.is_floating(x) and not _may_be_plain(site.fact(x)) for x in operands)
            return s.op == "call" or s.op == "unary" or (double and s.data in "+-*")
        return len(dims) == 1 or (len(dims) == 2 and site.shapes.broadcast(*dims) is not None)

    def simplified(self, s: Statement) -> Operand | None:
        """What the result of ``s`` is, if it is there already or is written in another way."""
        if s.op == "binary":
            return self._binary(s)
        if s.op == "unary":
            return self._unary(s)
        function = self.site.value(s.operands[0]) if s.op == "call" and not s.data else NotImplemented
        shortcut = lookup(SHORTCUTS, function) if function is not NotImplemented else None
        return shortcut(self.site, *s.operands[1:]) if shortcut is not None else None

    def _binary(self, s: Statement) -> Operand | None:
        site = self.site
        known: dict[Operand, Operand] = {}
        if all(isinstance(x, Constant) and type(x.value) in (int, float) for x in s.operands):
            return known[s.result] if s.result is not None and fold_statement(s, known) else None
        if s.data not in ARITHMETIC or s.result is None:
            return None
        numbers = [site.spread.get(x) for x in s.operands]
        if any(n is not None for n in numbers):
            self._spread_binary(s, numbers)
        for constant, other in (s.operands, s.operands[::-1]):
            if s.data == "*" and site.is_double(other) and isinstance(constant, Constant):
                return other if _is_one(constant) else self._scaled(constant, other, s)
        return self._negated(s)

    def _scaled(self, factor: Constant, array: Operand, s: Statement) -> Operand | None:
        """``(x * 2) * 3``, ``-x * 3``: one product, if that is as exact."""
        site = self.site
        made = site.source(array)
        if made is None or not is_number(constant_fact(factor.value)):
            return None
        if made.op == "unary" and made.data == "-":
            return site.emit("binary", made.operands[0], Constant(-factor.value), data="*")
        if made.op == "binary" and made.data == "*":
            for inner, rest in (made.operands, made.operands[::-1]):
                if isinstance(inner, Constant) and is_number(constant_fact(inner.value)) and site.is_double(rest):
                    if _is_exact(inner.value) or _is_exact(factor.value):
                        return site.emit("binary", rest, Constant(inner.value * factor.value), data="*")
        return None

    def _spread_binary(self, s: Statement, numbers: list[Operand | None]) -> None:
        """An operation with an array whose elements are all one number."""
        site = self.site
        first = next(i for i, n in enumerate(numbers) if n is not None)
        other = s.operands[1 - first]
        dense = [x if n is None else n for x, n in zip(s.operands, numbers)]
        if site.is_number(other) or (None not in numbers and site.alike(*s.operands)):
            assert s.result is not None
            number = site.emit("binary", *dense, data=s.data)
            if site.is_floating(number):
                site.spread[s.result] = number
        elif site.is_double(other) and site.alike(*s.operands):
            s.operands = dense

    def _negated(self, s: Statement) -> Operand | None:
        """``a + -b`` as ``a - b``."""
        site = self.site
        a, b = s.operands
        if s.data != "+" or common_dtype(site.fact(a), site.fact(b)) is None:
            return None
        for kept, other in ((a, b), (b, a)):
            made = site.source(other)
            if made is not None and made.op == "unary" and made.data == "-" and site.is_double(other):
                return site.emit("binary", kept, made.operands[0], data="-")
        return None

    def _unary(self, s: Statement) -> Operand | None:
        number = self.site.spread.get(s.operands[0])
        if number is not None and s.data == "-" and s.result is not None:
            self.site.spread[s.result] = self.site.emit("unary", number, data="-")
        operand = s.operands[0]
        made = self.site.source(operand)
        if s.data == "-" and made is not None and made.op == "binary" and self.site.is_double(operand):
            if made.data == "*" and any(isinstance(x, Constant) for x in made.operands):
                return self.site.emit("binary", operand, Constant(-1.0), data="*")
        if s.data == "-" and isinstance(operand, Constant) and type(operand.value) in (int, float):
            return Constant(-operand.value)
        return None


def _may_be_plain(fact: Fact | None) -> bool:
    """Whether a number may be a float of Python's."""
    return not isinstance(fact, NumberFact) or float in fact.types


def _is_exact(factor: float) -> bool:
    """Whether multiplying by a number rounds nothing: it is a small power of two."""
    return abs(factor) in (0.25, 0.5, 1.0, 2.0, 4.0)


def _is_one(operand: Operand) -> bool:
    return isinstance(operand, Constant) and is_number(constant_fact(operand.value)) and operand.value == 1


def _guard(ir: IR, site: Site) -> None:
    """Enter the program only if lengths that were assumed to be equal are."""
    if not site.shapes.assumed:
        return
    block, miss = _last_guard(ir)
    for a, b in site.shapes.assumed:
        assert a.source is not None and b.source is not None
        lengths: list[Operand] = []
        rest = Block([], block.statements[:0], None)
        for variable, axis in (a.source, b.source):
            shape, length = Variable("shape"), Variable("length")
            rest.statements.append(Statement("getattr", [variable], shape, "shape"))
            rest.statements.append(Statement("getitem", [shape, Constant(axis)], length))
            lengths.append(length)
        same = Variable("same")
        rest.statements.append(Statement("compare", lengths, same, "=="))
        assert block.terminator is not None
        after = block.terminator.edges[0]
        block.terminator.edges[0] = Edge(rest, [])
        rest.terminator = Terminator("branch", [same], [after, Edge(miss, [])])
        ir.blocks.insert(ir.blocks.index(block) + 1, rest)
        block = rest


def _last_guard(ir: IR) -> tuple[Block, Block]:
    block = ir.entry
    assert block.terminator is not None
    miss = block.terminator.edges[1].target
    while True:
        assert block.terminator is not None
        following = block.terminator.edges[0].target
        terminator = following.terminator
        assert terminator is not None
        if terminator.kind != "branch" or terminator.edges[1].target is not miss:
            return block, miss
        block = following
