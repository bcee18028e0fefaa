from __future__ import annotations

import dis
from collections.abc import Iterator
from typing import Any

import pytest
from building import branch, code_of, do, function_of, jump, returning, run, to
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_interpreter import interpret

from autodiff_hook.emit import slots
from autodiff_hook.emit.slots import bits
from autodiff_hook.ir.analysis import reverse_postorder
from autodiff_hook.ir.types import IR, Block, Edge, Operand, Terminator, Variable


def rotating(permutation: tuple[int, ...]) -> IR:
    """A loop that permutes its variables n times."""
    count = Variable("n")
    first = [Variable(f"a{i}") for i in permutation]
    left, values, less, going = Variable("n"), [Variable(f"a{i}") for i in permutation], Variable("n"), Variable()
    result = Variable()
    head = Block([left, *values], [do("compare", left, 0, to=going, data=">")])
    body = Block([], [do("binary", left, 1, to=less, data="-")])
    body.terminator = jump(head, less, *(values[i] for i in permutation))
    done = Block([], [do("build_tuple", *values, to=result)], returning(result))
    test = Variable()
    head.statements.append(do("truth", going, to=test))
    head.terminator = branch(test, to(body), to(done))
    return function_of(Block([count, *first], [], jump(head, count, *first)), head, body, done)


@given(st.permutations(range(4)), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_permutations_of_variables(permutation: list[int], times: int) -> None:
    values = list(range(4))
    for _ in range(times):
        values = [values[i] for i in permutation]
    assert run(rotating(tuple(permutation)), times, 0, 1, 2, 3) == tuple(values)


def test_a_swap_costs_no_more_than_in_source() -> None:
    names = [x for x in code_of(rotating((1, 0))).co_varnames]
    assert names == ["n", "a1", "a0"]


def test_an_accumulator_needs_no_moves() -> None:
    n, x = Variable("n"), Variable("x")
    left, r, less, product, test = Variable("n"), Variable("r"), Variable("n"), Variable("r"), Variable()
    head = Block([left, r], [do("truth", left, to=test)])
    body = Block([], [do("binary", left, 1, to=less, data="-"), do("inplace", r, x, to=product, data="*")])
    body.terminator = jump(head, less, product)
    done = Block([], [], returning(r))
    head.terminator = branch(test, to(body), to(done))
    code = code_of(function_of(Block([n, x], [], jump(head, n, 1)), head, body, done))
    accesses = sum(y.opname.count("_FAST") for y in dis.get_instructions(code))
    assert accesses == 1 + 1 + 2 + 3 + 1  # r = 1; test; n -= 1; r *= x; return


@st.composite
def programs(draw: Any) -> IR:
    """Any graph of blocks that move three numbers around, each transition costing fuel."""
    count = draw(st.integers(2, 5))
    blocks = []
    for _ in range(count):
        params = [Variable("fuel")] + [Variable(draw(st.sampled_from(["a", "b", None]))) for _ in range(3)]
        blocks.append(Block(params))
    entry = Block([Variable("p0"), Variable("p1"), Variable("p2")])
    target = blocks[draw(st.integers(0, count - 1))]
    entry.terminator = jump(target, 12, *entry.params)
    result = Variable()
    exits = []
    for block in blocks:
        values: list[Operand] = list(block.params[1:])
        for _ in range(draw(st.integers(0, 4))):
            made = Variable(draw(st.sampled_from(["a", "b", "c", None])))
            pair = [draw(st.sampled_from(values)), draw(st.sampled_from(values))]
            block.statements.append(do("binary", *pair, to=made, data=draw(st.sampled_from("+-"))))
            values.append(made)
        less, over, test, odd, way = (Variable() for _ in range(5))
        block.statements.append(do("binary", block.params[0], 1, to=less, data="-"))
        block.statements.append(do("compare", less, 0, to=over, data="<"))
        block.statements.append(do("truth", over, to=test))
        result = Variable()
        done = Block([], [do("build_tuple", *values, to=result)], returning(result))
        after = Block([], [do("binary", draw(st.sampled_from(values)), 1, to=odd, data="&"), do("truth", odd, to=way)])

        def edge(block_values: list[Operand] = values, fuel: Variable = less) -> Edge:
            return to(draw(st.sampled_from(blocks)), fuel, *(draw(st.sampled_from(block_values)) for _ in range(3)))

        yes, no = edge(), edge()
        after.terminator = branch(way, yes, no) if yes.target is not no.target else Terminator("jump", [], [yes])
        block.terminator = branch(test, to(done), to(after))
        exits += [done, after]
    ir = function_of(entry, *blocks, *exits)
    _drop_unreachable(ir)
    return ir


def _drop_unreachable(ir: IR) -> None:
    reachable = set(reverse_postorder(ir))
    ir.blocks = [b for b in ir.blocks if b in reachable]


@given(programs(), st.lists(st.integers(-9, 9), min_size=3, max_size=3), st.booleans())
@settings(max_examples=150, deadline=None)
def test_any_control_flow_does_what_the_interpreter_does(ir: IR, arguments: list[int], release: bool) -> None:
    assert run(ir, *arguments, release=release) == interpret(ir, arguments, {})


@pytest.mark.parametrize("step", [1, -1])
def test_finding_slots_for_many_that_live_at_once_takes_linear_time(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    looked_at = 0

    def counting(mask: int) -> Iterator[int]:
        nonlocal looked_at
        for i in bits(mask):
            looked_at += 1
            yield i

    monkeypatch.setattr(slots, "bits", counting)
    x = Variable("x")
    made = [Variable() for _ in range(300)]
    steps = [do("binary", value, 1, to=item, data="+") for value, item in zip([x, *made], made, strict=False)]
    total, *rest = made[::step]
    sums = [Variable() for _ in rest]
    for item, summed in zip(rest, sums, strict=True):
        steps.append(do("binary", total, item, to=summed, data="+"))
        total = summed
    assert run(function_of(Block([x], steps, returning(total))), 0) == 300 * 301 // 2
    assert looked_at < 10 * 600
