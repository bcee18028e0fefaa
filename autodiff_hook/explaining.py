"""What the engine made of a call: by source line what is typed, what is carried and why, and what compiling cost."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from types import CodeType
from typing import Any, Literal, ParamSpec

from autodiff_hook import reports
from autodiff_hook.api import gradient, pullback
from autodiff_hook.errors import NotDifferentiable, Unsupported
from autodiff_hook.records import record
from autodiff_hook.reports import Reason, Report
from autodiff_hook.runtime import specialising, splitting
from autodiff_hook.runtime.preparing import NO_SCALAR
from autodiff_hook.runtime.specialising import given_up
from autodiff_hook.semantics import functions
from autodiff_hook.text import clipped, plural, width, wrapped

P = ParamSpec("P")
How = Literal["typed", "carried", "native"]
"""``native``: the line calls what no derivative is known of, and hands it something with a derivative."""


@record(frozen=True)
class Line:
    """One line of a function."""

    number: int
    how: How
    reason: str = ""
    """What keeps it from being typed, if that is decided here."""


@record
class Function:
    """One function that took part, in one of the forms in which it did."""

    name: str
    filename: str
    first_line: int
    how: Literal["typed", "carried"]
    what: str = ""
    """Which typed program it is (``for one way``, ``apart``: its call is a part of a carried program), or is in."""
    reasons: tuple[str, ...] = ()
    """Why it is not typed, as far as no line of it says that."""
    lines: tuple[Line, ...] = ()
    times: dict[str, float] = field(default_factory=dict)
    """What compiling it took, in seconds by stage: ``refused`` is what was spent on programs that came to nothing."""

    @property
    def seconds(self) -> float:
        """What compiling it took."""
        return sum(self.times.values())

    def __str__(self) -> str:
        return "\n".join(self._text(width()))

    def _text(self, width: int) -> Iterator[str]:
        how = f"{self.how} {self.what}".strip()
        yield from wrapped(f"{self.name} ({shortened(self.filename)}:{self.first_line}): {how}", width)
        if self.times:
            stages = ", ".join(f"{stage} {1000 * t:.1f}" for stage, t in self.times.items())
            yield from wrapped(f"compiling {1000 * self.seconds:.1f} ms: {stages}", width, 4)
        for reason in self.reasons:
            yield from wrapped(f"not typed: {reason}", width, 4)
        for line in self.lines:
            source = linecache.getline(self.filename, line.number).rstrip()
            text = clipped(f"{line.number:6} {line.how:8} {source}", width)
            why = f"  # {line.reason}" if line.reason else ""
            if len(text) + len(why) <= width:
                yield f"{text}{why}"
            else:
                yield text
                yield from wrapped(f"# {line.reason}", width, 16)


@record(frozen=True)
class Explanation:
    """The answer of ``explain``; its text is for a terminal, and as wide as that."""

    functions: tuple[Function, ...]
    """In the order in which they were met; those of the standard library, NumPy and SciPy, too."""
    notes: tuple[str, ...] = ()
    """What is true of the whole call."""
    error: str | None = None
    """Why there is no gradient, if there is none."""

    @property
    def seconds(self) -> float:
        """What compiling took."""
        return sum(function.seconds for function in self.functions)

    def __str__(self) -> str:
        kinds = [len({f.name for f in self.functions if f.how == how}) for how in ("typed", "carried")]
        head = f"{plural(kinds[0], 'function')} typed, {kinds[1]} carried; {1000 * self.seconds:.1f} ms of compiling"
        error = [f"no gradient: {self.error}"] if self.error is not None else []
        notes = [line for note in (*error, *self.notes) for line in wrapped(note, width())]
        return "\n".join([head, *notes, *(f"\n{function}" for function in self.functions)])

    __repr__ = __str__


def explain(f: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Explanation:
    """How ``gradient(f, *args, **kwargs)`` is computed: what is typed, what is carried and why, and the cost.

    It is computed once for that, as at a first call: what has been compiled in this process is forgotten before, and
    compiled again when it is needed next. If the value is no scalar, the pullback is explained, and ``f`` runs again
    for that. An error of autodiff_hook is a part of the explanation; what ``f`` raises itself is raised.

    >>> def area(r):
    ...     return 3.14 * r * r
    >>> found = explain(area, 2.0)
    >>> [(function.name, function.how) for function in found.functions]
    [('area', 'typed')]
    >>> import time
    >>> def shown(r):
    ...     time.sleep(0)
    ...     return area(r)
    >>> for function in explain(shown, 2.0).functions:
    ...     print(function.name, function.how, function.what, [line.reason for line in function.lines if line.reason])
    shown carried  ['a call of time.sleep, which has effects']
    area typed apart []
    """
    code = getattr(getattr(f, "__func__", f), "__code__", None)
    notes = [f"before this call: {reason}" for reason in (given_up(code) if isinstance(code, CodeType) else ())]
    told, error = _told(gradient, f, args, kwargs)
    if isinstance(error, Unsupported) and error.construct == NO_SCALAR:
        told, error = _told(pullback, f, args, kwargs)
        notes.append("the value is no scalar: this is its pullback")
    notes += [str(report) for report in told if report.kind == "nothing" or report.code is None]
    return Explanation(
        tuple(_with_regions([*_functions(told)])), tuple(dict.fromkeys(notes)), None if error is None else str(error)
    )


def _told(
    operator: Callable[..., Any], f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Report], Exception | None]:
    """What is reported of a call that nothing is known of before, and the error that it ends in."""
    for part in (specialising, splitting, functions):
        part.forget()
    with reports.collecting() as told:
        try:
            operator(f, *args, **kwargs)
        except (NotDifferentiable, Unsupported) as error:
            return told, error
    return told, None


def _functions(told: list[Report]) -> Iterator[Function]:
    """Each program that is in use, with the functions that are a part of it."""
    about = [report for report in told if report.code is not None]
    carried = {id(report.code) for report in about if report.kind == "carried"}
    # By identity: emitted code may have constants that cannot be hashed.
    for code in {id(report.code): report.code for report in about if report.kind != "opaque"}.values():
        assert code is not None
        of_code = [report for report in about if report.code is code]
        if id(code) in carried:
            if not _is_own(code.co_filename):
                yield _carried(code, about)
        for report in of_code:
            if report.kind == "typed" and not _is_given_up(report, of_code):
                yield from _typed(report, of_code)


def _with_regions(functions: list[Function]) -> Iterator[Function]:
    """Functions that are carried, with the lines that are typed apart."""
    for function in functions:
        if function.how == "carried":
            apart = [x for x in functions if x.how == "typed" and _place(x) == _place(function)]
            typed = {line.number for other in apart for line in other.lines if line.how == "typed"}
            lines = [replace(x, how="typed") if x.number in typed and not x.reason else x for x in function.lines]
            function = replace(function, lines=tuple(lines))
        yield function


def _place(function: Function) -> tuple[str, str, int]:
    return function.name, function.filename, function.first_line


def _is_given_up(typed: Report, of_code: list[Report]) -> bool:
    """Whether a program came to nothing after it was made."""
    later = of_code[of_code.index(typed) + 1 :]
    return any(report.kind in ("not typed", "not typed any more") for report in later)


def _typed(report: Report, of_code: list[Report]) -> Iterator[Function]:
    refused = sum(other.seconds for other in of_code if other.kind == "not typed")
    left = {(reason.filename, reason.line): reason.text for reason in report.left}
    for code in report.inlined:
        if _is_own(code.co_filename):
            continue
        lines = tuple(
            Line(
                number,
                "carried" if (code.co_filename, number) in left else "typed",
                left.get((code.co_filename, number), ""),
            )
            for number in _numbers(code)
        )
        outer = code is report.code
        times = {**({"refused": refused} if refused else {}), **report.times} if outer else {}
        what = report.what if outer else f"within {report.name}"
        yield Function(code.co_qualname, code.co_filename, code.co_firstlineno, "typed", what, (), lines, times)


def _carried(code: CodeType, about: list[Report]) -> Function:
    of_code = [report for report in about if _is_about(report, code)]
    reasons = [report.reason for report in of_code if report.kind != "opaque" and report.reason is not None]
    native = dict[int | None, str]()
    for report in of_code:
        if report.kind == "opaque" and report.reason is not None:
            native.setdefault(report.reason.line, report.reason.text)
    numbers = _numbers(code)
    here = {
        reason.line: reason.text for reason in reasons if reason.filename == code.co_filename and reason.line in numbers
    }
    lines = tuple(
        Line(number, "native" if number in native else "carried", native.get(number) or here.get(number, ""))
        for number in numbers
    )
    elsewhere = tuple(dict.fromkeys(str(reason) for reason in reasons if _is_elsewhere(reason, code, numbers)))
    times = dict[str, float]()
    for report in of_code:
        for stage, seconds in report.times.items():
            stage = stage if report.kind == "carried" else "refused"
            times[stage] = times.get(stage, 0.0) + seconds
    return Function(code.co_qualname, code.co_filename, code.co_firstlineno, "carried", "", elsewhere, lines, times)


def _is_about(report: Report, code: CodeType) -> bool:
    """Whether a report is about a function; what runs carried is another code object with the same place."""
    if report.kind != "opaque" or report.code is None:
        return report.code is code
    ran = report.code
    return (ran.co_filename, ran.co_firstlineno, ran.co_qualname) == (
        code.co_filename,
        code.co_firstlineno,
        code.co_qualname,
    )


def _is_elsewhere(reason: Reason, code: CodeType, numbers: list[int]) -> bool:
    return reason.filename != code.co_filename or reason.line not in numbers


def _is_own(filename: str) -> bool:
    """Whether a file is of this package or of its rules."""
    packages = [sys.modules[name] for name in ("autodiff_hook", "autodiff_rules") if name in sys.modules]
    return any(filename.startswith(folder + os.sep) for package in packages for folder in package.__path__)


def _numbers(code: CodeType) -> list[int]:
    """The lines that a function has code on."""
    found = {line for _, _, line in code.co_lines() if line is not None}
    nested = [const for const in code.co_consts if isinstance(const, CodeType)]
    return sorted(found.union(*map(_numbers, nested)) - {code.co_firstlineno if len(found) > 1 else None})


def shortened(filename: str) -> str:
    """A file as it is found by ``sys.path``."""
    folders = [os.path.join(folder, "") for folder in sys.path if folder and filename.startswith(folder)]
    return filename.removeprefix(max(folders, key=len, default=""))
