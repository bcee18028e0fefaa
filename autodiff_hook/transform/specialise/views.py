"""Views of arrays that a program changes: stores into them are stores into what they are views of.

What a view is read after such a change is taken out of the array anew, so that no view is used after a store.
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any, ClassVar, Final

import numpy as np

from autodiff_hook.ir.analysis import definitions, passed_on, statements_of
from autodiff_hook.ir.liveness import live_out
from autodiff_hook.ir.types import IR, Args, Block, Constant, Operand, Statement, Variable
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.overlaps import require_apart
from autodiff_hook.transform.specialise.abstract import INT, Abstract, Array, Instance, Known, Lookup, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.lists import maker
from autodiff_hook.transform.specialise.memory import replaced
from autodiff_hook.transform.specialise.origins import TypeOf, makes_new
from autodiff_hook.transform.specialise.overlaps import may_be_overwritten, step_of
from autodiff_hook.transform.specialise.parts import is_basic_key, is_view_key, parts_of
from autodiff_hook.transform.specialise.plans import checked, items_of, known_as
from autodiff_hook.transform.specialise.program import PURE, STORE, Given, Plan, Program, RulePlan
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS, QUESTIONS

_SURE: Final = (
    *((np.ndarray.squeeze, 2), (np.squeeze, 2), (np.expand_dims, 2)),
    *((f, 1) for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d)),
)
"""What gives a view with axes of length one more or less, called with so many arguments at most."""
_RESHAPED: Final = (
    *((np.ndarray.reshape, 32), (np.reshape, 2), (np.ndarray.ravel, 1), (np.ravel, 1), (np.ascontiguousarray, 1)),
    *_SURE,
)
"""What gives a view if the array allows it, with the items in the same order."""
_TRANSPOSING: Final = (np.transpose, np.ndarray.transpose)
_MOVED: Final = (*((f, 1) for f in _TRANSPOSING), *((f, 3) for f in (np.moveaxis, np.swapaxes, np.ndarray.swapaxes)))
"""What gives a view with the axes in another order, called with so many arguments."""


def base_of(s: Statement | None, type_of: TypeOf) -> Operand | None:
    """What the result of a statement is a view of, if it is one, or may be."""
    if s is None or s.result is None:
        return None
    found: Operand | None = None
    if s.op == "getitem" and is_view_key(type_of(s.operands[1])) or s.op == "getattr" and s.data == "T":
        found = s.operands[0]
    else:
        function, args = _called(s, type_of)
        if any(function is f and len(args) <= most for f, most in _RESHAPED) or _moves(function, args, type_of):
            found = args[0]
    return found if found is not None and _is_plain(type_of(found)) and _is_plain(type_of(s.result)) else None


def _moves(function: Any, args: Args, type_of: TypeOf) -> bool:
    if any(function is f for f in _TRANSPOSING) and len(args) == 2:
        return _order_of(type_of(args[1])) is not None
    return any(function is f and len(args) == count for f, count in _MOVED)


def _order_of(axes: Abstract) -> tuple[int, ...] | None:
    """The axes by their numbers, if these are known."""
    items = items_of(axes) or ()
    found = [x.value % len(items) for x in items if isinstance(x, Known) and type(x.value) is int]
    return tuple(found) if items and len(found) == len(items) else None


def _called(s: Statement, type_of: TypeOf) -> tuple[Any, list[Operand]]:
    """The function or method that a statement calls with arguments by position, if that is known."""
    if s.op == "call" and not s.data:
        callee = type_of(s.operands[0])
        return (callee.value if isinstance(callee, Known) else None), s.operands[1:]
    if s.op != "call_method" or s.data[1]:
        return None, []
    owner = type_of(s.operands[0])
    if isinstance(owner, Array):
        return getattr(np.ndarray, s.data[0], None), s.operands
    module = owner.value if isinstance(owner, Known) else None
    return getattr(module, s.data[0], None) if isinstance(module, ModuleType) else None, s.operands[1:]


def _is_plain(value: Abstract) -> bool:
    return isinstance(value, Array) and not value.scalar and bool(value.ndim)


def is_sure(s: Statement, type_of: TypeOf) -> bool:
    """Whether the result is a view of the array whatever its layout."""
    function, args = _called(s, type_of)
    keeps = any(function is f for f, _ in _SURE)
    return s.op in ("getitem", "getattr") or keeps or _moves(function, args, type_of)


def flat_of(value: Abstract) -> Operand | None:
    """The array whose ``flat`` a value is; None of what else there is."""
    return value.receiver if isinstance(value, Lookup) and value.name == "flat" else None


def taken_flat(key: Abstract) -> tuple[str, tuple[str, ...]]:
    """The method that gives what ``flat`` chooses from: what is chosen is a copy, but for one element."""
    return "flatten" if number_types(key) is None else "ravel", ()


def redirect(inf: Inference, s: Statement) -> None:
    """Let a store into views be a store into the array that they are views of."""
    while True:
        view = inf.final(s.operands[0])
        made = maker(inf, view)
        base = base_of(made, inf.type_of)
        if made is None or base is None:
            return
        if made.op == "getitem" and all(is_basic_key(inf.type_of(x.operands[1])) for x in (made, s)):
            s.operands[:2] = [base, _index(inf, s, base, made.operands[1], s.operands[1])]
            continue
        if not is_sure(made, inf.type_of):
            _require_order(inf, base)
        if may_be_overwritten(*map(inf.type_of, (view, *s.operands[1:]))) and may_show(inf, s.operands[2], base):
            raise Refused("an array is stored into memory that it may show")
        copied = inf.before(s, "call_method", [view], ("copy", ()))
        store_before(inf, s, [copied, *s.operands[1:]])
        s.operands[:] = [base, *_whole(inf, s, base, made, copied)]


def may_show(inf: Inference, value: Operand, array: Operand) -> bool:
    """Whether a value may share memory with an array."""
    if not isinstance(inf.type_of(value), Array):
        return False
    owner, made = _shown(inf, array)
    root, new = _shown(inf, value)
    return root is owner or not new and (not made or not inf.is_from_outside(root))


def _apart(inf: Inference, s: Statement, args: Args) -> Abstract:
    """Whether an array that is written to piece by piece shows what is read meanwhile."""
    if may_show(inf, args[1], args[0]):
        raise Refused("an array is written to piece by piece that may show what is read")
    return known_as(inf, s, None)


OF_ALL_WAYS[require_apart] = _apart


def _shown(inf: Inference, array: Operand) -> tuple[Operand, bool]:
    """What an array is a view of in the end, and whether that has memory of its own."""
    while True:
        array = inf.final(array)
        made = maker(inf, array)
        base = base_of(made, inf.type_of)
        if base is None:
            return array, made is not None and makes_new(made, inf.type_of)
        array = base


def store_before(inf: Inference, s: Statement, operands: list[Operand]) -> None:
    """An assignment to an item before the statement at hand."""
    inner = Statement("setitem", operands, None, None, s.position)
    if inf.evaluate(inf, inner) is None:
        raise Refused("a store that is several operations")
    inf.insert(inner)


def _whole(inf: Inference, s: Statement, base: Operand, made: Statement, copied: Operand) -> list[Operand]:
    """Where a view lies in an array, and what the array is given there."""
    if made.op == "getitem":
        return [made.operands[1], copied]
    return [Constant(Ellipsis), turned_back(inf, s, base, made, copied)]


def turned_back(inf: Inference, s: Statement, base: Operand, made: Statement, content: Operand) -> Operand:
    """The array that ``base`` becomes if ``content`` is stored into all of the view that ``made`` takes of it."""
    function, args = _called(made, inf.type_of)
    if made.op != "getattr" and not _moves(function, args, inf.type_of):
        shape = inf.before(s, "getattr", [base], "shape")
        return inf.before(s, "call_method", [content, shape], ("reshape", ()))
    order = _order_of(inf.type_of(args[1])) if len(args) == 2 else None
    if order is not None:
        back = Constant(tuple(np.argsort(order).tolist()))
        return inf.before(s, "call", [Constant(np.transpose), content, back], ())
    if len(args) < 3:
        return inf.before(s, "getattr", [content], "T")
    moving = np.moveaxis if function is np.moveaxis else np.swapaxes
    return inf.before(s, "call", [Constant(moving), content, *args[:0:-1]], ())


def _require_order(inf: Inference, base: Operand) -> None:
    inf.insert(Statement("call", [Constant(in_order), base], None, ()), plan=PURE)


class OfItsOwn(Given):
    """An array that is given another shape is copied."""

    reason: ClassVar[Reason] = Reason("an array of its own in the place of a view")


def in_order(array: Any) -> None:
    """Give up unless an array of another shape is a view: its items lie one after the other."""
    if not array.flags.c_contiguous:
        raise OfItsOwn


def _index(inf: Inference, s: Statement, base: Operand, first: Operand, second: Operand) -> Operand:
    """The index of ``base[first][second]``."""
    outer, inner = inf.type_of(first), inf.type_of(second)
    if _is_all(inner):
        return first
    if _is_all(outer):
        return second
    if all(number_types(part) is not None for part in parts_of(outer)):
        return inf.before(s, "build_tuple", [*_parts(inf, s, first), *_parts(inf, s, second)])
    found = _composition(inf.program, s, base, first, second)
    inf.insert(found)
    return found.made


def _composition(program: Program, s: Statement, base: Operand, first: Operand, second: Operand) -> Statement:
    """What puts two indices together."""
    array = program.type_of(base)
    assert isinstance(array, Array) and array.ndim is not None
    axes: list[Abstract] = [Instance(slice, example=slice(None))] * array.ndim
    for key in (first, second):
        parts = list(parts_of(program.type_of(key)))
        left = [i for i, axis in enumerate(axes) if isinstance(axis, Instance)]
        at = next((i for i, part in enumerate(parts) if isinstance(part, Known) and part.value is Ellipsis), None)
        if at is not None:
            parts[at : at + 1] = [Known(slice(None))] * (len(left) - len(parts) + 1)
        for i, part in zip(left, parts):
            if number_types(part) is not None:
                axes[i] = INT
            elif step_of(part) != 1:
                axes[i] = Instance(slice, example=slice(None, None, 1))
    found = Statement("call", [Constant(composed), base, first, second], Variable(), (), s.position)
    program.types[found.made], program.plans[found] = Tuple(tuple(axes)), PURE
    return found


def _is_all(key: Abstract) -> bool:
    """Whether an index is ``...`` or ``:``."""
    value = key.value if isinstance(key, Known) else None
    return value is Ellipsis or type(value) is slice and (value.start, value.stop, value.step) == (None, None, None)


def _parts(inf: Inference, s: Statement, key: Operand) -> list[Operand]:
    kind = inf.type_of(key)
    if isinstance(kind, Tuple) and isinstance(key, Variable):
        return [inf.before(s, "project", [key], i) for i in range(len(kind.items))]
    return list(map(Constant, kind.value)) if isinstance(kind, Known) and type(kind.value) is tuple else [key]


def composed(array: Any, first: Any, second: Any) -> tuple[Any, ...]:
    """The index of ``array[first][second]``, where both are made of ints and slices."""
    axes: list[Any] = [range(length) for length in array.shape]
    for key in (first, second):
        parts = list(key) if isinstance(key, tuple) else [key]
        left = [i for i, axis in enumerate(axes) if type(axis) is range]
        if Ellipsis in parts:
            place = parts.index(Ellipsis)
            parts[place : place + 1] = [slice(None)] * (len(left) - len(parts) + 1)
        if len(parts) > len(left):
            raise IndexError("too many indices for array")
        for i, part in zip(left, parts):
            axes[i] = axes[i][part]
    return tuple(_as_slice(axis) if type(axis) is range else axis for axis in axes)


def _as_slice(chosen: range) -> slice:
    if not chosen:
        return slice(0, 0)
    return slice(chosen.start, None if chosen.stop < 0 else chosen.stop, chosen.step)


def take_anew(ir: IR, program: Program) -> None:
    """Take what is a view of an array that is stored into out of it at each use, if it is used after a store."""
    if STORE in program.plans.values():
        anew = _Anew(ir, program)
        anew.redirect()
        anew.run()


class _Anew:
    def __init__(self, ir: IR, program: Program) -> None:
        self.ir, self.program = ir, program
        self.made = definitions(statements_of(ir.blocks))
        self.bases: dict[Operand, Operand] = {}
        for result, s in self.made.items():
            base = base_of(s, program.type_of)
            if base is not None:
                self.bases[result] = base

    def run(self) -> None:
        stale = self._stale()
        if not stale:
            return
        for block in self.ir.blocks:
            kept: list[Statement] = []
            for s in block.statements:
                for view in dict.fromkeys(s.operands):
                    if view in stale:
                        self._use(s, view, self._again(view, kept))
                kept.append(s)
                if s.result in stale:
                    kept += self._checks(s.result)
            self._pass_on(block, stale, kept)
            block.statements = kept

    def redirect(self) -> None:
        """Let stores into parts be stores into the array, where that has become known only now."""
        for block in self.ir.blocks:
            kept: list[Statement] = []
            for s in block.statements:
                while self.program.plans.get(s) == STORE and s.operands[0] in self.bases:
                    view, key = s.operands[:2]
                    made, base = self.made[view], self.bases[view]
                    if made.op != "getitem":
                        break
                    index = made.operands[1]
                    if not all(is_basic_key(self.program.type_of(x)) for x in (index, key)):
                        break
                    if not _is_all(self.program.type_of(key)):
                        kept.append(_composition(self.program, s, base, index, key))
                        index = kept[-1].result  # type: ignore[assignment]
                    s.operands[:2] = [base, index]
                kept.append(s)
            block.statements = kept

    def _stale(self) -> set[Operand]:
        """The views that are used after a store into what they are views of."""
        live, found = live_out(self.ir.blocks), set[Operand]()
        for block in self.ir.blocks:
            after: set[Operand] = {*live[block], *passed_on(block)}
            for s in reversed(block.statements):
                if self.program.plans.get(s) == STORE:
                    found.update(x for x in after if x in self.bases and s.operands[0] in self._chain(x))
                after.discard(s.result)
                after.update(s.operands)
        return found

    def _chain(self, view: Operand) -> list[Operand]:
        """What a view is a view of, and so on."""
        found = []
        while view in self.bases:
            view = self.bases[view]
            found.append(view)
        return found

    def _again(self, view: Operand, out: list[Statement]) -> Operand:
        """The view, taken once more."""
        if view not in self.bases:
            return view
        s, base = self.made[view], self._again(self.bases[view], out)
        assert isinstance(view, Variable)
        again = [base if x is self.bases[view] else x for x in s.operands]
        taken = Statement(s.op, again, Variable(view.name), s.data, s.position)
        self.program.types[taken.made] = self.program.types[view]
        self.program.plans[taken] = _with(self.program.plans[s], self.bases[view], base)
        out.append(taken)
        return taken.made

    def _use(self, s: Statement, view: Operand, taken: Operand) -> None:
        s.operands = [taken if x is view else x for x in s.operands]
        plan = self.program.plans.get(s)
        if plan is not None:
            self.program.plans[s] = _with(plan, view, taken)

    def _checks(self, view: Operand) -> list[Statement]:
        """What makes sure that a view is one."""
        views = [x for x in (view, *self._chain(view)) if x in self.bases]
        unsure = [x for x in views if not is_sure(self.made[x], self.program.type_of)]
        checks = [Statement("call", [Constant(in_order), self.bases[x]], None, ()) for x in unsure]
        self.program.plans |= dict.fromkeys(checks, PURE)
        return checks

    def _pass_on(self, block: Block, stale: set[Operand], out: list[Statement]) -> None:
        terminator = block.terminator
        passed = passed_on(block)
        again = {x: self._again(x, out) for x in dict.fromkeys(passed) if x in stale}
        terminator.operands = [again.get(x, x) for x in terminator.operands]
        for edge in block.edges():
            edge.args = [again.get(x, x) for x in edge.args]


def _with(plan: Plan, old: Operand, new: Operand) -> Plan:
    if not isinstance(plan, RulePlan):
        return plan
    values = [replaced(x, old, new) for x in plan.values]
    return replace(plan, values=values)


QUESTIONS[in_order] = checked
