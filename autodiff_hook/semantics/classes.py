"""Builtin classes as bases, methods of theirs called by name, builtins that call special methods, class statements."""

from __future__ import annotations

import functools
import gc
import weakref
from collections import OrderedDict, defaultdict
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any, Final

from autodiff_hook.algebras import implicit
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import (
    Algebra,
    Result,
    ended,
    holds,
    keep,
    keep_attribute,
    keep_key,
    kind,
    known,
    load,
    some,
)
from autodiff_hook.runtime.kinds import WRITTEN
from autodiff_hook.runtime.lookup import dictionary_of, find_in_type, require_no_more
from autodiff_hook.runtime.losses import NOT_PYTHON
from autodiff_hook.runtime.whole_numbers import REASON, makes_steps
from autodiff_hook.semantics import calls, instances, items, mappings, operations, operators, sequences
from autodiff_hook.semantics.attributes import getattr_
from autodiff_hook.semantics.equivalents import operating
from autodiff_hook.semantics.iteration import ITERATORS, is_iteration, iteration, list_pairs, plain_dict, python_method
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, as_function, means, natively
from autodiff_hook.semantics.opaque import call_opaque, fail
from autodiff_hook.semantics.partials import make_partial
from autodiff_hook.semantics.rule_arguments import plain_number
from autodiff_hook.semantics.scope import in_library
from autodiff_hook.semantics.slots import build_slice


