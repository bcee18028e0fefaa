"""The intermediate representation: SSA with block arguments.

Grammar of the printed form (``printer.py`` writes it, golden tests compare it)::

    ir         ::= "function" NAME "(" parameter* ")" [kind] block+
    block      ::= "b" NUMBER "(" variable* ")" ["handler" edge] ":" statement* terminator
    statement  ::= [variable "="] OP ["[" data "]"] operand*
    terminator ::= "jump" edge
                 | "branch" operand edge edge          taken if the exact bool is true, else the second
                 | "next" operand edge edge            item available (first parameter) / exhausted
                 | "send" operand operand edge edge    yielded (first parameter) / returned (first parameter)
                 | "return" operand
                 | "raise" [operand [operand]]         exception, cause; none: re-raise the current one
                 | "reraise" operand operand           exception, lasti
    edge       ::= "b" NUMBER "(" operand* ")"
    operand    ::= variable | constant
    variable   ::= "%" NUMBER

Every variable is assigned once: by a statement or as a parameter of a block. An edge binds the
parameters of its target. The parameters of the entry block are the function's parameters in the
order of ``co_varnames`` followed by one cell for each free variable.

Exceptions. A block with a ``handler`` edge contains at most one statement that may raise; it is the
last one (or the terminator is what may raise). The first two parameters of a handler block are the
exception and ``lasti``; the edge binds the rest with values from *before* the raising statement.

Operations (operands → result; ``data`` in brackets) speak of Python semantics, not of opcodes:

==================  ===========================================================================
names               global[name], store_global[name] v, delete_global[name],
                    check[name] v → v (UnboundLocalError if v is UNBOUND)
class bodies        name_get[name] mapping → v (there, a global or a builtin), name_del[name] mapping,
                    name_or_cell_get[name] mapping cell → v, setup_annotations mapping
cells               make_cell v → cell (v may be UNBOUND), cell_get[name] c, cell_set[name] c v,
                    cell_del[name] c
attributes, items   getattr[name] o, setattr[name] o v, delattr[name] o,
                    getitem o k, setitem o k v, delitem o k
operators           unary[op] x (op: - + ~), not x, truth x → exact bool, binary[op] a b,
                    inplace[op] a b (op without "="), compare[op] a b, is a b, is_not a b,
                    in a container, not_in a container
calls               call[kwnames] f *args, call_method[name, kwnames] o *args (kwnames name the
                    trailing arguments), call_ex f args_tuple kwargs_or_None; where the arguments may
                    have effects, load_method[name] o → m before them, call_loaded[kwnames] m *args behind
containers          build_tuple, build_list, build_set *items, build_map k v k v …,
                    build_slice start stop [step], build_string *pieces,
                    list_append l v, set_add s v, map_add d k v, list_extend l it, set_update s it,
                    dict_update d m, dict_merge d m f (duplicate keys are an error of calling f),
                    list_to_tuple l
unpacking           unpack[before, after] seq → tuple: exactly ``before`` items if after is None, else
                    before items, a list of the rest, ``after`` items; project[i] t → t[i], t an
                    exact tuple made by an operation of this table
formatting          format[conversion] v [spec] (conversion: "", "s", "r", "a")
iteration           get_iter[started] x (started: x comes from another get_iter, or is a generator),
                    get_len x → the length, x stays
functions           make_function[code] defaults kwdefaults annotations closure annotate (constants None
                    if absent; annotations, closure: tuples; annotate: the function of PEP 649),
                    build_class_function → __build_class__
imports             import_name[name] level fromlist, import_from[name] module
exceptions          push_exc e → previous (e becomes the handled one), pop_exc previous,
                    exc_match e type → bool, eg_match e type → (rest, match),
                    prep_reraise_star original list → exception or None
with                enter m → (exit, value), exit_call exit e → result of exit(type, e, traceback)
generators          yield[suspend] v → sent, yield_from_iter x → iterator,
                    cleanup_throw receiver last e → (none, value)
                    (suspend: opaque oparg data of the version, None in generated code)
matching            match_mapping x → bool, match_sequence x → bool, match_keys x keys → tuple or
                    None, match_class[count] x type names → tuple or None
async               awaitable[where] x, aiter x, anext x → awaitable, end_async_for iterator e,
                    enter_async m → (exit, awaitable)
cuts                resume value → cotangent: where a joint program is to be cut in two; never emitted
intrinsics          intrinsic[number] *operands (CPython's CALL_INTRINSIC_1/2, what has no name above)
==================  ===========================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Final, Literal, NamedTuple

from autodiff_hook.records import record


class Position(NamedTuple):
    """Where in the user's file something comes from (as ``co_positions`` gives it)."""

    line: int | None
    end_line: int | None
    column: int | None
    end_column: int | None


