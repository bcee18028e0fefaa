"""The table of docs/constructs.md: what of the corpus is right in which mode. ``cd tests && python -m corpus.table``.

It is made of the marks, which the tests keep true, so that it is the same on all versions of CPython.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from corpus.collected import collected
from corpus.marks import ERROR, ISSUES, RIGHT, mark
from corpus.registry import MODES

FILE = Path(__file__).parents[2] / "docs" / "constructs.md"

_HEAD = """\
# Constructs and modes

Made by `tests/corpus/table.py` of what passes in `tests/corpus`; do not edit. Each program of the corpus is
differentiated in six ways: *typed* (`gradient` as it is, several times), *path* (specialised on the one way that the
call takes), *carried* (types hidden, nothing is specialised), *pullback* (called twice, and interleaved with another
one), *jvp* and *hvp*. The numbers are of programs that are right, then of those that end in a clear error, then of
those that wait for an issue. What is so on one version of CPython alone is counted.
"""


def _cell(found: Counter[str]) -> str:
    waiting = sum(found[issue] for issue in ISSUES)
    errors = f"{found[ERROR]} error{'s' * (found[ERROR] > 1)}" if found[ERROR] else ""
    words = [str(found[RIGHT]) if found[RIGHT] else "", errors, f"{waiting} waiting" if waiting else ""]
    return ", ".join(filter(None, words)) or "–"


def _rows() -> dict[str, dict[str, Counter[str]]]:
    rows: dict[str, dict[str, Counter[str]]] = {}
    for program in collected().values():
        row = rows.setdefault(program.construct, {mode: Counter() for mode in MODES})
        for mode in program.modes:
            row[mode][mark(program, mode, everywhere=True)] += 1
    return rows


def _waiting() -> list[str]:
    lines = []
    for issue in ISSUES:
        names: dict[str, list[str]] = {}
        for name, program in collected().items():
            modes = [mode for mode in program.modes if mark(program, mode, everywhere=True) == issue]
            if modes:
                names[name] = modes
        if names:
            lines += ["", f"## Waiting for: {issue}", ""]
            lines += [f"- `{name}`: {', '.join(modes)}" for name, modes in sorted(names.items())]
    return lines


def table() -> str:
    """The text of the file."""
    rows = _rows()
    total = {mode: sum((row[mode] for row in rows.values()), Counter()) for mode in MODES}
    lines = [_HEAD, f"| construct | {' | '.join(MODES)} |", "|" + " --- |" * (len(MODES) + 1)]
    for construct, row in [*sorted(rows.items()), ("all", total)]:
        lines.append(f"| {construct} | {' | '.join(_cell(row[mode]) for mode in MODES)} |")
    return "\n".join([*lines, *_waiting()]) + "\n"


if __name__ == "__main__":
    FILE.write_text(table())
