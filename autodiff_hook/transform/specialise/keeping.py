"""Functions are kept among data: an object stands for a function, whose attributes are what it has captured.

The object is made where the function goes among data; where the object is called, the function is put together again.
"""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import Args, Operand, Position, Statement, Variable
from autodiff_hook.transform.specialise import dicts, dividing, lists
from autodiff_hook.transform.specialise.abstract import Abstract, Dict, List, OneOf
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.kept import Kept, class_of_form, is_to_be_kept, names_of
from autodiff_hook.transform.specialise.lattice import built_class, items_of_tuple
from autodiff_hook.transform.specialise.merging import LENGTHS
from autodiff_hook.transform.specialise.plans import alias, spread
from autodiff_hook.transform.specialise.taking_apart import Built, Parts

_OF_DATA: Final = {
    **dict.fromkeys(("build_list", "build_tuple", "build_map", "setitem", "setattr", "map_add", "list_append"), 0),
    "cell_set": 1,
}
"""The operations that make data of their operands, from which of them on."""


def keep(inf: Inference, s: Statement) -> bool:
    """Let objects stand for the functions that a statement makes data of; whether another one takes its place."""
    first = _OF_DATA.get(s.op)
    if first is None:
        return False
    if s.op == "setattr" and (LENGTHS, s.data) in inf.program.changed:
        s.operands[1] = _of_any_length(inf, s.operands[1], s.position)
    for place, operand in enumerate(s.operands):
        if place < first or not is_to_be_kept(inf, operand):
            continue
        if isinstance(inf.type_of(operand), OneOf):
            dividing.by_code(inf, s, operand)
            return True
        s.operands[place] = kept(inf, operand, s.position)
    return False


def _of_any_length(inf: Inference, operand: Operand, position: Position | None) -> Operand:
    """A list that stands for a tuple, made before the statement at hand; another value is what it is."""
    if items_of_tuple(inf.type_of(operand)) is None:
        return operand
    parts = spread(inf, operand)
    made = Statement("build_list", parts, Variable(), None, position)
    inf.listed.add(made)
    kind = lists.made_of(inf, made, tuple(map(inf.type_of, parts))) if parts else lists.begin(inf, made)
    if not isinstance(kind, List):
        raise Refused("a tuple of any length of several kinds of things")
    kind.site.stand_for(tuple)
    inf.insert(made, kind)
    return made.made


def kept_function(inf: Inference, s: Statement, _: Any, args: Args) -> Abstract | None:
    """What leaves a block: an object in the place of a function."""
    (function,) = args
    if isinstance(inf.type_of(function), OneOf):
        dividing.by_code(inf, s, function)
        return None
    s.op, s.operands = "same", [kept(inf, function, s.position) if is_to_be_kept(inf, function) else function]
    return alias(inf, s, s.operands[0])


def kept(inf: Inference, function: Operand, position: Position | None) -> Operand:
    """An object that stands for a function, made before the statement at hand."""
    made = Statement("build_map", [], Variable(), None, position)
    parts = Parts(inf, made, asks=True, lasting=True)
    form = parts.form(function)
    cls = class_of_form(form)
    kind = dicts.standing_object(inf, made, cls)
    inf.insert(made, kind)
    for name, operand in zip(names_of(cls), parts.operands, strict=True):
        store = Statement("setattr", [made.made, operand], None, name, position)
        dicts.store_slot(inf, store, made.made, kind, name, operand)
        inf.insert(store)
    return made.made


def put_together(inf: Inference, s: Statement, owner: Operand, kind: Dict) -> Operand:
    """The function that an object stands for, before a call of it."""
    cls: type[Kept] = built_class(kind)  # type: ignore[assignment]
    operands = [_loaded(inf, s, owner, kind, name) for name in names_of(cls)]
    return Built(inf, operands).value(cls.form)


def _loaded(inf: Inference, s: Statement, owner: Operand, kind: Dict, name: str) -> Operand:
    load = Statement("getattr", [owner], Variable(), name, s.position)
    inf.insert(load, dicts.load_slot(inf, load, owner, kind, name))
    return load.made
