"""From instructions over slots to a code object.

CPython's own assembler cannot be reached from Python. This one was measured against the ``bytecode``
library, which checks every instruction and makes three objects of it: that was two thirds of ``emit``.
"""

from __future__ import annotations

from itertools import accumulate
from types import CodeType
from typing import Any, Final

from autodiff_hook.emit import versions
from autodiff_hook.emit.items import NO_ARG, Label, Mark, Op, Segment
from autodiff_hook.emit.lower import Lowered
from autodiff_hook.emit.opcodes import (
    CODES,
    CONSTANT,
    ENDS,
    EXTENDED_ARG,
    FLAGGED_NAME,
    JUMP_BACKWARD,
    JUMP_FORWARD,
    KEYWORDS,
    LOCAL,
    LOCALS,
    NAME,
    UNITS,
    effect,
)
from autodiff_hook.emit.tables import exception_table, location_table
from autodiff_hook.ir.types import IR, Position

_FLAGS: Final = {"function": 0, "generator": 0x20, "coroutine": 0x80, "async_generator": 0x200}
_OPTIMIZED_NEWLOCALS: Final = 3
_VARARGS: Final = 4
_VARKEYWORDS: Final = 8
_QUIET: Final = frozenset(
    "LOAD_FAST STORE_FAST LOAD_CONST POP_TOP COPY SWAP PUSH_NULL LOAD_CLOSURE NOP NOT_TAKEN KW_NAMES PRECALL "
    "LOAD_FAST_LOAD_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST LOAD_FAST_BORROW "
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW".split()
)
_QUIET_OPCODES: Final = frozenset(CODES[name][0] for name in _QUIET if name in CODES)
_NOP: Final = CODES["NOP"][0]
_HANDLER_PUSHES: Final = 2 if versions.LASTI else 1


