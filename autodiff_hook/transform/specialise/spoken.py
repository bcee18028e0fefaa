"""Constants whose classes say in Python what an operation means: members of Enums, classes that have a metaclass.

What such an operation gives depends on more than its operands, so it is not computed ahead.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any, Final

from autodiff_hook.ir.types import Statement
from autodiff_hook.runtime.lookup import HEAP_TYPE
from autodiff_hook.runtime.native import STANDARD, package_of
from autodiff_hook.semantics.operations import COMPARING_METHODS, METHODS, UNARY_METHODS
from autodiff_hook.transform.specialise.abstract import Abstract, Known
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.wording import named

_NATIVE: Final = STANDARD | {"numpy", "scipy"}
_NUMBER: Final = ("__float__", "__index__", "__int__", "__complex__", "__trunc__", "__floor__", "__ceil__")
_TEXT: Final = ("__format__", "__str__", "__repr__")
_COMPARISON: Final = tuple(COMPARING_METHODS.values())
_ITERATION: Final = ("__iter__", "__getitem__", "__len__", "__reversed__", "__contains__")
_TRUTH: Final = ("__bool__", "__len__")
_ARITHMETIC: Final = tuple(f"__{kind}{name[2:]}" for name in METHODS.values() for kind in ("", "r", "i"))

_ASKED: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("binary", "inplace"), (*_ARITHMETIC, *_TEXT)),
    **{"unary": tuple(UNARY_METHODS.values()), "compare": _COMPARISON, "format": _TEXT, "call_method": _TEXT},
    **dict.fromkeys(("truth", "not"), _TRUTH),
    **dict.fromkeys(("in", "not_in"), (*_ITERATION, "__eq__", "__hash__")),
    **dict.fromkeys(("get_iter", "unpack"), _ITERATION),
    **{"getitem": ("__getitem__", "__class_getitem__", "__index__", "__hash__", "__eq__")},
}
_ASKED_BY_CALLS: Final = (
    *(*_NUMBER, *_TEXT, *_COMPARISON, *_ITERATION, *_TRUTH, *_ARITHMETIC),
    *("__abs__", "__round__", "__neg__", "__pos__", "__divmod__", "__rdivmod__"),
)
_CALLS: Final = (
    *(str, repr, format, int, float, complex, bool, abs, round, min, max, sum, len, divmod, sorted, list, tuple, iter),
    *(pow, hash, math.floor, math.ceil, math.trunc),
)


def require_native(inf: Inference, s: Statement) -> None:
    """Refuse an operation on constants if their classes define it; that they do not is guarded."""
    names = _ASKED.get(s.op, ()) if s.op != "call" else _asked_by_call(inf.type_of(s.operands[0]))
    for operand in s.operands if names else ():
        kind = inf.type_of(operand)
        if isinstance(kind, Known):
            if s.op == "call_method" and operand is s.operands[0] and isinstance(kind.value, type):
                continue  # a class whose method is called is shown nowhere
            held = type(kind.value) is tuple
            for value in kind.value if held else (kind.value,):
                _require_native(inf, value, names, held)


def _asked_by_call(callee: Abstract) -> tuple[str, ...]:
    function = callee.value if isinstance(callee, Known) else None
    asks = any(function is x for x in _CALLS) or getattr(function, "__module__", None) in ("math", "_operator")
    return _ASKED_BY_CALLS if asks else ()


def _require_native(inf: Inference, value: Any, names: tuple[str, ...], held: bool) -> None:
    if isinstance(value, type) and not held and "__class_getitem__" in names and _is_own(value, "__class_getitem__"):
        raise Refused(f"the items of {named(Known(value))}")
    cls = type(value)
    if cls.__flags__ & HEAP_TYPE and package_of(cls) not in _NATIVE:
        if any(_is_own(cls, name) for name in names):
            raise Refused(f"an operation that {cls.__qualname__} defines")
        inf.world.members(cls)


def _is_own(cls: type, name: str) -> bool:
    """Whether what a class has under a name is code of a program."""
    found = next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), None)
    found = getattr(found, "__func__", found)
    return type(found) is FunctionType and package_of(found) not in _NATIVE
