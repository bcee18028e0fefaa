"""What the package says beside its results: warnings, of categories of its own, and the trace.

The trace is the logger ``autodiff_hook``, at the level DEBUG. With ``AUTODIFF_TRACE`` it is printed on stderr, too, one
line for each message.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # of typing, which would be the dearest import of a program that has nothing opted in
if TYPE_CHECKING:
    from types import FrameType

    from autodiff_hook.errors import AutodiffWarning

LOGGER = "autodiff_hook"
VARIABLE = "AUTODIFF_TRACE"
_HERE = os.path.dirname(__file__) + os.sep
_REMEMBERED = 10000
_said: set[str] = set()


def warn(message: str, category: type[AutodiffWarning]) -> None:
    """Warn of something, at the line of the program that has led here; a program may have closed stderr."""
    import warnings  # most programs are not warned

    if getattr(sys.stderr, "closed", False):
        return
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_passed_over(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:  # at the end of the interpreter
        warnings.warn_explicit(message, category, "sys", 1)
    else:
        module = frame.f_globals.get("__name__", "<unknown>")
        known = frame.f_globals.setdefault("__warningregistry__", {})
        warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, module, known)


def _is_passed_over(filename: str) -> bool:
    return filename.startswith((_HERE, "<frozen importlib"))


def is_traced() -> bool:
    """Whether anybody wants to be told what is done: who set ``AUTODIFF_TRACE``, or who listens to the logger."""
    return _is_printed() or _is_logged()


def trace(message: str) -> None:
    """Say what has been done, to whom it may concern; the same line once."""
    if is_traced() and message not in _said:
        if len(_said) < _REMEMBERED:
            _said.add(message)
        if _is_printed() and sys.stderr is not None and not getattr(sys.stderr, "closed", False):
            sys.stderr.write(f"autodiff: {message}\n")
        if _is_logged():
            import logging  # most programs have no trace

            logging.getLogger(LOGGER).debug("%s", message)


def _is_printed() -> bool:
    return os.environ.get(VARIABLE, "0") not in ("", "0")


def _is_logged() -> bool:
    logging = sys.modules.get("logging")
    spec = getattr(logging, "__spec__", None)
    if logging is None or getattr(spec, "_initializing", False):
        return False
    enabled: bool = logging.getLogger(LOGGER).isEnabledFor(logging.DEBUG)
    return enabled
