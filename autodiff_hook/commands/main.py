"""The parser of the command line, and what is done with errors: bad input is one line on stderr and exit code 2."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from autodiff_hook import __version__, interpreter
from autodiff_hook.commands import check, coverage, explain, run, scan, status
from autodiff_hook.commands.inputs import BadInput
from autodiff_hook.errors import ConfigError
from autodiff_hook.text import width, wrapped

NAME = "autodiff-hook"
COMMANDS = (run, scan, explain, check, coverage, status)


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser() -> Parser:
    """The parser of all commands."""
    whole = Parser(
        prog=NAME,
        description="Gradients of ordinary Python, from the command line.",
        epilog="Each command has its own --help, with an example.",
    )
    whole.add_argument("--version", action="version", version=f"{NAME} {__version__}")
    commands = whole.add_subparsers(metavar="command", dest="command", required=True)
    for command in COMMANDS:
        one = commands.add_parser(
            command.NAME,
            help=command.HELP,
            description="\n\n".join(_paragraph(text) for text in (command.__doc__ or "").split("\n\n")),
            epilog=f"example:\n  {NAME} {command.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(one)
        one.set_defaults(execute=command.execute)
    return whole


def _require_support(command: str) -> None:
    """Say what is wrong with the interpreter; ``status`` says it in its own words."""
    reason = interpreter.obstacle()
    if reason is not None and command != status.NAME:
        raise BadInput(reason)


def _paragraph(text: str) -> str:
    return "\n".join(wrapped(" ".join(text.split()), width() - 2))


def main(argv: list[str] | None = None) -> int:
    """Run a command; the result is the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    program: list[str] = []
    if argv[:1] == [run.NAME]:
        argv, program = run.divided(argv)
    options = parser().parse_args(argv)
    options.program = program
    try:
        _require_support(options.command)
        code: int = options.execute(options)
        sys.stdout.flush()
        return code
    except (BadInput, ConfigError) as error:
        text = " ".join(str(error).split())
        print(f"{NAME} {options.command}: {text}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Who read the output has seen enough; what the interpreter flushes at its end has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
