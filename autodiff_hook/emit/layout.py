"""The order of the segments in the code, and which of them are empty."""

from __future__ import annotations

from autodiff_hook.emit.items import Segment
from autodiff_hook.ir.analysis import postorder


def layout(segments: list[Segment]) -> list[Segment]:
    """Loops contiguous and followed by what they leave to; what only exceptions reach comes last."""
    seen: set[Segment] = set()
    hot = _ordered([segments[0]], seen)
    cold: list[Segment] = []
    pending = hot
    while pending:
        handlers = [h for s in pending for h in s.handlers if h not in seen]
        pending = _ordered(handlers, seen)
        cold += pending
    return hot + cold


def _ordered(roots: list[Segment], seen: set[Segment]) -> list[Segment]:
    """Reverse postorder; of two successors the one in fewer loops, or later in the source, comes later."""
    return postorder(reversed(roots), _targets, seen)[::-1]


def _targets(segment: Segment) -> list[Segment]:
    return sorted(segment.exit.targets, key=lambda s: (s.nesting, -s.rank))
