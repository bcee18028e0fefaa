"""What the README shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

from autodiff_hook import code_adjoint

README = Path(__file__).parent.parent / "README.md"


def test_the_tour_runs_and_gives_what_it_says():
    text = README.read_text(encoding="utf-8")
    tour = re.search(r"## A tour\n\n```python\n(.*?)```", text, re.DOTALL)
    assert tour is not None
    namespace: dict[str, object] = {"__name__": "readme"}
    exec(compile(tour.group(1), "README.md", "exec"), namespace)
    program = re.search(r"shows it without the guards:\n\n```\n(.*?)```", text, re.DOTALL)
    assert program is not None
    assert program.group(1) == code_adjoint(namespace["power"], 2.0, 3)  # type: ignore[arg-type]
    shown = 0
    for line in tour.group(1).splitlines():
        match = re.match(r"(ad\.\S.*?|back\(.*?\))\s{2,}# (\(.*?\)|[\d.]+)(?=[:,]|$)", line)
        if match:
            assert repr(eval(match.group(1), namespace)).startswith(match.group(2)[:5]), line
            shown += 1
    assert shown >= 6
