"""A scan as one HTML page, which needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from autodiff_hook.text import plural

if TYPE_CHECKING:
    from autodiff_hook.commands.scanning import Found, Module, Scan

_STYLE = """
:root { color-scheme: light dark; --clear: #2e7d4f; --lift: #d9a521; --other: #b3403a; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
code, summary { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
.bar { display: flex; height: .9rem; margin-top: .25rem; min-width: 10rem; border-radius: .2rem; overflow: hidden; }
.clear { background: var(--clear); } .lift { background: var(--lift); } .other { background: var(--other); }
.key i { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; border-radius: .2rem; }
.key i:first-child { margin-left: 0; }
details { margin: .2rem 0; } details ul { margin: .3rem 0 .6rem; }
"""


def page(found: Scan) -> str:
    """The page of a scan."""
    title = f"What is differentiable in {', '.join(found.packages)}"
    shown = [module for module in found.modules if module.functions]
    functions = sum(len(module.functions) for module in shown)
    clear = sum(module.clear for module in shown)
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{plural(functions, 'function')} in {plural(len(shown), 'module')}; {clear:,} are clear.</p>",
        '<p class="key"><i class="clear"></i>clear<i class="lift"></i>lifts, but comes to calls without derivative'
        '<i class="other"></i>outside of the limits</p>',
        "<table><thead><tr><th>module</th><th class=number>functions</th><th class=number>lift</th>"
        "<th class=number>clear</th><th></th></tr></thead><tbody>",
        *map(_row, shown),
        "</tbody></table>",
        *_blocking("Calls of native code without rule", found.native),
        *_blocking("Calls of Python code that is not opted in", found.closed),
        *_remedy(found),
        *_constructs(found),
        *_errors(found),
        "<h2>Functions</h2>",
        *map(_module, shown),
    ]
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _row(module: Module) -> str:
    whole = len(module.functions)
    parts = (("clear", module.clear), ("lift", module.lifting - module.clear), ("other", whole - module.lifting))
    # Lifting and blocked functions overlap with neither of the others: clear ones lift.
    bars = "".join(f'<span class="{kind}" style="flex:{count}"></span>' for kind, count in parts if count)
    label = f"{module.clear} of {whole} clear"
    return (
        f"<tr><td><code>{escape(module.name)}</code></td><td class=number>{whole}</td>"
        f"<td class=number>{module.lifting}</td><td class=number>{module.clear}</td>"
        f'<td><div class="bar" role="img" aria-label="{label}" title="{label}">{bars}</div></td></tr>'
    )


def _blocking(title: str, names: list[tuple[str, int, int]]) -> Iterator[str]:
    if names:
        yield f"<h2>{title}</h2><table><thead><tr><th>callable</th><th class=number>called by</th>"
        yield "<th class=number>functions that may come to it</th></tr></thead><tbody>"
        for name, direct, reached in names:
            numbers = f"<td class=number>{direct}</td><td class=number>{reached}</td>"
            yield f"<tr><td><code>{escape(name)}</code></td>{numbers}</tr>"
        yield "</tbody></table>"


def _remedy(found: Scan) -> Iterator[str]:
    if found.closed:
        yield f"<p>To opt these in: <code>--modules {escape(','.join(found.closed_packages))}</code></p>"


def _constructs(found: Scan) -> Iterator[str]:
    if found.constructs:
        yield "<h2>Outside of the limits</h2>"
        for construct, functions in found.constructs:
            names = "".join(f"<li><code>{escape(name)}</code></li>" for name in functions)
            yield f"<details><summary>{escape(construct)}: {len(functions)}</summary><ul>{names}</ul></details>"


def _errors(found: Scan) -> Iterator[str]:
    failed = [module for module in found.modules if module.error is not None]
    if failed:
        yield "<h2>Not imported</h2><ul>"
        for module in failed:
            yield f"<li><code>{escape(module.name)}</code>: {escape(module.error or '')}</li>"
        yield "</ul>"


def _module(module: Module) -> str:
    items = "".join(map(_function, module.functions))
    return f"<details><summary>{escape(module.name)}: {len(module.functions)}</summary><ul>{items}</ul></details>"


def _function(found: Found) -> str:
    why = found.construct or ", ".join(found.blocked_by)
    kind = "clear" if found.is_clear else "comes to" if found.lifts else "outside of the limits:"
    return f"<li><code>{escape(found.name)}</code> (line {found.line}): {kind} {escape(why)}</li>"