class _Unbound:
    """The value of a local variable that has none."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNBOUND"

    def __reduce__(self) -> str:
        return "UNBOUND"


UNBOUND: Final = _Unbound()


@record(eq=False)
class Variable:
    """An SSA value. ``name`` is the user's name for it, if it has one; it is only for reading."""

    name: str | None = None

    def __repr__(self) -> str:
        return f"%{self.name or hex(id(self))}"


@record(eq=False)
class Constant:
    """An operand known when the code is made; any Python object, kept by identity."""

    value: Any

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


Operand = Variable | Constant
Args = list[Operand]
"""The arguments of a call by place."""
Kwargs = dict[str, Operand]
"""The arguments of a call by name."""


def value_of(operand: Operand) -> Any:
    """The value of a constant; ``NotImplemented`` for a variable."""
    return operand.value if isinstance(operand, Constant) else NotImplemented


def is_nothing(operand: Operand) -> bool:
    """Whether an operand is the constant None."""
    return isinstance(operand, Constant) and operand.value is None


@record(eq=False)
class Statement:
    """One operation. ``data`` is what the operation's row of the table above shows in brackets."""

    op: str
    operands: list[Operand]
    result: Variable | None = None
    data: Any = None
    position: Position | None = None

    @property
    def made(self) -> Variable:
        """The result of a statement that has one."""
        assert self.result is not None
        return self.result

    @property
    def callee(self) -> Any:
        """What a call calls, if that is known when the code is made; None for other statements."""
        return self.operands[0].value if self.op == "call" and isinstance(self.operands[0], Constant) else None

    @property
    def arguments(self) -> list[Operand]:
        """What a statement computes with: the operands, without what it calls."""
        return self.operands[1:] if self.op == "call" else self.operands


@record(eq=False)
class Edge:
    """A transition to ``target``; ``args`` bind its parameters (after those it receives by itself)."""

    target: Block
    args: list[Operand] = field(default_factory=list)

    def bound(self) -> Iterator[tuple[Variable, Operand]]:
        """What the arguments bind, with these: the parameters of the target but those that it receives."""
        params = self.target.params
        return zip(params[len(params) - len(self.args) :], self.args)


TerminatorKind = Literal["jump", "branch", "next", "send", "return", "raise", "reraise", "open"]
"""How blocks end; ``open``: that is not said so far."""

RECEIVED: Final[dict[str, tuple[int, ...]]] = {"jump": (0,), "branch": (0, 0), "next": (1, 0), "send": (1, 1)}
"""How many leading parameters the target of each edge of a terminator receives from it."""

HANDLER_RECEIVED: Final = 2

CANNOT_RAISE: Final = frozenset(
    """
    make_cell cell_set is is_not build_tuple build_list build_slice build_string list_append list_to_tuple project
    make_function push_exc pop_exc match_mapping match_sequence forget
    """.split()
)
"""The operations that raise for no operands (but for lack of memory)."""

TERMINATORS_THAT_RAISE: Final = frozenset({"next", "send", "raise", "reraise"})


@record(eq=False)
class Terminator:
    """How a block ends."""

    kind: TerminatorKind
    operands: list[Operand] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    position: Position | None = None


@record(eq=False)
class Block:
    """A basic block: parameters, statements, one terminator, perhaps an exception edge."""

    params: list[Variable] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    terminator: Terminator = field(default_factory=lambda: Terminator("open"))
    handler: Edge | None = None

    def edges(self) -> Sequence[Edge]:
        """The edges that leave this block, the exception edge last."""
        edges = self.terminator.edges
        return edges if self.handler is None else [*edges, self.handler]


FunctionKind = Literal["function", "generator", "coroutine", "async_generator"]


@record
class Signature:
    """The parameters of a function, as a code object has them."""

    names: tuple[str, ...] = ()
    positional: int = 0
    positional_only: int = 0
    keyword_only: int = 0
    varargs: bool = False
    varkeywords: bool = False


@record(eq=False)
class IR:
    """One function. ``blocks[0]`` is the entry; nothing jumps to it."""

    name: str
    signature: Signature
    qualname: str = ""
    filename: str = "<generated>"
    first_line: int = 1
    kind: FunctionKind = "function"
    free_names: tuple[str, ...] = ()
    blocks: list[Block] = field(default_factory=list)

    @property
    def entry(self) -> Block:
        return self.blocks[0]
