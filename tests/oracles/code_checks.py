"""An independent check of emitted code: stack depths, jump targets, and no read of a slot that may be unset.

CPython 3.12 and later crash on what this refuses. It reads the finished code object and shares
nothing with the emitter.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Final

_JUMPS: Final = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
_FINAL: Final = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}) | _JUMPS
_FUSED: Final = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST_BORROW", "LOAD_FAST_BORROW"),
}
_QUIET: Final = frozenset(_FUSED) | frozenset(
    "LOAD_FAST LOAD_FAST_BORROW STORE_FAST LOAD_CONST POP_TOP COPY SWAP PUSH_NULL NOP NOT_TAKEN LOAD_CLOSURE".split()
)


_EXHAUSTION: Final = {(3, 12): ["END_FOR"], (3, 13): ["END_FOR", "POP_TOP"], (3, 14): ["END_FOR", "POP_ITER"]}
_LASTI_IS_AN_OBJECT: Final = sys.version_info < (3, 14)


_PUSH_NOTHING: Final = ("STORE_", "POP_", "DELETE_", "LIST_", "SET_", "MAP_", "DICT_", "RETURN", "RAISE", "JUMP", "NO")


def _popped(x: dis.Instruction, effect: int) -> int:
    """How many values an instruction takes from the stack, without those that it puts back."""
    if x.opname in ("UNPACK_SEQUENCE", "RETURN_VALUE"):
        return 1
    if x.opname.startswith(_PUSH_NOTHING):
        return -effect
    return max(1 - effect, 0)


@dataclass(frozen=True, slots=True)
class _State:
    depth: int
    bound: int


def check_code(code: CodeType) -> None:
    """Raise AssertionError if the code is not safe to run."""
    _Checker(code).run()


class _Checker:
    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._instructions = list(dis.get_instructions(code))
        self._place = {x.offset: i for i, x in enumerate(self._instructions)}
        for i in range(len(self._instructions)):
            self._include_prefixes(i)
        entries = dis._parse_exception_table(code)  # type: ignore[attr-defined]
        self._with_lasti = [e for e in entries if e.lasti]
        self._table = [(e.start, e.end, self._place[e.target], e.depth, 2 if e.lasti else 1) for e in entries]
        self._targets = {target for _, _, target, _, _ in self._table}
        self._targets.update(self._place[x.argval] for x in self._instructions if x.opcode in dis.hasjrel)

    def _include_prefixes(self, place: int) -> None:
        """A jump goes to the EXTENDED_ARGs in front of its target."""
        first = place
        while first and self._instructions[first - 1].opname == "EXTENDED_ARG":
            first -= 1
            self._place[self._instructions[first].offset] = place

    def run(self) -> None:
        """Follow every path until nothing new is learned."""
        assert _LASTI_IS_AN_OBJECT or not self._with_lasti, f"{self._code.co_qualname}: a lasti that might be read"
        start = next(i for i, x in enumerate(self._instructions) if x.opname == "RESUME")
        states = {start: _State(0, self._initially_bound())}
        pending = [start]
        while pending:
            place = pending.pop()
            for target, state in self._after(place, states[place]):
                known = states.get(target)
                if known is not None:
                    self._require(known.depth == state.depth, target, f"depths {known.depth} and {state.depth}")
                    state = _State(state.depth, state.bound & known.bound)
                if state != known:
                    states[target] = state
                    pending.append(target)

    def _require(self, condition: bool, place: int, message: str) -> None:
        x = self._instructions[place]
        where = f"{self._code.co_filename}:{self._code.co_qualname}, offset {x.offset}, {x.opname} {x.argrepr}"
        assert condition, f"{where}: {message}"

    def _initially_bound(self) -> int:
        """The parameters and everything that is a cell."""
        code = self._code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        own = [c for c in code.co_cellvars if c not in code.co_varnames]
        names = [*code.co_varnames, *own, *code.co_freevars]
        cells = (i for i, n in enumerate(names) if i >= len(code.co_varnames) or n in code.co_cellvars)
        return sum(1 << i for i in {*range(count), *cells})

    def _after(self, place: int, state: _State) -> Iterator[tuple[int, _State]]:
        x = self._instructions[place]
        if x.opname not in _QUIET:
            for start, end, target, depth, pushed in self._table:
                if start <= x.offset < end:
                    self._require(state.depth >= depth, place, "the stack is lower than the handler wants")
                    yield target, _State(depth + pushed, state.bound)
                    break
        if "BORROW" in x.opname:
            slots = [slot for _, slot in self._accesses(place)]
            for i, slot in enumerate(slots):
                self._borrowed(place, slot, len(slots) - 1 - i)
        bound = self._locals(place, state.bound)
        if (x.opcode in dis.hasjrel or x.opcode in dis.hasjabs) and x.opname != "END_ASYNC_FOR":
            effect = dis.stack_effect(x.opcode, x.arg, jump=True)
            if x.opname == "SEND" and sys.version_info < (3, 12):
                effect = -1
            target = self._place[x.argval]
            self._exhaustion(place, target)
            yield target, self._moved(place, state.depth + effect, bound)
        if x.opname not in _FINAL:
            arg = x.arg if x.opcode >= dis.HAVE_ARGUMENT else None
            effect = dis.stack_effect(x.opcode, arg, jump=False)
            yield place + 1, self._moved(place, state.depth + effect, bound)
        elif x.opname == "RETURN_VALUE":
            self._require(state.depth == 1, place, f"{state.depth} values on the stack")

    def _moved(self, place: int, depth: int, bound: int) -> _State:
        self._require(0 <= depth <= self._code.co_stacksize, place, f"depth {depth} of {self._code.co_stacksize}")
        return _State(depth, bound)

    def _exhaustion(self, place: int, target: int) -> None:
        """Specialised forms of FOR_ITER skip what they expect at its target."""
        if self._instructions[place].opname == "FOR_ITER":
            expected = _EXHAUSTION.get(sys.version_info[:2], [])
            found = [x.opname for x in self._instructions[target : target + len(expected)]]
            self._require(found == expected, place, f"leads to {found}")

    def _borrowed(self, place: int, slot: int, above: int) -> None:
        """The value is consumed, and not by a store into a local, before its local changes or control may go away."""
        for later in range(place + 1, len(self._instructions)):
            x = self._instructions[later]
            self._require(later not in self._targets, later, f"a borrowed load of slot {slot} is still on the stack")
            arg = x.arg or 0
            if x.opname == "SWAP" and above in (0, arg - 1):
                above = arg - 1 - above
                continue
            if x.opname == "LOAD_ATTR" and arg & 1 and above == 0:
                continue  # it stays on top, as the first argument of the method
            effect = dis.stack_effect(x.opcode, x.arg if x.opcode >= dis.HAVE_ARGUMENT else None, jump=False)
            consumed = above < _popped(x, effect)
            stored = [s for name, s in self._accesses(later) if name in ("STORE_FAST", "DELETE_FAST")]
            self._require(not (consumed and stored), later, f"a borrowed load of slot {slot} is stored")
            self._require(slot not in stored, later, f"slot {slot} changes under a borrowed load")
            if consumed:
                return
            self._require(x.opname != "COPY" or arg != above + 1, later, "a borrowed load is copied")
            self._require(x.opcode not in dis.hasjrel and x.opname not in _FINAL, later, "a borrowed load is left")
            above += effect

    def _accesses(self, place: int) -> list[tuple[str, int]]:
        """What an instruction does to locals: opcodes without superinstructions, and slots."""
        x = self._instructions[place]
        arg = x.arg or 0
        if x.opname in _FUSED:
            return list(zip(_FUSED[x.opname], (arg >> 4, arg & 15)))
        return [(x.opname, arg)]

    def _locals(self, place: int, bound: int) -> int:
        for name, slot in self._accesses(place):
            bound = self._local(place, name, slot, bound)
        return bound

    def _local(self, place: int, name: str, slot: int, bound: int) -> int:
        if name in ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_CLOSURE"):
            self._require(bool(bound >> slot & 1), place, "the slot may be unset")
        elif name in ("STORE_FAST", "MAKE_CELL"):
            return bound | 1 << slot
        elif name == "DELETE_FAST":
            return bound & ~(1 << slot)
        return bound
