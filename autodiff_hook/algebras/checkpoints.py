"""``checkpoint`` in reverse mode: what a call leaves on the tape is dropped, and made again when the sweep comes there.

The sweep puts arrays back as it passes the stores into them, so the function finds them as they were. What else it
could see must not have changed since, and it must not itself change what is outside of it.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

from autodiff_hook.algebras.implicit import Carrying
from autodiff_hook.algebras.lifetimes import Table, alive
from autodiff_hook.algebras.worlds import World, check_again
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.kinds import kind_of

if TYPE_CHECKING:
    from autodiff_hook.algebras.shadows import Result
    from autodiff_hook.algebras.tape import Tape


class Recomputed:
    """The pullback of a call that is made again in the sweep."""

    __slots__ = ("function", "mark", "run", "shadows", "tape", "value", "versions", "world")

    def __init__(self, tape: Tape, run: Callable[[], Result], call: tuple[Any, Any, Any]) -> None:
        self.tape, self.run, self.function = tape, run, call[0]
        self.world = World(*call)
        self.mark = len(tape.nodes)
        self.versions = dict(tape.buffers)
        self.shadows = copied(tape.shadows)
        self.value: Any = None

    def begin(self) -> Result:
        """The first run; what it leaves is dropped, if it can be made again."""
        tape = self.tape
        held, made, losses = set(tape.held), set(tape.buffered.made), set(tape.losses)
        value, token = self.run()
        if len(tape.nodes) == self.mark:
            return value, token
        self.world.check("the function changes what is outside of it ({}): it cannot be run again in the reverse sweep")
        if not is_plain(value):
            return value, token
        for array in self.world.arrays():
            tape.buffered.hold(array)
            held.add(id(root_of(array)))
        _forget(tape.held, held)
        _forget(tape.buffered.made, made)
        _forget(tape.buffered.views, made)
        _forget(tape.losses, losses)
        _forget(tape.shadows, self.shadows)
        _forget(tape.buffers, self.versions)
        del tape.nodes[self.mark :]
        if token is None:
            return value, None
        self.value = value
        return value, tape.spread(value, tape.node(self, ()))

    def __call__(self, cotangent: Any) -> Any:
        """Make the nodes again in the place of those that come behind, and sweep them."""
        tape, mark = self.tape, self.mark
        values = tape.sweeping.values
        self.world.check("the function is run again, but {}, which it depends on, has been changed since")
        later = tape.nodes[mark:], values[mark:], dict(tape.shadows), dict(tape.buffers)
        del tape.nodes[mark:]
        _refill(tape.shadows, copied(self.shadows))
        _refill(tape.buffers, self.versions)
        try:
            with Carrying(tape):
                value, token = self.run()
            check_again(self.function, self.value, value)
            values[mark:] = [None] * (len(tape.nodes) - mark)
            tape.sweeping.give(token, cotangent)
            tape.sweep_down(mark)
        finally:
            tape.nodes[mark:], values[mark:] = later[:2]
            _refill(tape.shadows, alive(later[2]))
            _refill(tape.buffers, later[3])
        return ()


def is_plain(value: Any) -> bool:
    """Whether a value holds nothing that could be changed."""
    kind = kind_of(type(value))
    return kind in ("number", "array") or kind == "tuple" and all(map(is_plain, value))


def copied(shadows: Table) -> Table:
    """Shadows as they are now."""
    return {key: (held, tokens.copy(), *owned) for key, (held, tokens, *owned) in alive(shadows).items()}


def _forget(table: dict[Any, Any], kept: Container[Any]) -> None:
    for key in [key for key in table if key not in kept]:
        del table[key]


def _refill(table: dict[Any, Any], content: dict[Any, Any]) -> None:
    table.clear()
    table.update(content)
