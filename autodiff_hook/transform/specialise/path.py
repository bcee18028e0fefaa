"""One way through a program: what it does for the arguments at hand, step by step.

Some programs are too much for an interpretation of all their ways at once: attributes that are assigned again and
again, lists and dicts that are built and changed, code that asks what it was given. They are followed as they
run. Loops are unrolled, and calls are entered, so what an attribute or a container holds is known at each step, and
nothing of that remains in the program. Where the way depends on a value, a guard stands; another value
leaves the program, for another specialisation or the generic path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, ClassVar, Final

import numpy as np

from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    BOOL,
    INT,
    MISSING,
    Abstract,
    Array,
    Bound,
    Cell,
    Closure,
    Container,
    Fresh,
    Instance,
    Known,
    Number,
    Tuple,
    example_of,
    number_types,
)
from autodiff_hook.transform.specialise.bodies import Parameters, Refused, is_plain, lifted
from autodiff_hook.transform.specialise.infer import PURE, STRUCTURAL, Evaluate, Given, Inference, Plan, World
from autodiff_hook.transform.specialise.results import abstract_of

_LIMIT: Final = 6000
_DEPTH: Final = 60
_GENERATOR: Final = 0x20


class Elsewhere(Given):
    """The program takes another way than the one that was specialised."""

    reason: ClassVar[str] = "another way through the program"


ENTERED: Final = Abstract()
"""The meaning of a call that has been entered: its value is what the body came to."""


class Raised(Exception):
    """The program raises an exception here, whatever the values are."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Path(Inference):
    """Follows the program from its first statement to its end; the result is a chain of blocks."""

    one_way = True

    def __init__(
        self,
        world: World,
        evaluate: Evaluate,
        types: dict[Variable, Abstract],
        known: Callable[..., Abstract | None],
        noted: Callable[..., None],
        updated: Callable[..., Any],
    ) -> None:
        super().__init__(world, evaluate, types)
        self.known, self.noted, self.updated = known, noted, updated
        self.contents: dict[Any, Any] = {}
        self.borrowed: set[Any] = set()
        self.tuples: dict[Operand, list[Operand]] = {}
        self.iterators: dict[Operand, Iterator[Operand]] = {}
        self.pinned: dict[Operand, Any] = {}
        self.aliased: dict[Operand, Operand] = {}
        self.objects: dict[Any, dict[str, Operand]] = {}
        self.assigned: dict[tuple[Operand, str], Operand] = {}
        self.stored_globals: dict[tuple[int, str], tuple[dict[str, Any], Operand]] = {}
        self.looked: set[tuple[Operand, str]] = set()
        self.commits: list[tuple[Operand, str, Operand]] = []
        self.slices: dict[Operand, list[Operand]] = {}
        self.own: set[Operand] = set()
        self.views: dict[Operand, list[Operand]] = {}
        self.stale_views: set[Operand] = set()
        self.versions: dict[Operand, Operand] = {}
        self.lifted: dict[CodeType, IR] = {}
        self.elsewhere = Block(terminator=Terminator("raise", [Constant(Elsewhere)]))
        self.chain: list[CodeType] = []
        self.frames: list[dict[str, Any]] = []
        self.position: Any = None
        self.inlined: Operand = Constant(None)
        self.stored_back = False

    def run(
        self,
        code: Any,
        globals_: dict[str, Any],
        closure: Any,
        types: list[Abstract],
        leading: list[Operand],
        rest: list[Operand],
    ) -> list[Variable]:
        """Follow the function with arguments of these types; returns its parameters."""
        ir = lifted(code)
        names = ir.signature.names[len(leading) :]
        params = [Variable(names[i] if i < len(names) else None) for i in range(len(types))]
        self.block = Block(list(params))
        self.program.blocks = [self.block]
        self.types.update(zip(params, types, strict=True))
        cells = [Variable() for _ in closure or ()]
        for variable, cell in zip(cells, closure or ()):
            self.cells[variable] = self.world.captured(cell)
        positional = code.co_argcount - len(leading)
        bound: list[Operand] = [*leading, *params[:positional], *rest]
        try:
            if ir.signature.varargs:
                bound.append(self.perform("build_tuple", [*params[positional:]]))
            if ir.signature.varkeywords:
                bound.append(self.made(dict, {}))
            result = self.frozen(self.follow(ir, globals_, [*bound, *cells]))
            self._settle()
        except Raised as raised:
            raise Refused(f"it raises {raised.error!r}") from None
        except RecursionError:
            raise Refused("calls that are nested too deeply") from None
        self.block.terminator = Terminator("return", [result])
        if any(e.target is self.elsewhere for b in self.program.blocks for e in b.edges()):
            self.program.blocks.append(self.elsewhere)
        return params

    def _settle(self) -> None:
        """What is assigned to objects from outside, which are several if they were."""
        for (owner, name), value in self.assigned.items():
            for other, looked in self.looked | set(self.assigned):
                if looked == name and other is not owner:
                    if example_of(self.type_of(owner)) is example_of(self.type_of(other)):
                        raise Refused("an object that is known in two ways is changed")
                    self.guard(self.emit("is_not", owner, other, abstract=BOOL), True)
            self.commits.append((owner, name, self._kept(value)))
        for (_, name), (globals_, value) in self.stored_globals.items():
            before = self.world.load(globals_)(name)
            kept = self._kept(value)
            if before is kept or before is not None and self.type_of(before) == self.type_of(kept) == _known(kept):
                continue
            raise Refused(f"the global name {name} is assigned")

    def _kept(self, value: Operand) -> Operand:
        """What an object from outside is given."""
        found = self.type_of(self.frozen(value))
        if isinstance(found, (Fresh, Closure, Bound, Cell)):
            raise Refused("an object from outside is given what the program makes")
        return Constant(found.value) if isinstance(found, Known) else self.present(value)

    def follow(self, ir: IR, globals_: dict[str, Any], args: list[Operand]) -> Operand:
        """The value of a call of a function, whose statements are added to the program."""
        self.frames.append(globals_)
        try:
            return self._follow(ir, self.world.load(globals_), args)
        finally:
            self.frames.pop()

    def _follow(self, ir: IR, load: Callable[[str], Operand | None], args: list[Operand]) -> Operand:
        bound: dict[Operand, Operand] = dict(zip(ir.entry.params, args, strict=True))
        collected = self.made(list, []) if ir.kind == "generator" else None
        block, depth, backed = ir.entry, len(self.chain), stored_back(ir)
        while True:
            try:
                for s in block.statements:
                    self._step(s, bound, load, collected, backed)
                terminator = block.terminator
                assert terminator is not None
                self.position = terminator.position
                operands = [bound.get(x, x) for x in terminator.operands]
                if terminator.kind == "return":
                    return operands[0] if collected is None else collected
                edge, received = self._choose(terminator, operands)
            except Raised as raised:
                if block.handler is None:
                    raise
                del self.chain[depth:]
                edge, received = block.handler, [Constant(raised.error), Constant(None)]
            values = [*received, *(bound.get(x, x) for x in edge.args)]
            bound.update(zip(edge.target.params, values, strict=True))
            block = edge.target

    def _step(
        self,
        s: Statement,
        bound: dict[Operand, Operand],
        load: Callable[[str], Operand | None],
        collected: Any,
        backed: set[Statement],
    ) -> None:
        self.position = s.position
        if s.op == "yield" and collected is not None:
            self.content(collected).append(bound.get(s.operands[0], s.operands[0]))
            if s.result is not None:
                bound[s.result] = Constant(None)
            return
        if s.op == "global":
            stored = self.stored_globals.get((id(self.frames[-1]), str(s.data)))
            known = load(str(s.data)) if stored is None else stored[1]
            if known is None:
                raise Raised(NameError(f"name {s.data!r} is not defined"))
            assert s.result is not None
            bound[s.result] = known
            return
        operands = [bound.get(x, x) for x in s.operands]
        self.stored_back = s.op == "inplace" and s in backed
        result = self.perform(s.op, operands, s.data, s.result.name if s.result is not None else None)
        if s.result is not None:
            bound[s.result] = result

    def perform(self, op: str, operands: list[Operand], data: Any = None, name: str | None = None) -> Operand:
        """Do one operation; returns the operand that its result is."""
        self.size += 1
        if self.size > _LIMIT:
            raise Refused("the way through the program is too long")
        s = Statement(op, [self.present(x) for x in operands], Variable(name), data, self.position)
        assert s.result is not None and self.block is not None
        self.index = len(self.block.statements)
        abstract = self.evaluate(self, s)
        if abstract is None:
            if s.result in self.types:
                return s.result
            if self.inlined is Constant(NotImplemented):
                raise Refused("an operator that is not implemented")
            return self.inlined
        if s.result in self.aliases:
            return self.final(s.result)
        if isinstance(abstract, Container):
            return self.container(abstract)
        self.types[s.result] = self._exact(op, s, abstract)
        if self.plans.get(s) is not None:
            self.block.statements.append(s)
            self._settle_type(s.result)
            self.noted(self, s, s.result)
        return s.result

    def present(self, operand: Operand) -> Operand:
        """What an array that was stored into is now."""
        while operand in self.versions:
            operand = self.versions[operand]
        if operand in self.stale_views:
            raise Refused("a view of an array that was stored into")
        return operand

    def _settle_type(self, result: Variable) -> None:
        """Guard the type of a result that the types of the operands leave open."""
        abstract = self.types[result]
        types = number_types(abstract)
        if isinstance(abstract, Array) and (abstract.scalar or abstract.ndim is None):
            found = abstract_of(abstract.example)
        elif isinstance(abstract, Number) and types is not None and len(types) > 1:
            found = abstract_of(abstract.example)
        else:
            return
        cls = self.emit("call", Constant(type), result, abstract=Instance(type), data=())
        self.guard(self.emit("is", cls, Constant(type(abstract.example)), abstract=BOOL), True)
        if isinstance(found, Array):
            ndim = self.emit("getattr", result, abstract=INT, data="ndim")
            self.guard(self.emit("compare", ndim, Constant(found.ndim), abstract=BOOL, data="=="), True)
            dtype = self.emit("getattr", result, abstract=Instance(type(found.dtype)), data="dtype")
            self.guard(self.emit("is", dtype, Constant(found.dtype), abstract=BOOL), True)
        self.types[result] = found

    def _exact(self, op: str, s: Statement, abstract: Abstract) -> Abstract:
        """``abstract`` with an example, which decides about ways."""
        if abstract in (BOOL, INT) and abstract.example is MISSING:
            found = _answer(op, s, [example_of(self.type_of(x)) for x in s.operands])
            if found is not MISSING:
                return Number(frozenset({type(found)}), example=found)
        return abstract

    def container(self, abstract: Container) -> Operand:
        """The operand of a container."""
        self.types[abstract.made] = abstract
        return abstract.made

    def made(self, cls: type, content: Any, borrowed: bool = False) -> Variable:
        """A new container."""
        token = Variable(cls.__name__)
        self.types[token] = Container(cls, token)
        self.contents[token] = content
        if borrowed:
            self.borrowed.add(token)
        return token

    def members(self, made: Any) -> dict[str, Operand]:
        """The attributes of an object that the program has made."""
        return self.objects.setdefault(made, {})

    def content(self, operand: Operand) -> Any:
        """What a container holds."""
        return self.contents[operand]

    def changed(self, operand: Operand) -> Any:
        """What a container holds, to be changed."""
        if operand in self.borrowed:
            raise Refused("a container from outside is changed")
        return self.contents[operand]

    # What is emitted

    def emit(
        self, op: str, *operands: Operand, abstract: Abstract = ANY, data: Any = None, plan: Plan = PURE
    ) -> Variable:
        """A statement of the program."""
        assert self.block is not None
        result = Variable()
        s = Statement(op, list(operands), result, data, self.position)
        self.types[result], self.plans[s] = abstract, plan
        self.block.statements.append(s)
        self.index = len(self.block.statements)
        return result

    def guard(self, test: Operand, expected: bool) -> None:
        """Go on only if an exact bool is what it is now."""
        assert self.block is not None
        rest = Block()
        edges = [Edge(rest), Edge(self.elsewhere)]
        self.block.terminator = Terminator("branch", [test], edges if expected else edges[::-1], self.position)
        self.block, self.index = rest, 0
        self.program.blocks.append(rest)

    def pin(self, operand: Operand) -> Any:
        """The value of an operand on this way: a guard stands for it."""
        abstract = self.type_of(operand)
        if isinstance(abstract, Known):
            return abstract.value
        if operand not in self.pinned:
            value = example_of(abstract)
            if type(value) not in (int, bool, str, np.int64):
                raise Refused(f"{abstract!r} decides about the way")
            if type(value) is bool:
                self.guard(operand, value)
            else:
                if number_types(abstract) not in (None, {type(value)}):
                    cls = self.emit("call", Constant(type), operand, abstract=Instance(type), data=())
                    self.guard(self.emit("is", cls, Constant(type(value)), abstract=BOOL), True)
                self.guard(self.emit("compare", operand, Constant(value), abstract=BOOL, data="=="), True)
            self.pinned[operand] = value
        return self.pinned[operand]

    def call(self, function: Operand, args: list[Operand], kwargs: dict[str, Operand] | None = None) -> Operand:
        """Call a value."""
        named = kwargs or {}
        return self.perform("call", [function, *args, *named.values()], tuple(named))

    def settled(
        self, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
    ) -> tuple[list[Operand], dict[str, Operand]]:
        """The arguments of a call that stays in the program, as a call of this very function."""
        args = [self.frozen(x) for x in args]
        kwargs = {k: self.frozen(v) for k, v in kwargs.items()}
        if s.op in ("call", "call_method"):
            s.op, s.data = "call", tuple(kwargs)
            s.operands = [Constant(function), *args, *kwargs.values()]
        else:
            s.operands = list(args)
        return args, kwargs

    def frozen(self, operand: Operand) -> Operand:
        """A value that code can get hold of: containers are built."""
        operand = self.present(operand)
        abstract = self.type_of(operand)
        if isinstance(abstract, Container):
            if abstract.cls is dict:
                keys, values = list(self.contents[operand]), [self.frozen(x) for x in self.contents[operand].values()]
                pairs = [x for key, value in zip(keys, values) for x in (Constant(key), value)]
                types = tuple(map(self.type_of, values))
                whole = Tuple(types, dict, tuple(keys), example=dict(zip(keys, map(example_of, types))))
                return self.emit("build_map", *pairs, abstract=whole, plan=STRUCTURAL)
            if abstract.cls is not list:
                raise Refused(f"a {abstract.cls.__name__} that is built")
            return self._built(list, self.contents[operand])
        if operand in self.tuples and self._is_open(operand):
            return self._built(tuple, self.tuples[operand])
        return operand

    def _is_open(self, operand: Operand) -> bool:
        inside = self.tuples.get(operand, ())
        changed = operand in self.versions or isinstance(self.type_of(operand), Container)
        return changed or any(map(self._is_open, inside))

    def _built(self, cls: type, items: list[Operand]) -> Operand:
        operands = [self.frozen(x) for x in items]
        types = tuple(map(self.type_of, operands))
        whole = Tuple(types, cls, example=cls(map(example_of, types)))
        return self.emit(f"build_{cls.__name__}", *operands, abstract=whole, plan=STRUCTURAL)

    # Control flow

    def _choose(self, terminator: Terminator, operands: list[Operand]) -> tuple[Edge, list[Operand]]:
        edges = terminator.edges
        if terminator.kind == "jump":
            return edges[0], []
        if terminator.kind == "branch":
            return edges[0 if self.pin(operands[0]) else 1], []
        if terminator.kind == "next":
            iterator = self.iterators.get(operands[0])
            if iterator is None:
                raise Refused(f"an iteration over {self.type_of(operands[0])!r}")
            for item in iterator:
                return edges[0], [item]
            return edges[1], []
        if terminator.kind in ("raise", "reraise") and operands:
            error = self.type_of(operands[0])
            if isinstance(error, Known):
                value = error.value() if isinstance(error.value, type) else error.value
                if isinstance(value, BaseException):
                    raise Raised(value)
        raise Refused(f"{terminator.kind} is left to the generic path")

    def inline(
        self, statement: Statement, code: Any, globals_: dict[str, Any], call: Parameters, cells: list[Operand]
    ) -> None:
        """Follow the body of a function."""
        if len(self.chain) > _DEPTH:
            raise Refused(f"{code.co_qualname} is recursive")
        ir = self.lifted.get(code)
        if ir is None:
            ir = self.lifted[code] = lifted(code, generators=bool(code.co_flags & _GENERATOR))
        if code.co_flags & _GENERATOR and code.co_name != "<genexpr>":
            raise Refused(f"{code.co_qualname} is a generator")
        args = [self._argument(x) for x in call.values]
        if len(args) + len(cells) != len(ir.entry.params):
            raise Refused(f"a call of {code.co_qualname} that does not fit")
        self.chain.append(code)
        self.inlined = self.follow(ir, globals_, [*args, *cells])
        self.chain.pop()

    def _argument(self, value: Operand | list[Operand] | dict[str, Operand]) -> Operand:
        if isinstance(value, dict):
            return self.made(dict, dict(value))
        return self.perform("build_tuple", value) if isinstance(value, list) else value

    def known_call(
        self, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
    ) -> Abstract | None:
        """What is special about a call where the items of everything are known."""
        return self.known(self, s, function, args, kwargs)

    def defaults(self, function: Any) -> tuple[Any, ...]:
        """The default values of the parameters of a function; those that may change are loaded."""
        values = function.__defaults__ or ()
        return tuple(
            x if is_plain(x) else self.world.part(Constant(values), values, i, True) for i, x in enumerate(values)
        )

    def assume(self, operand: Operand) -> None:
        """Nothing changes on one way."""

    def begin(self, statement: Statement) -> None:
        """A statement is looked at before it is added."""


