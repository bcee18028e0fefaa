"""The finder: asks every other finder for the module, and lets a stand-in load it if it is opted in."""

from __future__ import annotations

import sys
from _frozen_importlib_external import ExtensionFileLoader
from _thread import get_ident
from types import ModuleType

from autodiff_hook import config, telling
from autodiff_hook.loader.attach import MARK, attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any


class StandIn:
    """Marks the module as it is created, puts the real loader back, lets it execute, and attaches ``J``."""

    def __init__(self, loader: Any, name: str) -> None:
        self._loader = loader
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name == "_loader":  # copy and pickle ask before it is set
            raise AttributeError(name)
        return getattr(self._loader, name)

    @property
    def __class__(self) -> type:  # isinstance(spec.loader, SourceFileLoader) stays true
        return type(self._loader)

    @__class__.setter
    def __class__(self, cls: type) -> None:
        raise AttributeError("__class__ is that of the loader behind it")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._loader.__reduce_ex__(protocol)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        create = getattr(self._loader, "create_module", None)
        module: ModuleType | None = create(spec) if create is not None else None
        if module is None:
            module = ModuleType(spec.name)
        self._mark(module)
        return module

    def exec_module(self, module: ModuleType) -> None:
        _stand_down(self, module)
        self._mark(module)  # a reload creates no module
        _call_with_frames_removed(self._loader.exec_module, module)
        attach(module)

    def _mark(self, module: ModuleType) -> None:
        if MARK not in module.__dict__:
            telling.trace(f"marked {module.__name__}")
        module.__dict__[MARK] = self._name


def _stand_down(stand_in: StandIn, module: ModuleType) -> None:
    """Put the real loader in place before the first line of the module runs."""
    spec = getattr(module, "__spec__", None)
    if spec is not None and spec.loader is stand_in:
        spec.loader = stand_in._loader
    if getattr(module, "__loader__", None) is stand_in:
        module.__loader__ = stand_in._loader


def _call_with_frames_removed(function: Any, module: ModuleType) -> None:
    function(module)


# The traceback of a failing import is trimmed of importlib's frames: of the runs of frames with these file names,
# up to one with this function name. As part of such a run, ours go too.
_call_with_frames_removed.__code__ = _call_with_frames_removed.__code__.replace(
    co_filename="<frozen importlib._bootstrap>"
)
StandIn.exec_module.__code__ = StandIn.exec_module.__code__.replace(
    co_filename="<frozen importlib._bootstrap_external>"
)


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
