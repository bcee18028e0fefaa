"""Says what of packages is differentiable before you start. They are imported, but none of their functions is called.

A function lifts if all of it is within the limits. It is clear if besides it comes to no call of native code without
rule and of no Python code that is not opted in, as far as can be seen: what a value is asked to do (x.f()) is not
looked at. Calls that are in the way are harmless where no derivative passes through them."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from autodiff_hook.commands.files import as_json, writable, write
from autodiff_hook.commands.page import page
from autodiff_hook.text import bar, clipped, plural, table, width, wrapped

if TYPE_CHECKING:
    from autodiff_hook.commands.scanning import Scan

NAME = "scan"
HELP = "what of a package is differentiable, and what is in the way"
EXAMPLE = "scan geographiclib --html scan.html"
_MOST = 15


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("packages", nargs="+", metavar="pkg", help="a package, with all modules in it, or a module")
    parser.add_argument("--modules", action="append", default=[], metavar="PKG", help="what would be opted in besides")
    parser.add_argument("--tests", action="store_true", help="with the packages' own tests, which are left out else")
    parser.add_argument("--json", action="store_true", help="print JSON: everything, by function")
    parser.add_argument("--html", metavar="FILE", help="write a page with a bar for each module")
    parser.add_argument("--all", action="store_true", help=f"list everything, not the first {_MOST} of each kind")


def execute(options: argparse.Namespace) -> int:
    # Where it runs: --help, and status on an interpreter that is not supported, do without the engine.
    from autodiff_hook.commands.scanning import scan

    file = None if options.html is None else writable(options.html)
    besides = [name for part in options.modules for name in part.split(",")]
    with redirect_stdout(sys.stderr):  # what is printed at import is no part of the answer
        found = scan(list(dict.fromkeys(options.packages)), besides, options.tests)
    if file is not None:
        write(file, page(found))
    sys.stdout.write(as_json(found.to_dict()) if options.json else f"{text(found, options.all)}\n")
    return 0


def text(found: Scan, everything: bool = False) -> str:
    """A scan, for a terminal."""
    most = sys.maxsize if everything else _MOST
    shown = [module for module in found.modules if module.functions]
    total = sum(len(module.functions) for module in shown)
    rows: list[tuple[object, ...]] = [("module", "functions", "lift", "clear", "")]
    rows += [(m.name, len(m.functions), m.lifting, m.clear, bar(m.clear, len(m.functions), 20)) for m in shown]
    if len(shown) > 1:
        sums = sum(m.lifting for m in shown), sum(m.clear for m in shown)
        rows.append(("total", total, *sums, bar(sums[1], total, 20)))
    lines = table(rows, (1, 2, 3))
    for title, blocking in (
        ("calls of native code without rule", found.native),
        ("calls of Python code that is not opted in", found.closed),
    ):
        if blocking:
            lines += ["", *wrapped(f"{title}, and the functions that may come to them:", width())]
            lines += table([(f"  {name}", f"{reached:,}") for name, _, reached in blocking[:most]], (1,))
            lines += _rest(len(blocking) - most)
    if found.closed:
        lines += ["", *wrapped(f"to opt these in: --modules {','.join(found.closed_packages)}", width())]
    if found.constructs:
        lines += ["", "outside of the limits:"]
        for construct, functions in found.constructs[:most]:
            lines += _construct(construct, functions)
        lines += _rest(len(found.constructs) - most)
    failed = [module for module in found.modules if module.error is not None]
    if failed:
        lines += ["", "not imported:"]
        for module in failed[:most]:
            lines += wrapped(f"{module.name}: {module.error}", width(), 2)
        lines += _rest(len(failed) - most)
    return "\n".join(lines)


def _rest(count: int) -> list[str]:
    return [f"… and {count} more (--all)"] if count > 0 else []


def _construct(construct: str, functions: list[str]) -> list[str]:
    where = ", ".join(functions)
    return [clipped(f"  {construct}: {plural(len(functions), 'function')}", width()), clipped(f"    {where}", width())]
