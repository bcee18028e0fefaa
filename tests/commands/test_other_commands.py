"""``explain``, ``check`` and ``status``; bad input; help."""

from __future__ import annotations

import json
import os
import stat

import numpy as np
import pytest

from autodiff_hook.commands import files, inputs, main
from autodiff_hook.commands.reaching import standing
from autodiff_hook.text import bar


def test_explain(command):
    found = command("explain", "shop.model:price", "--args", "1.0, 2.0, scale=3.0")
    assert found.returncode == 0 and "return scale * x * math.sin(y)" in found.stdout
    assert all(len(line) <= 80 for line in found.stdout.splitlines() if "/" not in line)


def test_check(command):
    good = command("check", "shop.model:price", "--args", "1.0, 2.0, scale=3.0")
    assert good.returncode == 0 and good.stdout.endswith("agrees with finite differences\n")
    bad = command("check", "shop.model:packs", "--args=-1.0")
    assert (bad.returncode, bad.stdout) == (1, "importing shop\n") and "struct" in bad.stderr
    assert len(bad.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["check", "explain"])
def test_what_the_function_raises_is_one_line(command, name):
    found = command(name, "shop.model:fails", "--args", "0.0")
    assert found.returncode == 1 and found.stdout == "importing shop\n"
    (line,) = found.stderr.splitlines()
    assert line.startswith("shop.model.fails(0.0) raises ZeroDivisionError: ") and "shop/model.py:" in line


def test_bars():
    assert [bar(part, 1000, 10) for part in (0, 1, 500, 999, 1000)] == [
        "..........",
        "#.........",
        "#####.....",
        "#########.",
        "##########",
    ]
    assert bar(0, 0, 3) == "..."


def test_a_function_with_a_wrong_derivative(command, folder):
    (folder / "wrong.py").write_text(
        "from autodiff_hook import rrule\ndef cube(x):\n    return x**3\n"
        "@rrule(cube)\ndef cube_rule(x):\n    def cube_pullback(c):\n        return (c * x**2,)\n"
        "    return x**3, cube_pullback\n"
    )
    found = command("check", "wrong:cube", "--args", "2.0")
    assert found.returncode == 1 and "finite differences" in found.stderr


def test_status(command):
    assert "opted in: shop (environment)" in command("status", AUTODIFF_MODULES="shop").stdout
    found = json.loads(command("status", "--json", AUTODIFF_MODULES="shop").stdout)
    assert found["opted_in"] == {"shop": ["environment"]} and found["broken"] is None


def test_what_is_known_of_callables():
    import functools
    import math
    import statistics
    import struct

    assert standing(math.sin) == standing(list) == "rule"
    assert standing(len) == standing(print) == standing(ValueError) == "constant"
    assert standing(functools.partial(math.sin)) == standing(np.sum) == "rule"
    assert standing(statistics.median) in ("rule", "library") and standing(struct.pack) == "native"
    assert standing(pytest.approx) == "not opted in" and standing(pytest.approx, ["_pytest"]) == "source"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ((), {})),
        ("1.0, -2e-3", ((1.0, -0.002), {})),
        ("[1.0, (2, 'a')], {'k': None}", (([1.0, (2, "a")], {"k": None}), {})),
        ("x=inf, y=-inf", ((), {"x": float("inf"), "y": float("-inf")})),
        ("1 + 2j", ((1 + 2j,), {})),
        ("True, # the first", ((True,), {})),
    ],
)
def test_arguments(text, expected):
    assert inputs.arguments(text) == expected


def test_arrays_as_arguments():
    (a, nested), named = inputs.arguments("array([[1, 2], [3, nan]]), [array([1], 'float32')], k=array([1], 'int64')")
    assert a.dtype == np.float64 and a.shape == (2, 2) and np.isnan(a[1, 1])
    assert nested[0].dtype == np.float32 and named["k"].dtype == np.int64


@pytest.mark.parametrize(
    "text",
    ["x", "f(1)", "1 +", "**{}", "open('x')", "1) + (2", "array()", "array([1], 'no')", "a=1, a=2", "__import__('os')"],
)
def test_arguments_that_are_none(text):
    with pytest.raises(inputs.BadInput):
        inputs.arguments(text)


