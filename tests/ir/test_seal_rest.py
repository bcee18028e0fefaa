"""``Builder.seal_rest`` against running the blocks with a plain dictionary of what was written."""

from __future__ import annotations

import random
from typing import Any

import pytest

from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import Block, Constant, Edge, Operand, Terminator, Variable

DEFAULT = Constant("default")
Action = tuple[str, str, Any]


def value_of(operand: Operand, bound: dict[Operand, Any]) -> Any:
    return operand.value if isinstance(operand, Constant) else bound[operand]


def walk(plan: dict[Block, list[Action]], entry: Block, order: random.Random, steps: int) -> None:
    """One random way through the blocks: what was read is what was written last."""
    bound: dict[Operand, Any] = {}
    written: dict[str, Any] = {}
    block = entry
    for _ in range(steps):
        for kind, key, value in plan[block]:
            if kind == "write":
                written[key] = value.value
            else:
                assert value_of(value, bound) == written.get(key, "default")
        edges = list(block.edges())
        if not edges:
            return
        edge = order.choice(edges)
        bound.update(zip(edge.target.params, [value_of(x, bound) for x in edge.args], strict=True))
        block = edge.target


def graph(builder: Builder, order: random.Random, count: int) -> list[Block]:
    blocks = [builder.block(sealed=i == 0) for i in range(count)]
    for i, block in enumerate(blocks[:-1]):
        targets = {i + 1, *order.choices(range(1, count), k=order.randrange(2))}
        edges: list[Edge] = [builder.edge(block, blocks[t]) for t in sorted(targets)]
        block.terminator = Terminator("branch" if len(edges) > 1 else "jump", [], edges)
    return blocks


@pytest.mark.parametrize("seed", range(60))
def test_values(seed: int) -> None:
    order = random.Random(seed)
    builder = Builder(default=lambda key: DEFAULT)
    blocks = graph(builder, order, order.randrange(2, 14))
    plan: dict[Block, list[Action]] = {block: [] for block in blocks}
    for block in order.sample(blocks, len(blocks)):
        for _ in range(order.randrange(4)):
            key = order.choice("abcd")
            if order.random() < 0.4:
                value = Constant((key, len(plan), order.random()))
                builder.write(key, block, value)
                plan[block].append(("write", key, value))
            else:
                plan[block].append(("read", key, builder.read(key, block)))
    builder.seal_rest()
    last = blocks[-1]
    plan[last] += [("read", key, builder.read(key, last)) for key in "abcde"]
    builder.write("a", last, Constant("late"))
    assert builder.read("a", last) == builder.read("a", last)
    builder.finish()
    for actions in plan.values():
        actions[:] = [(kind, key, builder.resolve(value)) for kind, key, value in actions]
    for _ in range(30):
        walk(plan, blocks[0], order, 60)


def test_what_was_never_written_has_no_parameters() -> None:
    builder = Builder(default=lambda key: DEFAULT)
    blocks = graph(builder, random.Random(3), 12)
    found = [builder.read("a", block) for block in blocks[1:]]
    builder.seal_rest()
    builder.finish()
    assert all(builder.resolve(x) is DEFAULT for x in found)
    assert not any(block.params for block in blocks)


def test_what_a_provider_knows_is_found() -> None:
    builder = Builder(default=lambda key: DEFAULT)
    entry, middle, last = builder.block(sealed=True), builder.block(), builder.block()
    entry.terminator = Terminator("jump", [], [builder.edge(entry, middle)])
    middle.terminator = Terminator("branch", [], [builder.edge(middle, middle), builder.edge(middle, last)])
    given = Variable("given")
    builder.provide(entry, lambda key: given if key == "a" else None)
    builder.seal_rest()
    assert builder.read("a", last) is given
    assert builder.read("b", last) is DEFAULT


def test_a_provider_may_say_where_a_key_is_found() -> None:
    builder = Builder(default=lambda key: DEFAULT)
    entry, left, right, join = builder.block(sealed=True), *(builder.block() for _ in range(3))
    entry.terminator = Terminator("branch", [], [builder.edge(entry, x) for x in (left, right)])
    for side in (left, right):
        side.terminator = Terminator("jump", [], [builder.edge(side, join)])
    builder.provide(join, lambda key: entry if key == "a" else None)
    value = Constant(1)
    builder.write("a", entry, value)
    assert builder.read("a", join) is value and not builder._joins[join]
    builder.seal_rest()
    assert builder.read("a", join) is value


def test_a_survey_spares_parameters_before_the_rest_is_made() -> None:
    builder = Builder(default=lambda key: DEFAULT)
    blocks = [builder.block(sealed=i == 0) for i in range(3)]
    entry, middle, last = blocks
    entry.terminator = Terminator("branch", [], [builder.edge(entry, middle), builder.edge(entry, last)])
    middle.terminator = Terminator("jump", [], [builder.edge(middle, last)])
    builder.seal(middle)
    builder.seal(last)
    builder.write("a", middle, Constant(1))
    builder.survey()
    later = builder.block()
    last.terminator = Terminator("jump", [], [builder.edge(last, later)])
    assert builder.read("b", last) is DEFAULT and not builder._unfilled and not builder._block_of
    param = builder.read("a", later)
    builder.seal_rest()
    builder.finish()
    assert builder.resolve(param) is last.params[0] and not later.params
