"""What is checked without NumPy: lift, verify, print, and where the interpreter is supported emit, check and run."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import samples_control
import samples_values
from code_checks import check_code
from ir_interpreter import interpret
from opcode_names import of_functions_and_classes
from rewriting import round_trip
from sampling import SAMPLES, SCRIPTS, outcome, played, rebuilt

from autodiff_hook.emit import emit
from autodiff_hook.errors import Unsupported
from autodiff_hook.interpreter import obstacle
from autodiff_hook.ir.printer import to_text
from autodiff_hook.ir.types import IR
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift import lift
from autodiff_hook.lift.dialects import dialect

assert samples_values

_OPTIMIZED = 1

LIFTED = (
    "argparse asyncio.base_events asyncio.streams asyncio.taskgroups dis email._header_value_parser enum functools "
    "inspect logging pickle shutil subprocess tarfile threading typing unittest.mock zipfile._path"
).split()

WORK: dict[str, Callable[[Any], Any]] = {
    "_pydatetime": lambda m: (m.date(2024, 2, 29).isocalendar(), m.timedelta(1.5) / 7, m.datetime(1, 1, 1).isoformat()),
    "ast": lambda m: m.unparse(m.parse("def f(x: int = 3) -> None:\n    return [y for y in x if y]")),
    "base64": lambda m: (m.b85encode(b"autodiff"), m.b32decode(m.b32encode(b"hook"))),
    "bisect": lambda m: m.bisect_left([1, 3, 5], 4),
    "calendar": lambda m: m.TextCalendar().formatmonth(2024, 2),
    "collections": lambda m: (m.Counter("hello").most_common(2), m.namedtuple("P", "x y")(1, 2)._asdict()),
    "colorsys": lambda m: m.rgb_to_hls(0.2, 0.4, 0.7),
    "configparser": lambda m: [(p := m.ConfigParser()).read_string("[a]\nb = %(c)s\nc = 1"), dict(p["a"])],
    "contextlib": lambda m: [(s := m.ExitStack()).__enter__(), s.callback(s.__class__), s.close()][2:],
    "copy": lambda m: m.deepcopy({"a": [1, {2}], "b": (3, [4])}),
    "csv": lambda m: m.Sniffer().sniff("a;b\n1;2\n").delimiter,
    "dataclasses": lambda m: m.make_dataclass("C", [("x", int), ("y", float, m.field(default=2.0))], order=True)(1),
    "difflib": lambda m: list(m.unified_diff(["a", "b", "c"], ["a", "c", "d"])),
    "fnmatch": lambda m: (m.translate("*.py[co]"), m.filter(["a.py", "b.c"], "*.py")),
    "fractions": lambda m: (m.Fraction("3/4") ** 2 + m.Fraction(0.5), m.Fraction(3.14159).limit_denominator(100)),
    "graphlib": lambda m: tuple(m.TopologicalSorter({"d": {"b", "c"}, "b": {"a"}, "c": {"b"}}).static_order()),
    "heapq": lambda m: list(m.merge([1, 4], [2, 3], key=lambda x: -x)),
    "ipaddress": lambda m: list(m.ip_network("192.0.2.0/30").hosts()),
    "json.encoder": lambda m: list(m.JSONEncoder(indent=1, sort_keys=True).iterencode({"b": [1, 2.5], "a": None})),
    "pprint": lambda m: m.pformat({"key": list(range(30)), "other": {"nested": "text" * 20}}),
    "random": lambda m: (m.Random(1).sample(range(100), 5), m.Random(2).gauss(0, 1), m.Random(3).choices("ab", k=4)),
    "shlex": lambda m: m.split("a 'b c' --d=\"e\" # f", comments=True),
    "statistics": lambda m: (
        m.linear_regression([1, 2, 3], [2, 4, 7]),
        m.quantiles([1, 5, 2, 8]),
        m.NormalDist().cdf(1),
    ),
    "string": lambda m: (m.Template("$a ${b}").substitute(a=1, b=2), m.Formatter().format("{0!r:>5}", "x")),
    "textwrap": lambda m: m.fill("the quick brown fox jumps over the lazy dog", 20),
    "tokenize": lambda m: [x.string for x in m.generate_tokens(iter(["x = 1 + (y\n", ")\n"]).__next__)],
    "urllib.parse": lambda m: (m.urlsplit("http://u@h:1/p?q#f"), m.quote("ä /"), m.urljoin("http://a/b/c", "../d")),
}


TOLD_OTHERWISE = ("handlers", "chained", "groups", "unpacking", "merge_conflict")
"""Samples whose errors have other messages or contexts in the interpreter of the IR."""


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """The functions defined in a code object, at any depth."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & _OPTIMIZED:
                yield constant
            yield from functions_in(constant)


