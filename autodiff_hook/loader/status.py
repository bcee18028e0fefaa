"""What the hook has done so far."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from autodiff_hook import config
from autodiff_hook.loader import finder
from autodiff_hook.loader.attach import MARK, attached


@dataclass(frozen=True)
class Status:
    """The answer of ``status()``; its ``str`` is for people."""

    opted_in: dict[str, tuple[str, ...]]
    """Each opted-in name with what opted it in: ``"call"``, ``"environment"``, ``"pyproject"``."""
    pyproject: str | None
    """The pyproject.toml whose ``[tool.autodiff]`` is in force."""
    enabled: bool
    """Whether the finder is on ``sys.meta_path``."""
    marked: tuple[str, ...]
    """The modules that were imported through the hook."""
    attached: tuple[str, ...]
    """The modules whose functions have a ``J``: those, and the ones that had been imported before."""

    def __str__(self) -> str:
        names = [f"{name} ({' and '.join(sources)})" for name, sources in self.opted_in.items()]
        return "\n".join(
            (
                f"opted in: {', '.join(names) or 'nothing'}",
                f"pyproject.toml: {self.pyproject or 'none with [tool.autodiff]'}",
                f"finder: {'on' if self.enabled else 'off'}",
                f"imported through the hook: {', '.join(self.marked) or 'nothing'}",
                f"with J attached: {', '.join(self.attached) or 'nothing'}",
            )
        )


def status() -> Status:
    """What is opted in, from where, and which modules the hook has met."""
    marked = [name for name, module in list(sys.modules.items()) if MARK in getattr(module, "__dict__", ())]
    return Status(
        config.opted_in(), config.pyproject_path(), finder.enabled(), tuple(sorted(marked)), tuple(sorted(attached()))
    )
