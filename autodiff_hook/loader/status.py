"""What the hook has done so far."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from autodiff_hook import config, failures, interpreter
from autodiff_hook.loader import finder
from autodiff_hook.loader.attach import MARK, attached
from autodiff_hook.pyproject import VARIABLE, is_switched_off


@dataclass(frozen=True)
class Status:
    """The answer of ``status()``; its ``str`` is for people."""

    opted_in: dict[str, tuple[str, ...]]
    """Each opted-in name with what opted it in: ``"call"``, ``"environment"``, ``"pyproject"``."""
    pyproject: str | None
    """The pyproject.toml whose ``[tool.autodiff]`` is in force."""
    ignored: tuple[str, ...]
    """The other files of settings that were found, each with the reason why it does not count."""
    broken: str | None
    """What is wrong with the settings in force: the first derivative raises it as a ``ConfigError``."""
    enabled: bool
    """Whether the finder is on ``sys.meta_path``."""
    marked: tuple[str, ...]
    """The modules that were imported through the hook."""
    attached: tuple[str, ...]
    """The modules whose functions have a ``J``: those, and the ones that had been imported before."""
    obstacle: str | None
    """Why nothing can be differentiated on this interpreter; None if it is supported."""
    failures: dict[str, int]
    """What went wrong while programs were specialised, and how often: the carried program did the work."""

    def __str__(self) -> str:
        names = [f"{name} ({' and '.join(sources)})" for name, sources in self.opted_in.items()]
        return "\n".join(
            (
                *([self.obstacle] if self.obstacle is not None else []),
                f"opted in: {', '.join(names) or 'nothing'}",
                f"pyproject.toml: {self.broken or self.pyproject or _without_pyproject()}",
                *self.ignored,
                f"finder: {'on' if self.enabled else 'off'}",
                f"imported through the hook: {', '.join(self.marked) or 'nothing'}",
                f"with J attached: {', '.join(self.attached) or 'nothing'}",
                *(f"failed while specialising, {count} times: {what}" for what, count in self.failures.items()),
            )
        )


def _without_pyproject() -> str:
    return f"not read ({VARIABLE}=0)" if is_switched_off() else "none with [tool.autodiff]"


def status() -> Status:
    """What is opted in, from where, and which modules the hook has met."""
    marked = [name for name, module in list(sys.modules.items()) if MARK in getattr(module, "__dict__", ())]
    return Status(
        config.opted_in(),
        config.pyproject_path(),
        config.ignored(),
        config.broken(),
        finder.enabled(),
        tuple(sorted(marked)),
        tuple(sorted(attached())),
        interpreter.obstacle(),
        dict(failures.counted),
    )
