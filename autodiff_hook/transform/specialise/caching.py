"""``functools.lru_cache``: answers of caches from outside; which keys those of a program may have, and how many."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.runtime.answers import depends
from autodiff_hook.runtime.asking import asked, require_answered
from autodiff_hook.semantics.equivalents import remembering
from autodiff_hook.transform.specialise.abstract import BOOL, INT, Abstract, Instance, Known, Number, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import example_of, inert_class, number_types
from autodiff_hook.transform.specialise.places import assigns
from autodiff_hook.transform.specialise.plans import known_as, pure
from autodiff_hook.transform.specialise.program import Given
from autodiff_hook.transform.specialise.results import outcome


def ask(inf: Inference, s: Statement, cache: Any, keys: list[Operand]) -> Abstract | None:
    """Let a cache from outside answer for keys that are known."""
    kinds = [inf.type_of(x) for x in keys]
    values = tuple(map(example_of, kinds))
    depending = depends(cache, values)
    if depending:
        require_answered(cache, values, {})
    found = outcome(cache, kinds, {})
    if assigns(inf) and not is_constant(found):
        raise Refused("a cache that may show what has been changed")
    if depending or not is_constant(found):
        s.op, s.data = "call", ()
        s.operands = [Constant(asked), Constant(cache), inf.world.arguments(), Constant(depending or None), *keys]
    return pure(inf, s, found)


def number_of(inf: Inference, s: Statement, cache: Any, keys: list[Operand]) -> Abstract | None:
    """Let a cache whose function reads nothing answer with a number for whole numbers and texts; None of others."""
    kinds = [inf.type_of(x) for x in keys]
    plain = all(number_types(kind) in (INT.types, BOOL.types) or inert_class(kind) is str for kind in kinds)
    if inf.one_way or not plain or depends(cache, ()):
        return None
    found = outcome(cache, kinds, {})
    types = number_types(found) or ()
    if len(types) != 1:
        return None
    s.op, s.operands, s.data = "call", [Constant(answered_by), Constant(cache), *map(Constant, types), *keys], ()
    return pure(inf, s, found)


def answered_by(cache: Any, kind: type, *keys: Any) -> Any:
    """What a cache answers; give up if that is something else than a number of this type."""
    answer = cache(*keys)
    if type(answer) is not kind:
        raise Given("a cache answers with something else")
    return answer


def _answered_again(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    return number_of(inf, s, example_of(inf.type_of(args[0])), args[2:])


def is_constant(answer: Abstract) -> bool:
    """Whether nobody can change an answer."""
    if isinstance(answer, Tuple):
        return answer.cls is tuple and all(map(is_constant, answer.items))
    return isinstance(answer, (Known, Number)) or isinstance(answer, Instance) and answer.cls is str


def _asked_again(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    cache, _, _, *keys = args
    return ask(inf, s, example_of(inf.type_of(cache)), keys)


def require_room(count: int, limit: int) -> None:
    """Give up if a cache would forget something."""
    if count >= limit:
        raise Given("a cache is full")


def _with_room(inf: Inference, s: Statement, args: Args) -> Abstract:
    count, limit = map(inf.type_of, args)
    if not isinstance(limit, Known):
        raise Refused("a cache whose size is not known")
    if limit.value is None:
        return known_as(inf, s, None)
    if isinstance(count, Known) and count.value >= limit.value:
        raise Refused("a cache is full")
    s.op, s.operands, s.data = "call", [Constant(require_room), *args], ()
    return pure(inf, s, Known(None))


def _constant(inf: Inference, s: Statement, args: Args) -> Abstract:
    inf.program.reads_keys = True
    return known_as(inf, s, None)


QUESTIONS: Final[dict[Any, Any]] = {
    **dict.fromkeys((remembering.require_room, require_room), _with_room),
    asked: _asked_again,
    answered_by: _answered_again,
}
OF_ALL_WAYS: Final[dict[Any, Any]] = {remembering.require_constant: _constant}
