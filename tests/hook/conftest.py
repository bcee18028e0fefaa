"""Small packages in a temporary folder, and fresh interpreters to import them in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff_hook

HOME = str(Path(autodiff_hook.__file__).parents[1])

SAMPLE = {
    "asking.py": '''
from autodiff_hook import NotDifferentiable, config, gradient

def call(function, x):  # what is handed to gradient is in scope by that alone; what it calls must be opted in
    return function(x)

def on(function):
    """Whether a function is in scope, for the configuration and for the engine."""
    in_scope = config.in_scope(function.__globals__)
    try:
        gradient(call, function, 3.0)
    except NotDifferentiable:
        assert not in_scope
    else:
        assert in_scope
    return in_scope
''',
    "pkg/__init__.py": "from pkg.mod import f\n",
    "pkg/data.txt": "some data",
    "pkg/sub/__init__.py": "def g(x):\n    return 2 * x\n",
    "pkg/mod.py": '''
import functools
import sys

DURING = [type(__spec__.loader).__name__, type(__loader__).__name__, sys.modules[__name__].__loader__ is __loader__]


def f(x: float, k: float = 1.0) -> float:
    """Squares."""
    return k * x * x


def outer(k):
    def inner(x):
        return k * x

    return inner


@functools.lru_cache
def cached(x):
    return 3 * x


class C:
    scale = 2.0

    def m(self, x):
        return self.scale * x

    @staticmethod
    def s(x):
        return 5 * x

    @classmethod
    def c(cls, x):
        return cls.scale * x

    @property
    def p(self):
        return self.scale * self.scale

    @functools.cached_property
    def lazy(self):
        return self.scale

    class Inner:
        def m(self, x):
            return x
''',
}


class Project:
    """A folder with generated modules, in which Python programs run."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def write_sample(self) -> None:
        for path, text in SAMPLE.items():
            self.write(path, text)

    def run(
        self, *arguments: str | Path, cwd: Path | None = None, path: tuple[Path, ...] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """``python *arguments`` with ``path`` before ``autodiff_hook`` on PYTHONPATH, in a clean environment."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AUTODIFF_", "PYTHON"))}
        search = os.pathsep.join([*map(str, path), HOME])
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=cwd or self.root,
            env={**inherited, "PYTHONPATH": search, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )

    def output(self, *arguments: str | Path, cwd: Path | None = None, path: tuple[Path, ...] = (), **env: str) -> str:
        """What such a program prints; it must succeed and leave stderr empty."""
        done = self.run(*arguments, cwd=cwd, path=path, **env)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr + done.stdout
        return done.stdout.strip()

    @staticmethod
    def warned(stderr: str) -> list[str]:
        """The warnings on stderr, without the place and the line of source; nothing else may be there."""
        lines = [line for line in stderr.splitlines() if not line.startswith("  ")]
        return [re.fullmatch(r"\S+:\d+: (\w+Warning: .*)", line)[1] for line in lines]  # type: ignore[index]

    def check(self, code: str, **env: str) -> None:
        """Run a program of assertions."""
        assert self.output("-c", code + "\nprint('done')", **env) == "done"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def sample(project: Project) -> Project:
    """The project with the package ``pkg`` in it."""
    project.write_sample()
    return project
