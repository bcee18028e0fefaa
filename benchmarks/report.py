"""What was measured, as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Result:
    """One workload: seconds of one call for each contender, and how many times as long as that ours took."""

    name: str
    about: str
    group: str
    size: int
    seconds: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    memory: dict[str, int] | None = None
    first_call: dict[str, float] | None = None


Column = tuple[str, Callable[[Result], str]]


def duration(seconds: float) -> str:
    """Three digits with a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def amount(count: int) -> str:
    """Bytes with a unit."""
    for unit, scale in (("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count} B"


def factor(value: float | None) -> str:
    """A ratio; a dash for what was not measured."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def columns(results: Sequence[Result]) -> list[Column]:
    """The columns that have something in them."""
    contenders = dict.fromkeys(name for result in results for name in result.ratios)
    shown: list[Column] = [
        ("workload", lambda result: result.name),
        ("forward", lambda result: timed(result, "forward")),
        ("by hand", lambda result: timed(result, "hand")),
        ("gradient", lambda result: timed(result, "gradient")),
    ]
    for name in contenders:
        shown.append((f"/ {name}", lambda result, name=name: factor(result.ratios.get(name))))
    if any(result.memory for result in results):
        shown.append(("peak", lambda result: amount(result.memory["gradient"]) if result.memory else "-"))
        for name in ("hand", "forward"):
            shown.append((f"peak / {name}", lambda result, name=name: memory_factor(result, name)))
    if any(result.first_call for result in results):
        for key in ("loading", "first", "second"):
            shown.append((key, lambda result, key=key: duration(result.first_call[key]) if result.first_call else "-"))
    return shown


def timed(result: Result, name: str) -> str:
    """The time of one contender."""
    return duration(result.seconds[name]) if name in result.seconds else "-"


def memory_factor(result: Result, name: str) -> str:
    """Our peak over that of another."""
    return factor(result.memory["gradient"] / max(1, result.memory[name])) if result.memory else "-"


def mean_row(label: str, results: Sequence[Result], heads: Iterable[str]) -> list[str]:
    """The geometric means of the ratios, under their columns."""
    row = [label]
    for head in list(heads)[1:]:
        values = [result.ratios[head[2:]] for result in results if head[2:] in result.ratios]
        show = head.startswith("/ ") and values
        row.append(factor(math.exp(sum(map(math.log, values)) / len(values))) if show else "")
    return row


def rows(results: Sequence[Result]) -> list[list[str]]:
    """The heads, a row for each workload, and a row of geometric means for each group and for all."""
    shown = columns(results)
    heads = [head for head, _ in shown]
    table = [heads, *([cell(result) for _, cell in shown] for result in results)]
    groups = dict.fromkeys(result.group for result in results)
    for group in groups if len(groups) > 1 else ():
        table.append(mean_row(f"mean: {group}", [result for result in results if result.group == group], heads))
    if len(results) > 1:
        table.append(mean_row("mean: all", results, heads))
    return table


def as_text(table: Sequence[Sequence[str]]) -> str:
    """Columns side by side."""
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = ("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in table)
    return "\n".join(lines)


def as_markdown(table: Sequence[Sequence[str]]) -> str:
    """A table of GitHub's Markdown."""
    heads, *body = table
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def notes(results: Sequence[Result], environment: dict[str, Any]) -> str:
    """Where it ran, what the columns are, and what was left out."""
    lines = [
        ", ".join(f"{name} {value}" for name, value in environment.items()),
        "forward, by hand, gradient: the time of one call. '/ x': how many times as long as x our gradient takes.",
    ]
    if any(result.memory for result in results):
        lines.append("peak: what is allocated at most during a warm gradient.")
    if any(result.first_call for result in results):
        lines.append(
            "loading: import and the gradient of x * x, in a new process; first, second: the gradients after it."
        )
    lines += [f"{result.name}: {name} left out: {why}" for result in results for name, why in result.left_out.items()]
    lines += [f"{result.name}: ERROR: {error}" for result in results for error in result.errors]
    return "\n".join(lines)
