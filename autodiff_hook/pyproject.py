"""The settings of a project: ``[tool.autodiff]`` of the nearest pyproject.toml, upwards from the working directory.

Settings name modules that are imported, so a file counts only if it is the user's or root's, and the search leaves
neither the file system nor the folders of the owner of the working directory.
"""

from __future__ import annotations

import os
import stat

from autodiff_hook.config import is_dotted_name
from autodiff_hook.errors import ConfigError

TYPE_CHECKING = False  # of typing, which would be the dearest import of a program that has nothing opted in
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VARIABLE = "AUTODIFF_PYPROJECT"
"""Switches the search off, if it is 0."""
_LARGEST = 1 << 20
_KEYS = ("modules", "nondifferentiable", "rules")


class Pyproject:
    """The ``[tool.autodiff]`` table of one file."""

    __slots__ = ("modules", "nondifferentiable", "path", "rules")

    def __init__(self, path: str, table: Mapping[str, object]) -> None:
        self.path = path
        for key in table:
            if key not in _KEYS:
                raise ConfigError(f"{path}: [tool.autodiff] has no key {key!r}; its keys are {', '.join(_KEYS)}.")
        self.modules, self.nondifferentiable, self.rules = (self._names(key, table.get(key, [])) for key in _KEYS)

    def _names(self, key: str, value: object) -> tuple[str, ...]:
        names = value if isinstance(value, list) else [None]
        for name in names:
            if not isinstance(name, str):
                raise ConfigError(f"{self.path}: [tool.autodiff] {key} must be a list of strings, not {value!r}.")
            if not is_dotted_name(name) and not (key == "modules" and name == "*"):
                raise ConfigError(f"{self.path}: [tool.autodiff] {key}: {name!r} is not a dotted name.")
        return tuple(names)


class _Ignored(Exception):
    """A file that does not count, and why."""


def is_switched_off() -> bool:
    """Whether the environment says that no file of settings is to be read."""
    return os.environ.get(VARIABLE) == "0"


def find(ignored: list[str]) -> Pyproject | None:
    """The settings in force. ``ignored`` gets what was found and does not count, with the reasons."""
    if is_switched_off():
        return None
    for folder in _folders():
        path = os.path.join(folder, "pyproject.toml")
        try:
            content = _read(path)
        except _Ignored as reason:
            ignored.append(f"{path} is ignored: {reason}")
        else:
            settings = None if content is None else _parse(path, content)
            if settings is not None:
                return settings
    return None


def _folders() -> Iterator[str]:
    """The working directory, and those above it on the same file system and of the same owner."""
    try:
        folder = os.getcwd()
        here = os.stat(folder)
        while True:
            yield folder
            parent = os.path.dirname(folder)
            there = os.stat(parent)
            if parent == folder or (there.st_dev, there.st_uid) != (here.st_dev, here.st_uid):
                return
            folder = parent
    except OSError:  # it was deleted, or may not be looked at
        return


def _read(path: str) -> bytes | None:
    """The content of a file with a table of ours; None if there is no file, or no table in it."""
    try:
        itself = os.lstat(path)
    except OSError:
        return None
    try:
        target = os.stat(path)
        _refuse_special(target)
        # It may have been replaced since: opening must not wait for a pipe, and what was opened is asked again.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        try:
            target = os.fstat(descriptor)
            _refuse_special(target)
            content = b"".join(iter(lambda: os.read(descriptor, _LARGEST), b""))
        finally:
            os.close(descriptor)
    except FileNotFoundError:  # a link to nothing
        return None
    except OSError as error:
        raise _Ignored(f"it cannot be read: {error.strerror}") from None
    if not _has_table(content):
        return None
    for status in (itself, target):
        _refuse_foreign(status)
    return content


def _refuse_special(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _Ignored("it is not a regular file")
    if status.st_size > _LARGEST:
        raise _Ignored(f"it is larger than {_LARGEST >> 20} MiB")


def _refuse_foreign(status: os.stat_result) -> None:
    user = getattr(os, "geteuid", None)
    if user is not None and status.st_uid not in (user(), 0):
        raise _Ignored(f"it belongs to the user {status.st_uid}, who is neither root nor the one of this process")


def _has_table(content: bytes) -> bool:
    """Whether ``[tool.autodiff]`` stands in the text, in one of the spellings of TOML."""
    if b"autodiff" not in content:
        return False
    lines = content.translate(None, b" \t\"'").splitlines()
    heads = (b"[tool.autodiff", b"[[tool.autodiff", b"tool.autodiff", b"autodiff.")
    return any(line.startswith(heads) or b"autodiff=" in line for line in lines)


def _parse(path: str, content: bytes) -> Pyproject | None:
    try:
        import tomllib  # slow to import, and most folders have no such file
    except ModuleNotFoundError:  # before 3.11, where nothing is differentiated anyway
        return None
    try:
        document = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:  # of the TOML, or of the UTF-8
        raise ConfigError(f"{path}: cannot read [tool.autodiff]: {error}.") from None
    tools = document.get("tool", {})
    if not isinstance(tools, dict):
        raise ConfigError(f"{path}: tool must be a table, not {tools!r}.")
    table = tools.get("autodiff")
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.autodiff must be a table, not {table!r}.")
    return Pyproject(path, table)
