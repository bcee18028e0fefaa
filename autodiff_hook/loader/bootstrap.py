"""Opting modules in and out: by call, from the environment and from pyproject.toml."""

from __future__ import annotations

import os
import sys

from autodiff_hook import config, interpreter, pyproject
from autodiff_hook.errors import AutodiffWarning, ConfigError, ConfigWarning
from autodiff_hook.loader import finder
from autodiff_hook.loader.attach import attach_to_imported, detach_out_of_scope
from autodiff_hook.telling import warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_environment_read = False


class Handle:
    """What one ``install`` opted in; ``uninstall()``, or the end of its ``with`` block, takes it back."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._installed = True

    def uninstall(self) -> None:
        """Take it back; what was opted in by other means as well stays so."""
        if self._installed:
            self._installed = False
            config.remove("call", self.names)
            _opted_out(self.names)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.uninstall()

    def __repr__(self) -> str:
        return f"<autodiff_hook.install({', '.join(map(repr, self.names))}){'' if self._installed else ', undone'}>"


def install(*names: str) -> Handle:
    """Make the modules ``names``, and all modules under them, differentiable; ``"*"`` is every module.

    Modules that were imported already are included, and so are child processes (by ``AUTODIFF_MODULES``).
    The result is a context manager with a method ``uninstall``::

        with autodiff_hook.install("pkg"):
            autodiff_hook.gradient(pkg.model, params)
    """
    if not names:
        raise ConfigError("install: name at least one module, as in install('pkg').")
    for name in names:
        if not isinstance(name, str):
            raise ConfigError(f"install: the name of a module is a str, not {name!r}.")
        if not _exists(name):
            raise ConfigError(f"install: no module named {name!r} can be found. Is it spelled right, is it installed?")
    config.add("call", names)
    _opted_in()
    with config.lock:
        exported = _exported()
        _export([*exported, *(name for name in dict.fromkeys(names) if name not in exported)])
    return Handle(names)


def uninstall(*names: str) -> None:
    """Opt ``names`` out, whatever opted them in; without names, everything."""
    known = config.opted_in()
    for name in names:
        if name not in known:
            raise ConfigError(f"uninstall: {name!r} is not opted in; opted in: {', '.join(known) or 'nothing'}.")
    gone = names or tuple(known)
    config.remove_everywhere(gone)
    _opted_out(gone)


def install_from_environment() -> None:
    """Opt in what ``AUTODIFF_MODULES`` and the nearest ``[tool.autodiff]`` ask for; once."""
    global _environment_read
    if _environment_read:
        return
    _environment_read = True
    config.add("environment", _exported())
    said = _use_pyproject()
    if config.opted_in():
        _opted_in()
        if _site_is_running():  # the directory of the program is not on sys.path yet
            import atexit  # import autodiff_hook loads as little as can be

            atexit.register(_warn_of_missing)
        else:
            said += _missing()
    # Warnings may be errors, so they come when all else is done.
    obstacle = interpreter.obstacle()
    if obstacle is not None:
        warn(obstacle, AutodiffWarning)
    for message in said:
        warn(message, ConfigWarning)


def _use_pyproject() -> list[str]:
    """Apply the nearest ``[tool.autodiff]``; what is to be warned of.

    A program starts also if that is wrong: its first derivative says so.
    """
    settings: pyproject.Pyproject | None = None
    ignored: list[str] = []
    broken: str | None = None
    try:
        settings = pyproject.find(ignored)
    except ConfigError as error:
        broken = str(error)
    config.use_pyproject(settings, ignored, broken)
    said = [f"{reason}." for reason in ignored]
    if broken is not None:
        said.append(f"{broken} The first derivative raises ConfigError; {pyproject.VARIABLE}=0 reads no such file.")
    return said


def _site_is_running() -> bool:
    spec = getattr(sys.modules.get("site"), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def _opted_in() -> None:
    finder.enable()
    attach_to_imported()


def _opted_out(names: Iterable[str]) -> None:
    with config.lock:
        known = config.opted_in()
        kept = [name for name in names if "call" in known.get(name, ()) or "environment" in known.get(name, ())]
        _export([name for name in _exported() if name in kept or name not in names])
    detach_out_of_scope()
    if not known:
        finder.disable()


def _exported() -> list[str]:
    return [name for part in os.environ.get(config.VARIABLE, "").split(",") if (name := part.strip())]


def _export(names: list[str]) -> None:
    """Tell child processes; a program that had the variable unset gets it unset again."""
    if names:
        os.environ[config.VARIABLE] = ",".join(names)
    else:
        os.environ.pop(config.VARIABLE, None)


def _warn_of_missing() -> None:
    for message in _missing():
        warn(message, ConfigWarning)


def _missing() -> list[str]:
    """What is to be said of modules that are opted in and nowhere to be found."""
    said = []
    missing = {name: sources for name, sources in config.opted_in().items() if not _exists(name)}
    for source, place in (("environment", config.VARIABLE), ("pyproject", f"{config.pyproject_path()}: modules")):
        names = ", ".join(repr(name) for name in missing if source in missing[name])
        if names:
            said.append(f"{place}: no module named {names} can be found.")
    return said


def _exists(name: str) -> bool:
    """Whether a module of this name can be found, without importing the packages it is in."""
    if name == "*" or name in sys.modules:
        return True
    path: Iterable[str] | None = None
    prefix = ""
    for part in name.split("."):
        prefix = f"{prefix}.{part}" if prefix else part
        if prefix in sys.modules:
            path = getattr(sys.modules[prefix], "__path__", None)
        else:
            spec = finder.ask_others(prefix, path) if part.isidentifier() else None
            if spec is None:
                return False
            path = spec.submodule_search_locations
        if path is None and prefix != name:
            return False
    return True
