"""The reference names what there is, and its notebook page runs in cells."""

from __future__ import annotations

import re

import pytest
from blocks import ROOT, blocks

import autodiff_hook


def test_the_reference_has_every_public_name():
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    entries = r"^\.\. (?!currentmodule|automodule)\w+:: (?:autodiff_hook\.(?:(?:registry|signatures)\.)?)?([\w.]+)"
    named = set(re.findall(entries, text, re.MULTILINE))
    public = set(autodiff_hook.__all__) - {"__version__", "extend", "testing"}
    assert {name for name in named if "." not in name} == public
    assert all(hasattr(autodiff_hook.testing, name.partition(".")[2]) for name in named if "." in name)


def test_the_page_on_notebooks_runs_in_cells():
    shell_module = pytest.importorskip("IPython.core.interactiveshell")
    shell = shell_module.InteractiveShell()
    shell.history_manager.enabled = False
    for block in blocks(ROOT / "docs" / "cookbook" / "notebooks.md"):
        if block.language == "python":
            shell.run_cell(block.text).raise_error()
    shell.run_cell("explained = ad.explain(loss, params, x, x)").raise_error()
    explained = shell.user_ns["explained"]
    assert [function.name for function in explained.functions] == ["loss", "model"]
    assert all(function.lines for function in explained.functions)
