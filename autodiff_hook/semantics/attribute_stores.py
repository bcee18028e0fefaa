"""Storing and deleting attributes: instance data are slots, properties and descriptors are calls."""

from __future__ import annotations

from types import CodeType, FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import (
    Algebra,
    Result,
    holder_of,
    is_held,
    keep,
    keep_attribute,
    note_kept,
    quiet,
    some,
)
from autodiff_hook.errors import CUT, NotDifferentiable
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import dictionary_of, find_in_type, has_in_type, is_plainly, keeps_elsewhere
from autodiff_hook.runtime.losses import NOT_PYTHON, array_mutation
from autodiff_hook.runtime.overlaps import require_read_first_of_flat
from autodiff_hook.runtime.slots import Attribute
from autodiff_hook.semantics import special_attributes
from autodiff_hook.semantics.arrays import store_array
from autodiff_hook.semantics.attributes import Plan, is_followed
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, apply, means
from autodiff_hook.semantics.opaque import call_opaque, fail

_CONTENT: Final = ("flat", "real", "imag", "data", "dtype", "strides", "shape")


def is_content(owner: Any, name: str) -> bool:
    """Whether an attribute of an array says what the array holds, or how it is to be read."""
    return name in _CONTENT and kind_of(type(owner)) == "array"


def assign_content(alg: Algebra, t: Any, name: str, owner: Any, value: Any) -> None:
    """``owner.name = value`` of an array, which a derivative depends on."""
    before = alg.read(owner, t[0])
    if name == "shape":
        _reshape(alg, before, owner, value)
    elif name == "flat":
        if t[1] is not None:
            require_read_first_of_flat(owner, ..., np.asarray(value, order="F" if owner.flags.f_contiguous else None))
        repeated, moving = apply(alg, (None, t[1], None), np.resize, (value, owner.shape), {})
        store_array(alg, (before, None, moving), owner, ..., repeated)
    elif name == "real" or name == "imag" and owner.dtype.kind == "c":
        part, token = apply(alg, (None, before), _PARTS[name], (owner,), {})
        store_array(alg, (token, None, t[1]), part, ..., value)
    elif name == "imag":
        owner.imag = value  # NumPy refuses this
    elif name == "dtype" and owner.dtype.names is not None and owner.dtype.fields == value.fields:
        owner.dtype = value  # another class of records
    else:
        raise array_mutation(f"the assignment to the attribute {name} writes to")


_PARTS: Final[Any] = {"real": np.real, "imag": np.imag}


def _reshape(alg: Algebra, token: Any, array: Any, shape: Any) -> None:
    if root_of(array) is array and not array.flags.c_contiguous:
        raise NotDifferentiable(
            "an array that the gradient depends on, and that is not in C order, gets another shape in place, which is "
            "not differentiated",
            remedies=("make another array of it: b = a.reshape(...)", CUT),
        )
    alg.reshape(array, token, shape)


