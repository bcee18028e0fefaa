"""The assembler: wide arguments, far jumps, and the two tables, read back by CPython."""

from __future__ import annotations

import dis
import json
import random
from types import CodeType, FunctionType
from typing import Any

import pytest
from code_checks import check_code

from autodiff_hook.emit import emit, versions
from autodiff_hook.emit.assemble import Assembler
from autodiff_hook.emit.items import Label, Mark, Op
from autodiff_hook.emit.lower import Lowered
from autodiff_hook.emit.opcodes import CODES, UNITS
from autodiff_hook.emit.tables import exception_table, location_table
from autodiff_hook.ir.types import IR, Position, Signature
from autodiff_hook.lift import lift


def compiled(source: str) -> FunctionType:
    namespace: dict[str, Any] = {}
    exec(compile(source, "<assembled>", "exec"), namespace)
    function: FunctionType = namespace["f"]
    return function


def again(function: FunctionType) -> FunctionType:
    code = emit(lift(function.__code__))
    check_code(code)
    return FunctionType(code, function.__globals__)


def code_with(locations: bytes, units: int) -> CodeType:
    return (lambda: None).__code__.replace(co_code=bytes((CODES["NOP"][0], 0)) * units, co_linetable=locations)


def test_units_are_those_of_the_compiler() -> None:
    code = compiled("def f(a, b):\n    return a.real + a[b] * len(b) < b\n").__code__
    offsets = [x.offset for x in dis.get_instructions(code)]
    found = dict(zip(offsets, [b - a for a, b in zip(offsets, offsets[1:])]))
    for x in dis.get_instructions(code):
        if x.offset in found:
            assert found[x.offset] == 2 * UNITS[x.opcode], x.opname


@pytest.mark.parametrize("count", [130, 270])
def test_many_names_constants_and_locals(count: int) -> None:
    lines = "".join(f"    v{i} = x + {i}.5\n    g{i}(v{i})\n" for i in range(count))
    total = " + ".join(f"v{i}" for i in range(count))
    plain = compiled(f"def f(x):\n{lines}    return {total}\n")
    plain.__globals__.update((f"g{i}", abs) for i in range(count))
    assert again(plain)(2.0) == plain(2.0)


@pytest.mark.parametrize("count", [1, 30, 60, 130])
def test_jumps(count: int) -> None:
    """Loops and branches over a body that needs no prefix, and one."""
    body = "".join(f"            r = r + x * {i}\n" for i in range(count))
    plain = compiled(
        f"def f(x, n):\n    r = 0\n    for i in range(n):\n        if i % 2:\n{body}        else:\n{body}"
        "        if r < 0:\n            break\n    return r\n"
    )
    round_trip = again(plain)
    for arguments in ((3, 0), (3, 5), (-1, 4)):
        assert round_trip(*arguments) == plain(*arguments)


@pytest.mark.parametrize("between", [0, 255, 256, 65_535, 65_536])
@pytest.mark.parametrize("around", [0, 254, 65_532])
def test_far_jumps(between: int, around: int) -> None:
    """A jump over ``between`` instructions, and one over that jump and ``around`` more, and back to the first."""
    first, second, back, end = Label(), Label(), Label(), Label()
    forward, backward = versions.jump(True), versions.jump(False)
    nop = Op("NOP")
    items: list[Lowered] = [Op(forward, end), Mark(back), Op(forward, first), *[nop] * between, Mark(first)]
    items += [*[nop] * around, Op(forward, second), Mark(end), Op(backward, back), Mark(second)]
    items += [Op("LOAD_CONST", "here"), Op("RETURN_VALUE")]
    code = Assembler(IR("f", Signature()), [], [], set()).assemble(items)
    if between < 1000 and around < 1000:
        check_code(code)
    assert FunctionType(code, {})() == "here"
    assert code.co_stacksize == 2


