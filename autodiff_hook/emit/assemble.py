"""From lowered segments to a code object."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

from bytecode import Bytecode
from bytecode.instr import BaseInstr, CellVar, Instr, InstrLocation, Label, TryBegin, TryEnd

from autodiff_hook.emit import versions
from autodiff_hook.emit.items import NO_ARG, Mark, Op, Segment
from autodiff_hook.emit.lower import Lowered, Slot
from autodiff_hook.ir.types import IR, Position

_FLAGS: Final = {"function": 0, "generator": 0x20, "coroutine": 0x80, "async_generator": 0x200}
_OPTIMIZED_NEWLOCALS: Final = 3
_VARARGS: Final = 4
_VARKEYWORDS: Final = 8
_QUIET: Final = frozenset(
    "LOAD_FAST STORE_FAST LOAD_CONST POP_TOP COPY SWAP PUSH_NULL LOAD_CLOSURE NOP KW_NAMES PRECALL "
    "LOAD_FAST_LOAD_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST".split()
)
_OPPOSITE: Final = {"true": "FALSE", "false": "TRUE", "none": "NOT_NONE", "not_none": "NONE"}
_FUSED: Final = frozenset({("LOAD_FAST", "LOAD_FAST"), ("STORE_FAST", "LOAD_FAST"), ("STORE_FAST", "STORE_FAST")})
_SUPERINSTRUCTION_SLOTS: Final = 16


class _Kept:
    """A constant on its way through the assembler, which would merge equal constants."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def linear(order: list[Segment], lowered: dict[Segment, list[Lowered]]) -> Iterator[Lowered]:
    """The segments one after the other, with their jumps; empty ones are jumped over."""
    final = {segment: _final(segment, lowered) for segment in order}
    rank = {segment: i for i, segment in enumerate(order)}
    kept = [s for s in order if final[s] is s or s is order[0] or (s.pinned and rank[final[s]] <= rank[s])]
    place = {segment: i for i, segment in enumerate(kept)}
    for i, segment in enumerate(kept):
        yield Mark(segment.label)
        yield from lowered[segment]
        following = kept[i + 1] if i + 1 < len(kept) else None
        yield from _leave(segment, i, following, final, place)


def _final(segment: Segment, lowered: dict[Segment, list[Lowered]]) -> Segment:
    seen = set()
    while not lowered[segment] and segment.exit.kind == "jump" and segment.exit.handler is None:
        if segment in seen:
            break
        seen.add(segment)
        segment = segment.exit.targets[0]
    return segment


def _leave(
    segment: Segment, index: int, following: Segment | None, final: dict[Segment, Segment], place: dict[Segment, int]
) -> Iterator[Lowered]:
    exit_ = segment.exit
    targets = [t if t in place and t.pinned else final[t] for t in exit_.targets]
    position, handler = exit_.position, exit_.handler

    def go(target: Segment) -> Iterator[Op]:
        if target is not following:
            name = versions.jump(place[target] > index, target.exit.kind == "send")
            yield Op(name, target.label, position, handler)

    if exit_.kind == "jump":
        yield from go(targets[0])
    elif exit_.kind in ("next", "send"):
        opcode = "FOR_ITER" if exit_.kind == "next" else "SEND"
        yield Op(opcode, exit_.landing or targets[1].label, position, handler)
        yield from exit_.after
        yield from go(targets[0])
    elif exit_.kind != "end":
        yield from _branch(exit_.kind, targets, following, lambda t: place[t] > index, go, position, handler)


def _branch(
    kind: str, targets: list[Segment], following: Segment | None, forward: Any, go: Any, position: Any, handler: Any
) -> Iterator[Lowered]:
    yes, no = targets
    condition, opposite = kind.upper(), _OPPOSITE[kind]
    if yes is following:
        yes, no, condition, opposite = no, yes, opposite, condition
    jump = versions.conditional_jump(condition, forward(yes))
    if jump is not None:
        yield Op(jump, yes.label, position, handler)
        yield from go(no)
        return
    other = versions.conditional_jump(opposite, forward(no))
    if other is not None and no is not following:
        yield Op(other, no.label, position, handler)
        yield Op(versions.jump(False), yes.label, position, handler)
        return
    skip = Label()
    yield Op(versions.conditional_jump(opposite, True) or "", skip, position, handler)
    yield Op(versions.jump(False), yes.label, position, handler)
    yield Mark(skip)
    yield from go(no)


def fuse_locals(code: list[Lowered]) -> list[Lowered]:
    """3.13: two accesses to locals in one instruction."""
    out: list[Lowered] = []
    for item in code:
        last = out[-1] if out else None
        if (
            isinstance(item, Op)
            and isinstance(last, Op)
            and (last.name, item.name) in _FUSED
            and isinstance(last.arg, Slot)
            and isinstance(item.arg, Slot)
            and max(last.arg, item.arg) < _SUPERINSTRUCTION_SLOTS
            and (last.position or (0,))[0] == (item.position or last.position or (0,))[0]
        ):
            out[-1] = Op(f"{last.name}_{item.name}", (last.arg, item.arg), last.position)
        else:
            out.append(item)
    return out


