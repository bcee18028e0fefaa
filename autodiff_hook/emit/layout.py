"""The order of the segments in the code, and which of them are empty."""

from __future__ import annotations

from autodiff_hook.emit.items import Segment


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
    order: list[Segment] = []
    for root in reversed(roots):
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, _targets(root))]
        while stack:
            segment, targets = stack[-1]
            target = next((t for t in targets if t not in seen), None)
            if target is None:
                stack.pop()
                order.append(segment)
            else:
                seen.add(target)
                stack.append((target, _targets(target)))
    order.reverse()
    return order


def _targets(segment: Segment) -> list[Segment]:
    return sorted(segment.exit.targets, key=lambda s: (s.nesting, -s.rank))
