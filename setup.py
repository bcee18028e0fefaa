"""What pyproject.toml cannot say: on a package index, the README's links to files lead to the source."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
SOURCE = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]


def described() -> str:
    """The README with absolute links."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    return re.sub(r"\]\((?![a-z]+:|#)", f"]({SOURCE}/", text)


setup(long_description=described(), long_description_content_type="text/markdown")
