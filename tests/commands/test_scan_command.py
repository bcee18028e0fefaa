"""``scan``: what of a package is differentiable, without a call of its functions."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest


@pytest.fixture
def scanned(command):
    found = command("scan", "shop", "--json")
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_functions_by_module(scanned):
    by_name = {module["name"]: module for module in scanned["modules"]}
    assert by_name["shop.broken"]["error"].startswith("ModuleNotFoundError")
    model = by_name["shop.model"]
    functions = {function["name"]: function for function in model["details"]}
    assert {"price", "Model.loss", "Model.cost", "Model.size", "made"} <= functions.keys()
    assert model["functions"] == len(functions) == model["lift"] + 2
    assert functions["price"]["lifts"] and not functions["price"]["blocked_by"]
    assert functions["waits"]["construct"] and functions["yields"]["construct"] == (
        "an async generator is not differentiated"
    )
    assert functions["waits"]["construct_line"] == functions["waits"]["line"] + 1


def test_what_is_in_the_way_and_whom_it_blocks(scanned):
    native = {entry["name"]: (entry["calling"], entry["blocked"]) for entry in scanned["native"]}
    assert native == {"_struct.pack": (1, 2), "_struct.unpack": (1, 2)}
    assert scanned["not_opted_in"] == [{"name": "other.double", "calling": 1, "blocked": 1}]
    assert {entry["construct"] for entry in scanned["constructs"]} >= {"an async generator is not differentiated"}


def test_the_text_fits_and_names_the_remedy(command):
    for columns in ("60", "100"):
        found = command("scan", "shop", COLUMNS=columns)
        lines = found.stdout.splitlines()
        assert found.stderr == "importing shop\n"
        assert all(len(line) <= int(columns) for line in lines), found.stdout
        assert "to opt these in: --modules other" in lines
        assert any(line.split()[:1] == ["_struct.pack"] and line.endswith(" 2") for line in lines)
    assert "other.double" not in command("scan", "shop", "--modules", "other").stdout


class Reader(HTMLParser):
    """Looks whether tags close, and whether a page asks for anything else."""

    VOID = ("meta", "!doctype")

    def __init__(self):
        super().__init__()
        self.open, self.bars, self.outside = [], 0, []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.bars += given.get("class") == "bar"
        self.outside += [name for name in ("src", "href") if name in given]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_has_a_bar_for_each_module_and_needs_nothing_else(command, folder):
    assert command("scan", "shop", "--html", "scan.html").returncode == 0
    reader = Reader()
    reader.feed((folder / "scan.html").read_text(encoding="utf-8"))
    assert not reader.open and not reader.outside and reader.bars == 1


def test_no_function_is_called(command, folder):
    (folder / "careful.py").write_text(
        "class Meta(type):\n    def __getattribute__(cls, name):\n        return type.__getattribute__(cls, name)\n"
        "def f(x):\n    raise SystemExit('called')\n\n"
        "class C:\n    @property\n    def p(self):\n        raise SystemExit('called')\n\n"
        "def g(x):\n    return f(x) + C().p + C.p\n"
    )
    found = command("scan", "careful")
    assert found.returncode == 0 and "called" not in found.stdout + found.stderr
