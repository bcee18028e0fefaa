"""The modules of the package import one another in one direction, imports within functions included."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import autodiff_hook

ROOT = Path(autodiff_hook.__file__).parent


def name_of(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def only_for_types(tree):
    tests = [n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    return {id(inner) for test in tests for statement in test.body for inner in ast.walk(statement)}


def imported(tree, modules):
    aside = only_for_types(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in aside:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from (name if name in modules else node.module for name in names)
        elif isinstance(node, ast.Import) and id(node) not in aside:
            yield from (alias.name for alias in node.names)


def test_there_is_no_circle_of_imports():
    trees = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")}
    graph = {name: (set(imported(tree, trees)) & trees.keys()) - {name} for name, tree in trees.items()}
    assert len(list(TopologicalSorter(graph).static_order())) == len(trees)
