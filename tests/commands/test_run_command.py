"""``run``: the program is what it is without, and its calls are differentiated as they happen."""

from __future__ import annotations

import json
import math
import os
import pty
import re
import signal
import subprocess
import sys

import pytest

from autodiff_hook.commands.run import divided

PRICE = ("--grad", "shop.model:price")
EVERYTHING = [
    word
    for name in ("price", "pair", "fails", "factorial", "of_rest", "triple", "Model.loss", "Model.cost", "Model.size")
    for word in ("--grad", f"shop.model:{name}")
]


@pytest.mark.parametrize("args", [[], ["exit"], ["raise"], ["--flag", "-x", "--json", "y"]])
def test_the_program_is_what_it_is_without(python, command, args):
    plain = python("program.py", *args)
    found = command("run", *EVERYTHING, "--grad", "__main__:local", "program.py", *args)
    assert (found.stdout, found.returncode) == (plain.stdout, plain.returncode)
    assert "shop.model:price: 2 calls" in found.stderr


@pytest.mark.parametrize("program", [["-m", "shop", "a", "-b"], ["-mshop", "a", "-b"], ["-m", "shop.model"]])
def test_modules_run_as_main(python, command, program):
    plain = python(*program)
    found = command("run", *PRICE, *program)
    assert plain.returncode == 0 and (found.stdout, found.returncode) == (plain.stdout, plain.returncode)


def test_folders_and_archives_run(python, command, folder):
    (folder / "app").mkdir()
    (folder / "app" / "__main__.py").write_text("import sys\ndef f(x):\n    return x * x\nprint(f(2.0), sys.argv)\n")
    plain = python("app", "1")
    found = command("run", "--grad", "__main__:f", "app", "1")
    assert found.stdout == plain.stdout and "__main__:f: 1 call" in found.stderr


def test_the_traceback_begins_in_the_program(python, command):
    plain = python("program.py", "raise")
    found = command("run", "--grad", "shop.model:price", "program.py", "raise")
    assert found.returncode == plain.returncode == 1
    assert found.stderr.startswith(plain.stderr)


@pytest.mark.parametrize("source", ["x = = 1\n", "raise KeyboardInterrupt\n", "raise SystemExit('bye')\n", "1 / 0\n"])
def test_endings(python, command, folder, source):
    (folder / "ends.py").write_text(source)
    plain, found = python("ends.py"), command("run", *PRICE, "ends.py")
    assert found.returncode == plain.returncode and found.returncode in (1, -signal.SIGINT)
    assert found.stderr.startswith(plain.stderr)


def test_the_summary_has_values_and_norms(command, folder):
    found = command("run", *EVERYTHING, "--grad", "__main__:local", "--json", "out.json", "program.py")
    assert found.returncode == 0 and not found.stderr
    summary = json.loads((folder / "out.json").read_text())
    records = {record["function"].partition(":")[2]: record for record in summary["functions"]}
    assert summary["program"] == ["program.py"]
    price = records["price"]
    assert (price["calls"], price["raised"], price["without_gradient"]) == (2, 0, {})
    assert price["value"]["last"] == 6.0 * math.sin(1.0)
    assert price["gradient_norms"]["y"]["last"] == pytest.approx(6.0 * math.cos(1.0))
    assert price["gradient_norms"].keys() == {"x", "y"} and len(price["first_calls"]) == 2
    assert records["of_rest"]["gradient_norms"].keys() == {"xs[0]", "xs[1]"}
    assert records["Model.loss"]["gradient_norms"]["self"]["last"] == 4.0
    assert records["Model.size"]["gradient_norms"]["self"]["last"] == 1.0
    assert records["factorial"]["calls"] == 1 and records["factorial"]["gradient_norms"]["x"]["last"] == 192.0
    assert records["triple"]["gradient_norms"]["x"]["last"] == 3.0
    assert records["local"]["gradient_norms"]["x"]["last"] == 8.0
    assert records["fails"]["raised"] == 1
    assert "real scalar" in next(iter(records["pair"]["without_gradient"]))


