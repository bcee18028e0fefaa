"""Arguments that are met under another name, where tokens travel with the values."""

from __future__ import annotations

from typing import Any

from autodiff_hook.algebras.shadows import Token
from autodiff_hook.runtime import given
from autodiff_hook.runtime.context import reachable


class Given(given.Given):
    """The references among the arguments that hold numbers or arrays."""

    __slots__ = ()

    def lose(self, ctx: Any, value: Any, why: given.OtherName) -> None:
        """What an argument holds is unknown from now on."""
        unknown = ctx.unknown(why.error())
        for item in reachable(value):
            entry = ctx.shadows.get(id(item))
            tokens = [] if entry is None else entry[1]
            for key in range(len(tokens)) if isinstance(tokens, list) else list(tokens):
                tokens[key] = _lost(tokens[key], unknown)


def _lost(token: Token, unknown: Token) -> Token:
    if type(token) is tuple:
        return tuple([_lost(part, unknown) for part in token])
    return None if token is None else unknown
