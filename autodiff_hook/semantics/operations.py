"""Operators by their symbols."""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np

NAMES: Final = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "<<": "lshift",
    ">>": "rshift",
    "&": "and",
    "|": "or",
    "^": "xor",
}


def _operator(name: str) -> Any:
    return getattr(operator, name + "_" if name in ("and", "or") else name)


BINARY: Final = {op: _operator(name) for op, name in NAMES.items()}
INPLACE: Final = {op: getattr(operator, "i" + name) for op, name in NAMES.items()}
UNARY: Final[dict[str, Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
COMPARE: Final[dict[str, Any]] = {
    **{"<": operator.lt, "<=": operator.le, "==": operator.eq},
    **{"!=": operator.ne, ">": operator.gt, ">=": operator.ge},
}
MIRRORED: Final = {"<": ">", "<=": ">=", "==": "==", "!=": "!=", ">": "<", ">=": "<="}
METHODS: Final = {op: f"__{name}__" for op, name in NAMES.items()}
UNARY_METHODS: Final = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
COMPARING_METHODS: Final = {op: f"__{function.__name__}__" for op, function in COMPARE.items()}
"""The special methods of operators."""
UFUNCS: Final = {
    **{"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide},
    **{"%": np.remainder, "**": np.power, "@": np.matmul},
}
"""What operators of arrays are."""
