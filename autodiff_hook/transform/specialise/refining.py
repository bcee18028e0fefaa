"""What a test says of a variable: on each way that it decides about, the variable has a name and a type of its own.

``x is None``, ``x``, ``isinstance(x, C)`` and ``not`` of these. The new name is a parameter of a block on the edge, so
that neither the primal nor the adjoint needs a statement for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from autodiff_hook.ir.analysis import count_uses, definitions, dominators, predecessors, statements_of
from autodiff_hook.ir.substituting import substitute
from autodiff_hook.ir.types import (
    IR,
    Block,
    Edge,
    Operand,
    Signature,
    Statement,
    Terminator,
    Variable,
    is_nothing,
)
from autodiff_hook.records import record
from autodiff_hook.transform.specialise.abstract import MISSING, Abstract, Dict, Known, Mixed, Number, OneOf, Optional
from autodiff_hook.transform.specialise.bodies import Body, Refused
from autodiff_hook.transform.specialise.families import tag_of
from autodiff_hook.transform.specialise.instances import classes_of, isinstance_of
from autodiff_hook.transform.specialise.lattice import built_classes, codes_in, is_true, known, number_types

TypeOf = Callable[[Operand], Abstract]
NONE: Final = Known(None)


@record(frozen=True)
class Test:
    """What is asked of a variable: if it ``is`` None, its ``truth``, its ``class``, ``isinstance``, which ``one``."""

    kind: str
    variable: Variable
    holds: bool
    classes: Operand | None = None

    def refined(self, value: Abstract, type_of: TypeOf) -> Abstract:
        """What is known of the variable where the test came out as ``holds`` says."""
        if self.kind == "isinstance":
            return self._of_classes(value, type_of)
        if self.kind == "one":
            only = known(type_of(self.classes))  # type: ignore[arg-type]
            left = tuple(x for x in codes_in(value) if (x is only) == self.holds)
            return value if not left else Known(left[0]) if len(left) == 1 else OneOf(left)
        if self.kind == "class":
            only = known(type_of(self.classes))  # type: ignore[arg-type]
            return _among(value, [cls for cls in built_classes(value) if (cls is only) == self.holds])
        if not isinstance(value, Optional):
            return value
        if self.kind == "is":
            return NONE if self.holds else value.content
        if self.holds:
            return value.content
        return NONE if is_true(value.content) else value

    def _of_classes(self, value: Abstract, type_of: TypeOf) -> Abstract:
        assert self.classes is not None
        found = known(type_of(self.classes))
        if found is MISSING:
            return value

        def fits(cls: type) -> bool:
            return isinstance_of(cls, found) == self.holds

        try:
            if isinstance(value, Optional):
                content = self._of_classes(value.content, type_of)
                if not fits(type(value.absent)):
                    return content
                return value if any(map(fits, classes_of(content))) else NONE
            if isinstance(value, (Dict, Mixed)):
                return _among(value, list(filter(fits, built_classes(value))))
            types = number_types(value)
            kept = frozenset(filter(fits, types)) if types is not None and isinstance(value, Number) else frozenset()
        except Refused:
            return value
        return Number(kept, example=value.example if type(value.example) in kept else MISSING) if kept else value


def _among(value: Abstract, classes: list[type]) -> Abstract:
    """An object that is of one of these classes of its family."""
    if not classes or len(built_classes(value)) < 2:
        return value
    if isinstance(value, Mixed) and len(classes) == 1:
        return value.site.named[tag_of(classes[0])]
    return replace(value, among=frozenset(classes))  # type: ignore[call-arg]


def refine(body: Body) -> dict[Variable, Test]:
    """Give what is tested a new name on the edges of the branches; what each of the new names stands for."""
    made = definitions(statements_of(body.blocks))
    tested = {block: test.variable for block in body.blocks if (test := _test_of(block, made)) is not None}
    used = count_uses(body.blocks) if tested else {}
    branches = [block for block, variable in tested.items() if used[variable] > 1]
    return _Refining(body, made).run(branches) if branches else {}


def _test_of(block: Block, made: dict[Operand, Statement]) -> Test | None:
    """What a branch asks of which variable, if it leads to the first of its edges."""
    terminator, holds = block.terminator, True
    if terminator.kind != "branch":
        return None
    s, operand = None, terminator.operands[0]
    while isinstance(operand, Variable) and operand in made:
        s = made[operand]
        if s.op not in ("truth", "not"):
            break
        operand, holds = s.operands[0], holds == (s.op == "truth")
    if s is not None and s.op in ("is", "is_not"):
        x, other = s.operands
        if isinstance(x, Variable) and is_nothing(other):
            return Test("is", x, holds == (s.op == "is"))
        owner = _asked_for_its_class(made.get(x)) if isinstance(x, Variable) else None
        if owner is not None:
            return Test("class", owner, holds == (s.op == "is"), other)
    if s is not None and s.callee is isinstance and len(s.operands) == 3 and not s.data:
        _, x, classes = s.operands
        if isinstance(x, Variable):
            return Test("isinstance", x, holds, classes)
    return Test("truth", operand, holds) if isinstance(operand, Variable) else None


def _asked_for_its_class(s: Statement | None) -> Variable | None:
    """The variable of ``type(x)``."""
    if s is None or s.callee is not type or s.data or len(s.operands) != 2:
        return None
    x = s.operands[1]
    return x if isinstance(x, Variable) else None


class _Refining:
    def __init__(self, body: Body, made: dict[Operand, Statement]) -> None:
        self.body, self.made = body, made
        ir = IR("", Signature(), blocks=body.blocks)
        self.incoming = predecessors(ir)
        self.below: dict[Block, list[Block]] = {block: [] for block in body.blocks}
        for block, above in dominators(ir).items():
            if block is not above:
                self.below[above].append(block)
        self.names: dict[Variable, Test] = {}

    def run(self, branches: list[Block]) -> dict[Variable, Test]:
        """Refine what the branches ask, which may be of a name that another test has given."""
        for block in branches:
            test = _test_of(block, self.made)
            assert test is not None
            for edge, holds in zip(block.terminator.edges, (test.holds, not test.holds)):
                self._refine(block, edge, test, holds)
        return self.names

    def _refine(self, block: Block, edge: Edge, test: Test, holds: bool) -> None:
        variable, target = test.variable, edge.target
        alone = len(self.incoming[target]) == 1
        region = self._region(target) if alone else []
        if variable not in edge.args and not any(_uses_it(b, variable) for b in region):
            return
        name = Variable(variable.name)
        self.names[name] = Test(test.kind, variable, holds, test.classes)
        substitute(region, {variable: name})
        args: list[Operand] = [name if x is variable else x for x in edge.args]
        middle = Block([name], [], Terminator("jump", [], [Edge(target, args)]))
        edge.target, edge.args = middle, [variable]
        self.body.blocks.append(middle)
        self.below[block].append(middle)
        self.below[middle] = [target] if alone else []
        if alone:
            self.below[block].remove(target)

    def _region(self, first: Block) -> list[Block]:
        """The blocks that are only come to by way of ``first``."""
        found = [first]
        for block in found:
            found += self.below[block]
        return found


def _uses_it(block: Block, variable: Variable) -> bool:
    return (
        any(variable in s.operands for s in block.statements)
        or variable in block.terminator.operands
        or any(variable in edge.args for edge in block.edges())
    )
