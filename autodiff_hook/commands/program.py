"""Programs that run as ``python script.py`` and ``python -m module`` run them."""

from __future__ import annotations

import builtins
import os
import sys
import zipfile
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from types import CodeType, ModuleType, TracebackType
from typing import Any, NoReturn

from autodiff_hook.commands.inputs import BadInput

Stored = Callable[[str, Any], None]
"""Called with each name that the main module assigns, and what."""


@dataclass(frozen=True, slots=True)
class Program:
    """A script, or with ``is_module`` a module, and its arguments."""

    name: str
    is_module: bool
    args: tuple[str, ...]

    @staticmethod
    def of(words: list[str]) -> Program:
        """The program that a command line names: ``script.py args`` or ``-m module args``."""
        if not words:
            raise BadInput("name the program: a script, or -m and a module")
        first, *rest = words
        if not first.startswith("-m"):
            return Program(first, False, tuple(rest))
        name, *rest = [first[2:], *rest] if len(first) > 2 else rest or [""]
        if not name:
            raise BadInput("-m needs the name of a module")
        return Program(name, True, tuple(rest))


class Main:
    """The main module of a program, prepared to run: ``sys.argv``, ``sys.path`` and ``__main__`` are its own."""

    def __init__(self, program: Program) -> None:
        self.name = "__main__"
        """The name that the module has for those who import it."""
        sys.argv = [program.name, *program.args]
        if program.is_module:
            _search_first(os.getcwd())
            spec = _spec_of(program.name)
            sys.argv[0] = spec.origin or program.name
            self.name = spec.name
            self._from_spec(spec)
        elif os.path.isdir(program.name) or zipfile.is_zipfile(program.name):
            _search_first(program.name)
            found = PathFinder.find_spec("__main__", [program.name])
            if found is None:
                raise BadInput(f"{program.name!r} holds no __main__ module")
            self._from_spec(found)
        else:
            _search_first(os.path.dirname(os.path.realpath(program.name)))
            self._from_file(program.name)

    def _from_file(self, path: str) -> None:
        path = os.path.abspath(path)
        loader = SourceFileLoader("__main__", path)
        try:
            source = loader.get_data(path)
        except OSError as error:
            raise BadInput(f"{path!r} cannot be read: {error.strerror}") from error
        self._code: Callable[[], CodeType] = lambda: loader.source_to_code(source, path)
        self.module = _module(loader, None, path)

    def _from_spec(self, spec: ModuleSpec) -> None:
        loader: Any = spec.loader
        if not hasattr(loader, "get_code"):
            raise BadInput(f"module {spec.name!r} cannot be run")
        self._code = lambda: loader.get_code(spec.name)
        self.module = _module(loader, spec, spec.origin)

    def run(self, stored: Stored | None = None) -> None:
        """Execute the module; ``stored`` is told what it assigns.

        What the program raises is raised, with a traceback that begins in its own code.
        """
        sys.modules["__main__"] = self.module
        namespace = self.module.__dict__
        try:
            code = self._code()
            exec(code, namespace, namespace if stored is None else _Names(namespace, stored))
        except BaseException as error:
            _reraise(error, self.module.__file__)


def _module(loader: Any, spec: ModuleSpec | None, path: str | None) -> ModuleType:
    module = ModuleType("__main__")
    module.__file__, module.__loader__, module.__spec__ = path, loader, spec
    module.__package__ = None if spec is None else spec.parent
    module.__dict__.update(__builtins__=builtins, __cached__=None if spec is None else spec.cached)
    return module


def _search_first(folder: str) -> None:
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _spec_of(name: str) -> ModuleSpec:
    """The module that ``python -m name`` runs: of a package, its ``__main__``."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError) as error:
        raise BadInput(f"no module named {name!r}: {error}") from error
    if spec is None:
        raise BadInput(f"no module named {name!r}")
    if spec.submodule_search_locations is not None:
        if name.endswith(".__main__"):
            raise BadInput(f"package {name!r} cannot be run")
        return _spec_of(f"{name}.__main__")
    return spec


class _Names(MutableMapping[str, Any]):
    """The namespace of the main module, which tells what is assigned there."""

    def __init__(self, namespace: dict[str, Any], stored: Stored) -> None:
        self._namespace, self._stored = namespace, stored

    def __getitem__(self, name: str) -> Any:
        return self._namespace[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._namespace[name] = value
        self._stored(name, value)

    def __delitem__(self, name: str) -> None:
        del self._namespace[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._namespace)

    def __len__(self) -> int:
        return len(self._namespace)


def _reraise(error: BaseException, path: str | None) -> NoReturn:
    """Raise what the program has raised; it is shown without the frames of what runs the program."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    show = sys.excepthook

    def show_own(kind: type[BaseException], raised: BaseException, shown: TracebackType | None) -> None:
        if raised is error:
            raised.__traceback__ = shown = trace
        show(kind, raised, shown)

    sys.excepthook = show_own
    raise error
