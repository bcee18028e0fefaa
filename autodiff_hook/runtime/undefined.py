"""The end of a typed program, where it gives up if a gradient is nan.

Its products are plain, so zero times what is infinite has become nan by then, which nothing makes a number again. The
carried program, whose products are those of ``strong.py``, knows which gradients are nan and which are zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

import numpy as np

from autodiff_hook.ir.analysis import definitions
from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Terminator, Variable
from autodiff_hook.runtime.specialised_runtime import RUNTIME, no_nan, no_nan_in_product
from autodiff_hook.transform.improve.economy import is_sum
from autodiff_hook.transform.specialise.abstract import Abstract, List, Number, Tuple
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.program import RulePlan
from autodiff_hook.transform.specialise.pullbacks import multiplies_strongly


def may_be_undefined(inference: Inference, primal: list[Block], numbers: bool) -> bool:
    """Whether a gradient may be nan though it is zero; ``numbers`` says that the program has nothing else.

    That may come of an adjoint of a way that was not taken, or of a zero that a product with what is infinite loses.
    """
    if not numbers or any(b.terminator.kind != "jump" for b in primal[:-1]):
        return True
    rules = {id(plan.rule): plan.rule for plan in inference.program.plans.values() if isinstance(plan, RulePlan)}
    return any(map(multiplies_strongly, rules.values()))


_SPREADING: Final = (np.log, np.square, np.add.reduce, np.matmul, np.dot)
"""Functions that give nothing finite of what is not."""
_STEEP: Final = (np.exp, np.log, np.square, np.matmul, np.dot)
"""Functions whose derivatives are finite where their results are."""
_MILD: Final = (np.add.reduce, np.max, np.min)
"""Functions whose derivatives are finite."""


def value_tells(primal: list[Block], value: Operand) -> bool:
    """Whether no derivative within a program of arrays is infinite or nan as long as its value is finite.

    That is so if what is not finite in the results of its steps comes through to the value.
    """
    if any(b.terminator.kind != "jump" for b in primal[:-1]):
        return False
    through: set[Operand] = {value}
    for block in reversed(primal):
        for edge in block.edges():
            through.update(arg for param, arg in edge.bound() if param in through)
        if not all(_comes_through(s, through) for s in reversed(block.statements)):
            return False
    return True


def _comes_through(s: Statement, through: set[Operand]) -> bool:
    """Whether a step is known, and what is not finite in it comes ``through``, to which its operands are added."""
    callee = s.callee
    if s.op in ("build_map", "build_list") and not s.operands:
        return True
    if s.op == "unary" and s.data in ("-", "+"):
        spreading, steep = s.operands, False
    elif s.op == "binary" and s.data in _SPREADS:
        exponent = s.operands[1].value if isinstance(s.operands[1], Constant) else None
        if s.data == "**" and exponent not in (1, 2, 3, 4):
            return False
        spreading, steep = s.operands[: _SPREADS[s.data]], s.data in ("*", "/", "**")
    elif callee in (*_STEEP, *_MILD) and not any(isinstance(x, Variable) for x in s.operands[3:]):
        spreading, steep = s.operands[1:] if callee in _SPREADING else [], callee in _STEEP
    else:
        return False
    if s.result in through:
        through.update(spreading)
    return s.result in through or not steep


_SPREADS: Final = {"+": 2, "-": 2, "*": 2, "/": 1, "**": 1}
"""Operators that give nothing finite of so many operands that are not."""


def refuse_nan_if_infinite(
    builder: Builder, out: Block, value: Operand, cotangents: Iterable[tuple[Abstract, Operand]]
) -> None:
    """Give up if one of some cotangents is nan, which cannot be if the value is finite."""
    made = definitions(out.statements)
    found = [leaf for abstract, operand in cotangents for _, leaf in leaves(abstract, operand, made)]
    builder.emit(out, "call", Constant(RUNTIME["no_nan_if_infinite"]), value, *found, data=(), result=False)


def refuse_nan(builder: Builder, out: Block, cotangents: Iterable[tuple[Abstract, Operand]]) -> Block:
    """Give up if one of some cotangents is nan; where to go on."""
    made = definitions(out.statements)
    found = [leaf for abstract, operand in cotangents for leaf in leaves(abstract, operand, made)]
    rows = [operand for abstract, operand in found if isinstance(abstract, List) and _is_of_floats(abstract.item)]
    lists = [operand for abstract, operand in found if _is_of_floats(abstract)]
    lists += [builder.emit(out, "call", Constant(chain.from_iterable), operand, data=()) for operand in rows]
    others = [x for abstract, x in found if not (isinstance(abstract, Number) or x in rows or _is_of_floats(abstract))]
    if others:
        builder.emit(out, "call", Constant(RUNTIME["no_nan"]), *others, data=(), result=False)
    numbers = [operand for abstract, operand in found if isinstance(abstract, Number)]
    numbers += [builder.emit(out, "call", Constant(sum), operand, data=()) for operand in lists]
    if not numbers:
        return out
    total = numbers[0]
    for number in numbers[1:]:
        total = builder.emit(out, "binary", total, number, data="+")
    after, stop = go_on_if(builder, out, builder.emit(out, "compare", total, total, data="=="))
    builder.emit(stop, "call", Constant(RUNTIME["undefined"]), data=(), result=False)
    stop.terminator = Terminator("return", [Constant(None)])
    return after


def _is_of_floats(abstract: Abstract | None) -> bool:
    return isinstance(abstract, List) and isinstance(abstract.item, Number) and abstract.item.types == {float}


def go_on_if(builder: Builder, out: Block, test: Operand) -> tuple[Block, Block]:
    """Where to go on if a test holds, and where to stop."""
    test = builder.emit(out, "truth", test)
    after, stop = builder.block(), builder.block()
    out.terminator = Terminator("branch", [test], [builder.edge(out, after), builder.edge(out, stop)])
    for block in (after, stop):
        builder.seal(block)
    return after, stop


def refuse_nan_in_objects(builder: Builder, out: Block, gradients: list[Operand]) -> None:
    """Give up if one of the gradients of some objects holds nan."""
    if gradients:
        builder.emit(out, "call", Constant(RUNTIME["no_nan"]), *gradients, data=(), result=False)


def leaves(abstract: Abstract, operand: Operand, made: dict[Operand, Statement]) -> Iterator[tuple[Abstract, Operand]]:
    """The parts of a cotangent that is put together at the end; what is certainly zero is no part."""
    if not isinstance(operand, Variable):
        return
    parts = made.get(operand)
    if isinstance(abstract, Tuple) and parts is not None and parts.op == "build_tuple":
        for item, part in zip(abstract.items, parts.operands):
            yield from leaves(item, part, made)
    else:
        yield abstract, operand


_PRODUCTS: Final = frozenset({"dot", "matmul", "transposed_product"})


def watch_factors(ir: IR) -> None:
    """Let gradients that are products of arrays be looked at where they are made, with their factors at hand.

    Sums over axes of a factor, which are finite if it is, are looked at with it.
    """
    for block in ir.blocks:
        for check in [s for s in block.statements if s.callee is no_nan]:
            made = definitions(block.statements)
            for product in [s for s in block.statements if s.result in check.operands and _is_product(s)]:
                before = block.statements[: block.statements.index(product)]
                factors = product.operands[1:]
                sums = [
                    s.result for s in before if s.result in check.operands and is_sum(s) and s.operands[1] in factors
                ]
                seen: list[Operand] = [x for x in (product.result, *sums) if x is not None]
                look = [Constant(no_nan_in_product), seen[0], *(_untransposed(x, made) for x in factors), *seen[1:]]
                block.statements.insert(len(before) + 1, Statement("call", look, None, ()))
                check.operands = [x for x in check.operands if x not in seen]
            if len(check.operands) == 1:
                block.statements.remove(check)


def _is_product(s: Statement) -> bool:
    return not s.data and len(s.operands) == 3 and getattr(s.callee, "__name__", None) in _PRODUCTS


def _untransposed(operand: Operand, made: dict[Operand, Statement]) -> Operand:
    s = made.get(operand) if isinstance(operand, Variable) else None
    return s.operands[0] if s is not None and s.op == "getattr" and s.data == "T" else operand
