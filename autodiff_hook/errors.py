"""Every error that is ours, and how the text of one about a program is made: place, reason, remedies."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # of typing, which would be the dearest import of a program that has nothing opted in
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

RULE = "register a derivative (@autodiff_hook.rrule)"
CONSTANT = "declare it constant (autodiff_hook.nondifferentiable)"
CUT = "cut the flow (autodiff_hook.stop_gradient)"
REMEDIES = (RULE, CONSTANT, CUT)


def opt_in(module: str) -> str:
    """The remedy for Python code of a module that is not opted in."""
    package = module.partition(".")[0]
    return f"opt the module in (AUTODIFF_MODULES={package}, autodiff_hook.install({package!r}))"


class AutodiffError(Exception):
    """The base class of all errors of autodiff_hook."""


class Unsupported(AutodiffError):
    """A construct, or a use of the API, that autodiff_hook cannot differentiate (yet)."""

    def __init__(self, text: str, construct: str | None = None, line: int | None = None) -> None:
        super().__init__(text)
        self.construct, self.line = construct or text, line
        """What it is about, without the place, and the line in the file of the function."""


class NotDifferentiable(AutodiffError):
    """A gradient would have to pass through something that has no known derivative.

    The text names the line of the program (``place``; by default the one that runs), what is wrong, and the remedies.
    """

    def __init__(self, what: str, *, place: str | None = None, remedies: Sequence[str] = REMEDIES) -> None:
        super().__init__(what)
        self.place = user_location() if place is None else place
        self.remedies = tuple(remedies)

    def __str__(self) -> str:
        text = located(self.args[0], self.place)
        if not self.remedies:
            return text
        *others, last = self.remedies
        listed = f"Remedies: {', '.join(others)}, or {last}" if others else f"Remedy: {last}"
        return f"{text.rstrip('.')}. {listed}"


class NotANumber(AutodiffError):
    """Under ``debug_nans``: an operation has made nan of operands that have none; names its line of the program."""

    def __init__(self, what: str, *, place: str | None = None) -> None:
        super().__init__(located(what, place))


class ConfigError(AutodiffError):
    """A setting (pyproject.toml, environment, ``install``) that is wrong; names the place and the key."""


class AutodiffWarning(UserWarning):
    """The base class of all warnings of autodiff_hook."""


class ConfigWarning(AutodiffWarning):
    """A setting that does not count, or that cannot be right: what ``AUTODIFF_MODULES`` names, a pyproject.toml."""


def located(what: str, place: str | None = None) -> str:
    """``what`` with a line of the program, by default the one that runs, as texts of errors have it."""
    return f"{user_location() if place is None else place}: {what}"


def place_of(filename: str, line: int | None, qualname: str) -> str:
    """A line of a program, as texts of errors have it."""
    return f"{filename}:{line} in {qualname}"


def user_location() -> str:
    """File, line and function of ``user_frame``."""
    frame = user_frame()
    code = frame.f_code
    return place_of(code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name))


def user_frame() -> FrameType:
    """The innermost frame of the program; of a library if that alone is differentiated."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_engine(frame):
        frame = frame.f_back
    caller: FrameType | None = frame
    while caller is not None and (is_engine(caller) or _is_library(caller)):
        caller = None if caller.f_globals.get("__name__") == "autodiff_hook.api" else caller.f_back
    return caller or frame


LIBRARIES = frozenset(getattr(sys, "stdlib_module_names", ())) | {"numpy", "scipy"}
"""What is entered where derivatives need it, without being opted in."""


def _is_library(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in LIBRARIES


_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGES = (_HERE + os.sep, os.path.join(os.path.dirname(_HERE), "autodiff_rules") + os.sep)


def is_engine(frame: FrameType) -> bool:
    """Whether a frame is of this package or of its rules."""
    return is_engines_file(frame.f_code.co_filename) or (
        str(frame.f_globals.get("__name__")).partition(".")[0] == "autodiff_rules"
    )


def is_engines_file(filename: str) -> bool:
    """Whether a file is of this package or of the rules beside it."""
    return filename.startswith(_PACKAGES)
