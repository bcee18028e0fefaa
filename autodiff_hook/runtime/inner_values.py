"""What has to be so of functions that are differentiated within programs, and what is known of their parameters."""

from __future__ import annotations

import numpy as np

from autodiff_hook.ir.analysis import definitions, natural_loops, statements_of
from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Terminator
from autodiff_hook.runtime.directions import Misshapen
from autodiff_hook.runtime.forms import holds_objects
from autodiff_hook.runtime.specialised_runtime import RUNTIME, Undefined
from autodiff_hook.runtime.undefined import go_on_if, leaves
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Known, List, Number, Site, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import is_real, item_like, number_types
from autodiff_hook.transform.specialise.named_tuples import holds_named
from autodiff_hook.transform.specialise.wording import named


def require_one_buffer_each(ir: IR, inner: Inference) -> None:
    """Refuse lists whose cotangents are looked up more than once: who holds them is known by identity alone."""
    repeated = {block for loop in natural_loops(ir) for block in loop.body}
    found = set[Site]()
    for block in ir.blocks:
        for s in block.statements:
            if s.callee is RUNTIME["buffer"]:
                kind = inner.type_of(s.operands[2])
                if block in repeated or not isinstance(kind, List) or kind.site.root() in found:
                    raise Refused("a derivative of a function whose lists may be one")
                found.add(kind.site.root())


def generalised(kind: Abstract) -> Abstract:
    """What is known of values like one, whatever number it is."""
    if isinstance(kind, Tuple):
        return Tuple(tuple(map(generalised, kind.items)), kind.cls, kind.keys, example=kind.example, place=kind.place)
    if isinstance(kind, Known) and type(kind.value) is int:
        return Number(frozenset({int, float}), example=kind.value)
    general = kind if isinstance(kind, (Array, Known)) and number_types(kind) is None else item_like(kind)
    if general is None or holds_objects(general):
        raise Refused(f"a derivative of a function of {named(kind)}")
    return general


def require_numbers(builder: Builder, last: Block, cotangents: list[tuple[Abstract, Operand]]) -> Block:
    """Give up if a cotangent is nan: it may be zero."""
    made = definitions(statements_of(builder.blocks))
    total: Operand | None = None
    for kind, cotangent in (leaf for abstract, operand in cotangents for leaf in leaves(abstract, operand, made)):
        part = cotangent
        if not isinstance(kind, Number):
            total_of = Constant(np.sum if isinstance(kind, Array) else sum)
            part = builder.emit(last, "call", total_of, cotangent, data=())
        total = part if total is None else builder.emit(last, "binary", total, part, data="+")
    if total is None:
        return last
    after, stop = go_on_if(builder, last, builder.emit(last, "compare", total, total, data="=="))
    stop.terminator = Terminator("raise", [Constant(Undefined)])
    return after


def require_more(inner: Inference) -> None:
    """Refuse what is right to first order alone: the program around has derivatives, too."""
    if inner.once:
        raise Refused("a derivative of what has only first derivatives here")


def require_one_shape(builder: Builder, last: Block, primal: Operand, tangent: Operand) -> Block:
    """Give up if a tangent has another shape."""
    shapes = [builder.emit(last, "getattr", x, data="shape") for x in (primal, tangent)]
    after, stop = go_on_if(builder, last, builder.emit(last, "compare", *shapes, data="=="))
    stop.terminator = Terminator("raise", [Constant(Misshapen)])
    return after


def is_made_of_numbers(value: Abstract) -> bool:
    """Whether a value is a number or an array, or a tuple of these."""
    if isinstance(value, Tuple):
        return not holds_named(value) and all(map(is_made_of_numbers, value.items))
    return isinstance(value, Array) or is_real(value)
