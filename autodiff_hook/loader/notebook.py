"""IPython, whose ``%autoreload`` gives functions the attributes of new ones, which have no ``J``."""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _BetweenReloadAndCell:
    """Calls a function where IPython would transform the syntax tree of a cell: reloads are done then."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def visit(self, tree: Any) -> Any:
        if "IPython.extensions.autoreload" in sys.modules:
            self._call()
        return tree


def after_reloads(call: Callable[[], None]) -> None:
    """Have ``call`` called before each cell of the IPython that runs, if one does, once it reloads modules."""
    ipython = sys.modules.get("IPython")
    shell: Any = getattr(ipython, "get_ipython", lambda: None)() if isinstance(ipython, ModuleType) else None
    if shell is not None and not any(type(x) is _BetweenReloadAndCell for x in shell.ast_transformers):
        shell.ast_transformers.append(_BetweenReloadAndCell(call))
