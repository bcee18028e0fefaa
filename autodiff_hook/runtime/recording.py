"""What a program has asked of the process, kept so that it can be asked again for another program.

A function that has a program of its own is called from others; what it loads from outside is loaded, and guarded, on
the entry of each of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from autodiff_hook.ir.types import Constant, Operand, Variable
from autodiff_hook.transform.specialise.abstract import Abstract, Known, Outside
from autodiff_hook.transform.specialise.assigned import holder_of, may_assign
from autodiff_hook.transform.specialise.bodies import Load, Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import anonymous, example_of, sites_in

_OF_EXAMPLES: Final = frozenset({"part", "length", "holds", "has", "method", "record"})
"""The questions about an object, whose second argument is an example of it."""


class Question(NamedTuple):
    """A question, and what was answered: an operand of the asking program, or anything else."""

    name: str
    args: tuple[Any, ...]
    answer: Any
    kind: Abstract | None = None
    """What is known of a variable that was loaded."""


class Recorded:
    """The ``World`` of a program that is called from another, whose own world is asked."""

    changing: Final[dict[Variable, Any]] = {}
    """Nothing is copied on entry that the program changes."""

    def __init__(
        self, outer: Inference, given: dict[Variable, Operand], types: dict[Variable, Abstract], shares: bool
    ) -> None:
        self._outer, self._types, self._shares = outer, types, shares
        self._outside = dict[Operand, Operand](given.items())
        self._own: dict[Operand, Variable] = {}
        self._asked: dict[tuple[Any, ...], Question] = {}

    @property
    def questions(self) -> list[Question]:
        """All that was asked, in its order."""
        return list(self._asked.values())

    @property
    def loaded(self) -> list[Variable]:
        """What was loaded."""
        return list(self._own.values())

    def foresee(self, globals_: dict[str, Any]) -> Load:
        """What globals are now, which is asked when they are loaded."""
        return self._outer.world.foresee(globals_)

    def load(self, globals_: dict[str, Any]) -> Load:
        """How code with these globals loads a global name."""
        return partial(self._ask, "load", globals_)

    def is_outside(self, operand: Operand) -> bool:
        """Whether an operand is loaded on entry."""
        return operand in self._outside

    def may_assign(self) -> bool:
        """Whether the program around assigns something outside at its end."""
        return may_assign(self._outer)

    def attribute_kind(self, examples: list[Any], name: str) -> Abstract | None:
        """What is known of an attribute of objects like these, which is no question about the process."""
        return self._outer.world.attribute_kind(examples, name)

    def __getattr__(self, name: str) -> Any:
        return partial(self._ask, name)

    def _ask(self, name: str, *args: Any) -> Any:
        key = name, *map(_known_as, args)
        if key not in self._asked:
            answer = _asked(self._outer, name, [self._outward(x) for x in args])
            kind = None
            if isinstance(answer, Variable):
                answer, kind = self._inward(answer)
            if name in _OF_EXAMPLES and isinstance(args[0], Variable):
                args = (args[0], None, *args[2:])
            self._asked[key] = Question(name, args, answer, kind)
        return self._asked[key].answer

    def _outward(self, x: Any) -> Any:
        if not isinstance(x, Variable):
            return x
        if x not in self._outside:
            raise Refused("a part of an object that is not known on entry")
        return self._outside[x]

    def _inward(self, loaded: Variable) -> tuple[Variable, Abstract]:
        kind = anonymous(self._outer.type_of(loaded))
        if sites_in(kind) and not self._shares:
            raise Refused("lists, dicts and objects from outside are read where the program is")
        if loaded not in self._own:
            own = self._own[loaded] = Variable(loaded.name)
            self._outside[own] = loaded
            self._types[own] = replace(kind, at=own) if isinstance(kind, Outside) else kind
        return self._own[loaded], kind


def asked_again(
    questions: Iterable[Question], outer: Inference, given: dict[Variable, Operand]
) -> dict[Variable, Operand] | None:
    """What is loaded for another program, if all answers are the same; ``given`` are the operands of the call."""
    found = dict(given)
    for question in questions:
        args = [found.get(x, x) if isinstance(x, Variable) else x for x in question.args]
        if question.name in _OF_EXAMPLES and isinstance(question.args[0], Variable):
            args[1] = example_of(outer.type_of(args[0]))
        try:
            answer = _asked(outer, question.name, args)
        except Refused:
            return None
        if isinstance(question.answer, Variable):
            if not isinstance(answer, Variable) or anonymous(outer.type_of(answer)) != question.kind:
                return None
            found[question.answer] = answer
        elif not _is_same(answer, question.answer):
            return None
    return found


def _asked(outer: Inference, name: str, args: list[Any]) -> Any:
    if name == "load":
        globals_, variable = args
        return outer.world.load(globals_)(variable)
    if name == "record":
        at, example = args
        return holder_of(outer, example, at).record
    return getattr(outer.world, name)(*args)


def _known_as(x: Any) -> Any:
    """What is the same of arguments of a question that is asked twice."""
    return x if isinstance(x, str) else id(x.value if isinstance(x, Constant) else x)


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, Constant) and isinstance(b, Constant):
        a, b = a.value, b.value
    return Known(a) == Known(b)
