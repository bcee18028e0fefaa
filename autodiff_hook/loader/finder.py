"""The finder: asks every other finder for the module, and lets a stand-in load it if it is opted in."""

from __future__ import annotations

import sys
from _frozen_importlib_external import ExtensionFileLoader
from _thread import get_ident

from autodiff_hook import config
from autodiff_hook.loader.standin import StandIn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


class Finder:
    """Delegates to all other finders: an editable install has one of its own, at the end of ``sys.meta_path``."""

    def __init__(self) -> None:
        self._asking: set[tuple[int, str]] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name = config.opted_in_as(fullname)
        question = (get_ident(), fullname)
        if name is None or question in self._asking:  # the latter: another finder that asks all the others
            return None
        self._asking.add(question)
        try:
            spec = ask_others(fullname, path, target)
        finally:
            self._asking.discard(question)
        if spec is not None and _is_source(spec):
            stand_in: Any = StandIn(spec.loader, name)
            spec.loader = stand_in
        return spec


def _is_source(spec: ModuleSpec) -> bool:
    """Not built in, frozen, an extension or a namespace; not yet ours. Pytest's loader has no ``get_code``."""
    loader: Any = spec.loader
    return (
        spec.has_location
        and hasattr(loader, "exec_module")
        and type(loader) is not StandIn
        and not isinstance(loader, ExtensionFileLoader)
    )


_finder = Finder()


def ask_others(fullname: str, path: Iterable[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
    """What the first of the other finders that knows the module says."""
    for finder in list(sys.meta_path):
        find_spec = getattr(finder, "find_spec", None)
        if finder is not _finder and find_spec is not None:
            spec: ModuleSpec | None = find_spec(fullname, path, target)
            if spec is not None:
                return spec
    return None


def enabled() -> bool:
    return _finder in sys.meta_path


def enable() -> None:
    """Put the finder first on ``sys.meta_path``, also if it is on it already."""
    sys.meta_path[:] = [_finder, *(finder for finder in sys.meta_path if finder is not _finder)]


def disable() -> None:
    """Take the finder off ``sys.meta_path``."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not _finder]
