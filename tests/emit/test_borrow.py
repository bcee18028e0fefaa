"""Loads that take no reference of their own (3.14): where they are used, and that the checker refuses wrong ones."""

from __future__ import annotations

import dis
import sys
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
from code_checks import check_code

from autodiff_hook.emit import emit
from autodiff_hook.emit.assemble import Assembler
from autodiff_hook.emit.items import Label, Mark, Op
from autodiff_hook.emit.lower import Lowered
from autodiff_hook.ir.types import IR, Signature
from autodiff_hook.lift import lift

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="borrowed loads came with 3.14")

LABEL = Label()
BORROWED = Op("LOAD_FAST_BORROW", 0)
PAIR = Op("LOAD_FAST_BORROW_LOAD_FAST_BORROW", (0, 1))
ONE = Op("LOAD_CONST", 1)
RETURN = Op("RETURN_VALUE")
ADD = Op("BINARY_OP", 0)
STORE = Op("STORE_FAST", 0)


def assembled(items: list[Lowered]) -> FunctionType:
    signature = Signature(("x", "y"), positional=2)
    return FunctionType(Assembler(IR("f", signature), ["x", "y"], [], set()).assemble(items), {})


RIGHT = {
    "returned": ([BORROWED, RETURN], 1),
    "added": ([PAIR, ADD, RETURN], 3),
    "another local is stored to": ([BORROWED, ONE, Op("STORE_FAST", 1), RETURN], 1),
    "swapped": ([BORROWED, ONE, Op("SWAP", 2), Op("POP_TOP"), RETURN], 1),
    "a method's object": ([BORROWED, Op("LOAD_ATTR", (True, "bit_length")), Op("CALL", 0), RETURN], 1),
    "consumed in time": ([BORROWED, ONE, ADD, STORE, Op("LOAD_FAST", 0), RETURN], 2),
}
WRONG: dict[str, list[Lowered]] = {
    "stored": [BORROWED, Op("STORE_FAST", 1), ONE, RETURN],
    "its local is stored to": [BORROWED, ONE, STORE, RETURN],
    "its local is deleted": [BORROWED, Op("DELETE_FAST", 0), RETURN],
    "below another, its local is stored to": [PAIR, ONE, STORE, ADD, RETURN],
    "copied": [BORROWED, Op("COPY", 1), Op("POP_TOP"), RETURN],
    "left by a jump": [BORROWED, Op("JUMP_FORWARD", LABEL), Mark(LABEL), RETURN],
    "left by a branch": [BORROWED, Op("LOAD_CONST", True), Op("POP_JUMP_IF_TRUE", LABEL), Mark(LABEL), RETURN],
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_ones(name: str) -> None:
    items, expected = RIGHT[name]
    function = assembled([*items])
    check_code(function.__code__)
    assert function(1, 2) == expected


@pytest.mark.parametrize("name", WRONG)
def test_wrong_ones_are_refused(name: str) -> None:
    function = assembled(WRONG[name])
    with pytest.raises(AssertionError, match="borrowed"):
        check_code(function.__code__)


def names(code: Any) -> list[str]:
    return [x.opname for x in dis.get_instructions(code)]


def test_arithmetic_borrows() -> None:
    def f(x, y):
        z = x * y + x
        return z.real(y)[x] < y

    found = names(emit(lift(f.__code__)))
    assert "LOAD_FAST" not in found and "LOAD_FAST_LOAD_FAST" not in found


def test_what_is_forgotten_is_owned() -> None:
    def f(make):
        x = make()
        y = x + x
        del x
        return y * y

    for release in (False, True):
        code = emit(lift(f.__code__), release)
        check_code(code)
        assert FunctionType(code, {})(lambda: [1, 2].__len__()) == 16


class Big:
    """Counts how many of it live when two are added."""

    alive: list[int] = []

    def __init__(self) -> None:
        self.payload = bytearray(1000)

    def __add__(self, other: Any) -> Big:
        self.alive.append(len(self.payload) + len(other.payload))
        return Big()


def mixing(a: Any, b: Any, make: Callable[[], Any]) -> Any:
    c = a + b
    a = make()
    d = (a := c) + (a := make())
    for b in (a, c):
        d = d + (b := d)
        a, b = b, a + d
    return a + (a := d), [b + x for x in (a, b, c)]


@pytest.mark.parametrize("release", [False, True])
def test_operands_that_are_rebound_while_they_are_used(release: bool) -> None:
    code = emit(lift(mixing.__code__), release)
    check_code(code)
    for function in (mixing, FunctionType(code, globals())):
        for _ in range(10):
            Big.alive.clear()
            result = function(Big(), Big(), Big)
            dead = weakref.ref(result[0])
            assert set(Big.alive) == {2000} and len(result[1]) == 3
            del result
            assert dead() is None


def rebinding(x: Any) -> Any:
    return x + rebound()


def rebound() -> Big:
    sys._getframe(1).f_locals["x"] = None
    return Big()


def test_a_debugger_may_rebind_the_local_meanwhile() -> None:
    for function in (rebinding, FunctionType(emit(lift(rebinding.__code__)), globals())):
        for _ in range(50):
            Big.alive.clear()
            function(Big())
            assert Big.alive == [2000]
