"""Functions that are called back, and what they have captured.

Code is written around theirs, once, in which captured variables are parameters; so what is differentiated by these is
found again when the function is made anew, with other values. A function that such a function has captured is made
anew within the code, of what it has captured itself. A method is a function that has captured its object, and so is
an object that can be called.
"""

from __future__ import annotations

from types import CellType, CodeType, FunctionType, MethodType
from typing import NamedTuple

import numpy as np

from autodiff_hook import gradient, pullback
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import load
from autodiff_hook.config import opted_in_as
from autodiff_hook.errors import LIBRARIES
from autodiff_hook.registry import registry
from autodiff_hook.runtime.arguments import is_lasting
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.mirror import form_of, parts_of, tuple_like
from autodiff_hook.runtime.reachable import reachable
from autodiff_hook.runtime.sharing import ByCode, make_room
from autodiff_hook.semantics.scope import is_own, module_of
from autodiff_hook.semantics.structures import gather

_CACHE_SIZE = 256
_PLAIN = {float, np.float64, np.ndarray}
_KNOWN_BY_TYPE = _PLAIN | {int, bool, str, type(None)}
_codes = ByCode(_CACHE_SIZE)
"""What was written around the code of a function, by where its captured variables come from and what is made of it."""
_makers = ByCode(_CACHE_SIZE)
"""The functions that make those of some code anew, by the same and their globals."""

CALLED = "{0}", "*{1}args", "{1}inner(*{1}args)"
TAKEN = "{1}taker, {1}x, {0}", "*{1}args", "{1}taker({1}x, {1}inner, *{1}args)"
MADE = "{0}", "", "{1}inner"
"""The parameters of what is written, beside captured variables, and what it returns of the function within it."""


class Leaf(NamedTuple):
    """A variable that a function has captured, or a function that it has captured: anything but such a function."""

    value: object
    token: object


class Again(NamedTuple):
    """A captured function, and what makes it of some of the leaves."""

    maker: FunctionType
    leaves: range


class Alone:
    """A function that holds nothing with a token but what it has captured: the ``values``.

    These are numbers and arrays, or lists, dicts and objects of such, none of which is met twice.
    """

    def __init__(self, native, leaves, sources):
        self.native, self._leaves, self._sources = native, leaves, sources
        self._moving = tuple([i for i, leaf in enumerate(leaves) if leaf.token is not None])
        self.values = tuple([leaves[i].value for i in self._moving])
        self.tokens = tuple([leaves[i].token for i in self._moving])
        self.function = native
        """``function(*values, *args)`` is the call with ``args``; None if there is no such function."""
        if self._moving:
            plain = not (native.__defaults__ or native.__kwdefaults__)
            self.function = _written(native, leaves, sources, self._moving, CALLED) if plain else None

    @property
    def trees(self):
        """How many of the values are no numbers or arrays."""
        return sum([type(value) not in _PLAIN for value in self.values])

    def again(self, *args):
        """The call with ``args``, as it was before anything was changed."""
        return self.function(*self.values, *args)

    def taken(self):
        """``made(taker, x, *values, *args)`` is ``taker(x, function, *args)``, with the function as it was.

        None if a program of it would not be met again.
        """
        fixed = [leaf.value for i, leaf in enumerate(self._leaves) if i not in self._moving]
        if self.native.__defaults__ or self.native.__kwdefaults__:
            return None
        if not all(type(x) in _KNOWN_BY_TYPE or is_lasting(x) for x in fixed):
            return None
        return _written(self.native, self._leaves, self._sources, self._moving, TAKEN)


def pulled_back(found, *args):
    """``pullback`` of the function with ``args``, by the values of ``found`` and these.

    Programs that go back to a tree are typed for gradients alone: there is one for the sum by the cotangent.
    """
    taken = found.taken() if found.trees else None
    value = None if taken is None else found.again(*args)
    if not is_weighed(value):
        return pullback(found.function, *found.values, *args)
    return value, lambda cotangent: gradient(taken, weighed, cotangent, *found.values, *args)[2:]


def is_weighed(value):
    return isinstance(value, (float, np.ndarray, list)) and np.asarray(value).dtype.kind == "f"


