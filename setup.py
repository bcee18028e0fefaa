"""What pyproject.toml cannot say: absolute links in the README on an index, and editable installs by a plain path."""

from __future__ import annotations

import compileall
import contextlib
import re
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.editable_wheel import editable_wheel

HERE = Path(__file__).parent
SETTINGS = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = SETTINGS["tool"]["setuptools"]["package-dir"]


def described() -> str:
    """The README, whose links to files lead to the source."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    return re.sub(r"\]\((?![a-z]+:|#)", f"]({SETTINGS['project']['urls']['Source']}/", text)


class Linked(editable_wheel):
    """Puts a folder with links to the packages on the path: type checkers do not run import hooks.

    Where no links can be made, setuptools installs its import hook, which Python understands, and checkers do not.
    What is linked is compiled, as installers compile what they copy: where ``PYTHONDONTWRITEBYTECODE`` is set, each
    process would spend half of the time until its first gradient on that.
    """

    def finalize_options(self) -> None:
        folder = HERE / "build" / "editable"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            for package, home in FOLDERS.items():
                link = folder / package
                link.unlink(missing_ok=True)
                link.symlink_to(HERE / home, target_is_directory=True)
            self.distribution.package_dir = {"": str(folder.relative_to(HERE))}
        super().finalize_options()

    def run(self) -> None:
        super().run()
        for home in FOLDERS.values():
            compileall.compile_dir(HERE / home, quiet=2)


setup(
    long_description=described(),
    long_description_content_type="text/markdown",
    cmdclass={"editable_wheel": Linked},
)
