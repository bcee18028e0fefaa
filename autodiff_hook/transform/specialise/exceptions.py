"""Exceptions that the program makes: objects that hold what they are made with, and what is assigned to them."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh, Instance, Known, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.objects import lookup, read, written
from autodiff_hook.transform.specialise.plans import known_as, pure, require_inert, spread
from autodiff_hook.transform.specialise.raising import classes_of_clause, kind_of

_BY_ARGUMENTS: Final = (
    *(BaseException, Exception, ArithmeticError, AssertionError, AttributeError, FloatingPointError, IndexError),
    *(KeyError, LookupError, NameError, NotImplementedError, OverflowError, RecursionError, RuntimeError),
    *(StopIteration, TypeError, ValueError, ZeroDivisionError),
)
"""Builtin classes whose exceptions hold nothing but what they were made with."""


def is_exception(inf: Inference, cls: type) -> bool:
    """Whether a class is one of exceptions that hold what they were made with, and what is assigned to them."""
    if inf.one_way or not issubclass(cls, BaseException) or type(cls) is not type:
        return False
    inf.world.members(cls)
    plain = all(base in _BY_ARGUMENTS for base in cls.__mro__[:-1] if base.__module__ == "builtins")
    new, init = lookup(cls, "__new__"), lookup(cls, "__init__")
    plain = plain and getattr(new, "__self__", None) in _BY_ARGUMENTS
    written = type(init) is FunctionType or getattr(init, "__objclass__", None) in _BY_ARGUMENTS
    return plain and written and lookup(cls, "__del__") is None


def begin(inf: Inference, s: Statement, made: Variable, args: Args) -> None:
    """Let a new exception hold what it is made with, before the statement at hand."""
    if (made, "args") not in inf.fields:
        _hold(inf, s, made, args)


def initialise(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``super().__init__(…)`` of an exception."""
    target = inf.type_of(args[0]) if args else None
    if not isinstance(target, Fresh) or not issubclass(target.cls, BaseException):
        return None
    _hold(inf, s, target.made, args[1:])
    return known_as(inf, s, None)


def _hold(inf: Inference, s: Statement, made: Variable, args: Args) -> None:
    items = Statement("build_tuple", args, Variable("args"), None, s.position)
    found = inf.evaluate(inf, items)
    assert found is not None
    inf.insert(items, found)
    inf.fields[made, "args"] = items.made, items


MAKERS: Final = [cls.__new__ for cls in _BY_ARGUMENTS if "__new__" in cls.__dict__]
INITIALISERS: Final = {cls.__init__: initialise for cls in _BY_ARGUMENTS if "__init__" in cls.__dict__}


def shown(inf: Inference, s: Statement, operand: Operand) -> Operand:
    """What is shown of an operand in its place: an exception is built, with what it was made with."""
    kind = inf.type_of(operand)
    if isinstance(kind, Tuple) and kind.cls is tuple and any(kind_of(x) is not None for x in kind.items):
        return inf.before(s, "build_tuple", [shown(inf, s, x) for x in spread(inf, operand)])
    if not isinstance(kind, Fresh) or kind_of(kind) is None:
        return operand
    if any(written(inf, kind.cls, name) for name in ("__str__", "__repr__", "__format__")):
        raise Refused(f"{kind.cls.__qualname__} says itself what it shows")
    how, args = read(inf, s, kind, "args")
    if how != "field":
        raise Refused("the arguments of an exception are assigned again")
    return inf.before(s, "call", [Constant(built), Constant(kind.cls), args], ())


def built(cls: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    """An exception as it would be raised, of which nothing but ``args`` is shown."""
    made = cls.__new__(cls)
    made.args = args
    return made


def known_as_built(inf: Inference, s: Statement, args: Args) -> Abstract:
    """What is known of it."""
    cls, held = map(inf.type_of, args)
    require_inert(held)
    assert isinstance(cls, Known)
    return pure(inf, s, Instance(cls.value, example=cls.value.__new__(cls.value)))


def matches(inf: Inference, s: Statement) -> Abstract:
    """Whether an exception is one of the class, or classes, of a clause."""
    cls, classes = kind_of(inf.type_of(s.operands[0])), classes_of_clause(inf, s.operands[1])
    if cls is None or classes is None:
        raise Refused("a handler for what is not known")
    return known_as(inf, s, issubclass(cls, classes))


def passed(inf: Inference, s: Statement) -> Abstract:
    """Nobody asks which exception is being handled."""
    return known_as(inf, s, None)
