"""Import modules with every function replaced by its round trip, then run a test module of the standard library.

``python rewriting.py test.test_heapq heapq`` runs test_heapq with heapq re-emitted.
"""

from __future__ import annotations

import doctest
import os
import signal
import sys
import unittest
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

from autodiff_hook.emit import emit
from autodiff_hook.errors import Unsupported
from autodiff_hook.lift import lift

_OPTIMIZED = 1


def round_trip(code: CodeType) -> CodeType:
    """``code`` lifted and emitted again, as is everything inside it; what cannot be lifted stays."""
    if code.co_flags & _OPTIMIZED:
        try:
            made = emit(lift(code), release="ROUNDTRIP_RELEASE" in os.environ)
            flags = made.co_flags | code.co_flags & ~0x3FF  # of __future__ imports and types.coroutine
            code = made.replace(co_flags=flags, co_consts=(code.co_consts[:1] or (None,)) + made.co_consts[1:])
        except Unsupported:
            pass
    constants = tuple(round_trip(x) if isinstance(x, CodeType) else x for x in code.co_consts)
    return code.replace(co_consts=constants)


def rewrite(names: set[str]) -> None:
    """From now on modules of these names are imported re-emitted."""
    original = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> Any:
        if name not in names:
            return original(self, name)
        path = self.get_filename(name)
        return round_trip(compile(self.get_data(path), path, "exec", dont_inherit=True))

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def without(tests: unittest.TestSuite, skipped: set[str]) -> unittest.TestSuite:
    """The suite without some tests, and without doctests: they look for their globals in the module imported first."""
    kept = unittest.TestSuite()
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            kept.addTest(without(test, skipped))
        elif not isinstance(test, doctest.DocTestCase) and ".".join(test.id().split(".")[-2:]) not in skipped:
            kept.addTest(test)
    return kept


def main() -> None:
    """Run the tests of the first module named, with all modules named re-emitted."""
    test, *others = sys.argv[1:]
    # A shell without job control starts what is to run in the background with SIGINT ignored, and tests raise it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "ROUNDTRIP_OFF" not in os.environ:
        rewrite({test, *others})
    for name in [n for n in sys.modules if any(n == o or n.startswith(o + ".") for o in others)]:
        del sys.modules[name]
    tests = unittest.defaultTestLoader.loadTestsFromName(test)
    tests = without(tests, set(os.environ.get("ROUNDTRIP_SKIP", "").split()))
    result = unittest.TextTestRunner(verbosity=0).run(tests)
    sys.exit(not (result.wasSuccessful() and result.testsRun))


if __name__ == "__main__":
    main()
