"""What specialised programs call."""

from __future__ import annotations

import operator
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import reduce
from itertools import chain
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.registry import NotImplementedCotangent
from autodiff_hook.runtime.checking import Checking, numbers
from autodiff_hook.runtime.cotangents import accumulate, part, tuple_cotangent
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.mirror import (
    Mirror,
    array_gradient,
    attributes_of,
    form_of,
    formed,
    gradient_of,
    mirror_of,
    number_gradient,
)
from autodiff_hook.runtime.slots import Attribute
from autodiff_hook.tangent import Tangent
from autodiff_hook.transform.improve.facts import NOTHING, ArrayFact, Fact, NumberFact
from autodiff_hook.transform.improve.shortcuts import borrowing, effects, fresh, shortcut, sums, typed
from autodiff_hook.transform.improve.site import Site, common_dtype
from autodiff_hook.transform.specialise.infer import Given


class Kind:
    """Of what kind a value has to be: known when all is known that a program reads of it."""

    spec: Any = frozenset()


def is_of(value: Any, kind: Kind) -> bool:
    """Whether a value is of a kind."""
    return fits((value,), kind.spec)


def fits(items: Any, kind: Any) -> bool:
    """Whether all items are of one kind: a set of types, one object, or lists, dicts, tuples, objects of such kinds."""
    if type(kind) is frozenset:
        return kind.issuperset(map(type, items))
    cls, *inner = kind
    if cls == "same":
        return all([x is inner[0] for x in items])
    if cls == "absent":
        return fits([x for x in items if x is not None], inner[0])
    if cls == "record":
        return _are_objects(items, *inner)
    if not {cls}.issuperset(map(type, items)):
        return False
    if cls is tuple:
        lengths = {len(inner)}.issuperset(map(len, items))
        return lengths and all(map(fits, zip(*items), inner))
    if cls is dict:
        return all([fits(x, frozenset({str})) and fits(x.values(), inner[0]) for x in items])
    if cls is list:
        return all([fits(x, inner[0]) for x in items])
    return all([x.dtype == inner[0] and x.ndim == inner[1] for x in items])


def _are_objects(items: Any, cls: type, kinds: tuple[tuple[str, Any], ...], absent: frozenset[str]) -> bool:
    if not {cls}.issuperset(map(type, items)):
        return False
    if absent and not all([absent.isdisjoint(getattr(x, "__dict__", ())) for x in items]):
        return False
    try:
        return all([fits([getattr(x, name) for x in items], kind) for name, kind in kinds])
    except AttributeError:
        return False


def apart(*references: Any) -> bool:
    """Whether no two of them, and of the lists, dicts and objects in them, are one."""
    seen: set[int] = set()
    for reference in references:
        held = within(reference)
        if held is None or not seen.isdisjoint(held):
            return False
        seen |= held
    return True


def elsewhere(outside: Any, given: set[int]) -> bool:
    """Whether what is from outside is none of what is given, and holds none of it."""
    mine = given_ids(outside) if type(outside) in (list, dict, tuple) else {id(outside)}
    return mine.isdisjoint(given)


def within(reference: Any, once: bool = True) -> set[int] | None:
    """The lists, dicts and objects that can be reached from one; None if a list or a dict is met twice."""
    seen: set[int] = set()
    pending = [reference]
    while pending:
        found = pending.pop()
        cls = type(found)
        if cls is tuple:
            pending += [x for x in found if type(x) not in _ATOMS]
        elif id(found) in seen:
            if once and cls in (list, dict):
                return None
        elif cls in (list, dict):
            seen.add(id(found))
            items = found.values() if cls is dict else found
            kinds = set(map(type, items))
            if kinds == {tuple}:
                kinds = set(map(type, chain.from_iterable(items)))
            if not kinds <= _ATOMS:
                pending += items
        elif cls not in _ATOMS and kind_of(cls) == "object":
            seen.add(id(found))
            held = attributes_of(found)
            if not _ATOMS.issuperset([type(x) for _, x in held]):
                pending += [x for _, x in held]
    return seen


def given_ids(*references: Any) -> set[int]:
    """The lists, dicts and objects that a program was given, and those in them."""
    return set[int]().union(*[within(reference, False) or () for reference in references])


_ATOMS: Final = frozenset({float, int, str, bool, type(None)})


def refill(container: Any, content: Any) -> None:
    """Give a list or a dict another content."""
    if isinstance(container, list):
        container[:] = content
    else:
        container.clear()
        container.update(content)


