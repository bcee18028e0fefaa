"""One way through a program: what it does for the arguments at hand, step by step.

Some programs are too much for an interpretation of all their ways at once: attributes that are assigned again and
again, lists and dicts that are built and changed, code that asks what it was given. They are followed as they
run. Loops are unrolled, and calls are entered, so what an attribute or a container holds is known at each step, and
nothing of that remains in the program. Where the way depends on a value, a guard stands; another value
leaves the program, for another specialisation or the carried program.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from inspect import GEN_CREATED, GEN_SUSPENDED, getgeneratorstate
from types import CodeType, GeneratorType
from typing import Any, Final

from autodiff_hook import budget
from autodiff_hook.errors import is_engines_file
from autodiff_hook.ir.analysis import count_uses, definitions, statements_of
from autodiff_hook.ir.types import IR, Args, Block, Constant, Edge, Kwargs, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.one_way.earnest import Earnest
from autodiff_hook.transform.one_way.settling import settle
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    Abstract,
    Array,
    Container,
    Error,
    Fresh,
    Known,
    List,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.abstract import Iterator as IteratorOf
from autodiff_hook.transform.specialise.bodies import Parameters, Refused, cleans_up, lifted
from autodiff_hook.transform.specialise.certain import certain_error
from autodiff_hook.transform.specialise.wording import named

_DEPTH: Final = 60
_GENERATOR: Final = 0x20


Walk = Generator[Operand, Operand | None, Operand]


class Path(Earnest):
    """Follows the program from its first statement to its end; the result is a chain of blocks."""

    def run(
        self, code: Any, globals_: dict[str, Any], closure: Any, types: dict[Variable, Abstract], call: Parameters
    ) -> None:
        """Follow the function with arguments of these types, bound by ``call``."""
        ir = lifted(code)
        self.lifted[id(code)] = code, ir
        self.block = Block(list(types))
        self.program.blocks = [self.block]
        self.types.update(types)
        given = enumerate(types.items())
        self.aliases.update((p, self.world.argument(i)) for i, (p, x) in given if isinstance(x, Outside))
        cells = [Variable() for _ in closure or ()]
        for variable, cell in zip(cells, closure or ()):
            self.cells[variable] = self.world.captured(cell)
        try:
            bound = [self._argument(x) for x in call.values]
            result = self.frozen(self.follow(ir, globals_, [*bound, *cells]))
            self._require_cleaned_up()
            settle(self)
        except Raised as raised:
            raise Refused(f"it raises {raised.cls.__qualname__}") from None
        except RecursionError:
            raise Refused("calls that are nested too deeply") from None
        self.block.terminator = Terminator("return", [result])
        if any(e.target is self.elsewhere for b in self.program.blocks for e in b.edges()):
            self.program.blocks.append(self.elsewhere)

    def _require_cleaned_up(self) -> None:
        """Refuse if a generator is given up that has something left to do then."""
        for code, items in self.cleaning:
            if getgeneratorstate(items) == GEN_SUSPENDED:
                raise Refused(f"{code.co_qualname} is a generator with try or with, and is given up")

    def follow(self, ir: IR, globals_: dict[str, Any], args: Args) -> Operand:
        """The value of a call of a function, whose statements are added to the program."""
        walk = self._walk(ir, globals_, args)
        if ir.kind == "generator":
            # Iterators that are written in C stand in the engine as generators.
            cls = None if is_engines_file(ir.filename) else GeneratorType
            return self.iterator(self._resumed(walk, globals_), cls)
        self.frames.append(globals_)
        try:
            next(walk)
        except StopIteration as returned:
            found: Operand = returned.value
            return found
        finally:
            self.frames.pop()
        raise AssertionError("only generators yield")

    def _resumed(self, walk: Walk, globals_: dict[str, Any]) -> Walk:
        """What a generator yields, as it is asked for it, and what it returns; it takes what it is sent."""
        sent = None
        while True:
            self.frames.append(globals_)
            try:
                item = walk.send(sent)
            except StopIteration as returned:
                found: Operand = returned.value
                return found
            except Raised as raised:
                if issubclass(raised.cls, StopIteration):
                    # Which Python makes a RuntimeError of, whose cause it is.
                    raise Refused("StopIteration leaves a generator") from None
                raise
            finally:
                self.frames.pop()
            sent = yield item

    def advance(self, iterator: Operand, sent: Operand) -> Operand:
        """What comes next in an iteration; only a generator of the program that was begun may be sent a value."""
        items, value = self.iterators.get(iterator), self.type_of(sent)
        if items is None:
            raise Refused(f"an iteration over {named(self.type_of(iterator))}")
        if isinstance(value, Known) and value.value is None:
            return next(items)
        if getattr(items, "gi_code", None) is not _RESUMED or getgeneratorstate(items) == GEN_CREATED:  # type: ignore[arg-type]
            raise Refused("what is no generator, or was not begun, is sent a value")
        return items.send(sent)  # type: ignore[attr-defined, no-any-return]

    def iterator(self, items: Iterator[Operand], cls: type | None = None) -> Variable:
        """An operand that stands for an iterator, of this class if a program may ask."""
        token = Variable("iterator")
        self.iterators[token] = items
        self.types[token] = IteratorOf(ANY, cls)
        return token

    def _walk(self, ir: IR, globals_: dict[str, Any], args: Args) -> Walk:
        load = self.world.load(globals_)
        bound: dict[Operand, Operand] = dict(zip(ir.entry.params, args, strict=True))
        block, backed = ir.entry, stored_back(ir)
        while True:
            try:
                for s in block.statements:
                    if s.op == "yield":
                        sent = yield bound.get(s.operands[0], s.operands[0])
                        bound[s.result] = Constant(None) if sent is None else sent  # type: ignore[index]
                    else:
                        base = backed.get(s)
                        self.stored_back = base is not None and self._is_array(bound.get(base, base))
                        self._step(s, bound, load)
                terminator = block.terminator
                self.position = terminator.position
                operands = [bound.get(x, x) for x in terminator.operands]
                if terminator.kind == "return":
                    return operands[0]
                edge, received = self._choose(terminator, operands)
            except Refused as reason:
                reason.at(ir.filename, self.position)
                raise
            except Raised as raised:
                if raised.cls is NotImplementedError and is_engines_file(ir.filename):
                    raise Refused("what only stands for another object does not do that") from None
                if block.handler is None:
                    raise
                edge, received = block.handler, [self._caught(raised), Constant(None)]
            values = [*received, *(bound.get(x, x) for x in edge.args)]
            bound.update(zip(edge.target.params, values, strict=True))
            block = edge.target

    def _is_array(self, operand: Operand) -> bool:
        return isinstance(self.type_of(self.present(operand)), Array)

    def _caught(self, raised: Raised) -> Operand:
        """What a handler gets hold of."""
        if raised.operand is not None:
            return raised.operand
        return self.token("error", Error(raised.cls))

    def _step(self, s: Statement, bound: dict[Operand, Operand], load: Callable[[str], Operand | None]) -> None:
        self.position = s.position
        if s.op == "global":
            bound[s.made] = self._global(str(s.data), load)
            return
        operands = [bound.get(x, x) for x in s.operands]
        op = "get_iter" if s.op == "yield_from_iter" else s.op
        try:
            result = self.perform(op, operands, s.data, s.result.name if s.result is not None else None)
        except Refused as refused:
            error = certain_error(self, Statement(op, operands, None, s.data), refused)
            if error is None:
                raise
            raise Raised(error) from None
        if s.result is not None:
            bound[s.made] = result

    def _global(self, name: str, load: Callable[[str], Operand | None]) -> Operand:
        stored = self.stored_globals.get((id(self.frames[-1]), name))
        known = load(name) if stored is None else stored[1]
        if known is None:
            self.world.missing(self.frames[-1], name)
            raise Raised(NameError)
        return known

    def perform(self, op: str, operands: list[Operand], data: Any = None, name: str | None = None) -> Operand:
        """Do one operation; returns the operand that its result is."""
        self.size += 1
        budget.check(2)
        if self.size > self.limit:
            raise Refused(f"the way through the program has more than {self.limit} operations")
        s = Statement(op, [self.present(x) for x in operands], Variable(name), data, self.position)
        self.peeked.update(x for x in s.operands if self._is_shared(x))
        self.index = len(self.block.statements)
        abstract = self.evaluate(self, s)
        if self.outer.random and not self.outer.random.isdisjoint(s.operands):
            self.outer.random.add(s.made)
        if abstract is None:
            if s.made in self.types:
                return s.made
            found = self.type_of(self.inlined)
            if isinstance(found, Known) and found.value is NotImplemented and not op.startswith("call"):
                raise Refused("an operator that is not implemented")
            return self.inlined
        if s.made in self.aliases:
            return self.final(s.made)
        if isinstance(abstract, Container):
            return self.container(abstract)
        self.types[s.made] = self._exact(op, s, abstract)
        if self.plans.get(s) is not None:
            self.block.statements.append(s)
            self._settle_type(s)
            self.noted(self, s, s.made)
        return s.made

    def _is_shared(self, operand: Operand) -> bool:
        """Whether an operand is a list or a dict that may be known by another name."""
        value = self.type_of(operand)
        return isinstance(value, List) or isinstance(value, (Outside, Tuple)) and value.cls in (list, dict)

    # Control flow

    def _choose(self, terminator: Terminator, operands: list[Operand]) -> tuple[Edge, list[Operand]]:
        edges = terminator.edges
        if terminator.kind == "jump":
            return edges[0], []
        if terminator.kind == "branch":
            return edges[0 if self.pin(operands[0]) else 1], []
        if terminator.kind in ("next", "send"):
            sent = operands[1] if terminator.kind == "send" else Constant(None)
            try:
                return edges[0], [self.advance(operands[0], sent)]
            except StopIteration as returned:
                # The value of ``yield from`` is what a generator returns.
                value = Constant(None) if returned.value is None else returned.value
                return edges[1], [value] if terminator.kind == "send" else []
        if terminator.kind in ("raise", "reraise") and operands:
            self._raise(operands[0])
        raise Refused(f"{terminator.kind} is not specialised")

    def _raise(self, operand: Operand) -> None:
        value = self.type_of(operand)
        if isinstance(value, Known) and isinstance(value.value, type) and issubclass(value.value, BaseException):
            operand = self.call(operand, [])
            value = self.type_of(operand)
        if isinstance(value, Known) and isinstance(value.value, BaseException):
            raise Raised(value.value, operand)
        if isinstance(value, (Fresh, Error)) and issubclass(value.cls, BaseException):
            raise Raised(value.cls, operand)

    def inline(
        self, statement: Statement, code: Any, globals_: dict[str, Any], call: Parameters, cells: list[Operand]
    ) -> None:
        """Follow the body of a function."""
        if len(self.chain) > _DEPTH:
            raise Refused(f"{code.co_qualname} is recursive")
        if id(code) not in self.lifted:
            self.lifted[id(code)] = code, lifted(code, generators=bool(code.co_flags & _GENERATOR))
        _, ir = self.lifted[id(code)]
        args = [self._argument(x) for x in call.values]
        if len(args) + len(cells) != len(ir.entry.params):
            raise Refused(f"a call of {code.co_qualname} that does not fit")
        depth = len(self.chain)
        self.chain.append(code)
        try:
            self.inlined = self.follow(ir, globals_, [*args, *cells])
        except Raised:
            del self.chain[depth:]
            raise
        if code.co_flags & _GENERATOR and cleans_up(ir):
            self.cleaning.append((code, self.iterators[self.inlined]))
        self.chain.pop()

    def _argument(self, value: Operand | list[Operand] | dict[str, Operand]) -> Operand:
        if isinstance(value, dict):
            return self.made(dict, dict(value))
        return self.perform("build_tuple", value) if isinstance(value, list) else value

    @property
    def globals_here(self) -> dict[str, Any]:
        """The global names of the function that is followed."""
        return self.frames[-1]

    @property
    def code_here(self) -> CodeType:
        """The code of the function that is followed."""
        return (self.chain or self.codes)[-1]

    @property
    def stores_outside(self) -> bool:
        """Whether something outside is changed at the end, and is not what it was before for who reads it."""
        return any((self.assigned, self.dirty, self.class_attributes, self.stored_globals, self.rewritten))

    def hold(self, made: Variable, name: str, value: Operand) -> None:
        """Give an object that the program makes an attribute."""
        self.members(made)[name] = value

    def held_by(self, made: Variable) -> Iterable[tuple[str, Operand, None]]:
        """The attributes of an object that the program makes."""
        return [(name, value, None) for name, value in self.members(made).items()]

    @property
    def codes(self) -> tuple[CodeType, ...]:
        """The functions that are part of the program."""
        return tuple(code for code, _ in self.lifted.values())

    def known_call(self, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
        """What is special about a call where the items of everything are known."""
        return self.known(self, s, function, args, kwargs)

    def before(self, s: Statement, op: str, operands: list[Operand], data: Any = None) -> Operand:
        """The result of an operation that is done before ``s``."""
        return self.perform(op, operands, data)

    def assume(self, operand: Operand) -> None:
        """Nothing changes on one way."""


_RESUMED: Final = Path._resumed.__code__


def stored_back(ir: IR) -> dict[Statement, Operand]:
    """The statements of ``a[k] += v`` whose result is nothing but stored where its operand came from, in ``a``."""
    used = count_uses(ir.blocks)
    made = definitions(s for s in statements_of(ir.blocks) if s.op in ("getitem", "inplace"))
    found = {}
    for store in (s for s in statements_of(ir.blocks) if s.op == "setitem"):
        change = made.get(store.operands[2])
        if change is None or change.op != "inplace" or used[store.operands[2]] > 1:
            continue
        part = made.get(change.operands[0])
        if part is not None and part.op == "getitem" and used[change.operands[0]] == 1:
            if part.operands == store.operands[:2]:
                found[change] = store.operands[0]
    return found
