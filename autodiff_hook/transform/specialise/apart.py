"""Iterations over a few things of several kinds, functions or objects of several classes.

Each is known by itself, so the body of the loop stands once for each of them, as it does for the yields of a generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Operand, Statement, Variable
from autodiff_hook.semantics.equivalents import BEGUN
from autodiff_hook.semantics.equivalents.iterating import ONE_BY_ONE
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    Abstract,
    Bound,
    Closure,
    Fresh,
    Known,
    Outside,
    Partial,
    Record,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused, is_plain
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import in_parts, is_virtual, join, number_types
from autodiff_hook.transform.specialise.objects import object_class, written
from autodiff_hook.transform.specialise.plans import spread
from autodiff_hook.transform.specialise.wording import named

_MOST: Final = len(ONE_BY_ONE)


def items(inf: Inference, operand: Operand) -> list[Operand] | None:
    """What comes out of an iteration, one by one; None if it is of one kind, or not known so."""
    kind = in_parts(inf.type_of(operand))
    if inf.one_way or not isinstance(kind, (Tuple, Outside)) or kind.cls not in (tuple, list, dict):
        return None
    if kind.cls is dict:
        keys = _keys(kind)
        return None if keys is None or _parts(inf, operand, kind, keys) is None else list(map(Constant, keys))
    count = len(kind.items) if isinstance(kind, Tuple) else len(kind.example)
    return _parts(inf, operand, kind, range(count))


def entries(inf: Inference, s: Statement, name: str) -> list[Operand] | None:
    """The same of ``mapping.items()``, ``.keys()`` and ``.values()``."""
    owner = s.operands[0]
    kind = inf.type_of(owner)
    if inf.one_way or not isinstance(kind, (Tuple, Outside)) or kind.cls is not dict:
        return None
    keys = _keys(kind)
    values = None if keys is None else _parts(inf, owner, kind, keys)
    if keys is None or values is None:
        return None
    if name == "values":
        return values
    names = list(map(Constant, keys))
    return [inf.before(s, "build_tuple", [k, v]) for k, v in zip(names, values)] if name == "items" else list(names)


def begin(inf: Inference, s: Statement, parts: list[Operand]) -> Abstract | None:
    """Let a statement make a generator of these."""
    s.op, s.operands, s.data = "call", [Constant(ONE_BY_ONE[len(parts) - 1]), *parts], ()
    return inf.evaluate(inf, s)


def produced(inf: Inference, s: Statement, function: Any, args: Args) -> Statement | None:
    """What begins the iteration that ``enumerate`` and its kin are given, over an object or several things; or None."""
    known = function in (enumerate, zip)
    if not known and function not in BEGUN:
        return None
    for place in range(len(args)) if known else range(len(args))[BEGUN[function]]:
        operand = args[place]
        if not known and number_types(inf.type_of(operand)):
            raise Refused(f"an iteration over {named(inf.type_of(operand))}")
        parts = items(inf, operand) if known else None
        made = None
        if parts is not None:
            made = Statement("call", [Constant(ONE_BY_ONE[len(parts) - 1]), *parts], Variable(), (), s.position)
        elif is_iterated_by_code(inf, operand):
            made = Statement("get_iter", [operand], Variable(), None, s.position)
        if made is not None:
            # What begins twice over one object are two iterations.
            given = [*args[:place], made.made, *args[place + 1 :]]
            s.op, s.operands, s.data = "call", [Constant(function), *given], ()
            inf.block.statements.insert(inf.index, made)
            return made
    return None


def is_iterated_by_code(inf: Inference, operand: Operand) -> bool:
    """Whether an ``__iter__`` of Python code begins an iteration over an object."""
    cls = object_class(inf.type_of(operand))
    return cls is not None and written(inf, cls, "__iter__") is not None


def _keys(kind: Tuple | Outside) -> Sequence[Any] | None:
    """The keys of a dict."""
    if isinstance(kind, Tuple):
        return kind.keys
    return list(kind.example) if all(map(is_plain, kind.example)) else None


def _parts(inf: Inference, owner: Operand, kind: Tuple | Outside, keys: Sequence[Any]) -> list[Operand] | None:
    if not 0 < len(keys) <= _MOST:
        return None
    if isinstance(kind, Tuple):
        # A dict that is asked for any item, and whose items are of several kinds, is asked for each.
        changed = kind.place is None or kind.place in inf.program.changed
        several = kind.cls is dict and changed or _are_several(kind.items)
        return spread(inf, owner, keys) if several else None
    if any(type(x) is tuple and x[0] != "outside" and x[1] == id(kind.example) for x in inf.program.changed):
        return None
    held = [kind.example[key] for key in keys]
    uniform = kind.cls is dict and ("outside", id(kind.example)) not in inf.program.changed
    if uniform and not any(map(_is_callable, held)):
        return None
    whole = inf.final(owner)
    inf.world.length(whole, kind.example)
    return [inf.world.part(whole, kind.example, key, True) for key in keys]


def _is_callable(value: Any) -> bool:
    return any(map(_is_callable, value)) if type(value) in (tuple, list) else callable(value)


def _are_several(kinds: Sequence[Abstract]) -> bool:
    """Whether values have to be known one by one."""
    if len({kind.cls for kind in kinds if isinstance(kind, (Fresh, Outside, Record))}) > 1:
        return True
    together = reduce(join, kinds)
    if together == kinds[0]:
        return False
    return any(map(_is_code, kinds)) or together is ANY and not any(map(is_virtual, kinds))


def _is_code(kind: Abstract) -> bool:
    if isinstance(kind, Tuple):
        return any(map(_is_code, kind.items))
    return isinstance(kind, (Closure, Bound, Partial)) or isinstance(kind, Known) and _is_callable(kind.value)