def weighed(weights, function, *args):
    return np.sum(np.asarray(weights) * np.asarray(function(*args)))


def weighed_after(x, function, args, of, weights, *others):
    return np.sum(np.asarray(weights) * np.asarray(of(x, function, args, *others)))


def taken_back(found, of, x, args, *others):
    """The value of ``of(x, function, args, *others)``, and its pullback to x, the values of ``found`` and ``args``."""
    taken = found.taken()
    value = taken(of, x, *found.values, args, *others) if found.trees else None
    if not is_weighed(value):
        value, back = pullback(taken, of, x, *found.values, args, *others)
        return value, lambda cotangent: back(cotangent)[1:]
    return value, lambda c: gradient(taken, weighed_after, x, *found.values, args, of, c, *others)[1:]


def number_of(y):
    return y if isinstance(y, float) else np.sum(y)


def differentiable_alone(alg, function, args):
    """A function that one tape can differentiate, by no more than one tree and numbers and arrays; None if not so."""
    return None if alg.typed is None else alone_forwards(alg, function, args)


def alone_forwards(alg, function, args):
    """The same for a program in forward mode."""
    if not all(type(arg) in _PLAIN | {int} for arg in args):
        return None
    found = alone(alg, function)
    if found is None or not _is_in_scope_alone(alg, found.native):
        return None
    return found if found.trees <= 1 else None


def _is_in_scope_alone(alg, function):
    """Whether what a function may call is as much in scope where it is handed in itself."""
    others = [name for name in alg.modules if not is_own(name) and name.partition(".")[0] not in LIBRARIES]
    lost = {name for name in others if name != module_of(function) and not opted_in_as(name)}
    called = filter(lambda x: type(x) is FunctionType, reachable(function) if lost else ())
    return all(lost.isdisjoint((module_of(x), x.__globals__.get("__name__"))) for x in called)


def alone(alg, function):
    """The function with what it has captured that has tokens as parameters; None if it holds more."""
    leaves = []
    called = find_in_type(type(function), "__call__")
    if type(function) is MethodType and type(function.__func__) is FunctionType:
        function = _of_object(function.__func__, function.__self__)
    elif type(called) is FunctionType:
        function = _of_object(called, function)
    sources = _sources(alg, function, leaves, ()) if type(function) is FunctionType else None
    if sources is None:
        return None
    found = Alone(function, leaves, sources)
    made = found.function
    return None if made is None or reaches(alg, made, function.__dict__) else found


def _of_object(function, owner):
    """A method as a function that has captured its object, of the same module."""

    def method(*args):
        return function(owner, *args)

    made = FunctionType(method.__code__, function.__globals__, function.__name__, None, method.__closure__)
    made.__module__ = function.__module__
    return made


def is_tree(value, seen):
    """Whether a value is made of numbers, arrays of such and what has no derivative; nothing is met twice."""
    kind = kind_of(type(value))
    if kind == "array":
        return type(value) is np.ndarray and value.dtype.kind in "fciub"
    if kind in ("number", "inert") or type(value) is FunctionType and is_lasting(value):
        return True
    form, cls = form_of(value), type(value)
    if form != "tuple" and (id(value) in seen or cls not in (list, dict) and (form, cls.__new__) != ("object", _NEW)):
        return False
    seen.add(id(value))
    parts = parts_of(value, form)
    return len(parts) <= _MOST_PARTS and all([is_tree(part, seen) for _, part in parts])


_NEW, _MOST_PARTS = object.__new__, 256


def copied(value):
    """The same tree, which nobody changes."""
    if type(value) is np.ndarray:
        return value.copy()
    form = form_of(value)
    if kind_of(type(value)) in ("number", "inert") or form not in ("list", "tuple", "dict", "object"):
        return value
    parts = {key: copied(part) for key, part in parts_of(value, form)}
    if form == "dict":
        return parts
    if form != "object":
        return list(parts.values()) if form == "list" else tuple_like(value, list(parts.values()))
    made = _NEW(type(value))
    for name, part in parts.items():
        object.__setattr__(made, name, part)
    return made


def _leaf(alg, cell, value):
    token = load(alg, cell, 0, value)
    if type(value) not in _PLAIN:
        token = gather(alg, value, token) if kind_of(type(value)) != "inert" and is_tree(value, set()) else None
    return Leaf(value if token is None else copied(value), token)


