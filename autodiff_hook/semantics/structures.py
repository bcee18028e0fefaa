"""The whole token of a value: of what is in its containers, too."""

from __future__ import annotations

from typing import Any

from autodiff_hook.algebras.shadows import Algebra, Token, is_list, kind, known, lose, some
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.tangent import Tangent


def gather(alg: Algebra, value: Any, token: Token) -> Token:
    """The tokens in a value, in the form of the value; None if it is constant."""
    form = kind(value)
    if form == "number":
        return token
    if form == "array":
        return alg.read(value, token)
    if form == "inert" or token is None and not alg.shadows and not alg.buffers and not alg.losses:
        return None
    return _gathered(alg, form, value, token, {})


def _gathered(alg: Algebra, form: str, value: Any, token: Token, seen: dict[int, Any]) -> Token:
    if form in ("number", "array"):
        return gather(alg, value, token)
    if form == "tuple":
        parts = [
            _gathered(alg, kind_of(type(x)), x, None if token is None else token[i], seen) for i, x in enumerate(value)
        ]
        return tuple(parts) if some(parts) else None
    if form not in ("list", "dict", "object") or id(value) in seen:
        return None
    seen[id(value)] = value
    if type(value) is Tangent:
        form, value = "dict", value._fields
    if form == "object":
        return _of_object(alg, value, seen)
    found = known(alg, value)
    if found is None and id(value) in alg.losses:
        unknown = alg.losses[id(value)][1]
        found = (
            [lose(alg, item, unknown) for item in value]
            if form == "list"
            else {key: lose(alg, item, unknown) for key, item in value.items()}
        )
    if form == "list":
        parts = [
            _gathered(alg, kind_of(type(x)), x, None if found is None else found[i], seen) for i, x in enumerate(value)
        ]
        return parts if some(parts) else None
    named = {
        key: _gathered(alg, kind_of(type(x)), x, None if found is None else found.get(key), seen)
        for key, x in value.items()
    }
    return named if some(named.values()) else None


def _of_object(alg: Algebra, value: Any, seen: dict[int, Any]) -> Token:
    """The tokens of the attributes of an object."""
    named = {}
    holders = [holder for holder in (getattr(value, "__dict__", None), value) if not is_list(holder)]
    for holder in holders:
        for name, token in (known(alg, holder) or {}).items() if holder is not None else ():
            if type(name) is str and hasattr(value, name):
                part = getattr(value, name)
                named[name] = _gathered(alg, kind_of(type(part)), part, token, seen)
    return named if some(named.values()) else None