@pytest.mark.parametrize("count", [3, 100])
def test_handlers(count: int) -> None:
    body = "".join(f"        r = r + x[{i % 3}]\n" for i in range(count))
    plain = compiled(
        f"def f(x):\n    r = 0\n    try:\n{body}    except IndexError as e:\n        return -r\n    return r\n"
    )
    round_trip = again(plain)
    for argument in ([1, 2, 3], [1, 2], []):
        assert round_trip(argument) == plain(argument)
    entry = dis._parse_exception_table(round_trip.__code__)[0]  # type: ignore[attr-defined]
    assert entry.lasti == versions.LASTI and entry.start < entry.end <= entry.target


@pytest.mark.parametrize("function", [random.Random.sample, random.Random.shuffle, dis.findlinestarts, json.loads])
def test_the_bytecode_library_agrees(function: FunctionType) -> None:
    """It reads the code and writes the same."""
    bytecode = pytest.importorskip("bytecode")
    code = emit(lift(function.__code__))
    found = bytecode.ConcreteBytecode.from_code(code, extended_arg=True)
    other = found.to_code(stacksize=code.co_stacksize, compute_exception_stack_depths=False)
    assert other.co_code == code.co_code
    assert other.co_exceptiontable == code.co_exceptiontable
    assert list(other.co_positions()) == list(code.co_positions())
    free = bytecode.Bytecode.from_code(code, conserve_exception_block_stackdepth=True)
    assert code.co_stacksize >= free.compute_stacksize()


POSITIONS = [
    Position(10, 10, 0, 4),
    Position(10, 10, 71, 86),
    Position(10, 10, 72, 73),
    Position(11, 11, 200, 255),
    Position(13, 13, 3, 256),
    Position(12, 14, 8, 2),
    Position(2, 2, 0, 0),
    Position(900, 70_000, 1000, 2000),
    Position(9, None, None, None),
    Position(None, None, None, None),
]


def test_locations() -> None:
    order = random.Random(1)
    for _ in range(50):
        positions = order.choices(POSITIONS, k=40)
        sizes = order.choices([1, 2, 5, 8, 9, 23], k=40)
        table = location_table(10, positions, sizes)
        expected = [p for p, size in zip(positions, sizes) for _ in range(size)]
        code = code_with(table, sum(sizes)).replace(co_firstlineno=10)
        # What a tracer reads goes from entry to entry by their first bits, past the end of the code if one is wrong.
        lines = [line for start, end, line in code.co_lines() for _ in range(start, end, 2)]
        assert lines == [position.line for position in expected]
        found = list(code.co_positions())
        assert [(line, column, end) for line, _, column, end in found] == [(p[0], p[2], p[3]) for p in expected]
        for (line, end_line, column, _), position in zip(found, expected):
            assert end_line == (position.end_line if column is not None else line)


def test_an_instruction_without_a_position_has_the_one_before_it() -> None:
    table = location_table(7, [None, POSITIONS[0], None], [1, 1, 2])
    found = list(code_with(table, 4).replace(co_firstlineno=7).co_positions())
    assert found == [(7, 7, None, None), *[tuple(POSITIONS[0])] * 3]


@pytest.mark.parametrize(
    "position", [(5, 4, 0, 1), (5, 5, 3, 1), (5, 5, None, 1), (5, 5, 1, None), (5, None, 1, 2), (5, 6, None, None)]
)
def test_a_position_that_makes_no_sense_keeps_its_line(position: tuple[Any, ...]) -> None:
    table = location_table(1, [Position(*position)], [1])
    found = list(code_with(table, 1).replace(co_firstlineno=1).co_positions())
    assert found == [(5, 5, None, None)]


@pytest.mark.parametrize("lasti", [False, True])
def test_exception_table(lasti: bool) -> None:
    regions = [(0, 3, 70, 0), (3, 64, 4095, 1), (64, 4096, 70_000, 40), (4200, 300_000, 1, 2)]
    code = code_with(b"", 1).replace(co_exceptiontable=exception_table(regions, lasti))
    found = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    assert [(e.start // 2, e.end // 2, e.target // 2, e.depth) for e in found] == regions
    assert all(e.lasti == lasti for e in found)
