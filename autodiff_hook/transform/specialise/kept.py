"""Functions among data: which values are functions that the program makes, and the classes that stand for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakValueDictionary

from autodiff_hook.ir.types import Operand
from autodiff_hook.transform.specialise.abstract import Abstract, Bound, Closure, Known, List, Lookup, OneOf, Partial
from autodiff_hook.transform.specialise.lattice import built_classes, codes_in, content_of

if TYPE_CHECKING:
    from autodiff_hook.transform.specialise.infer import Inference

KEPT: Final = "kept"
TypeOf = Callable[[Operand], Abstract]


class Kept:
    """The class of an object that stands for a function with what it has captured."""

    form: ClassVar[Any]
    """How the function is put together again of the attributes of the object."""


_classes: Final[WeakValueDictionary[Any, type[Kept]]] = WeakValueDictionary()


def class_of_form(form: Any) -> type[Kept]:
    """The class that stands for functions of a form: one in a process, as long as somebody knows it."""
    key = form.key()
    found = _classes.get(key)
    if found is None:
        found = _classes.setdefault(key, type("function", (Kept,), {"form": form}))
    return found


def names_of(cls: type[Kept]) -> list[str]:
    """The attributes of the objects of such a class, which those of no other class have."""
    return [f"{place} of {id(cls)}" for place in range(cls.form.size())]


def is_kept(value: Abstract) -> bool:
    """Whether a value is, or may be, an object that stands for a function."""
    return any(issubclass(cls, Kept) for cls in built_classes(content_of(value)))


def is_copy(inf: Inference, value: Abstract) -> bool:
    """Whether something that stands for a value is made anew wherever that goes among data: it shows no identity."""
    content = content_of(value)
    of_any_length = isinstance(content, List) and content.site.cls is tuple
    return is_kept(value) or inf.keeps and of_any_length


def is_made(value: Abstract) -> bool:
    """Whether a value is a function that the program makes, which exists only while the program is made itself."""
    return isinstance(value, (Closure, Bound, Lookup, Partial))


def places_of(type_of: TypeOf, value: Abstract) -> set[Any]:
    """What stands for the functions that a value may be, where they are kept."""
    if isinstance(value, Lookup):
        return {(KEPT, value.name)}
    return {(KEPT, id(x)) for x in _codes(type_of, value)}


def is_to_be_kept(inf: Inference, operand: Operand) -> bool:
    """Whether a value is a function for which an object is to stand."""
    found = places_of(inf.type_of, inf.type_of(operand))
    return bool(found) and found <= inf.program.changed


def keep_function(function: Any) -> Any:
    """Stands for what makes an object that stands for a function."""
    return function


def _codes(type_of: TypeOf, value: Abstract) -> list[Any]:
    if isinstance(value, Closure):
        return [value.code]
    if isinstance(value, Bound):
        return [value.function]
    if isinstance(value, Partial):
        return _codes(type_of, type_of(value.function))
    return list(codes_in(value)) if isinstance(value, (Known, OneOf)) else []
