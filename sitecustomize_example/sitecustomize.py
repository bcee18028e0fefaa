"""Switches autodiff_hook on at start-up for the modules that AUTODIFF_MODULES names.

Put the folder of this file on PYTHONPATH, or copy the file into site-packages. Python runs one sitecustomize only, so
this one runs the next on sys.path (Debian and Ubuntu ship one) as if it were not there itself.
"""

import os
import sys


def enable():
    """Opt in what the environment asks for; a program must start whatever goes wrong here."""
    try:
        from autodiff_hook.loader import install_from_environment

        install_from_environment()
    except Exception as error:
        print(f"sitecustomize: autodiff_hook is off: {type(error).__name__}: {error}", file=sys.stderr)


def run_next():
    """Run the next sitecustomize; each folder once, though sys.path may list one twice."""
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    seen = sys.__dict__.setdefault("_autodiff_sitecustomize", set())
    seen.add(os.path.realpath(os.path.dirname(__file__)))
    for entry in sys.path:
        if os.path.realpath(entry) not in seen:
            spec = PathFinder.find_spec("sitecustomize", [entry])
            if spec is not None and spec.loader is not None:
                module = sys.modules["sitecustomize"] = module_from_spec(spec)
                spec.loader.exec_module(module)
                return


if os.environ.get("AUTODIFF_MODULES"):
    enable()
run_next()
