"""Says of each public function of modules what is known of it: a rule; own source, which is Python code that can be
entered; constant, which is declared to have no derivative; or missing. Which of them take and give floats is not known:
functions of text and files are listed, too. By default, the modules that have rules."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

NAME = "coverage"
HELP = "which functions of a module have derivatives"
EXAMPLE = "coverage math scipy.special --missing"
KINDS: Final = ("rule", "own source", "constant", "missing")
_KIND_OF: Final = {
    **{"rule": "rule", "constant": "constant", "native": "missing"},
    **dict.fromkeys(("source", "library", "not opted in"), "own source"),
}


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is known of one module: the names of its public functions by kind."""

    module: str
    names: dict[str, list[str]]

    @property
    def total(self) -> int:
        return sum(map(len, self.names.values()))


def coverage(module: str) -> Coverage:
    """What is known of the public functions of a module.

    >>> found = coverage("math")
    >>> "sin" in found.names["rule"], "floor" in found.names["missing"]
    (True, False)
    """
    from autodiff_hook.commands.inputs import imported
    from autodiff_hook.commands.standing import standing

    names: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name, value in _public(imported(module)):
        names[_KIND_OF[standing(value)]].append(name)
    return Coverage(module, names)


def _public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The functions that a module offers: no classes, and nothing that belongs to another package."""
    listed = getattr(module, "__all__", None)
    names = [name for name in vars(module) if not name.startswith("_")] if listed is None else listed
    for name in sorted(set(names)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(module, name, None)
        if callable(value) and not inspect.isclass(value) and (listed is not None or _belongs(value, module)):
            yield name, value


def _belongs(value: Any, module: ModuleType) -> bool:
    home = getattr(value, "__module__", None)
    return not isinstance(home, str) or home.partition(".")[0].lstrip("_") == module.__name__.partition(".")[0]


def default_modules() -> list[str]:
    """The modules that have rules, as far as they are installed."""
    from importlib.metadata import entry_points

    found = []
    for name in sorted({entry.name for entry in entry_points(group="autodiff_hook.rules")}):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        found.append(name)
    return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("modules", nargs="*", metavar="module", help="e.g. math, numpy, numpy.linalg, scipy.special")
    parser.add_argument("--missing", action="store_true", help="list what is missing")
    parser.add_argument("--all", action="store_true", help="list every function")
    parser.add_argument("--json", action="store_true", help="print JSON: all names by kind")


def execute(options: argparse.Namespace) -> int:
    from autodiff_hook.commands.files import as_json

    with redirect_stdout(sys.stderr):  # what is printed at import is no part of the answer
        found = [coverage(module) for module in options.modules or default_modules()]
    if options.json:
        sys.stdout.write(as_json({each.module: each.names for each in found}))
        return 0
    listed = KINDS if options.all else ("missing",) if options.missing else ()
    print("\n".join(text(found, listed)))
    return 0


def text(found: Sequence[Coverage], listed: Sequence[str] = ()) -> list[str]:
    """Totals by module, then the names of the kinds that are asked for."""
    from autodiff_hook.commands.text import table, width, wrapped

    rows: list[tuple[object, ...]] = [("module", "functions", *KINDS)]
    rows += [(each.module, each.total, *(len(each.names[kind]) for kind in KINDS)) for each in found]
    if len(found) > 1:
        sums = [sum(len(each.names[kind]) for each in found) for kind in KINDS]
        rows.append(("total", sum(sums), *sums))
    lines = table(rows, range(1, len(KINDS) + 2))
    for each in found:
        for kind in listed:
            if each.names[kind]:
                lines += ["", f"{each.module}, {kind}:", *wrapped(", ".join(each.names[kind]), width(), 2)]
    return lines
