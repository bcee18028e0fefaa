"""Functions that are called back, and what they have captured."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import NamedTuple

import numpy as np

from autodiff_hook.algebras.shadows import load, reaches
from autodiff_hook.runtime.sharing import ByCode

_CACHE_SIZE = 256
_PLAIN = {float, np.float64, np.ndarray}
_converted = ByCode(_CACHE_SIZE)
"""For functions whose captured variables became parameters: the code, by the names of these."""


class Alone(NamedTuple):
    """A function that holds nothing with a token: ``function(*values, *args)`` is the call with ``args``."""

    function: FunctionType
    values: tuple = ()
    tokens: tuple = ()


def alone(alg, function):
    """The function with its captured numbers and arrays that have tokens as first parameters; None if it holds more."""
    if type(function) is not FunctionType:
        return None
    names, values, tokens, rest = [], [], [], []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            value = cell.cell_contents
        except ValueError:  # It is empty.
            return None
        token = load(alg, cell, 0, value) if type(value) in _PLAIN else None
        if token is None:
            rest.append(cell)
        else:
            names.append(name)
            values.append(value)
            tokens.append(token)
    if not names:
        return None if reaches(alg, function) else Alone(function)
    if function.__defaults__ or function.__kwdefaults__ or reaches(alg, *rest, function.__dict__):
        return None
    code = _code(function.__code__, tuple(names))
    if code is None:
        return None
    made = FunctionType(code, function.__globals__, function.__name__, None, tuple(rest))
    made.__module__ = function.__module__
    return Alone(made, tuple(values), tuple(tokens))


def _code(code, names):
    """The code of a function that takes ``names`` first, and passes the rest on to one that captures them."""
    known = _converted.found.get(id(code)) or _converted.add(code, {})
    if names not in known:
        known[names] = _made(code, names)
    return known[names]


def _made(code, names):
    free = code.co_freevars
    inner, given = "_" * (1 + max(map(len, free))), "_" * (2 + max(map(len, free)))
    rest = [name for name in free if name not in names]
    source = (
        f"def around({', '.join(rest)}):\n"
        f" def converted({', '.join(names)}, *{given}):\n"
        f"  def {inner}():\n"
        f"   return ({', '.join(free)},)\n"
        f"  return {inner}(*{given})\n"
        f" return converted\n"
    )
    converted = _within(_within(compile(source, code.co_filename, "exec")))
    stand_in = _within(converted)
    if (stand_in.co_freevars, converted.co_freevars) != (free, tuple(rest)):
        return None
    consts = tuple(code if x is stand_in else x for x in converted.co_consts)
    return converted.replace(co_consts=consts, co_name=code.co_name, co_qualname=code.co_qualname)


def _within(code):
    return next(x for x in code.co_consts if type(x) is CodeType)
