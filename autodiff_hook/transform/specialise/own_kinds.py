"""Objects from outside that hold others of their class, as trees do: each may hold what one of them does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from autodiff_hook.runtime.mirror import attributes_of
from autodiff_hook.transform.specialise.abstract import Abstract, Optional, Record, Site
from autodiff_hook.transform.specialise.bodies import Changes

if TYPE_CHECKING:
    from autodiff_hook.transform.specialise.infer import Inference


def ask_for_own_kind(assumed: Any, kind: Abstract) -> None:
    """Objects hold others of their class, or nothing: it is followed again, knowing what all of them hold."""
    if isinstance(kind, Optional) and isinstance(kind.content, Record) and kind.content.cls is assumed:
        raise Changes("objects hold others of their class, or nothing", (_OWN, assumed))


def gather(inf: Inference, value: Record) -> None:
    """Let all that an object of such a class can come to be examples of it."""
    site = value.site
    if (_OWN, value.cls) not in inf.program.changed or site.whole:
        return
    whole = Site(given=True)
    whole.examples += held_in(site.examples, _attributes)
    inf.joined(value, Record(whole, value.cls, example=value.example))
    value.site.whole = True


def held_in(objects: list[Any], held: Callable[[Any], Iterable[Any]]) -> list[Any]:
    """Some objects, and all of their class that they hold, in lists, tuples and dicts too, each once."""
    cls, pending, seen, found = type(objects[0]), objects[::-1], set[int](), list[Any]()
    while pending:
        x = pending.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if type(x) is cls:
            found.append(x)
            pending += held(x)
        elif type(x) in (list, tuple):
            pending += x
        elif isinstance(x, dict):
            pending += x.values()
    return found


def _attributes(value: Any) -> list[Any]:
    return [held for _, held in attributes_of(value)]


_OWN: Final = "own class"
