"""``wrapt``: what its decorators put around functions, which is written in C, calls Python code."""

from types import MethodType

from wrapt import BoundFunctionWrapper, FunctionWrapper

from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_rules._definitions import follow_instead


def _is_enabled(self):
    enabled = self._self_enabled
    return enabled is None or bool(enabled() if callable(enabled) else enabled)


def call(self, *args, **kwargs):
    wrapped, wrapper = self.__wrapped__, self._self_wrapper
    if not _is_enabled(self):
        return wrapped(*args, **kwargs)
    instance = self._self_instance
    if instance is None and self._self_binding in ("function", "instancemethod", "classmethod", "callable"):
        instance = getattr(wrapped, "__self__", None)
    return wrapper(wrapped, instance, args, kwargs)


def call_bound(self, *args, **kwargs):
    wrapped, instance = self.__wrapped__, self._self_instance
    if not _is_enabled(self):
        return wrapped(*args, **kwargs)
    if self._self_binding not in ("function", "instancemethod", "callable"):
        instance = getattr(wrapped, "__self__", None)
    elif instance is None and args and isinstance(args[0], self._self_owner):
        instance, args = args[0], args[1:]
        wrapped = MethodType(wrapped, instance)
    return self._self_wrapper(wrapped, instance, args, kwargs)


follow_instead(FunctionWrapper.__call__, call)
follow_instead(BoundFunctionWrapper.__call__, call_bound)
DEFINITIONS[id(FunctionWrapper.__call__)] = call
