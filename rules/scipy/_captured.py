"""Functions that are called back, and what they have captured."""

from __future__ import annotations

from types import CellType, CodeType, FunctionType
from typing import NamedTuple

import numpy as np

from autodiff_hook import withgradient
from autodiff_hook.algebras.shadows import load, reaches
from autodiff_hook.config import opted_in_as
from autodiff_hook.errors import LIBRARIES
from autodiff_hook.runtime.arguments import is_lasting
from autodiff_hook.runtime.sharing import ByCode
from autodiff_hook.semantics.scope import is_own, module_of

_CACHE_SIZE = 256
_PLAIN = {float, np.float64, np.ndarray}
_KNOWN_BY_TYPE = _PLAIN | {int, bool, str, type(None)}
_converted = ByCode(_CACHE_SIZE)
"""For functions whose captured variables became parameters: the code, by the names of these."""


class Alone(NamedTuple):
    """A function that holds nothing with a token: ``function(*values, *args)`` is the call with ``args``."""

    function: FunctionType
    values: tuple = ()
    tokens: tuple = ()

    def over(self, native, nodes, weights, args):
        """The sum of what ``native``, the function as it was, gives at the nodes, times weights; and its gradients
        by the values and by ``args``. None if a program of it would not be met again."""
        if native.__defaults__ or native.__kwdefaults__:
            return None
        names = self.function.__code__.co_varnames[: len(self.values)]
        cells = dict(zip(native.__code__.co_freevars, native.__closure__ or ()))
        rest = [cell.cell_contents for name, cell in cells.items() if name not in names]
        if not all(type(x) in _KNOWN_BY_TYPE or is_lasting(x) for x in rest):
            return None
        made = _function(native, names, _summing)
        if made is None:
            return None
        total, (*_, by_values, by_args) = withgradient(made, nodes, weights, self.values, args)
        return total, (*(by_values or [None] * len(names)), *(by_args or [None] * len(args)))


def number_of(y):
    return y if isinstance(y, float) else np.sum(y)


_HELPERS = {"number": CellType(number_of), "pairs": CellType(zip)}


def differentiable_alone(alg, function, args):
    """A function that one tape can differentiate, all of whose variables are numbers or arrays; None if not so."""
    if alg.typed is None or not all(type(arg) in (float, int, np.ndarray) for arg in args):
        return None
    found = alone(alg, function)
    if found is None:
        return None
    others = [name for name in alg.modules if not is_own(name) and name.partition(".")[0] not in LIBRARIES]
    return found if all(name == module_of(function) or opted_in_as(name) for name in others) else None


def alone(alg, function):
    """The function with its captured numbers and arrays that have tokens as first parameters; None if it holds more."""
    if type(function) is not FunctionType:
        return None
    names, values, tokens = [], [], []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            value = cell.cell_contents
        except ValueError:  # It is empty.
            return None
        token = load(alg, cell, 0, value) if type(value) in _PLAIN else None
        if token is not None:
            names.append(name)
            values.append(value)
            tokens.append(token)
    if not names:
        return None if reaches(alg, function) else Alone(function)
    if function.__defaults__ or function.__kwdefaults__:
        return None
    made = _function(function, tuple(names), _converting)
    return None if made is None or reaches(alg, made, function.__dict__) else Alone(made, tuple(values), tuple(tokens))


def _function(function, names, write):
    """A function in the place of ``function``, which has captured the same but ``names``; None if there is none."""
    code = _kept(function.__code__, names, write)
    if code is None:
        return None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    found = [cells.get(name) or _HELPERS[name.strip("_")] for name in code.co_freevars]
    made = FunctionType(code, function.__globals__, function.__name__, None, tuple(found))
    made.__module__ = function.__module__
    return made


def _kept(code, names, write):
    """Code that is made of the code of a function, with the captured ``names`` as parameters."""
    known = _converted.found.get(id(code)) or _converted.add(code, {})
    key = names, write
    if key not in known:
        known[key] = _made(code, names, write)
    return known[key]


def _made(code, names, write):
    """What ``write`` writes around a function that captures as much as ``code``, and then has it for its code."""
    free = code.co_freevars
    mark = "_" * (1 + max(map(len, free), default=0))
    rest = [name for name in free if name not in names]
    outer = ", ".join([*rest, *(mark + name for name in _HELPERS)])
    text = write(mark, ", ".join(names))
    source = f"def around({outer}):\n{text}".replace("@", f"({''.join([f'{name}, ' for name in free])})")
    written = _within(_within(compile(source, code.co_filename, "exec")))
    stand_in = _within(written)
    if stand_in.co_freevars != free:
        return None
    consts = tuple(code if x is stand_in else x for x in written.co_consts)
    return written.replace(co_consts=consts, co_name=code.co_name, co_qualname=code.co_qualname)


def _converting(mark, names):
    """The code of a function that takes ``names`` first, and passes the rest on to one that captures them."""
    return (
        f" def converted({names}, *{mark}args):\n  def {mark}inner():\n   return @\n  return {mark}inner(*{mark}args)\n"
    )


def _summing(mark, names):
    """The code of a weighted sum; nothing in it is looked up in the globals, which are those of the function."""
    return (
        f" def summed({mark}nodes, {mark}weights, {mark}values, {mark}args):\n"
        f"  [{names}] = {mark}values\n"
        f"  def {mark}inner():\n"
        f"   return @\n"
        f"  {mark}total = 0.0\n"
        f"  for {mark}node, {mark}weight in {mark}pairs({mark}nodes, {mark}weights):\n"
        f"   {mark}total += {mark}weight * {mark}number({mark}inner({mark}node, *{mark}args))\n"
        f"  return {mark}total\n"
    )


def _within(code):
    return next(x for x in code.co_consts if type(x) is CodeType)