def warn(message: str, category: type[Warning], globals_: dict[str, Any], line: int) -> None:
    """Give a warning for a line of a module."""
    registry = globals_.setdefault("__warningregistry__", {})
    place = globals_.get("__file__") or "<unknown>"
    warnings.warn_explicit(message, category, place, line, globals_.get("__name__"), registry)


def seed(value: Any) -> Any:
    """The cotangent 1 of a scalar; the carried program says what is wrong with anything else."""
    from autodiff_hook.runtime.preparing import scalar_seed

    return scalar_seed(value, seed)


def zeros_like(array: Any) -> Any:
    """Where the cotangents of the items of an array are added up."""
    import numpy as np

    return np.zeros(array.shape, array.dtype if array.dtype.kind == "f" else float)


def number(cotangent: Any) -> Any:
    """The cotangent of a number, None being zero."""
    return 0.0 if cotangent is None else cotangent


def array(cotangent: Any, value: Any) -> Any:
    """The cotangent of an array, None being zero."""
    return zeros_like(value) if cotangent is None else cotangent


def counted(present: Any, contribution: Any) -> Any:
    """The sum of cotangents, the second of which may be None or not implemented."""
    if isinstance(contribution, NotImplementedCotangent):
        raise contribution.fail()
    return present if contribution is None else accumulate(present, contribution)


def add_at(buffer: Any, index: Any, cotangent: Any) -> None:
    """Add to a part of a buffer."""
    import numpy as np

    if isinstance(index, (int, slice)) or (
        isinstance(index, tuple) and all(isinstance(i, (int, slice)) for i in index)
    ):
        buffer[index] += cotangent
    else:
        np.add.at(buffer, index, cotangent)


def add_part(part: Any, cotangent: Any) -> Any:
    """Add to a part of a buffer, None being zero."""
    if isinstance(cotangent, NotImplementedCotangent):
        raise cotangent.fail()
    if cotangent is not None:
        part += cotangent
    return part


def first(cotangent: Any, value: Any) -> Any:
    """A buffer for the cotangent of an array, with a first part of it."""
    return add_part(zeros_like(value), cotangent)


def fitted(cotangent: Any, value: Any) -> Any:
    """The cotangent of an array that was broadcast to another: the sum over the axes that it was repeated along."""
    if cotangent.shape != value.shape:
        lead = cotangent.ndim - value.ndim
        axes = tuple(i for i in range(cotangent.ndim) if i < lead or value.shape[i - lead] == 1)
        cotangent = cotangent.sum(axes).reshape(value.shape)
    return cotangent.astype(value.dtype) if value.dtype.kind == "f" and value.dtype != cotangent.dtype else cotangent


def folded(cotangents: list[Any], count: int) -> list[Any]:
    """The cotangents of the items of a list that was repeated."""
    parts = [cotangents[i::count] for i in range(count)]
    return [reduce(_sum, those) if those else None for those in parts]


def add_item(buffer: list[Any], index: int, cotangent: Any) -> None:
    """Add to the cotangent of an array in a list, None being zero."""
    if isinstance(cotangent, NotImplementedCotangent):
        raise cotangent.fail()
    if cotangent is not None:
        buffer[index] = buffer[index] + cotangent


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
        blanks = {k: blank(x) for k, x in items.items()} if type(items) is dict else list(map(blank, items))
        found = table[id(items)] = blanks
    return found


def record_buffer(table: dict[int, Any], owner: Any) -> Any:
    """The cotangents of the attributes of an object, zeros at first."""
    found = table.get(id(owner))
    if found is None and owner is not None:
        found = table[id(owner)] = defaultdict(float)
    return found


def begin_slots(cotangents: Any, key: Any, pattern: Any) -> None:
    """Let an attribute or an item that is a tuple have a list of cotangents."""
    cotangents[key] = begun_slots(cotangents[key], pattern)


def begun_slots(slot: Any, pattern: Any) -> Any:
    """The cotangents of the parts of a tuple, zeros if there are none so far."""
    return blank(pattern) if type(slot) is float else slot


def blank(item: Any) -> Any:
    """No cotangent of an item."""
    return list(map(blank, item)) if type(item) is tuple else 0.0


def add_items(table: dict[int, Any], items: Any, contribution: Any) -> None:
    """Add the cotangent of a whole list or dict, some parts of which may be None, to those of its items."""
    if isinstance(contribution, NotImplementedCotangent):
        raise contribution.fail()
    if contribution is None:
        return
    found = slots_buffer(table, items)
    for key in items if type(items) is dict else range(len(items)):
        found[key] = _added(table, items[key], found[key], contribution[key])


