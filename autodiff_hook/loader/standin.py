"""The loader that stands in for another one until the module executes."""

from __future__ import annotations

from types import ModuleType

from autodiff_hook import telling
from autodiff_hook.loader.attach import MARK, attach

TYPE_CHECKING = False
if TYPE_CHECKING:
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
