"""All programs: those of this folder, those of the other tests, and generated ones."""

from __future__ import annotations

import copy
import importlib
import pkgutil
import random
import sys
from pathlib import Path
from typing import Any

from corpus import programs
from corpus.registry import PROGRAMS, Program, register

TESTS = Path(__file__).parent.parent
sys.path += [str(TESTS / folder) for folder in ("language", "specialise", "pushforward")]

GENERATED = 12
RUNNING = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13)
"""Seeds of random programs that run through."""

OF_PUSHFORWARD = {
    "arithmetic": "arithmetic elementary complex_numbers whole_numbers scalars_and_single_precision complex_arrays",
    "loops": "loop_with_break while_loop newton loops_over_arrays",
    "branches": "branches matching",
    "sequences": "lists list_repetition_and_search tuples named_tuples containers_as_arguments formatting",
    "mappings": "dicts default_dict",
    "comprehensions": "comprehensions",
    "calls": "closures nonlocal_state global_state arguments partials recursion callables decorated",
    "classes": "objects inheritance data_classes containers_in_classes",
    "generators": "generators",
    "higher order": "iteration_tools reductions ordering",
    "handlers": "try_without_raise try_with_raise context_managers",
    "array stores": "stores stores_and_views stores_through_views",
    "functions of arrays": "broadcasting signs indexing products linear_algebra elementwise shapes network",
}
"""The constructs of the programs that the tests of jvp and hvp are about."""


def _own() -> None:
    for module in pkgutil.iter_modules(programs.__path__):
        importlib.import_module(f"corpus.programs.{module.name}")


def _language() -> None:
    """What ``gradient_at`` makes tests of."""
    for file in sorted((TESTS / "language").glob("test_*.py")):
        importlib.import_module(file.stem)
    from helpers import PROGRAMS as at

    for function, args in at:
        module = function.__module__.removeprefix("test_")
        name = f"{module}.{function.__name__.removeprefix('test_')}"
        register(Program(module.replace("_", " "), name, function, _copies(args)))


def _copies(args: tuple[Any, ...]) -> Any:
    return lambda: copy.deepcopy(args)


def _pushforward() -> None:
    from arrays import EVERYTHING

    listed = " ".join(OF_PUSHFORWARD.values()).split()
    assert sorted(listed) == sorted(EVERYTHING), "each program of pushforward has its construct here"
    for construct, names in OF_PUSHFORWARD.items():
        for name in names.split():
            function, args = EVERYTHING[name]
            register(Program(construct, f"pushforward.{name}", function, _copies(args)))


def _given_whole() -> None:
    from test_given_whole import SUBCLASSES, WHOLE

    for construct, table in (("arguments used whole", WHOLE), ("subclasses of arrays", SUBCLASSES)):
        for name, (function, make, *_) in table.items():
            register(Program(construct, f"given_whole.{name}", function, make))


def _other_names() -> None:
    from test_other_names import NAMES

    for name, (function, argument) in NAMES.items():
        make = _the_same(argument)
        register(Program("other names of arguments", f"other_names.{name}", function, make, error_allowed=True))


def _the_same(argument: Any) -> Any:
    return lambda: (argument,)


def _generated() -> None:
    from random_programs import Program as Writer

    parts = compile((TESTS / "language" / "parts.py").read_text(), "<parts>", "exec")
    given = (0.61, -0.37, [0.53, -0.83, 0.29], {"p": 0.41, "q": -0.72})
    for seed in range(GENERATED):
        names: dict[str, Any] = {"__name__": "generated_program"}
        exec(parts, names)
        source = Writer(random.Random(seed).randrange).source(1 + seed % 6)
        exec(compile(source, f"<generated {seed}>", "exec"), names)
        register(Program("generated programs", f"generated.{seed}", names["f"], _copies(given)))


def _generated_arguments() -> None:
    import random_arguments as made

    for seed in RUNNING:
        source, wanted, kinds = made.program(seed)
        names: dict[str, Any] = {"__name__": "random_arguments", **made.NAMES}
        exec(compile(source, f"<random {seed}>", "exec"), names)
        choice = random.Random(seed)
        values = [choice.uniform(0.2, 1.2) for _ in range(sum(made.TAKEN[name] for name in wanted.split()))]
        make = _arguments(wanted, kinds, values)
        register(Program("generated arguments", f"random.{seed}", names["f"], make, error_allowed=True))


def _arguments(wanted: str, kinds: int, values: list[float]) -> Any:
    from random_arguments import arguments

    return lambda: tuple(arguments(wanted, kinds, iter(values)))


_SOURCES = (_own, _language, _pushforward, _given_whole, _other_names, _generated, _generated_arguments)


def collected() -> dict[str, Program]:
    """The corpus, by name."""
    if not PROGRAMS:
        for register_some in _SOURCES:
            register_some()
    return PROGRAMS
