"""What a package of rules consists of."""

import sys
from importlib import import_module
from pkgutil import iter_modules


def import_all(package):
    for module in iter_modules(sys.modules[package].__path__):
        import_module(f"{package}.{module.name}")
