"""Which arguments of a call ``argnums`` names: of these alone there are derivatives."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import describe
from autodiff_hook.runtime.binding import Places

Argnums = int | tuple[int, ...]


class Chosen(NamedTuple):
    """The arguments that ``argnums`` names, in its order.

    ``places`` are those that are differentiated, None: all; ``order`` finds the chosen ones among them.
    """

    numbers: tuple[int, ...]
    places: Places | None
    order: tuple[int, ...]
    single: bool

    def found(self, derivatives: Any) -> tuple[Any, ...]:
        """The derivatives of the chosen ones."""
        return tuple([derivatives[i] for i in self.order])

    def like_argnums(self, found: tuple[Any, ...]) -> Any:
        """What was found, bare if ``argnums`` is a number."""
        return found[0] if self.single else found


def chosen_of(f: Any, argnums: Argnums, args: tuple[Any, ...]) -> Chosen:
    """What ``argnums`` chooses of the arguments of a call of ``f``; raises ``Unsupported`` if it is out of range."""
    if not isinstance(argnums, (int, tuple)):
        raise Unsupported(f"argnums is an int or a tuple of ints, not {argnums!r}")
    whole = isinstance(argnums, int) or all(isinstance(i, int) for i in argnums)
    chosen = _chosen(argnums, len(args)) if whole else None
    if chosen is None:
        raise Unsupported(
            f"argnums={argnums!r} is out of range: {describe(f)} was called with {len(args)} arguments by position "
            f"(what is given by keyword is constant)"
        )
    return chosen


@functools.lru_cache(maxsize=1024)
def _chosen(argnums: Argnums, count: int) -> Chosen | None:
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not all([-count <= i < count for i in numbers]):
        return None
    numbers = tuple([i % count for i in numbers])
    given, single = tuple(sorted(set(numbers))), isinstance(argnums, int)
    if not given or len(given) == count:
        return Chosen(numbers, None, numbers, single)
    return Chosen(numbers, Places.of(given, count), tuple(map(given.index, numbers)), single)
