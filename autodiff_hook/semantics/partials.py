"""``functools.partial``: a reference whose slots are what it was made with."""

from __future__ import annotations

import functools
from typing import Any

from autodiff_hook.algebras.shadows import Algebra, Result, keep, load, some
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means


def call_partial(alg: Algebra, t: Any, partial: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A ``functools.partial``: a reference whose slots are what it was made with."""
    names, count = tuple(partial.keywords), len(partial.args)
    values = (*partial.args, *partial.keywords.values())
    tokens = [load(alg, partial, index, value) for index, value in enumerate(partial.args)]
    tokens += [load(alg, partial.keywords, name, value) for name, value in partial.keywords.items()]
    named = dict(zip(names, values[count:])) | kwargs
    moving = dict(zip(names, tokens[count:])) | dict(zip(kwargs, t[1 + len(args) :]))
    inner = (None, *tokens[:count], *t[1 : 1 + len(args)], *[moving[name] for name in named])
    return apply(alg, inner, function, (*values[:count], *args), named)


@means(functools.partial)
def make_partial(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    partial: Any = functools.partial(args[0], *args[1:], **kwargs)
    lead = 0
    if type(args[0]) is functools.partial:
        lead = len(partial.args) - len(args) + 1
        held = args[0]
        for index, value in enumerate(held.args):
            keep(alg, partial, index, load(alg, held, index, value))
        for name, value in held.keywords.items():
            keep(alg, partial.keywords, name, load(alg, held.keywords, name, value))
    for index in range(1, len(args)):
        keep(alg, partial, lead + index - 1, t[index])
    for name, token in zip(kwargs, t[len(args) :]):
        keep(alg, partial.keywords, name, token)
    moving = tuple([load(alg, partial, index, value) for index, value in enumerate(partial.args)])
    keep(alg, partial, "args", moving if some(moving) else None)
    return partial, None
