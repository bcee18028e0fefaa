"""Files that are there as a whole, or not at all."""

from __future__ import annotations

import json
import math
import os
import tempfile
from typing import Any

from autodiff_hook.commands.inputs import BadInput


def writable(path: str) -> str:
    """The absolute path of a file that is to be written, in a folder that exists."""
    path = os.path.abspath(path)
    folder = os.path.dirname(path)
    if os.path.isdir(path):
        raise BadInput(f"{path!r} is a folder")
    if not os.path.isdir(folder):
        raise BadInput(f"there is no folder {folder!r} to write to")
    return path


def write(path: str, text: str) -> None:
    """Write a file in one step: who reads it finds the old text or the new one."""
    try:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=f".{os.path.basename(path)}.")
    except OSError as error:
        raise BadInput(f"{path!r} cannot be written: {error.strerror}") from error
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def as_json(value: Any) -> str:
    """JSON as everybody reads it: numbers that are not finite are strings."""
    return json.dumps(_finite(value), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
