"""Short declarations of derivatives: the rule is written from what is special about a function.

A declaration names its parameters, and gives for each of them a function that names what it reads: arguments, the
value ``y`` (``z`` if an argument is called ``y``), and the cotangent ``ȳ`` where that is not a factor. What the rule
keeps for its pullback is what these functions name. The rule is made when it is first asked for; it is the code that
one would have written by hand, and typed programs write the functions out in it.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from types import CodeType, FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType
from typing import Any, Final, TypeVar

import numpy as np

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.records import record
from autodiff_hook.registry import LINEAR, Deferred, describe, frule, registry
from autodiff_hook.signatures import Entry, Real
from autodiff_hook.strong import over, times

Kinds = int | Sequence[tuple[Entry, ...]] | Callable[[Any, Deferred], None]
F = TypeVar("F", bound=Callable[..., Any])
EXPRESSIONS: Final[set[FunctionType]] = set()
"""Functions that are written out where typed programs call them."""


def expression(function: F) -> F:
    """Declare that calls of a function, which is one expression, are written out in typed programs.

    >>> @expression
    ... def logistic(x):
    ...     return 1.0 / (1.0 + math.exp(-x))
    """
    assert isinstance(function, FunctionType)
    EXPRESSIONS.add(function)
    return function


@record(frozen=True)
class Slope:
    """A partial derivative: ``scale`` times what ``function`` gives, or ``scale`` by it."""

    function: FunctionType
    scale: float = 1.0
    divides: bool = False
    pole: bool = False


def per(function: Any, scale: float = 1.0, pole: bool = False) -> Any:
    """The partial derivative ``scale / function(…)``; ``pole``: a number that may be zero, and the derivative infinite.

    >>> slope = per(lambda y: y, 0.5)
    """
    return Slope(function, scale, True, pole)


def scaled(scale: float, function: Any) -> Any:
    """The partial derivative ``scale * function(…)``, of whose factors the cotangent meets the number first.

    >>> slope = scaled(-1.0, lambda x: math.sin(x))
    """
    return Slope(function, scale)


@record(frozen=True)
class Form:
    """How cotangents of ``{x}`` are written for a kind of arguments: products and quotients of ``{c}`` and ``{s}``."""

    product: str
    quotient: str
    names: Callable[[], Mapping[str, Any]]
    register: Callable[[Any, int, Deferred], None]
    pole: str = ""
    tangents: bool = False
    """Whether there are forward forms as well."""


def elementwise(target: Any, /, slope: Any = None, *, form: Form | None = None, **slopes: Any) -> Any:
    """Declare the derivatives of a function of arrays or numbers, element by element.

    ``slopes`` has for each parameter, in order and by name, the partial derivative as a function; ``per`` or
    ``scaled`` of one; None if there is none; or text that says what nobody has worked out. A function of one argument
    ``x`` takes it by position, or decorates it. Arguments are broadcast, and may be nested lists; forward forms come of
    the same declaration.

    >>> def softsign(x):
    ...     return x / (1.0 + abs(x))
    >>> _ = elementwise(softsign, per(lambda x: (1.0 + abs(x)) ** 2))
    >>> from autodiff_hook.testing import check_rule
    >>> check_rule(softsign, 0.3)
    """
    form = form or arrays()
    if slope is None and not slopes:
        return partial(_decorated, target, form)
    if slope is not None:
        slopes = {"x": slope}
    _declare_elementwise(target, form, slopes)
    return target


def _decorated(target: Any, form: Form, slope: FunctionType) -> FunctionType:
    _declare_elementwise(target, form, {"x": slope})
    return slope


def scalar(target: Any, /, slope: Any = None, **slopes: Any) -> Any:
    """``elementwise`` for a function of real numbers alone.

    >>> import math
    >>> def cube(x):
    ...     return x**3
    >>> _ = scalar(cube, lambda x: 3.0 * x * x)
    """
    return elementwise(target, slope, form=_REALS, **slopes)


def _declare_elementwise(target: Any, form: Form, slopes: Mapping[str, Any]) -> None:
    parameters = tuple(slopes)
    value = _value_name(parameters)
    names, cotangents, tangents = dict[str, Any](), list[str](), list[str]()
    for name, slope in slopes.items():
        cotangents.append(_cotangent(form, slope, name, names))
        tangents.append(_tangent(slope, name, names) if form.tangents else "")
    signature = ", ".join((*parameters, "/"))
    module = _module_of(slopes.values())
    form.register(
        target,
        len(parameters),
        Deferred(module, lambda: rule_of(target, signature, cotangents, {**form.names(), **names}, module)),
    )
    if len(parameters) > 1 and any(tangents):
        head = ", ".join(("ẋ", value, *parameters))
        made = [text and Deferred(module, partial(_form_of, head, text, names, form, module)) for text in tangents]
        frule(target, *(each or None for each in made))


def _form_of(head: str, text: str, names: Mapping[str, Any], form: Form, module: str) -> Any:
    return function_of(f"def form({head}):\n return {text}\n", {**form.names(), **names}, module)


def _value_name(parameters: tuple[str, ...]) -> str:
    return "z" if "y" in parameters else "y"


def _slope_of(slope: Any) -> Slope:
    return slope if isinstance(slope, Slope) else Slope(slope)


def _called(slope: Slope, name: str, names: dict[str, Any]) -> str:
    """The call of a partial derivative, which is a global of the rule."""
    names[f"slope_{name}"] = expression(slope.function)
    return f"slope_{name}({_read(slope.function)})"


def _read(function: FunctionType) -> str:
    return ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])


def _scaled(c: str, scale: float) -> str:
    return c if scale == 1.0 else f"-{c}" if scale == -1.0 else f"{scale!r} * {c}"


def _cotangent(form: Form, slope: Any, name: str, names: dict[str, Any]) -> str:
    if slope is None:
        return "None"
    if isinstance(slope, str):
        names[f"why_{name}"] = slope
        return f"not_implemented(why_{name})"
    slope = _slope_of(slope)
    text = form.pole if slope.pole and form.pole else form.quotient if slope.divides else form.product
    return text.format(c=_scaled("ȳ", slope.scale), s=_called(slope, name, names), x=name)


def _tangent(slope: Any, name: str, names: dict[str, Any]) -> str:
    if slope is None or isinstance(slope, str):
        return ""
    slope = _slope_of(slope)
    function = "divide" if slope.divides else "multiply"
    return f"stretched(np.{function}({_scaled('ẋ', slope.scale)}, {_called(slope, name, names)}), y)"


def linear(targets: Any, signature: str, transpose: Any, *, kinds: Kinds = 1) -> None:
    """Declare a function that is linear in its first parameter, by its transpose.

    ``signature`` is that of the function, as in Python; ``transpose`` gives the cotangent of the first parameter. It
    names ``ȳ`` and the arguments that it reads. Several ``targets`` do the same, such as a function and a method: the
    first of them is called. The function is its own forward form, too. ``kinds``: as for ``cotangents``.

    >>> import numpy as np
    >>> def mirrored(x, axis=0):
    ...     return np.flip(x, axis)
    >>> linear(mirrored, "x, axis=0", lambda ȳ, axis: np.flip(ȳ, axis))
    >>> from autodiff_hook.testing import check_rule
    >>> check_rule(mirrored, np.eye(3), 1)
    """
    targets = targets if isinstance(targets, tuple) else (targets,)
    _declare_cotangents(targets, signature, kinds, {first_parameter(signature): transpose})
    frule(targets, LINEAR)


def cotangents(targets: Any, signature: str, kinds: Kinds = 1, of: str = "", /, **functions: Any) -> Any:
    """Declare the pullback of a function by what it gives for each parameter; those that are not named get None.

    ``signature`` is that of the function, as in Python. Each of ``functions`` names what it reads: ``ȳ``, the value
    ``y`` (``z`` if an argument is called ``y``), and arguments. Text says what nobody has worked out. Several
    ``targets`` do the same, such as a function and a method: the first of them is called. ``kinds``: how many of the
    first arguments may be nested lists; or the signatures for which it is the rule; or what registers it, called with
    the target and the rule. The rule, as it is registered.

    >>> import numpy as np
    >>> def weighed(x, w):
    ...     return np.dot(x, w)
    >>> _ = cotangents(weighed, "x, w", x=lambda ȳ, w: ȳ * w, w=lambda ȳ, x: ȳ * x)

    Without ``functions`` it decorates one that gives the cotangents of the parameters ``of``, in order; of one, the
    first if none is named, it is no tuple. What has cotangents of several, with common parts, is so computed once.
    Parameters that say where to work (``overwrite_…``, ``lwork``) are not passed on: pullbacks read what was there.

    >>> @cotangents(weighed_ratio := lambda x, w: np.dot(x, w) / np.sum(w), "x, w", 1, "x, w")
    ... def weighed_ratio_cotangents(ȳ, y, x, w):
    ...     c = ȳ / np.sum(w)
    ...     return c * w, c * (x - y)
    """
    if not functions:
        return partial(_decorated_cotangents, targets, signature, kinds, of or first_parameter(signature))
    return _declare_cotangents(targets, signature, kinds, functions)


def _decorated_cotangents(targets: Any, signature: str, kinds: Kinds, of: str, function: F) -> F:
    _declare_cotangents(targets, signature, kinds, {of: function})
    return function


def _declare_cotangents(targets: Any, signature: str, kinds: Kinds, functions: Mapping[str, Any]) -> Deferred:
    """``functions``: for one parameter, or for several with commas between them."""
    targets = targets if isinstance(targets, tuple) else (targets,)
    module = _module_of(functions.values())

    def make() -> Any:
        names, texts, before = dict[str, Any](), dict[str, str](), ""
        if "np." in signature:
            names["np"] = import_module("numpy")
        for of, function in functions.items():
            if isinstance(function, str):
                names[f"why_{of}"] = function
                texts[of] = f"not_implemented(why_{of})"
                continue
            several = of.split(", ")
            call = _called(Slope(function), several[0], names)
            texts.update({name: f"of_{name}" for name in several} if len(several) > 1 else {of: call})
            if len(several) > 1:
                before += f"  {', '.join(texts[name] for name in several)} = {call}\n"
        return rule_of(targets[0], signature, texts, names, module, before)

    shared = Deferred(module, make)
    for target in targets:
        if isinstance(kinds, int):
            arrays().register(target, kinds, shared)
        elif callable(kinds):
            kinds(target, shared)
        else:
            for entries in kinds:
                registry.add(target, entries, shared)
    return shared


def _parameters(signature: str) -> ast.arguments:
    return ast.parse(f"def f({signature}): 0").body[0].args  # type: ignore[attr-defined,no-any-return]


def first_parameter(signature: str) -> str:
    """The name of the first parameter of a signature."""
    return re.split("[,=]", signature, maxsplit=1)[0].strip()


def rule_of(
    target: Any,
    signature: str,
    cotangents: list[str] | dict[str, str],
    names: Mapping[str, Any],
    module: str,
    before: str = "",
) -> FunctionType:
    """The rule of ``target`` with this signature, whose pullback returns what ``cotangents`` say, after ``before``."""
    parsed = _parameters(signature)
    positional = [x.arg for x in (*parsed.posonlyargs, *parsed.args)]
    keywords = [x.arg for x in parsed.kwonlyargs]
    given = _passed_on(positional, keywords)
    if parsed.vararg is not None:
        given.insert(len(positional), f"*{parsed.vararg.arg}")
    if parsed.kwarg is not None:
        given.append(f"**{parsed.kwarg.arg}")
    if isinstance(cotangents, dict):
        given_for = cotangents
        cotangents = [given_for.get(name, "None") for name in positional]
        if parsed.vararg is not None:
            name = parsed.vararg.arg
            cotangents.append(f"*{given_for[name]}" if name in given_for else f"*[None] * len({name})")
    value = _value_name((*positional, *keywords))
    call = _call_of(target, given)
    source = (
        f"def rule({signature}):\n {value} = {call}\n def pullback(ȳ):\n{before}  return ({', '.join(cotangents)},)\n"
        f" return {value}, pullback\n"
    )
    given_names = {**names, "target": target, "not_implemented": not_implemented}
    return function_of(source, given_names, module, describe(target).rpartition(".")[2])


def _passed_on(positional: list[str], keywords: list[str]) -> list[str]:
    """The arguments of the call of the target; behind one that is not passed on they have names."""
    kept = [name for name in positional if not name.startswith(("overwrite_", "lwork"))]
    leading = [a for a, b in zip(kept, positional) if a == b]
    return leading + [f"{name}={name}" for name in (*kept[len(leading) :], *keywords)]


_OPERATORS: Final = "add + sub - mul * truediv / pow ** floordiv // mod % neg - pos +".split()
_SYMBOLS: Final[dict[Any, str]] = dict(zip(map(partial(getattr, operator), _OPERATORS[::2]), _OPERATORS[1::2]))


def _call_of(target: Any, given: list[str]) -> str:
    """The text of a call: methods and attributes are asked of the first argument, operators stand between two."""
    if target in _SYMBOLS:
        return f" {_SYMBOLS[target]} ".join(given) if len(given) > 1 else f"{_SYMBOLS[target]}{given[0]}"
    if isinstance(target, (GetSetDescriptorType, MemberDescriptorType)):
        return f"{given[0]}.{target.__name__}"
    if isinstance(target, MethodDescriptorType):
        return f"{given[0]}.{target.__name__}({', '.join(given[1:])})"
    return f"target({', '.join(given)})"


def function_of(source: str, names: Mapping[str, Any], module: str, name: str = "") -> FunctionType:
    """The function that ``source`` defines, as one of ``module``; what it defines itself is called after ``name``."""
    namespace = {**names, "__name__": module, "__builtins__": __builtins__}
    before = set(namespace)
    exec(_compiled(source), namespace)
    (function,) = (namespace.pop(key) for key in set(namespace) - before)
    assert isinstance(function, FunctionType)
    if name:
        function.__code__ = _named(function.__code__, name)
        function.__name__, function.__qualname__ = function.__code__.co_name, function.__code__.co_qualname
    return function


@cache
def _compiled(source: str) -> CodeType:
    return compile(source, "<a short form>", "exec")


def _named(code: CodeType, name: str, within: str = "") -> CodeType:
    own = f"{name}_{code.co_name}"
    inner = tuple(_named(x, name, f"{own}.<locals>.") if isinstance(x, CodeType) else x for x in code.co_consts)
    return code.replace(co_name=own, co_qualname=within + own, co_consts=inner)


def _module_of(functions: Any) -> str:
    """The module of a declaration."""
    found = [x.function if isinstance(x, Slope) else x for x in functions]
    return next(str(x.__module__) for x in found if isinstance(x, FunctionType))


# The kinds of arguments


def _strong_products() -> Mapping[str, Any]:
    return {"times": times, "over": over, "inf": math.inf}


def _of_numbers(target: Any, count: int, rule: Deferred) -> None:
    for signature in _REAL_PAIRS if count == 2 else ((Real,) * count,):
        registry.add(target, signature, rule)


_REAL_PAIRS: Final = ((Real, Real), (Real, bool), (bool, Real))
_REALS: Final = Form(
    "times({c}, {s})",
    "over({c}, {s})",
    _strong_products,
    _of_numbers,
    "over({c}, slope) if (slope := {s}) else times({c}, inf)",
)


@cache
def _array_names() -> Mapping[str, Any]:
    shared = import_module("autodiff_rules.numpy._shared")
    names = {name: getattr(shared, name) for name in ("conj", "unbroadcast", "stretched")}
    return {**names, **_strong_products(), "np": np}


def _of_arrays(target: Any, count: int, rule: Deferred) -> None:
    import_module("autodiff_rules.numpy._shared").add_for_arrays(target, rule, count)


@cache
def arrays(exact: bool = False) -> Form:
    """Arrays, and numbers, as NumPy takes them; ``exact``: slopes have the shape and the dtype of the argument."""
    product, quotient = "times({c}, conj({s}))", "over({c}, conj({s}))"
    if not exact:
        product, quotient = (f"unbroadcast({text}, {{x}})" for text in (product, quotient))
    return Form(product, quotient, _array_names, _of_arrays, tangents=True)
