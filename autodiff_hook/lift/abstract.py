"""The abstract interpreter: runs a code object block by block and builds SSA while it does.

Locals and stack slots are keys of the SSA builder. What CPython leaves on its stack for its own
purposes (the NULL beside a callable, the pair of a method and its object) is a ``Marker`` and never
reaches the IR; the markers on the stack at the start of each block are its layout.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any, Final, NamedTuple, NoReturn

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.analysis import postorder
from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import (
    CANNOT_RAISE,
    TERMINATORS_THAT_RAISE,
    UNBOUND,
    Block,
    Constant,
    Edge,
    Operand,
    Statement,
    Terminator,
    TerminatorKind,
    Variable,
)
from autodiff_hook.lift.binding import Bindings
from autodiff_hook.lift.cfg import Instruction, Region, read_instructions, split
from autodiff_hook.lift.code import NAMESPACE, has_one_dict, is_function, parameter_names, slot_names


class Marker(NamedTuple):
    """A stack slot that holds no value of the user's: NULL, or a method (whose object is in the slot above).

    A method that is ``loaded`` was looked up before the arguments; the slot holds the result of that.
    """

    method: str | None = None
    loaded: bool = False


NULL: Final = Marker()
VALUE: Final = None
_EXACT_BOOL: Final = frozenset("truth not is is_not in not_in exc_match match_mapping match_sequence".split())
"""The operations whose result is True or False, and not just something with a truth value."""

Slot = Marker | None
Layout = tuple[Slot, ...]
Meaning = Callable[["Machine", int], None]


class Machine:
    """The state of lifting one code object; the functions of ``opcodes`` drive it."""

    def __init__(self, code: CodeType, dialect: Mapping[str, Meaning], lifetimes: bool = False) -> None:
        self.code = code
        self.lifetimes = lifetimes
        self.layout: list[Slot] = []
        self.made: dict[Variable, Statement] = {}
        self.keyword_names: tuple[str, ...] = ()
        self.namespace = Variable(NAMESPACE)
        """Where the names of a class body are."""
        self.frame: Variable | None = None
        """What all calls of ``locals`` give, where they give one dict."""
        self.offset_of: dict[Block, int] = {}
        self.names = code.co_names
        self._dialect = dialect
        self._builder = Builder()
        self._keys = slot_names(code)
        instructions = read_instructions(code)
        self._upcoming = dict(zip((x.offset for x in instructions), instructions[1:]))
        self._codes = split(instructions)
        self._successors = {x.start: [y for y in x.successors() if y in self._codes] for x in self._codes.values()}
        self._order = postorder([0], self._successors.__getitem__)[::-1]
        self._rank = {start: rank for rank, start in enumerate(self._order)}
        self._bindings: Bindings | None = None
        self._entries: dict[int, Block] = {}
        self._layouts: dict[int, Layout] = {}
        self._landings: dict[tuple[int, int, bool], Block] = {}
        self._queue: list[int] = []
        self._block: Block
        self.instruction: Instruction

    # Running

    def run(self) -> list[Block]:
        """The blocks of the function; the first is its entry."""
        self._block = self._new_block(-1, sealed=True)
        names = parameter_names(self.code)
        free = self.code.co_freevars
        if not is_function(self.code):
            names = ()
            self._block.params.append(self.namespace)
        keys = self._keys[: len(names)] + self._keys[len(self._keys) - len(free) :]
        for name, key in zip(names + free, keys, strict=True):
            param = Variable(name)
            self._block.params.append(param)
            self._builder.write(key, self._block, param)
        if has_one_dict(self.code):
            self.frame = self._builder.emit(self._block, "build_map")
        self._block.terminator = Terminator("jump", [], [self._edge(self._block, 0, ())])
        unseen = self._predecessor_counts()
        unsealed: set[int] = set()
        while self._queue:
            start = self._order[heapq.heappop(self._queue)]
            unsealed.add(start)
            self._seal_complete(unsealed & {start}, unsealed, unseen)
            self._visit(start)
            successors = self._successors[start]
            for successor in successors:
                unseen[successor] -= 1
            self._seal_complete(unsealed.intersection(successors), unsealed, unseen)
        for start in sorted(unsealed):
            self._seal(start)
        return self._builder.finish()

    def _predecessor_counts(self) -> dict[int, int]:
        counts = dict.fromkeys(self._codes, 0)
        for start in self._order:
            for successor in self._successors[start]:
                counts[successor] += 1
        return counts

    def _seal_complete(self, candidates: set[int], unsealed: set[int], unseen: Mapping[int, int]) -> None:
        for start in candidates:
            if not unseen[start]:
                unsealed.discard(start)
                self._seal(start)

    def _seal(self, start: int) -> None:
        for (target, _, _), landing in self._landings.items():
            if target == start:
                self._builder.seal(landing)
        self._builder.seal(self._entries[start])

    def _visit(self, start: int) -> None:
        self._block = self._entries[start]
        self.layout = list(self._layouts[start])
        for instruction in self._codes[start].instructions:
            self.instruction = instruction
            meaning = self._dialect.get(instruction.name)
            if meaning is None:
                self.refuse(f"the opcode {instruction.name}")
            meaning(self, instruction.arg)
        if self._block.terminator.kind == "open":
            self.jump(instruction.following)

    @property
    def upcoming(self) -> Instruction | None:
        """What stands behind the current instruction."""
        return self.after(self.instruction)

    def after(self, instruction: Instruction) -> Instruction | None:
        """What stands behind an instruction."""
        return self._upcoming.get(instruction.offset)

    def upcoming_all(self) -> Iterator[Instruction]:
        """All that stands behind the current instruction."""
        instruction = self.upcoming
        while instruction is not None:
            yield instruction
            instruction = self._upcoming.get(instruction.offset)

    def refuse(self, construct: str) -> NoReturn:
        """Give up on this function because of ``construct``."""
        line = self.instruction.position.line or self.code.co_firstlineno
        raise Unsupported(
            f"{construct} cannot be differentiated ({self.code.co_filename}:{line}, in {self.code.co_qualname})",
            construct,
            line,
        )

    # Stack

    def push(self, value: Operand) -> None:
        self._builder.write(("stack", len(self.layout)), self._block, value)
        self.layout.append(VALUE)

    def push_marker(self, marker: Marker) -> None:
        self.layout.append(marker)

    def push_method(self, name: str, loaded: Operand | None) -> None:
        """Push a method below its object; ``loaded`` is what ``load_method`` gave, if that was done."""
        if loaded is not None:
            self._builder.write(("stack", len(self.layout)), self._block, loaded)
        self.layout.append(Marker(name, loaded is not None))

    def loaded_method(self) -> Operand:
        """What was loaded for the marker that was just popped."""
        return self._builder.read(("stack", len(self.layout)), self._block)

    def peek(self, depth: int = 1) -> Operand:
        """The value ``depth`` slots from the top."""
        slot = self.slot(depth)
        if isinstance(slot, Marker):
            self.refuse(f"the use of NULL as a value by {self.instruction.name}")
        return slot

    def slot(self, depth: int) -> Operand | Marker:
        """What is ``depth`` slots from the top."""
        index = len(self.layout) - depth
        if index < 0:
            self.refuse(f"a stack underflow at {self.instruction.name}")
        marker = self.layout[index]
        return self._builder.read(("stack", index), self._block) if marker is VALUE else marker

    def pop(self) -> Operand:
        value = self.peek()
        self.layout.pop()
        return value

    def pop_slot(self) -> Operand | Marker:
        slot = self.slot(1)
        self.layout.pop()
        return slot

    def pop_many(self, count: int) -> list[Operand]:
        """``count`` values, the deepest first."""
        return [self.pop() for _ in range(count)][::-1]

    def pop_constant(self) -> Any:
        """The value of a constant that was just loaded."""
        value = self.pop()
        if not isinstance(value, Constant):
            self.refuse(f"an operand of {self.instruction.name} that is not a constant")
        return value.value

    def drop(self) -> None:
        """Forget the top of the stack, value or marker."""
        if not self.layout:
            self.refuse(f"a stack underflow at {self.instruction.name}")
        self.layout.pop()

    def put(self, slot: Operand | Marker) -> None:
        """Push what may be a marker."""
        if isinstance(slot, Marker):
            self.push_marker(slot)
        else:
            self.push(slot)

    def swap(self, depth: int) -> None:
        """Exchange the top of the stack with what is ``depth`` slots from the top."""
        top, *between, other = [self.pop_slot() for _ in range(depth)]
        for slot in (top, *between[::-1], other):
            self.put(slot)

    # Locals

    def read_local(self, slot: int) -> Operand:
        return self._builder.read(self._keys[slot], self._block)

    def write_local(self, slot: int, value: Operand) -> None:
        if isinstance(value, Variable) and value.name is None:
            value.name = self.local_name(slot)
        self._builder.write(self._keys[slot], self._block, value)

    def local_name(self, slot: int) -> str:
        return self._keys[slot][1]

    def slot_of_class(self) -> int:
        return self._keys.index(("free", "__class__"))

    def certainly_bound(self, slot: int) -> bool:
        """Whether a local has a value here on every path."""
        if self._bindings is None:
            names = parameter_names(self.code) if is_function(self.code) else ()
            parameters = (1 << len(names)) - 1
            self._bindings = Bindings(self._codes, self._order, parameters)
        return self._bindings.is_bound(slot, self.instruction)

    def is_bound(self, value: Operand) -> bool:
        """Whether the value of a local is certainly not UNBOUND."""
        return value.value is not UNBOUND if isinstance(value, Constant) else value in self.made

    # Operations

    def emit(self, op: str, *operands: Operand, data: object = None, result: bool = True) -> Variable:
        """Append an operation; inside a try region one that may raise ends its block."""
        position = self.instruction.position
        variable = self._builder.emit(self._block, op, *operands, data=data, position=position, result=result)
        if result:
            self.made[variable] = self._block.statements[-1]
        if self.instruction.region is not None and op not in CANNOT_RAISE:
            self._split(self.instruction.region)
        return variable

    def effect(self, op: str, *operands: Operand, data: object = None) -> None:
        """Append an operation without a result."""
        self.emit(op, *operands, data=data, result=False)

    def perform(self, op: str, *operands: Operand, data: object = None) -> None:
        """Append an operation and push its result."""
        self.push(self.emit(op, *operands, data=data))

    def truth(self, value: Operand) -> Operand:
        """``value`` as an exact bool."""
        if isinstance(value, Constant) and isinstance(value.value, bool):
            return value
        if isinstance(value, Variable) and value in self.made and self.made[value].op in _EXACT_BOOL:
            return value
        return self.emit("truth", value)

    def project(self, value: Operand, *indices: int) -> None:
        """Push items of a tuple that an operation made."""
        for index in indices:
            self.perform("project", value, data=index)

    # Control

    @property
    def target(self) -> int:
        """Where the current instruction jumps to."""
        assert self.instruction.target is not None
        return self.instruction.target

    def jump(self, target: int) -> None:
        self.terminate("jump", [], [self._edge(self._block, target, tuple(self.layout))])

    def edge(self, target: int, *, drop: int = 0, junk: int = 0) -> Edge:
        """An edge with ``drop`` slots less on the stack, and ``junk`` slots that nothing may use."""
        kept = tuple(self.layout[: len(self.layout) - drop])
        return self._edge(self._block, target, kept + (NULL,) * junk)

    def receiving_edge(self, target: int, *, drop: int = 0) -> Edge:
        """An edge that pushes what it receives, after dropping ``drop`` slots."""
        landing = self._new_block(target)
        edge = self._builder.edge(self._block, landing)
        self._builder.seal(landing)
        kept = tuple(self.layout[: len(self.layout) - drop])
        received = Variable()
        landing.params.append(received)
        self._builder.write(("stack", len(kept)), landing, received)
        landing.terminator = Terminator("jump", [], [self._edge(landing, target, (*kept, VALUE))])
        return edge

    def terminate(self, kind: TerminatorKind, operands: Sequence[Operand] = (), edges: Sequence[Edge] = ()) -> None:
        """End the current block."""
        position = self.instruction.position
        self._block.terminator = Terminator(kind, list(operands), list(edges), position)
        if self.instruction.region is not None and kind in TERMINATORS_THAT_RAISE:
            self._block.handler = self._handler_edge(self.instruction.region)

    def _new_block(self, offset: int, sealed: bool = False) -> Block:
        block = self._builder.block(sealed)
        self.offset_of[block] = offset
        return block

    def _edge(self, source: Block, target: int, layout: Layout) -> Edge:
        """An edge to the code at ``target``, which is visited later if it was not yet."""
        if target not in self._entries:
            self._entries[target] = self._new_block(target)
            self._layouts[target] = layout
            heapq.heappush(self._queue, self._rank[target])
        elif self._layouts[target] != layout:
            self.refuse(f"a join of different stacks at {self.instruction.name}")
        return self._builder.edge(source, self._entries[target])

    def _split(self, region: Region) -> None:
        """Go on in a new block; the handler sees the stack and the locals as they are before that."""
        source = self._block
        source.handler = self._handler_edge(region)
        self._block = self._new_block(self.instruction.offset)
        source.terminator = Terminator("jump", [], [self._builder.edge(source, self._block)], self.instruction.position)
        self._builder.seal(self._block)

    def _handler_edge(self, region: Region) -> Edge:
        key = (region.target, region.depth, region.lasti)
        below = tuple(self.layout[: region.depth])
        if key not in self._landings:
            self._landings[key] = self._land(region)
        if len(below) < region.depth or self._layouts[region.target][: region.depth] != below:
            self.refuse(f"an exception handler for different stacks around {self.instruction.name}")
        return self._builder.edge(self._block, self._landings[key])

    def _land(self, region: Region) -> Block:
        """The block that receives the exception and pushes it for the handler's code."""
        landing = self._new_block(region.target)
        exception, lasti = Variable(), Variable("lasti")
        landing.params += [exception, lasti]
        pushed = [lasti, exception] if region.lasti else [exception]
        for index, value in enumerate(pushed, region.depth):
            self._builder.write(("stack", index), landing, value)
        layout = (*self.layout[: region.depth], *(VALUE for _ in pushed))
        landing.terminator = Terminator("jump", [], [self._edge(landing, region.target, layout)])
        return landing
