"""What depends on what is differentiated: of tuples, item by item; of lists, dicts and objects, by site.

Of ``(distance, place)`` the place is a key of a dict, though the distance has a derivative.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from autodiff_hook.ir.analysis import bindings
from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Dict,
    Iterator,
    Known,
    List,
    Number,
    Reference,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.lattice import (
    content_of,
    differentiable,
    has_floats,
    is_whole,
    reached,
    sites_in,
)
from autodiff_hook.transform.specialise.lists import view_of
from autodiff_hook.transform.specialise.program import (
    APPEND,
    COPY,
    ITEMS,
    LOAD,
    PARTS,
    PURE,
    READ,
    STORE,
    STRUCTURAL,
    TAKE,
    OwnPlan,
    Program,
    RulePlan,
)

Mask: TypeAlias = "bool | tuple[Mask, ...]"
"""Whether a value depends on what is differentiated; of a tuple or an iterator, whether its items do."""


class Spread:
    """Forwards: what depends on the parameters."""

    def __init__(self, program: Program, blocks: list[Block], params: set[Variable]) -> None:
        self.program = program
        self.masks: dict[Variable, Mask] = {}
        self.sites: dict[tuple[Site, str | None], Mask] = {}
        """What is known of the items of a site that have no name, and of those that have one."""
        self.names: dict[Site, set[str | None]] = {}
        self.changed = True
        for param in params:
            self._add(param, True)
        while self.changed:
            self.changed = False
            for block in blocks:
                for s in block.statements:
                    self._step(s)
                for variable, operand in bindings(block):
                    self._add(variable, self._of(operand))

    def found(self) -> set[Variable]:
        """The variables of which a part depends on the parameters, be it by what they refer to."""
        return {v for v in self.program.types if self._is_active(v)}

    def _is_active(self, operand: Operand) -> bool:
        if not isinstance(operand, Variable):
            return False
        return _any(self.masks.get(operand, False)) or any(
            site in self.names for own in _sites(self.program.type_of(operand)) for site in reached(own)
        )

    def _of(self, operand: Operand) -> Mask:
        return self.masks.get(operand, False) if isinstance(operand, Variable) else False

    def _add(self, variable: Variable, mask: Mask) -> None:
        before = self.masks.get(variable, False)
        after = _either(before, self._fitted(self.program.type_of(variable), mask))
        if after != before:
            self.masks[variable], self.changed = after, True

    def _fitted(self, kind: Abstract, mask: Mask) -> Mask:
        """What a mask says of values of a kind; that of what is referred to is kept by site."""
        kind = content_of(kind)
        if not _any(mask):
            return False
        if isinstance(kind, Iterator):
            return self._fitted(kind.item, mask)
        if isinstance(kind, Tuple):
            parts = mask if isinstance(mask, tuple) and len(mask) == len(kind.items) else (True,) * len(kind.items)
            found = tuple(map(self._fitted, kind.items, parts))
            return _any(found) and found
        if not isinstance(kind, Reference):
            return differentiable(kind)
        for site in reached(kind.site) if differentiable(kind) else ():
            self._put(site, None, True)
        return False

    def _put(self, site: Site, name: str | None, mask: Mask) -> None:
        root = site.root()
        before = self.sites.get((root, name), False)
        after = _either(before, mask)
        if after != before:
            self.sites[root, name], self.changed = after, True
            self.names.setdefault(root, set()).add(name)

    def _held(self, site: Site, name: str | None) -> Mask:
        """What may be read of a site, by a name or by any."""
        root = site.root()
        names = {None, name} if name is not None else self.names.get(root, ())
        return _together(self.sites.get((root, x), False) for x in names)

    def _store(self, owner: Operand, key: Operand | None, mask: Mask) -> None:
        kind = self.program.type_of(owner)
        if isinstance(kind, Reference):
            item = _together(self._fitted(x, mask) for x in kind.site.kinds())
            self._put(kind.site, self._name(kind, key), item)
        elif isinstance(owner, Variable) and _any(mask):
            self._add(owner, True)

    def _name(self, owner: Reference, key: Operand | None) -> str | None:
        found = self.program.type_of(key)
        name = found.value if isinstance(found, Known) and type(found.value) is str else None
        return name if name in owner.site.named else None

    def _items(self, operand: Operand) -> Mask:
        """What comes out of an iteration over a value; no key of a dict depends on what is differentiated."""
        kind, mask = self.program.type_of(operand), self._of(operand)
        if isinstance(kind, Reference):
            return not isinstance(kind, Dict) and self._held(kind.site, None)
        if isinstance(kind, Tuple):
            return _together(mask) if isinstance(mask, tuple) else mask
        return mask if isinstance(kind, Iterator) else self._is_active(operand)

    def _step(self, s: Statement) -> None:
        plan = self.program.plans.get(s)
        if plan == APPEND or plan == STORE:
            key = s.operands[1] if s.op == "setitem" else Constant(s.data) if s.op == "setattr" else None
            self._store(s.operands[0], key, self._of(s.operands[-1]))
        if isinstance(plan, OwnPlan) and any(map(self._is_active, sources(s, self.program))):
            for site in plan.changed:
                self._fitted(List(site), True)
        if s.result is None or not differentiable(self.program.type_of(s.result)):
            return
        if plan == ITEMS and s.op in ("build_list", "build_map"):
            step = 2 if s.op == "build_map" else 1
            for place, value in enumerate(s.operands[step - 1 :: step]):
                self._store(s.result, s.operands[2 * place] if step == 2 else None, self._of(value))
        elif plan == PARTS or plan == ITEMS:
            for operand in s.operands:
                if not isinstance(self.program.type_of(operand), Number):
                    self._store(s.result, None, self._items(operand))
        else:
            self._add(s.result, self._given(s, plan))

    def _given(self, s: Statement, plan: object) -> Mask:
        """What the operands of a statement say of its result."""
        if plan == STRUCTURAL:
            return self._structure(s)
        if plan == TAKE:
            return (self._items(s.operands[0]),) * s.data[0]  # type: ignore[no-any-return]
        if plan == PURE:
            return isinstance(self.program.type_of(s.made), Iterator) and self._iterated(s)
        if plan == LOAD and s.op in ("getitem", "getattr"):
            owner = self.program.type_of(s.operands[0])
            if isinstance(owner, Reference):
                key = s.operands[1] if s.op == "getitem" else Constant(s.data)
                return self._held(owner.site, self._name(owner, key))
        found = sources(s, self.program)
        if isinstance(plan, RulePlan) and is_whole(self.program.type_of(s.made)):
            # The whole parts of floats have no derivative.
            found = [x for x in found if not has_floats(self.program.type_of(x))]
        return any(map(self._is_active, found))

    def _structure(self, s: Statement) -> Mask:
        if s.op in ("build_tuple", "build_list"):
            return tuple(map(self._of, s.operands))
        if s.op == "build_map":
            return tuple(map(self._of, s.operands[1::2]))
        whole, kind = self._of(s.operands[0]), self.program.type_of(s.operands[0])
        if s.op == "unpack" or not isinstance(whole, tuple) or not isinstance(kind, Tuple):
            return whole
        key = s.data if s.op == "project" else getattr(self.program.type_of(s.operands[1]), "value", None)
        if kind.cls is dict and s.op == "getitem":
            return whole[kind.keys.index(key)]
        return whole[key] if type(key) is int and -len(whole) <= key < len(whole) else True

    def _iterated(self, s: Statement) -> Mask:
        """What comes out of the iterator that a statement makes."""
        function = self.program.type_of(s.operands[0]) if s.op == "call" else None
        name = getattr(function, "value", None)
        if s.op == "get_iter":
            return self._items(s.operands[0])
        if name is zip:
            return tuple(map(self._items, s.operands[1:]))
        if name is enumerate and len(s.operands) == 2:
            return (False, self._items(s.operands[1]))
        if name is reversed:
            return self._items(s.operands[1])
        owner = self.program.type_of(s.operands[0])
        if view_of(s) is not None and isinstance(owner, Dict):
            values = self._held(owner.site, None)
            return (False, values) if view_of(s) == "items" else values
        return any(map(self._is_active, s.operands))


def sources(s: Statement, program: Program) -> list[Operand]:
    """The operands of a statement that a derivative may come from."""
    plan = program.plans.get(s)
    if isinstance(plan, RulePlan):
        return [x for v in plan.values for x in flat(v)]
    if plan in (STRUCTURAL, ITEMS, PARTS):
        return s.operands
    if plan in (LOAD, READ, COPY, TAKE):
        return s.operands[s.op == "call" :][:1]
    carries = isinstance(program.type_of(s.result), Iterator) if s.result is not None else False
    return s.operands if carries else []


def flat(value: Operand | list[Operand] | dict[str, Operand]) -> list[Operand]:
    """The operands that a parameter is bound to."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


def _sites(kind: Abstract) -> list[Site]:
    kind = content_of(kind)
    return _sites(kind.item) if isinstance(kind, Iterator) else sites_in(kind)


def _any(mask: Mask) -> bool:
    return any(map(_any, mask)) if isinstance(mask, tuple) else mask


def _together(masks: Iterable[Mask]) -> Mask:
    found: Mask = False
    for mask in masks:
        found = _either(found, mask)
    return found


def _either(a: Mask, b: Mask) -> Mask:
    """What is so by one of two masks."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(_either, a, b))
    return (a or b) if a is False or b is False else _any(a) or _any(b)
