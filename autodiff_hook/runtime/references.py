"""The cotangents of what lists, dicts and objects hold, by the identity of these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import reduce
from typing import Any

from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.transform.improve.shortcuts import LOOKUPS, MIRRORING


def folded(cotangents: list[Any], count: int) -> list[Any]:
    """The cotangents of the items of a list that was repeated."""
    parts = [cotangents[i::count] for i in range(count)]
    return [reduce(sum_of_slots, those) if those else None for those in parts]


def add_item(buffer: list[Any], index: int, cotangent: Any) -> None:
    """Add to the cotangent of an array in a list, None being zero."""
    if isinstance(cotangent, NotImplementedCotangent):
        raise cotangent.fail()
    if cotangent is not None:
        buffer[index] = buffer[index] + cotangent


def add_early(buffer: Any, index: Any, cotangent: Any) -> None:
    """Add to the cotangent of a number that was read early, maybe where it is not there: then nobody used it."""
    if cotangent:
        buffer[index] += cotangent


def taken(slot: Any) -> Any:
    """The cotangent of an array in a list; None if nothing was added to it."""
    return None if type(slot) is float else slot


def buffer(table: dict[int, Any], items: Any) -> Any:
    """The cotangents of the items of a list of numbers, arrays or lists; zeros at first."""
    found = table.get(id(items))
    if found is None and items is not None:
        found = table[id(items)] = [0.0] * len(items)
    return found


def dict_buffer(table: dict[int, Any], items: Any) -> Any:
    """The cotangents of the items of a dict, zeros at first."""
    found = table.get(id(items))
    if found is None and items is not None:
        found = table[id(items)] = dict.fromkeys(items, 0.0)
    return found


def slots_buffer(table: dict[int, Any], items: Any) -> Any:
    """The cotangents of the items of a list or a dict that holds tuples: those of a tuple are a list."""
    found = table.get(id(items))
    if found is None and items is not None:
        blanks = {k: blank(x) for k, x in items.items()} if isinstance(items, dict) else list(map(blank, items))
        found = table[id(items)] = blanks
    return found


def record_buffer(table: dict[int, Any], owner: Any) -> Any:
    """The cotangents of the attributes of an object, zeros at first."""
    found = table.get(id(owner))
    if found is None and owner is not None:
        found = table[id(owner)] = defaultdict(float)
    return found


LOOKUPS.update((buffer, dict_buffer, slots_buffer, record_buffer))
MIRRORING.update((buffer, dict_buffer, slots_buffer))


def begin_slots(cotangents: Any, key: Any, pattern: Any) -> None:
    """Let an attribute or an item that is a tuple have a list of cotangents."""
    cotangents[key] = begun_slots(cotangents[key], pattern)


def begun_slots(slot: Any, pattern: Any) -> Any:
    """The cotangents of the parts of a tuple, zeros if there are none so far."""
    return blank(pattern) if type(slot) is float else slot


def blank(item: Any) -> Any:
    """No cotangent of an item."""
    return list(map(blank, item)) if isinstance(item, tuple) else 0.0


def add_items(table: dict[int, Any], items: Any, contribution: Any) -> None:
    """Add the cotangent of a whole list or dict, some parts of which may be None, to those of its items."""
    if isinstance(contribution, NotImplementedCotangent):
        raise contribution.fail()
    if contribution is None:
        return
    found = slots_buffer(table, items)
    for key in items if isinstance(items, dict) else range(len(found)):
        found[key] = added(table, items[key], found[key], contribution[key])


def added(table: dict[int, Any], item: Any, slot: Any, contribution: Any) -> Any:
    """The cotangent of an item with a contribution to it; that to a list or a dict goes to the table."""
    if isinstance(contribution, NotImplementedCotangent):
        raise contribution.fail()
    if contribution is None:
        return slot
    if isinstance(item, (list, dict)):
        add_items(table, item, contribution)
        return slot
    if isinstance(item, tuple):
        slots = slot if type(slot) is list else [0.0] * len(item)
        return [added(table, *parts) for parts in zip(item, slots, contribution)]
    return sum_of_slots(slot, contribution)


def add_slice(cotangents: list[Any], key: Any, contribution: list[Any], add: Callable[[Any, Any], Any]) -> None:
    """Add the cotangents of the items of a slice."""
    cotangents[key] = map(add, cotangents[key], contribution)


def add_run(cotangents: list[Any], contribution: list[Any], begin: int, add: Callable[[Any, Any], Any]) -> int:
    """Add those cotangents of a list that begin somewhere; where they end."""
    end = begin + len(cotangents)
    cotangents[:] = map(add, cotangents, contribution[begin:end])
    return end


def sum_of_slots(a: Any, b: Any) -> Any:
    """The sum of the cotangents of two items, which are lists if these are tuples."""
    if type(a) is list and type(b) is list:
        return list(map(sum_of_slots, a, b))
    # What is None has no cotangent, and a tuple may have been in its place.
    return a if type(a) is list else b if type(b) is list else a + b
