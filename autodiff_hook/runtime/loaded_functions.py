"""Functions from outside: what they have captured, are bound to and have by default, loaded and guarded on entry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container
from functools import partial
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

from autodiff_hook.ir.types import Constant, Operand, Variable
from autodiff_hook.runtime.arguments import constant_kind
from autodiff_hook.runtime.binding import Shape
from autodiff_hook.runtime.code_guards import CodeGuards
from autodiff_hook.runtime.given_functions import BY_CODE, are_apart, is_anew, is_like
from autodiff_hook.runtime.slots import Attribute
from autodiff_hook.transform.specialise.abstract import Bound, Closure, Known, Outside, Partial, Tuple
from autodiff_hook.transform.specialise.bodies import Parameters, Refused, bind, made_before
from autodiff_hook.transform.specialise.lattice import sites_in


class Slot(NamedTuple):
    """Where a part of an argument is kept: under a key of its owner, or in an argument if that is None.

    There it is in tuples, of which ``path`` gives lengths and places.
    """

    owner: Operand
    key: Any
    path: tuple[tuple[int, int], ...] = ()


class LoadedFunctions(CodeGuards, ABC):
    """Functions from outside, known by identity, or where others may be made at each call, by their code."""

    one_way: bool

    def __init__(self, f: Any, params: list[Variable], changed: Container[Any], anew: bool) -> None:
        super().__init__(f, params, changed)
        self.callee, self.anew = params[0], anew
        self.closure: Variable | None = None
        self.slots: dict[Operand, Slot] = {}
        """The arguments that are objects, and their parts, each with the slot that it was loaded from."""
        self.cells: dict[Operand, Operand] = {}
        """What functions have captured that are known by their code."""
        self.making: list[Any] = []
        self.given: list[tuple[Operand, CellType]] = []
        """The cells of functions that are arguments, each with what it was."""
        self.others: list[tuple[Operand, CellType]] = []
        """The cells of other functions."""

    def settle(self) -> None:
        """What is captured by a function that is an argument is captured by no other: it would count there, too."""
        super().settle()
        if self.given:
            count, both = len(self.given), [*self.given, *self.others]
            if not are_apart(count, *[cell for _, cell in both]):
                raise Refused("what a function as an argument has captured is captured by another one, too")
            self.require(self.call(are_apart, Constant(count), *[here for here, _ in both]))

    @abstractmethod
    def guarded(self, operand: Variable, value: Any) -> Operand:
        """A value from outside: the object itself if it is code, else a value of its type."""

    @abstractmethod
    def default(self, defaults: Any, place: Any) -> Operand:
        """A default value of a function from outside: a constant, or loaded and guarded on entry."""

    def captured(self, cell: CellType) -> Operand:
        """What a closure cell holds."""
        key = ("cell", id(cell))
        if key not in self.loaded:
            value = _content_of(cell)
            own = self.f.__closure__ or ()
            index = next((i for i, c in enumerate(own) if c is cell), None)
            if index is None:
                here: Operand = Constant(cell)
            else:
                if self.closure is None:
                    self.closure = self.emit("getattr", self.callee, data="__closure__")
                here = self.emit("getitem", self.closure, Constant(index))
            self.others.append((here, cell))
            if not constant_kind(value):
                self.root(cell if index is None else None, index)
            self.loaded[key] = self.guarded(self.emit("getattr", here, data="cell_contents"), value)
        return self.loaded[key]

    def receiver(self) -> Operand:
        """What a method is bound to."""
        return self.guarded(self.emit("getattr", self.callee, data="__self__"), self.f.__self__)

    def bound(self, shape: Shape, params: list[Variable], constants: list[Operand]) -> Parameters:
        """How the function binds its arguments, what a ``partial`` holds, what is named, and its default values."""
        code: CodeType = self.f.__code__
        leading = constants[: shape.leading]
        if type(self.f) is MethodType:
            leading.insert(0, self.receiver())
        args, named = [*leading, *shape.positional(params, constants)], shape.named(constants)
        missing = [name for name in code.co_varnames[len(args) : code.co_argcount] if name not in named]
        defaults, options = self._defaults(missing), self._options([*named])
        return bind(code, args, named, defaults, options, made_before)

    def defaults(self, given: int) -> tuple[Any, ...]:
        """The default values of positional parameters where so many arguments are given."""
        code = self.f.__code__
        return self._defaults([*code.co_varnames[given : code.co_argcount]])

    def _defaults(self, missing: list[str]) -> tuple[Any, ...]:
        """The default values of positional parameters: operands for those that are used."""
        code, defaults = self.f.__code__, self.f.__defaults__ or ()
        if not missing or not defaults:
            return ()
        if self.anew and type(self.f) is FunctionType and is_anew(self.f):
            return tuple(self._held(self.emit("getattr", self.callee, data="__defaults__"), defaults))
        self.require_same(self.emit("getattr", self.callee, data="__defaults__"), defaults)
        names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        return tuple(self.default(defaults, i) if name in missing else None for i, name in enumerate(names))

    def _options(self, given: list[str]) -> dict[str, Operand]:
        """The default values of keyword-only parameters that are not given."""
        code, defaults = self.f.__code__, self.f.__kwdefaults__ or {}
        names = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
        used = [name for name in names if name not in given and name in defaults]
        if used:
            options = self.emit("getattr", self.callee, data="__kwdefaults__")
            self.require_same_items(options, defaults)
        return {name: self.default(defaults, name) for name in used}

    def _by_code(self, operand: Variable, value: Any, given: bool = False) -> Variable:
        """What is called and known by its code; ``given``: what it has captured is differentiated."""
        if any(value is x for x in self.making):
            raise Refused("a function that has captured itself")
        self.making.append(value)
        if type(value) is FunctionType:
            self.types[operand] = self._function(operand, value, given)
        elif type(value) is MethodType:
            self.types[operand] = self._method(operand, value, given)
        else:
            self.types[operand] = self._partial(operand, value)
        self.making.pop()
        return operand

    def _several(self, operand: Variable, values: tuple[Any, ...]) -> Variable:
        """A tuple with functions that are known by their code."""
        items = self._held(operand, values)
        kinds = [Known(x.value) if isinstance(x, Constant) else self.types[x] for x in items]
        self.types[operand] = Tuple(tuple(kinds), example=values)
        return operand

    def _function(self, operand: Variable, function: FunctionType, given: bool) -> Closure:
        code, globals_ = function.__code__, function.__globals__
        if not self.in_scope(function):
            raise Refused("a function that is not opted in")
        self.require(self.call(is_like, operand, Constant(code), Constant(globals_)))
        defaults = self._held(self.emit("getattr", operand, data="__defaults__"), function.__defaults__)
        closure = self.emit("getattr", operand, data="__closure__")
        cells = []
        for place, cell in enumerate(function.__closure__ or ()):
            made, owner = Variable(), self.emit("getitem", closure, Constant(place))
            (self.given if given else self.others).append((owner, cell))
            self.cells[made] = self._content(owner, 0, "cell_contents", _content_of(cell), given)
            cells.append(made)
        described = bool(defaults or function.__annotations__)
        return Closure(code, globals_, tuple(cells), tuple(defaults), None, described, example=function)

    def _method(self, operand: Variable, method: MethodType, given: bool) -> Bound:
        self.require_same(self.call(type, operand), MethodType)
        self.require_same(self.emit("getattr", operand, data="__func__"), method.__func__)
        receiver = self._content(operand, Attribute("__self__"), "__self__", method.__self__, given)
        if given and not isinstance(self.types.get(receiver), Outside):
            raise Refused("a method as an argument of something else than an object")
        return Bound(method.__func__, receiver, example=method)

    def _partial(self, operand: Variable, made: partial[Any]) -> Partial:
        self.require_same(self.call(type, operand), partial)
        function = self.guarded(self.emit("getattr", operand, data="func"), made.func)
        args = self._held(self.emit("getattr", operand, data="args"), made.args)
        keywords, names = self.emit("getattr", operand, data="keywords"), (*made.keywords,)
        self.require_equal(self.call(tuple, keywords), names)
        kwargs = {k: self.guarded(self.emit("getitem", keywords, Constant(k)), made.keywords[k]) for k in names}
        return Partial(function, tuple(args), kwargs, example=made)

    def _content(self, owner: Operand, key: Any, name: str, value: Any, given: bool) -> Operand:
        """What a function has captured, or a method is bound to."""
        here = self.emit("getattr", owner, data=name)
        found = self._by_code(here, value) if is_anew(value) else self.guarded(here, value)
        if given and isinstance(found, Variable) and not isinstance(self.types[found], BY_CODE):
            if not self.one_way and sites_in(self.types[found]):
                raise Refused("a function as an argument that holds lists, dicts or objects")
            self.slots[found] = Slot(owner, key)
        return found

    def _held(self, holder: Variable, values: tuple[Any, ...] | None) -> list[Operand]:
        """Default values of a function, or the arguments that a ``partial`` has, whatever they are."""
        if values is None:
            self.require_same(holder, None)
            return []
        self.require_same(self.call(type, holder), tuple)
        self.require_equal(self.call(len, holder), len(values))
        return [self.guarded(self.emit("getitem", holder, Constant(i)), value) for i, value in enumerate(values)]


def _content_of(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError as error:
        raise Refused("an empty closure cell") from error
