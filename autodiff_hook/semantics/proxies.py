"""``types.MappingProxyType``: whatever is asked of one is asked of the mapping behind it."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.semantics import calls
from autodiff_hook.semantics.iteration import behind
from autodiff_hook.semantics.meanings import means, natively

Args = tuple[Any, ...]
Kwargs = dict[str, Any]

natively(MappingProxyType)


class Asking:
    """A method of proxies: that of the mapping."""

    def __init__(self, name: str) -> None:
        self.name = name

    def carried(self, alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The operation with tokens."""
        proxy, *rest = args
        return calls.call_method(alg, t, (self.name, tuple(kwargs)), behind(proxy), *rest, *kwargs.values())


for _name in ("get", "keys", "values", "items", "copy", "__getitem__", "__iter__", "__reversed__"):
    means(vars(MappingProxyType)[_name])(Asking(_name).carried)


@means(vars(MappingProxyType)["__or__"])
def proxy_or(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``a | b`` where one is a proxy."""
    a, b = [behind(x) if type(x) is MappingProxyType else x for x in args]
    return calls.call_method(alg, t, ("__or__", ()), a, b)