def _added(table: dict[int, Any], item: Any, slot: Any, contribution: Any) -> Any:
    if isinstance(contribution, NotImplementedCotangent):
        raise contribution.fail()
    if contribution is None:
        return slot
    if type(item) in (list, dict):
        add_items(table, item, contribution)
        return slot
    if type(item) is tuple:
        return [_added(table, *parts) for parts in zip(item, slot, contribution)]
    return _sum(slot, contribution)


def add_slice(cotangents: list[Any], key: Any, contribution: list[Any]) -> None:
    """Add the cotangents of the items of a slice."""
    cotangents[key] = list(map(_adding(cotangents, contribution), cotangents[key], contribution))


def add_run(cotangents: list[Any], contribution: list[Any], begin: int) -> int:
    """Add those cotangents of a list that begin somewhere; where they end."""
    end = begin + len(cotangents)
    part = contribution[begin:end]
    cotangents[:] = list(map(_adding(cotangents, part), cotangents, part))
    return end


def _adding(*slots: list[Any]) -> Callable[[Any, Any], Any]:
    return _sum if any([list in set(map(type, held)) for held in slots]) else operator.add


def _sum(a: Any, b: Any) -> Any:
    if type(a) is list and type(b) is list:
        return list(map(_sum, a, b))
    # What is None has no cotangent, and a tuple may have been in its place.
    return a if type(a) is list else b if type(b) is list else a + b


def list_gradient(table: dict[int, Any] | None, items: Any) -> Any:
    """The gradient of a list or a dict, in its form."""
    return _gradient(table or {}, items, None, {})


def reference_gradients(table: dict[int, Any], *values: Any) -> tuple[Any, ...]:
    """The gradients of lists, dicts and objects, in their forms: they share what the values share."""
    done: dict[int, Any] = {}
    return tuple([_gradient(table, value, None, done) for value in values])


def _gradient(table: dict[int, Any], value: Any, slot: Any, done: dict[int, Any]) -> Any:
    """The gradient of a value whose cotangent, if it is no reference, is in ``slot``."""
    cls = type(value)
    if cls is float or cls is int:
        return float(slot or 0.0)
    if cls in _INERT:
        return None
    if cls is tuple:
        slots = slot if type(slot) is list else [None] * len(value)
        return tuple([_gradient(table, x, s, done) for x, s in zip(value, slots)])
    if id(value) in done:
        return done[id(value)]
    found = table.get(id(value), _NO_SLOTS)
    if cls is list:
        made = done[id(value)] = []
        if _REAL.issuperset(map(type, value)):
            made += map(float, found) if type(found) is list else [0.0] * len(value)
            return made
        slots = found if type(found) is list else [None] * len(value)
        made += [_gradient(table, x, s, done) for x, s in zip(value, slots)]
        return made
    if cls is dict:
        fields = done[id(value)] = {}
        fields.update({k: _gradient(table, x, found.get(k), done) for k, x in value.items()})
        return fields
    kind = form_of(value)
    if kind != "object":
        return _formed(value, kind, slot)
    parts: dict[str, Any] = {}
    tangent = done[id(value)] = Tangent(cls.__qualname__, parts)
    parts.update({name: _gradient(table, x, found.get(name), done) for name, x in attributes_of(value)})
    return tangent


_INERT: Final = frozenset({bool, str, type(None)})
_REAL: Final = frozenset({float, int})
_NO_SLOTS: Final[dict[Any, Any]] = {}


def _formed(value: Any, kind: str, slot: Any) -> Any:
    if kind in ("number", "array"):
        return formed(Mirror(value, kind), None if type(slot) is float and slot == 0.0 else slot)
    return gradient_of(mirror_of(value), lambda leaf: (formed(leaf, None), None), {})[0]


def real(value: Any) -> None:
    """Give up where a power has become complex: its type was taken for that of a real number."""
    if isinstance(value, complex):
        raise Given("a complex power")


def no_nan(*gradients: Any) -> None:
    """Give up if a gradient is nan: it may come of a zero cotangent on a way that was not taken, as ``0.0 * inf``."""
    for gradient in gradients:
        if type(gradient) is float:
            if gradient != gradient:
                raise Given("a gradient is nan")
        elif gradient is not None and _has_nan(gradient):
            raise Given("a gradient is nan")


