"""Variables that have come to have several definitions get one name for each place again."""

from __future__ import annotations

from dataclasses import field

from autodiff_hook.ir.substituting import resolve, substitute
from autodiff_hook.ir.types import UNBOUND, Block, Constant, Edge, Operand, Variable
from autodiff_hook.records import record


@record
class Versions:
    """The variables that are versions of one: ``origin`` leads from each, the first among them, to that one."""

    blocks: list[Block]
    """All that can be reached, the entry first."""
    origin: dict[Variable, Variable]
    incoming: dict[Block, list[tuple[Block, Edge]]] = field(default_factory=dict)
    at_start: dict[tuple[Block, Variable], Operand] = field(default_factory=dict)
    at_end: dict[Block, dict[Variable, Variable]] = field(default_factory=dict)
    """The versions that blocks define."""
    made: list[tuple[Variable, Block]] = field(default_factory=list)

    def settle(self) -> None:
        """Let each use read the version that arrives there; where several arrive, a parameter of the block does.

        Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013).
        """
        for block in self.blocks:
            defined = [*block.params, *(s.result for s in block.statements if s.result in self.origin)]
            self.at_end[block] = {self.origin[v]: v for v in defined if v in self.origin}
            for edge in block.edges():
                self.incoming.setdefault(edge.target, []).append((block, edge))
        for block in list(self.blocks):
            self._read(block)
        self._drop_trivial()

    def _read(self, block: Block) -> None:
        seen = {self.origin[p]: p for p in block.params if p in self.origin}

        def version(x: Operand) -> Operand:
            if not isinstance(x, Variable) or x not in self.origin:
                return x
            root = self.origin[x]
            return seen[root] if root in seen else self._before(block, root)

        for s in block.statements:
            s.operands = list(map(version, s.operands))
            if s.result in self.origin:
                seen[self.origin[s.result]] = s.result
        block.terminator.operands = list(map(version, block.terminator.operands))
        for edge in block.edges():
            edge.args = list(map(version, edge.args))

    def _before(self, block: Block, root: Variable) -> Operand:
        """The version that arrives at a block."""
        passed = []
        while (block, root) not in self.at_start and len(self.incoming.get(block, ())) == 1:
            passed.append(block)
            block = self.incoming[block][0][0]
            if root in self.at_end[block]:
                found: Operand = self.at_end[block][root]
                break
        else:
            found = self.at_start[block, root] if (block, root) in self.at_start else self._joined(block, root)
        self.at_start |= dict.fromkeys(((b, root) for b in passed), found)
        return found

    def _joined(self, block: Block, root: Variable) -> Operand:
        edges = self.incoming.get(block, [])
        if not edges:
            return Constant(UNBOUND)
        param = Variable(root.name)
        self.at_start[block, root] = param
        self.made.append((param, block))
        arriving = [
            self.at_end[source][root] if root in self.at_end[source] else self._before(source, root)
            for source, _ in edges
        ]
        block.params.append(param)
        for (_, edge), value in zip(edges, arriving):
            edge.args.append(value)
        return param

    def _drop_trivial(self) -> None:
        """Parameters to which one value comes, but for themselves, are that value."""
        replaced: dict[Operand, Operand] = {}
        while True:
            kept = []
            for param, block in self.made:
                place = block.params.index(param) - len(block.params)
                values = {resolve(edge.args[place], replaced) for _, edge in self.incoming[block]} - {param}
                if len(values) > 1:
                    kept.append((param, block))
                    continue
                replaced[param] = values.pop()
                del block.params[place]
                for _, edge in self.incoming[block]:
                    del edge.args[place]
            if len(kept) == len(self.made):
                break
            self.made = kept
        substitute(self.blocks, replaced)