def _known(operand: Operand) -> Known | None:
    return Known(operand.value) if isinstance(operand, Constant) else None


def stored_back(ir: IR) -> set[Statement]:
    """The statements of ``a[k] += v`` whose result is nothing but stored where its operand came from."""
    uses: dict[Operand, int] = {}
    for block in ir.blocks:
        operands = [x for s in block.statements for x in s.operands] + [x for e in block.edges() for x in e.args]
        for x in operands + (block.terminator.operands if block.terminator is not None else []):
            uses[x] = uses.get(x, 0) + 1
    made = {s.result: s for b in ir.blocks for s in b.statements if s.op in ("getitem", "inplace")}
    found = set()
    for store in (s for b in ir.blocks for s in b.statements if s.op == "setitem"):
        change = made.get(store.operands[2])  # type: ignore[call-overload]
        if change is None or change.op != "inplace" or uses[store.operands[2]] > 1:
            continue
        part = made.get(change.operands[0])  # type: ignore[call-overload]
        if part is not None and part.op == "getitem" and uses[change.operands[0]] == 1:
            if part.operands == store.operands[:2]:
                found.add(change)
    return found


def _answer(op: str, s: Statement, values: list[Any]) -> Any:
    """What a question about values comes to."""
    if any(v is MISSING for v in values):
        return MISSING
    function = _QUESTIONS.get((op, s.data) if op == "compare" else op)
    if op == "call":
        function, values = (values[0], values[1:]) if callable(values[0]) else (None, values)
    if function is None or op == "call" and s.data:
        return MISSING
    try:
        found = function(*values)
    except Exception:
        return MISSING
    return found if type(found) in (bool, int) else MISSING


_QUESTIONS: Final[dict[Any, Callable[..., Any]]] = {
    ("compare", "<"): lambda a, b: a < b,
    ("compare", "<="): lambda a, b: a <= b,
    ("compare", "=="): lambda a, b: a == b,
    ("compare", "!="): lambda a, b: a != b,
    ("compare", ">"): lambda a, b: a > b,
    ("compare", ">="): lambda a, b: a >= b,
    "truth": bool,
    "not": lambda a: not a,
    "is": lambda a, b: a is b,
    "is_not": lambda a, b: a is not b,
    "in": lambda a, b: a in b,
    "not_in": lambda a, b: a not in b,
}
