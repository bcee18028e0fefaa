"""Shadows: the tokens of what references hold, by identity; those of values travel beside them.

The shadow of a list is a parallel list of tokens; that of anything else is a dict, by key, attribute,
element, or 0 for a cell. None is certainly constant.
"""

from __future__ import annotations

from collections.abc import Callable
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final, Protocol

from autodiff_hook.errors import AutodiffError, NotDifferentiable, Unsupported, located
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.memories import Memories
from autodiff_hook.runtime.reachable import captured_by, reachable
from autodiff_hook.runtime.slots import Attribute

Token = Any
Result = tuple[Any, Token]

_SLOTS: Final = (MemberDescriptorType, GetSetDescriptorType)


class Given(Protocol):
    """The references among the arguments (``given.py``)."""

    ids: set[int]
    kept: dict[tuple[int, Any], Any]

    def met(self, alg: Algebra, reference: Any, key: Any, value: Any) -> None:
        """An argument was read from a slot of what is none."""


class Algebra:
    """What is carried beside the values of a program: its tokens, and what they mean."""

    is_algebra = True
    """Generators hold one; it is nothing that a program refers to."""

    def __init__(self, over: Algebra | None = None) -> None:
        self.over = over
        """The algebra that carries the caller, if that is differentiated, too."""
        self.depth: int = 0 if over is None else over.depth + 1
        self.nested = False
        """Whether there are levels above."""
        self.shadows: dict[int, tuple[Any, Any]] = {} if over is None else over.shadows
        self.losses: dict[int, tuple[Any, Token]] = {} if over is None else over.losses
        """References all of whose slots are unknown, with the token of that."""
        self.generators: dict[int, Any] = {} if over is None else over.generators
        """Generators and coroutines that are carried: a weak reference, and where their tokens are."""
        self.buffers: dict[int, Any] = {}
        self.held: dict[int, Any] = {} if over is None else over.held
        """The buffers that pullbacks hold: a store into one of them keeps what was there."""
        self.given: Given | None = None if over is None else over.given
        """The references among the arguments, which may be met under another name."""
        self.numbers: Callable[[tuple[float, float], Any], Token] | None = None
        """What makes a token of two partial derivatives and the tokens of two numbers; None within derivatives."""
        self.typed: Any = None
        """What calls functions of numbers by typed programs, if this algebra has a use for them."""
        self.memories: Memories = Memories() if over is None else over.memories
        """What native objects may remember."""
        self.modules: set[str] = set() if over is None else over.modules
        self.named: BaseException | None = None
        """The error of ours that a handler of the program has named last."""
        self.dropped: AutodiffError | None = None
        """The first error of ours that a handler has taken which does not name it."""
        self.iterates = over is not None
        while over is not None:
            over.nested, over.numbers, over = True, None, over.over

    def refuse_dropped(self, error: BaseException | None = None) -> None:
        """At the end of the program, which ``error`` may have ended: raise the error of ours that it has dropped."""
        if self.dropped is not None and isinstance(error, (Exception, type(None))):
            raise self.dropped

    def call_rule(self, rule: Any, function: Any, args: Any, kwargs: Any, tokens: tuple[Any, ...]) -> Result:
        """The value of a rule, and its token; ``tokens`` are the whole ones, in the order of the cotangents."""
        raise NotImplementedError

    def unknown(self, error: NotDifferentiable) -> Token:
        """A token that raises as soon as a derivative is asked of it."""
        raise NotImplementedError

    def is_unknown(self, token: Token) -> bool:
        """Whether a token is one of ``unknown``."""
        raise NotImplementedError

    def spread(self, value: Any, token: Token) -> Token:
        """The token of a new value; that of what references hold goes to their shadows."""
        raise NotImplementedError

    def read(self, array: Any, token: Token) -> Token:
        """The token of an array that may have been written to."""
        raise NotImplementedError

    def write(self, array: Any, key: Any, value: Any, before: Token, moving: Token) -> None:
        """``array[key] = value``, where ``before`` is the token of the array."""
        raise NotImplementedError

    def overwritten(self, array: Any, before: Any, unknown: Token) -> None:
        """Native code has written to an array, or may have: constants, or what is unknown."""
        raise NotImplementedError

    def part(self, array: Any, key: Any, value: Any, token: Token) -> Token:
        """The token of ``value``, which is ``array[key]``."""
        raise NotImplementedError

    def version(self, array: Any) -> Any:
        """What is known of the buffer of an array at this level."""
        return self.buffers.get(id(root_of(array)))

    def restore_version(self, array: Any, version: Any) -> None:
        """An array has the content that it had when its version was this."""
        key = id(root_of(array))
        if version is None:
            self.buffers.pop(key, None)
        else:
            self.buffers[key] = version

    def hooked(self, function: Any, value: Any, tree: Any) -> Token:
        """The token of ``value``, whose cotangents go through ``function``; ``tree`` has the tokens in it."""
        raise Unsupported(located("hook(fn, x): fn is given cotangents, so it has no forward mode (jvp, hvp)"))

    def checkpointed(self, run: Callable[[], Result], call: tuple[Any, Any, Any]) -> Result:
        """What ``run`` gives: value and tokens of a call, which may be made again rather than kept."""
        return run()


def kind(value: Any) -> str:
    """What the type of a value means for differentiation."""
    return kind_of(type(value))


