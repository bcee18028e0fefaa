"""What a function can see, as it was at one time: to notice that running it again would be another run."""

from __future__ import annotations

import functools
import gc
from types import CodeType, FunctionType
from typing import Any

from autodiff_hook.errors import Unsupported, located
from autodiff_hook.registry import describe
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import HEAP_TYPE
from autodiff_hook.runtime.mirror import attributes_of as attributes_of
from autodiff_hook.runtime.native import package_of
from autodiff_hook.runtime.trees import same
from autodiff_hook.semantics.scope import is_own


class World:
    """The content of all references that can be reached from a call."""

    __slots__ = ("contents", "function")

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function = function
        self.contents: dict[int, tuple[Any, list[Any]]] = {}
        stack: list[Any] = [function, args, kwargs]
        while stack:
            item = stack.pop()
            kind = kind_of(type(item))
            if id(item) in self.contents or kind in ("inert", "number"):
                continue
            found = _content(item, kind)
            self.contents[id(item)] = (item, found)
            if kind != "array":
                stack.extend(found)

    def arrays(self) -> list[Any]:
        """The arrays among what can be reached."""
        return [item for item, _ in self.contents.values() if kind_of(type(item)) == "array"]

    def changed(self) -> Any:
        """A reference whose content is another one now; None if there is none."""
        for item, content in self.contents.values():
            now = _content(item, kind_of(type(item)))
            if len(now) != len(content) or any(a is not b and not _same(a, b) for a, b in zip(now, content)):
                return item
        return None

    def check(self, what: str) -> None:
        """Raise if something has changed: ``what`` says what that means, with ``{}`` for what it is."""
        item = self.changed()
        if item is not None:
            changed = f"checkpoint({describe(self.function)}): {what.format(f'a {type(item).__qualname__}')}"
            raise Unsupported(
                located(f"{changed}. Remedy: let it return what it computes, or call it without checkpoint")
            )


def _content(item: Any, kind: str) -> list[Any]:
    if kind == "array":
        return [item.shape, hash(item.tobytes()) if item.dtype.kind != "O" else id(item)]
    if kind in ("tuple", "list", "set"):
        return list(item)
    if kind == "dict":
        return [*item, *item.values()]
    if type(item) is functools._lru_cache_wrapper:
        return [item.__wrapped__]
    if type(item) is FunctionType:
        attributes = [item.__dict__] if item.__dict__ else []
        return [*(item.__closure__ or ()), *(item.__defaults__ or ()), *_globals(item), *attributes]
    if package_of(type(item)) == "autodiff_hook":
        return []
    if type(item).__flags__ & HEAP_TYPE:
        return [value for _, value in attributes_of(item)]
    return gc.get_referents(item)


def _globals(function: FunctionType) -> list[Any]:
    """The global variables that a function names; the engine's own state does not count."""
    if is_own(function.__globals__.get("__name__", "")):
        return []
    found, codes = [], [function.__code__]
    while codes:
        code = codes.pop()
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        found += [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    return found


def _same(a: Any, b: Any) -> bool:
    """Whether two immutable values are the same, though not the same object."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, dict)) and kind_of(type(a)) in ("tuple", "dict"):
        return len(a) == len(b) and all(x is y or _same(x, y) for x, y in zip(_values(a), _values(b)))
    return kind_of(type(a)) in ("number", "inert") and bool(a == b or a != a and b != b)


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else list(value)


def check_again(function: Any, before: Any, after: Any) -> None:
    """Raise if a function that was run again returned something else."""
    if not same(before, after):
        raise Unsupported(
            located(
                f"{describe(function)} returned another value when it was run again, which the derivative of its "
                f"gradient needs. Remedy: let it depend on its arguments only (pass random numbers in)"
            )
        )
