"""Comparisons, membership and truth: constants, except that a class may have written them in Python."""

from __future__ import annotations

import builtins
import operator
from types import FunctionType
from typing import Any, Final

from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.equivalents import differs
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.items import call_special
from autodiff_hook.runtime.iteration import Drained, get_iter
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type

Result = tuple[Any, Pullback | None]

_COMPARE: Final = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
}


def _is_plain(value: Any) -> bool:
    """Whether what happens to a value is not written in Python."""
    if type(value) in _PLAIN:
        return True
    return kind_of(type(value)) not in ("object", "list", "dict", "set") or not type(value).__flags__ & _HEAP_TYPE


_PLAIN: Final = frozenset({int, float, bool, str, type(None)})
_HEAP_TYPE: Final = 1 << 9


def compare(ctx: Context, w: Any, op: str, a: Any, b: Any) -> Result:
    """``a op b``."""
    function, name, reflected = _COMPARE[op]
    if _is_plain(a) and _is_plain(b):
        return function(a, b), None
    return _rich(ctx, w, op, a, b, _method(a, name), _method(b, reflected))


def _method(value: Any, name: str) -> Any:
    found = find_in_type(type(value), name)
    if found is object.__ne__ and isinstance(find_in_type(type(value), "__eq__"), FunctionType):
        return differs
    return found


def _rich(ctx: Context, w: Any, op: str, a: Any, b: Any, left: Any, right: Any) -> Result:
    """Python's own choice between the methods of the two operands."""
    attempts = [(left, a, b, False), (right, b, a, True)]
    if type(b) is not type(a) and issubclass(type(b), type(a)):
        attempts.reverse()
    for method, x, y, reflected in attempts:
        if isinstance(method, FunctionType):
            value, pullback = call_special(ctx, w[::-1] if reflected else w, method, (x, y))
        elif method is not None:
            value, pullback = method(x, y), None
        else:
            continue
        if value is not NotImplemented:
            return value, _Swapped(pullback) if reflected and pullback is not None else pullback
    if op in ("==", "!="):
        return (a is b) == (op == "=="), None
    raise TypeError(f"'{op}' not supported between instances of '{type(a).__name__}' and '{type(b).__name__}'")


class _Swapped:
    """A pullback of two operands, for a call in which they stand the other way round."""

    __slots__ = ("pullback",)

    def __init__(self, pullback: Pullback) -> None:
        self.pullback = pullback

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        given = self.pullback(sweep, cotangent)
        return None if given is None else (given[1], given[0])


def truth(ctx: Context, w: Any, data: Any, value: Any) -> Result:
    """The exact bool that a condition depends on."""
    if _is_plain(value):
        return bool(value), None
    for name in ("__bool__", "__len__"):
        method = find_in_type(type(value), name)
        if isinstance(method, FunctionType):
            result, pullback = call_special(ctx, w, method, (value,))
            if name == "__bool__" and type(result) is not bool:
                raise TypeError(f"__bool__ should return bool, returned {type(result).__name__}")
            return bool(result), pullback
        if method is not None:
            break
    return bool(value), None


def not_(ctx: Context, w: Any, data: Any, value: Any) -> Result:
    """``not value``."""
    result, pullback = truth(ctx, w, data, value)
    return not result, pullback


def contains(ctx: Context, w: Any, data: Any, item: Any, container: Any) -> Result:
    """``item in container``."""
    if _is_plain(container):
        return item in container, None
    method = find_in_type(type(container), "__contains__")
    if isinstance(method, FunctionType):
        result, pullback = call_special(ctx, w[::-1], method, (container, item))
        return bool(result), None if pullback is None else _Swapped(pullback)
    if method is None and isinstance(find_in_type(type(container), "__iter__"), FunctionType):
        return _found(ctx, w, item, container)
    return item in container, None


def _found(ctx: Context, w: Any, item: Any, container: Any) -> Result:
    """Whether the iteration over ``container`` comes to ``item``."""
    pairs, started = get_iter(ctx, w[1:], None, container)
    found = False

    def until() -> Any:
        nonlocal found
        for value, pullback in pairs:
            yield value, pullback
            if value is item or value == item:
                found = True
                return

    drained = Drained(ctx, until(), started)

    def found_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return None, drained(sweep, None)

    return found, found_pullback


def not_contains(ctx: Context, w: Any, data: Any, item: Any, container: Any) -> Result:
    """``item not in container``."""
    result, pullback = contains(ctx, w, data, item, container)
    return not result, pullback


class _Called:
    """The handler of an operator of this file that is called as a function of ``operator``."""

    __slots__ = ("data", "lowered", "order")

    def __init__(self, lowered: Any, data: Any = None, order: int = 1) -> None:
        self.lowered, self.data, self.order = lowered, data, order

    def __call__(self, ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
        value, pullback = self.lowered(ctx, w[:: self.order], self.data, *args[:: self.order])
        return value, _Swapped(pullback) if self.order < 0 and pullback is not None else pullback


for _op, (_function, *_) in _COMPARE.items():
    handles(_function)(_Called(compare, _op))
handles(operator.truth)(_Called(truth))
handles(operator.not_)(_Called(not_))
handles(operator.contains)(_Called(contains, order=-1))


@handles(bool)
def bool_(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``bool``."""
    return truth(ctx, w, None, args[0]) if args else (False, None)


@handles(len)
def len_(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``len``."""
    method = find_in_type(type(args[0]), "__len__") if len(args) == 1 else None
    if isinstance(method, FunctionType):
        value, pullback = call_special(ctx, w, method, args)
        return operator.index(value), pullback
    return builtins.len(*args), None
