"""What docs/design.md and docs/rules.md show is what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autodiff_hook import code_adjoint, code_ir
from autodiff_hook.algebras import typed

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(text: str) -> list[tuple[str, str]]:
    """The fenced blocks of a text: their languages and contents."""
    return BLOCK.findall(text)


def test_one_function_is_shown_after_every_stage(monkeypatch, capsys):
    monkeypatch.setattr(typed, "GENERIC", True)
    text = (DOCS / "design.md").read_text(encoding="utf-8")
    section = re.search(r"^## 2\. One function.*?(?=^## 3\.)", text, re.DOTALL | re.MULTILINE)
    assert section is not None
    languages, shown = zip(*blocks(section.group()), strict=True)
    assert languages == ("python", "", "", "python", "", "")
    namespace: dict[str, object] = {"__name__": "design"}
    exec(compile(shown[0], "design.md", "exec"), namespace)
    decay = namespace["decay"]
    assert code_ir(decay) == shown[1]
    assert code_adjoint(decay) == shown[2]
    exec(compile(shown[3], "design.md", "exec"), namespace)
    assert capsys.readouterr().out == shown[4]
    assert code_adjoint(decay, 0.9, 2) == shown[5]


@pytest.mark.skipif(typed.GENERIC, reason="there are no specialised programs")
def test_what_explain_shows_of_a_slow_function(capsys):
    (_, program), (_, shown) = blocks((DOCS / "performance.md").read_text(encoding="utf-8"))[-2:]
    exec(compile(program, "performance.md", "exec"), {"__name__": "slow"})
    assert capsys.readouterr().out == shown


def test_the_rules_that_are_shown_are_right():
    text = (DOCS / "rules.md").read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "rules_shown"}
    shown = [content for language, content in blocks(text) if language == "python"]
    assert len(shown) == 4
    for content in shown:
        exec(compile(content, "rules.md", "exec"), namespace)


@pytest.mark.parametrize("name", ["design.md", "rules.md", "performance.md", "commands.md"])
def test_files_that_are_named_exist(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    names = set(re.findall(r"`((?:\w+/)*\w+\.py)`", text))
    known = {str(path.relative_to(DOCS.parent)) for path in DOCS.parent.rglob("*.py")}
    assert [n for n in sorted(names) if not any(f"/{path}".endswith(f"/{n}") for path in known)] == []
