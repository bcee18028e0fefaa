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
}
_QUIET: Final = frozenset(_FUSED) | frozenset(
    "LOAD_FAST STORE_FAST LOAD_CONST POP_TOP COPY SWAP PUSH_NULL NOP LOAD_CLOSURE".split()
)


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
        self._table = [(e.start, e.end, self._place[e.target], e.depth, 2 if e.lasti else 1) for e in entries]

    def _include_prefixes(self, place: int) -> None:
        """A jump goes to the EXTENDED_ARGs in front of its target."""
        first = place
        while first and self._instructions[first - 1].opname == "EXTENDED_ARG":
            first -= 1
            self._place[self._instructions[first].offset] = place

    def run(self) -> None:
        """Follow every path until nothing new is learned."""
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
        bound = self._locals(place, state.bound)
        if x.opcode in dis.hasjrel or x.opcode in dis.hasjabs:
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
        if self._instructions[place].opname == "FOR_ITER" and sys.version_info >= (3, 12):
            expected = ["END_FOR", "POP_TOP"] if sys.version_info >= (3, 13) else ["END_FOR"]
            found = [x.opname for x in self._instructions[target : target + len(expected)]]
            self._require(found == expected, place, f"leads to {found}")

    def _locals(self, place: int, bound: int) -> int:
        x = self._instructions[place]
        arg = x.arg or 0
        if x.opname in _FUSED:
            for name, slot in zip(_FUSED[x.opname], (arg >> 4, arg & 15)):
                bound = self._local(place, name, slot, bound)
            return bound
        return self._local(place, x.opname, arg, bound)

    def _local(self, place: int, name: str, slot: int, bound: int) -> int:
        if name in ("LOAD_FAST", "LOAD_CLOSURE"):
            self._require(bool(bound >> slot & 1), place, "the slot may be unset")
        elif name in ("STORE_FAST", "MAKE_CELL"):
            return bound | 1 << slot
        elif name == "DELETE_FAST":
            return bound & ~(1 << slot)
        return bound
