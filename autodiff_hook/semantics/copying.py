"""What ``copy`` and ``pickle`` take an object apart into."""

from __future__ import annotations

from collections import deque
from types import FunctionType
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, keep_all, load_attribute
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.losses import NOT_PYTHON
from autodiff_hook.semantics.builtins import iter_
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means
from autodiff_hook.semantics.opaque import call_opaque
from autodiff_hook.semantics.sequences import list_

_CALLED: Final = ("__getstate__", "__getnewargs_ex__", "__getnewargs__")
"""What ``object.__reduce_ex__`` calls if a class has it, and no ``__reduce__``."""


@means(object.__reduce_ex__)
def reduce_ex(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``object.__reduce_ex__(owner, protocol)``: the attributes in dicts, the items in iterators."""
    owner = args[0]
    reduce = find_in_type(type(owner), "__reduce__")
    if type(reduce) is FunctionType:
        return apply(alg, (None, t[0]), reduce, (owner,), {})
    if any(type(find_in_type(type(owner), name)) is FunctionType for name in _CALLED):
        return call_opaque(alg, t, object.__reduce_ex__, args, kwargs, NOT_PYTHON)
    made = object.__reduce_ex__(*args)
    form = kind_of(type(owner))
    parallel = issubclass(type(owner), deque) or form == "set"
    whole = type(made) is tuple and (len(made) == 5 or parallel)
    if not whole or form not in ("object", "list", "dict", "set"):
        return call_opaque(alg, t, object.__reduce_ex__, args, kwargs, NOT_PYTHON)
    new, given, state, items, pairs = (*made, None, None, None)[:5]
    if form == "set":
        given = (list_(alg, (None,), (owner,), {})[0],)
    parts: tuple[Any, ...] = state if type(state) is tuple and len(state) == 2 else (state,)
    parts = tuple([_attributes(alg, owner, part) if type(part) is dict else part for part in parts])
    state = parts if type(state) is tuple and len(state) == 2 else parts[0]
    if items is not None:
        items = iter_(alg, (None,), (owner,), {})[0]
    if pairs is not None:
        pairs = iter_(alg, (None,), (owner.items(),), {})[0]
    return (new, given, state, items, pairs)[: len(made)], None


def _attributes(alg: Algebra, owner: Any, names: dict[str, Any]) -> dict[str, Any]:
    """A dict of attributes, with the tokens that they have in the object."""
    found = dict(names)
    keep_all(alg, found, {name: load_attribute(alg, owner, name, value) for name, value in names.items()})
    return found
