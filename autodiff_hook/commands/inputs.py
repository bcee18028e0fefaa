"""What is given on the command line: functions by name, arguments as Python literals, modules."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import sys
import traceback
from typing import Any

from autodiff_hook.registry import describe

ARGUMENTS = """Python literals, separated by commas, by name where that is wanted: numbers (also nan and inf), strings,
True, False, None, lists, tuples, sets, dicts. An array is array([[1.0, 2.0], [3.0, 4.0]]): of floats, or as its second
argument says: array([1, 2], 'int64'). If the first one is negative: --args=-1.0,2.0"""


class BadInput(Exception):
    """What was given cannot be; the text is one line."""


def prefer_working_directory() -> None:
    """Let modules in the working directory be found, as ``python -m`` does."""
    folder = os.getcwd()
    if not sys.flags.safe_path and folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)


def imported(name: str) -> Any:
    """The module of this name."""
    prefer_working_directory()
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise BadInput(f"{name!r} cannot be imported: {type(error).__name__}: {error}") from error


def divided_target(text: str) -> tuple[str, str]:
    """Module and qualified name of ``pkg.mod:function``."""
    module, colon, name = text.partition(":")
    parts = (*module.split("."), *name.split("."))
    if not colon or not all(part.isidentifier() for part in parts):
        raise BadInput(f"{text!r} names no function: write it as pkg.mod:function or pkg.mod:Class.method")
    return module, name


def target(text: str) -> Any:
    """The callable that ``pkg.mod:function`` names."""
    module, name = divided_target(text)
    found = imported(module)
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise BadInput(f"{text!r}: {describe_owner(found)} has no attribute {part!r}") from None
    if not callable(found):
        raise BadInput(f"{text!r} is a {type(found).__name__}, which cannot be called")
    return found


def describe_owner(owner: Any) -> str:
    """A module or a class, for messages."""
    return f"module {owner.__name__!r}" if isinstance(owner, type(sys)) else describe(owner)


def arguments(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments.

    >>> arguments("1.0, [2.0, 3.0], scale=-1e3")
    ((1.0, [2.0, 3.0]), {'scale': -1000.0})
    >>> arguments("array([1, 2])")
    ((array([1., 2.]),), {})
    """
    try:
        call = ast.parse(f"f({text}\n)", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("these are no arguments")
        positional = tuple([_value(node) for node in call.args])
        named = {keyword.arg: _value(keyword.value) for keyword in call.keywords if keyword.arg is not None}
        if len(named) < len(call.keywords):
            raise ValueError("** is no literal")
    except (ValueError, SyntaxError, TypeError) as error:
        raise BadInput(f"--args {text!r}: {getattr(error, 'msg', error)}") from error
    return positional, named


_NAMES = {"nan": float("nan"), "inf": float("inf")}


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.List):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple([_value(item) for item in node.elts])
    if isinstance(node, ast.Dict):
        return {_value(key): _value(item) for key, item in zip(node.keys, node.values) if key is not None}
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "array":
        return _array([_value(item) for item in node.args])
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(f"{ast.unparse(node)} is no literal") from None


def _array(parts: list[Any]) -> Any:
    # --help does without NumPy.
    import numpy as np

    if not 1 <= len(parts) <= 2:
        raise ValueError("array(...) takes its items, and perhaps a dtype")
    return np.array(parts[0], dtype=parts[1] if len(parts) == 2 else float)


def require_fit(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise if a function cannot be called so."""
    try:
        parameters = inspect.signature(function)
    except (TypeError, ValueError):
        return  # of a builtin, which says by itself what it does not take
    try:
        parameters.bind(*args, **kwargs)
    except TypeError as error:
        raise BadInput(f"{describe(function)}{parameters} does not take these --args: {error}") from error


def raised(error: Exception) -> str:
    """What a program has raised, and where, in one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    frames = traceback.extract_tb(error.__traceback__)
    return f"raises {text} ({frames[-1].filename}:{frames[-1].lineno})" if frames else f"raises {text}"


def called(text: str, function: Any) -> str:
    """A call, as it is shown."""
    return f"{describe(function)}({' '.join(text.split())})"
