from __future__ import annotations

import math

from autodiff_hook.ir.printer import to_text
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Position, Signature, Statement, Terminator, Variable


def test_text() -> None:
    x, y, error, lasti = Variable("x"), Variable(), Variable(), Variable()
    handler = Block([error, lasti], [], Terminator("reraise", [error, lasti]))
    last = Block([], [], Terminator("return", [y]))
    sine = Statement("call", [Constant(math.sin), x], y, None, Position(7, 7, 0, 4))
    entry = Block([x], [sine], Terminator("jump", [], [Edge(last)]), Edge(handler))
    ir = IR("f", Signature(("x",), 1), blocks=[entry, last, handler])
    assert to_text(ir, lines=True) == (
        "function f(%1)\n"
        "b0(%1) handler b2():\n"
        "    %2 = call math.sin %1  # line 7\n"
        "    jump b1()\n"
        "b1():\n"
        "    return %2\n"
        "b2(%3, %4):\n"
        "    reraise %3 %4\n"
    )


def test_constants_are_short() -> None:
    def text(value: object) -> str:
        block = Block([], [], Terminator("return", [Constant(value)]))
        return to_text(IR("f", Signature(), blocks=[block])).splitlines()[-1].strip()

    assert text(1.0) == "return 1.0"
    assert text(len) == "return len"
    assert text(math) == "return math"
    assert text(int) == "return int"
    assert text(test_text) == f"return {__name__}.test_text"
    assert text("x" * 100) == f"return '{'x' * 36}..."
    assert text("a\nb") == r"return 'a\nb'"
