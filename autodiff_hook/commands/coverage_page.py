"""``docs/coverage.md``: what is known of the callables of the standard library, NumPy and SciPy."""

from __future__ import annotations

import platform
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from autodiff_hook.commands.covering import KINDS, Coverage, totals

MODULES: Final = (
    *("builtins", "math", "cmath", "statistics", "statistics.NormalDist", "fractions", "fractions.Fraction"),
    *("decimal", "decimal.Decimal", "decimal.Context", "random", "random.Random", "itertools", "functools"),
    *("operator", "collections", "heapq", "bisect", "array", "array.array"),
    *("numpy", "numpy.ndarray", "numpy.generic", "numpy.ufunc", "numpy.linalg", "numpy.fft"),
    *("numpy.random", "numpy.random.Generator", "numpy.random.RandomState"),
    *("scipy.special", "scipy.linalg", "scipy.fft", "scipy.stats", "scipy.optimize", "scipy.integrate"),
    *("scipy.interpolate", "scipy.signal", "scipy.ndimage", "scipy.spatial.distance"),
)
COMMAND: Final = "python -m autodiff_hook coverage --page > docs/coverage.md"
HEAD: Final = """\
# Coverage

What is known of each public callable, with {versions}. Other versions have other functions. This page is generated: \
`{command}`.

* **rule**: a derivative is registered, or known by other means (`docs/rules.md`).
* **own source**: Python code that is entered. It lifts, and all that it may come to has a derivative or is a \
constant, as far as globals, modules and classes say what is called.
* **in part**: Python code that lifts, but may come to native code without derivative on some way: the gradient is \
right, or an error there. What that is stands behind the name.
* **constant**: declared to have no derivative. The reasons are below.
* **refused**: an error on purpose, if a gradient wants to pass. The reasons are below.
* **missing**: native code that nothing is known of: an error if a gradient wants to pass.

Which of them take and give floats is not known here: what is about text, files and memory is listed, too.
"""


def page(found: Sequence[Coverage]) -> str:
    """The page in Markdown."""
    lines = [HEAD.format(versions=versions(), command=COMMAND), *_table(found), "", "## Constants, and why", ""]
    lines += [*_explained(found, "constant"), "", "## Refused, and why", "", *_explained(found, "refused")]
    for each in found:
        lines += ["", f"## {each.module}", *_names(each)]
    return "\n".join(lines) + "\n"


def versions() -> str:
    """The versions that the page is about."""
    # Only the page names them; SciPy may be absent.
    import numpy
    import scipy  # type: ignore[import-untyped]

    python = ".".join(platform.python_version_tuple()[:2])
    return f"CPython {python}, NumPy {numpy.__version__} and SciPy {scipy.__version__}"


def _table(found: Sequence[Coverage]) -> Iterator[str]:
    rows = totals(found)
    yield f"| {' | '.join(map(str, rows[0]))} |"
    yield f"| --- |{' ---: |' * (len(KINDS) + 1)}"
    for row in rows[1:]:
        yield f"| {' | '.join(map(str, row))} |"


def _explained(found: Sequence[Coverage], kind: str) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for each in found:
        for name in each.names[kind]:
            by_reason.setdefault(each.reasons[name], []).append(f"{each.module}.{name}")
    for reason in sorted(by_reason):
        yield from wrapped(f"* *{reason}:*", by_reason[reason])


def _names(found: Coverage) -> Iterator[str]:
    for kind in KINDS:
        if found.names[kind] and kind not in ("constant", "refused"):
            yield ""
            yield from wrapped(f"**{kind}:**", [_shown(found, name) for name in found.names[kind]])


def _shown(found: Coverage, name: str) -> str:
    obstacles = found.obstacles.get(name, ())
    more = f" and {len(obstacles) - 2} more" if len(obstacles) > 2 else ""
    return f"`{name}` ({', '.join(obstacles[:2])}{more})" if obstacles else f"`{name}`"


def wrapped(title: str, names: Sequence[str]) -> list[str]:
    """Names after a title, in lines of 120 columns."""
    return textwrap.wrap(f"{title} {', '.join(names)}", 120, break_long_words=False, break_on_hyphens=False)
