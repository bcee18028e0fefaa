"""Copies of function bodies, ready to become a part of another function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import _HAS_DEFAULT_FACTORY  # type: ignore[attr-defined]
from types import CodeType, FunctionType, UnionType
from typing import Any, Final

import numpy as np

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.analysis import closure, statements_of, successors
from autodiff_hook.ir.substituting import copy_blocks, substitute
from autodiff_hook.ir.types import IR, Args, Block, Constant, Kwargs, Operand, Position, Statement, Variable, value_of
from autodiff_hook.lift.lifting import shared
from autodiff_hook.records import record
from autodiff_hook.reports import Reason

Code = Callable[..., Any]
"""A definition in Python that is followed in the place of a call."""


class Refused(Exception):
    """A program that is not specialised but carried; the message says why, and at which line."""

    def __init__(self, message: str, statement: Statement | None = None) -> None:
        super().__init__(message)
        self.statement = statement
        self.place: tuple[str, int | None] | None = None
        self.around: Position | None = None
        self.seconds = 0.0
        """What was spent until that was known."""

    @property
    def reason(self) -> Reason:
        """Why, and where."""
        filename, line = self.place or (None, None)
        return Reason(self.args[0], filename, line, around=self.around)

    def __str__(self) -> str:
        return str(self.reason)

    def is_of_whole(self, changed: frozenset[Any]) -> bool:
        """Whether more than the way on from a statement cannot be followed, if so much is known to be changed."""
        return False

    def at(self, filename: str, position: Position | None) -> None:
        """Where it is, unless a place further inside is known."""
        if self.place is None and position is not None:
            self.place = filename, position.line


def refused_for(reasons: Sequence[Reason]) -> Refused:
    """The refusal for several reasons, at the place of the first."""
    first, *others = reasons
    refused = Refused("; ".join((first.text, *map(str, others))))
    refused.place, refused.around = None if first.filename is None else (first.filename, first.line), first.around
    return refused


class Unfit(Refused):
    """A call whose arguments do not fit to the parameters of the ``code``; of builtin code that has none, None."""

    def __init__(self, message: str, code: CodeType | None) -> None:
        super().__init__(message)
        self.code = code


class Changes(Refused):
    """What the program makes is changed: the program is to be followed again, with ``places`` known to be changed.

    The place of a list or a dict is where it is written; that of an attribute is its class and name.
    """

    def __init__(self, message: str, *places: Any) -> None:
        super().__init__(message)
        self.places = frozenset(places)

    def is_of_whole(self, changed: frozenset[Any]) -> bool:
        return not self.places <= changed


class Rebuilt(Refused):
    """What was to be done before a statement is more than one operation, and has taken the place of the statement."""

    def is_of_whole(self, changed: frozenset[Any]) -> bool:
        return True


@record
class Body:
    """A copy of a function's blocks, with variables of its own."""

    blocks: list[Block]
    params: list[Variable]
    frees: list[Variable]

    def size(self) -> int:
        """How many statements it has."""
        return sum(1 + sum(s.op != "global" for s in block.statements) for block in self.blocks)


def lifted(code: CodeType, generators: bool = False) -> IR:
    """The IR of a code object that can be copied into another; never changed."""
    ir = shared(code)
    if isinstance(ir, Unsupported):
        raise Refused(str(ir)) from ir
    if ir.kind != ("generator" if generators else "function"):
        raise Refused(f"{code.co_qualname} is a {ir.kind}")
    return ir


_CHANGES: Final = frozenset(
    {"call", "call_method", "call_loaded", "call_ex", "exit_call", "setattr", "setitem", "cell_set", "store_global"}
)


def cleans_up(ir: IR) -> bool:
    """Whether a generator that is given up may have something left to do."""

    def following(block: Block) -> list[Block]:
        # Where ``yield from`` is given up, its exception goes on.
        return [] if any(s.op == "cleanup_throw" for s in block.statements) else successors(block)

    cleaning = closure([b.handler.target for b in ir.blocks if b.handler is not None], following)
    return any(s.op in _CHANGES for s in statements_of(cleaning))


Load = Callable[[str], Operand | None]


def copied(ir: IR, load: Load, handlers: bool = False) -> Body:
    """A copy of ``ir``; globals that ``load`` knows are replaced by operands.

    A program that raises is run again as it is carried, so nothing is lost without the exception edges (``handlers``).
    """
    reachable = _reachable(ir, handlers)
    names: dict[Operand, Operand] = {}
    for s in [s for s in statements_of(reachable) if s.op == "global"]:
        known = load(str(s.data))
        if known is not None:
            names[s.made] = known
    return _body(ir, reachable, names, handlers)


