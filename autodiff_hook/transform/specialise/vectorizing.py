"""``np.vectorize`` and ``functools.reduce``, which are loops."""

from __future__ import annotations

import functools
import re
from typing import Any, Final, NamedTuple

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.semantics.equivalents import iterating, vectorizing
from autodiff_hook.semantics.equivalents.elementwise import axes_in_memory
from autodiff_hook.transform.specialise import partials
from autodiff_hook.transform.specialise.abstract import MISSING, Abstract, Array, Known, List, Tuple, same_dtype
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.lattice import is_number_of, known, number_types
from autodiff_hook.transform.specialise.lists import maker
from autodiff_hook.transform.specialise.plans import checked, items_of, known_as, spread
from autodiff_hook.transform.specialise.program import PURE, Given
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS

_KINDS: Final = {"d": np.dtype(float), "l": np.dtype(int)}
_PLAIN: Final = (frozenset({float}), frozenset({int}))
_FLOATS: Final = frozenset({float, np.float64})


class Options(NamedTuple):
    """What ``np.vectorize`` is given beside the function."""

    otypes: str | None = None
    excluded: frozenset[Any] = frozenset()
    signature: str | None = None
    cache: bool = False


def _vectorized(inf: Inference, s: Statement, called: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """A function is called for each number of an array, or of several that are broadcast, or once."""
    if called is np.vectorize:
        return _with_options(inf, s, args, kwargs)
    if called is vectorizing.whole:
        chosen, function, *args = [known(inf.type_of(args[0])), *args[1:]]
    else:
        chosen, function = options_of(called), Constant(called.pyfunc)
        check = Statement("call", [Constant(require_options), Constant(called), function, Constant(chosen)], None, ())
        inf.insert(check, plan=PURE)
    if {*(chosen.otypes or "")} - {"d"} or chosen.cache and chosen.otypes is None:
        raise Refused("a call of np.vectorize with other types of results than floats, or a cache")
    if chosen.signature is not None:
        return _by_signature(inf, s, chosen.signature, chosen.excluded, function, args, kwargs)
    given = [x if place in chosen.excluded else _handed_on(inf, s, x) for place, x in enumerate(args)]
    options = {name: x if name in chosen.excluded else _handed_on(inf, s, x) for name, x in kwargs.items()}
    kinds = "".join(["-" if i in chosen.excluded else _kind(inf.type_of(x)) for i, x in enumerate(given)])
    by_name = [_kind(inf.type_of(options[name])) for name in options if name not in chosen.excluded]
    if {*by_name} - {"-"} or not by_name and chosen.excluded >= {*range(len(args))}:
        raise Refused("a call of np.vectorize of something else than arrays of numbers and numbers")
    arrays = [x for x, kind in zip(given, kinds) if kind != "-"]
    if any(getattr(inf.type_of(x), "ndim", 1) != 1 for x in arrays):
        inf.insert(Statement("call", [Constant(require_order), *arrays], None, ()), plan=PURE)
    if chosen.otypes is None:
        return inline_call(inf, s, vectorizing.tried(kinds), [Constant(kinds), function, *given], options)
    return inline_call(inf, s, vectorizing.by_element(kinds, len(chosen.otypes)), [function, *given], options)


def _after_first(inf: Inference, s: Statement, called: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """The function has been called once: how many floats it gives is known."""
    kinds, first, *given = args
    kind = inf.type_of(first)
    results = list(kind.items) if isinstance(kind, Tuple) and kind.cls is tuple else [kind]
    if not all(is_number_of(x, _FLOATS) for x in results):
        raise Refused("np.vectorize of a function that does not return floats")
    return inline_call(inf, s, vectorizing.by_element(known(inf.type_of(kinds)), len(results)), given, kwargs)


def _by_signature(
    inf: Inference,
    s: Statement,
    signature: str,
    excluded: frozenset[Any],
    function: Operand,
    args: Args,
    kwargs: Kwargs,
) -> Abstract | None:
    """Arguments are taken apart in the first of their dimensions, as many of them in each that has any."""
    inputs, outputs = map(_dimensions, signature.split("->"))
    given = [x if place in excluded else _handed_on(inf, s, x) for place, x in enumerate(args)]
    left = iter(inputs)
    named = [None if place in excluded else next(left, ()) for place in range(len(given))]
    loops = [None if names is None else _depth(inf.type_of(x)) - len(names) for x, names in zip(given, named)]
    depths = {x for x in loops if x}
    if {*kwargs} - excluded or len([*filter(lambda x: x is not None, named)]) != len(inputs):
        raise Refused("a call of np.vectorize with a signature that says nothing of some arguments")
    if len(depths) > 1 or min(depths, default=0) < 0:
        raise Refused("a call of np.vectorize with a signature of arrays that are broadcast")
    code = vectorizing.by_signature(tuple(named), tuple(loops), outputs)
    return inline_call(inf, s, code, [function, *given], kwargs)


def _dimensions(text: str) -> tuple[tuple[str, ...], ...]:
    """The names in one half of a signature."""
    return tuple(tuple(re.findall(r"\w+", part)) for part in re.findall(r"\(([^)]*)\)", text))


def _depth(kind: Abstract) -> int:
    """How many dimensions an array of floats, or a number, has."""
    if isinstance(kind, Array) and kind.ndim is not None and same_dtype(kind.dtype, _KINDS["d"]):
        return kind.ndim
    if is_number_of(kind, _FLOATS):
        return 0
    raise Refused("a call of np.vectorize with a signature of something else than floats")


def _of_floats(inf: Inference, s: Statement, called: Any, args: Args, kwargs: Kwargs) -> Abstract:
    value, dimensions = map(inf.type_of, args)
    if _depth(value) != known(dimensions):
        raise Refused("np.vectorize of a function that returns other arrays than its signature says")
    return known_as(inf, s, None)


def _fitting(inf: Inference, s: Statement, called: Any, args: Args, kwargs: Kwargs) -> Abstract:
    inf.insert(Statement("call", [Constant(require_lengths), *args], None, ()), plan=PURE)
    return known_as(inf, s, None)


def require_lengths(dimensions: Any, loops: Any, *arrays: Any) -> None:
    """Give up if dimensions of a signature are of several lengths, or NumPy had to broadcast, or there is nothing."""
    sizes: dict[Any, int] = {}
    for names, outer, array in zip(dimensions, loops, arrays):
        shape = np.shape(array)
        named = [*zip(names, shape[len(shape) - len(names) :]), *zip(range(outer), shape)]
        if any(sizes.setdefault(name, size) != size for name, size in named) or 0 in shape[:outer]:
            raise Given("np.vectorize of arrays that do not fit")


def _with_options(inf: Inference, s: Statement, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``np.vectorize(f, otypes=[float], excluded={"n"})``."""
    given = {name: _written_out(inf, x) for name, x in kwargs.items()}
    if len(args) != 1 or not {*given} <= {*Options._fields}:
        raise Refused("a call of np.vectorize with options")
    return partials.make(inf, s, [Constant(vectorizing.whole), Constant(_options(**given)), *args], {})


def _written_out(inf: Inference, operand: Operand) -> Any:
    """What is known, be it in a list or a set that is written out."""
    value, made = known(inf.type_of(operand)), maker(inf, operand)
    if value is not MISSING:
        return value
    items = [known(inf.type_of(x)) for x in made.operands] if made is not None and made.op in _DISPLAYS else [MISSING]
    if MISSING in items:
        raise Refused("a call of np.vectorize with options that are not known")
    return items


_DISPLAYS: Final = ("build_list", "build_set")


def _kind(kind: Abstract) -> str:
    """The kind of an array of numbers; that of a number, a text or None, which NumPy hands on as it is, is a dash."""
    if number_types(kind) in _PLAIN or isinstance(kind, Known) and type(kind.value) in (bool, str, type(None)):
        return "-"
    for name, dtype in _KINDS.items():
        if isinstance(kind, Array) and kind.ndim and same_dtype(kind.dtype, dtype):
            return name
    raise Refused("a call of np.vectorize of something else than arrays of numbers and numbers")


def _handed_on(inf: Inference, s: Statement, operand: Operand) -> Operand:
    """A list, a tuple or a number as NumPy takes it."""
    kind = inf.type_of(operand)
    if is_number_of(kind, _FLOATS) and number_types(kind) not in _PLAIN:
        return inf.before(s, "call", [Constant(float), operand], ())
    cls = type(kind.value) if isinstance(kind, Known) else kind.cls if isinstance(kind, (List, Tuple)) else None
    listed = cls is list or cls is tuple
    return inf.before(s, "call", [Constant(np.asarray), operand], ()) if listed else operand


def _options(otypes: Any = None, excluded: Any = None, signature: str | None = None, cache: bool = False) -> Options:
    """The types of results as one text, as versions of NumPy keep them in several ways."""
    chars = None if otypes is None else "".join([np.dtype(x).char for x in otypes])
    return _one(chars, frozenset(excluded or ()), signature, cache)


_one: Final = functools.cache(Options)
"""Values that are known are compared by identity."""


def options_of(called: Any) -> Options:
    """Those of an object of ``np.vectorize``."""
    return _options(called.otypes, called.excluded, called.signature, called.cache)


def require_options(called: Any, function: Any, options: Options) -> None:
    """Give up if the function or the options are others than they were."""
    if called.pyfunc is not function or options_of(called) != options:
        raise Given("np.vectorize with other options")


def require_order(*arrays: Any) -> None:
    """Give up if NumPy goes along the axes in another order than theirs."""
    axes = axes_in_memory(arrays)
    if axes != tuple(range(len(axes))):
        raise Given("np.vectorize of arrays in another order")


VECTORIZING: Final = {
    np.vectorize: _vectorized,
    vectorizing.whole: _vectorized,
    vectorizing.made: _after_first,
    vectorizing.require_floats: _of_floats,
    vectorizing.require_fitting: _fitting,
}
OF_ALL_WAYS[require_options] = OF_ALL_WAYS[require_lengths] = OF_ALL_WAYS[require_order] = checked


def reduced(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """A call of ``functools.reduce``; it begins with the first of the items if nothing else is given."""
    if len(args) not in (2, 3):
        raise Refused("a call of functools.reduce")
    function, items, *initial = args
    if not initial and isinstance(inf.type_of(items), List):
        return inline_call(inf, s, iterating.reduced_from_first, args, {})
    if not initial:
        if not items_of(inf.type_of(items)):
            raise Refused("functools.reduce of items that are not known one by one")
        first, *rest = spread(inf, items)
        items, initial = inf.before(s, "build_tuple", rest), [first]
    return inline_call(inf, s, iterating.reduced, [function, items, *initial], {})
