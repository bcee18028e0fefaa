"""The whole token of a value: of what is in its containers, too."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

from autodiff_hook.algebras.object_slots import selected_places
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Key, Token, holder_of, is_list, kind, known, lose, some
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import describe
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.kinds import WRITTEN
from autodiff_hook.runtime.lookup import dictionary_of, find_in_type, is_iterated_by_code
from autodiff_hook.runtime.mirror import form_of, parts_of
from autodiff_hook.runtime.parted import PARTED
from autodiff_hook.tangent import Tangent


def gather(alg: Algebra, value: Any, token: Token, of: str = "value") -> Token:
    """The tokens in a value, in the form of the value; None if it is constant.

    ``of="result"``: of what a program returns, unknown where it holds derivatives in no part of its form;
    ``of="argument"``: as rules take it, which know no arrays with parts.
    """
    form = kind(value)
    if form == "number" or issubclass(type(value), WRITTEN):
        return token
    if form == "array" and value.dtype.kind not in "OV":
        return alg.read(value, token)
    if token is None and not alg.shadows and not alg.buffers and not alg.losses:
        return hidden(alg, value) if of == "result" else None
    return _gathered(alg, value, token, {}, of)


def _converted(alg: Algebra, value: Any, token: Token) -> Token:
    """The token of what a container holds, as it is converted there; classes of floats may do that in Python."""
    cls = type(value)
    if cls is float or not issubclass(cls, float) or type(find_in_type(cls, "__float__")) is not FunctionType:
        return token
    return alg.unknown(NotDifferentiable(f"the __float__ of {describe(cls)} is called natively", remedies=(_CONVERT,)))


_CONVERT: Final = "convert it (float)"
_ITERATE: Final = "make a list of it (list)"


def _gathered(alg: Algebra, value: Any, token: Token, seen: dict[int, Any], of: str) -> Token:
    is_parted = kind(value) == "array" and value.dtype.kind in "OV"
    if is_parted and (token is not None or of == "argument"):
        return token
    if kind(value) in ("number", "array") and not is_parted or issubclass(type(value), WRITTEN):
        found = gather(alg, value, token, of)
        return _converted(alg, value, found) if of == "argument" and found is not None else found
    value = value._fields if type(value) is Tangent else value
    form = form_of(value)
    if form == "tuple":
        parts = [_gathered(alg, x, None if token is None else token[i], seen, of) for i, x in parts_of(value, form)]
        if some(parts) and of == "argument" and is_iterated_by_code(type(value)):
            return _iterated(alg, value)
        return tuple(parts) if some(parts) else None
    if form == "inert" or form in ("function", "method") and of != "result":
        return hidden(alg, value) if of == "result" else None
    if form == "method":
        return _gathered(alg, value.__self__, None, seen, of)
    if form in PARTED:
        return _of_parts(alg, form, value, seen, of)
    if id(value) not in seen:
        seen[id(value)] = None
        unknown = hidden(alg, value) if of == "result" else None
        seen[id(value)] = _of_parts(alg, form, value, seen, of) if unknown is None else unknown
    return seen[id(value)]


def _of_parts(alg: Algebra, form: str, value: Any, seen: dict[int, Any], of: str) -> Token:
    named = {}
    for key, part in parts_of(value, form):
        token = _held(alg, *slot_of(form, value, key), part)
        named[key] = _gathered(alg, part, token, seen, of)
    if not some(named.values()):
        return None
    if form == "list" and of == "argument" and is_iterated_by_code(type(value)):
        return _iterated(alg, value)
    return list(named.values()) if form == "list" else named


def _iterated(alg: Algebra, value: Any) -> Token:
    what = f"a {describe(type(value))} is iterated over natively, in which its own code gives the items"
    return alg.unknown(NotDifferentiable(what, remedies=(_ITERATE,)))


def slot_of(form: str, value: Any, key: Any) -> tuple[Any, Any]:
    """The reference and the key that a part of a value is kept under."""
    if form == "function":
        return value.__closure__[value.__code__.co_freevars.index(key)], 0
    if form == "objects":
        return root_of(value), int(selected_places(value, key))
    return (holder_of(value, key) if form == "object" else value), key


def _held(alg: Algebra, reference: Any, key: Any, part: Any) -> Token:
    """The token of what is in a slot."""
    if is_list(reference) and type(key) is str:
        return None  # an attribute of a list with __slots__
    found = known(alg, reference)
    token = None if found is None else found[key] if is_list(reference) else found.get(key)
    if token is None and id(reference) in alg.losses:
        return lose(alg, part, alg.losses[id(reference)][1])
    return token


_NO_FORM: Final = "has a derivative, but no cotangent or tangent has a form that shows it"


def hidden(alg: Algebra, value: Any) -> Token:
    """Unknown if a value holds what has a token, but not in a part of its form; else None."""
    form = form_of(value)
    if form == "tuple" or form in PARTED or not _hides(alg, form, value):
        return None
    if id(value) in alg.losses:
        return alg.losses[id(value)][1]
    what = f"what a {describe(type(value))} holds {_NO_FORM}"
    return alg.unknown(NotDifferentiable(what, remedies=("return a list, a tuple or a dict of it",)))


def _hides(alg: Algebra, form: str, value: Any) -> bool:
    if form == "inert":
        return reaches(alg, value)
    if form == "function":
        shown = {id(part) for _, part in parts_of(value, form)}
        captured = [c.cell_contents for c in value.__closure__ or () if _is_filled(c)]
        captured = [x for x in captured if type(x) is FunctionType and id(x) not in shown]
        return reaches(alg, value.__defaults__, value.__kwdefaults__, *captured)
    if form == "object":
        if type(value).__name__ == "CarriedIterator":
            return True
        names = {name for name, _ in parts_of(value, form)}
        return any(_has_more(alg, holder, names) for holder in (value, dictionary_of(value)))
    if form == "dict" and _has_more(alg, value, value.keys()):
        return True
    return _has_more(alg, dictionary_of(value), ())


def _has_more(alg: Algebra, holder: Any, names: Any) -> bool:
    """Whether a reference has a token in another slot than these."""
    entry = alg.shadows.get(id(holder)) if holder is not None else None
    if entry is None or is_list(holder):
        return False
    return any(token is not None and (type(key) is Key or key not in names) for key, token in entry[1].items())


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
