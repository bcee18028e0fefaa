"""A package and programs to run commands on, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MODEL = """
import math
import struct

import other


def price(x, y, *, scale=1.0):
    return scale * x * math.sin(y)


def pair(x):
    return x, x


def fails(x):
    return 1.0 / x


def factorial(n, x):
    return x if n == 0 else x * factorial(n - 1, x)


def of_rest(*xs):
    return sum(xs)


def packs(x):
    return struct.unpack("d", struct.pack("d", x))[0] * x


def uses_packs(x):
    return packs(x) + 1.0


def uses_other(x):
    return other.double(x)


async def waits(x):
    async for item in x:
        return item


async def yields(x):
    yield x


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return self.w * x * x

    @staticmethod
    def cost(x):
        return x**3

    @property
    def size(self):
        return abs(self.w)


def made(factor):
    def scaled(x):
        return factor * x

    return scaled


triple = made(3.0)
"""

PROGRAM = """
import sys

from shop.model import Model, factorial, fails, of_rest, pair, price, triple


def local(x):
    return x * x


print(sys.argv, __name__, sys.path[0])
print(price(1.0, 2.0), price(x=3.0, y=1.0, scale=2.0), pair(1.0), of_rest(1.0, 2.0), triple(2.0))
print(Model(3.0).loss(2.0), Model.cost(2.0), Model(-1.0).size, factorial(5, 2.0), local(4.0))
try:
    fails(0.0)
except ZeroDivisionError as error:
    print("caught", error)
if "raise" in sys.argv:
    fails(0.0)
sys.exit(3 if "exit" in sys.argv else None)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a package, a module that is not of it, and a program."""
    files = {
        "shop/__init__.py": 'print("importing shop")\n',
        "shop/model.py": MODEL,
        "shop/broken.py": "import nothing_of_this_name\n",
        "shop/__main__.py": "import sys\nfrom shop.model import price\nprint(sys.argv, price(1.0, 2.0), __package__)\n",
        "other.py": "def double(x):\n    return 2.0 * x\n",
        "program.py": PROGRAM,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def python(folder):
    """Run Python in the folder."""

    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("AUTODIFF_") or k == "AUTODIFF_GENERIC"}
        env = {"COLUMNS": "80", **kept, **environment}
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture
def command(python):
    """Run a command of the command line."""

    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return python("-m", "autodiff_hook", *words, **environment)

    return run