def _sources(alg, function, leaves, within):
    """Where each captured variable comes from: its place in ``leaves``, or what makes it; None if one has no value."""
    found = []
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:  # It is empty.
            return None
        if _is_simple(value) and not any(value is other for other in (function, *within)):
            own = []
            sources = _sources(alg, value, own, (function, *within))
            maker = None if sources is None else _maker(value, own, sources)
            if maker is None:
                return None
            found.append(Again(maker, range(len(leaves), len(leaves) + len(own))))
            leaves += own
        else:
            found.append(len(leaves))
            leaves.append(_leaf(alg, cell, value))
    return tuple(found)


def _is_simple(value):
    """Whether a function is nothing but its code and what that has captured."""
    if type(value) is not FunctionType or is_lasting(value) or registry.knows(value):
        return False
    return not (value.__defaults__ or value.__kwdefaults__ or value.__dict__)


def _maker(function, leaves, sources):
    """What makes a function anew of its leaves: always the same."""
    known = _makers.found.get(id(function.__code__)) or _makers.add(function.__code__, {})
    key = _shape(sources), id(function.__globals__), _makers_in(sources)
    if key not in known:
        make_room(known, _CACHE_SIZE)
        known[key] = _written(function, leaves, sources, tuple(range(len(leaves))), MADE)
    return known[key]


def _shape(sources):
    return tuple([source.leaves if isinstance(source, Again) else source for source in sources])


def _makers_in(sources):
    return tuple([id(source.maker) for source in sources if isinstance(source, Again)])


def _written(function, leaves, sources, given, form):
    """A function around one like ``function``, whose ``given`` leaves are parameters; None if there is none."""
    known = _codes.found.get(id(function.__code__)) or _codes.add(function.__code__, {})
    # Code of its own for other captured functions: what is not typed for these is for others.
    shape = _shape(sources), given, len(leaves), form
    key = shape, _makers_in(sources)
    if key not in known:
        make_room(known, _CACHE_SIZE)
        known[key] = _code(function.__code__, *shape)
    code = known[key]
    if code is None:
        return None
    mark = _mark(function.__code__)
    held = {f"{mark}{i}": leaf.value for i, leaf in enumerate(leaves)}
    held |= {f"{mark}made{i}": source.maker for i, source in enumerate(sources) if isinstance(source, Again)}
    cells = tuple([CellType(held[name]) for name in code.co_freevars])
    made = FunctionType(code, function.__globals__, function.__name__, None, cells)
    made.__module__ = function.__module__
    return made


def _mark(code):
    """What the names begin with that no captured variable has."""
    return "_" * (1 + max(map(len, code.co_freevars), default=0))


def _code(code, shape, given, count, form):
    """The code of a function around one that captures as much as ``code``, and then has it for its code.

    Nothing in it is looked up in the globals, which are those of the function.
    """
    mark, free = _mark(code), code.co_freevars
    before, behind, result = (part.format("{0}", mark) for part in form)
    parameters = [before.format(", ".join(f"{mark}{i}" for i in given)).strip(", "), behind]
    held = [f"{mark}{i}" for i in range(count) if i not in given]
    lines = [f" def written({', '.join(filter(None, parameters))}):"]
    for i, (name, source) in enumerate(zip(free, shape)):
        if isinstance(source, range):
            held.append(f"{mark}made{i}")
            lines.append(f"  {name} = {held[-1]}({', '.join(f'{mark}{j}' for j in source)})")
        else:
            lines.append(f"  {name} = {mark}{source}")
    lines += [f"  def {mark}inner():", f"   return ({''.join(f'{name}, ' for name in free)})", f"  return {result}"]
    text = "\n".join([f"def around({', '.join(held)}):", *lines])
    written = _within(_within(compile(text, code.co_filename, "exec")))
    stand_in = _within(written)
    if stand_in.co_freevars != free:
        return None
    consts = tuple(code if x is stand_in else x for x in written.co_consts)
    return written.replace(co_consts=consts, co_name=code.co_name, co_qualname=code.co_qualname)


def _within(code):
    return next(x for x in code.co_consts if type(x) is CodeType)
