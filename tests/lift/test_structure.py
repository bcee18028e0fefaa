"""The form of the IR: what the grammar promises about blocks, edges, handlers and operations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from autodiff_hook.ir.types import IR, UNBOUND, Block, Constant, Statement, Variable
from autodiff_hook.lift import lift


def lifted(function: Callable[..., Any]) -> IR:
    return lift(function.__code__)


def statements(ir: IR, *ops: str) -> list[Statement]:
    return [s for block in ir.blocks for s in block.statements if not ops or s.op in ops]


def operations(function: Callable[..., Any]) -> list[str]:
    return [s.op for s in statements(lifted(function))]


def edges_into(ir: IR, block: Block) -> int:
    return sum(edge.target is block for source in ir.blocks for edge in source.edges())


def test_description_of_the_function() -> None:
    free = 1

    def f(a, /, b, *args, c=1, **kwargs):
        return free

    ir = lifted(f)
    assert (ir.name, ir.kind, ir.free_names, ir.filename) == ("f", "function", ("free",), __file__)
    assert ir.qualname.endswith("<locals>.f")
    assert ir.signature.names == ("a", "b", "c", "args", "kwargs")
    assert (ir.signature.positional, ir.signature.positional_only, ir.signature.keyword_only) == (2, 1, 1)
    assert ir.signature.varargs and ir.signature.varkeywords
    assert [x.name for x in ir.entry.params] == ["a", "b", "c", "args", "kwargs", "free"]


def test_kinds() -> None:
    def generator():
        yield 1

    async def coroutine():
        await asyncio.sleep(0)

    async def both():
        yield 1

    assert [lifted(x).kind for x in (generator, coroutine, both)] == ["generator", "coroutine", "async_generator"]


def test_straight_line_is_one_block_in_the_order_of_evaluation() -> None:
    def f(x, y):
        z = x * y
        return z.real(x, k=y) + g(z)  # type: ignore[name-defined]  # noqa: F821

    ir = lifted(f)
    (block,) = ir.blocks
    assert [(s.op, s.data) for s in block.statements] == [
        ("binary", "*"),
        ("call_method", ("real", ("k",))),
        ("global", "g"),
        ("call", ()),
        ("binary", "+"),
    ]
    product = block.statements[0]
    assert product.result is not None and product.result.name == "z"
    assert product.operands == ir.entry.params
    assert product.position is not None and product.position.line == f.__code__.co_firstlineno + 1


def test_stack_values_become_block_parameters() -> None:
    def f(a, b, c):
        return g(a, b if c else a).long.chain.of.attributes  # type: ignore[name-defined]  # noqa: F821

    ir = lifted(f)
    (call,) = statements(ir, "call")
    chosen = call.operands[2]
    assert isinstance(chosen, Variable)
    (join,) = [block for block in ir.blocks if chosen in block.params]
    assert join.params == [chosen]


def test_nothing_jumps_to_the_entry() -> None:
    def f(n):
        while True:
            n = n + 1

    ir = lifted(f)
    assert edges_into(ir, ir.entry) == 0
    assert len(ir.blocks) == 2


def test_truth_only_where_it_is_needed() -> None:
    def f(a, b):
        if a is b or a in b or not a:
            return 1
        if a is None:
            return 2
        if a < b:
            return 3

    assert operations(f).count("truth") == 2 - operations(f).count("not")
    assert [x for x in operations(f) if x != "not"][:2] == ["is", "in"]


def test_super_is_explicit() -> None:
    class C:
        def f(self):
            return super().f()  # type: ignore[misc]

        def g(self):
            return lambda: (self, super())

    ir = lifted(C.f)
    (call,) = statements(ir, "call")
    assert [s.op for s in statements(ir)] == ["global", "cell_get", "call", "call_method"]
    assert call.operands[2] is ir.entry.params[0]


def test_maybe_unbound_locals() -> None:
    def f(flag):
        if flag:
            x = 1
        return x, x

    def g(flag):
        x = 2
        if flag:
            x = 1
        del x

    ir = lifted(f)
    (check,) = statements(ir, "check")
    assert check.data == "x"
    (join,) = [block for block in ir.blocks if check.operands[0] in block.params]
    values = {edge.args[0].value for block in ir.blocks for edge in block.edges() if edge.target is join}
    assert values == {1, UNBOUND}
    (pair,) = statements(ir, "build_tuple")
    assert pair.operands == [check.result, check.result]
    assert not any(isinstance(x, Constant) for s in statements(lifted(g), "check") for x in s.operands)


def test_next_operands_are_iterators() -> None:
    def f(xs):
        return [(x, y) for x in xs for y in xs], (x for x in xs)

    def walk(ir: IR) -> Iterator[IR]:
        yield ir
        for s in statements(ir, "make_function"):
            yield from walk(lift(s.data))

    for ir in walk(lifted(f)):
        iterators = {s.result for s in statements(ir, "get_iter")}
        nexts = [b.terminator for b in ir.blocks if b.terminator.kind == "next"]
        assert all(x.operands[0] in iterators for x in nexts)


def test_what_may_raise_in_a_try_ends_its_block() -> None:
    def f(x):
        y = 0
        try:
            y = x.a
            y = y.b
        except Exception:
            return y
        return x

    ir = lifted(f)
    first, second = (s for s in ir.blocks if s.handler and [x.op for x in s.statements] == ["getattr"])
    assert first.handler is not None and second.handler is not None
    assert first.handler.target is second.handler.target
    received = first.handler.target.params
    assert len(received) == 3 and received[1].name == "lasti"
    assert isinstance(first.handler.args[0], Constant) and first.handler.args[0].value == 0
    assert second.handler.args == [first.statements[-1].result]


def test_reraise_and_handled_exception() -> None:
    def f(x):
        try:
            x.a()
        finally:
            x.b()

    ir = lifted(f)
    assert "push_exc" in operations(f) and "pop_exc" in operations(f)
    last = [b.terminator for b in ir.blocks if b.terminator.kind == "reraise"]
    lastis = [x.operands[1] for x in last]
    assert Constant in map(type, lastis) and Variable in map(type, lastis)


def test_yield_keeps_the_opcode_arguments() -> None:
    def f():
        x = yield 1
        yield from x

    plain, delegated = statements(lifted(f), "yield")
    assert all(len(s.data) == 2 for s in (plain, delegated))
    assert plain.data[1] & 3 == 1 and delegated.data[1] & 3 == 2


def test_long_functions_do_not_exhaust_the_stack() -> None:
    source = "def f(x, y):\n" + "".join(f"    if x > {i}: y = x\n" for i in range(1500)) + "    return x + y\n"
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    ir = lifted(namespace["f"])
    assert sum(len(block.params) for block in ir.blocks[1:]) == 1500