def compiled(name: str) -> CodeType:
    """The code of a module of the standard library."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.loader is not None, name
    source = spec.loader.get_source(name)  # type: ignore[attr-defined]
    return compile(source, name, "exec", dont_inherit=True)


def translate(code: CodeType, emits: bool) -> bool:
    """Through all stages; False if the lifter refuses the function, as it may where a class is the scope."""
    try:
        ir = lift(code)
    except Unsupported as error:
        assert "LOAD_FROM_DICT" in str(error), error
        return False
    verify(ir)
    assert to_text(ir)
    for release in (False, True) if emits else ():
        check_code(emit(ir, release))
    return True


def remade(name: str) -> ModuleType:
    """A module with all its functions re-emitted."""
    original = importlib.import_module(name)
    module = ModuleType(name)
    module.__dict__.update(__package__=original.__package__, __spec__=original.__spec__)
    sys.modules[name] = module
    try:
        exec(round_trip(compiled(name)), module.__dict__)
    finally:
        sys.modules[name] = original
    return module


def finished(coroutine: Any) -> Any:
    """The result of a coroutine that waits for nothing; there is no event loop here."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def interpret_samples() -> int:
    """What the lifter says that a function means is what it does."""
    done = 0
    for function, calls in SAMPLES:
        assert isinstance(function, FunctionType)
        ir = lift(function.__code__)

        def interpreted(*arguments: Any, ir: IR = ir, function: FunctionType = function) -> Any:
            bound = inspect.signature(function).bind(*arguments)
            bound.apply_defaults()
            return interpret(ir, dict(bound.arguments), function.__globals__, function.__closure__ or ())

        for arguments in calls if function.__name__ not in TOLD_OTHERWISE else ():
            assert outcome(interpreted, arguments) == outcome(function, arguments), function
            done += 1
    return done


def run_samples() -> int:
    for sample in SAMPLES:
        again = rebuilt(sample.function)
        for arguments in sample.calls:
            assert outcome(again, arguments) == outcome(sample.function, arguments), sample
    for function in samples_control.GENERATORS:
        for script in SCRIPTS.values():
            assert played(rebuilt(function)(2), script) == played(function(2), script), function
    for function in samples_control.COROUTINES:
        assert finished(rebuilt(function)(3)) == finished(function(3)), function

    async def items(source: Any) -> list[Any]:
        return [x async for x in source]

    for function in samples_control.ASYNC_GENERATORS:
        assert finished(items(rebuilt(function)(3))) == finished(items(function(3))), function
    return len(SAMPLES) + sum(map(len, (samples_control.GENERATORS, samples_control.COROUTINES)))


def main() -> None:
    emits = obstacle() is None
    assert set(dialect()) == of_functions_and_classes()
    lifted = refused = 0
    for name in (*LIFTED, *WORK):
        for code in functions_in(compiled(name)):
            if translate(code, emits):
                lifted += 1
            else:
                refused += 1
    version = sys.version.partition(" ")[0]
    done = "lifted, verified, emitted and checked" if emits else "lifted and verified"
    print(f"CPython {version}: {lifted} functions of {len(LIFTED) + len(WORK)} modules {done}; {refused} refused")
    assert lifted > 20 * refused
    print(f"{interpret_samples()} calls of samples give by their IR what they give by their bytecode")
    if emits:
        for name, work in WORK.items():
            assert repr(work(remade(name))) == repr(work(importlib.import_module(name))), name
        print(f"{run_samples()} samples and {len(WORK)} modules behave after a round trip as before")
    assert not any(x.partition(".")[0] == "numpy" or x.startswith("autodiff_hook.runtime") for x in sys.modules)


if __name__ == "__main__":
    main()
