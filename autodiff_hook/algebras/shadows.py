"""Shadows: the tokens of what references hold, by identity; those of values travel beside them.

The shadow of a list, deque or ``array.array`` is a parallel list of tokens; that of anything else is a dict, by key,
attribute, element, or 0 for a cell. The keys of a dict are slots of it, too, by ``Key``. None is certainly constant.
"""

from __future__ import annotations

import enum
import gc
from array import array
from collections import defaultdict, deque
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.algebra import Algebra as Algebra
from autodiff_hook.algebras.algebra import Result as Result
from autodiff_hook.algebras.algebra import Token as Token
from autodiff_hook.algebras.lifetimes import MANY, enter_weakly
from autodiff_hook.algebras.restoring import HOLDERS
from autodiff_hook.errors import Unsupported, located
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.kinds import WRITTEN, kind_of
from autodiff_hook.runtime.lookup import (
    behind,
    dictionary_of,
    find_in_type,
    is_importable,
    is_open,
    own_attributes,
    slots_of,
)
from autodiff_hook.runtime.reachable import function_in
from autodiff_hook.runtime.slots import Attribute

_SLOTS: Final = (MemberDescriptorType, GetSetDescriptorType)


class Key:
    """The slot of a dict that holds one of its keys: the very object, not one that is equal to it."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __hash__(self) -> int:
        # Not as the key may say it itself: Python would ask the key whether it is equal to this.
        return hash((Key, id(self.key)))

    def __eq__(self, other: object) -> bool:
        return type(other) is Key and other.key is self.key


def kind(value: Any) -> str:
    """What the type of a value means for differentiation."""
    return kind_of(type(value))


def is_list(value: Any) -> bool:
    """Whether the tokens of ``value`` are kept in a list or deque that is parallel to it."""
    return issubclass(type(value), _PARALLEL)


def count_of(reference: Any) -> int:
    """How many items a list or deque has, whatever its class says of its length."""
    cls = type(reference)
    if cls is list:
        return len(reference)
    own: int = next(base for base in _PARALLEL if issubclass(cls, base)).__len__(reference)
    return own


_PARALLEL: Final = (list, deque, array)


def some(tokens: Any) -> bool:
    """Whether one of the tokens is not None."""
    for token in tokens:
        if token is not None:
            return True
    return False


def quiet(alg: Algebra, tokens: Any) -> bool:
    """Whether a call with these tokens can have no derivative at all."""
    return not some(tokens) and idle(alg)


def idle(alg: Algebra) -> bool:
    """Whether nothing that can be reached without a token matters to a derivative."""
    return not (alg.shadows or alg.buffers or alg.losses or alg.held or alg.others or alg.iterates or alg.files)


def is_held(alg: Algebra, array: Any) -> bool:
    """Whether pullbacks hold the memory of an array."""
    root = root_of(array)
    return id(root) in alg.held or bool(alg.others and HOLDERS.of(root))


def holds(alg: Algebra, reference: Any) -> bool:
    """Whether a slot of ``reference`` itself has a token."""
    entry = alg.shadows.get(id(reference))
    return entry is not None and some(entry[1] if is_list(entry[1]) else entry[1].values())


def check_length(reference: Any, tokens: Any) -> None:
    """Raise if a list was changed by code that is not carried; where it holds constants, it holds others now."""
    if is_list(reference) and count_of(reference) != len(tokens):
        if some(tokens):
            name = type(reference).__name__
            raise Unsupported(
                located(f"a {name} that holds what is differentiated was changed by code that is not differentiated")
            )
        tokens.clear()
        tokens.extend([None] * count_of(reference))


def known(alg: Algebra, reference: Any) -> Any:
    """The tokens of the slots of ``reference``; None if it never held one."""
    entry = alg.shadows.get(id(reference))
    if entry is None:
        return None
    check_length(reference, entry[1])
    return entry[1]


def opened(alg: Algebra, reference: Any) -> Any:
    """The tokens of the slots of ``reference``, to be changed."""
    found = known(alg, reference)
    if found is None:
        found = blank_tokens(reference)
        alg.lifetimes.hold(reference, found)
    return found


def blank_tokens(reference: Any) -> Any:
    """The tokens of the slots of ``reference`` if all are constant."""
    return parallel(reference, [None] * count_of(reference)) if is_list(reference) else {}


def parallel(reference: Any, tokens: list[Token]) -> Any:
    """The tokens of a list or deque, as they are kept."""
    return deque(tokens, reference.maxlen) if issubclass(type(reference), deque) else tokens


def to_change(alg: Algebra, reference: Any, tokens: Any) -> Any:
    """The tokens of the slots of ``reference`` if they matter when ``tokens`` are stored there."""
    return opened(alg, reference) if some(tokens) else known(alg, reference)


def load_attribute(alg: Algebra, owner: Any, name: str, value: Any) -> Token:
    """The token of ``value``, an attribute that ``owner`` itself has."""
    holder = holder_of(owner, name)
    token = None if is_list(holder) else slot_token(alg, holder, name)
    return _arrived(alg, owner, Attribute(name), value) if token is None else token


def keep_attribute(alg: Algebra, owner: Any, name: str, token: Token) -> None:
    """The token of an attribute that ``owner`` itself has is this from now on."""
    holder = holder_of(owner, name)
    if not is_list(holder):
        entry = alg.shadows.get(id(holder))
        if entry is not None:
            entry[1][name] = token
        elif token is None:
            return
        elif holder is not owner:
            alg.lifetimes.hold_owned(owner, holder, {name: token})
        else:
            keep(alg, holder, name, token)
    elif token is not None:
        raise Unsupported(located(f"the attribute {name!r} of a {type(owner).__qualname__}, a list with __slots__"))


def holder_of(owner: Any, name: str) -> Any:
    """The reference that an attribute of ``owner`` is a slot of: its ``__dict__``, or ``owner`` itself."""
    if issubclass(type(owner), type):
        return behind(owner.__dict__)
    dictionary = dictionary_of(owner)
    if type(dictionary) is not dict or name in slots_of(type(owner)):
        return owner
    known = name in dictionary or not isinstance(find_in_type(type(owner), name), _SLOTS)
    return dictionary if known else owner


def load(alg: Algebra, reference: Any, key: Any, value: Any) -> Token:
    """The token of ``value``, which is in a slot of ``reference``."""
    found = known(alg, reference)
    if found is not None:
        token = found.get(key) if type(found) is dict else found[key]
        if token is not None:
            return token
    return _arrived(alg, reference, key, value)


def load_key(alg: Algebra, reference: Any, key: Any) -> Token:
    """The token of a key that a dict has: this object."""
    if type(key) is str:
        found = known(alg, reference)
        return found.get(Key(key)) if found else None
    return load(alg, reference, Key(key), key)


def keep_key(alg: Algebra, reference: Any, key: Any, token: Token) -> None:
    """A dict is about to get a key with this token; it keeps the key that it has, if that is equal."""
    if type(key) is str and token is None:
        return
    _note_key(alg, reference, key)
    found = opened(alg, reference) if token is not None else known(alg, reference)
    if found is None:
        return
    slot = Key(key)
    if found.get(slot) is not token and not dict.__contains__(reference, key):
        found[slot] = token


def keep_keys(alg: Algebra, reference: Any, keys: Any, tokens: Any) -> None:
    """The tokens of the keys of a new dict, whose values the program has put there."""
    for key, token in zip(keys, tokens):
        _note_key(alg, reference, key)
        if token is not None:
            found = opened(alg, reference)
            found[Key(key)] = token
            found.setdefault(key, None)


def _note_key(alg: Algebra, reference: Any, key: Any) -> None:
    """The program has put a key into a dict; that is asked for those that hold an argument."""
    if alg.given is not None and alg.given.ids and kind(key) in ("object", "tuple"):
        alg.given.keys.add((id(reference), id(key)))


def drop_key(found: Any, key: Any) -> Token:
    """Forget the tokens of a key and its value; what that of the value was."""
    found.pop(Key(key), None)
    return found.pop(key, None)


def slot_token(alg: Algebra, reference: Any, key: Any) -> Token:
    """The token of what is in a slot, whether or not it is known where that is from."""
    found = known(alg, reference)
    if found is None:
        return None
    return found[key] if is_list(reference) else found.get(key)


def _arrived(alg: Algebra, reference: Any, key: Any, value: Any) -> Token:
    """The token of what was read from a slot that has none."""
    if alg.losses and id(reference) in alg.losses:
        return lose(alg, value, alg.losses[id(reference)][1])
    if alg.given is not None and id(value) in alg.given.ids and id(reference) not in alg.given.ids:
        alg.given.met(alg, reference, key, value)
    return None


def note_kept(alg: Algebra, reference: Any, key: Any, value: Any) -> None:
    """The program has put ``value`` into a slot: if that is an argument, it is its name from now on."""
    if alg.given is not None and id(value) in alg.given.ids:
        alg.given.kept.add((id(reference), key))


def note_made(alg: Algebra, reference: Any) -> None:
    """The program has made a reference: nothing that was there before it knows that."""
    if alg.given is not None and alg.given.ids:
        alg.given.made.add(id(reference))


def lose(alg: Algebra, value: Any, unknown: Token) -> Token:
    """The token of a value of which nothing is known; what it holds is unknown, too."""
    cls, form = type(value), kind_of(type(value))
    if cls in BOUND and not isinstance(value.__self__, ModuleType):
        return lose(alg, value.__self__, unknown)
    if cls is MethodType:
        lose(alg, value.__func__, unknown)
        return lose(alg, value.__self__, unknown)
    token: Token = None
    if form in ("number", "array") or issubclass(cls, WRITTEN):
        token = unknown
    elif form == "tuple":
        token = tuple([lose(alg, item, unknown) for item in value])
    elif form == "inert" and not may_show(value) or id(value) in alg.shadows or id(value) in alg.losses:
        return None
    elif is_list(value):
        tokens: list[Token] = [None] * count_of(value)
        alg.lifetimes.hold(value, parallel(value, tokens))
        for index, item in enumerate(value):
            known(alg, value)[index] = lose(alg, item, unknown)
    elif form == "dict":
        named: dict[Any, Token] = {}
        alg.lifetimes.hold(value, named)
        for key, item in value.items():
            named[key] = lose(alg, item, unknown)
            if type(key) not in (str, int):
                named[Key(key)] = lose(alg, key, unknown)
    else:
        enter_weakly(alg.losses, value, unknown)
    for held in _held_besides(value):
        lose(alg, held, unknown)
    return token


def _held_besides(value: Any) -> list[Any]:
    """What is read out of a value, but not as an item or an attribute of its own."""
    cls = type(value)
    if issubclass(cls, type):
        methods = [function_in(x) for x in vars(value).values()]
        return [cls, *value.__mro__, *[x for x in methods if type(x) is FunctionType]]
    held = [cls] if is_open(cls) else []
    if cls is FunctionType:
        held += value.__closure__ or ()
    elif issubclass(cls, _SHOWING):
        held += gc.get_referents(value)
    elif issubclass(cls, defaultdict):
        held.append(value.default_factory)
    dictionary = own_attributes(value) if cls.__dictoffset__ or cls is FunctionType else None
    return held if dictionary is None else [*held, dictionary]


_SHOWING: Final = (partial, MappingProxyType, *map(type, ({}.keys(), {}.values(), {}.items())), np.ufunc)
"""What shows another object, or calls it."""


def may_show(value: Any) -> bool:
    """Whether something may be got out of what is inert: opaque code may have made it for that."""
    cls = type(value)
    if issubclass(cls, (type, ModuleType)):
        return not is_importable(value)
    if issubclass(cls, enum.Enum):
        return not is_importable(cls)
    if issubclass(cls, np.ufunc):
        return FunctionType in map(type, gc.get_referents(value))
    return cls is slice or issubclass(cls, np.dtype) and value.metadata is not None


BOUND: Final = (BuiltinFunctionType, MethodWrapperType)
"""Native methods of what they are bound to, whose token is theirs."""


def ended(alg: Algebra) -> None:
    """Some variables have ended, or slots were emptied: what only shadows refer to goes."""
    if alg.fresh or alg.lifetimes.suspects:
        alg.lifetimes.drop_suspects()


def note_lost(alg: Algebra, reference: Any, unknown: Token) -> None:
    """All that a reference holds is unknown from now on, unless that has been said before.

    What a function holds are cells and a dict, references of their own: only one that has been made so is unknown.
    """
    if id(reference) not in alg.losses and type(reference) is not FunctionType:
        enter_weakly(alg.losses, reference, unknown)


def note_rewritten(alg: Algebra, reference: Any, unknown: Token) -> None:
    """The same, whatever has been said of slots before."""
    note_lost(alg, reference, unknown)
    alg.shadows.pop(id(reference), None)


def keep(alg: Algebra, reference: Any, key: Any, token: Token) -> None:
    """The token of one slot is this from now on."""
    if token is not None or known(alg, reference) is not None:
        opened(alg, reference)[key] = token


def keep_all(alg: Algebra, reference: Any, tokens: Any) -> None:
    """The tokens of all slots of a new reference."""
    if some(tokens.values() if type(tokens) is dict else tokens):
        cls, fresh = type(reference), alg.fresh
        if (cls is list or cls is dict) and len(fresh) < MANY:
            key = id(reference)
            alg.shadows[key] = reference, tokens
            fresh.append(key)
        else:
            alg.lifetimes.hold(reference, tokens)
