"""Lists that change, with the parallel list of tokens; and what makes lists, tuples and sets."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, Token, keep_all, kind, known, note_made, some, to_change
from autodiff_hook.interpreter import LISTS_DOUBLE, TUPLES_ASK_LENGTH
from autodiff_hook.semantics.comparing import Compared, compares_by_code
from autodiff_hook.semantics.items import ask_length, materialised, tokens_of
from autodiff_hook.semantics.iteration import get_iter
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, giving_owner, means
from autodiff_hook.semantics.parallel import putting


def order_of(alg: Algebra, items: list[Any], tokens: Any, key: Any = None, reverse: bool = False) -> Any:
    """The stable permutation that sorts ``items``."""
    keys = items
    moving = [None] * len(items) if tokens is None else tokens
    if key is not None:
        pairs = [apply(alg, (None, token), key, (item,), {}) for item, token in zip(items, moving)]
        keys, moving = [value for value, _ in pairs], [token for _, token in pairs]
    if any([compares_by_code(value) for value in keys]):
        keys = [Compared(alg, value, token) for value, token in zip(keys, moving)]
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


@means(list)
def list_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    if not args:
        return [], None
    items, tokens = materialised(alg, t[0], args[0], hinted=True)
    keep_all(alg, items, tokens)
    note_made(alg, items)
    return items, None


@means(tuple)
def tuple_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    if not args:
        return (), None
    items, tokens = materialised(alg, t[0], args[0], hinted=TUPLES_ASK_LENGTH)
    return tuple(items), tuple(tokens) if some(tokens) else None


def concatenate(alg: Algebra, t: Any, a: Any, b: Any) -> Result:
    """``a + b`` of two lists or of two tuples."""
    first, second = tokens_within(alg, t[0], a), tokens_within(alg, t[1], b)
    if kind(a) == "tuple":
        result = tuple.__add__(a, b)
        return result, (*first, *second) if some(first) or some(second) else None
    joined = list.__add__(a, b)
    keep_all(alg, joined, [*first, *second])
    note_made(alg, joined)
    return joined, None


def tokens_within(alg: Algebra, token: Token, value: Any) -> list[Token]:
    """The tokens of what a list or tuple holds, whatever its class says of an iteration."""
    if kind(value) == "tuple":
        return [None] * tuple.__len__(value) if token is None else list(token)
    return tokens_of(alg, list, value)


def repeat(alg: Algebra, t: Any, a: Any, b: Any) -> Result:
    """``sequence * n`` or ``n * sequence``."""
    first = kind(a) in ("list", "tuple")
    source, times = (a, b) if first else (b, a)
    tokens = tokens_within(alg, t[0] if first else t[1], source) * times
    if kind(source) == "tuple":
        return tuple.__mul__(source, times), tuple(tokens) if some(tokens) else None
    result = list.__mul__(source, times)
    keep_all(alg, result, tokens)
    note_made(alg, result)
    return result, None


_append: Final = putting(list, "append")


@means(list.extend)
def list_extend(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.extend``, ``+=`` and unpacking into a list display."""
    owner, value = args
    if one_by_one(owner, value):
        pairs = get_iter(alg, t[1:], None, value)[0]
        ask_length(alg, value)
        for item, token in pairs:
            _append(alg, (None, token), (owner, item), {})
        return None, None
    if value is owner and LISTS_DOUBLE:
        items, tokens = list.copy(owner), list(known(alg, owner) or [None] * list.__len__(owner))
    else:
        items, tokens = materialised(alg, t[1], value)
    found = to_change(alg, owner, tokens)
    list.extend(owner, items)
    if found is not None:
        found.extend(tokens)
    return None, None


def one_by_one(owner: Any, value: Any) -> bool:
    """Whether the program may see a container while it takes the items of ``value``."""
    return not (type(value) in (list, tuple) or value is owner or kind(value) in ("inert", "array"))


means(list.__iadd__)(giving_owner(list_extend))


@means(list.sort)
def list_sort(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner = args[0]
    found = known(alg, owner)
    items = list.__getitem__(owner, slice(None))
    tokens = None if found is None else list(found)
    order = order_of(alg, items, tokens, **kwargs)
    list.__setitem__(owner, slice(None), [items[i] for i in order])
    if found is not None and tokens is not None:
        found[:] = [tokens[i] for i in order]
    return None, None


@means(sorted)
def sorted_(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    items, tokens = materialised(alg, t[0], args[0], hinted=True)
    order = order_of(alg, items, tokens, **kwargs)
    result = [items[i] for i in order]
    keep_all(alg, result, [tokens[i] for i in order])
    note_made(alg, result)
    return result, None