class Assembler:
    """Fills in a ``Bytecode``."""

    def __init__(self, ir: IR, names: list[str], cells: list[str]) -> None:
        self._names = names
        self._constants: dict[int, _Kept] = {}
        self._locations: dict[Position, InstrLocation] = {}
        self._ir = ir
        self._cells = cells
        code = Bytecode()
        code.name = ir.name
        code.qualname = ir.qualname or ir.name
        code.filename = ir.filename
        code.first_lineno = ir.first_line
        code.docstring = None
        code.argnames = list(names)
        code.argcount = ir.signature.positional
        code.posonlyargcount = ir.signature.positional_only
        code.kwonlyargcount = ir.signature.keyword_only
        code.cellvars = list(cells)
        code.freevars = list(ir.free_names)
        flags = _OPTIMIZED_NEWLOCALS | _FLAGS[ir.kind]
        flags |= _VARARGS if ir.signature.varargs else 0
        code.flags = flags | (_VARKEYWORDS if ir.signature.varkeywords else 0)  # type: ignore[assignment]
        self._code = code

    def prologue(self) -> None:
        """What stands before the first statement."""
        start = InstrLocation(self._ir.first_line, None, None, None)
        if self._ir.free_names:
            self._code.append(Instr("COPY_FREE_VARS", len(self._ir.free_names), location=start))
        for name in self._cells:
            self._code.append(Instr("MAKE_CELL", CellVar(name), location=start))
        if self._ir.kind != "function":
            self._code.append(Instr("RETURN_GENERATOR", location=start))
            self._code.append(Instr("POP_TOP", location=start))
        self._code.append(Instr("RESUME", 0, location=start))

    def body(self, items: list[Lowered]) -> None:
        """The instructions, with the regions that exception handlers cover."""
        region: TryBegin | None = None
        covering: Segment | None = None
        held: list[Instr | Label] = []
        for item in items:
            handler = item.handler if isinstance(item, Op) else None
            made = self._instruction(item)
            if region is not None and handler is not covering:
                if handler is None and (isinstance(item, Mark) or item.name in _QUIET):
                    held.append(made)
                    continue
                self._code.append(TryEnd(region))
                region = covering = None
            self._code.extend(held)
            held.clear()
            if handler is not None and region is None:
                region, covering = TryBegin(handler.label, True, handler.depth), handler
                self._open(region)
            self._code.append(made)
        if region is not None:
            self._code.append(TryEnd(region))
        self._code.extend(held)

    def _open(self, region: TryBegin) -> None:
        """Begin a region one instruction early: 3.13 looks there for the handler of a Python call."""
        if not versions.PY313:
            self._code.append(region)
            return
        last = self._code[-1] if len(self._code) else None
        if isinstance(last, Instr) and last.name in _QUIET:
            self._code.pop()
        else:
            last = Instr("NOP")
        self._code.append(region)
        self._code.append(last)

    def _instruction(self, item: Lowered) -> Instr | Label:
        if isinstance(item, Mark):
            return item.label
        location = self._location(item.position)
        arg = item.arg
        if arg is NO_ARG:
            return Instr(item.name, location=location)
        if item.name in ("LOAD_CONST", "RETURN_CONST"):
            arg = self._constants.setdefault(id(arg), _Kept(arg))
        elif isinstance(arg, Slot):
            arg = self._names[arg]
        elif item.name in ("LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"):
            arg = self._names[arg[0]], self._names[arg[1]]
        return Instr(item.name, arg, location=location)

    def _location(self, position: Position | None) -> InstrLocation | None:
        if position is None:
            return None
        location = self._locations.get(position)
        if location is None:
            try:
                location = InstrLocation(*position)
            except ValueError:
                location = InstrLocation(position.line, None, None, None)
            self._locations[position] = location
        return location

    def finish(self, depths: dict[Label, int]) -> CodeType:
        """The code object; ``depths`` is the stack depth at the handlers."""
        code = self._code.to_code(stacksize=_stack_size(self._code, depths), compute_exception_stack_depths=False)
        constants = tuple(c.value if type(c) is _Kept else c for c in code.co_consts)
        return code.replace(co_consts=constants)


def _stack_size(code: Bytecode, depths: dict[Label, int]) -> int:
    depths = dict(depths)
    depth = highest = 0
    for item in list.__iter__(code):
        if isinstance(item, Label):
            depth = max(depths.get(item, 0), depth)
        elif isinstance(item, BaseInstr):
            if isinstance(item.arg, Label):
                target = depth + item.stack_effect(jump=True)
                depths[item.arg] = max(depths.get(item.arg, 0), target)
                highest = max(highest, target)
            depth = 0 if item.is_final() else depth + item.stack_effect(jump=False)
            highest = max(highest, depth)
    return highest + 1
