"""The SSA builder: variables that may be assigned many times in, SSA with block arguments out.

On-the-fly construction after Braun et al., "Simple and Efficient Construction of Static Single
Assignment Form" (2013): ``write`` and ``read`` a key in a block, ``seal`` a block when all its
incoming edges are known, ``finish`` at the end. The lifter's keys are locals and stack slots, the
adjoint pass's keys are cotangents.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

from autodiff_hook import budget
from autodiff_hook.ir.analysis import postorder
from autodiff_hook.ir.substituting import resolve, substitute
from autodiff_hook.ir.types import UNBOUND, Block, Constant, Edge, Operand, Position, Statement, Variable

Provider = Callable[[Hashable], "Operand | Block | None"]
_STRIDE: Final = 16
"""Of how many blocks that a search has passed one remembers what was found: else memory would be quadratic."""


class Builder:
    """Builds the blocks of one function.

    ``default(key)`` is the value of a key that is read on a path where nothing wrote it.
    """

    def __init__(self, default: Callable[[Hashable], Operand] | None = None) -> None:
        self.blocks: list[Block] = []
        self._default = default or (lambda key: Constant(UNBOUND))
        self._definitions: dict[Block, dict[Hashable, Operand]] = {}
        self._incoming: dict[Block, list[tuple[Block, Edge]]] = {}
        self.keys: dict[Variable, Any] = {}
        """The key that each parameter was made for."""
        self._incomplete: dict[Block, dict[Hashable, Variable]] = {}
        self._joins: dict[Block, dict[Variable, list[Operand]]] = {}
        self._block_of: dict[Variable, Block] = {}
        self._unfilled: list[tuple[Variable, Hashable]] = []
        self._users: dict[Variable, set[Variable]] = {}
        self._replaced: dict[Operand, Operand] = {}
        self._sealed: set[Block] = set()
        self._bypassed: dict[Block, Block] = {}
        self._number: dict[Block, int] = {}
        self._after: list[int] = []
        self._written: dict[Hashable, int] | None = None
        self._provided = 0
        self._providers: dict[Block, Provider] = {}

    def block(self, sealed: bool = False) -> Block:
        """A new block at the end of the function."""
        block = Block()
        self.blocks.append(block)
        self._definitions[block] = {}
        self._incoming[block] = []
        self._incomplete[block] = {}
        self._joins[block] = {}
        if sealed:
            self._sealed.add(block)
        return block

    def emit(
        self,
        block: Block,
        op: str,
        *operands: Operand,
        data: object = None,
        position: Position | None = None,
        result: bool = True,
        name: str | None = None,
    ) -> Variable:
        """Append a statement; its result (a dangling variable if ``result`` is false)."""
        variable = Variable(name)
        block.statements.append(
            Statement(op, [self.resolve(x) for x in operands], variable if result else None, data, position)
        )
        return variable

    def edge(self, source: Block, target: Block) -> Edge:
        """An edge that ``source`` will use; ``finish`` appends the arguments that the builder's keys need."""
        assert target not in self._sealed, "edge into a sealed block"
        edge = Edge(target)
        self._incoming[target].append((source, edge))
        return edge

    def write(self, key: Hashable, block: Block, value: Operand) -> None:
        """Let ``key`` have ``value`` from here on in ``block``."""
        self._definitions[block][key] = value
        if self._written is not None and block in self._number:
            self._written[key] = self._written.get(key, 0) | self._after[self._number[block]]

    def read(self, key: Hashable, block: Block) -> Operand:
        """The value that ``key`` has at this point of ``block``."""
        value = self._look_up(key, block)
        if self._unfilled:
            self._complete()
        return self.resolve(value)

    def _look_up(self, key: Hashable, block: Block) -> Operand:
        """The value of ``key``; parameters made for it wait for ``_complete`` (no recursion: functions are long)."""
        pending = []
        while key not in self._definitions[block]:
            before = self._provided_by(block, key) if block in self._providers else None
            if before is block:
                break
            if before is None:
                before = self._bypassed.get(block)
            if before is None:
                if block not in self._sealed or len(self._incoming[block]) != 1:
                    break
                before = self._incoming[block][0][0]
            pending.append(block)
            block = before
        definitions = self._definitions[block]
        value = self.resolve(definitions[key]) if key in definitions else self._join(key, block)
        for passed in pending[::_STRIDE]:
            self._definitions[passed][key] = value
        return value

    def _provided_by(self, block: Block, key: Hashable) -> Block | None:
        """The block where a key is found that has no definition in ``block``, if its provider knows."""
        value = self._providers[block](key)
        if value is None or isinstance(value, Block):
            return value
        self._definitions[block][key] = value
        return block

    def provide(self, block: Block, provider: Provider) -> None:
        """Let ``provider`` say what keys have at the start of ``block`` when they are first read; or None.

        Where it gives a block, they have what they have at the end of that one.
        """
        self._providers[block] = provider

    def _join(self, key: Hashable, block: Block) -> Operand:
        nothing_before = block in self._sealed and not self._incoming[block]
        if nothing_before or (self._written is not None and self._out_of_reach(key, block)):
            value = self._default(key)
            self._definitions[block][key] = value
            return value
        param = Variable(key[1] if isinstance(key, tuple) and len(key) > 1 and isinstance(key[1], str) else None)
        self._joins[block][param] = []
        self.keys[param] = key
        self._block_of[param] = block
        self._definitions[block][key] = param
        if block in self._sealed:
            self._unfilled.append((param, key))
        else:
            self._incomplete[block][key] = param
        return param

    def _complete(self) -> None:
        """Give the waiting parameters their values, then remove the needless ones."""
        filled = []
        while self._unfilled:
            param, key = self._unfilled.pop()
            self._fill(param, key)
            filled.append(param)
        self._simplify(filled)

    def _fill(self, param: Variable, key: Hashable) -> None:
        block = self._block_of[param]
        values = [self._look_up(key, source) for source, _ in self._incoming[block]]
        for value in values:
            if isinstance(value, Variable) and value in self._block_of:
                self._users.setdefault(value, set()).add(param)
        self._joins[block][param] = values

    def _simplify(self, pending: list[Variable]) -> None:
        """Replace each parameter that can only have one value by that value."""
        while pending:
            param = pending.pop()
            same = self._only_value(param) if param in self._block_of else None
            if same is None:
                continue
            del self._joins[self._block_of.pop(param)][param]
            self._replaced[param] = same
            users = self._users.pop(param, set())
            if isinstance(same, Variable) and same in self._block_of:
                self._users.setdefault(same, set()).update(users)
            pending.extend(users)

    def _only_value(self, param: Variable) -> Operand | None:
        same: Operand | None = None
        for value in map(self.resolve, self._joins[self._block_of[param]][param]):
            if value is param or value is same or _same_constant(value, same):
                continue
            if same is not None:
                return None
            same = value
        return same

    def seal(self, block: Block) -> None:
        """Declare that all edges into ``block`` exist now."""
        assert block not in self._sealed
        self._sealed.add(block)
        self._unfilled.extend((param, key) for key, param in self._incomplete[block].items())
        self._incomplete[block].clear()
        self._complete()

    def bypass(self, block: Block, source: Block) -> None:
        """Declare that every way to ``block`` leads through ``source``, and that nothing is written after that."""
        self._bypassed[block] = source

    def seal_rest(self) -> None:
        """Seal all blocks, when all edges are made and all is written (but for what is read at its place)."""
        self.survey()
        self._drop_unwritten()
        for block in self.blocks:
            if block not in self._sealed:
                budget.check()
                self.seal(block)

    def survey(self) -> None:
        """Note what is written on the ways to the blocks that there are, when all edges to these are made.

        A key that nothing wrote on any way to a block has its default there, and no parameters are made and removed
        again to find that out.
        """
        self._number = {block: i for i, block in enumerate(self.blocks)}
        self._after = after = self._reachable()
        written: dict[Hashable, int] = {}
        for block, definitions in self._definitions.items():
            incomplete, reached = self._incomplete[block], after[self._number[block]]
            for key, value in definitions.items():
                if incomplete.get(key) is not value:
                    written[key] = written.get(key, 0) | reached
        for block in self._providers:
            self._provided |= after[self._number[block]]
        self._written = written

    def _drop_unwritten(self) -> None:
        """Replace the waiting parameters that can only have the default."""
        users: set[Variable] = set()
        for block, incomplete in self._incomplete.items():
            for key in [key for key in incomplete if self._out_of_reach(key, block)]:
                param = incomplete.pop(key)
                del self._joins[self._block_of.pop(param)][param]
                self._replaced[param] = self._default(key)
                users |= self._users.pop(param, set())
        self._simplify(list(users))

    def _reachable(self) -> list[int]:
        """For each block a mask of those that control may come to after it."""
        targets: list[list[int]] = [[] for _ in self.blocks]
        for block, number in self._number.items():
            for source, _ in self._incoming[block]:
                targets[self._number[source]].append(number)
        after, changed, order = [0] * len(targets), True, postorder(range(len(targets)), targets.__getitem__)
        while changed:
            changed = False
            for number in order:
                reached = after[number]
                for target in targets[number]:
                    reached |= after[target] | 1 << target
                changed = changed or reached != after[number]
                after[number] = reached
        return after

    def _out_of_reach(self, key: Hashable, block: Block) -> bool:
        """Whether it is certain that nothing was written to ``key`` on any way to the start of ``block``."""
        if self._written is None or block not in self._number:
            return False
        return not (self._written.get(key, 0) | self._provided) >> self._number[block] & 1

    def resolve(self, value: Operand) -> Operand:
        """``value``, or what it was replaced by."""
        return resolve(value, self._replaced)

    def finish(self) -> list[Block]:
        """The blocks, with parameters and edges filled in and every use of a replaced parameter rewritten."""
        for block in self.blocks:
            assert block in self._sealed, "an unsealed block"
            joins = self._joins[block]
            block.params.extend(joins)
            for index, (_, edge) in enumerate(self._incoming[block]):
                edge.args.extend(values[index] for values in joins.values())
        substitute(self.blocks, self._replaced)
        return self.blocks


def _same_constant(a: Operand | None, b: Operand | None) -> bool:
    return isinstance(a, Constant) and isinstance(b, Constant) and a.value is b.value
