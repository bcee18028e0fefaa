"""What a program that is followed on one way leaves behind: statements and guards, and what containers hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from types import CodeType, FunctionType
from typing import Any, ClassVar, Final

import numpy as np

from autodiff_hook.ir.analysis import statements_of
from autodiff_hook.ir.types import IR, Args, Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.lookup import behind
from autodiff_hook.transform.one_way.answers import answer
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
    List,
    Lookup,
    Number,
    Outside,
    Partial,
    Super,
    Tuple,
)
from autodiff_hook.transform.specialise.abstract import Iterator as IteratorOf
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.counting import has_count
from autodiff_hook.transform.specialise.infer import Evaluate, Inference
from autodiff_hook.transform.specialise.lattice import example_of, is_number_of, leaves_in, number_types
from autodiff_hook.transform.specialise.lists import WHOLE
from autodiff_hook.transform.specialise.objects import is_object
from autodiff_hook.transform.specialise.program import PURE, STRUCTURAL, Given, OwnPlan, Plan, RulePlan
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


def done(function: Callable[..., Any], *args: Any) -> Any:
    """What is done to a container or a number; what that raises, the program raises here, whatever the values are."""
    try:
        return function(*args)
    except (LookupError, TypeError, ValueError, ZeroDivisionError) as error:
        raise Raised(error) from None


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
        self.shown_whole: list[Operand] = []
        """The views from outside that were asked for all that their dicts hold."""
        self.strict_if_complex = False
        """Whether the program has made an error of what NumPy warns of where complex numbers become real."""
        self.peeked: set[Operand] = set()
        self.loaded_items: dict[tuple[Operand, Any], Operand] = {}
        self.tuples: dict[Operand, list[Operand]] = {}
        self.given_lists: dict[Operand, list[Operand]] = {}
        """The items of tuples, and those of lists that are given as they are."""
        self.iterators: dict[Operand, Iterator[Operand]] = {}
        self.cleaning: list[tuple[CodeType, Any]] = []
        """The generators that have something left to do if they are given up."""
        self.pinned = self.program.pinned
        self.texts: set[Operand] = set()
        """The texts, and arrays of such, that the program makes of such from outside."""
        self.laid_out: set[Operand] = set()
        """The arrays whose types of items and numbers of axes are guarded."""
        self.silences: list[Any] = []
        self.lengths: dict[Operand, int] = {}
        self.aliased: dict[Operand, Operand] = {}
        self.objects: dict[Any, dict[str, Operand]] = {}
        self.settling = False
        self.building: set[Operand] = set()
        self.remembered: dict[Any, Operand] = {}
        """What caches keep of what has derivatives."""
        self.given_keys: list[Operand] = []
        """The objects of the arguments that are keys: each is another one."""
        self.identities: dict[Operand, Operand] = {}
        """What ``id`` says of the objects of the program."""
        self.caches: dict[int, str] = {}
        """Whether a cache from outside is asked on entry or in its place, by its identity."""
        self.numbers: dict[Any, Operand] = {}
        """What computes for objects of classes derived from ``float``, ``ndarray`` and ``tuple``: one of these."""
        self.assigned: dict[tuple[Operand, str], Operand] = {}
        self.class_attributes: dict[tuple[type | FunctionType, str], Operand] = {}
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
        self.showing: dict[Operand, Statement] = {}
        """What makes arrays that may share memory with those which it is given, and with nothing else."""
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
                return self._changed_elsewhere(operand) if self.dirty else operand
            s = self.viewing_of(operand)
            self.versions[operand] = self.perform(s.op, s.operands, s.data)

    def _changed_elsewhere(self, operand: Operand) -> Operand:
        """What a list, dict or set from outside is now, if it was changed by another name."""
        kind = self.type_of(operand)
        changes = isinstance(kind, (Outside, Tuple)) and kind.cls in (list, dict, set) or isinstance(kind, List)
        if not changes:
            return operand
        owner = self.final(operand)
        return next((x for x in self.dirty if self.is_the_same(owner, self.origins[x])), operand)

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

    def _settle_type(self, s: Statement) -> None:
        """Guard the type of a result that the types of the operands leave open, and how many items it has."""
        result, plan = s.made, self.plans[s]
        abstract = self.types[result]
        types = number_types(abstract)
        if has_count(abstract) and (plan == PURE or isinstance(plan, RulePlan) and not isinstance(plan, OwnPlan)):
            self._guard_count(result, abstract)
            return
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

    def _guard_count(self, operand: Operand, abstract: Tuple) -> None:
        self._guard_equal(self.emit("call", Constant(len), operand, abstract=INT, data=()), len(abstract.items))
        for place, item in enumerate(abstract.items):
            if has_count(item):
                self._guard_count(self.emit("getitem", operand, Constant(place), abstract=item, plan=STRUCTURAL), item)

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

    def set_factory(self, owner: Operand, factory: Operand) -> None:
        """Let a ``defaultdict`` ask this for what is missing."""
        self.factories.pop(owner, None)
        if not (isinstance(kind := self.type_of(factory), Known) and kind.value is None):
            self.factories[owner] = factory

    def token(self, name: str, abstract: Abstract) -> Variable:
        """An operand for what exists only while the program is followed."""
        token = Variable(name)
        self.types[token] = abstract
        return token

    def assigned_as(self, owner: Operand, name: str) -> Operand:
        """By what an attribute of an object from outside was assigned: itself, or another name of the same object."""
        if (owner, name) in self.assigned or not self.world.is_outside(owner):
            return owner
        for other, assigned in self.assigned:
            if assigned == name and self.is_the_same(owner, other):
                return other
        return owner

    def is_the_same(self, owner: Operand, other: Operand) -> bool:
        """Whether two objects that are loaded on entry are one, guarded; what is an argument is nothing else."""
        loaded = self.world.is_outside(owner) and self.world.is_outside(other)
        loaded = loaded and self.world.is_given(owner) == self.world.is_given(other)
        example = example_of(self.type_of(owner)) if loaded else MISSING
        alike = example is not MISSING and example is example_of(self.type_of(other))
        return alike and self.world.same(owner, other)

    def members(self, made: Any) -> dict[str, Operand]:
        """The attributes of an object that the program has made."""
        return self.objects.setdefault(made, {})

    def content(self, operand: Operand) -> Any:
        """What a container holds."""
        return self.contents[operand]

    def require_as_on_entry(self, view: Operand) -> None:
        """Refuse to ask a view of a dict that the program may have changed by another name."""
        shown = behind(example_of(self.type_of(view)))
        objects = [example_of(self.type_of(owner)) for owner, _ in self.assigned]
        changed = self.class_attributes or self.stored_globals
        if changed or any(getattr(x, "__dict__", None) is shown for x in objects):
            raise Refused("a view of a dict is asked after a dict was changed")
        for operand in self.dirty:
            self._require_other(view, self.origins[operand])

    def require_not_shown(self, changed: Any) -> None:
        """Refuse to change a dict after a view of it was asked for all that it holds."""
        if any(changed is behind(example_of(self.type_of(view))) for view in self.shown_whole):
            raise Refused("a dict is changed after a view of it was asked for all that it holds")

    def _require_other(self, view: Operand, origin: Operand) -> None:
        """Refuse what is the dict that a view shows; that it is another one is guarded."""
        if example_of(self.type_of(origin)) is behind(example_of(self.type_of(view))):
            raise Refused("a view of a dict is asked, and that dict is changed by another name")
        if isinstance(view, Variable) or isinstance(origin, Variable):
            self.world.not_shown(view, origin)

    def changed(self, operand: Operand) -> Any:
        """What a container holds, to be changed."""
        origin = self.origins.get(operand)
        if origin is not None:
            value = self.type_of(origin)
            if isinstance(value, Outside) and value.cls is not self.types[operand].cls:  # type: ignore[attr-defined,index]
                raise Refused(f"a change of {named(value)}")
            for view in self.shown_whole if type(self.contents[operand]) is dict else ():
                self._require_other(view, origin)
            others = [other for x, other in self.origins.items() if x is not operand]
            if operand not in self.dirty and any(self.is_the_same(origin, other) for other in others):
                raise Refused("an object that is known in two ways is changed")
            self.dirty[operand] = None
            self.versions[origin] = operand
        return self.contents[operand]

    # What is emitted

    def emit(
        self, op: str, *operands: Operand, abstract: Abstract = ANY, data: Any = None, plan: Plan = PURE
    ) -> Variable:
        """A statement of the program."""
        result = Variable()
        s = Statement(op, list(operands), result, data, self.position)
        self.types[result], self.plans[s] = abstract, plan
        self.block.statements.append(s)
        self.index = len(self.block.statements)
        return result

    def guard(self, test: Operand, expected: bool) -> None:
        """Go on only if an exact bool is what it is now."""
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
            if operand in self.outer.random:
                raise Refused("a random number decides about the way")
            value = example_of(abstract)
            plain = type(value) in (bool, str, np.str_, np.bytes_, date, timedelta, *WHOLE)
            plain = plain or _is_of_whole_numbers(abstract) or isinstance(value, np.dtype) and value.isbuiltin == 1
            if not plain and not self._is_constant(operand, value):
                raise Refused(f"{named(abstract)} decides about the way")
            if type(value) is bool:
                self.guard(operand, value)
            else:
                if number_types(abstract) not in (None, {type(value)}):
                    self.guard_type(operand, type(value))
                self._guard_equal(operand, value)
            self.pinned[operand] = value
        return self.pinned[operand]

    def pin_key(self, operand: Operand) -> Any:
        """The value of an operand that is a key on this way: who is shown the key has no derivative by it."""
        for x in self.tuples.get(operand, (operand,)):
            if x in self.tuples:
                self.pin_key(x)
            self.program.keyed.add(x)
        return self.pin(operand)

    def _is_constant(self, operand: Operand, value: Any) -> bool:
        """Whether a value is loaded on entry and no argument: bytes, or a float that is shown by what it equals.

        Or such a float is computed of others.
        """
        known = type(value) is bytes or type(value) in (float, np.float64) and bool(abs(value) > 0.0)
        return known and self._is_loaded(self.final(operand))

    def _is_loaded(self, key: Operand) -> bool:
        if is_number_of(self.type_of(key), {int, bool}):
            return True
        if self.world.is_outside(key) or isinstance(self.type_of(key), Known):
            return not self.world.is_given(key)
        made = next((s for s in statements_of(self.program.blocks) if s.result is key), None)
        operands = _computing(made) if made is not None else None
        return operands is not None and all(self._is_loaded(self.final(x)) for x in operands)

    def shown(self, key: Any) -> Operand:
        """A key that is read out of a dict or a set."""
        if isinstance(key, Variable):
            return key.operand if isinstance(key, Standing) else key
        if is_object(self.world, key):
            return self.world.constant(key)
        if is_open(key) or type(key) is tuple and any(is_object(self.world, x) for x in key):
            return self.perform("build_tuple", list(map(self.shown, key)))
        self.program.shown.update(key if type(key) is tuple else (key,))
        return Constant(key)

    def call(self, function: Operand, args: Args, kwargs: dict[str, Operand] | None = None) -> Operand:
        """Call a value."""
        named = kwargs or {}
        return self.perform("call", [function, *args, *named.values()], tuple(named))

    def perform(self, op: str, operands: list[Operand], data: Any = None, name: str | None = None) -> Operand:
        """Do one operation; returns the operand that its result is."""
        raise NotImplementedError


class Standing(Variable):
    """What stands for an operand as a key."""

    def __init__(self, operand: Operand) -> None:
        super().__init__(operand.name if isinstance(operand, Variable) else None)
        self.operand = operand


def is_open(key: Any) -> bool:
    """Whether a key is, or has in it, an object of the program or a number that is not known."""
    return isinstance(key, Variable) or type(key) is tuple and any(map(is_open, key))


def _computing(s: Statement) -> list[Operand] | None:
    """What a statement computes a number of, if it does nothing but that."""
    if s.op in ("binary", "unary"):
        return s.operands
    computes = s.callee is float or getattr(s.callee, "__module__", None) in ("math", "_operator")
    return s.operands[1:] if s.op == "call" and computes else None


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
    return any(isinstance(x, Outside) for x in leaves_in(value))


def is_virtual(value: Abstract) -> bool:
    """Whether a value exists only while the program is followed, in whatever tuples and lists."""
    return any(isinstance(x, _VIRTUAL) or x is ANY for x in leaves_in(value))


_VIRTUAL: Final = (Fresh, Closure, Bound, Cell, Super, Partial, Error, Container, IteratorOf, Lookup)
