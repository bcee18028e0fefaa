"""The lazy attribute ``J`` on the functions of an opted-in module. For people: the engine does not look at it."""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType

from autodiff_hook import config, telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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


MARK = "__autodiff__"
"""In the namespace of a module imported through the hook: the opted-in name that covers it."""

_attached: set[str] = set()


class AttachedJ:
    """``f.J``: ``f.J(*args, **kwargs)`` is ``autodiff_hook.J(f, *args, **kwargs)``.

    It knows its function, because ``functools.wraps`` copies attributes: a wrapper made later shows the ``J`` of what
    it wraps. It belongs to a function, so on a method the first argument is ``self``: ``C.m.J(obj, x)``.
    """

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        from autodiff_hook.api import J  # the engine, at the first derivative

        return J(self.function, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<J of {self.function.__module__}.{self.function.__qualname__}>"

    def __reduce__(self) -> tuple[type[AttachedJ], tuple[Callable[..., Any]]]:
        return AttachedJ, (self.function,)


_listeners: list[Callable[[ModuleType], None]] = []


def when_attached(listener: Callable[[ModuleType], None]) -> Callable[[], None]:
    """Call ``listener`` with each opted-in module when it has been imported; the result ends that."""
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)


def attach(module: ModuleType) -> None:
    """Give each function that ``module`` defines, or that a class it defines has, its own ``J``."""
    namespace = _namespace(module)
    for function in _functions(namespace):
        found = function.__dict__.get("J")
        if found is None or (type(found) is AttachedJ and found.function is not function):
            function.__dict__["J"] = AttachedJ(function)
    _attached.add(namespace.get("__name__", ""))
    after_reloads(_attach_again)
    for listener in list(_listeners):
        listener(module)


def detach(module: ModuleType) -> None:
    """Take every ``J`` that ``attach`` put there away again."""
    namespace = _namespace(module)
    for function in _functions(namespace):
        if type(function.__dict__.get("J")) is AttachedJ:
            del function.__dict__["J"]
    _attached.discard(namespace.get("__name__", ""))


def attached() -> frozenset[str]:
    """The names of the modules whose functions have a ``J``."""
    return frozenset(_attached)


def attach_to_imported() -> None:
    """Attach to the opted-in modules that were imported already."""
    for module in _imported():
        namespace = _namespace(module)
        if config.in_scope(namespace) and _has_source(namespace) and not _executing(namespace):
            if namespace.get("__name__") not in _attached:
                telling.trace(f"attached to {namespace.get('__name__')}, imported before")
            attach(module)


def _attach_again() -> None:
    """Give what has lost its ``J`` another one."""
    for module in _imported():
        if _namespace(module).get("__name__") in _attached:
            attach(module)


def detach_out_of_scope() -> None:
    """Detach from the modules that are opted in no longer."""
    for module in _imported():
        namespace = _namespace(module)
        if namespace.get("__name__") in _attached and not config.in_scope(namespace):
            detach(module)


def _imported() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if issubclass(type(module), ModuleType)]


def _namespace(module: ModuleType) -> dict[str, Any]:
    """Its ``__dict__``, without making a lazy module load."""
    namespace: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return namespace


def _has_source(namespace: dict[str, Any]) -> bool:
    spec = namespace.get("__spec__")
    return bool(getattr(spec, "has_location", False) if spec is not None else namespace.get("__file__"))


def _executing(namespace: dict[str, Any]) -> bool:
    """Whether a stand-in is importing the module; it attaches when that has run."""
    return MARK in namespace and getattr(namespace.get("__spec__"), "_initializing", False)


def functions_of(module: ModuleType) -> Iterator[Any]:
    """The functions and caching wrappers that a module or one of its classes defines."""
    return _functions(_namespace(module))


def _functions(namespace: dict[str, Any]) -> Iterator[Any]:
    """The functions, and the caching wrappers of functions, that a module or one of its classes defines."""
    module = namespace.get("__name__", "")
    seen: set[int] = set()
    pending = list(namespace.values())
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if issubclass(type(value), type):
            if value.__module__ == module:
                pending.extend(list(value.__dict__.values()))
            continue
        # A wrapper made elsewhere belongs here if functools.wraps gave it this module's name.
        if _is_function(value) and (value.__module__ == module or getattr(value, "__globals__", None) is namespace):
            yield value
        pending.extend(_inside(value))


def _is_function(value: Any) -> bool:
    cls = type(value)
    return cls is FunctionType or (cls.__module__ == "functools" and cls.__name__ == "_lru_cache_wrapper")


def _inside(value: Any) -> Iterator[Any]:
    """What a descriptor or a wrapper of the standard library is made of."""
    cls = type(value)
    if issubclass(cls, property):
        names = ["fget"]
    elif issubclass(cls, (staticmethod, classmethod)):
        names = ["__func__"]
    elif _is_function(value):
        names = ["__wrapped__"]
    elif cls.__module__ == "functools":
        names = ["func"]
    else:
        return
    for name in names:
        inside = getattr(value, name, None)
        if inside is not None:
            yield inside
