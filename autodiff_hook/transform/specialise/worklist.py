"""The blocks that an interpretation has still to visit, each after those that control comes from.

So what comes together is known when a block is visited, and only loops are visited again. What is put in the place of
a call is visited where the call stood.
"""

from __future__ import annotations

from heapq import heappop, heappush

from autodiff_hook.ir.types import Block

_WIDTH = 1 << 512
"""The room of a block for what will be put in the place of its calls."""


class Worklist:
    """Blocks by their places: each has an interval of numbers, in which those lie that take the place of its calls."""

    def __init__(self) -> None:
        self._places: dict[Block, tuple[int, int]] = {}
        self._waiting: list[tuple[int, int, Block]] = []
        self._queued: set[Block] = set()
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def place(self, blocks: list[Block], within: Block | None) -> None:
        """Let ``blocks``, in this order, be visited right after the block that they were called in."""
        start, end = (0, len(blocks) * _WIDTH << 4) if within is None else self._places[within]
        # What follows a call has most of the room: there may be many calls, one after the other.
        step = ((end - start) >> 4) // (len(blocks) + 1)
        for i, block in enumerate(blocks, 1):
            self._places[block] = start + i * step, start + (i + 1) * step

    def place_after(self, rest: Block, block: Block) -> None:
        """Let ``rest`` be visited after what was put in the place of a call that ``block`` ends with."""
        start, end = self._places[block]
        self._places[rest] = start + ((end - start) >> 4), end

    def place_as(self, block: Block, other: Block) -> None:
        """Let a block be visited where another one is."""
        self._places[block] = self._places[other]

    def add(self, block: Block, source: Block | None = None) -> None:
        """Let a block wait; one that has no place is visited with the block it was come to from."""
        if block in self._queued:
            return
        if block not in self._places:
            self._places[block] = self._places[source] if source is not None else (0, _WIDTH)
        self._queued.add(block)
        # The last one first, of those in one place.
        self._count -= 1
        heappush(self._waiting, (self._places[block][0], self._count, block))

    def pop(self) -> Block:
        """The first block that waits."""
        block = heappop(self._waiting)[2]
        self._queued.discard(block)
        return block
