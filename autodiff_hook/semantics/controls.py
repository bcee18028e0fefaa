"""Control over derivatives: ``stop_gradient``, ``hook``, ``checkpoint``."""

from __future__ import annotations

from typing import Any

from autodiff_hook import api
from autodiff_hook.algebras.shadows import Algebra, Result, kind, some
from autodiff_hook.errors import Unsupported, located
from autodiff_hook.runtime.controls import Checkpoint
from autodiff_hook.semantics.calls import apply
from autodiff_hook.semantics.meanings import Args, Kwargs, means, natively
from autodiff_hook.semantics.opaque import loses
from autodiff_hook.semantics.structures import gather


@means(api.hook)
def hook(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """The identity, with a function of the user's on the way back."""
    function, value = args
    result = api.hook(function, value)
    tree = gather(alg, value, t[1])
    if tree is None and not loses(alg, t[1:], value, (), {}):
        return result, None
    if tree is None or isinstance(tree, dict) and not isinstance(value, dict):
        raise Unsupported(
            located(f"hook(fn, x): x is a {type(value).__qualname__}, but fn is for numbers, arrays and containers")
        )
    return result, alg.hooked(function, result, tree)


natively(Checkpoint)
natively(api.stop_gradient)


@means(Checkpoint.__call__)
def checkpoint(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """Run without keeping anything, where the reverse sweep can run the function again."""
    owner, *rest = args
    given = tuple(rest)
    if not some(t) and not loses(alg, t, owner.function, given, kwargs):
        return owner.function(*given, **kwargs), None

    def run() -> Result:
        value, token = apply(alg, (None, *t[1:]), owner.function, given, kwargs)
        return value, gather(alg, value, token) if kind(value) in ("number", "array", "tuple") else token

    return alg.checkpointed(run, (owner.function, given, kwargs))
