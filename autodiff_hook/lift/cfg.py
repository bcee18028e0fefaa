"""Reading a code object: instructions, exception table, basic blocks and their order."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from dataclasses import field
from types import CodeType
from typing import Final, NamedTuple

from autodiff_hook.ir.types import Position
from autodiff_hook.records import record

_JUMPS: Final = frozenset(dis.opname[number] for number in dis.hasjrel) - {"END_ASYNC_FOR"}
"""From 3.14 on END_ASYNC_FOR is among them, though it does not jump: its argument is for ``sys.monitoring``."""

_LAST: Final = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}) | frozenset(
    name for name in dis.opname if name.startswith("JUMP_") and "_IF_" not in name
)
_CACHE: Final = dis.opmap.get("CACHE", 0)
_EXTENDED_ARG: Final = dis.EXTENDED_ARG
_UNIT: Final = 2


class Region(NamedTuple):
    """An entry of the exception table: which handler is in force from ``start`` to ``end``."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


@record
class Instruction:
    """One instruction with its prefixes folded in; ``following`` is the offset after its caches."""

    name: str
    arg: int
    offset: int
    following: int
    target: int | None
    region: Region | None
    position: Position

    @property
    def falls_through(self) -> bool:
        return self.name not in _LAST


@record
class CodeBlock:
    """Instructions that run one after another, unless one raises."""

    start: int
    instructions: list[Instruction] = field(default_factory=list)

    def successors(self) -> list[int]:
        """Where control may go from here, handlers included, without repetition."""
        last = self.instructions[-1]
        found = [last.following] if last.falls_through else []
        if last.target is not None:
            found.append(last.target)
        found.extend(x.region.target for x in self.instructions if x.region is not None)
        return list(dict.fromkeys(found))


def read_instructions(code: CodeType) -> list[Instruction]:
    """The instructions of ``code``, without caches and argument prefixes."""
    regions = list(_regions(code.co_exceptiontable))
    positions = list(code.co_positions())
    decoded = list(_decode(code.co_code))
    follow = [start for start, _, _, _ in decoded[1:]] + [len(code.co_code)]
    instructions = []
    position = Position(None, None, None, None)
    for (start, offset, name, arg), following in zip(decoded, follow, strict=True):
        target = region = None
        if name in _JUMPS:
            target = following + (-arg if "BACKWARD" in name else arg) * _UNIT
        if regions:
            region = next((x for x in regions if x.start <= offset < x.end), None)
        if positions[offset // _UNIT] != position:
            position = Position(*positions[offset // _UNIT])
        instructions.append(Instruction(name, arg, start, following, target, region, position))
    return instructions


def _decode(raw: bytes) -> Iterator[tuple[int, int, str, int]]:
    """Offset of the first prefix, offset, name and argument of each instruction."""
    start, arg, names = 0, 0, dis.opname
    for offset in range(0, len(raw), _UNIT):
        number = raw[offset]
        if number == _CACHE:
            start = offset + _UNIT
            continue
        arg = arg << 8 | raw[offset + 1]
        if number != _EXTENDED_ARG:
            yield start, offset, names[number], arg
            start, arg = offset + _UNIT, 0


def _regions(table: bytes) -> Iterator[Region]:
    data = iter(table)
    for first in data:
        start = _varint(data, first)
        length, target, flags = (_varint(data, next(data)) for _ in range(3))
        yield Region(start * _UNIT, (start + length) * _UNIT, target * _UNIT, flags >> 1, bool(flags & 1))


def _varint(data: Iterator[int], byte: int) -> int:
    value = byte & 63
    while byte & 64:
        byte = next(data)
        value = value << 6 | byte & 63
    return value


def split(instructions: list[Instruction]) -> dict[int, CodeBlock]:
    """The basic blocks by offset, in order of the code."""
    leaders = {0}
    covering: Region | None = None
    for x in instructions:
        if x.target is not None:
            leaders.update((x.target, x.following))
        elif x.name in _LAST:
            leaders.add(x.following)
        if x.region is not covering:
            if x.region is not None:
                leaders.add(x.region.target)
                if covering is None:
                    leaders.add(x.offset)
            covering = x.region
    blocks: dict[int, CodeBlock] = {}
    block = CodeBlock(0)
    for x in instructions:
        if x.offset in leaders:
            block = blocks[x.offset] = CodeBlock(x.offset)
        block.instructions.append(x)
    return blocks
