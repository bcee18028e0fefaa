"""Calls of classes: an object is made, and ``__init__`` called behind it."""

from __future__ import annotations

import functools
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.semantics.equivalents import operating
from autodiff_hook.transform.specialise import dicts, exceptions
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh, Known
from autodiff_hook.transform.specialise.bodies import Refused, lifted
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.objects import is_made_plainly, look, remembered
from autodiff_hook.transform.specialise.places import default_of
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS
from autodiff_hook.transform.specialise.wording import named


def construct(inf: Inference, s: Statement, cls: type, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``type.__call__(cls, …)``: make an object by ``__new__``, and call ``__init__`` behind it."""
    error = exceptions.is_exception(inf, cls)
    if s.result is None:
        raise Refused(f"a call of {named(cls)}")
    new, init = look(inf, cls, "__new__"), look(inf, cls, "__init__")
    new = new.__func__ if issubclass(type(new), staticmethod) else new
    if cls is SimpleNamespace and not args:
        return _namespace(inf, s, kwargs)
    if error:
        exceptions.begin(inf, s, s.result, args)
        if init in exceptions.INITIALISERS and not kwargs:
            inf.leave_nothing(s)
            return Fresh(cls, s.result)
    elif new is object.__new__ and is_made_plainly(inf, cls):
        if init is object.__init__ and not (args or kwargs):
            return _object(new, inf, s, [Constant(cls)])
    elif type(new) is FunctionType:
        own = None if init is object.__init__ else init
        return inline_call(inf, s, operating.made, [Constant(cls), Constant(new), Constant(own), *args], kwargs)
    if type(init) is not FunctionType or not inf.world.in_scope(init):
        raise Refused(f"a call of {named(cls)}")
    begin: list[Operand] = [Constant(init), s.result]
    if not _returns_nothing(init.__code__):
        begin = [Constant(operating.initialise), s.result, Constant(init)]
    start = Statement("call", [*begin, *args, *kwargs.values()], None, tuple(kwargs), s.position)
    inf.block.statements.insert(inf.index + 1, start)
    return _object(new, inf, s, [Constant(cls)])


def _returns_nothing(code: CodeType) -> bool:
    """Whether all that a function returns is the constant None."""
    returns = (b.terminator for b in lifted(code).blocks if b.terminator.kind == "return")
    return all(isinstance(x, Constant) and x.value is None for end in returns for x in end.operands)


def _object(new: Any, inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``object.__new__(cls)``."""
    cls = inf.type_of(args[0]) if len(args) == 1 else None
    if s.result is None or not isinstance(cls, Known) or not isinstance(cls.value, type):
        return None
    if not (is_made_plainly if new is object.__new__ else exceptions.is_exception)(inf, cls.value):
        raise Refused(f"an object of {named(cls.value)}")
    s.op, s.operands, s.data = "call", [Constant(new), *args], ()
    if s not in inf.checked:
        inf.checked.add(s)
        begun: dict[str, Operand] = dict.fromkeys(remembered(cls.value), Constant(None))
        for name in sorted(x[2] for x in inf.program.changed if type(x) is tuple and x == default_of(cls.value, x[-1])):
            begun[name] = inf.world.part(Constant(cls.value), cls.value, name, False)
        _assign(inf, s, begun)
    return _blank(inf, s, cls.value)


def _namespace(inf: Inference, s: Statement, attributes: dict[str, Operand]) -> Abstract:
    """``SimpleNamespace(a=x, b=y)``."""
    s.op, s.operands, s.data = "call", [Constant(object.__new__), Constant(SimpleNamespace)], ()
    inf.checked.add(s)
    _assign(inf, s, attributes)
    return _blank(inf, s, SimpleNamespace)


def _assign(inf: Inference, s: Statement, attributes: dict[str, Operand]) -> None:
    """Assign attributes to an object behind the statement that makes it."""
    stores = [Statement("setattr", [s.made, x], None, name, s.position) for name, x in attributes.items()]
    inf.block.statements[inf.index + 1 : inf.index + 1] = stores


def _blank(inf: Inference, s: Statement, cls: type) -> Abstract:
    """A new object without attributes."""
    made = dicts.built(inf, s, cls)
    if made is not None:
        return made
    inf.leave_nothing(s)
    dicts.record(inf, cls, s.made)
    return Fresh(cls, s.made)


OF_ALL_WAYS.update({new: functools.partial(_object, new) for new in (object.__new__, *exceptions.MAKERS)})
