"""What abstract values have in common, and what follows from them: joins, types of numbers, what lists may hold."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import reduce
from types import BuiltinFunctionType, FunctionType, ModuleType, UnionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.analysis import closure
from autodiff_hook.ir.types import UNBOUND
from autodiff_hook.runtime.kinds import MAPPINGS
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    MISSING,
    NOTHING,
    Abstract,
    Array,
    Bound,
    Cell,
    Closure,
    Container,
    Dict,
    Error,
    Fresh,
    Instance,
    Iterator,
    Known,
    List,
    Lookup,
    Mixed,
    Number,
    OneOf,
    Optional,
    Outside,
    Partial,
    Producer,
    Reference,
    Several,
    Site,
    Super,
    Tuple,
    same_dtype,
)


def join(a: Abstract, b: Abstract) -> Abstract:
    """The least that is true of both."""
    if a == b:
        return a
    if isinstance(a, Iterator) and isinstance(b, Iterator) and NOTHING in (a.item, b.item):
        return b if a.item == NOTHING else a
    if isinstance(a, Mixed) and isinstance(b, Mixed) and a.site.root() is b.site.root():
        return Mixed(a.site, a.among | b.among, example=a.example)
    if isinstance(a, Dict) and isinstance(b, Dict) and a.site.root() is b.site.root():
        return replace(a, among=None if a.among is None or b.among is None else a.among | b.among)
    a, b = map(in_parts, (a, b))
    numbers = number_types(a), number_types(b)
    if numbers[0] is not None and numbers[1] is not None:
        return Number(numbers[0] | numbers[1], example=example_of(a))
    if isinstance(a, Array) and isinstance(b, Array):
        return Array(
            a.dtype if same_dtype(a.dtype, b.dtype) else None,
            a.ndim if a.ndim == b.ndim else None,
            a.scalar or b.scalar,
            example=_wider(a.example, b.example),
        )
    if isinstance(a, Tuple) and isinstance(b, Tuple) and (len(a.items), a.cls, a.keys) == (len(b.items), b.cls, b.keys):
        return Tuple(tuple(map(join, a.items, b.items)), a.cls, a.keys, example=a.example)
    if isinstance(a, Outside) and isinstance(b, Outside) and a.cls is b.cls:
        return Outside(a.cls, example=a.example)
    optional = _joined_with_none(a, b)
    if optional is not None:
        return optional
    codes = {id(x): x for x in (*codes_in(a), *codes_in(b))}
    if codes_in(a) and codes_in(b) and len(codes) <= _MOST_CODES:
        return OneOf(tuple(codes.values()))
    if is_virtual(a) or is_virtual(b):
        return Several()
    if _is_truth(a) and _is_truth(b):
        # Whichever it is, ``a or b`` is asked whether it holds.
        return Number(_TRUTHS, example=bool(example_of(a)))
    classes = inert_class(a), inert_class(b)
    if classes[0] is not None and classes[0] is classes[1]:
        return Instance(classes[0], example=example_of(a))
    return ANY


_TRUTHS: Final = frozenset({bool, np.bool_})


def _is_truth(value: Abstract) -> bool:
    """Whether a value is True or False, of Python's or of NumPy's."""
    return inert_class(value) is np.bool_ or (number_types(value) or {float}) <= _TRUTHS


def _wider(a: Any, b: Any) -> Any:
    """The one of two examples of arrays whose numbers may be more: whether they are complex, say, or whole, or any."""
    kinds = [(_KINDS.find(x.dtype.kind), x.size > 0) if hasattr(x, "dtype") else (-1, False) for x in (a, b)]
    return b if kinds[1] > kinds[0] else a


_KINDS: Final = "buifc"


def in_parts(value: Abstract) -> Abstract:
    """What is known of the items of a tuple, each by itself."""
    if isinstance(value, Known) and type(value.value) is tuple:
        return Tuple(tuple(map(Known, value.value)), example=value.value)
    return value


def items_of_tuple(value: Abstract) -> tuple[Abstract, ...] | None:
    """What is known of the items of a tuple of known length."""
    value = in_parts(value)
    return value.items if isinstance(value, Tuple) and value.cls is tuple else None


def known(value: Abstract) -> Any:
    """What a value is certain to be, in whatever tuples; MISSING if that is not known."""
    if isinstance(value, Known):
        return value.value
    if not isinstance(value, Tuple) or value.cls is not tuple:
        return MISSING
    items = tuple(map(known, value.items))
    return MISSING if any(x is MISSING for x in items) else items


def codes_in(value: Abstract) -> tuple[Any, ...]:
    """The functions and classes that a value may be."""
    if isinstance(value, Known):
        return (value.value,) if isinstance(value.value, _CODE) else ()
    return value.values if isinstance(value, OneOf) else ()


_MOST_CODES: Final = 16


def is_none(value: Abstract) -> bool:
    """Whether a value is certain to be None."""
    return inert_class(value) is type(None)


def content_of(value: Abstract) -> Abstract:
    """What a value is if it is there."""
    return value.content if isinstance(value, Optional) else value


def _joined_with_none(a: Abstract, b: Abstract) -> Abstract | None:
    """What may be absent; None if neither may be, in two ways, or if else it has other kinds of parts."""
    kinds = {repr(x): x for x in map(_absent, (a, b)) if x is not MISSING}
    contents = [content_of(x) for x in (a, b) if isinstance(x, Optional) or _absent(x) is MISSING]
    if len(kinds) != 1 or not contents:
        return None
    together = reduce(join, contents)
    (absent,) = kinds.values()
    return Optional(together, absent, example=example_of(together)) if _stands_beside_none(together) else None


def _absent(value: Abstract) -> Any:
    """What stands for the absence of a value; MISSING if it is certain to be there."""
    if isinstance(value, Optional):
        return value.absent
    return UNBOUND if isinstance(value, Known) and value.value is UNBOUND else None if is_none(value) else MISSING


def is_absent(value: Abstract) -> bool:
    """Whether a value is certain to be None, or a variable not to be assigned yet."""
    return not isinstance(value, Optional) and _absent(value) is not MISSING


def _stands_beside_none(value: Abstract) -> bool:
    if isinstance(value, Tuple):
        return value.cls not in (list, dict) and all(
            _stands_beside_none(content_of(x)) or is_none(x) for x in value.items
        )
    return isinstance(value, (Known, OneOf, Number, Array, Instance, Reference)) and _absent(value) is MISSING


def anonymous(value: Abstract) -> Abstract:
    """What is known of a value in another program, which loads objects by itself."""
    if isinstance(value, Outside):
        return Outside(value.cls, example=value.example)
    if isinstance(value, Tuple):
        return replace(value, items=tuple(map(anonymous, value.items)))
    return value


def leaves_in(value: Abstract) -> list[Abstract]:
    """What is in whatever tuples, as what it is if it is there; a value that is no tuple is its only one."""
    value = content_of(value)
    return [x for item in value.items for x in leaves_in(item)] if isinstance(value, Tuple) else [value]


VIRTUAL: Final = (Fresh, Closure, Bound, Lookup, Cell, Container, Partial, Producer, Super, Error, Several)


def is_virtual(value: Abstract) -> bool:
    """Whether a value exists only while the program is made, or something in it."""
    return any(isinstance(x, VIRTUAL) for x in leaves_in(value))


def number_types(value: Abstract) -> frozenset[type] | None:
    """The types that a number may have; None if it may be something else."""
    if isinstance(value, Number):
        return value.types
    if isinstance(value, Known) and type(value.value) in (int, float, bool, complex):
        return frozenset({type(value.value)})
    return None


def is_number_of(value: Abstract, among: Set[type]) -> bool:
    """Whether a value is a number, of one of these types."""
    types = number_types(value) or frozenset()
    return types <= among and bool(types)


REAL: Final = frozenset({float, int, np.float64})


def is_real(value: Abstract) -> bool:
    """Whether a value is a real number that a derivative may have, or may be one by."""
    return is_number_of(value, REAL)


def item_like(value: Abstract) -> Abstract | None:
    """What is known of an item of a list that may change; None if such a list is not understood."""
    value, types = in_parts(value), number_types(value)
    if types is not None:
        return Number(types, example=example_of(value))
    if isinstance(value, Reference):
        return widened(value)
    if isinstance(value, Optional):
        content = item_like(value.content)
        return None if content is None else Optional(content, value.absent, example=value.example)
    if isinstance(value, Tuple) and value.cls not in (list, dict):
        items = tuple(map(item_like, value.items))
        return None if None in items else Tuple(items, value.cls, example=value.example)  # type: ignore[arg-type]
    cls = inert_class(value)
    if cls is not None:
        return Instance(cls, example=example_of(value))
    if codes_in(value):
        return value
    return value if isinstance(value, Array) and value.ndim and not value.scalar else None


def is_plain_key(key: Abstract) -> bool:
    """Whether a key is a number, a text, or a tuple or a frozenset of these."""
    key = in_parts(key)
    if isinstance(key, Tuple):
        return key.cls is tuple and all(map(is_plain_key, key.items))
    frozen = isinstance(key, Dict) and key.site.cls is frozenset
    return frozen or number_types(key) is not None or inert_class(key) is not None


_CODE: Final = (FunctionType, BuiltinFunctionType, type, np.ufunc, type(np.sum))


def inert_class(value: Abstract) -> type | None:
    """The exact type of a value without derivative."""
    if isinstance(value, Instance):
        return value.cls
    if isinstance(value, Known) and not isinstance(value.value, (ModuleType, type)) and not callable(value.value):
        return type(value.value)
    return None


def plain_types(value: Abstract) -> frozenset[type | None]:
    """The exact types that a number, or a value without derivative, may have; None among them: it may have others."""
    return number_types(value) or frozenset({inert_class(value)})


def differentiable(value: Abstract, seen: frozenset[Site] = frozenset()) -> bool:
    """Whether values of this kind have derivatives, or hold what has; ``seen`` are the sites around it."""
    if isinstance(value, Number):
        return bool(value.types - {bool})
    if isinstance(value, Array):
        return value.dtype is None or value.dtype.kind not in "bO"
    if isinstance(value, Tuple):
        return any(differentiable(item, seen) for item in value.items)
    if isinstance(value, Optional):
        return differentiable(value.content, seen)
    if isinstance(value, Reference):
        root = value.site.root()
        return root not in seen and any(differentiable(x, seen | {root}) for x in root.kinds())
    return isinstance(value, Iterator) and differentiable(value.item, seen)


def has_floats(value: Abstract) -> bool:
    """Whether a value is a float or a complex number, or an array, a list or a tuple of some."""
    if isinstance(value, Tuple):
        return any(map(has_floats, value.items))
    if isinstance(value, List):
        return any(map(has_floats, value.site.kinds()))
    if isinstance(value, Array):
        return value.dtype is not None and value.dtype.kind in "fc"
    types = number_types(value)
    return types is not None and all(issubclass(cls, (float, complex, np.inexact)) for cls in types)


def is_whole(value: Abstract) -> bool:
    """Whether a value is a whole number, or an array of some."""
    if isinstance(value, Array):
        return value.dtype is not None and value.dtype.kind in "iub"
    types = number_types(value)
    return types is not None and all(issubclass(cls, (int, np.integer)) for cls in types)


_COMPLEX: Final[frozenset[type]] = frozenset({complex, np.complex64, np.complex128})


def may_be_complex(value: Abstract) -> bool:
    """Whether a number or an array may be complex."""
    value = content_of(value)
    if isinstance(value, Array):
        return value.dtype is None or value.dtype.kind == "c"
    return not _COMPLEX.isdisjoint(number_types(value) or ())


def is_complex(value: Abstract) -> bool | None:
    """Whether a number or an array is complex; None if it may be or not."""
    if not may_be_complex(value):
        return False
    value = content_of(value)
    certain = value.dtype is not None if isinstance(value, Array) else (number_types(value) or set()) <= _COMPLEX
    return True if certain else None


def example_of(value: Abstract) -> Any:
    """An example of the value."""
    return value.value if isinstance(value, Known) else value.example


def reached(site: Site) -> set[Site]:
    """A site, and those of the lists that its lists hold."""
    return set(closure([site.root()], lambda root: [x.root() for kind in root.kinds() for x in sites_in(kind)]))


def sites_in(value: Abstract) -> list[Site]:
    """The sites of lists and dicts in a value."""
    return [x.site for x in leaves_in(value) if isinstance(x, Reference)]


class Objects:
    """Stands for the class of an object that is of one of several."""


def built_class(value: Abstract) -> type | None:
    """The class that a dict of the program stands for, if it is an object; ``Objects`` if there are several."""
    classes = built_classes(value) if isinstance(value, Dict) else ()
    return next(iter(classes), None) if len(classes) < 2 else Objects


def built_classes(value: Abstract) -> frozenset[type]:
    """The classes that an object may be of, for which a dict of the program stands, or which is one of several."""
    if isinstance(value, Mixed):
        return value.among
    cls = value.site.cls if isinstance(value, Dict) else None
    if isinstance(cls, frozenset):
        return cls if value.among is None else value.among  # type: ignore[attr-defined]
    return frozenset([cls] if isinstance(cls, type) and cls not in (*MAPPINGS, *SETS) else ())


def widened(value: Abstract) -> Abstract:
    """What is known of objects without of which classes of their family they are."""
    if isinstance(value, Dict):
        return value if value.among is None else replace(value, among=None)
    if isinstance(value, Optional):
        return replace(value, content=widened(value.content))
    return replace(value, items=tuple(map(widened, value.items))) if isinstance(value, Tuple) else value


SETS: Final = (set, frozenset)


def is_set(value: Abstract) -> bool:
    """Whether a value is a set."""
    if isinstance(value, Dict):
        return value.site.cls in SETS
    return isinstance(value, Known) and type(value.value) is frozenset


def built_of(cls: type) -> tuple[Any, ...]:
    """What stands for a class whose objects are built, because they are put into lists or come by several ways."""
    return "built", cls


def is_true(value: Abstract) -> bool | None:
    """The truth of a value, if it is known."""
    if isinstance(value, Known):
        try:
            return bool(value.value)
        except Exception:
            return None
    if isinstance(value, (Closure, Bound, Cell, Partial)):
        return True
    classes = {value.cls} if isinstance(value, Fresh) else built_classes(value)
    if classes:
        return None if any(hasattr(cls, "__bool__") or hasattr(cls, "__len__") for cls in classes) else True
    return bool(value.items) if isinstance(value, Tuple) else None


def is_of_bits(value: Abstract) -> bool:
    """Whether a value is an integer or a bool, or an array of bools."""
    if isinstance(value, Array):
        return value.dtype is not None and value.dtype.kind == "b"
    return plain_types(value) <= _BITS


def is_class(value: Abstract) -> bool:
    """Whether a value is a class, or several, as one that ``|`` joins to a union."""
    return isinstance(value, Known) and (
        isinstance(value.value, UnionType) or getattr(type(value.value), "__or__", None) is type.__or__
    )


_BITS: Final[set[Any]] = {int, bool, np.bool_}