def is_list(value: Any) -> bool:
    """Whether the tokens of ``value`` are kept in a list."""
    return isinstance(value, list)


def some(tokens: Any) -> bool:
    """Whether one of the tokens is not None."""
    return any(token is not None for token in tokens)


def quiet(alg: Algebra, tokens: Any) -> bool:
    """Whether a call with these tokens can have no derivative at all."""
    return idle(alg) and all(token is None for token in tokens)


def idle(alg: Algebra) -> bool:
    """Whether nothing that can be reached without a token matters to a derivative."""
    return not (alg.shadows or alg.buffers or alg.losses or alg.held or alg.iterates)


def reaches(alg: Algebra, value: Any) -> bool:
    """Whether something with a token can be reached from ``value`` by reference."""
    if idle(alg):
        return False
    written = bool(alg.buffers)
    return any(_has_token(alg, item) for item in reachable(value, written, alg.memories.given))


def _has_token(alg: Algebra, item: Any) -> bool:
    form = kind_of(type(item))
    if form == "array":
        return id(root_of(item)) in alg.buffers
    if type(item).__name__ == "CarriedIterator" or id(item) in alg.generators:
        return True
    if (
        form == "object"
        and type(item).__flags__ & _HEAP_TYPE
        and any([id(cell) in alg.shadows for cell in captured_by(type(item))])
    ):
        return True
    entry = alg.shadows.get(id(item))
    if entry is not None:
        return some(entry[1] if isinstance(entry[1], list) else entry[1].values())
    if id(item) in alg.losses:
        return True
    return bool(alg.buffers) and alg.memories.may_have(item, [root for root, _ in alg.buffers.values()])


_HEAP_TYPE: Final = 1 << 9


def check_length(reference: Any, tokens: Any) -> None:
    """Raise if a list was changed by code that is not carried."""
    if isinstance(reference, list) and len(reference) != len(tokens):
        raise Unsupported(
            located("a list that holds what is differentiated was changed by code that is not differentiated")
        )


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
        found = [None] * len(reference) if is_list(reference) else {}
        alg.shadows[id(reference)] = (reference, found)
    return found


def to_change(alg: Algebra, reference: Any, tokens: Any) -> Any:
    """The tokens of the slots of ``reference`` if they matter when ``tokens`` are stored there."""
    return opened(alg, reference) if some(tokens) else known(alg, reference)


def load_attribute(alg: Algebra, owner: Any, name: str, value: Any) -> Token:
    """The token of ``value``, an attribute that ``owner`` itself has."""
    holder = holder_of(owner, name)
    token = None if is_list(holder) else _slot(alg, holder, name)
    return _arrived(alg, owner, Attribute(name), value) if token is None else token


def keep_attribute(alg: Algebra, owner: Any, name: str, token: Token) -> None:
    """The token of an attribute that ``owner`` itself has is this from now on."""
    holder = holder_of(owner, name)
    if not is_list(holder):
        keep(alg, holder, name, token)
    elif token is not None:
        raise Unsupported(located(f"the attribute {name!r} of a {type(owner).__qualname__}, a list with __slots__"))


def holder_of(owner: Any, name: str) -> Any:
    """The reference that an attribute of ``owner`` is a slot of: its ``__dict__``, or ``owner`` itself."""
    dictionary = getattr(owner, "__dict__", None)
    if type(dictionary) is dict and (name in dictionary or not isinstance(find_in_type(type(owner), name), _SLOTS)):
        return dictionary
    return owner


def load(alg: Algebra, reference: Any, key: Any, value: Any) -> Token:
    """The token of ``value``, which is in a slot of ``reference``."""
    token = _slot(alg, reference, key)
    return _arrived(alg, reference, key, value) if token is None else token


def _slot(alg: Algebra, reference: Any, key: Any) -> Token:
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
        alg.given.kept[id(reference), key] = reference


def lose(alg: Algebra, value: Any, unknown: Token) -> Token:
    """The token of a value of which nothing is known; what it holds is unknown, too."""
    form = kind_of(type(value))
    if form in ("number", "array") or isinstance(value, (bytes, bytearray)):
        return unknown
    if form == "tuple":
        return tuple([lose(alg, item, unknown) for item in value])
    if form == "inert" or id(value) in alg.shadows or id(value) in alg.losses:
        return None
    if form == "list":
        tokens: list[Token] = [None] * len(value)
        alg.shadows[id(value)] = (value, tokens)
        for index, item in enumerate(value):
            tokens[index] = lose(alg, item, unknown)
    elif form == "dict":
        named: dict[Any, Token] = {}
        alg.shadows[id(value)] = (value, named)
        for key, item in value.items():
            named[key] = lose(alg, item, unknown)
    else:
        alg.losses[id(value)] = (value, unknown)
        if type(getattr(value, "__dict__", None)) is dict:
            lose(alg, value.__dict__, unknown)
    return None


def keep(alg: Algebra, reference: Any, key: Any, token: Token) -> None:
    """The token of one slot is this from now on."""
    if token is not None or known(alg, reference) is not None:
        opened(alg, reference)[key] = token


def keep_all(alg: Algebra, reference: Any, tokens: Any) -> None:
    """The tokens of all slots of a new reference."""
    if some(tokens if is_list(tokens) else tokens.values()):
        alg.shadows[id(reference)] = (reference, tokens)
