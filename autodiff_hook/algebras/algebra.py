"""What semantics may ask of an algebra: what is carried beside the values of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol
from weakref import ReferenceType

from autodiff_hook.algebras.lifetimes import Lifetimes, Table
from autodiff_hook.algebras.restoring import HOLDERS
from autodiff_hook.errors import AutodiffError, NotDifferentiable, Unsupported, located
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.memories import Memories

Token = Any
Result = tuple[Any, Token]


class Given(Protocol):
    """The references among the arguments (``given.py``)."""

    ids: set[int]
    kept: set[tuple[int, Any]]
    keys: set[tuple[int, int]]
    made: set[int]
    shared: set[int]

    def require_one_array(self, array: Any) -> None:
        """An array is written to, whose memory may be that of several arguments."""

    def met(self, alg: Algebra, reference: Any, key: Any, value: Any) -> None:
        """An argument was read from a slot of what is none."""

    def renames(self, reference: Any, key: Any) -> bool:
        """Whether such a slot gives an argument another name."""

    def is_key_before(self, reference: Any, key: Any) -> bool:
        """Whether a dict had a key that holds an argument before the program ran, or may have."""


class Algebra:
    """What is carried beside the values of a program: its tokens, and what they mean."""

    is_algebra = True
    """Generators hold one; it is nothing that a program refers to."""
    mode: str | None = None
    """Whether an algebra over another one goes forward or in reverse."""

    def __init__(self, over: Algebra | None = None) -> None:
        self.over = over
        """The algebra that carries the caller, if that is differentiated, too."""
        self.depth: int = 0 if over is None else over.depth + 1
        self.nested = False
        """Whether there are levels above."""
        self.shadows: Table = {} if over is None else over.shadows
        self.lifetimes: Lifetimes = Lifetimes(self.shadows) if over is None else over.lifetimes
        self.fresh = self.lifetimes.fresh
        self.losses: Table = {} if over is None else over.losses
        """References all of whose slots are unknown, with the token of that."""
        self.files: dict[str, Token] = {} if over is None else over.files
        """Files that were written with derivatives, by path, with the token of what stands there."""
        self.handed_over: list[int] = [] if over is None else over.handed_over
        """When another program was first given derivatives, which may write files: at most one moment, in ns."""
        self.generators: dict[int, Any] = {} if over is None else over.generators
        """Generators and coroutines that are carried: a weak reference, and where their tokens are."""
        self.buffers: dict[int, Any] = {}
        self.held: dict[int, Any] = {} if over is None else over.held
        """The buffers that pullbacks hold: a store into one of them keeps what was there."""
        self.uncaptured: set[int] = set() if over is None else over.uncaptured
        """Those of them that no pullback has captured: nobody asks for what stores overwrite there."""
        self.others = HOLDERS.known
        """The earlier passes whose pullbacks are alive: stores keep what was there for these, too."""
        self.given: Given | None = None if over is None else over.given
        """The references among the arguments, which may be met under another name."""
        self.numbers: Callable[[tuple[float, ...], Any], Token] | None = None
        """``linear``, where there is but this level."""
        self.typed: Any = None
        """What calls functions of numbers by typed programs, if this algebra has a use for them."""
        self.memories: Memories = Memories() if over is None else over.memories
        """What native objects may remember."""
        self.modules: set[str] = set() if over is None else over.modules
        self.entered: dict[int, tuple[ReferenceType[Any], int]] = {} if over is None else over.entered
        """The functions in scope and the classes that were called, by identity, and what the registry was then."""
        self.cached: dict[int, tuple[Any, dict[Any, tuple[Any, Any]]]] = {}
        """Caches, by identity, with what was computed for them here: the tokens it was asked with, value and token."""
        self.calls = 0
        """How many functions were carried."""
        self.unsearched = 0
        """How many functions of libraries run that were entered without a search for a reason: so is what they call."""
        self.answered: dict[int, tuple[Any, Token]] = {} if over is None else over.answered
        """Caches that native code has asked, with the token of their answers; None if all come of this pass."""
        self.named: BaseException | None = None
        """The error of ours that a handler of the program has named last."""
        self.dropped: AutodiffError | None = None
        """The first error of ours that a handler has taken which does not name it."""
        self.iterates = over is not None
        self.nesting = self.mode if over is not None and over.over is None else None
        """In which mode this algebra is over one that is over none, as long as there is none above."""
        while over is not None:
            over.nested, over.numbers, over.nesting, over = True, None, None, over.over

    def refuse_dropped(self, error: BaseException | None = None) -> None:
        """At the end of the program, which ``error`` may have ended: raise the error of ours that it has dropped."""
        if self.dropped is not None and isinstance(error, (Exception, type(None))):
            raise self.dropped

    def call_rule(self, rule: Any, function: Any, args: Any, kwargs: Any, tokens: tuple[Any, ...]) -> Result:
        """The value of a rule, and its token; ``tokens`` are the whole ones, in the order of the cotangents."""
        raise NotImplementedError

    def moves_nan(self, tokens: Any) -> bool:
        """Whether a tangent among some tokens is nan."""
        return False

    def linear(self, partials: Any, tokens: Any) -> Any:
        """What a number is at this level that is made of others, from its partial derivatives and what these are.

        Over another algebra, the partial derivatives have tokens there.
        """
        raise NotImplementedError

    def scaled(self, value: Any, scale: Any, token: Token) -> Token:
        """The token of a new array whose tangent is ``scale`` times that of what has this token.

        Asked only where ``numbers`` is there.
        """
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

    def begin(self, array: Any, token: Token) -> None:
        """``array``, a field of records, has this token from the beginning: nothing has been stored there."""
        raise NotImplementedError

    def adopt(self, array: Any, token: Token) -> None:
        """``array`` is new, and has the content, and so the token, of another."""
        raise NotImplementedError

    def reshape(self, array: Any, token: Token, shape: Any) -> None:
        """``array.shape = shape``, where ``token`` is that of the array."""
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