def _has_nan(gradient: Any) -> bool:
    if isinstance(gradient, Tangent):
        gradient = gradient._fields
    if isinstance(gradient, dict):
        gradient = tuple(gradient.values())
    if isinstance(gradient, tuple):
        return any([x is not None and _has_nan(x) for x in gradient])
    if isinstance(gradient, list):
        if not _REAL.issuperset(map(type, gradient)):
            return any([x is not None and _has_nan(x) for x in gradient])
        total = sum(gradient)
    else:
        total = gradient.sum() if hasattr(gradient, "sum") else gradient
    return total is not None and bool(total != total)


def float_list(items: list[Any]) -> list[float]:
    """Cotangents as plain floats."""
    return list(map(float, items))


def object_gradients(values: tuple[Any, ...], table: dict[int, Any], *parts: Any) -> tuple[Any, ...]:
    """The gradients of arguments that are objects, from the cotangents of their parts.

    Each part has an owner, or None for the arguments, a slot of it, and a path of lengths and places in tuples. What
    lists and dicts hold is in the ``table`` of buffers, by the identity of their owners.
    """
    known: dict[int, Mirror] = {}
    mirrors = [mirror_of(value, known) for value in values]
    slots: dict[tuple[int, Any], Mirror] = {}
    for mirror in mirrors:
        _note_slots(slots, mirror, set())
    found: dict[Mirror, Any] = {}
    for owner, slot, path, cotangent in zip(parts[::4], parts[1::4], parts[2::4], parts[3::4]):
        for length, place in reversed(path):
            if cotangent is not None:
                cotangent = tuple(cotangent if i == place else None for i in range(length))
        _give(found, mirrors[slot] if owner is None else slots.get((id(owner), slot)), cotangent)
    for identity, held in table.items():
        attributes = type(held) is defaultdict
        for slot, cotangent in list(held.items() if isinstance(held, dict) else enumerate(held)):
            _give(found, slots.get((identity, Attribute(slot) if attributes else slot)), cotangent)
    done: dict[Mirror, tuple[Any, Any]] = {}
    return tuple([gradient_of(m, lambda leaf: (formed(leaf, found.get(leaf)), None), done)[0] for m in mirrors])


def _note_slots(slots: dict[tuple[int, Any], Mirror], mirror: Mirror, seen: set[Mirror]) -> None:
    """Find the mirrors of what references hold, by reference and key."""
    if mirror in seen:
        return
    seen.add(mirror)
    for key, child in mirror.children.items():
        if mirror.kind == "function":
            cell = mirror.value.__closure__[mirror.value.__code__.co_freevars.index(key)]
            slots[id(cell), 0] = child
        elif mirror.kind != "tuple":
            slots[id(mirror.value), Attribute(key) if mirror.kind == "object" else key] = child
        _note_slots(slots, child, seen)


def _give(found: dict[Mirror, Any], mirror: Mirror | None, cotangent: Any) -> None:
    """Add a cotangent to those of the parts of what a mirror shows."""
    if mirror is None or cotangent is None or type(cotangent) is float and cotangent == 0.0:
        return
    if mirror.kind in ("number", "array"):
        found[mirror] = accumulate(found.get(mirror), cotangent)
    elif mirror.kind != "inert":
        for key, child in mirror.children.items():
            _give(found, child, cotangent[key])


RUNTIME: Final[dict[str, Any]] = {
    "accumulate": accumulate,
    "counted": counted,
    "number": number,
    "array": array,
    "real": real,
    "no_nan": no_nan,
    "buffer": buffer,
    "dict_buffer": dict_buffer,
    "slots_buffer": slots_buffer,
    "record_buffer": record_buffer,
    "begin_slots": begin_slots,
    "begun_slots": begun_slots,
    "blank": blank,
    "add_items": add_items,
    "add_slice": add_slice,
    "add_run": add_run,
    "list_gradient": list_gradient,
    "reference_gradients": reference_gradients,
    "part": part,
    "tuple_cotangent": tuple_cotangent,
    "checking": Checking,
    "numbers": numbers,
    "seed": seed,
    "refill": refill,
    "warn": warn,
    "zeros_like": zeros_like,
    "add_at": add_at,
    "add_item": add_item,
    "add_part": add_part,
    "first": first,
    "fitted": fitted,
    "folded": folded,
    "taken": taken,
    "number_gradient": number_gradient,
    "array_gradient": array_gradient,
    "float_list": float_list,
    "object_gradients": object_gradients,
}

# What the typed pass may know of these functions

