"""The rule registry: which callables have a derivative, and which are declared to have none.

A rule is an ordinary function with the parameters of its target. It returns the value and a pullback,
a named local function that takes the cotangent of the value (never None; of a tuple or list: a tuple
or list in which None stands for zero) and returns a tuple: one cotangent for each parameter in order,
keyword-only ones left out, ``*args`` contributing one each. None is a structural zero.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any as AnyType
from typing import Final

from autodiff_hook.errors import AutodiffError
from autodiff_hook.packs import Packs
from autodiff_hook.parameters import Names, Parameters, forget, parameters_of
from autodiff_hook.records import record
from autodiff_hook.signatures import (
    Any,
    Entry,
    Signature,
    are_ambiguous,
    is_more_specific,
    matches,
    may_redefine,
    meet,
    padded,
    redefines,
)

Rule = Callable[..., tuple[AnyType, Callable[[AnyType], tuple[AnyType, ...]]]]


class _Linear:
    def __repr__(self) -> str:
        return "LINEAR"


LINEAR: Final = _Linear()
"""The forward form for an argument in which a function is linear, whatever the others are: the function itself."""
Form = Callable[..., AnyType] | _Linear | None
"""A forward form; a ``Deferred`` one is made when it is asked for."""


_NOT_YET: Final = object()
_VARIES: Final = object()
"""What is kept for classes that may be changed: which rule it is depends on what they redefine now."""


class Deferred:
    """A rule, or a forward form, of ``module`` that is made when it is first asked for."""

    def __init__(self, module: str, make: Callable[[], AnyType]) -> None:
        self.module, self._make = module, make

    def made(self) -> AnyType:
        """The rule itself: one for all threads."""
        found = self.__dict__.get("_made")
        return self.__dict__.setdefault("_made", self._make()) if found is None else found


@record(frozen=True)
class _Registered:
    """A rule, and the types of arguments that it is for."""

    signature: Signature
    given: Rule | Deferred

    @property
    def rule(self) -> Rule:
        if not isinstance(self.given, Deferred):
            return self.given
        rule: Rule = self.given.made()
        registry.note(rule)
        return rule


class Registry:
    """Rules by callable and argument types; the most specific signature wins.

    Who asks takes no lock: the rules of a target are one tuple, and what is remembered of questions goes with the dict
    that it was put into before the rules were looked at.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._rules: dict[int, tuple[object, tuple[_Registered, ...]]] = {}
        self._constants: dict[int, tuple[object, str | None]] = {}
        self._refused: dict[int, tuple[object, str]] = {}
        self._written: dict[int, tuple[object, tuple[int, ...]]] = {}
        self._forms: dict[int, tuple[object, tuple[Form | Deferred, ...]]] = {}
        self._asked: dict[type, frozenset[str]] = {}
        self._lookups: dict[tuple[object, ...], AnyType] = {}
        self._listeners: list[Callable[[], None]] = []
        self.packs = Packs(lambda: self.version, self._tell, self._is_known)
        self.tested: dict[int, Rule] = {}
        """The rules of declared packs, by id: what their pullbacks return is looked at by tests alone."""
        self.version = 0

    def add(self, target: AnyType, signature: Signature, rule: Rule | Deferred) -> None:
        """Register ``rule``; a rule with the same signature is replaced."""
        while signature and signature[-1] is Any:
            signature = signature[:-1]
        with self._lock:
            _, rules = self._rules.get(id(target), (target, ()))
            others = [other for other in rules if other.signature != signature]
            for other in others:
                if are_ambiguous(other.signature, signature):
                    both = meet(signature, other.signature)
                    if not any(padded(r.signature, len(both)) == both for r in rules):
                        raise AutodiffError(
                            f"the rule {_named(rule)} for {describe(target)} with the signature {signature} is "
                            f"ambiguous beside {other.signature}: register one for {both} first"
                        )
            self._rules[id(target)] = target, (*others, _Registered(signature, rule))
            self._constants.pop(id(target), None)
            if not isinstance(rule, Deferred):
                self.note(rule)
            self._forget_answers()
        self._tell()

    def note(self, rule: Rule) -> None:
        """Note a rule of a declared pack."""
        if self.packs.declares(rule.__module__ or ""):
            self.trust(rule)

    def trust(self, rule: Rule) -> None:
        """Take what the pullbacks of a rule return as they are, and inline them."""
        self.tested[id(rule)] = rule

    def add_constant(self, target: AnyType, because: str | None = None) -> None:
        """Declare that ``target`` has no derivative: its results are constants, for the reason that is given."""
        with self._lock:
            self._constants[id(target)] = target, because
            self._rules.pop(id(target), None)
            self._forget_answers()
        self._tell()

    def add_refusal(self, target: AnyType, because: str) -> None:
        """Say why ``target`` shall have no derivative, and is an error if a gradient wants to pass."""
        self._refused[id(target)] = target, because

    def refusal(self, target: AnyType) -> str | None:
        """Why ``target`` shall have no derivative; None if nothing is said."""
        self.packs.load()
        module = getattr(target, "__module__", None) or getattr(type(target), "__module__", None)
        return self._refused.get(id(target), (None, None))[1] or self.packs.without.get(str(module).partition(".")[0])

    def add_written(self, target: AnyType, places: tuple[int, ...]) -> None:
        """Declare which arguments of ``target`` a call may write to."""
        self._written[id(target)] = (target, places)

    def written(self, target: AnyType) -> tuple[int, ...] | None:
        """The places of the arguments that a call of ``target`` may write to; None if nothing is declared."""
        self.packs.load(target)
        found = self._written.get(id(target))
        return None if found is None else found[1]

    def add_forms(self, target: AnyType, forms: tuple[Form | Deferred, ...]) -> None:
        """Register the forward forms of ``target``."""
        with self._lock:
            self._forms[id(target)] = (target, forms)
            self._forget_answers()
        self._tell()

    def forms(self, target: AnyType) -> tuple[Form, ...]:
        """The forward forms of ``target``, one for each of its first parameters."""
        self.packs.load(target)
        forms = self._forms.get(id(target), (None, ()))[1]
        return tuple([form.made() if isinstance(form, Deferred) else form for form in forms])

    def _forget_answers(self) -> None:
        self._lookups = {}
        forget()
        self.version += 1

    def _tell(self) -> None:
        """Tell the listeners of a change; what a pack adds is told when it is loaded."""
        if not self.packs.is_loading():
            for listener in self._listeners:
                listener()

    def when_changed(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` whenever a rule or a declaration is added."""
        self._listeners.append(listener)

    def rule(self, target: AnyType, types: tuple[type, ...], names: Names = ()) -> Rule | None:
        """The rule for calling ``target`` with positional arguments of these types, and options of these names."""
        key = (id(target), names, *types) if names else (id(target), *types)
        found = self._lookups.get(key, _NOT_YET)
        if found is _VARIES:
            key = (*key, *map(redefines, types))
            found = self._lookups.get(key, _NOT_YET)
        if found is not _NOT_YET:
            return found  # type: ignore[no-any-return]
        self.packs.load(target, types)
        lookups = self._lookups
        result = self._chosen(target, types, lambda rule: parameters_of(rule).misfit(len(types), names) is None)
        if id(target) in self._rules:
            if len(lookups) > 10_000:
                lookups.clear()
            first = type(key[-1]) is not bool
            lookups[key] = _VARIES if first and any(map(may_redefine, types)) else result
        return result

    def misfit(self, target: AnyType, types: tuple[type, ...], names: Names) -> str | None:
        """What in this call the rule for these types does not know; None if there is no rule for them."""
        rule = self._chosen(target, types, lambda rule: True)
        return None if rule is None else parameters_of(rule).misfit(len(types), names)

    def _chosen(self, target: AnyType, types: tuple[type, ...], fits: Callable[[Rule], bool]) -> Rule | None:
        found = None
        for candidate in self._rules.get(id(target), (None, ()))[1]:
            better = found is None or is_more_specific(candidate.signature, found.signature)
            if better and matches(candidate.signature, types) and fits(candidate.rule):
                found = candidate
        return None if found is None else found.rule

    def parameters(self, target: AnyType) -> Parameters:
        """Those of ``target``; where it has no signature, those of a rule for it."""
        own = parameters_of(target)
        rules = () if own.known else self._rules.get(id(target), (None, ()))[1]
        return parameters_of(rules[0].rule) if rules else own

    def has_rules(self, target: AnyType) -> bool:
        """Whether any rule is registered for ``target``, whatever the types."""
        self.packs.load(target)
        return id(target) in self._rules

    def targets(self, package: str) -> list[AnyType]:
        """What the modules of a package have registered rules for."""
        known = list(self._rules.values())
        return [x for x, rules in known if any(_module_of(r.given).partition(".")[0] == package for r in rules)]

    def knows(self, target: AnyType) -> bool:
        """Whether ``target`` has rules or is declared to have no derivative."""
        self.packs.load(target)
        return self._is_known(target)

    def _is_known(self, target: AnyType) -> bool:
        return id(target) in self._rules or id(target) in self._constants

    def is_constant(self, target: AnyType) -> bool:
        """Whether ``target`` is declared non-differentiable."""
        if id(target) in self._constants:
            return True
        self.packs.load(target)
        return id(target) in self._constants

    def add_asked(self, cls: type, names: str) -> None:
        """Objects of ``cls`` hold constants: their attributes and methods of these names only ask them."""
        self._asked[cls] = frozenset(names.split())

    def asked(self, cls: type) -> frozenset[str] | None:
        """The names by which objects of ``cls`` are only asked; None if they may hold more than constants."""
        self.packs.load(cls)
        return self._asked.get(cls)

    def constants(self) -> list[tuple[AnyType, str | None]]:
        """What is declared non-differentiable, with the reasons."""
        self.packs.load()
        return list(self._constants.values())

    def reason(self, target: AnyType) -> str | None:
        """Why ``target`` was declared non-differentiable, if that was said."""
        self.packs.load(target)
        return self._constants.get(id(target), (None, None))[1]

    def renew_lock(self) -> None:
        """In a child process nobody gives back what another thread held."""
        self._lock = threading.RLock()


registry: Final = Registry()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=registry.renew_lock)


def describe(target: AnyType) -> str:
    """The dotted name of a callable, for messages; of an object without a name, the class it is of."""
    if isinstance(target, str):
        return target
    owner = getattr(target, "__objclass__", None)
    module = getattr(owner or target, "__module__", None)
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None)
    if not isinstance(name, str):
        return f"a {describe(type(target))}"
    return name if module in (None, "builtins", "__main__") else f"{module}.{name}"


def _module_of(rule: Rule | Deferred) -> str:
    return rule.module if isinstance(rule, Deferred) else rule.__module__ or ""


def _named(rule: Rule | Deferred) -> str:
    return f"of {rule.module}" if isinstance(rule, Deferred) else describe(rule)


def rrule(target: AnyType, *signature: Entry) -> Callable[[Rule], Rule]:
    """Register a derivative of ``target`` for arguments of the given types.

    ``signature`` lists types or kinds (``Real``, ``Complex``, ``Array``, ``Any``) of the leading
    arguments; those not listed are ``Any``. Raises ``AutodiffError`` if the signature is ambiguous
    beside one that exists.

    >>> def cube(x):
    ...     return x**3
    >>> @rrule(cube)
    ... def cube_rule(x):
    ...     def cube_pullback(ȳ):
    ...         return (3 * x**2 * ȳ,)
    ...     return x**3, cube_pullback
    """

    def register(rule: Rule) -> Rule:
        registry.add(target, signature, rule)
        return rule

    return register


def frule(target: AnyType, *forms: Form | Deferred) -> AnyType:
    """Register forward forms of ``target``, which has a rule: for each parameter what its tangent contributes.

    Several targets, in a tuple, have the same.

    A form is called with the tangent of its parameter, the value, and all arguments by position; it gives the part of
    the value's tangent that is due to it, in the shape of the value. It is one expression, of what its module has.
    ``LINEAR`` stands for ``target`` with the tangent in the place of the argument. A parameter with the form None, and
    all that are not listed, have none, nor have calls with options that are given by keyword only, nor those with
    several arguments of functions that take any number: there the pullback is transposed, which gives the same and
    takes longer. ``testing.check_rule`` compares both.

    >>> @rrule(scaled := lambda x, n: n * x)
    ... def scaled_rule(x, n):
    ...     def scaled_pullback(ȳ):
    ...         return n * ȳ, x * ȳ
    ...     return n * x, scaled_pullback
    >>> _ = frule(scaled, lambda ẋ, y, x, n: n * ẋ, LINEAR)
    """
    for each in target if isinstance(target, tuple) else (target,):
        registry.add_forms(each, forms)
    return target


def nondifferentiable(target: AnyType, because: str | None = None) -> AnyType:
    """Declare that a callable has no derivative: its result is a constant. A call or a decorator.

    ``because`` says why; the table of constants in ``docs/coverage.md`` is made of it.

    >>> @nondifferentiable
    ... def bin_of(x):
    ...     return int(x // 0.1)
    >>> _ = nondifferentiable(len, "it counts")
    """
    registry.add_constant(target, because)
    return target


def refused(target: AnyType, because: str) -> AnyType:
    """Say why a callable is an error if a gradient wants to pass: ``because`` goes on after its name, with "which …".

    >>> _ = refused(id, "tells where an object lies")
    """
    registry.add_refusal(target, because)
    return target


def writes(target: AnyType, *places: int) -> AnyType:
    """Declare that a callable without rule writes to its arguments at ``places``, and only reads all others.

    Its result stays unknown. Of what is not declared, a call may have written to every array and container that it
    can reach, if something with a derivative went in.

    >>> def largest_step(path):
    ...     return max(abs(b - a) for a, b in zip(path, path[1:]))
    >>> _ = writes(largest_step)
    """
    registry.add_written(target, places)
    return target
