"""One forward-mode differentiation: from primals and tangents in the form of gradients to value and tangent."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.algebras.given import Given
from autodiff_hook.algebras.implicit import Carrying
from autodiff_hook.algebras.levels import Pair, over_of, own_of, token_at
from autodiff_hook.algebras.nested import fitted
from autodiff_hook.algebras.nested_tangents import NestedTangents
from autodiff_hook.algebras.shadows import Algebra, Token, keep, known, load
from autodiff_hook.algebras.tangents import Moving, Tangents, refuse_unknown
from autodiff_hook.debugging import NANS
from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import describe
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.mirror import (
    Mirror,
    array_gradient,
    form_of,
    in_form,
    is_like,
    mirror_of,
    number_gradient,
    parts_of,
)
from autodiff_hook.runtime.parted import PARTED, part_at
from autodiff_hook.runtime.preparing import deeper_recursion, prepare, require_aux
from autodiff_hook.runtime.tracebacks import without_engine
from autodiff_hook.semantics.calls import apply
from autodiff_hook.semantics.scope import module_of_callable
from autodiff_hook.semantics.structures import gather, hidden, slot_of
from autodiff_hook.semantics.table import TABLE
from autodiff_hook.tangent import Tangent

assert TABLE, "importing the table registers meanings"

Carried = tuple[Any, Token]


def push(f: Any, primals: Any, tangents: Any, has_aux: bool) -> tuple[Any, Any]:
    """The value of ``f`` and its tangent, in the form of a gradient of it; ``has_aux``: of the first part of a pair."""
    none = (None,) * len(primals), (None,) * len(tangents)
    value, tangent, _, _ = pushed(None, f, primals, tangents, *none, has_aux)
    return value, tangent


def pushed(
    below: Algebra | None, f: Any, primals: Any, tangents: Any, tokens: Any, moving: Any, has_aux: bool
) -> tuple[Any, Any, Token, Any]:
    """Value and tangent, and the tokens in them of the algebra that carries the caller."""
    prepare()
    if not callable(f):
        raise Unsupported(f"the function to differentiate is not callable: {f!r}")
    if len(primals) != len(tangents):
        raise Unsupported(f"{describe(f)}: {len(primals)} primals, but {len(tangents)} tangents; None stands for zero")
    alg: Tangents = Tangents() if below is None else NestedTangents(below)
    alg.modules.add(module_of_callable(f))
    if NANS.on:
        alg.numbers = None
    known: dict[int, Mirror] = {}
    alg.given = Given(f, [mirror_of(x, known) for x, tangent in zip(primals, tangents) if tangent is not None])
    if alg.given.has_parts:
        Given(f, [mirror_of(x, known) for x in primals])  # what stays may not show the memory of what moves
    seeder = _Seeder(alg)
    edges = [seeder.seed(*row, f"tangents[{i}]") for i, row in enumerate(zip(primals, tokens, tangents, moving))]
    try:
        with deeper_recursion, Carrying(alg):
            value, token = apply(alg, (None, *edges), f, primals, {})
        alg.refuse_dropped()
        if has_aux:
            require_aux(value, f)
        tangent, tree = _Mirrors(alg).mirrored(*((value[0], token_at(token, 0)) if has_aux else (value, token)))
    except BaseException as error:
        error.__traceback__ = without_engine(error.__traceback__)
        alg.refuse_dropped(error)
        raise
    finally:
        if below is None:
            alg.lifetimes.end()
    return value, tangent, over_of(alg, gather(alg, value, token)) if below is not None else None, tree


class _Seeder:
    """Gives arguments their tangents."""

    def __init__(self, alg: Tangents) -> None:
        self.alg = alg
        self._seen = dict[tuple[int, int], Any]()
        self._given = dict[tuple[int, Any], tuple[Any, Any]]()

    def seed(self, value: Any, token: Token, tangent: Any, moving: Any, where: str) -> Token:
        """The token of an argument; what references hold gets its token in their shadows."""
        if tangent is None:
            return token
        form = form_of(value)
        check_tangent(form, value, tangent, where)
        if form in ("number", "array"):
            edge = self._leaf(value, token, tangent, moving)
            if form == "array":
                self.alg.note(value, own_of(self.alg, edge))
            return edge
        if form == "records":
            self._begin_fields(value, tangent, moving, where)
            return None
        if form == "tuple":
            return tuple(
                [
                    self.seed(item, token_at(token, i), tangent[i], token_at(moving, i), f"{where}[{i}]")
                    for i, item in enumerate(value)
                ]
            )
        if (id(value), id(tangent)) in self._seen:
            return None
        self._seen[id(value), id(tangent)] = tangent
        moving = moving if moving is not None else _shadow(self.alg, tangent)
        for key, item in parts_of(value, form):
            name = f".{key}" if form == "object" else f"[{key!r}]"
            holder, slot = slot_of(form, value, key)
            given = tangent[key] if form == "list" else part_at(tangent, key)
            if given is None:
                continue
            self._require_one((id(holder), slot), item, (given, token_at(moving, key)), f"{where}{name}")
            below = over_of(self.alg, load(self.alg, holder, slot, item))
            keep(self.alg, holder, slot, self.seed(item, below, given, token_at(moving, key), f"{where}{name}"))
        return None

    def _require_one(self, slot: tuple[int, Any], value: Any, given: tuple[Any, Any], where: str) -> None:
        """Raise if what is in a slot, which has several names, is given another tangent under each."""
        if form_of(value) not in ("number", "array", "tuple"):
            return
        before = self._given.setdefault(slot, given)
        require_one(before[0], given[0], where)
        require_one(before[1], given[1] if (before[1] is None) == (given[1] is None) else object(), where)

    def _begin_fields(self, records: Any, tangent: Any, moving: Any, where: str) -> None:
        """The fields of a structured array are in one memory, whose first content they are."""
        for name, field in parts_of(records, "records"):
            given, below, place = part_at(tangent, name), token_at(moving, name), f"{where}[{name!r}]"
            if form_of(field) != "array":
                self.seed(field, None, given, below, place)
            elif given is not None:
                check_tangent("array", field, given, place)
                self.alg.begin(field, self._leaf(field, None, given, below))

    def _leaf(self, value: Any, token: Token, tangent: Any, moving: Any) -> Token:
        alg = self.alg
        if isinstance(alg, NestedTangents):
            assert alg.over is not None
            return Pair(alg, Moving(*fitted(alg.over, value, tangent, moving)), token)
        return (number_gradient if kind_of(type(value)) == "number" else array_gradient)(value, tangent)


def _shadow(alg: Algebra, tangent: Any) -> Any:
    """The tokens in a container of tangents."""
    held = tangent._fields if isinstance(tangent, Tangent) else tangent
    return known(alg, held) if kind_of(type(held)) in ("list", "dict") else None


class _Mirrors:
    """Gives values' tangents the form of gradients: complete, with zeros where nothing flows."""

    def __init__(self, alg: Tangents) -> None:
        self.alg, self.done = alg, dict[int, Carried]()

    def mirrored(self, value: Any, token: Token) -> Carried:
        """The tangent of a value, and the tokens in it."""
        form = form_of(value)
        if form in ("number", "array"):
            return self._leaf(value, token)
        refuse_unknown(own_of(self.alg, hidden(self.alg, value)))
        if form == "inert":
            return None, None
        if form == "method":
            return self.mirrored(value.__self__, None)
        # The fields of records are views, which are not there for long.
        done = {} if form in PARTED else self.done
        if form in PARTED:
            refuse_unknown(own_of(self.alg, token))
        if id(value) in done:
            return done[id(value)]

        def part(key: Any, item: Any) -> Carried:
            held = token_at(token, key) if form == "tuple" else load(self.alg, *slot_of(form, value, key), item)
            return self.mirrored(item, held)

        return in_form(value, form, parts_of(value, form), part, done, id(value))

    def _leaf(self, value: Any, token: Token) -> Carried:
        alg = self.alg
        if kind_of(type(value)) == "array":
            token = alg.read(value, token)
        own = own_of(alg, token)
        refuse_unknown(own)
        if isinstance(alg, NestedTangents):
            assert alg.over is not None
            if own is not None and own.value is not None:
                return fitted(alg.over, value, own.value, own.tokens)
            own = None
        make = number_gradient if kind_of(type(value)) == "number" else array_gradient
        return make(value, own), None


