"""The adjoints of the statements of a joint program: cotangents are keys of the builder."""

from __future__ import annotations

from collections.abc import Iterator as Leaves

import numpy as np

from autodiff_hook.ir.types import Block, Constant, Edge, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Instance,
    Iterator,
    Known,
    List,
    Number,
    Optional,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.activity import part_taken
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.joint_buffers import is_zero
from autodiff_hook.transform.specialise.joint_items import Items
from autodiff_hook.transform.specialise.joint_primal import NONE, leaves_of
from autodiff_hook.transform.specialise.lattice import content_of, is_none
from autodiff_hook.transform.specialise.lists import is_flat
from autodiff_hook.transform.specialise.named_tuples import holds_named
from autodiff_hook.transform.specialise.program import PURE, STRUCTURAL, RulePlan
from autodiff_hook.transform.specialise.splice import splice
from autodiff_hook.transform.specialise.sums import is_sum


class Cotangents(Items):
    """Takes the cotangent of what a statement has made, and adds to those of what it was made from."""

    def _seed(self, value: Variable, aim: tuple[int, ...], out: Block) -> None:
        """Begin with the cotangent of the part of the value that ``aim`` leads to."""
        abstract = self._type_at(value, aim) if aim else self.program.types[value]
        if self.split is not None:
            self._resume(value, aim, out)
        elif isinstance(abstract, Known) and type(abstract.value) in (float, int):
            pass
        elif isinstance(abstract, Number) and not abstract.types & {bool, complex, np.complex128}:
            if value in self.needs:
                self.builder.write(("c", value, aim), out, Constant(1.0))
        elif isinstance(abstract, Array) and (abstract.dtype is None or abstract.dtype.kind != "c"):
            part = self._part(value, self.program.types[value], aim, out)
            seed = self._call("seed", part, out)
            self.builder.write(("c", value, aim), out, seed)
        else:
            raise Refused("the function does not return a real scalar")

    def _resume(self, value: Variable, aim: tuple[int, ...], out: Block) -> None:
        """Mark the cut; the cotangent of the value comes from outside."""
        whole = self._type_at(value, aim) if aim else self.program.types[value]
        if _may_hold_none(whole) or holds_named(whole):
            raise Refused("the value may hold None, or a named tuple")
        given = self.builder.emit(out, "resume", value)
        for path in leaves_of(whole, aim):
            leaf = self._type_at(value, path)
            if self.split != "shared" and isinstance(leaf, Instance) and leaf.cls not in (bool, int, type(None)):
                raise Refused("the value may be written of what is differentiated")
            if _is_inert(leaf) or self.split == "shared" and (_is_reference(leaf) or is_none(leaf)):
                continue
            if not isinstance(leaf, Number) and not (self.split != "numbers" and isinstance(leaf, Array)):
                raise Refused("the value is not made of numbers")
            part = self._given_at(given, self.program.types[value], path, out)
            if isinstance(leaf, Array):
                shaped = self._part(value, self.program.types[value], path, out)
                part = self._call("array", part, shaped, out)
            elif path:
                part = self._call("number", part, out)
            if value in self.needs:
                self.builder.write(("c", value, path), out, part)

    def _given_at(self, given: Operand, kind: Abstract, path: tuple[int, ...], out: Block) -> Operand:
        """The cotangent of a part of the value, of what is given for the value."""
        for index in path:
            assert isinstance(kind, Tuple)
            by_name = kind.cls is dict
            key = Constant(kind.keys[index] if by_name else index)
            given, kind = self._call("named_part" if by_name else "part", given, key, out), kind.items[index]
        return given

    def _add(
        self, variable: Variable, path: tuple[int, ...], contribution: Operand, out: Block, sure: bool = True
    ) -> None:
        if variable not in self.needs or is_zero(contribution):
            return
        abstract = self._type_at(variable, path)
        key = ("c", variable, path)
        if variable in self.owned:
            self._add_whole(variable, contribution, out)
            return
        if isinstance(abstract, Tuple):
            for i in range(len(abstract.items)):
                part = self._call("part", contribution, Constant(i), out)
                self._add(variable, (*path, i), part, out, sure=False)
            return
        if isinstance(abstract, Reference):
            whole = self._part(self._residual(variable, out), self.program.types[variable], path, out)
            self._call("add_items", self.table, whole, contribution, out, result=False)
            return
        self.added.add((variable, path))
        present = self.builder.read(key, out)
        certain = present in self.present or sure and contribution not in self.unsure
        if not sure:
            contribution = self._call("counted", present, contribution, out)
        elif not is_zero(present):
            if isinstance(abstract, Number):
                contribution = self.builder.emit(out, "binary", present, contribution, data="+")
            else:
                contribution = self._call("accumulate", present, contribution, out)
        (self.present if certain else self.unsure).add(contribution)
        self.builder.write(key, out, contribution)

    def _move(self, block: Block, edge: Edge, out: Block) -> None:
        """Move the cotangents of parameters to the arguments that were bound to them, all at once."""
        taken = []
        for param, arg in edge.bound():
            if param in self.needs:
                taken += [(arg, path, self._take(param, path, out)) for path in self._paths(param)]
        for arg, path, cotangent in taken:
            if isinstance(arg, Variable):
                if isinstance(cotangent, Variable) and cotangent not in self.present:
                    # What an iteration passes on and nobody reads after the last one has no cotangent there.
                    self.unsure.add(cotangent)
                self._add(arg, path, cotangent, out)

    def _gathered(self, variable: Variable, path: tuple[int, ...], out: Block) -> Operand:
        abstract = self._type_at(variable, path)
        if isinstance(abstract, Tuple):
            parts = [self._gathered(variable, (*path, i), out) for i in range(len(abstract.items))]
            return self.builder.emit(out, "build_tuple", *parts)
        if isinstance(abstract, Reference) and variable in self.parts:
            return NONE
        if isinstance(abstract, Reference) and (path or variable in self.needs):
            if not path and isinstance(abstract, List) and is_flat(abstract):
                return self._buffer(variable, out)
            whole = self._part(variable, self.program.types[variable], path, out)
            return self._call("list_gradient", self.table, whole, out)
        return self.builder.read(("c", variable, path), out)

    def _reverse_statement(self, s: Statement, out: Block) -> Block:
        if self._reverse_of_items(s, out) or s.result is None:
            return out
        plan = self.program.plans.get(s)
        if s.result not in self.needs and not self._shares(s):
            return out
        if isinstance(plan, RulePlan):
            return self._reverse_rule(s, plan, out)
        if plan == STRUCTURAL:
            self._reverse_structural(s, out)
        elif plan == PURE and isinstance(self.program.types[s.result], Reference):
            return out
        elif plan == PURE and s.result in self.memory.stored:
            self._take(s.result, (), out)
        elif plan == PURE and not isinstance(self.program.types[s.result], Iterator):
            raise Refused(f"{s.op} has no adjoint", s)
        return out

    def _shares(self, s: Statement) -> bool:
        """Whether a statement calls a program that has cotangents of lists, dicts or objects."""
        return s in self.uses and bool(self.uses[s].more)

    def _reverse_structural(self, s: Statement, out: Block) -> None:
        taken = [(path, self._take(s.made, path, out)) for path in self._paths(s.made)]
        for path, cotangent in taken:
            operand, part = part_taken(s, path, self.program)
            if isinstance(operand, Variable):
                self._add(operand, part, cotangent, out)

    def _is_certain(self, cotangent: Operand) -> bool:
        """Whether there is a cotangent in each run, never None."""
        return cotangent in self.present and cotangent not in self.unsure

    def _of_parts(self, s: Statement, out: Block) -> Operand:
        """The cotangent of a rule's tuple, of which one part at least is there: pullbacks take no tuple of zeros."""
        paths = self._paths(s.made)
        parts = [self._take(s.made, path, out) for path in paths]
        if all(map(is_zero, parts)):
            return NONE
        if not any(map(self._is_certain, parts)):
            there = [i for i, part in enumerate(parts) if not is_zero(part)]
            at = next((i for i in there if (s.made, paths[i]) in self.added), there[0])
            parts[at] = self._present_part(s, paths[at], parts[at], out)
        return self._nested(self.program.types[s.made], iter(parts), out)

    def _nested(self, value: Abstract, parts: Leaves[Operand], out: Block) -> Operand:
        """The cotangent of a tuple, however deep, of those of its leaves."""
        value = content_of(value)
        if not isinstance(value, Tuple):
            return next(parts)
        items = [self._nested(item, parts, out) for item in value.items]
        return NONE if all(map(is_zero, items)) else self.builder.emit(out, "build_tuple", *items)

    def _present_part(self, s: Statement, path: tuple[int, ...], part: Operand, out: Block) -> Operand:
        """The cotangent of a part of what a statement has made, None being zero."""
        if isinstance(self._type_at(s.made, path), Array):
            value = self._part(self._residual(s.made, out), self.program.types[s.made], path, out)
            return self._call("array", part, value, out)
        return self._call("number", part, out)

    def _reverse_rule(self, s: Statement, plan: RulePlan, out: Block) -> Block:
        result = self.program.types[s.made]
        cotangent = self._of_parts(s, out) if isinstance(result, Tuple) else self._take(s.made, (), out)
        if is_zero(cotangent) and not self._shares(s):
            return out
        if isinstance(result, Array) and not self._is_certain(cotangent):
            value = self._residual(s.made, out)
            cotangent = self._call("array", cotangent, value, out)
        if s.op == "getitem" and s.operands[0] in self.buffered:
            return self._reverse_array_load(s, cotangent, out)
        items = plan.values[0] if is_sum(plan) else None
        if isinstance(items, Variable) and items in self.summed:
            self._reverse_sum(items, cotangent, out)
            return out
        use = self.uses[s]
        # The cotangents of what is shared are in the table already.
        shared = [bool(use.more) and _is_reference(self.program.type_of(x)) for x in use.arguments]
        wanted = [x in self.needs and not there for x, there in zip(use.arguments, shared)]
        cotangents, out, sure = splice(self.builder, use, cotangent, wanted, self._residual, out, s.position)
        for operand, contribution, want, certain in zip(use.arguments, cotangents, wanted, sure):
            if isinstance(operand, Variable) and want:
                self._add(operand, (), contribution, out, sure=certain)
        return out


def _is_inert(value: Abstract) -> bool:
    """Whether a part of a value is there as it is, and has no derivative."""
    return isinstance(value, Instance) or isinstance(value, Known) and type(value.value) in (int, float, bool, str)


def _is_reference(value: Abstract) -> bool:
    return isinstance(content_of(value), Reference)


def _may_hold_none(value: Abstract) -> bool:
    """Whether a part of a value that has a cotangent of its own may be None."""
    if isinstance(value, Tuple):
        return any(map(_may_hold_none, value.items))
    return isinstance(value, Optional) and not _is_reference(value)
