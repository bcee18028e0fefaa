"""Prints what is known of each public callable of modules and classes; by default, of the modules that have rules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout

from autodiff_hook.commands.coverage_page import MODULES, page
from autodiff_hook.commands.covering import KINDS, Coverage, coverage, default_modules, totals
from autodiff_hook.commands.files import as_json
from autodiff_hook.text import table, width, wrapped

NAME = "coverage"
HELP = "which functions of a module have derivatives"
EXAMPLE = "coverage math numpy.ndarray scipy.special --missing"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("modules", nargs="*", metavar="module", help="e.g. math, numpy, numpy.ndarray, scipy.special")
    parser.add_argument("--missing", action="store_true", help="list what is missing, and what own source may come to")
    parser.add_argument("--all", action="store_true", help="list every callable")
    parser.add_argument("--json", action="store_true", help="print JSON: all names by kind")
    parser.add_argument("--page", action="store_true", help="print docs/coverage.md, of its modules if none are named")


def execute(options: argparse.Namespace) -> int:
    with redirect_stdout(sys.stderr):  # what is printed at import is no part of the answer
        found = coverage(*(options.modules or (MODULES if options.page else default_modules())))
    if options.json:
        sys.stdout.write(as_json({each.module: each.names for each in found}))
    elif options.page:
        sys.stdout.write(page(found))
    else:
        print("\n".join(text(found, KINDS if options.all else ("in part", "missing") if options.missing else ())))
    return 0


def text(found: Sequence[Coverage], listed: Sequence[str] = ()) -> list[str]:
    """Totals by module, then the names of the kinds that are asked for."""
    lines = table(totals(found), range(1, len(KINDS) + 2))
    for each in found:
        for kind in listed:
            if each.names[kind]:
                named = [_with_obstacles(each, name) for name in each.names[kind]]
                lines += ["", f"{each.module}, {kind}:", *wrapped(", ".join(named), width(), 2)]
    return lines


def _with_obstacles(found: Coverage, name: str) -> str:
    return f"{name} ({', '.join(found.obstacles[name][:3])})" if name in found.obstacles else name
