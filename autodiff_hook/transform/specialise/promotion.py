"""Dicts that only hold items of known names become variables: attributes and captured variables that change.

SSA construction as in Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013).
"""

from __future__ import annotations

from autodiff_hook.ir.analysis import count_uses, passed_on, predecessors, statements_of
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Statement, Variable, value_of
from autodiff_hook.transform.specialise.abstract import Dict
from autodiff_hook.transform.specialise.program import ITEMS, LOAD, STORE, Program


def promote(ir: IR, program: Program) -> dict[Operand, Operand]:
    """Promote what can be; what is to be put in the place of the items that were read."""
    _drop_unread_functions(ir)
    mapping: dict[Operand, Operand] = {}
    for owner in _candidates(ir, program):
        mapping |= _Promotion(ir, program, owner).run()
    return mapping


def _drop_unread_functions(ir: IR) -> None:
    """Leave out functions that are inlined wherever they are called: what they have captured is seen by nobody else.

    Other tuples stay: what is kept outside, where a way ends, is not read in the blocks.
    """
    captured: set[Operand] = set()
    while True:
        read = count_uses(ir.blocks)
        unread = [s for s in statements_of(ir.blocks) if s.result not in read]
        dropped = {s for s in unread if s.op == "make_function" or s.op == "build_tuple" and s.result in captured}
        if not dropped:
            return
        captured.update(x for s in dropped for x in s.operands)
        for block in ir.blocks:
            block.statements = [s for s in block.statements if s not in dropped]


def _candidates(ir: IR, program: Program) -> list[Variable]:
    """The dicts that are made once, and whose items alone are used, by names."""
    made: dict[Operand, Statement] = {}
    others: set[Operand] = set()
    for block in ir.blocks:
        others.update(passed_on(block))
        for s in block.statements:
            plan = program.plans.get(s)
            if plan == ITEMS and s.op == "build_map" and s.result is not None and _has_names(s.operands[::2]):
                made[s.result] = s
                others.update(s.operands)
            elif s.op in ("getitem", "setitem") and plan in (LOAD, STORE) and _has_names(s.operands[1:2]):
                others.update(s.operands[2:])
            else:
                others.update(s.operands)
    return [s.result for x, s in made.items() if x not in others and s.result is not None]


def _has_names(keys: list[Operand]) -> bool:
    return all(isinstance(key, Constant) and type(key.value) is str for key in keys)


class _Promotion:
    """One dict, whose items become variables."""

    def __init__(self, ir: IR, program: Program, owner: Variable) -> None:
        self.ir, self.program, self.owner = ir, program, owner
        kind = program.types[owner]
        assert isinstance(kind, Dict)
        self.kinds = kind.site.named
        self.incoming = predecessors(ir)
        self.ends: dict[tuple[Block, str], Operand | None] = {}
        self.starts: dict[tuple[Block, str], Operand | None] = {}
        self.params: list[tuple[Block, str, Variable]] = []
        self.values: dict[Variable, list[Operand | None]] = {}

    def run(self) -> dict[Operand, Operand]:
        """What is put in the place of the items that were read; nothing if one may be read before it is there."""
        for block in self.ir.blocks:
            for s in block.statements:
                for name, value in self._written(s).items():
                    self.ends[block, name] = value
        mapping: dict[Operand, Operand] = {}
        for block in self.ir.blocks:
            here: dict[str, Operand | None] = {}
            for s in block.statements:
                if s.op == "getitem" and s.operands[0] is self.owner and s.result is not None:
                    name = value_of(s.operands[1])
                    value = here[name] if name in here else self._at_start(block, name)
                    if value is None:
                        return {}
                    mapping[s.result] = value
                here.update(self._written(s))
        if any(None in values for values in self.values.values()):
            return {}
        self._rewrite()
        return mapping

    def _written(self, s: Statement) -> dict[str, Operand | None]:
        """The items that a statement gives other values; None: none at all."""
        if s.result is self.owner:
            given = dict(zip(map(value_of, s.operands[::2]), s.operands[1::2]))
            return {name: given.get(name) for name in self.kinds}
        if s.op == "setitem" and s.operands[0] is self.owner:
            return {value_of(s.operands[1]): s.operands[2]}
        return {}

    def _at_start(self, block: Block, name: str) -> Operand | None:
        """The value of an item where a block begins; None if there may be none."""
        passed = []
        while (block, name) not in self.starts:
            edges = self.incoming[block]
            if len(edges) != 1:
                self.starts[block, name] = self._joined(block, name, edges)
                break
            passed.append((block, name))
            before = edges[0][0]
            if (before, name) in self.ends:
                self.starts[block, name] = self.ends[before, name]
                break
            block = before
        found = self.starts[block, name]
        self.starts.update(dict.fromkeys(passed, found))
        return found

    def _joined(self, block: Block, name: str, edges: list[tuple[Block, Edge]]) -> Operand | None:
        if not edges:
            return None
        param = self.starts[block, name] = Variable(name)
        self.program.types[param] = self.kinds[name]
        self.params.append((block, name, param))
        values = self.values[param] = []
        for before, _ in edges:
            values.append(self.ends[before, name] if (before, name) in self.ends else self._at_start(before, name))
        return param

    def _rewrite(self) -> None:
        for block, _, param in self.params:
            block.params.append(param)
            for (_, edge), value in zip(self.incoming[block], self.values[param]):
                assert value is not None
                edge.args.append(value)
        for block in self.ir.blocks:
            block.statements = [
                s
                for s in block.statements
                if s.result is not self.owner and not (s.op in ("getitem", "setitem") and s.operands[0] is self.owner)
            ]
