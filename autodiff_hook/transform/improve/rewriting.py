"""One pass over a joint program that writes its statements with the knowledge of types."""

from __future__ import annotations

from autodiff_hook.ir.analysis import reverse_postorder
from autodiff_hook.ir.substituting import resolve, substitute
from autodiff_hook.ir.types import IR, Constant, Operand, Statement, Variable
from autodiff_hook.transform.improve.facts import ArrayFact, Fact, NumberFact, constant_fact, is_number
from autodiff_hook.transform.improve.shortcuts import HARMLESS, LOOKING, SHORTCUTS, applied, declared
from autodiff_hook.transform.improve.site import ARITHMETIC, Site, common_dtype, is_elementwise
from autodiff_hook.transform.specialise.folding import computed


class Rewriting:
    """One pass over the program."""

    def __init__(self, ir: IR, site: Site, essential: set[Statement], adjoint: set[Statement]) -> None:
        self.ir, self.site, self.essential, self.adjoint = ir, site, essential, adjoint
        self.known: dict[Operand, Operand] = {}
        site.simplified = self.simplified

    def run(self) -> None:
        """Rewrite all blocks."""
        for block in reverse_postorder(self.ir):
            statements, block.statements = block.statements, []
            self.site.out = block.statements
            for s in statements:
                self._statement(s)
        substitute(self.ir.blocks, self.known)

    def _statement(self, s: Statement) -> None:
        site = self.site
        s.operands = [resolve(x, self.known) for x in s.operands]
        if s.result is None:
            if not (declared(LOOKING, s.callee) and self.simplified(s)):
                site.out.append(s)
            return
        site.position, site.exact = s.position, s in self.essential
        start = len(site.out)
        found = self.simplified(s)
        if s in self.adjoint:
            self.adjoint |= set(site.out[start:])
        if found is None:
            site.add(s)
            if s in self.essential and self._is_harmless(s):
                self.essential.discard(s)
            return
        if s in self.essential:
            self.essential |= {x for x in site.out[start:] if not self._is_harmless(x)}
        if isinstance(found, Variable):
            self._inherit(found, s.result)
        self.known[s.result] = found

    def _inherit(self, found: Variable, result: Variable) -> None:
        """What is known of a result is known of what replaces it."""
        site = self.site
        if result in site.types:
            site.types.setdefault(found, site.types[result])
        if site.facts.get(found) is None:
            site.facts[found] = site.facts.get(result)

    def _is_harmless(self, s: Statement) -> bool:
        """Whether a statement cannot raise: it works element by element on shapes that fit."""
        site = self.site
        function, operands = s.callee, s.arguments
        if declared(HARMLESS, function):
            return s.result is not None and site.facts.get(s.result) is not None
        if s.op == "call" and not (is_elementwise(function) and len(operands) == function.nin and not s.data):
            return False
        if s.op not in ("call", "binary", "unary") or s.result is None or site.facts.get(s.result) is None:
            return False
        dims = [d for d in map(site.dims, operands) if d is not None]
        if not dims:
            double = any(site.is_floating(x) and not _may_be_plain(site.fact(x)) for x in operands)
            return s.op == "call" or s.op == "unary" or (double and s.data in "+-*")
        return len(dims) == 1 or (len(dims) == 2 and site.shapes.broadcast(*dims) is not None)

    def simplified(self, s: Statement) -> Operand | None:
        """What the result of ``s`` is, if it is there already or is written in another way."""
        if s.op in ("binary", "unary"):
            return computed(s) or (self._binary(s) if s.op == "binary" else self._unary(s))
        if s.op == "project":
            return self._part(s)
        if s.op == "getattr":
            return self._shape(s)
        found: Operand | None = applied(SHORTCUTS, self.site, s)
        return found

    def _part(self, s: Statement) -> Operand | None:
        """An item of a tuple that was made just for this."""
        unpack = self.site.source(s.operands[0])
        made = self.site.source(unpack.operands[0]) if unpack is not None and unpack.op == "unpack" else None
        if made is None or unpack is None or made.op != "build_tuple" or unpack.data != (len(made.operands), None):
            return None
        item: Operand = made.operands[s.data]
        return item

    def _shape(self, s: Statement) -> Operand | None:
        """A shape that is known, or that of something from outside: what has it need not be kept for that."""
        dims = self.site.dims(s.operands[0]) if s.data == "shape" else None
        known = self.site.known_shape(dims) if dims and s.operands[0] not in self.site.outside else None
        if isinstance(known, Variable):
            s.operands = [known]
        return known if isinstance(known, Constant) else None

    def _binary(self, s: Statement) -> Operand | None:
        site = self.site
        if s.data not in ARITHMETIC or s.result is None:
            return None
        numbers = [site.spread.get(x) for x in s.operands]
        if any(n is not None for n in numbers):
            self._spread_binary(s, numbers)
        for constant, other in (s.operands, s.operands[::-1]):
            if s.data == "*" and site.is_double(other) and isinstance(constant, Constant):
                # What the program itself makes is an array of its own, which may leave it.
                return other if _is_one(constant) and not site.exact else None
        return self._doubled(s) or self._negated(s)

    def _doubled(self, s: Statement) -> Operand | None:
        """``x * y + x * y`` as ``x * y * 2``."""
        first, second = map(self.site.source, s.operands)
        if s.data != "+" or first is None or second is None or not all(map(self.site.is_double, s.operands)):
            return None
        same = (first.op, first.data, first.operands) == (second.op, second.data, second.operands)
        if not same or first.op != "binary":
            return None
        site = self.site
        for small, other in (first.operands, first.operands[::-1]) if first.data == "*" else ():
            if not site.is_number(small) and site.is_double(small) and not site.alike(small, s.operands[0]):
                return site.emit("binary", other, site.emit("binary", small, Constant(2.0), data="*"), data="*")
        return site.emit("binary", s.operands[0], Constant(2.0), data="*")

    def _spread_binary(self, s: Statement, sources: list[Operand | None]) -> None:
        """An operation with an array that a number, or a smaller array, has been broadcast to."""
        site = self.site
        first = next(i for i, x in enumerate(sources) if x is not None)
        other = s.operands[1 - first]
        small = [x if n is None else n for x, n in zip(s.operands, sources)]
        if None not in sources and site.alike(*s.operands):
            if not (any(map(site.is_number, small)) or site.alike(*small)):
                small[1] = s.operands[1]
                s.operands = small
                return
        elif not site.is_number(other):
            fact = site.fact(other)
            if isinstance(fact, ArrayFact) and fact.dtype.char in "d?" and site.alike(*s.operands):
                s.operands = small
            return
        number = site.emit("binary", *small, data=s.data)
        if site.is_floating(number) or site.is_double(number):
            site.spread[s.made] = number

    def _negated(self, s: Statement) -> Operand | None:
        """``a + -b`` as ``a - b``."""
        site = self.site
        a, b = s.operands
        if s.data != "+" or common_dtype(site.fact(a), site.fact(b)) is None:
            return None
        for kept, other in ((a, b), (b, a)):
            made = site.source(other)
            if made is not None and made.op == "unary" and made.data == "-" and site.is_double(other):
                return site.emit("binary", kept, made.operands[0], data="-")
        return None

    def _unary(self, s: Statement) -> Operand | None:
        """The negative of an array that a number has been broadcast to."""
        number = self.site.spread.get(s.operands[0])
        if number is not None and s.data == "-" and s.result is not None:
            self.site.spread[s.result] = self.site.emit("unary", number, data="-")
        return None


def _may_be_plain(fact: Fact | None) -> bool:
    """Whether a number may be a float of Python's."""
    return not isinstance(fact, NumberFact) or float in fact.types


def _is_one(operand: Operand) -> bool:
    return isinstance(operand, Constant) and is_number(constant_fact(operand.value)) and operand.value == 1