def test_what_is_not_recorded_is_told(command):
    found = command(
        "run", "--grad", "shop.model:none", "--grad", "shop.nowhere:f", "--grad", "shop.model:math", "program.py"
    )
    said = " ".join(found.stderr.split())
    assert "shop.model:none was not recorded: module shop.model has no 'none'" in said
    assert "shop.nowhere:f was not recorded: its module was not imported" in said
    assert "shop.model:math was not recorded: it is no Python function but a module" in said


ITEMS = [("f[a][1]", 8.0), ("f[b][1]", 3.0), ("f[b][-1]", 3.0), ("g[1]", 4.0), ("h[0,1]", 1.0)]


@pytest.mark.parametrize(("name", "slope"), ITEMS)
def test_items_of_values_that_are_no_numbers(command, folder, name, slope):
    (folder / "items.py").write_text(
        "import numpy as np\ndef f(x):\n    return {'a': [x, 2 * x * x], 'b': (x, 3 * x)}\n"
        "def g(x):\n    return np.array([x, 4 * x])\ndef h(x):\n    return x * np.eye(2) + x\n"
        "print(f(2.0), g(2.0), h(2.0))\n"
    )
    found = command("run", "--grad", f"__main__:{name}", "--json", "out.json", "items.py")
    assert found.stdout.startswith("{'a': [2.0, 8.0], 'b': (2.0, 6.0)} [2. 8.] [[4. 2.]")
    (record,) = json.loads((folder / "out.json").read_text())["functions"]
    assert record["function"].endswith(name.replace("0,1", "(0, 1)")) and not record["without_gradient"]
    assert record["gradient_norms"]["x"]["last"] == pytest.approx(slope)


def test_an_item_that_is_not_there(command):
    said = command("run", "--grad", "shop.model:pair[a]", "program.py").stderr
    assert "1 call without gradient: the value has no item 'a'" in said


def test_options_at_the_end(python, command):
    found = command("run", "program.py", "a", "--modules", "shop", "--grad=shop.model:price")
    assert found.stdout == python("program.py", "a").stdout and "price: 2 calls" in found.stderr
    assert divided(["run", "--grad", "m:f", "p", "--json", "x"]) == (["run", "--grad", "m:f"], ["p", "--json", "x"])
    assert divided(["run", "p", "--json", "x"]) == (["run", "--json", "x"], ["p"])
    assert divided(["run", "--grad=m:f", "--", "-p"]) == (["run", "--grad=m:f"], ["-p"])


def test_calls_in_threads_and_at_the_end(command, folder):
    (folder / "late.py").write_text(
        "import atexit, threading, time\nfrom shop.model import price\n"
        "def later():\n    time.sleep(0.2)\n    price(1.0, 2.0)\n"
        "threading.Thread(target=later).start()\natexit.register(price, 1.0, 3.0)\n"
    )
    assert "shop.model:price: 2 calls" in command("run", *PRICE, "late.py").stderr


def test_forked_children_say_nothing(command, folder):
    (folder / "forks.py").write_text(
        "import os, sys\nfrom shop.model import price\nprice(1.0, 2.0)\npid = os.fork()\n"
        "if pid == 0:\n    sys.exit(0)\nos.waitpid(pid, 0)\n"
    )
    assert command("run", *PRICE, "forks.py").stderr.count("shop.model:price") == 1


def test_a_long_run_shows_its_progress_on_a_terminal(folder):
    (folder / "long.py").write_text(
        "import time\nfrom shop.model import price\nend = time.time() + 3.2\n"
        "while time.time() < end:\n    price(1.0, 2.0)\n    time.sleep(0.05)\n"
    )
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "autodiff_hook", "run", *PRICE, "long.py"]
    done = subprocess.run(words, cwd=folder, stderr=theirs, stdout=subprocess.DEVNULL, timeout=60)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 4096):
            said += chunk
    except OSError:  # how the end of a terminal is told
        pass
    os.close(ours)
    assert done.returncode == 0
    assert re.search(rb"\r\x1b\[Kautodiff: \d+ calls in [23] s", said) and b"price: " in said