BAD = [
    ["explain", "shop.model"],
    ["explain", "shop.model:nothing"],
    ["explain", "nowhere:f"],
    ["explain", "shop.broken:f"],
    ["explain", "shop.model:price", "--args", "f(1)"],
    ["explain", "shop.model:math"],
    ["check", "shop.model:price", "--rtol", "x"],
    ["check", "shop.model:price"],
    ["check", "shop.model:price", "--args", "1.0, 2.0, 3.0"],
    ["explain", "shop.model:price", "--args", "1.0, z=2.0"],
    ["explain", "shop.model:Model.loss", "--args", "1.0"],
    ["scan", "nowhere"],
    ["scan", "shop", "--html", "nowhere/x.html"],
    ["coverage", "nowhere"],
    ["run", "program.py"],
    ["run", "--grad", "shop.model:price"],
    ["run", "--grad", "shop.model:price", "nothing.py"],
    ["run", "--grad", "shop.model:price", "-m", "nowhere"],
    ["run", "--grad", "shop.model", "program.py"],
    ["run", "--grad", "nowhere:f", "program.py"],
    ["run", "--grad", "shop.model:price", "--json", "nowhere/x.json", "program.py"],
    ["run", "--what", "program.py"],
    ["run", "--grad", "shop.model:pair[0", "program.py"],
    ["run", "--grad", "shop.model:pair[0]", "--grad", "shop.model:pair[1]", "program.py"],
    ["nothing"],
    [],
]


@pytest.mark.parametrize("words", BAD, ids=" ".join)
def test_bad_input_is_one_line_and_exit_code_2(command, words):
    found = command(*words)
    assert (found.returncode, len(found.stderr.splitlines())) == (2, 1), found.stderr
    assert found.stderr.startswith("autodiff-hook") and found.stdout in ("", "importing shop\n")


def test_a_wrong_pyproject_is_bad_input(command, folder):
    (folder / "pyproject.toml").write_text("[tool.autodiff]\nmodule = 3\n")
    found = command("run", "--grad", "shop.model:price", "program.py")
    assert found.returncode == 2 and "has no key" in found.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", ["run", "scan", "explain", "check", "coverage", "status"])
@pytest.mark.parametrize("columns", ["60", "100"])
def test_help_has_an_example_and_fits(command, name, columns):
    found = command(name, "--help", COLUMNS=columns)
    assert found.returncode == 0 and f"example:\n  autodiff-hook {name}" in found.stdout
    text = found.stdout.partition("example:")[0]
    assert all(len(line) <= int(columns) for line in text.splitlines()[3:]), found.stdout


def test_a_reader_that_goes_away(python):
    code = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-m', 'autodiff_hook', 'coverage', 'numpy', '--all'],"
        " stdout=subprocess.PIPE, stderr=subprocess.PIPE)\n"
        "p.stdout.close()\nprint(p.stderr.read(), p.wait())\n"
    )
    assert python("-c", code).stdout == "b'' 1\n"


def test_files_are_written_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    files.write(str(path), "old")
    assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600

    def fails(*_):
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="no space"):
        files.write(str(path), "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["x.json"]
    assert json.loads(files.as_json({"a": [float("nan"), 1.0]})) == {"a": ["nan", 1.0]}


def test_commands_can_be_called_from_python(capsys):
    assert main.main(["coverage", "cmath"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[0] == "cmath"


def test_an_interpreter_that_is_not_supported(capsys, monkeypatch):
    monkeypatch.setattr(main.interpreter, "obstacle", lambda: "not on this one")
    assert main.main(["coverage", "cmath"]) == 2 and main.main(["status"]) == 0
    found = capsys.readouterr()
    assert found.err == "autodiff-hook coverage: not on this one\n" and found.out.startswith("not on this one\n")


def test_importing_the_package_imports_no_command(python):
    code = (
        "import sys, autodiff_hook\nprint([name for name in sys.modules if 'commands' in name or name == 'argparse'])"
    )
    assert python("-c", code).stdout == "[]\n"
