"""Functions that are differentiated within a program that is followed on one way.

They are followed there like any other call. What the arguments have become on the way is taken out of the program then,
without its guards, and differentiated as a program of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any, Final, NoReturn

import numpy as np

from autodiff_hook.ir.analysis import statements_of
from autodiff_hook.ir.types import Args, Block, Constant, Operand, Statement, Terminator, Variable
from autodiff_hook.runtime.inner_programs import Result, Within
from autodiff_hook.tangent import Tangent
from autodiff_hook.transform.one_way import derived_containers
from autodiff_hook.transform.one_way.classes import instance
from autodiff_hook.transform.one_way.containers import pairs, parts
from autodiff_hook.transform.one_way.copying import is_plainly_copied
from autodiff_hook.transform.one_way.held import held_by
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Container, Fresh, Known, Number, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.draws import is_own
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.prepare import Shape, prepare
from autodiff_hook.transform.specialise.program import Plan, RulePlan
from autodiff_hook.transform.specialise.stopping import stopped
from autodiff_hook.transform.specialise.wording import named

Formed = Callable[[Mapping[Variable, Operand]], Operand]
"""Makes the gradient of an argument of those of its leaves."""
Held = tuple[dict[Any, Any], Operand, Any]
"""A table of what containers or objects hold, one of these, and what it holds."""
_NUMERIC: Final = (int, float, complex, np.number)
_NUMBERS: Final = tuple(frozenset({cls}) for cls in (float, int, np.float64))


def following_within(outer: Inference, s: Statement, function: Operand) -> Within:
    """What follows a function of a program, in the place of a call."""
    outer.assume(function)
    return OnOneWay(outer, s) if isinstance(outer, Path) else Within(outer, s)


class OnOneWay(Within):
    """The same on one way."""

    def __init__(self, outer: Path, s: Statement) -> None:
        super().__init__(outer, s)
        self.path = outer
        self.inner = Path(outer.world, outer.evaluate, {}, outer.known, outer.noted, outer.updated, outer.limit)
        self.given: list[Held] = []
        """The containers and objects that the function is given."""
        self.hidden: list[Held] = []
        """Those that these are copies of."""

    def place_gradients(
        self, function: Operand, primals: list[Operand], chosen: tuple[int, ...], result: Result
    ) -> None:
        args, forms = list(primals), dict[int, Formed]()
        for i in {i % len(primals) for i in chosen}:
            _require_numbers(self.path.type_of(primals[i]))
            args[i], forms[i] = self.begun(primals[i])
        leaves, path = list(self.params), self.path
        found = self.followed(function, args)
        value, *aux = parts(path, found) if result.has_aux else [found]
        if result.has_aux and len(aux) != 1:
            raise Refused("a value of another form than a pair, with has_aux")
        self._put(*self._gradients(self.taken_out(path.present(value)), leaves, Result(valued=True)))
        value, slopes = parts(path, path.inlined)
        by_leaf = dict(zip(leaves, parts(path, slopes)))
        gradients = [forms[i % len(primals)](by_leaf) for i in chosen]
        whole = gradients[0] if result.single else path.perform("build_tuple", gradients)
        first = path.perform("build_tuple", [value, *aux]) if aux else value
        if result.valued:
            whole = path.perform("build_tuple", [first, whole])
        elif aux:
            whole = path.perform("build_tuple", [whole, *aux])
        path.inlined = whole

    def place_tangent(self, function: Operand, primals: list[Operand], tangents: Mapping[int, Operand]) -> None:
        args, seeds = list(primals), dict[Variable, Operand]()
        for i, tangent in tangents.items():
            args[i] = leaf = self._leaf(primals[i])
            seed = seeds[leaf] = Variable()
            self.params[seed], self.inner.types[seed] = tangent, self.path.type_of(tangent)
        found = self.path.frozen(self.followed(function, args))
        self._put(*self._tangent(self.taken_out(found), seeds))

    def value(self, function: Operand, primals: list[Operand]) -> Abstract:
        return self.path.type_of(self.path.present(self.path.call(function, primals)))

    def _put(self, code: CodeType, operands: list[Operand]) -> None:
        if any(self.path.present(x) is not x for x in operands):
            raise Refused("what is differentiated reads an array that is stored into before its derivative is taken")
        super()._put(code, operands)

    # What is differentiated

    def begun(self, operand: Operand) -> tuple[Operand, Formed]:
        """An argument whose numbers and arrays are leaves, and what makes the gradient of it."""
        path = self.path
        operand = path.present(operand)
        kind, cls = path.type_of(operand), self._class_of(operand)
        if isinstance(kind, Outside) and cls is not None:
            return self.begun(path.adopted(operand, kind))
        if isinstance(kind, Fresh):
            return self._begun_object(operand, kind)
        if cls is None and (isinstance(kind, Array) or number_types(kind) in _NUMBERS):
            leaf = self._leaf(operand)
            return leaf, lambda gradients: gradients[leaf]
        if cls is None and isinstance(kind, Known) and not isinstance(kind.value, (np.ndarray, *_NUMERIC)):
            return operand, lambda gradients: Constant(None)
        if cls is None:
            raise Refused(f"a derivative of a function of {named(kind)}")
        if cls is dict:
            begun = {key: self.begun(x) for key, x in pairs(path, operand).items()}
            made = self._copied(operand, dict, {key: x for key, (x, _) in begun.items()})
            return made, lambda gradients: path.made(dict, _formed(begun, gradients))
        items = [self.begun(x) for x in parts(path, operand)]
        if cls is tuple:
            whole = path.perform("build_tuple", [x for x, _ in items])
            return whole, lambda gradients: path.perform("build_tuple", [form(gradients) for _, form in items])
        made = self._copied(operand, list, [x for x, _ in items])
        return made, lambda gradients: path.made(list, [form(gradients) for _, form in items])

    def _begun_object(self, operand: Operand, kind: Fresh) -> tuple[Operand, Formed]:
        """The same of an object that the program has made, of named tuples too."""
        path, held = self.path, held_by(self.path, operand)
        if held is not None and issubclass(kind.cls, tuple):
            whole, form = self.begun(held)
            new = derived_containers.made
            make = new if hasattr(kind.cls, "_make") else lambda path, cls, items: items
            return new(path, kind.cls, whole), lambda gradients: make(path, kind.cls, form(gradients))
        if kind.made in path.numbers or not is_plainly_copied(path, kind.cls, "__copy__"):
            raise Refused(f"a derivative of a function of {named(kind)}")
        begun = {name: self.begun(x) for name, x in path.members(kind.made).items()}
        made = instance(path, kind.cls)
        path.objects[made] = {name: x for name, (x, _) in begun.items()}
        self.given.append((path.objects, made, dict(path.objects[made])))
        self.hidden.append((path.objects, kind.made, path.objects[kind.made]))
        name = Constant(kind.cls.__qualname__)
        return made, lambda gradients: path.call(Constant(Tangent), [name, path.made(dict, _formed(begun, gradients))])

    def _class_of(self, operand: Operand) -> type | None:
        """The class of a list, a tuple or a dict."""
        kind = self.path.type_of(operand)
        if operand in self.path.tuples or isinstance(kind, Known) and type(kind.value) is tuple:
            return tuple
        cls = getattr(kind, "cls", None) if isinstance(kind, (Container, Tuple, Outside)) else None
        return cls if cls in (list, tuple, dict) else None

    def _copied(self, operand: Operand, cls: type, content: Any) -> Operand:
        """The list or dict that a function is given, which may reach that itself by no other name."""
        made = self.path.made(cls, content)
        contents = self.path.contents
        self.given.append((contents, made, copy.copy(content)))
        if operand in contents:
            self.hidden.append((contents, operand, contents[operand]))
        return made

    def _leaf(self, operand: Operand) -> Variable:
        """A number or an array as a value of its own."""
        path, kind = self.path, self.path.type_of(operand)
        if isinstance(kind, Known):
            general = Number(frozenset({type(kind.value)}), example=kind.value)
            leaf: Operand = path.emit("call", Constant(stopped), operand, abstract=general, data=())
        else:
            leaf = path.perform("unary", [operand], "+")
        if not isinstance(leaf, Variable) or leaf in self.params:
            raise Refused(f"a derivative of a function of {named(kind)}")
        self.params[leaf], self.inner.types[leaf] = operand, path.type_of(leaf)
        return leaf

    def followed(self, function: Operand, args: Args) -> Operand:
        """What the function gives, followed from here on."""
        path = self.path
        self.start = self.here()
        for table, key, _ in self.hidden:
            table[key] = _HIDDEN
        once, path.once = path.once, False
        try:
            found = path.call(function, args)
        finally:
            for table, key, content in self.hidden:
                table[key] = content
            self.inner.once, path.once = path.once, once or path.once
        changed = any(table[key] != content for table, key, content in self.given)
        if changed or any(path.present(leaf) is not leaf for leaf in self.params):
            raise Refused("what is differentiated changes its arguments")
        return found

    def here(self) -> tuple[int, int]:
        """How far the way has come."""
        return len(self.path.program.blocks) - 1, len(self.path.block.statements)

    def since(self, start: tuple[int, int]) -> list[Statement]:
        """The statements on the way from there."""
        blocks = self.path.program.blocks[start[0] :]
        return [*blocks[0].statements[start[1] :], *statements_of(blocks[1:])]

    def taken_out(self, value: Operand, statements: list[Statement] | None = None) -> Shape:
        """What was made of the leaves on the way to a value, as a program."""
        path, inner = self.path, self.inner
        taken = list[Statement]()
        for s in self._active(self.since(self.start) if statements is None else statements):
            plan = path.plans[s]
            used = {*s.operands, *_operands_of(plan)}
            if s.result is None or is_own([path.type_of(x) for x in used]):
                raise Refused("a derivative of what has effects")
            again = Statement(s.op, list(s.operands), s.result, s.data, s.position)
            inner.plans[again] = _copy_of(plan)
            inner.types.update({x: path.types[x] for x in (*used, s.result) if x in path.types})
            taken.append(again)
        if isinstance(value, Variable):
            inner.types[value] = path.types[value]
        inner.program.blocks = [Block([], taken, Terminator("return", [value]))]
        return prepare(inner)

    def _active(self, statements: list[Statement]) -> list[Statement]:
        """What depends on the leaves; with the arrays, made for it, that were stored into since."""
        path, made = self.path, set[Operand](self.params)
        used, active = set[Operand](), set[Statement]()
        for s in statements:
            operands = {*s.operands, *_operands_of(path.plans[s])}
            if not made.isdisjoint(operands):
                made.add(s.result)  # type: ignore[arg-type]
                active.add(s)
                used |= operands
        for s in reversed(statements):
            if s not in active and s.result in used and path.present(s.made) is not s.made:
                active.add(s)
                used |= {*s.operands, *_operands_of(path.plans[s])}
        return [s for s in statements if s in active]


def _formed(begun: Mapping[Any, tuple[Operand, Formed]], gradients: Mapping[Variable, Operand]) -> dict[Any, Operand]:
    """The gradients of items or attributes."""
    return {key: form(gradients) for key, (_, form) in begun.items()}


def _require_numbers(kind: Abstract) -> None:
    """Refuse an argument that has no derivative: what takes one says so."""
    if isinstance(kind, Known) and type(kind.value) is not tuple and number_types(kind) not in _NUMBERS:
        raise Refused(f"a derivative with respect to {named(kind)}")


def _operands_of(plan: Plan) -> Iterator[Operand]:
    """The operands that are named by a plan."""
    for value in plan.values if isinstance(plan, RulePlan) else ():
        if isinstance(value, (list, dict)):
            yield from value.values() if isinstance(value, dict) else value
        else:
            yield value


def _copy_of(plan: Plan) -> Plan:
    """A plan for a statement of another program, whose operands become others."""
    made = copy.copy(plan)
    if isinstance(made, RulePlan):
        made.values = [copy.copy(x) if isinstance(x, (list, dict)) else x for x in made.values]
    return made


class _Hidden:
    """What a list or a dict holds that is differentiated under another name."""

    def _refuse(self, *args: Any) -> NoReturn:
        raise Refused("what is differentiated has another name, by which it is read")

    __iter__ = __len__ = __getitem__ = __setitem__ = __delitem__ = __contains__ = __getattr__ = _refuse


_HIDDEN: Final = _Hidden()
