"""Printing, warnings and loggers: what they say is put together where they say it, and said at the end."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Collection, Iterable
from types import BuiltinMethodType
from typing import Any, Final

from autodiff_hook.errors import LIBRARIES
from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.runtime.saying import Place, Said, asked, flushed, logged, printed, say, silent, warned, written
from autodiff_hook.transform.specialise import exceptions, lists
from autodiff_hook.transform.specialise.abstract import BOOL, Abstract, Instance, Known, List, Outside, Site
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import inert_class
from autodiff_hook.transform.specialise.plans import alias, is_hashable, known_as, pure, require_inert
from autodiff_hook.transform.specialise.program import ITEMS
from autodiff_hook.transform.specialise.wording import named

_TOLD: Final[dict[Any, Any]] = {print: printed, warnings.warn: warned}
_STREAMS: Final[dict[Any, Any]] = {
    **{cls.write: written for cls in (io.TextIOWrapper, io.StringIO)},
    **dict.fromkeys((io.TextIOWrapper.flush, io.StringIO.flush), flushed),
}
_LEVELS: Final[dict[Any, int]] = {
    getattr(logging.Logger, logging.getLevelName(level).lower()): level for level in (10, 20, 30, 40, 50)
}
_OURS: Final[dict[Any, Abstract]] = {
    **dict.fromkeys((printed, written, flushed, warned, logged), Instance(Said, example=Said(None, ()))),
    asked: BOOL,
    silent: Known(None),
}
"""What stands in the place of such calls, and what it gives."""


def said(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """A call that says something, or asks whether a logger would; None if it is another one."""
    if not is_hashable(function):
        return None
    if function in _OURS:
        require_inert(*(inf.type_of(x) for x in _shown(inf, function, args, kwargs)))
        return pure(inf, s, _OURS[function])
    if type(function) is BuiltinMethodType and isinstance(function.__self__, io.TextIOBase):
        function, args = getattr(type(function.__self__), function.__name__), [Constant(function.__self__), *args]
    told: Any
    if function is logging.getLogger and not kwargs:
        return _logger(inf, s, [inf.type_of(x) for x in args])
    if function is logging.Logger.isEnabledFor and not kwargs:
        return _instead(inf, s, asked, args)
    if function is logging.Logger.log and len(args) > 2:
        told, given = logged, [args[1], args[0], *args[2:]]
    elif function in _LEVELS and args:
        told, given = logged, [Constant(_LEVELS[function]), *args]
    elif function in _TOLD:
        told, given = _TOLD[function], args
    elif function in _STREAMS and not kwargs:
        told, given = _STREAMS[function], args
        if len(args) != 1 + (told is written) or any(inert_class(inf.type_of(x)) is not str for x in args[1:]):
            raise Refused(f"a call of {named(function)}, of what is no text")
    else:
        return None
    if told is logged and not (inf.outer.acts and _can_show(inf, given[2:])):
        return _instead(inf, s, silent, given[1::-1])
    if not inf.outer.acts:
        raise Refused(f"a call of {named(function)}, which has effects")
    given = [inf.frozen(x) if inf.one_way else exceptions.shown(inf, s, x) for x in given]
    text = inf.before(s, "call", [Constant(told), _place(inf, s), *given, *kwargs.values()], tuple(kwargs))
    if inf.one_way:
        inf.said.append(text)
    else:
        _put_into_queue(inf, s, text)
    return _instead(inf, s, len, args[1:]) if told is written else known_as(inf, s, None)


def _can_show(inf: Inference, operands: list[Operand]) -> bool:
    """Whether texts of values can be made; where a program for all ways cannot, one way is tried."""
    try:
        require_inert(*(inf.type_of(inf.frozen(x)) for x in operands if inf.one_way))
    except Refused:
        return False
    return True


def _logger(inf: Inference, s: Statement, names: list[Abstract]) -> Abstract | None:
    """A logger by its name, which is where loggers are kept."""
    name = names[0].value if len(names) == 1 and isinstance(names[0], Known) else None
    kept = logging.Logger.manager.loggerDict
    if type(name) is not str or logging.getLogger(name) is not kept.get(name):
        return None
    return alias(inf, s, inf.world.part(Constant(kept), kept, name, True))


def _put_into_queue(inf: Inference, s: Statement, text: Operand) -> None:
    """Loops say more than once."""
    if inf.queue is None:
        inf.queue = Variable("said")
        inf.types[inf.queue] = List(Site(), example=[])
    lists.extend(inf, s, inf.queue, [text])


def _instead(inf: Inference, s: Statement, function: Any, args: Args) -> Abstract | None:
    s.op, s.operands, s.data = "call", [Constant(function), *args], ()
    return inf.evaluate(inf, s)


def _shown(inf: Inference, function: Any, args: Args, kwargs: Kwargs) -> list[Operand]:
    """What is asked for its text, unlike streams and loggers, of which nothing can be seen before the end."""
    tools: dict[Any, list[Any]] = {
        **{printed: [kwargs.get("file")], logged: args[2:3]},
        **dict.fromkeys((written, flushed), args[:2]),
    }
    return [
        x
        for x in (*args, *kwargs.values())
        if x not in tools.get(function, args[:1]) or not isinstance(inf.type_of(x), Outside)
    ]


def _place(inf: Inference, s: Statement) -> Operand:
    code, line = inf.code_here, s.position.line if s.position is not None else None
    return Constant(Place(code.co_filename, line or 0, code.co_name, inf.globals_here))


def puts_together(s: Statement) -> bool:
    """Whether a statement stands for a call that says something."""
    return is_hashable(s.callee) and s.callee in _OURS


def settle(inf: Inference, changing: Collection[Any]) -> list[Statement]:
    """What says it all at the end; the list of it is made where the program begins.

    What it is told by is no part of what the program changes: ``changing`` lists, and what it assigns attributes to.
    """
    if inf.queue is None:
        return []
    require_apart(changing, [x.example for x in inf.outer.holders.values()])
    make = Statement("build_list", [], inf.queue)
    inf.plans[make] = ITEMS
    inf.outer.first.statements.insert(0, make)
    return [Statement("call", [Constant(say), inf.queue], None, ())]


def require_apart(changing: Collection[Any], assigned: Iterable[Any]) -> None:
    """Refuse a program that says something and changes what it is told by."""
    loggers = [x for x in logging.Logger.manager.loggerDict.values() if isinstance(x, logging.Logger)]
    tools = [warnings.filters, *(x for logger in (logging.root, *loggers) for x in (logger.handlers, logger.filters))]
    if any(x is value for x in tools for value in changing) or any(map(_is_tool, assigned)):
        raise Refused("something is said, and where it is said to is changed")


def _is_tool(example: Any) -> bool:
    """Whether something is of the standard library, or holds the names of one of its modules."""
    home = example.get("__name__") if type(example) is dict else type(example).__module__
    return str(home).partition(".")[0] in LIBRARIES - {"builtins"}
