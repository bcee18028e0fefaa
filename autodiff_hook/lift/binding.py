"""Which locals are certainly bound where (3.11 leaves that to run time, later compilers mark the doubtful reads)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from autodiff_hook.lift.cfg import CodeBlock, Instruction

_BINDS: Final = frozenset({"STORE_FAST", "LOAD_FAST", "MAKE_CELL"})
_EVERYTHING: Final = -1


class Bindings:
    """A forward dataflow over bit sets of slots: a slot is bound if it is on all paths."""

    def __init__(self, blocks: dict[int, CodeBlock], order: Iterable[int], initially: int) -> None:
        self._before: dict[int, int] = {}
        self._blocks = blocks
        at_start = dict.fromkeys(blocks, _EVERYTHING)
        at_start[0] = initially
        order = list(order)
        changed = True
        while changed:
            changed = any([self._flow(blocks[start], at_start) for start in order])

    def _flow(self, block: CodeBlock, at_start: dict[int, int]) -> bool:
        """Push the state through one block; whether a successor learned something."""
        state = at_start[block.start]
        reached: dict[int, int] = {}
        for x in block.instructions:
            self._before[x.offset] = state
            if x.region is not None:
                reached[x.region.target] = reached.get(x.region.target, _EVERYTHING) & state
            state = _after(x, state)
        last = block.instructions[-1]
        for target in (last.target, last.following if last.falls_through else None):
            if target is not None:
                reached[target] = reached.get(target, _EVERYTHING) & state
        changed = False
        for target, value in reached.items():
            if target in at_start and at_start[target] & value != at_start[target]:
                at_start[target] &= value
                changed = True
        return changed

    def is_bound(self, slot: int, instruction: Instruction) -> bool:
        """Whether the slot has a value whenever control comes to the instruction."""
        return bool(self._before[instruction.offset] >> slot & 1)


def _after(instruction: Instruction, state: int) -> int:
    if instruction.name in _BINDS:
        return state | 1 << instruction.arg
    if instruction.name == "DELETE_FAST":
        return state & ~(1 << instruction.arg)
    return state