effects(begin_slots, add_at, add_item, add_items, add_part, add_run, add_slice, refill, warn)
fresh(first, folded, array_gradient, zeros_like, number_gradient, object_gradients, len, type)
sums(accumulate, counted)
borrowing(accumulate, counted, part, array, fitted)


@typed(accumulate)
def sum_typing(site: Site, a: Operand, b: Operand) -> Fact | None:
    """The sum of cotangents, None being zero."""
    x, y = site.fact(a), site.fact(b)
    if isinstance(x, NumberFact) and isinstance(y, NumberFact):
        return x if x == y else None
    if not isinstance(x, ArrayFact) or not isinstance(y, ArrayFact):
        return None
    if x is NOTHING or y is NOTHING:
        return y if x is NOTHING else x
    if x.dtype != y.dtype or len(x.dims) != len(y.dims):
        return None
    if (x.optional or y.optional) and site.shapes.equal(x.dims, y.dims):
        return ArrayFact(x.dtype, x.dims, x.optional and y.optional)
    return None if x.optional or y.optional else site.elementwise(x.dtype, a, b)


@shortcut(accumulate)
def sum_shortcut(site: Site, a: Operand, b: Operand) -> Operand | None:
    """The sum of two cotangents that are there."""
    if site.is_number(a) and site.is_number(b):
        return site.emit("binary", a, b, data="+")
    if site.is_array(a) and site.is_array(b) and common_dtype(site.fact(a), site.fact(b)) is not None:
        return site.emit("binary", a, b, data="+") if site.alike(a, b) else None
    return None


@shortcut(part)
def part_shortcut(site: Site, cotangent: Operand, index: Operand) -> Operand | None:
    """An item of a list that was made just for this."""
    made, place = site.source(cotangent), site.value(index)
    return made.operands[place] if made is not None and made.op == "build_list" and type(place) is int else None


@typed(counted)
def counted_typing(site: Site, present: Operand, contribution: Operand) -> Fact | None:
    """The sum with what may be missing."""
    return sum_typing(site, present, contribution) if _is_there(site, contribution) else None


@shortcut(counted)
def counted_shortcut(site: Site, present: Operand, contribution: Operand) -> Operand | None:
    """The sum with what is not missing."""
    if not _is_there(site, contribution):
        return None
    if site.fact(present) is NOTHING or isinstance(present, Constant) and present.value == 0.0:
        return contribution
    return site.call(accumulate, present, contribution)


def _is_there(site: Site, operand: Operand) -> bool:
    return site.is_array(operand) or site.is_number(operand)


@shortcut(array)
def array_shortcut(site: Site, cotangent: Operand, value: Operand) -> Operand | None:
    """A cotangent that is not missing."""
    return cotangent if _is_there(site, cotangent) else None


@shortcut(array_gradient)
def gradient_shortcut(site: Site, value: Operand, cotangent: Operand) -> Operand | None:
    """A copy, if nothing else is to be done; that may go if the cotangent is nobody else's."""
    if not site.is_double(value) or not site.alike(value, cotangent) or not site.is_double(cotangent):
        return None
    number = site.dense(cotangent)
    if number is not cotangent:
        return site.call(array_gradient, value, number)
    return site.method("copy", cotangent)


@typed(array_gradient)
def gradient_typing(site: Site, value: Operand, cotangent: Operand) -> Fact | None:
    """Like the value."""
    return site.fact(value) if site.is_double(value) else None


@typed(zeros_like)
def zeros_typing(site: Site, array: Operand) -> Fact | None:
    """Like the array."""
    return site.fact(array) if site.is_double(array) else None


@shortcut(add_part)
def add_part_shortcut(site: Site, part: Operand, cotangent: Operand) -> Operand | None:
    """Add what is there."""
    if site.is_array(part) and _is_there(site, cotangent):
        return site.emit("inplace", part, site.dense(cotangent), data="+")
    return None


@shortcut(first)
def first_shortcut(site: Site, cotangent: Operand, value: Operand) -> Operand | None:
    """A copy, if that is all."""
    alike = site.is_double(value) and site.is_double(cotangent) and site.alike(value, cotangent)
    return site.method("copy", cotangent) if alike else None


@typed(first)
def first_typing(site: Site, cotangent: Operand, value: Operand) -> Fact | None:
    """Like the array."""
    return site.fact(value) if site.is_double(value) else None


@shortcut(fitted)
def fitted_shortcut(site: Site, cotangent: Operand, value: Operand) -> Operand | None:
    """What was not broadcast."""
    alike = site.is_double(value) and site.is_double(cotangent) and site.alike(value, cotangent)
    return cotangent if alike else None
