"""Rule packs: what is declared to be one, which are loaded, and when."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import BuiltinFunctionType, ModuleType
from typing import Any, Final

from autodiff_hook.collecting import lasting
from autodiff_hook.errors import ConfigError


class Unsuited(ImportError):
    """Raised by a rule pack that is not for the version of its package: what it says goes on after "which"."""

    def __init__(self, package: str, why: str) -> None:
        super().__init__(why)
        self.package = package


class Packs:
    """The rule packs of the environment; each is imported when its package is, and somebody asks for rules.

    ``version`` is that of what they register with, which is told when it has ``changed``; ``is_known`` says whether
    there is a rule, or a declaration, for a callable.
    """

    def __init__(
        self, version: Callable[[], int], changed: Callable[[], None], is_known: Callable[[Any], bool]
    ) -> None:
        self._version, self._changed, self._is_known = version, changed, is_known
        self._loaded: set[str] = set()
        self._loading: set[int] = set()
        self._modules_seen = 0
        self._numpy_met = False
        self.entries: list[Any] | None = None
        """The entry points; None: nobody has looked for them yet."""
        self.without: dict[str, str] = {}
        """The packages that no rules are for, and why: nothing of them is differentiated."""
        self.declared = {"autodiff_rules"}
        """The packages whose modules are declared to be rule packs."""

    def declares(self, module: str) -> bool:
        """Whether a module is declared to be a rule pack, or is a part of one."""
        while module not in self.declared:
            module, dot, _ = module.rpartition(".")
            if not dot:
                return False
        return True

    def is_loading(self) -> bool:
        """Whether this thread is about to load some."""
        return threading.get_ident() in self._loading

    def load(self, target: Any = None, types: tuple[type, ...] = ()) -> None:
        """Import the rule packs that cover a module which is imported by now.

        That NumPy is imported says nothing, the engine does it: its pack is loaded when a module of others has
        imported it, or when one asks about ``target`` or ``types`` of NumPy's.

        A thread that finds another at it waits in the import system, which knows the locks that imports wait for; so
        none is held here.
        """
        if len(sys.modules) != self._modules_seen:
            self._numpy_met = self._numpy_met or _numpy_is_used()
            self._load_those_of_imported_modules()
        if not self._numpy_met and self._is_of_numpy(target, types):
            self._numpy_met = True
            self._load_those_of_imported_modules()

    def _load_those_of_imported_modules(self) -> None:
        version, thread = self._version(), threading.get_ident()
        if thread in self._loading:
            return
        self._loading.add(thread)
        try:
            with lasting():
                while self._load_what_is_ready():
                    pass  # what packs import may want others
        finally:
            self._loading.discard(thread)
            if self._version() != version:
                self._changed()

    def _load_what_is_ready(self) -> bool:
        """Load the packs of modules whose import is over; whether there were any."""
        seen, wanted = len(sys.modules), self._wanted()
        ready = [entry for entry in wanted if _is_imported(entry.name)]
        for entry in ready:
            self._load(entry)
        if len(ready) == len(wanted):
            self._modules_seen = seen
        return bool(ready)

    def _wanted(self) -> list[Any]:
        if self.entries is None:
            from importlib.metadata import entry_points  # slow to import, for the first rule only

            found = list(entry_points(group="autodiff_hook.rules"))
            if not found:
                raise ConfigError(
                    "no rules are known, not even those of the builtin functions: autodiff_hook is imported, but not "
                    "installed, so its entry points are missing. Install it (pip install autodiff-hook, or pip install "
                    "-e . in a clone); what freezes programs has to copy its metadata"
                )
            self.entries = found
        known = [entry for entry in self.entries if entry.name in sys.modules and entry.value not in self._loaded]
        return [entry for entry in known if entry.name != "numpy" or self._numpy_met]

    def _load(self, entry: Any) -> None:
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

    def _is_of_numpy(self, target: Any, types: tuple[type, ...]) -> bool:
        """Whether a function may be of NumPy's or SciPy's, or is one that no pack knows, or arguments may be."""
        if not _PLAIN.issuperset(types):
            return True
        owner = getattr(target, "__objclass__", target)
        module = getattr(owner, "__module__", None) or type(owner).__module__
        if module.partition(".")[0] in ("numpy", "scipy"):
            return True
        native = isinstance(target, BuiltinFunctionType) and isinstance(target.__self__, ModuleType)
        return native and not self._is_known(target)


_PLAIN: Final = frozenset({float, int, bool, complex, str, bytes, type(None), list, tuple})


def _numpy_is_used() -> bool:
    """Whether a module that is no part of this project has imported NumPy."""
    numpy = sys.modules.get("numpy")
    own = ("numpy", "autodiff_hook", "autodiff_rules")
    others = [m for name, m in list(sys.modules.items()) if name.partition(".")[0] not in own]
    return numpy is not None and any(vars(m).get(x) is numpy for m in others if m is not None for x in ("np", "numpy"))


def _is_imported(name: str) -> bool:
    """Whether the import of a module is over: a finalizer that runs in the midst of it must not need its rules."""
    return not getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False)
