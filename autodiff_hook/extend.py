"""What rule packs are written with: all that the packs of this repository use of the engine (``docs/rules.md``).

*Short declarations* of derivatives: ``elementwise``, ``scalar``, ``linear``, ``cotangents``, with ``per`` and
``scaled`` for partial derivatives. *Rules* in full: ``rrule``, ``frule``, ``LINEAR``, ``nondifferentiable``,
``not_implemented``, ``refused``, ``writes``, the kinds ``Real``, ``Complex``, ``Array``, ``Any``, and products with
strong zeros.

*Typing facts* say what typed programs may know of a function, a target or a helper of a pullback:

- ``typed(f)``: what its result is. The declared function gets a ``Site``, which answers ``fact``, ``dims``,
  ``is_double``, ``value`` … of operands, and the operands of the call; it returns an ``ArrayFact``, a ``PointFact``, a
  ``NumberFact``, a ``ShapeFact``, a ``TupleFact``, or None where nothing is known.
- ``shortcut(f)``: what else may stand for a call of it: it writes statements with ``site.call``, ``site.emit`` and
  ``site.method``, and returns the operand that replaces the result, or None.
- ``shaped``: that the shape of its result follows from shapes, dtypes and constants, not from what arrays hold.
- ``pointwise``, ``fresh``, ``borrowing``, ``viewing``, ``zeros``: what its result shares with its arguments.
- ``pure``, ``harmless``, ``effects``: whether it may be called on examples, raise, or change what it is given.

What is declared must be true: programs are not guarded by it. ``pack`` puts a pack on one level with those of this
repository.
"""

from __future__ import annotations

from autodiff_hook.cotangents import not_implemented as not_implemented
from autodiff_hook.ir.types import Constant as Constant
from autodiff_hook.packs import Unsuited as Unsuited
from autodiff_hook.registry import LINEAR as LINEAR
from autodiff_hook.registry import frule as frule
from autodiff_hook.registry import nondifferentiable as nondifferentiable
from autodiff_hook.registry import refused as refused
from autodiff_hook.registry import registry as registry
from autodiff_hook.registry import rrule as rrule
from autodiff_hook.registry import writes as writes
from autodiff_hook.short_forms import Form as Form
from autodiff_hook.short_forms import arrays as arrays
from autodiff_hook.short_forms import cotangents as cotangents
from autodiff_hook.short_forms import elementwise as elementwise
from autodiff_hook.short_forms import expression as expression
from autodiff_hook.short_forms import linear as linear
from autodiff_hook.short_forms import per as per
from autodiff_hook.short_forms import scalar as scalar
from autodiff_hook.short_forms import scaled as scaled
from autodiff_hook.signatures import Any as Any
from autodiff_hook.signatures import Array as Array
from autodiff_hook.signatures import Complex as Complex
from autodiff_hook.signatures import Real as Real
from autodiff_hook.strong import contraction as contraction
from autodiff_hook.strong import over as over
from autodiff_hook.strong import times as times
from autodiff_hook.transform.improve.facts import LARGE as LARGE
from autodiff_hook.transform.improve.facts import ArrayFact as ArrayFact
from autodiff_hook.transform.improve.facts import Fact as Fact
from autodiff_hook.transform.improve.facts import NumberFact as NumberFact
from autodiff_hook.transform.improve.facts import PointFact as PointFact
from autodiff_hook.transform.improve.facts import ShapeFact as ShapeFact
from autodiff_hook.transform.improve.facts import Symbol as Symbol
from autodiff_hook.transform.improve.facts import TupleFact as TupleFact
from autodiff_hook.transform.improve.shortcuts import borrowing as borrowing
from autodiff_hook.transform.improve.shortcuts import complex_by_value as complex_by_value
from autodiff_hook.transform.improve.shortcuts import effects as effects
from autodiff_hook.transform.improve.shortcuts import fresh as fresh
from autodiff_hook.transform.improve.shortcuts import harmless as harmless
from autodiff_hook.transform.improve.shortcuts import method_of as method_of
from autodiff_hook.transform.improve.shortcuts import pointwise as pointwise
from autodiff_hook.transform.improve.shortcuts import pure as pure
from autodiff_hook.transform.improve.shortcuts import ranks as ranks
from autodiff_hook.transform.improve.shortcuts import shaped as shaped
from autodiff_hook.transform.improve.shortcuts import shortcut as shortcut
from autodiff_hook.transform.improve.shortcuts import typed as typed
from autodiff_hook.transform.improve.shortcuts import viewing as viewing
from autodiff_hook.transform.improve.shortcuts import zeros as zeros
from autodiff_hook.transform.improve.site import Site as Site
from autodiff_hook.transform.improve.transfer import reshaped as reshaped


def pack(name: str) -> None:
    """Declare, before its rules are registered, that the package or module ``name`` is a rule pack.

    Its rules become parts of typed programs instead of being called, what their pullbacks return is looked at by
    ``check_rule`` alone, and their code is in scope for derivatives of derivatives. So nothing that its functions name
    may be assigned again, and its rules are tested.

    >>> pack(__name__)
    """
    registry.packs.declared.add(name)
