"""The blocks of README, CONTRIBUTING and docs do what they show (``blocks.py`` says what they are for)."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import linecache
import os
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

import pytest
from blocks import PAGES, ROOT, Block, agrees, blocks, same_value

import autodiff_hook
from autodiff_hook.algebras import typed

_VALUE = re.compile(r"# ([-\d(\[{'\"].*|(?:None|True|False|Tangent)\b.*)")


def _shown_values(text: str) -> dict[int, str]:
    """What the comments behind expressions say that their values are, by line."""
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        match = _VALUE.fullmatch(token.string) if token.type == tokenize.COMMENT else None
        if match is not None and token.line[: token.start[1]].strip():
            found[token.start[0]] = match.group(1)
    return found


def _run_program(block: Block, names: dict[str, object]) -> str:
    """Runs a program, looks at the values in its comments, and gives what it prints."""
    lines = block.text.splitlines(keepends=True)
    linecache.cache[block.file] = (len(block.text), None, lines, block.file)
    shown = _shown_values(block.text)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for statement in ast.parse(block.text, block.file).body:
            if isinstance(statement, ast.Expr) and statement.end_lineno in shown:
                value = eval(compile(ast.Expression(statement.value), block.file, "eval"), names)
                said = shown[statement.end_lineno]
                assert same_value(said, value), f"{block.name}, line {statement.end_lineno}: {value!r} is not {said}"
            else:
                exec(compile(ast.Module([statement], []), block.file, "exec"), names)
    return out.getvalue()


def _run_commands(block: Block, folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AUTODIFF_")}
    environment |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    installed = shutil.which("autodiff-hook", path=environment["PATH"]) is not None
    for session in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = session.partition("\n")
        done = subprocess.run(
            ["bash", "-c", command if installed else command.replace("autodiff-hook ", "python -m autodiff_hook ")],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert done.returncode == int(block.said.get("exit", 0)), f"{block.name}: {command}\n{done.stdout}"
        assert agrees(shown, done.stdout), f"{block.name}: {command}\n{done.stdout}"


def _left_out(block: Block) -> list[str]:
    return [name for name in block.needs if importlib.util.find_spec(name) is None]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with nothing but the examples, from which modules are imported as well."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    autodiff_before = autodiff_hook.status()
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    assert str(autodiff_hook.status()).splitlines()[0] == str(autodiff_before).splitlines()[0]


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_what_a_page_shows_is_what_happens(page, folder, monkeypatch):
    names: dict[str, object] = {"__name__": page.stem}
    printed: tuple[Block, str] | None = None
    missing: set[str] = set()
    for block in blocks(page):
        if not block.language and "file" not in block.said:
            if printed is not None:
                assert agrees(block.text, printed[1]), f"{block.name} does not show what is printed:\n{printed[1]}"
            printed = None
            continue
        assert printed is None or not printed[1], f"{printed[0].name} prints what the page does not show:\n{printed[1]}"
        printed = None
        if _left_out(block):
            missing.update(_left_out(block))
        elif "file" in block.said:
            (folder / block.said["file"]).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            _run_commands(block, folder)
        elif block.language == "toml":
            tomllib.loads(block.text)
        else:
            with monkeypatch.context() as patch:
                patch.setattr(typed, "GENERIC", typed.GENERIC or "hidden types" in block.said)
                printed = block, _run_program(block, names)
    assert printed is None or not printed[1], f"{printed[0].name} prints what the page does not show:\n{printed[1]}"
    if missing:
        pytest.skip(f"all but the blocks that need {', '.join(sorted(missing))}")


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_files_that_are_named_exist(page):
    names = set(re.findall(r"`((?:\w+/)*\w+\.py)`", page.read_text(encoding="utf-8")))
    written = {block.said.get("file") for block in blocks(page)}
    known = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py")}
    assert [n for n in sorted(names - written) if not any(f"/{path}".endswith(f"/{n}") for path in known)] == []


@pytest.mark.parametrize(
    "shown, printed, same",
    [
        ("a 1.0 b", "a 1.0 b\n", True),
        ("a 1.0000001 b", "a 1.0 b", True),
        ("a 1.1 b", "a 1.0 b", False),
        ("a …", "a b c", True),
        ("a … c", "a b c", True),
        ("a … c", "a b d", False),
        ("a b", "a b c", False),
        ("… c", "a b c", True),
        ("took 3.1 ms", "took 12 ms", True),
        ("", "a", False),
        ("", "", True),
    ],
)
def test_what_counts_as_the_same(shown, printed, same):
    assert agrees(shown, printed) is same
