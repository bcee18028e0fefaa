"""The rule registry: which callables have a derivative, and which are declared to have none.

A rule is an ordinary function with the parameters of its target. It returns the value and a pullback,
a named local function that takes the cotangent of the value (never None; of a tuple or list: a tuple
or list in which None stands for zero) and returns a tuple: one cotangent for each parameter in order,
keyword-only ones left out, ``*args`` contributing one each. None is a structural zero.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from itertools import zip_longest
from types import BuiltinFunctionType, ModuleType
from typing import Any as AnyType
from typing import Final

from autodiff_hook.collecting import uncollected
from autodiff_hook.errors import AutodiffError, ConfigError, NotDifferentiable
from autodiff_hook.parameters import Names, forget, parameters_of
from autodiff_hook.records import record

Rule = Callable[..., tuple[AnyType, Callable[[AnyType], tuple[AnyType, ...]]]]


class _Linear:
    def __repr__(self) -> str:
        return "LINEAR"


LINEAR: Final = _Linear()
"""The forward form for an argument in which a function is linear, whatever the others are: the function itself."""
Form = Callable[..., AnyType] | _Linear | None
"""A forward form; a ``Deferred`` one is made when it is asked for."""


class Kind:
    """A set of types that a rule's signature can ask for: ``Real``, ``Complex``, ``Array``, ``Any``."""

    def __init__(self, name: str, rank: int, contains: Callable[[type], bool]) -> None:
        self.name, self.rank, self.contains = name, rank, contains

    def __repr__(self) -> str:
        return self.name


def _numpy_type(cls: type, *names: str) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(cls, tuple(getattr(numpy, name) for name in names))


_ARITHMETIC: Final = (
    "add sub mul truediv floordiv mod pow radd rsub rmul rtruediv rfloordiv rmod rpow neg pos abs".split()
)


def _is_real(cls: type) -> bool:
    if cls is float or cls is int or cls is getattr(sys.modules.get("numpy"), "float64", None):
        return True
    base = float if issubclass(cls, float) else int
    if issubclass(cls, base) and cls is not bool:
        # A class that redefines arithmetic has derivatives of its own.
        return all(getattr(cls, f"__{name}__") is getattr(base, f"__{name}__") for name in _ARITHMETIC) or _numpy_type(
            cls, "floating"
        )
    return _numpy_type(cls, "floating", "integer")


_EXACT: Final = (("fractions", "Fraction"), ("decimal", "Decimal"))


def is_exact(cls: type) -> bool:
    """Whether a type is one of the standard library's exact numbers."""
    return any(cls is getattr(sys.modules.get(module), name, None) for module, name in _EXACT)


def _is_array(cls: type) -> bool:
    if not _numpy_type(cls, "ndarray"):
        return False
    base: AnyType = sys.modules["numpy"].ndarray
    names = [f"__{name}__" for name in (*_ARITHMETIC, "matmul", "array_ufunc", "array_function")]
    return cls is base or all(getattr(cls, name, None) is getattr(base, name, None) for name in names)


def _is_complex(cls: type) -> bool:
    return _is_real(cls) or issubclass(cls, complex) or _numpy_type(cls, "complexfloating")


Real: Final = Kind("Real", 1, _is_real)
"""int, float and NumPy's real scalars; not bool."""
Complex: Final = Kind("Complex", 2, _is_complex)
"""``Real``, complex and NumPy's complex scalars."""
Exact: Final = Kind("Exact", 1, is_exact)
"""``Fraction`` and ``Decimal``; not subclasses, whose arithmetic may be another one."""
Array: Final = Kind("Array", 1, _is_array)
"""``numpy.ndarray`` of any dtype, 0-d arrays included, and subclasses that leave its arithmetic alone."""
Any: Final = Kind("Any", 3, lambda cls: True)
"""Every type."""

Entry = Kind | type


def _accepts(entry: Entry, cls: type) -> bool:
    return entry.contains(cls) if isinstance(entry, Kind) else issubclass(cls, entry)


