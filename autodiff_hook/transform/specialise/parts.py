"""Parts of arrays that are assigned: how many axes they have."""

from __future__ import annotations

from types import EllipsisType

from autodiff_hook.transform.specialise.abstract import Abstract, Array, Instance, Known, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import in_parts, is_none, is_number_of, number_types
from autodiff_hook.transform.specialise.lists import WHOLE


def rank_of(owner: Array, key: Abstract) -> int:
    """How many axes ``owner[key]`` has."""
    assert owner.ndim is not None
    parts = parts_of(key)
    whole = sum(number_types(p) is not None for p in parts)
    places = [p for p in parts if isinstance(p, Array)]
    if places:
        rest = [p for p in parts if not isinstance(p, Array)]
        fits = all(_is_places(p) or _is_mask(p) for p in places)
        fits = fits and all(_is_basic(p, p.value if isinstance(p, Known) else p) for p in rest)
        taken = sum((p.ndim or 0) if _is_mask(p) else 1 for p in places)
        ellipsis = any(isinstance(p, Known) and p.value is Ellipsis for p in rest)
        if not fits or taken + len(rest) > owner.ndim + ellipsis:
            raise Refused("places of an array are given by an array")
        return owner.ndim - whole - taken + max(1 if _is_mask(p) else p.ndim or 0 for p in places)
    kinds = [p.value if isinstance(p, Known) else p for p in parts]
    if not all(_is_basic(p, kind) for p, kind in zip(parts, kinds)) or len(parts) > owner.ndim + (Ellipsis in kinds):
        raise Refused("a part of an array is assigned by an unknown index")
    return owner.ndim - whole


def parts_of(key: Abstract) -> tuple[Abstract, ...]:
    """The parts of an index, one by one."""
    key = in_parts(key)
    return key.items if isinstance(key, Tuple) and key.cls is tuple else (key,)


def _is_basic(part: Abstract, value: object) -> bool:
    if isinstance(part, Instance):
        return part.cls is slice
    return is_number_of(part, WHOLE) or type(value) in (slice, EllipsisType)


def _is_places(part: Array) -> bool:
    return part.dtype is not None and part.dtype.kind in "iu" and bool(part.ndim) and not part.scalar


def _is_mask(part: Array) -> bool:
    """Whether an array tells of each place whether it is meant; together these are one axis."""
    return part.dtype is not None and part.dtype.kind == "b" and bool(part.ndim) and not part.scalar


def gives_places(key: Abstract) -> bool:
    """Whether an index has arrays of places in it, which may be there several times."""
    return any(isinstance(p, Array) and _is_places(p) for p in parts_of(key))


def is_view(key: Abstract) -> bool:
    """Whether an index with an Ellipsis gives a view even where no axis is left."""
    return any(isinstance(p, Known) and p.value is Ellipsis for p in parts_of(key))


def is_basic_key(key: Abstract) -> bool:
    """Whether an index is made of ints and slices, so that what it takes of an array is a view."""
    return all(_is_basic(p, p.value if isinstance(p, Known) else p) for p in parts_of(key))


def is_view_key(key: Abstract) -> bool:
    """Whether an index gives a view: it is made of ints, slices and new axes."""
    return all(is_none(p) or _is_basic(p, p.value if isinstance(p, Known) else p) for p in parts_of(key))
