"""Which lists and dicts hold at the end of the primal what was read of them.

A later change is harmless if it is one of an object that was not there when the read happened: one that was made after
what was read had its name, or that each way from the read to the change makes anew.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from autodiff_hook.ir.analysis import definitions, dominates, dominators, statements_of
from autodiff_hook.ir.types import Block, Operand, Statement, Variable
from autodiff_hook.transform.lazy import lazy
from autodiff_hook.transform.specialise.abstract import Dict, List, Site
from autodiff_hook.transform.specialise.invariants import sites_changed
from autodiff_hook.transform.specialise.prepare import Shape
from autodiff_hook.transform.specialise.program import Program

_FRESH: Final = ("build_list", "build_map")
_MANY: Final = 32
"""Of lists that are changed in more places nothing is found out."""


class _Place(NamedTuple):
    block: Block
    number: int


class Lasting:
    """Answers for a prepared program."""

    def __init__(self, shape: Shape, program: Program) -> None:
        self.shape, self.program = shape, program
        self._reaching: dict[Statement, tuple[set[Block], set[Block]]] = {}

    @lazy
    def _places(self) -> dict[Operand, _Place]:
        blocks = self.shape.ir.blocks
        found: dict[Operand, _Place] = {p: _Place(block, -1) for block in blocks for p in block.params}
        for block in blocks:
            found |= {s.result: _Place(block, i) for i, s in enumerate(block.statements) if s.result is not None}
        return found

    @lazy
    def _made(self) -> dict[Operand, Statement]:
        return definitions(statements_of(self.shape.ir.blocks))

    @lazy
    def _immediate(self) -> dict[Block, Block]:
        return dominators(self.shape.ir)

    @lazy
    def _changes(self) -> dict[Site, list[tuple[_Place, Statement]]]:
        found: dict[Site, list[tuple[_Place, Statement]]] = {}
        for block in self.shape.ir.blocks:
            for i, s in enumerate(block.statements):
                for site in sites_changed(s, self.program):
                    found.setdefault(site, []).append((_Place(block, i), s))
        return found

    def __call__(self, read: Variable, owner: Operand) -> bool:
        """Whether what the statement with the result ``read`` has read of ``owner``, a list or a dict, stays there."""
        kind = self.program.types.get(owner)  # type: ignore[arg-type]
        place, home = self._places.get(read), self._places.get(owner)
        if not isinstance(kind, (List, Dict)) or place is None or home is None:
            return False
        changes = self._changes.get(kind.site.root(), [])
        return len(changes) <= _MANY and all(self._is_harmless(where, s, place, home) for where, s in changes)

    def _is_harmless(self, where: _Place, s: Statement, place: _Place, home: _Place) -> bool:
        changed = self._made.get(s.operands[0])
        made = self._places[s.operands[0]] if changed is not None and changed.op in _FRESH else None
        return made is not None and self._is_before(home, made) or not self._reaches(place, where, s, made)

    def _is_before(self, a: _Place, b: _Place) -> bool:
        """Whether each way to one place leads by another one."""
        return a.number < b.number if a.block is b.block else dominates(self._immediate, a.block, b.block)

    def _reaches(self, start: _Place, end: _Place, s: Statement, made: _Place | None) -> bool:
        """Whether there is a way from one place to that of a change on which what is changed is not made."""
        if start.block is end.block and start.number < end.number:
            return made is None or made.block is not end.block or not start.number < made.number < end.number
        if s not in self._reaching:
            self._reaching[s] = self._before(end, made)
        open_blocks, making = self._reaching[s]
        return start.block in open_blocks or start.block in making and made is not None and start.number > made.number

    def _before(self, end: _Place, made: _Place | None) -> tuple[set[Block], set[Block]]:
        """The blocks from whose beginning a change is reached, and those that make what is changed on the way."""
        seen, making = set[Block](), set[Block]()
        if made is not None and made.block is end.block and made.number < end.number:
            return seen, making
        pending = [end.block]
        while pending:
            for block, _ in self.shape.incoming[pending.pop()]:
                if made is not None and block is made.block:
                    making.add(block)
                elif block not in seen:
                    seen.add(block)
                    pending.append(block)
        return seen, making
