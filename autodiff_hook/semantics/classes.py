"""Builtin classes as bases, methods of theirs called by name, builtins that call special methods, class statements."""

from __future__ import annotations

import builtins
import opcode
import weakref
from collections import OrderedDict, defaultdict
from types import SimpleNamespace
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, keep, kind, known, load, some
from autodiff_hook.semantics import calls, items, mappings, operations, operators, sequences
from autodiff_hook.semantics.iteration import iteration, list_pairs, plain_dict, python_method
from autodiff_hook.semantics.meanings import means, natively
from autodiff_hook.semantics.opaque import call_opaque, fail
from autodiff_hook.semantics.slots import build_slice

_READS: Final = frozenset(
    opcode.opmap[name] for name in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF") if name in opcode.opmap
)

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


@means(tuple.__new__)
def tuple_new(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``tuple.__new__(cls, iterable)``: what a named tuple is made by."""
    cls, *rest = args
    if not rest:
        return tuple.__new__(cls), None
    found, tokens = items.materialised(alg, t[1], rest[0])
    return tuple.__new__(cls, found), tuple(tokens) if some(tokens) else None


@means(float.__new__)
def float_new(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``float.__new__(cls, x)``: how a subclass of float is made."""
    cls, *rest = args
    token = calls.apply(alg, (None, *t[1:]), float, tuple(rest), {})[1] if some(t[1:]) else None
    return float.__new__(cls, *rest), token


@means(int)
def int_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``int``: of a whole number itself, of another number a constant."""
    method = python_method(args[0], "__int__") if args else None
    if method is not None and len(args) == 1:
        return calls.apply(alg, (None, t[0]), method, args, {})
    value = int(*args, **kwargs)
    whole = len(args) == 1 and isinstance(args[0], int) and not isinstance(args[0], bool)
    return value, t[0] if whole else None


class FloatOperation:
    """A special method of float called by name: the operation on plain floats."""

    def __init__(self, lowered: Any, op: str, reflected: bool) -> None:
        self.lowered, self.op, self.reflected = lowered, op, reflected

    def carried(self, alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The operation with tokens."""
        plain = [float.__float__(x) if isinstance(x, float) else x for x in args]
        if not all([isinstance(x, (float, int)) for x in plain]):
            return NotImplemented, None
        if self.reflected:
            plain, t = plain[::-1], t[::-1]
        result: Result = self.lowered(alg, t, self.op, *plain)
        return result


for _op, _name in operations.NAMES.items():
    if hasattr(float, f"__{_name}__"):
        means(getattr(float, f"__{_name}__"))(FloatOperation(operators.binary, _op, False).carried)
        means(getattr(float, f"__r{_name}__"))(FloatOperation(operators.binary, _op, True).carried)
means(float.__neg__)(FloatOperation(operators.unary, "-", False).carried)
means(float.__pos__)(FloatOperation(operators.unary, "+", False).carried)


means(dict.__init__, OrderedDict.__init__)(mappings.dict_update)


@means(defaultdict.__init__)
def default_dict_init(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``defaultdict.__init__``: the factory, then what ``dict`` takes."""
    owner, *rest = args
    defaultdict.__init__(owner, *rest[:1])
    return mappings.dict_update(alg, (None, *t[1 + len(rest[:1]) :]), (owner, *rest[1:]), kwargs)


@means(slice)
def make_slice(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``slice(start, stop, step)``."""
    return build_slice(alg, t, None, *args)


@means(list.__init__)
def list_init(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__init__``."""
    return sequences.list_extend(alg, t, args, kwargs) if len(args) > 1 else (None, None)


@means(object.__init__)
def object_init(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``object.__init__``."""
    return None, None


@means(object.__new__)
def object_new(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``object.__new__(cls)``."""
    return calls.blank(args[0]), None


@means(type)
def type_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``type(x)``, and ``type(name, bases, namespace)``."""
    return (type(*args), None) if len(args) == 1 else type_new(alg, (None, *t), (type, *args), kwargs)


@means(type.__new__)
def type_new(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """A new class: what is in its namespace are attributes of it."""
    namespace = args[3]
    tokens = {name: load(alg, namespace, name, value) for name, value in namespace.items()}
    if some(t[len(args) :]):
        fail(args[0], "the keywords of a class statement, which are not differentiated")
    cls = type.__new__(*args, **kwargs)
    for name, token in tokens.items():
        keep(alg, cls, name, token)
    return cls, None


@means(type.__init__)
def type_init(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``type.__init__``, which does nothing."""
    return None, None


@means(type.__call__)
def call_class(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``type.__call__(cls, …)``, past what a metaclass makes of it."""
    return calls.make_instance(alg, t, args[0], args[1:], kwargs)


@means(tuple.__getitem__)
def tuple_getitem(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``tuple.__getitem__``, past what a subclass makes of it."""
    owner, key = args
    return tuple.__getitem__(owner, key), None if t[0] is None else t[0][key]


@means(list.__getitem__)
def list_getitem(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__getitem__``, past what a subclass makes of it."""
    return items.list_item(alg, list.__getitem__(*args), *args)


@means(dict.__getitem__)
def dict_getitem(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.__getitem__``, past what a subclass makes of it."""
    return items.dict_item(alg, *args)


@means(list.__setitem__)
def list_setitem(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__setitem__``, past what a subclass makes of it."""
    items.list_store(alg, t[2], *args)
    return None, None


@means(list.__delitem__)
def list_delitem(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__delitem__``, past what a subclass makes of it."""
    owner, key = args
    found = known(alg, owner)
    list.__delitem__(owner, key)
    if found is not None:
        del found[key]
    return None, None


@means(dict.__delitem__, OrderedDict.__delitem__)
def dict_delitem(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.__delitem__``, past what a subclass makes of it."""
    owner, key = args
    found = known(alg, owner)
    plain_dict(owner).__delitem__(owner, key)
    if found is not None:
        found.pop(key, None)
    return None, None


@means(list.__add__)
def list_add(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__add__``, past what a subclass makes of it."""
    return sequences.concatenate(alg, t, *args) if kind(args[1]) == "list" else (NotImplemented, None)


@means(list.__mul__, list.__rmul__, tuple.__mul__, tuple.__rmul__)
def sequence_mul(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__mul__``, past what a subclass makes of it."""
    return sequences.repeat(alg, t, *args)


@means(list.__iter__)
def list_iter(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__iter__``, past what a subclass makes of it."""
    return iteration(alg, list_pairs(alg, args[0])), None


@means(dict.__setitem__, OrderedDict.__setitem__)
def dict_setitem(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.__setitem__``, past what a subclass makes of it."""
    owner, key, value = args
    plain_dict(owner).__setitem__(owner, key, value)
    keep(alg, owner, key, t[2])
    return None, None


class Special:
    """A builtin that calls a special method, for objects whose class is written in Python."""

    def __init__(self, function: Any, name: str) -> None:
        self.function, self.name = function, name

    def carried(self, alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The operation with tokens."""
        method = python_method(args[0], self.name) if args else None
        if method is not None and not kwargs:
            return calls.apply(alg, (None, *t), method, args, {})
        return call_opaque(alg, t, self.function, args, kwargs, "which has no rule for these types")


for _function, _name in (
    *((float, "__float__"), (complex, "__complex__"), (abs, "__abs__")),
    *((round, "__round__"), (divmod, "__divmod__")),
):
    means(_function)(Special(_function, _name).carried)


@means(builtins.__build_class__)
def build_class(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """Make a class; its methods have tokens when they are called, its body has none."""
    if some(t[len(args) :]):
        fail(args[0], "the keywords of a class statement, which are not differentiated")
    if reads_tokens(alg, args[0]):
        fail(args[0], "the body of a class, which is not differentiated")
    return builtins.__build_class__(*args, **kwargs), None


def reads_tokens(alg: Algebra, body: Any) -> bool:
    """Whether the body of a class may read what has a token."""
    captured = any(id(cell) in alg.shadows for cell in body.__closure__ or ())
    reads = captured and not _READS.isdisjoint(body.__code__.co_code[::2])
    return reads or id(body.__globals__) in alg.shadows


@means(SimpleNamespace)
def simple_namespace(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``SimpleNamespace(mapping, **attributes)``."""
    made = SimpleNamespace(*args)
    mappings.dict_update(alg, (None, *t), (made.__dict__, *args), kwargs)
    return made, None


@means(weakref.ref)
def weak_reference(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``weakref.ref(x)``; a callback is called where nothing carries it."""
    if len(args) > 1 and args[1] is not None:
        return call_opaque(alg, t, weakref.ref, args, kwargs, "whose callback is called where nothing carries it")
    return weakref.ref(args[0]), None


natively(weakref.ref.__call__)
