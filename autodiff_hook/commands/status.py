"""Says what is opted in, by what, and which modules were met. As JSON with --json."""

from __future__ import annotations

import argparse
import dataclasses
import sys

from autodiff_hook.commands.files import as_json
from autodiff_hook.loader.status import status

NAME = "status"
HELP = "what is opted in, and from where"
EXAMPLE = "status"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def execute(options: argparse.Namespace) -> int:
    found = status()
    sys.stdout.write(as_json(dataclasses.asdict(found)) if options.json else f"{found}\n")
    return 0