def foreseen(ir: IR, load: Load, handlers: bool) -> tuple[Body, dict[Statement, Constant]]:
    """A copy where globals stand for what they are now, given by what loads them where that is come to."""
    body = _body(ir, _reachable(ir, handlers), {}, handlers)
    found = {s: load(str(s.data)) for s in statements_of(body.blocks) if s.op == "global"}
    known = {s: x for s, x in found.items() if isinstance(x, Constant)}
    substitute(body.blocks, {s.made: x for s, x in known.items()})
    return body, known


def _reachable(ir: IR, handlers: bool) -> list[Block]:
    found = closure([ir.entry], successors if handlers else _going_on)
    return [block for block in ir.blocks if block in found]


def _body(ir: IR, reachable: list[Block], names: dict[Operand, Operand], handlers: bool) -> Body:
    copies = copy_blocks(reachable, names)
    for new in copies.values():
        new.handler = new.handler if handlers else None
        _write_displays(new)
    params, count = copies[ir.entry].params, len(ir.signature.names)
    return Body([*copies.values()], params[:count], params[count:])


def _going_on(block: Block) -> list[Block]:
    return [edge.target for edge in block.terminator.edges]


def _write_displays(block: Block) -> None:
    """A list of constants is begun, and extended by a tuple: it is written out."""
    kept: list[Statement] = []
    for s in block.statements:
        constants = value_of(s.operands[1]) if s.op == "list_extend" else NotImplemented
        begun = kept[-1] if kept and type(constants) is tuple else None
        if begun is None or begun.op != "build_list" or begun.operands or begun.result is not s.operands[0]:
            kept.append(s)
        else:
            begun.operands = list(map(Constant, constants))
    block.statements = kept


@record(eq=False)
class Rest(Variable):
    """The further positional arguments of a call, of whatever number: ``items`` is a tuple of them."""

    items: Any = None


@record
class Parameters:
    """How a call binds: for each parameter an operand, the operands of ``*args``, or those of ``**kwargs``."""

    values: list[Operand | list[Operand] | dict[str, Operand]]


def bind(
    code: CodeType,
    args: Args,
    kwargs: Kwargs,
    defaults: tuple[Any, ...],
    keyword: Any,
    load: Callable[[Any, Any], Operand],
) -> Parameters:
    """The parameters of a call; ``Refused`` if the call does not fit, which the plain call will say better.

    ``load(defaults, place)`` is the operand of a default value that is used.
    """
    positional, keyword_only = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames[: positional + keyword_only]
    rest, further, spread = dict(kwargs), args[positional:], [x for x in args if isinstance(x, Rest)]
    if spread and not (further == spread and code.co_flags & 4):
        raise Refused(f"a call of {code.co_qualname} with *args of any number")
    values: list[Operand | list[Operand] | dict[str, Operand]] = []
    for index, name in enumerate(names):
        place = index - positional + len(defaults)
        by_name = name in rest and index >= code.co_posonlyargcount
        if index < min(positional, len(args)):
            if by_name:
                raise Unfit(f"a call of {code.co_qualname} that gives {name} twice", code)
            values.append(args[index])
        elif by_name:
            values.append(rest.pop(name))
        elif index < positional and place >= 0:
            values.append(load(defaults, place))
        elif index >= positional and keyword and name in keyword:
            values.append(load(keyword, name))
        else:
            raise Unfit(f"a call of {code.co_qualname} that does not fit", code)
    if code.co_flags & 4:
        values.append(spread[0].items if spread else list(further))
    elif len(args) > positional:
        raise Unfit(f"a call of {code.co_qualname} with too many arguments", code)
    if code.co_flags & 8:
        values.append(rest)
    elif rest:
        raise Unfit(f"a call of {code.co_qualname} with unknown keywords", code)
    return Parameters(values)


_PLAIN: Final = (int, float, str, bytes, bool, type(None), FunctionType, type, UnionType)
_MARKS: Final = (object, type(Ellipsis), type(np._NoValue), type(_HAS_DEFAULT_FACTORY))
"""What stands for an argument that is not given, and has nothing but its identity."""


def is_plain(value: Any) -> bool:
    """Whether a value may stand in generated code: it cannot change, and holds no data of size."""
    if isinstance(value, _PLAIN) or callable(value) or type(value) in _MARKS:
        return True
    return type(value) is tuple and all(map(is_plain, value))


def made_before(defaults: Any, place: Any) -> Operand:
    """The operand of a default value that the program has made."""
    found: Operand = defaults[place]
    return found


def constant_default(defaults: Any, place: Any) -> Operand:
    """A default value that is a constant, as those of rules are."""
    return Constant(defaults[place])