def _within(a: Entry, b: Entry) -> bool:
    """Whether every type of ``a`` is one of ``b``."""
    if a is b or b is Any:
        return True
    if isinstance(a, Kind):
        return isinstance(b, Kind) and (a, b) == (Real, Complex)
    return _accepts(b, a)


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

    signature: tuple[Entry, ...]
    given: Rule | Deferred

    @property
    def rule(self) -> Rule:
        if not isinstance(self.given, Deferred):
            return self.given
        rule: Rule = self.given.made()
        registry.note(rule)
        return rule

    def accepts(self, types: tuple[type, ...]) -> bool:
        """Whether the signature matches; what either side does not list is ``Any``, or absent."""
        return all(_accepts(entry, cls) for entry, cls in zip(self.signature, types)) and all(
            entry is Any for entry in self.signature[len(types) :]
        )


def _more_specific(a: tuple[Entry, ...], b: tuple[Entry, ...]) -> bool:
    length = max(len(a), len(b))
    return all(map(_within, _padded(a, length), _padded(b, length)))


def _padded(signature: tuple[Entry, ...], length: int) -> tuple[Entry, ...]:
    return signature + (Any,) * (length - len(signature))


@functools.lru_cache(maxsize=8192)  # the rules of NumPy alone ask of 1500 pairs, each time and again
def _ambiguous(a: tuple[Entry, ...], b: tuple[Entry, ...]) -> bool:
    wider = narrower = False
    for x, y in zip_longest(a, b, fillvalue=Any):
        if x is not y:
            narrow = _within(x, y)
            if not narrow and not _within(y, x):
                return False
            wider, narrower = wider or not narrow, narrower or narrow
    return wider and narrower


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
        self._lookups: dict[tuple[object, ...], Rule | None] = {}
        self._packs: list[AnyType] | None = None
        self._loaded: set[str] = set()
        self._loading: set[int] = set()
        self.without: dict[str, str] = {}
        """The packages that no rules are for, and why: nothing of them is differentiated."""
        self._modules_seen = 0
        self._numpy_met = False
        self._listeners: list[Callable[[], None]] = []
        self.packs = {"autodiff_rules"}
        """The packages whose modules are declared to be rule packs."""
        self.tested: dict[int, Rule] = {}
        """The rules of declared packs, by id: what their pullbacks return is looked at by tests alone."""
        self.version = 0

    def add(self, target: AnyType, signature: tuple[Entry, ...], rule: Rule | Deferred) -> None:
        """Register ``rule``; a rule with the same signature is replaced."""
        while signature and signature[-1] is Any:
            signature = signature[:-1]
        with self._lock:
            _, rules = self._rules.get(id(target), (target, ()))
            others = [other for other in rules if other.signature != signature]
            for other in others:
                if _ambiguous(other.signature, signature):
                    both = [
                        tuple(_padded(s, max(len(signature), len(other.signature))))
                        for s in (signature, other.signature)
                    ]
                    meet = tuple(a if _within(a, b) else b for a, b in zip(*both))
                    if not any(_padded(r.signature, len(meet)) == meet for r in rules):
                        raise AutodiffError(
                            f"the rule {_named(rule)} for {describe(target)} with the signature {signature} is "
                            f"ambiguous beside {other.signature}: register one for {meet} first"
                        )
            self._rules[id(target)] = target, (*others, _Registered(signature, rule))
            self._constants.pop(id(target), None)
            if not isinstance(rule, Deferred):
                self.note(rule)
            self._forget_answers()
        self._tell()

    def note(self, rule: Rule) -> None:
        """Note a rule of a declared pack."""
        if self.is_pack(rule.__module__ or ""):
            self.trust(rule)

    def trust(self, rule: Rule) -> None:
        """Take what the pullbacks of a rule return as they are, and inline them."""
        self.tested[id(rule)] = rule

    def is_pack(self, module: str) -> bool:
        """Whether a module is declared to be a rule pack, or is a part of one."""
        while module not in self.packs:
            module, dot, _ = module.rpartition(".")
            if not dot:
                return False
        return True

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
        self.load_packs()
        module = getattr(target, "__module__", None) or getattr(type(target), "__module__", None)
        return self._refused.get(id(target), (None, None))[1] or self.without.get(str(module).partition(".")[0])

    def add_written(self, target: AnyType, places: tuple[int, ...]) -> None:
        """Declare which arguments of ``target`` a call may write to."""
        self._written[id(target)] = (target, places)

    def written(self, target: AnyType) -> tuple[int, ...] | None:
        """The places of the arguments that a call of ``target`` may write to; None if nothing is declared."""
        self.load_packs(target)
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
        self.load_packs(target)
        forms = self._forms.get(id(target), (None, ()))[1]
        return tuple([form.made() if isinstance(form, Deferred) else form for form in forms])

    def _forget_answers(self) -> None:
        self._lookups = {}
        forget()
        self.version += 1

    def _tell(self) -> None:
        """Tell the listeners of a change; what a pack adds is told when it is loaded."""
        if threading.get_ident() not in self._loading:
            for listener in self._listeners:
                listener()

    def when_changed(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` whenever a rule or a declaration is added."""
        self._listeners.append(listener)

    def rule(self, target: AnyType, types: tuple[type, ...], names: Names = ()) -> Rule | None:
        """The rule for calling ``target`` with positional arguments of these types, and options of these names."""
        key = (id(target), names, *types) if names else (id(target), *types)
        try:
            return self._lookups[key]
        except KeyError:
            pass
        self.load_packs(target, types)
        lookups = self._lookups
        result = self._chosen(target, types, lambda rule: parameters_of(rule).misfit(len(types), names) is None)
        if id(target) in self._rules:
            if len(lookups) > 10_000:
                lookups.clear()
            lookups[key] = result
        return result

    def misfit(self, target: AnyType, types: tuple[type, ...], names: Names) -> str | None:
        """What in this call the rule for these types does not know; None if there is no rule for them."""
        rule = self._chosen(target, types, lambda rule: True)
        return None if rule is None else parameters_of(rule).misfit(len(types), names)

    def _chosen(self, target: AnyType, types: tuple[type, ...], fits: Callable[[Rule], bool]) -> Rule | None:
        found = None
        for candidate in self._rules.get(id(target), (None, ()))[1]:
            better = found is None or _more_specific(candidate.signature, found.signature)
            if better and candidate.accepts(types) and fits(candidate.rule):
                found = candidate
        return None if found is None else found.rule

    def has_rules(self, target: AnyType) -> bool:
        """Whether any rule is registered for ``target``, whatever the types."""
        self.load_packs(target)
        return id(target) in self._rules

    def targets(self, package: str) -> list[AnyType]:
        """What the modules of a package have registered rules for."""
        known = list(self._rules.values())
        return [x for x, rules in known if any(_module_of(r.given).partition(".")[0] == package for r in rules)]

    def knows(self, target: AnyType) -> bool:
        """Whether ``target`` has rules or is declared to have no derivative."""
        self.load_packs(target)
        return id(target) in self._rules or id(target) in self._constants

    def is_constant(self, target: AnyType) -> bool:
        """Whether ``target`` is declared non-differentiable."""
        if id(target) in self._constants:
            return True
        self.load_packs(target)
        return id(target) in self._constants

    def constants(self) -> list[tuple[AnyType, str | None]]:
        """What is declared non-differentiable, with the reasons."""
        self.load_packs()
        return list(self._constants.values())

    def reason(self, target: AnyType) -> str | None:
        """Why ``target`` was declared non-differentiable, if that was said."""
        self.load_packs(target)
        return self._constants.get(id(target), (None, None))[1]

    def load_packs(self, target: AnyType = None, types: tuple[type, ...] = ()) -> None:
        """Import the rule packs that cover a module which is imported by now.

        That NumPy is imported says nothing, the engine does it: its pack is loaded when a module of others has
        imported it, or when one asks about ``target`` or ``types`` of NumPy's.

        A thread that finds another at it waits in the import system, which knows the locks that imports wait for; so
        none is held here.
        """
        if len(sys.modules) != self._modules_seen:
            self._numpy_met = self._numpy_met or _numpy_is_used()
            self._load_those_of_imported_modules()
        if not self._numpy_met and _is_of_numpy(target, types):
            self._numpy_met = True
            self._load_those_of_imported_modules()

    def _load_those_of_imported_modules(self) -> None:
        seen, version = len(sys.modules), self.version
        thread = threading.get_ident()
        if thread in self._loading:
            return
        self._loading.add(thread)
        try:
            with uncollected():
                wanted = self._wanted()
                ready = [entry for entry in wanted if _is_imported(entry.name)]
                for entry in ready:
                    self._load(entry)
        finally:
            self._loading.discard(thread)
            if self.version != version:
                self._tell()
        if len(ready) == len(wanted):
            self._modules_seen = seen

    def _wanted(self) -> list[AnyType]:
        if self._packs is None:
            from importlib.metadata import entry_points  # slow to import, for the first rule only

            found = list(entry_points(group="autodiff_hook.rules"))
            if not found:
                raise ConfigError(
                    "no rules are known, not even those of the builtin functions: autodiff_hook is imported, but not "
                    "installed, so its entry points are missing. Install it (pip install autodiff-hook, or pip install "
                    "-e . in a clone); what freezes programs has to copy its metadata"
                )
            self._packs = found
        known = [entry for entry in self._packs if entry.name in sys.modules and entry.value not in self._loaded]
        return [entry for entry in known if entry.name != "numpy" or self._numpy_met]

    def _load(self, entry: AnyType) -> None:
        try:
            entry.load()
        except Unsuited as error:
            self.without[error.package] = str(error)
        except Exception as error:
            raise ConfigError(
                f"the rule pack {entry.value} (entry point {entry.name!r} of the group autodiff_hook.rules) cannot be "
                f"imported: {type(error).__name__}: {error}"
            ) from error
        self._loaded.add(entry.value)

    def renew_lock(self) -> None:
        """In a child process nobody gives back what another thread held."""
        self._lock = threading.RLock()


class Unsuited(ImportError):
    """Raised by a rule pack that is not for the version of its package: what it says goes on after "which"."""

    def __init__(self, package: str, why: str) -> None:
        super().__init__(why)
        self.package = package


_PLAIN: Final = frozenset({float, int, bool, complex, str, bytes, type(None), list, tuple})


def _is_of_numpy(target: AnyType, types: tuple[type, ...]) -> bool:
    """Whether a call is of a function of NumPy's or SciPy's, or of one that no pack knows, or its arguments may be."""
    if not _PLAIN.issuperset(types):
        return True
    owner = getattr(target, "__objclass__", target)
    module = getattr(owner, "__module__", None) or type(owner).__module__
    if module.partition(".")[0] in ("numpy", "scipy"):
        return True
    native = isinstance(target, BuiltinFunctionType) and isinstance(target.__self__, ModuleType)
    return native and id(target) not in registry._rules and id(target) not in registry._constants


def _numpy_is_used() -> bool:
    """Whether a module that is no part of this project has imported NumPy."""
    numpy = sys.modules.get("numpy")
    own = ("numpy", "autodiff_hook", "autodiff_rules")
    others = [m for name, m in list(sys.modules.items()) if name.partition(".")[0] not in own]
    return numpy is not None and any(vars(m).get(x) is numpy for m in others if m is not None for x in ("np", "numpy"))


def _is_imported(name: str) -> bool:
    """Whether the import of a module is over: a finalizer that runs in the midst of it must not need its rules."""
    return not getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False)


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


class NotImplementedCotangent:
    """A cotangent that nobody has worked out yet; using it is an error, ignoring it is not."""

    def __init__(self, why: str, place: str | None = None) -> None:
        self.why = why
        self.place = place
        """The line of the program whose call has this cotangent, if it is known."""

    def __repr__(self) -> str:
        return f"not_implemented({self.why!r})"

    def __getitem__(self, key: object) -> NotImplementedCotangent:
        return self

    def __mul__(self, factor: object) -> NotImplementedCotangent:
        return self

    __iter__ = None

    def fail(self) -> NotDifferentiable:
        """The error that using this cotangent is."""
        return NotDifferentiable(f"this derivative is not implemented: {self.why}", place=self.place)

    def at(self, place: str | None) -> NotImplementedCotangent:
        """The same for the call on this line of the program, if none is known yet."""
        return self if self.place is not None else NotImplementedCotangent(self.why, place)


def not_implemented(why: str) -> AnyType:
    """A cotangent for an argument whose derivative is unknown: an error only if somebody uses it."""
    return NotImplementedCotangent(why)
