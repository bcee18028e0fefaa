"""Computes a gradient once, and lists by source line what was typed, what was carried and why, and the cost."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from autodiff_hook.commands import inputs
from autodiff_hook.loader import install

NAME = "explain"
HELP = "what of a function is typed, what is carried, and why"
EXAMPLE = "explain colorsys:rgb_to_yiq --args 0.2,0.4,0.6"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_call(parser)


def add_call(parser: argparse.ArgumentParser) -> None:
    """What says which function is called, and with what."""
    parser.add_argument("function", metavar="pkg.mod:function", help="the function, or Class.method of a class")
    parser.add_argument("--args", default="", metavar="LITERALS", help=inputs.ARGUMENTS.replace("%", "%%"))
    parser.add_argument(
        "--modules", action="append", default=[], metavar="PKG", help="opt in besides, as AUTODIFF_MODULES does"
    )


def call_of(options: argparse.Namespace) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function and its arguments; the packages that are named, and that of the function, are opted in."""
    args, kwargs = inputs.arguments(options.args)
    inputs.prefer_working_directory()
    module = inputs.divided_target(options.function)[0]
    install(module.partition(".")[0], *(name for part in options.modules for name in part.split(",")))
    function = inputs.target(options.function)
    inputs.require_fit(function, args, kwargs)
    return function, args, kwargs


def execute(options: argparse.Namespace) -> int:
    # Where it runs: --help, and status on an interpreter that is not supported, do without the engine.
    from autodiff_hook.explaining import explain

    function, args, kwargs = call_of(options)
    try:
        found = explain(function, *args, **kwargs)
    except Exception as error:
        print(f"{inputs.called(options.args, function)} {inputs.raised(error)}", file=sys.stderr)
        return 1
    print(found)
    return 0
