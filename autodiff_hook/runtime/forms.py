"""The end of a joint program: gradients in the form of the arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import Block, Constant, Operand, Variable
from autodiff_hook.runtime.given_functions import BY_CODE
from autodiff_hook.runtime.loaded_functions import Slot
from autodiff_hook.runtime.specialised_runtime import RUNTIME
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Dict,
    Instance,
    Known,
    List,
    Number,
    Outside,
    Reference,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import reached, sites_in
from autodiff_hook.transform.specialise.named_tuples import holds_named


class Forms:
    """Writes the gradients of a program to the end of it."""

    def __init__(self, builder: Builder, out: Block, inference: Inference, table: Operand) -> None:
        self.builder, self.out, self.types, self.table = builder, out, inference.types, table
        self.plain = _only_floats(inference)
        self.parts: dict[tuple[Operand, int], Operand] = {}
        self.objects: dict[Operand, Operand] = {}
        """The gradients of objects, and of lists and dicts of some."""

    def gradients(
        self, params: list[Variable], cotangents: Mapping[Variable, Operand], slots: Mapping[Variable, Slot]
    ) -> list[Operand]:
        """The gradients of the parameters; those of objects are made of the cotangents of their parts."""
        objects = [holds_objects(self.types[p]) for p in params]
        if not any(objects):
            return [self.form(self.types[p], p, cotangents[p]) for p in params]
        if not any(isinstance(self.types[p], (*BY_CODE, Outside)) for p in params):
            held = [x for p, is_object in zip(params, objects) if is_object for x in self._held(self.types[p], p)]
            made = self._call("object_gradients", self._emit("build_tuple", *held), self.table)
            self.objects = {x: self._emit("getitem", made, Constant(i)) for i, x in enumerate(held)}
            return [self.form(self.types[p], p, cotangents[p]) for p in params]
        parts: list[Operand] = []
        for part, slot in slots.items():
            if not isinstance(self.types[part], Reference):
                parts += [slot.owner, Constant(slot.key), Constant(slot.path), cotangents[part]]
        values = [p if given else Constant(None) for p, given in zip(params, objects)]
        made = self._call("object_gradients", self._emit("build_tuple", *values), self.table, *parts)
        return [
            self._emit("getitem", made, Constant(i)) if given else self.form(self.types[p], p, cotangents[p])
            for i, (p, given) in enumerate(zip(params, objects))
        ]

    def _held(self, abstract: Abstract, value: Operand) -> list[Operand]:
        """What is in a value, as far as it is or holds objects; it is itself, if it is no tuple."""
        if not isinstance(abstract, Tuple):
            return [value] if holds_objects(abstract) else []
        return [x for i, item in enumerate(abstract.items) for x in self._held(item, self._part(abstract, value, i))]

    def _part(self, abstract: Tuple, value: Operand, place: int) -> Operand:
        found = self.parts.get((value, place))
        if found is None:
            key = Constant(abstract.keys[place] if abstract.keys else place)
            found = self.parts[value, place] = self._emit("getitem", value, key)
        return found

    def form(self, abstract: Abstract, value: Operand, cotangent: Operand) -> Operand:
        """The gradient in the form of a value."""
        if value in self.objects:
            return self.objects[value]
        if isinstance(abstract, Number) and bool not in abstract.types:
            if isinstance(cotangent, Constant) and type(cotangent.value) is float and abstract.types <= {float, int}:
                return cotangent
            if abstract.types <= {float, int} and self.plain:
                return cotangent
            return self._call("number_gradient", value, cotangent)
        if isinstance(abstract, Array) and (abstract.dtype is None or abstract.dtype.kind != "b"):
            return self._call("array_gradient", value, cotangent)
        if isinstance(abstract, Tuple):
            return self._of_parts(abstract, value, cotangent)
        if isinstance(abstract, (List, Dict)):
            if isinstance(cotangent, Constant):
                return self._call("list_gradient", Constant(None), value)
            numbers = isinstance(abstract, List) and isinstance(abstract.site.item, Number) and not self.plain
            return self._call("float_list", cotangent) if numbers else cotangent
        return Constant(None)

    def _of_parts(self, abstract: Tuple, value: Operand, cotangent: Operand) -> Operand:
        parts: list[Operand] = []
        for i, item in enumerate(abstract.items):
            part = self._part(abstract, value, i)
            parts.append(self.form(item, part, self._emit("getitem", cotangent, Constant(i))))
        if abstract.cls is dict:
            return self._emit(
                "build_map", *(x for key, part in zip(abstract.keys, parts) for x in (Constant(key), part))
            )
        return self._emit("build_list" if abstract.cls is list else "build_tuple", *parts)

    def _call(self, name: str, *operands: Operand) -> Variable:
        return self._emit("call", Constant(RUNTIME[name]), *operands, data=())

    def _emit(self, op: str, *operands: Operand, data: Any = None) -> Variable:
        return self.builder.emit(self.out, op, *operands, data=data)


def aimed(value: Abstract, has_aux: bool) -> tuple[tuple[int, ...], Abstract]:
    """The part of a value that is differentiated, by its path: with ``has_aux`` the first of a pair, else all of it."""
    if not has_aux:
        return (), value
    if not isinstance(value, Tuple) or value.cls is not tuple or len(value.items) != 2 or not is_returned(value):
        raise Refused("a value of another form than a pair, with has_aux")
    return (0,), value.items[0]


def is_returned(value: Abstract) -> bool:
    """Whether a program has the value as the plain function returns it."""
    if isinstance(value, Tuple):
        return not holds_named(value) and all(map(is_returned, value.items))
    if isinstance(value, (List, Dict)):
        return value.site.cls is None and all(map(is_returned, value.site.kinds()))
    # What exists only while the program is made has become None.
    known = isinstance(value, Known) and value.value is not None
    return known or isinstance(value, (Number, Array, Instance))


def holds_references(value: Abstract) -> bool:
    """Whether an argument holds what others may replace before a pullback is called."""
    return holds_objects(value) or any(len(reached(site)) > 1 for site in sites_in(value))


def holds_objects(value: Abstract) -> bool:
    """Whether an argument is an object or a function that may hold something, or holds some."""
    sites = {inner for site in sites_in(value) for inner in reached(site)}
    return isinstance(value, (*BY_CODE, Outside)) or any(site.examples for site in sites)


def _only_floats(inference: Inference) -> bool:
    """Whether no number of NumPy's takes part, so that all cotangents are plain floats."""
    plain = {float, int, bool}
    inner = inference.callees.inferences if inference.callees is not None else ()
    for abstract in (kind for each in (inference, *inner) for kind in _kinds(each)):
        if isinstance(abstract, Array) or (isinstance(abstract, Number) and not abstract.types <= plain):
            return False
    return True


def _kinds(inference: Inference) -> Iterator[Abstract]:
    """What is known of all values, and of what lists hold."""
    sites = set[Site]()
    for abstract in inference.types.values():
        yield abstract
        for site in sites_in(abstract):
            sites |= reached(site)
    for site in sites:
        yield from site.kinds()
