"""Files of text that a program opens to read, on one way: they are read, and guarded to hold what they held."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.runtime.native import apart_by_name
from autodiff_hook.semantics.equivalents.reading import BytesReader, Reader, TextReader
from autodiff_hook.transform.improve.shortcuts import LOOKING, effects
from autodiff_hook.transform.one_way.containers import UNKNOWN, known_value
from autodiff_hook.transform.one_way.path import Path as OneWay
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh, Instance, Number, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.plans import alias
from autodiff_hook.transform.specialise.trying import tried

_LONGEST: Final = 1_000_000


def read(inf: OneWay, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``open(path)`` to read text, or ``json.loads(text)``, of what is known; None for other calls."""
    if function is json.load and len(args) == 1 and not kwargs:
        text = inf.perform("call_method", args, ("read", ()))
        return alias(inf, s, inf.call(Constant(json.loads), [text]))
    question = next((asked for method, asked in _ASKED if function is method), None)
    if question is not None and len(args) == 1 and not kwargs:
        path = _path(inf, args[0])
        answer = Number(frozenset({bool}), example=question(inf.pin(path)))
        return alias(inf, s, inf.emit("call", Constant(question), path, abstract=answer, data=()))
    if not any(function is x for x in (open, json.loads, *_IN_MEMORY)) or not args:
        return None
    args = [_path(inf, args[0]), *args[1:]]
    given = [known_value(inf, x) for x in (*args, *kwargs.values())]
    if any(x is UNKNOWN for x in given):
        return None
    by_place, by_name = apart_by_name(given, tuple(kwargs))
    if function is open:
        return _opened(inf, s, args, kwargs, by_place, by_name)
    if function in _IN_MEMORY:
        cls, reader = _IN_MEMORY[function]
        followed = len(given) == 1 and not kwargs and type(given[0]) is cls and len(given[0]) <= _LONGEST
        return alias(inf, s, inf.call(Constant(reader), args)) if followed else None
    return None if kwargs or type(given[0]) is not str else alias(inf, s, _held(inf, tried(json.loads, given, {})))


_IN_MEMORY: Final[dict[Any, Any]] = {io.StringIO: (str, TextReader), io.BytesIO: (bytes, BytesReader)}
_ASKED: Final = ((Path.exists, os.path.exists), (Path.is_file, os.path.isfile), (Path.is_dir, os.path.isdir))


def _path(inf: OneWay, operand: Operand) -> Operand:
    """A path as a text."""
    path = inf.type_of(operand)
    is_path = isinstance(path, (Fresh, Outside)) and hasattr(path.cls, "__fspath__")
    return inf.perform("call_method", [operand], ("__fspath__", ())) if is_path else operand


def _opened(
    inf: OneWay, s: Statement, args: Args, kwargs: Kwargs, by_place: list[Any], by_name: dict[str, Any]
) -> Abstract | None:
    mode = by_place[1] if len(by_place) > 1 else by_name.get("mode", "r")
    if mode not in ("r", "rt") or type(by_place[0]) is not str:
        return None
    if inf.said:
        raise Refused("a file is read where something has been written")
    text = text_of(*by_place, **by_name)
    if text is None or len(text) > _LONGEST or "\r" in text:
        raise Refused("a file that is long, cannot be read, or whose lines end with a carriage return")
    kind = Instance(str, example=text)
    found = inf.emit("call", Constant(text_of), *args, *kwargs.values(), abstract=kind, data=tuple(kwargs))
    return alias(inf, s, inf.call(Constant(Reader), [Constant(inf.pin(found)), args[0], Constant(mode)]))


def _held(inf: OneWay, value: Any) -> Operand:
    """What a text of JSON says, made by the program."""
    if type(value) is dict:
        return inf.made(dict, {key: _held(inf, x) for key, x in value.items()})
    return inf.made(list, [_held(inf, x) for x in value]) if type(value) is list else Constant(value)


def text_of(*args: Any, **kwargs: Any) -> str | None:
    """What a file holds; None if it cannot be read."""
    try:
        # What is no file, a pipe, can be read once.
        if not os.path.isfile(args[0]):
            return None
        with open(*args, **kwargs) as file:
            return str(file.read())
    except (OSError, ValueError):
        return None


effects(text_of)
LOOKING.add(text_of)