def set_shape(alg: Algebra, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``array._set_shape(shape)``, which NumPy's own classes call since 2.5."""
    _reshape(alg, alg.read(args[0], t[0]), *args)
    return None, None


if hasattr(np.ndarray, "_set_shape"):
    means(np.ndarray._set_shape)(set_shape)


@means(np.ndarray.resize)
def resize(alg: Algebra, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``array.resize(shape)``, which moves memory."""
    if t[0] is not None or reaches(alg, args[0]) or is_held(alg, args[0]):
        raise NotDifferentiable(
            "an array that the gradient depends on gets another size in place, which is not differentiated",
            remedies=("make another array of it: np.pad, np.concatenate, np.resize or a[:n]", CUT),
        )
    np.ndarray.resize(*args, **{**kwargs, "refcheck": False})
    return None, None


_SET_PLAINLY: Final[Any] = object.__setattr__


def setattr_(alg: Algebra, t: Any, name: str, owner: Any, value: Any) -> Result:
    """``owner.name = value``."""
    cls = type(owner)
    if cls.__setattr__ is _SET_PLAINLY and not has_in_type(cls, name):
        _store(alg, t[1], name, owner, value)
        return None, None
    if quiet(alg, t):
        setattr(owner, name, value)
        return None, None
    return _write(alg, t, name, owner, value, setattr)


def _store(alg: Algebra, token: Any, name: str, owner: Any, value: Any) -> None:
    """Store an attribute that no class of the owner has."""
    _SET_PLAINLY(owner, name, value)
    dictionary = dictionary_of(owner)
    entry = alg.shadows.get(id(dictionary))
    if entry is not None:
        entry[1][name] = token
    elif token is not None:
        if type(dictionary) is dict:
            alg.lifetimes.hold_owned(owner, dictionary, {name: token})
        else:
            keep_attribute(alg, owner, name, token)
    given = alg.given
    if given is not None and id(value) in given.ids:
        note_kept(alg, owner, Attribute(name), value)


def _write(alg: Algebra, t: Any, name: str, owner: Any, value: Any, store: Any) -> Result:
    """Write an attribute, natively by ``store``: ``setattr``, or what passes by the ``__setattr__`` of a class."""
    if is_content(owner, name) and (some(t) or reaches(alg, (owner, value))):
        assign_content(alg, t, name, owner, value)
        return None, None
    if t[1] is not None and type(value) is CodeType:
        fail(FunctionType.__dict__["__code__"], "code in which a number is written")
    form, found = writing(owner, name, plainly=store is not setattr)
    if form == "writer":
        apply(alg, (None, t[0], None, t[1]), found, (owner, name, value), {})
    elif form == "property":
        apply(alg, (None, t[0], t[1]), found, (owner, value), {})
    elif form == "setter":
        apply(alg, (None, None, t[0], t[1]), found[1], (found[0], owner, value), {})
    else:
        store(owner, name, value)
        if form == "held":
            _hold(alg, owner, found, value, t[1])
        else:
            keep_attribute(alg, owner, name, t[1])
            note_kept(alg, owner, Attribute(name), value)
    return None, None


def _hold(alg: Algebra, owner: Any, slot: Any, value: Any, token: Any) -> None:
    if slot is not ...:
        keep(alg, owner, slot, token)
        return
    for index in range(len(value or ())):
        keep(alg, owner, index, None if token is None else token[index])


def writing(owner: Any, name: str, plainly: bool) -> Plan:
    """How an attribute is written, and the code that does it; ``plainly``: past a ``__setattr__`` of the class."""
    cls = type(owner)
    if isinstance(owner, ModuleType):
        return "module", None
    writer = None if plainly else find_in_type(cls, "__setattr__")
    if is_followed(writer):
        return "writer", writer
    found = find_in_type(cls, name)
    if is_plainly(found, property, "__set__") and found.fset is not None:
        return "property", found.fset
    held = special_attributes.introspected(owner, name)
    if held is not None:
        return "held", held
    setter = find_in_type(type(found), "__set__") if found is not None else None
    by_code = type(setter) is FunctionType or keeps_elsewhere(found)
    return ("setter", (found, setter)) if by_code else ("plain", None)


def delattr_(alg: Algebra, t: Any, name: str, owner: Any) -> Result:
    """``del owner.name``."""
    deleter = find_in_type(type(owner), "__delattr__")
    if is_followed(deleter) and not quiet(alg, t):
        apply(alg, (None, t[0], None), deleter, (owner, name), {})
        return None, None
    return _delete(alg, t, name, owner, delattr)


def _delete(alg: Algebra, t: Any, name: str, owner: Any, remove: Any) -> Result:
    """Delete an attribute, natively by ``remove``."""
    found = find_in_type(type(owner), name)
    if is_plainly(found, property, "__delete__") and found.fdel is not None:
        apply(alg, (None, t[0]), found.fdel, (owner,), {})
        return None, None
    remover = find_in_type(type(found), "__delete__") if found is not None else None
    if type(remover) is FunctionType:
        apply(alg, (None, None, t[0]), remover, (found, owner), {})
        return None, None
    holder = holder_of(owner, name)
    remove(owner, name)
    keep(alg, holder, name, None)
    return None, None


@means(setattr)
def carried_setattr(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner, name, value = args
    return setattr_(alg, (t[0], t[2]), name, owner, value)


def storing(store: Any) -> Meaning:
    """``__setattr__`` of ``object`` or ``type``, past what a class makes of it."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        owner, name, value = args
        if store is _SET_PLAINLY and not has_in_type(type(owner), name):
            _store(alg, t[2], name, owner, value)
            return None, None
        return _write(alg, (t[0], t[2]), name, owner, value, store)

    return carried


def removing(remove: Any) -> Meaning:
    """``__delattr__`` of ``object`` or ``type``, past what a class makes of it."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        return _delete(alg, t[:1], args[1], args[0], remove)

    return carried


for _cls in (object, type):
    means(_cls.__setattr__)(storing(_cls.__setattr__))
    means(_cls.__delattr__)(removing(_cls.__delattr__))


@means(property.__set__)
def set_property(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    descriptor, owner, value = args
    if descriptor.fset is None:
        return descriptor.__set__(owner, value), None
    apply(alg, (None, t[1], t[2]), descriptor.fset, (owner, value), {})
    return None, None


@means(property.__delete__)
def delete_property(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    descriptor, owner = args
    if descriptor.fdel is None:
        return descriptor.__delete__(owner), None
    apply(alg, (None, t[1]), descriptor.fdel, (owner,), {})
    return None, None


@means(GetSetDescriptorType.__set__, MemberDescriptorType.__set__)
def write_slot(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``descriptor.__set__(owner, value)``: the attribute of that name, if it is what the descriptor stands for."""
    descriptor, owner, value = args
    if find_in_type(type(owner), descriptor.__name__) is not descriptor:
        return call_opaque(alg, t, type(descriptor).__set__, args, kwargs, NOT_PYTHON)

    def store(owner: Any, name: str, value: Any) -> None:
        descriptor.__set__(owner, value)

    return _write(alg, t[1:], descriptor.__name__, owner, value, store)


@means(delattr)
def carried_delattr(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    return delattr_(alg, t[:1], args[1], args[0])
