"""What of a package is differentiable, found without calling its functions: they are lifted, their calls looked up."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from autodiff_hook.commands.inputs import BadInput, imported
from autodiff_hook.commands.reaching import look_at
from autodiff_hook.loader.attach import functions_of


@dataclass(slots=True)
class Found:
    """One function of the package."""

    name: str
    line: int
    construct: str | None = None
    """What in it is outside of the limits, so that it is run natively; None if it lifts."""
    construct_line: int | None = None
    native: tuple[str, ...] = ()
    """The native callables without rule that it calls."""
    closed: tuple[str, ...] = ()
    """The Python functions that it calls and that are not opted in."""
    blocked_by: tuple[str, ...] = ()
    """All of these that it may come to, also by functions of the package that it calls."""
    calls: frozenset[CodeType] = frozenset()
    """The functions of the package that it calls, as far as that can be seen."""

    @property
    def lifts(self) -> bool:
        return self.construct is None

    @property
    def is_clear(self) -> bool:
        """Whether nothing is in the way."""
        return self.lifts and not self.blocked_by


@dataclass(slots=True)
class Module:
    """One module of the package."""

    name: str
    functions: list[Found] = field(default_factory=list)
    error: str | None = None
    """Why it cannot be imported."""

    @property
    def lifting(self) -> int:
        return sum(found.lifts for found in self.functions)

    @property
    def clear(self) -> int:
        return sum(found.is_clear for found in self.functions)


@dataclass(slots=True)
class Scan:
    """What of some packages is differentiable."""

    packages: tuple[str, ...]
    modules: list[Module]

    def _functions(self) -> Iterator[tuple[Module, Found]]:
        return ((module, found) for module in self.modules for found in module.functions)

    @property
    def native(self) -> list[tuple[str, int, int]]:
        """The native callables without rule, with how many functions call them, and may come to them."""
        return self._blocking("native")

    @property
    def closed(self) -> list[tuple[str, int, int]]:
        """The same for Python functions that are not opted in."""
        return self._blocking("closed")

    @property
    def closed_packages(self) -> list[str]:
        """The packages that these are of."""
        return sorted({name.partition(".")[0] for name, _, _ in self.closed})

    def _blocking(self, which: str) -> list[tuple[str, int, int]]:
        direct = Counter(name for _, found in self._functions() for name in getattr(found, which))
        reached = Counter(name for _, found in self._functions() for name in found.blocked_by)
        order = sorted(direct, key=lambda name: (-reached[name], -direct[name], name))
        return [(name, direct[name], reached[name]) for name in order]

    @property
    def constructs(self) -> list[tuple[str, list[str]]]:
        """What is outside of the limits, with the functions."""
        places: dict[str, list[str]] = {}
        for module, found in self._functions():
            if found.construct is not None:
                places.setdefault(found.construct, []).append(f"{module.name}:{found.name}")
        return sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return {
            "packages": list(self.packages),
            "modules": [
                {
                    "name": module.name,
                    "error": module.error,
                    "functions": len(module.functions),
                    "lift": module.lifting,
                    "clear": module.clear,
                    "details": [
                        {
                            "name": found.name,
                            "line": found.line,
                            "lifts": found.lifts,
                            "construct": found.construct,
                            "construct_line": found.construct_line,
                            "native": list(found.native),
                            "not_opted_in": list(found.closed),
                            "blocked_by": list(found.blocked_by),
                        }
                        for found in module.functions
                    ],
                }
                for module in self.modules
            ],
            "native": [{"name": name, "calling": direct, "blocked": all_} for name, direct, all_ in self.native],
            "not_opted_in": [{"name": name, "calling": direct, "blocked": all_} for name, direct, all_ in self.closed],
            "constructs": [{"construct": what, "functions": where} for what, where in self.constructs],
        }


def scan(packages: Sequence[str], besides: Sequence[str] = (), tests: bool = False) -> Scan:
    """Look at all functions of some packages, which are imported for that; ``besides`` are opted in with them.

    The packages' own tests are left out, unless ``tests`` asks for them.

    >>> found = scan(["colorsys"])
    >>> found.modules[0].lifting == len(found.modules[0].functions) > 5, found.native
    (True, [])
    """
    modules: list[Module] = []
    by_code: dict[CodeType, Found] = {}
    for package in packages:
        for name, module, error in _modules(package, tests):
            if module is None:
                modules.append(Module(name, error=error))
                continue
            of_module = Module(name)
            for function in _functions(module):
                if function.__code__ not in by_code:
                    by_code[function.__code__] = found = _look(function, (*packages, *besides))
                    of_module.functions.append(found)
            of_module.functions.sort(key=lambda found: found.line)
            modules.append(of_module)
    _spread(by_code)
    return Scan(tuple(packages), modules)


_TESTS: Final = frozenset({"test", "tests", "conftest"})


def _modules(package: str, tests: bool) -> Iterator[tuple[str, ModuleType | None, str | None]]:
    root = imported(package)
    if not isinstance(root, ModuleType):
        raise BadInput(f"{package!r} is no module")
    yield package, root, None
    path = getattr(root, "__path__", None)
    for info in pkgutil.iter_modules(path, f"{package}.") if path is not None else ():
        last = info.name.rpartition(".")[2]
        if last == "__main__" or last in _TESTS and not tests:
            continue
        try:
            importlib.import_module(info.name)
        except (Exception, SystemExit) as error:
            yield info.name, None, f"{type(error).__name__}: {error}".partition("\n")[0]
        else:
            yield from _modules(info.name, tests)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """The Python functions and methods that a module defines."""
    for function in functions_of(module):
        if type(function) is FunctionType and function.__code__.co_filename == getattr(module, "__file__", None):
            yield function


def _look(function: FunctionType, packages: Sequence[str]) -> Found:
    code, look = function.__code__, look_at(function, packages)
    found = Found(code.co_qualname, code.co_firstlineno, calls=frozenset(look.own))
    if look.error is not None:
        found.construct, found.construct_line = look.error.construct, look.error.line
    found.native, found.closed = (
        tuple([name for name, known in look.obstacles.items() if known == kind]) for kind in ("native", "not opted in")
    )
    return found


def _spread(by_code: dict[CodeType, Found]) -> None:
    """Hand on what blocks a function to those that call it."""
    callers: dict[CodeType, list[CodeType]] = {}
    for code, found in by_code.items():
        found.blocked_by = (*found.native, *found.closed)
        for called in found.calls:
            callers.setdefault(called, []).append(code)
    pending = [code for code, found in by_code.items() if found.blocked_by]
    while pending:
        code = pending.pop()
        for caller in callers.get(code, ()):
            found = by_code[caller]
            more = [name for name in by_code[code].blocked_by if name not in found.blocked_by]
            if more:
                found.blocked_by = (*found.blocked_by, *more)
                pending.append(caller)
