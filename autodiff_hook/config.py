"""What is opted in, and where each setting came from: calls of ``install``, the environment, pyproject.toml.

Scope is asked of a function's globals at its first ``J``, so it does not matter when its module was imported.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock

from autodiff_hook.errors import ConfigError

TYPE_CHECKING = False  # of typing, which would be the dearest import of a program that has nothing opted in
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from autodiff_hook.pyproject import Pyproject

VARIABLE = "AUTODIFF_MODULES"
SOURCES = ("call", "environment", "pyproject")
_OWN = ("autodiff_hook", "autodiff_rules")


class _Scope:
    """One state of what is opted in, with its answers by module name; replaced as a whole when that changes."""

    __slots__ = ("answers", "everything", "names")

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        self.everything = "*" in self.names
        self.answers: dict[str, bool] = {}

    def contains(self, module: str) -> bool:
        answer = self.answers.get(module)
        if answer is None:
            answer = self.answers[module] = self.opted_in_as(module) is not None
        return answer

    def opted_in_as(self, module: str) -> str | None:
        """The opted-in name that ``module`` is, or lies under."""
        prefix = module
        while prefix:
            if prefix in self.names:
                return prefix
            prefix = prefix.rpartition(".")[0]
        return "*" if self.everything and module.partition(".")[0] not in _OWN else None


version = 0
"""Increases whenever the configuration changes."""

_opted_in: dict[str, list[str]] = {source: [] for source in SOURCES}
_scope = _Scope(())
lock = RLock()
"""Held by who changes the configuration, or what is told to child processes of it."""
_pyproject: Pyproject | None = None
_ignored: tuple[str, ...] = ()
_broken: str | None = None


def is_dotted_name(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def in_scope(globals_: Mapping[str, Any]) -> bool:
    """Whether functions with these globals are opted in."""
    name = module_name(globals_)
    if name is None:
        return False
    return _scope.contains(name) or (_is_main(globals_) and _scope.contains("__main__"))


def _is_main(globals_: Mapping[str, Any]) -> bool:
    return globals_.get("__name__") == "__main__"


def module_name(globals_: Mapping[str, Any]) -> str | None:
    """The importable name of the module with these globals, also when it runs as ``__main__``."""
    spec = globals_.get("__spec__")
    name = getattr(spec, "name", None) or globals_.get("__name__")
    if not isinstance(name, str):
        return None
    return "__main__" if name == "__mp_main__" else name  # what multiprocessing's children call the parent's script


def module_of(function: Any) -> str | None:
    """The name of the module that a Python function belongs to; None if it is of none.

    Its globals say that, but where they are those of no module (the namespace of an ``exec``, with an invented name
    or without one) what made the function may have said so in its ``__module__``.
    """
    globals_ = function.__globals__
    own, given = globals_.get("__name__"), function.__module__
    if isinstance(own, str) and own in sys.modules:
        return module_name(globals_)
    name = module_name(globals_) if given is own or not isinstance(given, str) else given
    return name if name is not None and is_dotted_name(name) else None  # runpy invents "<run_path>"


def function_in_scope(function: Any) -> bool:
    """Whether a Python function is opted in."""
    return module_in_scope(module_of(function), function.__globals__)


def module_in_scope(name: str | None, globals_: Mapping[str, Any]) -> bool:
    """Whether the functions of a module with these globals are opted in."""
    if name is None:
        return _scope.everything
    return _scope.contains(name) or (_is_main(globals_) and _scope.contains("__main__"))


def opted_in_as(module: str) -> str | None:
    """The opted-in name that covers the module of this name."""
    return _scope.opted_in_as(module)


def opted_in() -> dict[str, tuple[str, ...]]:
    """Every opted-in name with the sources it came from."""
    return {name: tuple(source for source in SOURCES if name in _opted_in[source]) for name in sorted(_scope.names)}


def add(source: str, names: Sequence[str]) -> None:
    """Opt ``names`` in; the same name may come in several times."""
    with lock:
        _opted_in[source].extend(names)
        _set_scope()
    _tell()


def remove(source: str, names: Sequence[str]) -> None:
    """Take back one ``add`` of each of ``names``."""
    with lock:
        for name in names:
            if name in _opted_in[source]:
                _opted_in[source].remove(name)
        _set_scope()
    _tell()


def remove_everywhere(names: Iterable[str]) -> None:
    """Opt ``names`` out, whatever opted them in."""
    gone = set(names)
    with lock:
        for source in SOURCES:
            _opted_in[source][:] = [name for name in _opted_in[source] if name not in gone]
        _set_scope()
    _tell()


def use_pyproject(settings: Pyproject | None, ignored: Sequence[str] = (), broken: str | None = None) -> None:
    """Make ``settings`` the one pyproject.toml in force.

    ``ignored`` says of other files why they do not count, ``broken`` what is wrong with the one that does.
    """
    global _pyproject, _ignored, _broken
    with lock:
        _pyproject, _ignored, _broken = settings, tuple(ignored), broken
        _opted_in["pyproject"][:] = settings.modules if settings else ()
        _set_scope()
    _tell()


def check() -> None:
    """Raise ``ConfigError`` if what is set is wrong: nothing may be differentiated as if it were not there."""
    if _broken is not None:
        raise ConfigError(_broken)


def _set_scope() -> None:
    global version, _scope
    _scope = _Scope(name for source in SOURCES for name in _opted_in[source])
    version += 1


def _tell() -> None:
    for listener in _listeners:
        listener()


def _renew_lock() -> None:
    global lock
    lock = RLock()


if hasattr(os, "register_at_fork"):
    # In a child process nobody gives back what another thread held.
    os.register_at_fork(after_in_child=_renew_lock)


_listeners: list[Callable[[], None]] = []


def when_changed(listener: Callable[[], None]) -> None:
    """Call ``listener`` whenever a module is opted in or out."""
    _listeners.append(listener)


def nondifferentiable_names() -> tuple[str, ...]:
    """Dotted names of callables that ``[tool.autodiff]`` declares to have no derivative."""
    return _pyproject.nondifferentiable if _pyproject else ()


def rule_modules() -> tuple[str, ...]:
    """The modules with rules that ``[tool.autodiff]`` asks to import."""
    return _pyproject.rules if _pyproject else ()


def ignored() -> tuple[str, ...]:
    """The files of settings that were found and do not count, with the reasons."""
    return _ignored


def broken() -> str | None:
    """What is wrong with the pyproject.toml in force."""
    return _broken


def pyproject_path() -> str | None:
    """The pyproject.toml whose ``[tool.autodiff]`` is in force."""
    return _pyproject.path if _pyproject else None
