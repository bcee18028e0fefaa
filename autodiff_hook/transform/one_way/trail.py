"""What a program that is followed on one way leaves behind: statements and guards, and what containers hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any, ClassVar, Final

import numpy as np

from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.registry import registry
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.transform.one_way.answers import answer
from autodiff_hook.transform.one_way.building import built_object, is_buildable
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
    Error,
    Fresh,
    Instance,
    Known,
    Lookup,
    Number,
    Outside,
    Partial,
    Super,
    Tuple,
)
from autodiff_hook.transform.specialise.abstract import Iterator as IteratorOf
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Evaluate, Inference
from autodiff_hook.transform.specialise.instances import shown
from autodiff_hook.transform.specialise.lattice import example_of, is_number_of, number_types
from autodiff_hook.transform.specialise.lists import WHOLE
from autodiff_hook.transform.specialise.origins import is_numpy
from autodiff_hook.transform.specialise.program import PURE, STRUCTURAL, Given, Plan
from autodiff_hook.transform.specialise.results import abstract_of
from autodiff_hook.transform.specialise.views import base_of, is_sure
from autodiff_hook.transform.specialise.wording import named
from autodiff_hook.transform.specialise.world import World


class Elsewhere(Given):
    """The program takes another way than the one that was specialised."""

    reason: ClassVar[Reason] = Reason("another way through the program")


ENTERED: Final = Abstract()
"""The meaning of a call that has been entered: its value is what the body came to."""


class Raised(Exception):
    """The program raises an exception here, whatever the values are."""

    def __init__(self, error: BaseException | type[BaseException], operand: Operand | None = None) -> None:
        self.cls = error if isinstance(error, type) else type(error)
        self.error, self.operand = error, operand


class Trail(Inference):
    """The program so far, and what is known at this step of it."""

    one_way = True

    def __init__(
        self,
        world: World,
        evaluate: Evaluate,
        types: dict[Variable, Abstract],
        known: Callable[..., Abstract | None],
        noted: Callable[..., None],
        updated: Callable[..., Any],
        limit: int,
        changed: frozenset[Any] = frozenset(),
    ) -> None:
        super().__init__(world, evaluate, types, changed, limit)
        self.known, self.noted, self.updated = known, noted, updated
        self.contents: dict[Any, Any] = {}
        self.origins: dict[Operand, Operand] = {}
        self.factories: dict[Operand, Operand] = {}
        """What a ``defaultdict`` asks for what is missing."""
        self.dirty: dict[Operand, None] = {}
        self.peeked: set[Operand] = set()
        self.loaded_items: dict[tuple[Operand, Any], Operand] = {}
        self.tuples: dict[Operand, list[Operand]] = {}
        self.given_lists: dict[Operand, list[Operand]] = {}
        """The items of tuples, and those of lists that are given as they are."""
        self.iterators: dict[Operand, Iterator[Operand]] = {}
        self.pinned = self.program.pinned
        self.silences: list[Any] = []
        self.lengths: dict[Operand, int] = {}
        self.aliased: dict[Operand, Operand] = {}
        self.objects: dict[Any, dict[str, Operand]] = {}
        self.settling = False
        self.building: set[Operand] = set()
        self.remembered: dict[Any, Operand] = {}
        """What caches keep of what has derivatives."""
        self.numbers: dict[Any, Operand] = {}
        """What computes for objects of classes derived from ``float``, ``ndarray`` and ``tuple``: one of these."""
        self.assigned: dict[tuple[Operand, str], Operand] = {}
        self.class_attributes: dict[tuple[type, str], Operand] = {}
        self.stored_globals: dict[tuple[int, str], tuple[dict[str, Any], Operand]] = {}
        self.looked: set[tuple[Operand, str]] = set()
        self.slices: dict[Operand, list[Operand]] = {}
        self.own: set[Operand] = set()
        """The arrays whose memory nothing else has, and the tuples of such."""
        self.rewritten: list[Operand] = []
        """The arrays from outside that are stored into."""
        self.views: dict[Operand, list[Operand]] = {}
        self.stale_views: set[Operand] = set()
        self.in_order: set[Operand] = set()
        """The arrays whose items are guarded to lie one after the other."""
        self.viewing: dict[Operand, Statement] = {}
        """What takes views out of arrays."""
        self.versions: dict[Operand, Operand] = {}
        self.lifted: dict[int, tuple[CodeType, IR]] = {}
        """What was lifted, by the identity of the code: that which the emitter makes cannot always be hashed."""
        self.elsewhere = Block(terminator=Terminator("raise", [Constant(Elsewhere)]))
        self.chain: list[CodeType] = []
        self.frames: list[dict[str, Any]] = []
        self.position: Any = None
        self.inlined: Operand = Constant(None)
        self.stored_back = False

    def present(self, operand: Operand) -> Operand:
        """What an array that was stored into is now."""
        while True:
            while operand in self.versions:
                operand = self.versions[operand]
            if operand not in self.stale_views:
                return operand
            s = self.viewing_of(operand)
            self.versions[operand] = self.perform(s.op, s.operands, s.data)

    def viewing_of(self, view: Operand) -> Statement:
        """What has taken a view out of an array; guarded if another layout of that would have made it a copy."""
        s = self.viewing.get(view)
        if s is None:
            raise Refused("a view of an array is used after the array was changed in place")
        base = base_of(s, self.type_of)
        if base is not None and not is_sure(s, self.type_of):
            self.require_in_order(base)
        return s

    def require_in_order(self, array: Operand) -> None:
        """Go on only if the items of an array lie one after the other."""
        if array not in self.in_order:
            self.in_order.add(array)
            flags = self.emit("getattr", array, abstract=Instance(type(np.zeros(0).flags)), data="flags")
            self.guard(self.emit("getattr", flags, abstract=BOOL, data="c_contiguous"), True)

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
        self.guard_type(result, type(abstract.example))
        if isinstance(found, Array):
            self._guard_equal(self.emit("getattr", result, abstract=INT, data="ndim"), found.ndim)
            dtype = self.emit("getattr", result, abstract=Instance(type(found.dtype)), data="dtype")
            self._guard_equal(dtype, found.dtype)
        self.types[result] = found

    def _exact(self, op: str, s: Statement, abstract: Abstract) -> Abstract:
        """``abstract`` with an example, which decides about ways."""
        if abstract in (BOOL, INT) and abstract.example is MISSING:
            found = answer(op, s, [example_of(self.type_of(x)) for x in s.operands])
            if found is not MISSING:
                return Number(frozenset({type(found)}), example=found)
        return abstract

    def container(self, abstract: Container) -> Operand:
        """The operand of a container."""
        token: Variable = abstract.made
        self.types[token] = abstract
        return token

    def made(self, cls: type, content: Any, origin: Operand | None = None) -> Variable:
        """A new container, or one that stands for ``origin``, which is given its content at the end."""
        token = Variable(cls.__name__)
        self.types[token] = Container(cls, token)
        self.contents[token] = content
        if origin is not None:
            self.origins[token] = origin
            self.peeked.add(origin)
        return token

    def made_like(self, operand: Operand, content: Any) -> Variable:
        """A new container of the kind of another one."""
        made = self.made(self.types[operand].cls, content)  # type: ignore[attr-defined,index]
        if operand in self.factories:
            self.factories[made] = self.factories[operand]
        return made

    def token(self, name: str, abstract: Abstract) -> Variable:
        """An operand for what exists only while the program is followed."""
        token = Variable(name)
        self.types[token] = abstract
        return token

    def members(self, made: Any) -> dict[str, Operand]:
        """The attributes of an object that the program has made."""
        return self.objects.setdefault(made, {})

    def content(self, operand: Operand) -> Any:
        """What a container holds."""
        return self.contents[operand]

    def changed(self, operand: Operand) -> Any:
        """What a container holds, to be changed."""
        origin = self.origins.get(operand)
        if origin is not None:
            self.dirty[operand] = None
            self.versions[origin] = operand
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

    def guard_type(self, operand: Operand, cls: type) -> None:
        """Go on only if a value is of exactly this class."""
        found = self.emit("call", Constant(type), operand, abstract=Instance(type), data=())
        self.guard(self.emit("is", found, Constant(cls), abstract=BOOL), True)

    def _guard_equal(self, operand: Operand, value: Any) -> None:
        self.guard(self.emit("compare", operand, Constant(value), abstract=BOOL, data="=="), True)

    def pin(self, operand: Operand) -> Any:
        """The value of an operand on this way: a guard stands for it."""
        abstract = self.type_of(operand)
        if isinstance(abstract, Known):
            return abstract.value
        if operand in self.tuples:
            return tuple(map(self.pin, self.tuples[operand]))
        if operand not in self.pinned:
            value = example_of(abstract)
            if type(value) not in (bool, str, *WHOLE) and not _is_of_whole_numbers(abstract):
                raise Refused(f"{named(abstract)} decides about the way")
            if type(value) is bool:
                self.guard(operand, value)
            else:
                if number_types(abstract) not in (None, {type(value)}):
                    self.guard_type(operand, type(value))
                self._guard_equal(operand, value)
            self.pinned[operand] = value
        return self.pinned[operand]

    def shown(self, key: Any) -> Constant:
        """A key that is read out of a dict or a set."""
        if isinstance(key, Variable):
            raise Refused("an iteration over a set of what is not known, whose order is its own")
        self.program.shown.update(key if type(key) is tuple else (key,))
        return Constant(key)

    def call(self, function: Operand, args: list[Operand], kwargs: dict[str, Operand] | None = None) -> Operand:
        """Call a value."""
        named = kwargs or {}
        return self.perform("call", [function, *args, *named.values()], tuple(named))

    def settled(
        self, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
    ) -> tuple[list[Operand], dict[str, Operand]]:
        """The arguments of a call that stays in the program, as a call of this very function."""
        if registry.has_rules(function) and function not in _CHOOSING:
            plain = self._plain_items if is_numpy(function) or function is math.fsum else self.plain
            args, kwargs = [*map(plain, args)], {k: plain(v) for k, v in kwargs.items()}
        args = [self._real(x) for x in args]
        kwargs = {k: self._real(v) for k, v in kwargs.items()}
        if s.op in ("call", "call_method"):
            s.op, s.data = "call", tuple(kwargs)
            s.operands = [Constant(function), *args, *kwargs.values()]
        else:
            s.operands = list(args)
        return args, kwargs

    def _plain_items(self, operand: Operand) -> Operand:
        """The same for code that makes arrays of lists, or floats of their items."""
        value = self.type_of(operand)
        if not isinstance(value, Container) or value.cls is not list:
            return self.plain(operand)
        held = [self._plain_items(x) for x in self.contents[operand]]
        return operand if held == self.contents[operand] else self.made(list, held)

    def plain(self, operand: Operand) -> Operand:
        """What an object of the program is for code that only computes with it; else the operand itself."""
        value = self.type_of(operand)
        if isinstance(value, (Fresh, Outside)) and _converts_itself(value.cls):
            raise Refused(f"{named(value)} is converted by its own code")
        if isinstance(value, Outside) and issubclass(value.cls, float) and not self.world.is_given(self.final(operand)):
            kind = Number(frozenset({float}), example=float.__float__(value.example))
            return self.emit("call", Constant(float.__float__), operand, abstract=kind, data=())
        return self.numbers.get(value.made, operand) if isinstance(value, Fresh) else operand

    def _real(self, operand: Operand) -> Operand:
        """An argument of code that is called in earnest."""
        found = self.frozen(operand, opened=True)
        if is_virtual(self.type_of(found)):
            raise Refused(f"{named(self.type_of(found))} is given to other code")
        return found

    def frozen(self, operand: Operand, built: dict[Operand, Operand] | None = None, opened: bool = False) -> Operand:
        """A value that code can get hold of: containers are built, each once if ``built`` says which have been.

        ``opened``: those of the arguments, too, of their parts, where derivatives come from.
        """
        operand = self.present(operand)
        if built is None:
            return self.written_out(operand, {}, opened)
        if operand not in built:
            built[operand] = self.written_out(operand, built, opened)
        return built[operand]

    def written_out(self, operand: Operand, built: dict[Operand, Operand], opened: bool = False) -> Operand:
        if opened and self._is_closed(operand):
            operand = self._opened(operand)
        abstract = self.type_of(operand)
        if isinstance(abstract, Container):
            if abstract.cls is dict:
                keys = list(self.contents[operand])
                values = [self.frozen(x, built, opened) for x in self.contents[operand].values()]
                pairs = [x for key, value in zip(keys, values) for x in (Constant(key), value)]
                types = tuple(map(self.type_of, values))
                whole = Tuple(types, dict, tuple(keys), example=dict(zip(keys, map(example_of, types))))
                return self.emit("build_map", *pairs, abstract=whole, plan=STRUCTURAL)
            if abstract.cls is not list:
                raise Refused(f"a {abstract.cls.__name__} that is built")
            return self._built(list, self.contents[operand], built, opened)
        if operand in self.tuples and self._is_open(operand, opened):
            return self._built(tuple, self.tuples[operand], built, opened)
        if self.settling and isinstance(abstract, Fresh) and is_buildable(abstract.cls):
            return self._built_object(operand, abstract, built)
        return operand

    def _built_object(self, operand: Operand, value: Fresh, built: dict[Operand, Operand]) -> Operand:
        """An object in earnest, as something from outside is to keep it."""
        if value.made in self.results or shown(value.cls) is not value.cls:
            raise Refused(f"{named(value)} is kept")
        if operand in self.building:
            raise Refused("objects that refer to each other are kept")
        self.building.add(operand)
        held = self.members(value.made)
        values = [self.frozen(x, built) for x in held.values()]
        self.building.remove(operand)
        if any(is_virtual(self.type_of(x)) for x in values):
            raise Refused("an object is kept that holds what exists only while the program is followed")
        made = (Constant(built_object), Constant(value.cls), Constant(tuple(held)))
        return self.emit("call", *made, *values, abstract=Instance(value.cls), data=())

    def _is_closed(self, operand: Operand) -> bool:
        """Whether an operand is of an argument, and has parts that are loaded one by one."""
        return self.world.is_given(self.final(operand)) and has_objects(self.type_of(operand))

    def _opened(self, operand: Operand) -> Operand:
        """A list, tuple or dict of an argument, made of its parts."""
        value = self.type_of(operand)
        if isinstance(value, Outside) and is_container(value.cls):
            return self.adopted(operand, value)
        if isinstance(value, Tuple) and value.cls is tuple:
            return self.perform("list_to_tuple", [operand])
        raise Refused(f"an object of type {value.cls.__qualname__} from the arguments is used whole")  # type: ignore[attr-defined]

    def adopted(self, operand: Operand, value: Outside) -> Operand:
        """A list, tuple or dict from outside, with what it holds loaded on entry."""
        if operand not in self.aliased:
            example = value.example
            self.world.length(self.final(operand), example)
            if value.cls in (set, frozenset):
                content: Any = set(example)
            elif issubclass(value.cls, dict):
                content = {k: self.world.part(self.final(operand), example, k, True) for k in example}
            else:
                content = [self.world.part(self.final(operand), example, i, True) for i in range(len(example))]
            if issubclass(value.cls, tuple):
                self.aliased[operand] = self.perform("build_tuple", content)
            else:
                self.aliased[operand] = self.made(value.cls, content, origin=operand)
        return self.aliased[operand]

    def _is_open(self, operand: Operand, opened: bool) -> bool:
        inside = self.tuples.get(operand, ())
        changed = operand in self.versions or operand in self.stale_views
        changed = changed or self.settling and isinstance(self.type_of(operand), Fresh)
        changed = changed or isinstance(self.type_of(operand), Container) or opened and self._is_closed(operand)
        return changed or any(self._is_open(x, opened) for x in inside)

    def _built(self, cls: type, items: Iterable[Operand], built: dict[Operand, Operand], opened: bool) -> Operand:
        operands = [self.frozen(x, built, opened) for x in items]
        types = tuple(map(self.type_of, operands))
        whole = Tuple(types, cls, example=cls(map(example_of, types)))
        return self.emit(f"build_{cls.__name__}", *operands, abstract=whole, plan=STRUCTURAL)

    def perform(self, op: str, operands: list[Operand], data: Any = None, name: str | None = None) -> Operand:
        """Do one operation; returns the operand that its result is."""
        raise NotImplementedError


_CHOOSING: Final = (max, min)
"""What gives back one of its arguments, and not only a number."""


def _converts_itself(cls: type) -> bool:
    """Whether Python code says what native code computes with in the place of a tuple or a float."""
    asked = "__iter__" if issubclass(cls, tuple) else "__float__" if issubclass(cls, float) else None
    return asked is not None and type(find_in_type(cls, asked)) is FunctionType


def is_container(cls: type) -> bool:
    """Whether objects of a class are lists, tuples or dicts, and looked into like such."""
    if cls in (list, tuple, dict):
        return True
    return issubclass(cls, tuple) and all(getattr(cls, name, None) is getattr(tuple, name, None) for name in _LOOKS)


_LOOKS: Final = ("__iter__", "__getitem__", "__len__", "__bool__", "__contains__", "__eq__", "__add__", "__mul__")


def _is_of_whole_numbers(value: Abstract) -> bool:
    """Whether a value is a tuple of whole numbers, such as a shape."""
    if not isinstance(value, Tuple) or value.cls is not tuple:
        return False
    return all(is_number_of(x, {int}) for x in value.items)


def has_objects(value: Abstract) -> bool:
    """Whether parts of a value are loaded one by one."""
    return isinstance(value, Outside) or isinstance(value, Tuple) and any(map(has_objects, value.items))


def is_virtual(value: Abstract) -> bool:
    """Whether a value exists only while the program is followed, in whatever tuples and lists."""
    if isinstance(value, Tuple):
        return any(map(is_virtual, value.items))
    return (
        isinstance(value, (Fresh, Closure, Bound, Cell, Super, Partial, Error, Container, IteratorOf, Lookup))
        or value is ANY
    )
