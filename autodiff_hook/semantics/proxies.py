"""``types.MappingProxyType``: whatever is asked of one is asked of the mapping behind it."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.runtime.lookup import behind
from autodiff_hook.semantics import calls
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, means, natively

natively(MappingProxyType)


def asking(name: str) -> Meaning:
    """A method of proxies: that of the mapping."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        proxy, *rest = args
        return calls.call_method(alg, t, (name, tuple(kwargs)), behind(proxy), *rest, *kwargs.values())

    return carried


for _name in ("get", "keys", "values", "items", "copy", "__getitem__", "__iter__", "__reversed__"):
    means(vars(MappingProxyType)[_name])(asking(_name))


@means(vars(MappingProxyType)["__or__"])
def proxy_or(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``a | b`` where one is a proxy."""
    a, b = [behind(x) if type(x) is MappingProxyType else x for x in args]
    return calls.call_method(alg, t, ("__or__", ()), a, b)
