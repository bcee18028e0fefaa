"""The text of a function: assignments, branches, and places where it gives up."""

from __future__ import annotations

from collections.abc import Iterable

from autodiff_hook.records import record

_INDENT = "    "


@record
class Assign:
    """``target = text``; with ``keep`` it may raise what the program would."""

    target: str
    text: str
    uses: frozenset[str]
    keep: bool = False


@record
class If:
    """A branch."""

    test: str
    uses: frozenset[str]
    then: list[Node]
    other: list[Node]


@record
class Leave:
    """``if test: return text``."""

    test: str
    text: str
    uses: frozenset[str]


Node = Assign | If | Leave


def needed(nodes: list[Node], wanted: Iterable[str]) -> tuple[list[Node], set[str]]:
    """The nodes without assignments that nobody reads, and what they read themselves."""
    live = set(wanted)
    kept: list[Node] = []
    for node in reversed(nodes):
        if isinstance(node, If):
            then, first = needed(node.then, live)
            other, second = needed(node.other, live)
            if then == other:
                kept += then[::-1]
                live = first
                continue
            live = first | second | node.uses
            kept.append(If(node.test, node.uses, then, other))
            continue
        if isinstance(node, Assign):
            if not node.keep and node.target not in live:
                continue
            live.discard(node.target)
        live |= node.uses
        kept.append(node)
    return kept[::-1], live


def lines_of(nodes: list[Node], depth: int) -> list[str]:
    """The nodes as lines of Python."""
    indent = _INDENT * depth
    found: list[str] = []
    for node in nodes:
        if isinstance(node, Assign):
            found.append(f"{indent}{node.target} = {node.text}")
        elif isinstance(node, Leave):
            found += [f"{indent}if {node.test}:", f"{indent}{_INDENT}return {node.text}"]
        else:
            test = node.test if node.then else f"not ({node.test})"
            found += [f"{indent}if {test}:", *lines_of(node.then or node.other, depth + 1)]
            if node.then and node.other:
                found += [f"{indent}else:", *lines_of(node.other, depth + 1)]
    return found
