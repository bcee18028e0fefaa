"""Families: classes whose objects come by one name. The dict that stands for an object has its class as an item."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from autodiff_hook.transform.specialise.abstract import Dict
from autodiff_hook.transform.specialise.bodies import Changes, Refused
from autodiff_hook.transform.specialise.lattice import built_classes

TAG: Final = "class of it"
"""The name of the item that says of which class an object is; no attribute has it."""
_MOST: Final = 12


def family_of(changed: Collection[Any], cls: type) -> frozenset[type] | None:
    """The classes whose objects come by one name with those of a class; None if there are no others."""
    found = frozenset({cls})
    families = [place[1] for place in changed if type(place) is tuple and place[0] == _FAMILY]
    while others := [x for x in families if not found.isdisjoint(x) and not x <= found]:
        found = found.union(*others)
    return found if len(found) > 1 else None


def tag_of(cls: type) -> str:
    """What the item says of the objects of a class."""
    return f"{cls.__qualname__} {id(cls)}"


def ask_for_family(a: Dict, b: Dict) -> None:
    """Objects of several classes come by one name: the program is followed again, knowing that."""
    if a.site.root() is b.site.root() or a.site.cls == b.site.cls:
        return
    classes = [built_classes(Dict(x.site)) for x in (a, b)]
    if not all(classes):
        return
    together = frozenset().union(*classes)
    if len(together) > _MOST:
        raise Refused("objects of many classes come by one name")
    raise Changes("objects of several classes come by one name", (_FAMILY, together))


_FAMILY: Final = "family"
