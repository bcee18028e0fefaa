"""The segments one after the other, with the jumps between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from autodiff_hook.emit import versions
from autodiff_hook.emit.items import Label, Mark, Op, Segment
from autodiff_hook.emit.lower import Lowered

_OPPOSITE: Final = {"true": "FALSE", "false": "TRUE", "none": "NOT_NONE", "not_none": "NONE"}
_FUSED: Final = frozenset({("LOAD_FAST", "LOAD_FAST"), ("STORE_FAST", "LOAD_FAST"), ("STORE_FAST", "STORE_FAST")})
_SUPERINSTRUCTION_SLOTS: Final = 16


def linear(order: list[Segment], lowered: dict[Segment, list[Lowered]]) -> Iterator[Lowered]:
    """The segments one after the other, with their jumps; empty ones are jumped over."""
    final = {segment: _final(segment, lowered) for segment in order}
    rank = {segment: i for i, segment in enumerate(order)}
    kept = [s for s in order if final[s] is s or s is order[0] or (s.pinned and rank[final[s]] <= rank[s])]
    place = {segment: i for i, segment in enumerate(kept)}
    for i, segment in enumerate(kept):
        yield Mark(segment.label)
        yield from lowered[segment]
        following = kept[i + 1] if i + 1 < len(kept) else None
        yield from _leave(segment, i, following, final, place)


def _final(segment: Segment, lowered: dict[Segment, list[Lowered]]) -> Segment:
    seen = set()
    while not lowered[segment] and segment.exit.kind == "jump" and segment.exit.handler is None:
        if segment in seen:
            break
        seen.add(segment)
        segment = segment.exit.targets[0]
    return segment


def _leave(
    segment: Segment, index: int, following: Segment | None, final: dict[Segment, Segment], place: dict[Segment, int]
) -> Iterator[Lowered]:
    exit_ = segment.exit
    targets = [t if t in place and t.pinned else final[t] for t in exit_.targets]
    position, handler = exit_.position, exit_.handler

    def go(target: Segment) -> Iterator[Op]:
        if target is not following:
            name = versions.jump(place[target] > index, target.exit.kind == "send")
            yield Op(name, target.label, position, handler)

    if exit_.kind == "jump":
        yield from go(targets[0])
    elif exit_.kind in ("next", "send"):
        opcode = "FOR_ITER" if exit_.kind == "next" else "SEND"
        yield Op(opcode, exit_.landing or targets[1].label, position, handler)
        yield from exit_.after
        yield from go(targets[0])
    elif exit_.kind != "end":
        yield from _branch(exit_.kind, targets, following, lambda t: place[t] > index, go, position, handler)


def _branch(
    kind: str, targets: list[Segment], following: Segment | None, forward: Any, go: Any, position: Any, handler: Any
) -> Iterator[Lowered]:
    def jump_if(name: str | None, target: Label) -> Iterator[Op]:
        yield Op(name or "", target, position, handler)
        for code in versions.not_taken():
            yield Op(*code, position, handler)

    yes, no = targets
    condition, opposite = kind.upper(), _OPPOSITE[kind]
    if yes is following:
        yes, no, condition, opposite = no, yes, opposite, condition
    jump = versions.conditional_jump(condition, forward(yes))
    if jump is not None:
        yield from jump_if(jump, yes.label)
        yield from go(no)
        return
    other = versions.conditional_jump(opposite, forward(no))
    if other is not None and no is not following:
        yield from jump_if(other, no.label)
        yield Op(versions.jump(False), yes.label, position, handler)
        return
    skip = Label()
    yield from jump_if(versions.conditional_jump(opposite, True), skip)
    yield Op(versions.jump(False), yes.label, position, handler)
    yield Mark(skip)
    yield from go(no)


def fuse_locals(code: list[Lowered]) -> list[Lowered]:
    """3.13: two accesses to locals in one instruction."""
    out: list[Lowered] = []
    for item in code:
        last = out[-1] if out else None
        if (
            isinstance(item, Op)
            and isinstance(last, Op)
            and (last.name, item.name) in _FUSED
            and isinstance(last.arg, int)
            and isinstance(item.arg, int)
            and max(last.arg, item.arg) < _SUPERINSTRUCTION_SLOTS
            and (last.position or (0,))[0] == (item.position or last.position or (0,))[0]
        ):
            out[-1] = Op(f"{last.name}_{item.name}", (last.arg, item.arg), last.position)
        else:
            out.append(item)
    return out
