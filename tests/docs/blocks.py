"""The fenced blocks of a page, and how what they print is compared with what the page shows.

What a block is for is said by its language, or by a comment in the line before its fence:

``python``                    a program; the blocks of a page share their names
no language, right behind     what that program prints, or nothing
``console``                   commands behind ``$``, each with what it prints
``toml``                      settings, which are parsed
``<!-- needs: a b -->``       the packages without which the block is left out
``<!-- file: name -->``       the block is a file of this name, for the commands of the page
``<!-- hidden types -->``     a program that is run as under ``AUTODIFF_GENERIC=1``
``<!-- exit: 1 -->``          the exit code of the commands
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"((?:^<!-- .*? -->\n)*)^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!-- ([a-z ]+?)(?:: (.*?))? -->")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:,\d{3})+|\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_COMPILING = re.compile(r"compiling\s+[\d.]+\s+ms:(?:\s+\w+\s+[\d.]+,?)+")
_TIME = re.compile(r"[\d.]+ ?(ms|s)\b")
_FOLDER = re.compile(r"\S*/site-packages/|/\S+/(?=\w+\.py\b)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and what the comments before it say."""

    page: str
    number: int
    line: int
    language: str
    text: str
    said: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str:
        """The name that its code has in tracebacks, without the line, which moves."""
        return f"{self.page}[{self.number}]"

    @property
    def needs(self) -> list[str]:
        return self.said.get("needs", "").split()


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that are programs, commands, files or settings, or what those print."""
    text = page.read_text(encoding="utf-8")
    found, behind = [], -1
    for match in _FENCE.finditer(text):
        comments, language, content = match.groups()
        prints = not language and behind >= 0 and not text[behind : match.start()].strip()
        behind = match.end() if language == "python" else -1
        if language in ("python", "console", "toml") or prints or comments:
            line = text.count("\n", 0, match.start(3)) + 1
            found.append(Block(page.stem, len(found), line, language, content, dict(_COMMENT.findall(comments))))
    return found


def _masked(text: str) -> str:
    """Without what is another one on each machine: times, and where packages and programs are."""
    text = _TIME.sub(r"0 \1", _COMPILING.sub("compiling", text))
    return _FOLDER.sub("", text)


def _same_word(shown: str, printed: str) -> bool:
    a, b = _NUMBER.findall(shown), _NUMBER.findall(printed)
    if shown == printed:
        return True
    return (
        _NUMBER.sub("0", shown) == _NUMBER.sub("0", printed)
        and len(a) == len(b)
        and all(math.isclose(float(x.replace(",", "")), float(y.replace(",", "")), rel_tol=2e-6) for x, y in zip(a, b))
    )


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed: word by word, numbers to six digits; … alone stands for anything."""
    return _match(_masked(shown).split(), _masked(printed).split())


def _match(shown: list[str], printed: list[str]) -> bool:
    for at, word in enumerate(shown):
        if word == "…":
            return any(_match(shown[at + 1 :], printed[start:]) for start in range(at, len(printed) + 1))
        if at >= len(printed) or not _same_word(word, printed[at]):
            return False
    return len(shown) == len(printed)


def same_value(comment: str, value: object) -> bool:
    """Whether a comment behind an expression shows its value; behind a colon it may say more."""
    ends = [len(comment), *(match.start() for match in re.finditer(": ", comment))]
    return any(_shows(comment[:end], value) for end in ends)


def _shows(text: str, value: object) -> bool:
    try:
        return _close(ast.literal_eval(text), value)
    except (SyntaxError, ValueError):
        return agrees(text, repr(value))


def _close(shown: object, value: object) -> bool:
    """Arrays are shown as lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(shown, (list, tuple)):
        return type(shown) is type(value) and len(shown) == len(value) and all(map(_close, shown, value))
    if isinstance(shown, (int, float)) and isinstance(value, (int, float)):
        return math.isclose(shown, value, rel_tol=1e-4, abs_tol=1e-12)
    return shown == value