def check_tangent(form: str, value: Any, tangent: Any, where: str) -> None:
    """Raise for a tangent that is not in the form of a gradient of ``value``."""
    given = kind_of(type(tangent))
    if form in ("number", "array"):
        fits, wanted = _fits_leaf(form, value, tangent)
    elif form in ("tuple", "list"):
        fits = given in ("tuple", "list") and len(tangent) == len(value)
        wanted = f"a {form} of {len(value)} tangents"
    elif form in PARTED:
        fits, wanted = is_like(value, tangent), f"an array of {form} of the shape {value.shape}"
    elif form in ("dict", "object"):
        fits = given == "dict" or isinstance(tangent, Tangent)
        wanted = "a dict of tangents" if form == "dict" else "a Tangent"
    else:
        fits, wanted = False, "None"
    if not fits:
        raise Unsupported(f"{where} must be {wanted}, like a gradient of {type(value).__qualname__}, not {tangent!r}")


def require_one(before: Any, tangent: Any, where: str) -> None:
    """Raise if what has several names is given another tangent under this one."""
    if before is None or tangent is None or before is tangent:
        return
    if type(before) is tuple and type(tangent) is tuple and len(before) == len(tangent):
        for i, row in enumerate(zip(before, tangent)):
            require_one(*row, f"{where}[{i}]")
        return
    if not np.array_equal(before, tangent):
        raise Unsupported(
            f"{where}: the arguments hold this under another name, too, with another tangent. It is one variable: give "
            f"one of them (None for the other), the same for both, or pass copies (copy.deepcopy)"
        )


def _fits_leaf(form: str, value: Any, tangent: Any) -> tuple[bool, str]:
    if kind_of(type(tangent)) not in ("number", "array"):
        return False, "a number" if form == "number" else "an array"
    if np.iscomplexobj(tangent) and not np.iscomplexobj(value):
        return False, "real"
    if form == "number":
        return np.size(tangent) == 1, "a number"
    return np.shape(tangent) == value.shape, f"an array of the shape {value.shape}"