class Assembler:
    """Collects instructions as numbers; labels and exception regions are indices into them."""

    def __init__(self, ir: IR, names: list[str], cells: list[str], handlers: set[Segment]) -> None:
        self._ir = ir
        self._locals = names
        self._cells = cells
        own = [name for name in cells if name not in names]
        self._place_of_cell = {name: i for i, name in enumerate(names)}
        self._place_of_cell.update((name, len(names) + i) for i, name in enumerate([*own, *ir.free_names]))
        self._opcodes: list[int] = []
        self._args: list[int] = []
        self._positions: list[Position | None] = []
        self._labels: dict[Label, int] = {}
        self._jumps: list[tuple[int, Label, bool]] = []
        self._regions: list[tuple[int, int, Segment]] = []
        self._covering: Segment | None = None
        self._start = self._closed = 0
        self._held: int | None = None
        self._names: dict[str, int] = {}
        self._constants: list[Any] = [None]
        self._constant_index: dict[Any, int] = {}
        self._depth = self._highest = 0
        self._depth_at = {handler.label: handler.depth + _HANDLER_PUSHES for handler in handlers}

    def assemble(self, items: list[Lowered]) -> CodeType:
        """The code object."""
        self._prologue()
        for item in items:
            if type(item) is Mark:
                self._mark(item.label)
                continue
            assert isinstance(item, Op)
            if item.handler is not self._covering:
                self._change_region(item)
            elif self._held is not None:
                self._held = None
            self._instruction(item)
        if self._covering is not None:
            self._close()
        return self._finish()

    def _prologue(self) -> None:
        """What stands before the first statement."""
        ir = self._ir
        start = Position(ir.first_line, None, None, None)
        if ir.free_names:
            self._append("COPY_FREE_VARS", len(ir.free_names), start)
        for name in self._cells:
            self._append("MAKE_CELL", self._place_of_cell[name], start)
        if ir.kind != "function":
            self._append("RETURN_GENERATOR", 0, start)
            self._append("POP_TOP", 0, start)
        self._append("RESUME", 0, start)

    def _append(self, name: str, arg: int, position: Position | None) -> None:
        number, _, change = CODES[name]
        self._add(number, arg, position, effect(number, arg) if change is None else change)

    def _add(self, number: int, arg: int, position: Position | None, change: int) -> None:
        self._depth += change
        if self._depth > self._highest:
            self._highest = self._depth
        self._opcodes.append(number)
        self._args.append(arg)
        self._positions.append(position)

    # Exception regions

    def _change_region(self, item: Op) -> None:
        """The next instruction has another handler; one that cannot raise need not end the region yet."""
        if self._covering is not None:
            if item.handler is None and item.name in _QUIET:
                if self._held is None:
                    self._held = len(self._opcodes)
                return
            self._close()
        if item.handler is not None:
            self._open(item.handler)

    def _close(self) -> None:
        assert self._covering is not None
        self._closed = len(self._opcodes) if self._held is None else self._held
        self._regions.append((self._start, self._closed, self._covering))
        self._covering = self._held = None

    def _open(self, handler: Segment) -> None:
        """Begin a region, one instruction earlier where CPython looks for handlers too early."""
        self._start = len(self._opcodes)
        self._covering = handler
        if versions.EARLY_HANDLERS:
            alone = self._start > self._closed and self._marked != self._start
            if alone and self._opcodes[-1] in _QUIET_OPCODES:
                self._start -= 1
            else:
                self._add(_NOP, 0, None, 0)

    # Instructions

    _marked = -1

    def _mark(self, label: Label) -> None:
        place = len(self._opcodes)
        if self._covering is not None and self._held is None:
            self._held = place
        self._labels[label] = self._marked = place
        self._depth = max(self._depth, self._depth_at.get(label, 0))

    def _instruction(self, item: Op) -> None:
        number, kind, change = CODES[item.name]
        arg = item.arg
        if arg is NO_ARG:
            arg = 0
        elif kind == LOCAL:
            if not isinstance(arg, int):
                arg = self._place_of_cell[arg.name]
        elif kind == CONSTANT:
            arg = self._constant(id(arg), arg)
        elif kind == FLAGGED_NAME:
            arg = arg[0] | self._name(arg[1]) << 1
        elif kind == NAME:
            arg = self._name(arg)
        elif kind == JUMP_FORWARD or kind == JUMP_BACKWARD:
            arg = self._jump(number, arg, kind == JUMP_FORWARD)
        elif kind == LOCALS:
            arg = arg[0] << 4 | arg[1]
        elif kind == KEYWORDS:
            arg = self._constant(arg, arg)
        if change is None:
            change = effect(number, arg & 1 if kind == FLAGGED_NAME else arg)
        self._add(number, arg, item.position, change)
        if ENDS[number]:
            self._depth = 0

    def _jump(self, number: int, target: Label, forward: bool) -> int:
        self._jumps.append((len(self._opcodes), target, forward))
        depth = self._depth + effect(number, 0, True)
        self._depth_at[target] = max(self._depth_at.get(target, 0), depth)
        self._highest = max(self._highest, depth)
        return 0

    def _constant(self, key: Any, value: Any) -> int:
        """Constants are one only if they are identical: equal ones need not be the same."""
        index = self._constant_index.get(key)
        if index is None:
            index = self._constant_index[key] = len(self._constants)
            self._constants.append(value)
        return index

    def _name(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    # The code object

    def _finish(self) -> CodeType:
        sizes = [UNITS[number] for number in self._opcodes]
        for i, arg in enumerate(self._args):
            if arg > 255:
                sizes[i] += _prefixes(arg)
        offsets = self._resolve_jumps(sizes)
        ir, signature = self._ir, self._ir.signature
        flags = _OPTIMIZED_NEWLOCALS | _FLAGS[ir.kind]
        flags |= _VARARGS if signature.varargs else 0
        flags |= _VARKEYWORDS if signature.varkeywords else 0
        return CodeType(
            signature.positional,
            signature.positional_only,
            signature.keyword_only,
            len(self._locals),
            self._highest + 1,
            flags,
            self._code(offsets),
            tuple(self._constants),
            tuple(self._names),
            tuple(self._locals),
            ir.filename,
            ir.name,
            ir.qualname or ir.name,
            ir.first_line,
            location_table(ir.first_line, self._positions, sizes),
            self._exception_table(offsets),
            ir.free_names,
            tuple(self._cells),
        )

    def _resolve_jumps(self, sizes: list[int]) -> list[int]:
        """Fill in the arguments of jumps; a far jump needs prefixes, which can make other jumps far."""
        args = self._args
        while True:
            offsets = list(accumulate(sizes, initial=0))
            grown = False
            for index, label, forward in self._jumps:
                distance = offsets[self._labels[label]] - offsets[index + 1]
                arg = distance if forward else -distance
                assert arg >= 0, "a jump in the wrong direction"
                if arg > 255 and _prefixes(arg) != _prefixes(args[index]):
                    sizes[index] += _prefixes(arg) - _prefixes(args[index])
                    grown = True
                args[index] = arg
            if not grown:
                return offsets

    def _code(self, offsets: list[int]) -> bytes:
        code = bytearray(2 * offsets[-1])
        for number, arg, offset in zip(self._opcodes, self._args, offsets):
            place = 2 * offset
            if arg > 255:
                for shift in range(8 * _prefixes(arg), 0, -8):
                    code[place] = EXTENDED_ARG
                    code[place + 1] = arg >> shift & 255
                    place += 2
            code[place] = number
            code[place + 1] = arg & 255
        return bytes(code)

    def _exception_table(self, offsets: list[int]) -> bytes:
        """Regions begin behind the prefixes of their first instruction: a jump into it skips nothing that raises."""
        regions = [
            (offsets[start] + _prefixes(self._args[start]), offsets[end], offsets[self._labels[h.label]], h.depth)
            for start, end, h in self._regions
        ]
        return exception_table(regions, versions.LASTI)


def _prefixes(arg: int) -> int:
    """How many EXTENDED_ARGs an argument needs."""
    return (max(arg.bit_length(), 1) - 1) >> 3
