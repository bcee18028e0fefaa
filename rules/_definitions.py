"""Definitions in Python of callables that are written in C: calls of them are differentiated through the definition."""

from autodiff_hook.semantics.meanings import DEFINITIONS, means
from autodiff_hook.semantics.substitutes import substitute


def defines(*targets):
    """Register a Python function, with the parameters of ``targets``, as what they do.

    It is asked after the rules: a callable that has one is defined where its rule does not know an option.
    """

    def register(definition):
        means(*targets)(substitute(definition))
        DEFINITIONS.update((id(target), definition) for target in targets)
        return definition

    return register