@means(tuple.__new__)
def tuple_new(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``tuple.__new__(cls, iterable)``: what a named tuple is made by."""
    cls, *rest = args
    if not rest:
        return tuple.__new__(cls), None
    found, tokens = items.materialised(alg, t[1], rest[0])
    return tuple.__new__(cls, found), tuple(tokens) if some(tokens) else None


def number_new(number: Any) -> Meaning:
    """``float.__new__(cls, x)`` and its kin: how an object of a derived class is made."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        cls, *rest = args
        token = calls.apply(alg, (None, *t[1:]), number, tuple(rest), kwargs)[1] if some(t[1:]) else None
        return number.__new__(cls, *rest, **kwargs), token

    return carried


for _number in (float, int, complex):
    means(_number.__new__)(number_new(_number))


@means(int)
def int_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``int``: of a whole number itself, of another number a constant; many digits of a text are as unknown as that."""
    method = python_method(args[0], "__int__") if args else None
    if method is not None and len(args) == 1:
        return calls.apply(alg, (None, t[0], None, None), operating.converted, (*args, method, int), {})
    value = int(*args, **kwargs)
    whole = len(args) == 1 and isinstance(args[0], int) and not isinstance(args[0], bool)
    if some(t) and not whole and not makes_steps(value):
        if issubclass(type(args[0]), WRITTEN) and alg.is_unknown(t[0]):
            return value, t[0]
        fail(int, REASON)
    return value, t[0] if whole else None


@means(float.as_integer_ratio)
def integer_ratio(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``float.as_integer_ratio``: refused at once, because arithmetic of integers drops derivatives."""
    if t[0] is not None:
        fail(float.as_integer_ratio, "which makes integers of a number (a Fraction keeps the derivative)")
    return float.as_integer_ratio(*args), None


def number_operation(number: type, lowered: Any, op: str, reflected: bool) -> Meaning:
    """A special method of float or complex called by name: the operation on plain numbers."""
    taken = (float, int) if number is float else (complex, float, int)

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        if op == "**" and args[2:] == (None,):
            args, t = args[:2], t[:2]
        plain = [plain_number(x) for x in args]
        if not all([isinstance(x, taken) for x in plain]):
            return NotImplemented, None
        if reflected:
            plain, t = plain[::-1], t[::-1]
        result: Result = lowered(alg, t, op, *plain)
        return result

    return carried


for _number in (float, complex):
    for _op, _name in operations.NAMES.items():
        if hasattr(_number, f"__{_name}__"):
            means(getattr(_number, f"__{_name}__"))(number_operation(_number, operators.binary, _op, False))
            means(getattr(_number, f"__r{_name}__"))(number_operation(_number, operators.binary, _op, True))
    means(_number.__neg__)(number_operation(_number, operators.unary, "-", False))
    means(_number.__pos__)(number_operation(_number, operators.unary, "+", False))


@means(float.__float__, complex.__complex__)
def number_itself(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """A number of a derived class as one of no class of its own."""
    return plain_number(*args), t[0]


@means(float.__abs__, complex.__abs__)
def number_abs(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``float.__abs__``, past what a subclass makes of it."""
    return calls.apply(alg, (None, *t), abs, (plain_number(args[0]),), {})


means(dict.__init__, OrderedDict.__init__)(mappings.dict_update)


@means(defaultdict.__init__)
def default_dict_init(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``defaultdict.__init__``: the factory, then what ``dict`` takes."""
    owner, *rest = args
    defaultdict.__init__(owner, *rest[:1])
    return mappings.dict_update(alg, (None, *t[1 + len(rest[:1]) :]), (owner, *rest[1:]), kwargs)


means(slice)(as_function(build_slice))


@means(list.__init__)
def list_init(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__init__``: what the list held before goes."""
    list_setitem(alg, (None, None, None), (args[0], slice(None), []), {})
    return sequences.list_extend(alg, t, args, kwargs) if len(args) > 1 else (None, None)


@means(FunctionType.__get__, MethodDescriptorType.__get__, WrapperDescriptorType.__get__)
def bind(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``function.__get__(receiver, cls)``: the token of a method is that of its receiver."""
    function, *given = args
    return function.__get__(*given, **kwargs), t[1]


@means(GetSetDescriptorType.__get__, MemberDescriptorType.__get__)
def read_slot(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``descriptor.__get__(owner, cls)``: the attribute of that name, if it is what the descriptor stands for."""
    descriptor, owner, *_ = args
    if owner is not None and find_in_type(type(owner), descriptor.__name__) is descriptor:
        return getattr_(alg, (t[1],), descriptor.__name__, owner)
    return call_opaque(alg, t, type(descriptor).__get__, args, kwargs, NOT_PYTHON)


@means(object.__init__)
def initialised(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``object.__init__``, which does nothing."""
    require_no_more("__init__", type(args[0]), args[1:] or kwargs)
    return None, None


@means(type.__init__)
def class_initialised(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``type.__init__``, which does nothing."""
    return None, None


@means(object.__new__)
def object_new(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    if not args or not isinstance(args[0], type):
        object.__new__(*args, **kwargs)  # says what is wrong
    require_no_more("__new__", args[0], args[1:] or kwargs)
    return instances.blank(args[0]), None


@means(type)
def type_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``type(x)``, and ``type(name, bases, namespace)``."""
    if len(args) == 1:
        return (args[0].__class__ if is_iteration(args[0]) else type(*args)), None
    return type_new(alg, (None, *t), (type, *args), kwargs)


@means(type.__new__)
def type_new(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """A new class: what is in its namespace are attributes of it."""
    bases, namespace = args[2:4]
    tokens = {name: load(alg, namespace, name, value) for name, value in namespace.items()}
    data = [value for value in namespace.values() if not issubclass(type(value), _CODE)]
    given = some((*t[len(args) :], *tokens.values())) or reaches(alg, (data, kwargs))
    for hook, owner in hooks(bases, namespace):
        own = holds(alg, owner) or holds(alg, dictionary_of(owner))
        if own or not in_library(hook) and (given or reaches(alg, hook)):
            fail(hook, "which is called while a class is made, where it is not differentiated")
    cls = type.__new__(*args, **kwargs)
    for name, token in tokens.items():
        keep_attribute(alg, cls, name, token)
    return cls, None


def hooks(bases: Any, namespace: Any) -> list[tuple[Any, Any]]:
    """The code that ``type.__new__`` calls: of base classes, and of what is in the namespace, which is beside it."""
    found = [(getattr(base.__init_subclass__, "__func__", None), None) for base in bases]
    found += [(python_method(value, "__set_name__"), value) for value in namespace.values()]
    return [(hook, owner) for hook, owner in found if hook is not None]


_CODE: Final = (FunctionType, classmethod, staticmethod, property)
"""What hooks may be expected to let be."""


@means(type.__call__)
def call_class(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``type.__call__(cls, …)``, past what a metaclass makes of it."""
    return instances.make_instance(alg, t, args[0], args[1:], kwargs)


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
    owner, key = args
    return items.dict_item(alg, owner, key, t[1])


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


@means(list.__add__, tuple.__add__)
def sequence_add(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__add__``, past what a subclass makes of it."""
    return sequences.concatenate(alg, t, *args) if kind(args[0]) == kind(args[1]) else (NotImplemented, None)


@means(list.__mul__, list.__rmul__, tuple.__mul__, tuple.__rmul__)
def sequence_mul(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__mul__``, past what a subclass makes of it."""
    return sequences.repeat(alg, t, *args)


@means(list.__iter__)
def list_iter(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.__iter__``, past what a subclass makes of it."""
    return iteration(alg, list_pairs(alg, args[0]), ITERATORS[list]), None


@means(tuple.__iter__)
def tuple_iter(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``tuple.__iter__``, past what a subclass makes of it."""
    pairs = zip(tuple.__iter__(args[0]), sequences.tokens_within(alg, t[0], args[0]))
    return iteration(alg, pairs, ITERATORS[tuple]), None


@means(dict.__setitem__, OrderedDict.__setitem__)
def dict_setitem(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``dict.__setitem__``, past what a subclass makes of it."""
    owner, key, value = args
    keep_key(alg, owner, key, t[1])
    plain_dict(owner).__setitem__(owner, key, value)
    keep(alg, owner, key, t[2])
    return None, None


for _target in (classmethod, staticmethod, property, property.getter, property.setter, property.deleter):
    natively(_target)


@means(SimpleNamespace)
def simple_namespace(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    made = SimpleNamespace(*args)
    mappings.dict_update(alg, (None, *t), (made.__dict__, *args), kwargs)
    return made, None


@means(weakref.ref)
def weak_reference(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``weakref.ref(x)``; a callback is carried where x dies."""
    return new_weak_reference(alg, (None, *t), (weakref.ref, *args), kwargs)


@means(weakref.ref.__new__)
def new_weak_reference(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``weakref.ref.__new__(cls, x)``, also of a class that is derived from it."""
    cls, *given = args
    if len(given) > 1 and given[1] is not None:
        given[1] = functools.partial(implicit.run, given[1])
    return weakref.ref.__new__(cls, *given, **kwargs), None


@means(weakref.finalize)
def finalized(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``weakref.finalize(x, function, ...)``: the call, with what it is given, is carried where x dies."""
    if len(args) < 2:
        return weakref.finalize(*args, **kwargs), None
    later, _ = make_partial(alg, t[1:], args[1:], kwargs)
    return weakref.finalize(args[0], implicit.run, later), None


@means(weakref.ref.__call__)
def weakly_referenced(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """What a weak reference refers to."""
    ended(alg)
    return weakref.ref.__call__(args[0]), None


@means(gc.collect)
def collect_garbage(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``gc.collect()``, which has to see what only shadows refer to."""
    return alg.lifetimes.released(gc.collect, *args, *kwargs.values()), None
