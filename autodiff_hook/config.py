"""What is opted in, and where each setting came from: calls of ``install``, the environment, pyproject.toml.

Scope is asked of a function's globals at its first ``J``, so it does not matter when its module was imported.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock

from autodiff_hook.errors import ConfigError

TYPE_CHECKING = False  # of typing, which would be the dearest import of a program that has nothing opted in
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

VARIABLE = "AUTODIFF_MODULES"
TRACE_VARIABLE = "AUTODIFF_TRACE"
SOURCES = ("call", "environment", "pyproject")
_OWN = ("autodiff_hook", "autodiff_rules")
_KEYS = ("modules", "nondifferentiable", "rules")


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


class Pyproject:
    """The ``[tool.autodiff]`` table of one file."""

    __slots__ = ("modules", "nondifferentiable", "path", "rules")

    def __init__(self, path: str, table: Mapping[str, object]) -> None:
        self.path = path
        for key in table:
            if key not in _KEYS:
                raise ConfigError(f"{path}: [tool.autodiff] has no key {key!r}; its keys are {', '.join(_KEYS)}.")
        self.modules, self.nondifferentiable, self.rules = (self._names(key, table.get(key, [])) for key in _KEYS)

    def _names(self, key: str, value: object) -> tuple[str, ...]:
        names = value if isinstance(value, list) else [None]
        for name in names:
            if not isinstance(name, str):
                raise ConfigError(f"{self.path}: [tool.autodiff] {key} must be a list of strings, not {value!r}.")
            if not is_dotted_name(name) and not (key == "modules" and name == "*"):
                raise ConfigError(f"{self.path}: [tool.autodiff] {key}: {name!r} is not a dotted name.")
        return tuple(names)


version = 0
"""Increases whenever the configuration changes."""

_opted_in: dict[str, list[str]] = {source: [] for source in SOURCES}
_scope = _Scope(())
_lock = allocate_lock()
_pyproject: Pyproject | None = None


def is_dotted_name(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def in_scope(globals_: Mapping[str, Any]) -> bool:
    """Whether functions with these globals are opted in."""
    name = module_name(globals_)
    if name is None:
        return False
    return _scope.contains(name) or (globals_.get("__name__") == "__main__" and _scope.contains("__main__"))


def module_name(globals_: Mapping[str, Any]) -> str | None:
    """The importable name of the module with these globals, also when it runs as ``__main__``."""
    spec = globals_.get("__spec__")
    name = getattr(spec, "name", None) or globals_.get("__name__")
    if not isinstance(name, str):
        return None
    return "__main__" if name == "__mp_main__" else name  # what multiprocessing's children call the parent's script


def opted_in_as(module: str) -> str | None:
    """The opted-in name that covers the module of this name."""
    return _scope.opted_in_as(module)


def opted_in() -> dict[str, tuple[str, ...]]:
    """Every opted-in name with the sources it came from."""
    return {name: tuple(source for source in SOURCES if name in _opted_in[source]) for name in sorted(_scope.names)}


def add(source: str, names: Sequence[str]) -> None:
    """Opt ``names`` in; the same name may come in several times."""
    _opted_in[source].extend(names)
    _changed()


def remove(source: str, names: Sequence[str]) -> None:
    """Take back one ``add`` of each of ``names``."""
    for name in names:
        if name in _opted_in[source]:
            _opted_in[source].remove(name)
    _changed()


def remove_everywhere(names: Iterable[str]) -> None:
    """Opt ``names`` out, whatever opted them in."""
    gone = set(names)
    for source in SOURCES:
        _opted_in[source][:] = [name for name in _opted_in[source] if name not in gone]
    _changed()


def use_pyproject(settings: Pyproject | None) -> None:
    """Make ``settings`` the one pyproject.toml in force."""
    global _pyproject
    _pyproject = settings
    _opted_in["pyproject"][:] = settings.modules if settings else ()
    _changed()


def _changed() -> None:
    global version, _scope
    with _lock:  # the last of several threads has seen what each of them added
        _scope = _Scope(name for source in SOURCES for name in _opted_in[source])
        version += 1
    for listener in _listeners:
        listener()


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


def pyproject_path() -> str | None:
    """The pyproject.toml whose ``[tool.autodiff]`` is in force."""
    return _pyproject.path if _pyproject else None


def find_pyproject() -> Pyproject | None:
    """The settings of the nearest pyproject.toml with a ``[tool.autodiff]``, upwards from the working directory."""
    try:
        folder = os.getcwd()
    except OSError:  # it was deleted
        return None
    while True:
        settings = _read_pyproject(os.path.join(folder, "pyproject.toml"))
        parent = os.path.dirname(folder)
        if settings is not None or parent == folder:
            return settings
        folder = parent


def _read_pyproject(path: str) -> Pyproject | None:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return None
    if b"tool.autodiff" not in content:
        return None
    import tomllib

    try:
        table = tomllib.loads(content.decode()).get("tool", {}).get("autodiff")
    except ValueError as error:  # of the TOML, or of the UTF-8
        raise ConfigError(f"{path}: cannot read [tool.autodiff]: {error}.") from None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.autodiff must be a table, not {table!r}.")
    return Pyproject(path, table)


def trace(message: str) -> None:
    """Print one line on stderr if ``AUTODIFF_TRACE`` asks for it."""
    if os.environ.get(TRACE_VARIABLE, "0") not in ("", "0") and sys.stderr is not None:
        print(f"autodiff: {message}", file=sys.stderr)
