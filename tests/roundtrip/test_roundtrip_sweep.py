"""Every function of the standard library and of NumPy: lifted, verified, emitted, checked.

A sample in an ordinary run; ``AUTODIFF_SWEEP=full`` takes all files.
"""

from __future__ import annotations

import os
from collections import Counter

from code_checks import check_code
from code_objects import code_objects

from autodiff_hook.emit import emit
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift import lift

EVERY = 1 if os.environ.get("AUTODIFF_SWEEP") == "full" else 60


def test_sweep() -> None:
    lifted = 0
    refused: Counter[str] = Counter()
    for code in code_objects(EVERY):
        try:
            ir = lift(code)
        except Unsupported as error:
            refused[str(error)] += 1
            continue
        try:
            verify(ir)
            for release in (False, True):
                check_code(emit(ir, release))
        except Exception as error:
            error.add_note(f"{code.co_filename}:{code.co_firstlineno} {code.co_qualname}")
            raise
        lifted += 1
    total = lifted + sum(refused.values())
    print(f"{lifted} of {total} functions lift ({lifted / total:.2%}); refused: {refused.most_common(5)}")
    assert lifted > 0.95 * total
