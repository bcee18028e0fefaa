"""Runs a program unchanged, and differentiates each call of the named functions as it happens.

Standard output, sys.argv, __main__ and the exit status are the program's. When it ends, a summary is printed on
standard error: the calls, the values, and the norm of the gradient by argument.

What returns no number, but a list, a tuple, a dict or an array, has the gradient of the item that is
named: --grad pkg.mod:function[0], --grad pkg.mod:function[name].

Options stand before the program, and then all that follows is the program's own; or all of them stand at the very end,
if --grad does not stand before."""

from __future__ import annotations

import argparse
import ast
import atexit
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from autodiff_hook import config
from autodiff_hook.commands.files import as_json, writable, write
from autodiff_hook.commands.inputs import BadInput, divided_target
from autodiff_hook.commands.program import Main, Program
from autodiff_hook.loader import install
from autodiff_hook.loader.attach import when_attached
from autodiff_hook.text import plural, table, width, wrapped

if TYPE_CHECKING:
    from autodiff_hook.commands.recording import Record

NAME = "run"
HELP = "run a program, and differentiate calls of functions in it"
EXAMPLE = "run --modules geographiclib --grad geographiclib.geodesic:Geodesic.Inverse examples/geodesic.py"
_OPTIONS: Final = ("--modules", "--grad", "--json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s [--modules PKG] --grad pkg.mod:function [--json FILE] (script.py | -m module) [args ...]"
    parser.add_argument("--grad", action="append", default=[], metavar="pkg.mod:function", help="may be given again")
    parser.add_argument(
        "--modules", action="append", default=[], metavar="PKG", help="opt in (default: the package of each function)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the summary to this file, with the first 1,000 calls")


def divided(argv: list[str]) -> tuple[list[str], list[str]]:
    """The words for this command, and those of the program."""
    index = 1
    while index < len(argv) and argv[index].startswith("-") and not argv[index].startswith("-m"):
        if argv[index] == "--":
            return argv[:index], argv[index + 1 :]
        index += 2 if argv[index] in _OPTIONS else 1
    ours, program = argv[:index], argv[index:]
    if not any(word.partition("=")[0] == "--grad" for word in ours):
        end = _end_of_arguments(program)
        ours, program = [*ours, *program[end:]], program[:end]
    return ours, program


def _end_of_arguments(program: list[str]) -> int:
    """Where the options begin with which a command line ends."""
    end = len(program)
    while True:
        if end > 2 and program[end - 2] in _OPTIONS:
            end -= 2
        elif end > 1 and program[end - 1].startswith(tuple(f"{option}=" for option in _OPTIONS)):
            end -= 1
        else:
            return end


def execute(options: argparse.Namespace) -> int:
    if not options.grad:
        raise BadInput("name a function to differentiate: --grad pkg.mod:function")
    file = None if options.json is None else writable(options.json)
    program = Program.of(options.program)
    modules = [name for part in options.modules for name in part.split(",")]

    def finish(records: list[Record]) -> None:
        if file is None:
            print("\n".join(map(summary, records)), file=sys.stderr)
        else:
            shown = [program.name] if not program.is_module else ["-m", program.name]
            found = {"program": [*shown, *program.args], "functions": [record.to_dict() for record in records]}
            write(file, as_json(found))

    record_program(program, options.grad, modules, finish)
    return 0


def record_program(
    program: Program, targets: Sequence[str], modules: Sequence[str], finish: Callable[[list[Record]], None]
) -> None:
    """Run a program, which raises what it raises; ``finish`` gets the records when the interpreter ends."""
    config.check()
    parts = [_divided_target(target) for target in targets]
    for target in targets:
        if [part[:2] for part in parts].count(_divided_target(target)[:2]) > 1:
            raise BadInput(f"{target!r} is named twice: one item of its value is differentiated")
    main = Main(program)
    recorders = _recorders(parts, main.name)
    named = [name for name in {*(module.partition(".")[0] for module, _, _ in parts), *modules} if name != "__main__"]
    if named:
        install(*sorted(named))
    config.add("call", ["__main__"])
    atexit.register(_finish, os.getpid(), recorders, finish)
    in_main = any(recorder.module == "__main__" for recorder in recorders)
    main.run(partial(_stored, recorders) if in_main else None)


def _divided_target(text: str) -> tuple[str, str, list[Any]]:
    """Module, name and, in brackets, the keys of the item that is differentiated."""
    function, bracket, rest = text.partition("[")
    if bracket and not rest.endswith("]"):
        raise BadInput(f"{text!r}: an item is named as pkg.mod:function[name]")
    return *divided_target(function), [_key(key) for key in rest[:-1].split("][")] if bracket else []


def _key(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _recorders(parts: list[tuple[str, str, list[Any]]], main: str) -> list[Any]:
    # Where it runs: --help, and status on an interpreter that is not supported, do without the engine.
    from autodiff_hook.commands.recording import Recorder

    told = Progress(sys.stderr)
    recorders = []
    for module, name, keys in parts:
        recorder = Recorder(f"{'__main__' if module == main else module}:{name}", told, keys)
        when_attached(recorder.look)
        recorders.append(recorder)
    told.recorders = recorders
    return recorders


def _stored(recorders: list[Any], name: str, value: Any) -> None:
    for recorder in recorders:
        first, *rest = recorder.name.split(".")
        if recorder.module == "__main__" and first == name:
            recorder.found(value, rest)


def _finish(process: int, recorders: list[Any], finish: Callable[[list[Record]], None]) -> None:
    """At the end of the interpreter, when all threads are over; not in children that were forked."""
    if os.getpid() == process:
        for recorder in recorders:
            recorder.stop()
        recorders[0].told.end()
        try:
            finish([recorder.record for recorder in recorders])
        except BadInput as error:
            print(f"autodiff: {error}", file=sys.stderr)


class Progress:
    """A line on a terminal that says how many calls there were, if it takes long."""

    AFTER: Final = 2.0
    EVERY: Final = 0.5

    def __init__(self, stream: Any) -> None:
        self.recorders: list[Any] = []
        self._stream = stream
        self._begun = time.monotonic()
        self._next = self._begun + self.AFTER if stream is not None and stream.isatty() else float("inf")
        self._shown = False

    def __call__(self) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self.EVERY
            calls = sum(recorder.record.calls for recorder in self.recorders)
            self._stream.write(f"\r\033[Kautodiff: {calls:,} calls in {now - self._begun:.0f} s")
            self._stream.flush()
            self._shown = True

    def end(self) -> None:
        """Wipe the line."""
        if self._shown:
            self._stream.write("\r\033[K")
            self._stream.flush()


def summary(record: Record) -> str:
    """The calls of a function, as text."""
    if record.found is not None:
        return "\n".join(wrapped(f"autodiff: {record.target} was not recorded: {record.found}", width()))
    lines = [f"autodiff: {record.target}: {plural(record.calls, 'call')} in {record.seconds:.3g} s"]
    if record.value.count:
        rows = [["", "last", "mean", "min", "max"], ["value", *_numbers(record.value)]]
        rows += [[f"gradient by {name}", *_numbers(norm)] for name, norm in record.norms.items()]
        lines += [f"  {row}" for row in table(rows, range(1, 5), 2)]
    if record.raised:
        lines.append(f"  {plural(record.raised, 'call')} raised an exception of the program")
    for error, count in record.errors.most_common(3):
        lines += wrapped(f"{plural(count, 'call')} without gradient: {error}", width(), 2)
    if len(record.errors) > 3:
        lines.append(f"  … and {len(record.errors) - 3} other reasons")
    return "\n".join(lines)


def _numbers(statistic: Any) -> list[str]:
    found = statistic.to_dict()
    return [f"{found[key]:.6g}" for key in ("last", "mean", "min", "max")]
