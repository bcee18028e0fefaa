"""Methods that change lists and dicts, or look something up in them: their definitions are followed."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.semantics.equivalents import changing
from autodiff_hook.transform.specialise import lists
from autodiff_hook.transform.specialise.abstract import Abstract, Dict, Known, List, Tuple
from autodiff_hook.transform.specialise.calling import inline_call
from autodiff_hook.transform.specialise.infer import Given, Inference
from autodiff_hook.transform.specialise.plans import pure, spread
from autodiff_hook.transform.specialise.questions import QUESTIONS

_OF_LISTS: Final[dict[str, Any]] = {
    "insert": changing.insert,
    "remove": changing.remove,
    "reverse": changing.turn,
    "sort": changing.sort,
    "clear": changing.clear,
    "extend": changing.extend,
    "pop": changing.taken,
    "index": changing.place_of,
    "count": changing.number_of,
}
_OF_DICTS: Final[dict[str, Any]] = {
    "get": changing.value_of,
    "setdefault": changing.value_or_new,
    "update": changing.update,
}
_ONLY_READING: Final = frozenset({"index", "count", "get"})
_SHORT: Final = 64


def method(inf: Inference, s: Statement, name: str, args: list[Operand], names: tuple[str, ...]) -> FunctionType | None:
    """The definition of a method of the list or dict at hand; None if it is another method."""
    owner = s.operands[0]
    kind = inf.type_of(owner)
    if inf.one_way:
        return None
    if isinstance(kind, Tuple) and kind.cls in (list, dict):
        known = name in (_OF_LISTS if kind.cls is list else _OF_DICTS)
        if known and (name not in _ONLY_READING or name in ("index", "count")):
            lists.ask_for_changes(inf, owner)
        return None
    if isinstance(kind, List):
        itself = name == "extend" and len(args) == 1 and inf.type_of(args[0]) == kind
        found: FunctionType | None = None if itself else _OF_LISTS.get(name)
        return found
    return _OF_DICTS.get(name) if isinstance(kind, Dict) else None


def followed(
    inf: Inference, s: Statement, code: FunctionType, args: list[Operand], names: tuple[str, ...]
) -> Abstract | None:
    """The call of a method by its definition."""
    owner = s.operands[0]
    if code is changing.update and len(args) == len(names):
        return assigned(inf, s, owner, dict(zip(names, args)))
    if code is changing.update and len(args) == 1:
        other = inf.type_of(args[0])
        if isinstance(other, Tuple) and other.cls is dict:
            return _entered(inf, s, owner, args[0], other)
    count = len(args) - len(names)
    return inline_call(inf, s, code, [owner, *args[:count]], dict(zip(names, args[count:])))


def _entered(inf: Inference, s: Statement, owner: Operand, other: Operand, kind: Tuple) -> Abstract:
    """``items.update({"a": x, "b": y})``: an assignment for each key."""
    return assigned(inf, s, owner, dict(zip(kind.keys, spread(inf, other, kind.keys, kind.items))))


def assigned(inf: Inference, s: Statement, owner: Operand, values: dict[Any, Operand]) -> Abstract:
    """Assignments of the items of a dict stand in the place of a statement."""
    assert inf.block is not None
    steps = [Statement("setitem", [owner, Constant(key), x], None, None, s.position) for key, x in values.items()]
    done = Statement("same", [Constant(None)], s.result, None, s.position)
    inf.block.statements[inf.index : inf.index + 1] = [*steps, done]
    inf.index -= 1
    return Known(None)


def require_short(items: list[Any]) -> None:
    """Give up if what moves one item after the other has to move many."""
    if len(items) > _SHORT:
        raise Given("one item of a long list is put in or taken out")


def _require_short(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    s.op, s.operands, s.data = "call", [Constant(require_short), *args], ()
    return pure(inf, s, Known(None))


QUESTIONS[require_short] = QUESTIONS[changing.require_short] = _require_short
