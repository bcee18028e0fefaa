"""What stores into arrays and lists mean that the program itself makes; ``memory.py`` says whether it does."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.semantics.operations import BINARY
from autodiff_hook.transform.specialise import assigned, dicts, lists
from autodiff_hook.transform.specialise.abstract import INT, Abstract, Array, Dict, Known, List, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import call_known
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.lattice import built_class, inert_class, is_number_of, number_types
from autodiff_hook.transform.specialise.objects import object_class, written
from autodiff_hook.transform.specialise.parts import rank_of
from autodiff_hook.transform.specialise.plans import spread
from autodiff_hook.transform.specialise.program import STORE
from autodiff_hook.transform.specialise.ruled import array_before
from autodiff_hook.transform.specialise.views import flat_of, may_show, redirect

_WIDTHS: Final = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
_WHOLE: Final = ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>")
_IN_PLACE: Final = {"b": ("&", "|", "^"), "i": _WHOLE, "u": _WHOLE, **dict.fromkeys("fc", ("+", "-", "*", "/", "**"))}


def store(inf: Inference, s: Statement) -> Abstract | None:
    """``owner[key] = value``."""
    array = flat_of(inf.type_of(s.operands[0]))
    if array is not None:
        if may_show(inf, s.operands[2], array):
            raise Refused("an array is stored through array.flat into memory that it may show")
        s.operands[0] = inf.before(s, "call_method", [array, Constant(-1)], ("reshape", ()))
    if isinstance(inf.type_of(s.operands[0]), Array):
        s.operands[1] = _places(inf, s, s.operands[1])
        redirect(inf, s)
    owner, key, value = map(inf.type_of, s.operands)
    cls = object_class(owner)
    method = None if cls is None else written(inf, cls, "__setitem__")
    if method is not None:
        inf.assume(s.operands[0])
        return inline_call(inf, s, method, list(s.operands), {})
    if isinstance(owner, Outside) and owner.cls is dict and isinstance(key, Known) and type(key.value) is str:
        return assigned.write(inf, s, owner.example, s.operands[0], key.value)
    if isinstance(key, List):
        lists.require_lists(key)
    if isinstance(owner, List):
        lists.into_list(inf, s, owner)
    elif isinstance(owner, Dict) and built_class(owner) is None:
        lists.require_own(inf, s, owner)
        dicts.into_dict(inf, owner, key, value)
    elif isinstance(owner, Array):
        _into_array(inf, s, owner, key)
    else:
        lists.ask_for_changes(inf, s.operands[0])
        raise Refused("an item of what may be somebody else's is assigned")
    inf.plans[s] = STORE
    return Known(None)


def _places(inf: Inference, s: Statement, key: Operand) -> Operand:
    """An index with arrays in the place of lists of places."""
    kind = inf.type_of(key)
    if _is_list_of_places(kind):
        return array_before(inf, s, key)
    if isinstance(kind, Tuple) and kind.cls is tuple and any(map(_is_list_of_places, kind.items)):
        return inf.before(s, "build_tuple", [_places(inf, s, x) for x in spread(inf, key)])
    return key


def _is_list_of_places(kind: Abstract) -> bool:
    if isinstance(kind, List):
        return kind.site.cls is None and kind.item is not None and is_number_of(kind.item, INT.types)
    return isinstance(kind, Tuple) and kind.cls is list


def entry(inf: Inference, s: Statement) -> Abstract | None:
    """One step of a dict comprehension."""
    s.op = "setitem"
    return store(inf, s)


def _into_array(inf: Inference, s: Statement, owner: Array, key: Abstract) -> None:
    kind = _kind_of_changed(owner)
    rank = rank_of(owner, key)
    value = inf.type_of(s.operands[2])
    if rank and _is_sequence(value):
        s.operands[2] = array_before(inf, s, s.operands[2])
        value = inf.type_of(s.operands[2])
    widths = _widths(value)
    if not _is_number_or_fits(value, rank) or max(widths) > max(_WIDTHS[kind], _WIDTHS["f"]):
        raise Refused("what is stored into an array may not fit")
    if kind in "iu" and _WIDTHS["f"] in widths:
        if len(widths) > 1:
            raise Refused("what is stored into an array of whole numbers may be one, or be rounded")
        # Rounded, so constant: a cotangent would pass from whole number to whole number.
        s.operands[2] = inf.before(s, "call", [Constant(np.trunc), s.operands[2]], ())


def _is_sequence(value: Abstract) -> bool:
    known = isinstance(value, Known) and type(value.value) is tuple
    return known or isinstance(value, List) or isinstance(value, Tuple) and value.cls in (tuple, list)


def _kind_of_changed(owner: Array) -> str:
    """Of which kind the items of an array are that is changed."""
    kind: str = "" if owner.dtype is None else owner.dtype.kind
    if kind not in _WIDTHS or not owner.ndim or owner.scalar:
        raise Refused("an array of what is not known is changed")
    return kind


def _is_number_or_fits(value: Abstract, rank: int) -> bool:
    """Whether a value is a number, or an array whose axes a part with so many has."""
    if isinstance(value, Array):
        return not value.scalar and value.ndim is not None and 0 < value.ndim <= rank
    return _dtypes(value) is not None


def _dtypes(value: Abstract) -> list[Any] | None:
    """What NumPy takes the types of a number or an array for; None if it may be something else."""
    if isinstance(value, Array):
        return None if value.dtype is None else [value.dtype]
    types = {np.bool_} if inert_class(value) is np.bool_ else number_types(value)
    return None if types is None else [np.dtype(cls) for cls in types]


def _widths(value: Abstract) -> set[int]:
    """How wide a number or an array may be; what may be real or complex is not known."""
    found = {_WIDTHS.get(dtype.kind, _UNKNOWN) for dtype in _dtypes(value) or ()} or {_UNKNOWN}
    return {_UNKNOWN} if _WIDTHS["c"] in found and len(found) > 1 else found


_UNKNOWN: Final = 9


def augmented(inf: Inference, s: Statement) -> Abstract | None:
    """``array += value``: a new array, which is stored where it came from, or into all of the array."""
    owner, value = map(inf.type_of, s.operands)
    assert isinstance(owner, Array)
    kind = _kind_of_changed(owner)
    fits = _is_number_or_fits(value, owner.ndim or 0) and max(_widths(value)) <= _WIDTHS[kind]
    if s.data not in _IN_PLACE[kind] or not fits or not _may_be_cast(value, owner):
        raise Refused("an array is changed in place by what may not fit")
    if _is_stored_back(inf, s):
        s.op = "binary"
        return call_known(inf, s, BINARY[s.data], s.operands, {})
    old, new = Variable(), Variable()
    whole = Constant(Ellipsis)
    inf.block.statements[inf.index : inf.index + 1] = [
        Statement("getitem", [s.operands[0], whole], old, None, s.position),
        Statement("binary", [old, s.operands[1]], new, s.data, s.position),
        Statement("setitem", [s.operands[0], whole, new], None, None, s.position),
        Statement("check", [s.operands[0]], s.made, None, s.position),
    ]
    inf.index -= 1
    return owner


def _may_be_cast(value: Abstract, owner: Array) -> bool:
    """Whether NumPy puts the result into the array in place; a number of Python's is of the array's own kind there."""
    if is_number_of(value, {int, float, bool, complex}):
        return True
    sizes = [np.result_type(owner.dtype, x) for x in _dtypes(value) or ()]
    return all(np.can_cast(size, owner.dtype, "same_kind") for size in sizes)


def _is_stored_back(inf: Inference, s: Statement) -> bool:
    """Whether this is the middle of ``owner[key] += value``."""
    for later in inf.block.statements[inf.index + 1 :]:
        if later.op == "setitem" and later.operands[2] is s.result:
            return _is_part(inf, s.operands[0], later.operands[:2])
    return False


def _is_part(inf: Inference, part: Operand, place: list[Operand]) -> bool:
    made = lists.maker(inf, part)
    array = isinstance(inf.type_of(place[0]), Array)
    return (
        array
        and made is not None
        and made.op == "getitem"
        and all(_same(inf, a, b) for a, b in zip(made.operands, place))
    )


def _same(inf: Inference, a: Operand, b: Operand) -> bool:
    """Whether two operands are one value; from CPython 3.12 on a slice may be made twice."""
    if a is b:
        return True
    if isinstance(inf.type_of(a), Known) and inf.type_of(a) == inf.type_of(b):
        return True
    first, second = lists.maker(inf, a), lists.maker(inf, b)
    slices = first is not None and second is not None and first.op == second.op == "build_slice"
    return slices and all(_same(inf, x, y) for x, y in zip(first.operands, second.operands))  # type: ignore[union-attr]
