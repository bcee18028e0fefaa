"""``json``: a text is a constant, but what ``json.loads`` reads out of one that ``json.dumps`` has made is unknown."""

from __future__ import annotations

import json
from typing import Any

from autodiff_hook.algebras.lifetimes import enter_weakly
from autodiff_hook.algebras.shadows import Algebra, Result, lose
from autodiff_hook.runtime.losses import failure
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import Args, Kwargs, means
from autodiff_hook.semantics.opaque import loses


@means(json.dumps)
def json_dumps(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``json.dumps``; texts of one character are shared, and no container."""
    losing = loses(alg, t, None, args, kwargs)
    text, _ = enter(alg, (None, *t), json.dumps, args, kwargs)
    if losing and type(text) is str and len(text) > 1:
        enter_weakly(alg.losses, text, alg.unknown(failure(json.dumps, "which makes a text of numbers")))
    return text, None


@means(json.loads)
def json_loads(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    value, token = enter(alg, (None, *t), json.loads, args, kwargs)
    text = args[0] if args else kwargs.get("s")
    if type(text) is str and id(text) in alg.losses:
        return value, lose(alg, value, alg.losses[id(text)][1])
    return value, token
