"""``jvp``: one pushforward, from primals and tangents in the form of gradients to value and tangent."""

from __future__ import annotations

from typing import Any

from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import describe
from autodiff_hook.runtime.pushing.calls import apply
from autodiff_hook.runtime.pushing.context import TangentContext
from autodiff_hook.runtime.pushing.forms import mirrored, seed
from autodiff_hook.runtime.pushing.handlers import bookkeeping
from autodiff_hook.runtime.pushing.primitives import add_module, allow
from autodiff_hook.runtime.pushing.table import TABLE
from autodiff_hook.runtime.session import prepare

assert TABLE, "importing the table registers the pushers"


def push(
    f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> tuple[Any, Any]:
    """The value of ``f`` and its tangent, in the form of a gradient of it."""
    check_call(f, primals, tangents)
    allow(f)
    ctx = TangentContext()
    add_module(ctx, f)
    edges = tuple([seed(ctx, primals[i], tangents[i], f"tangents[{i}]") for i in range(len(primals))])
    named = {} if kwargs is None else kwargs
    value, tangent = apply(ctx, (None, *edges, *[None] * len(named)), f, primals, named)
    return value, mirrored(ctx, value, tangent, {})


@bookkeeping
def check_call(f: Any, primals: Any, tangents: Any) -> None:
    """Raise for arguments of ``jvp`` that do not fit."""
    prepare()
    if not callable(f):
        raise Unsupported(f"the function to differentiate is not callable: {f!r}")
    if len(primals) != len(tangents):
        raise Unsupported(f"{describe(f)}: {len(primals)} primals, but {len(tangents)} tangents; None stands for zero")
