"""Rules lifted: the body of a rule and the body of its pullback, to be copied into a program."""

from __future__ import annotations

from collections.abc import Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from autodiff_hook.ir.analysis import definitions, statements_of
from autodiff_hook.ir.substituting import copy_blocks, go_on_at, key_of, resolve, share, substitute
from autodiff_hook.ir.types import UNBOUND, Block, Constant, Operand, Statement, Variable
from autodiff_hook.records import record
from autodiff_hook.short_forms import EXPRESSIONS
from autodiff_hook.transform.specialise.bodies import Body, Load, Refused, copied, lifted


@record
class Instance:
    """One use of a rule: statements of the primal, its value, and what the pullback needs."""

    params: list[Variable]
    statements: list[Statement]
    value: Operand
    pullback: CodeType
    captured: list[Operand]
    globals: dict[str, Any]

    def again(self, given: Mapping[Operand, Operand]) -> Instance:
        """Another use, with operands ``given`` for the parameters."""
        own: dict[Any, Any] = dict(given)
        known = own.get
        statements = []
        for s in self.statements:
            operands = [known(x, x) for x in s.operands]
            if s.result is not None:
                own[s.result] = Variable(s.result.name)
            statements.append(Statement(s.op, operands, known(s.result), s.data, s.position))
        captured = [known(x, x) for x in self.captured]
        return Instance([], statements, known(self.value, self.value), self.pullback, captured, self.globals)


Loaded = tuple[dict[str, Any], str, Any]
"""A name that may be assigned again: where, the name, what it was."""


@record
class Template:
    """The body of a rule's function, from which copies are made."""

    code: CodeType
    body: Body | None
    loaded: list[Loaded]
    """The globals that are constants of it, and attributes of modules."""

    def holds(self) -> bool:
        """Whether the body is still what the function says."""
        for names, name, value in self.loaded:
            if names.get(name, UNBOUND) is not value:
                return False
        return True


_templates: Final[dict[tuple[int, int], Template]] = {}
_NOTHING: Final[Mapping[Operand, Operand]] = {}


def body_of(code: CodeType, globals_: dict[str, Any]) -> Body | None:
    """A copy of the body of a rule's function, which is made ready once in a process. None if it cannot be."""
    template = template_of(code, globals_)
    return None if template.body is None else again(template.body)


def template_of(code: CodeType, globals_: dict[str, Any]) -> Template:
    """What copies of the body are made from: another object once what it has loaded is assigned again."""
    known = _templates.get((id(code), id(globals_)))
    if known is None or known.code is not code or not known.holds():
        known = _templates[id(code), id(globals_)] = _made(code, globals_)
    return known


def _made(code: CodeType, globals_: dict[str, Any]) -> Template:
    template = Template(code, None, [])
    try:
        ir = lifted(code)
    except Refused:
        return template
    body = template.body = copied(ir, _loads(globals_, template.loaded))
    _look_up_at_calls(body.blocks)
    _fold_modules(body.blocks, template.loaded)
    _write_out(body, template.loaded)
    return template


def _loads(globals_: dict[str, Any], loaded: list[Loaded]) -> Load:
    """Globals of a rule's module, which are constants; what is ``loaded`` is noted."""

    def load(name: str) -> Operand | None:
        value = globals_.get(name, UNBOUND)
        loaded.append((globals_, name, value))
        if value is not UNBOUND:
            return Constant(value)
        builtins = globals_["__builtins__"]
        loaded.append((globals_, "__builtins__", builtins))
        names = builtins if isinstance(builtins, dict) else vars(builtins)
        return Constant(names[name]) if name in names else None

    return load


def again(body: Body, given: Mapping[Operand, Operand] = _NOTHING) -> Body:
    """The same statements with variables of their own, but for what is ``given`` for some."""
    own = dict(given)
    copies = copy_blocks(body.blocks, own)
    params = [[own[x] for x in those] for those in (body.params, body.frees)]
    return Body([*copies.values()], *params)  # type: ignore[arg-type]


_instances: Final[dict[int, tuple[Template, list[Any], Instance | None]]] = {}


def instance_of(rule: FunctionType) -> Instance | None:
    """What uses of ``rule`` are made of; None unless it is straight-line code that creates one pullback."""
    known = _instances.get(id(rule))
    contents = [cell.cell_contents for cell in rule.__closure__ or ()]
    template = template_of(rule.__code__, rule.__globals__)
    if known is None or known[0] is not template or any(a is not b for a, b in zip(known[1], contents)):
        known = _instances[id(rule)] = template, contents, _instance(rule, contents)
    return known[2]


def _instance(rule: FunctionType, contents: list[Any]) -> Instance | None:
    body = body_of(rule.__code__, rule.__globals__)
    if body is None or len(body.blocks) != 1:
        return None
    cells = Cells()
    cells.contents.update(zip(body.frees, map(Constant, contents)))
    block = body.blocks[0]
    statements = cells.promote(block)
    if statements is None or block.terminator.kind != "return":
        return None
    made = definitions(statements)
    pair = made.get(block.terminator.operands[0])
    if pair is None or pair.op != "build_tuple" or len(pair.operands) != 2:
        return None
    function = made.get(pair.operands[1])
    if function is None or function.op != "make_function" or not isinstance(function.data, CodeType):
        return None
    closure = made.get(function.operands[3])
    captured = [cells.content(c) for c in closure.operands] if closure is not None else []
    if any(c is None for c in captured):
        return None
    kept = [s for s in statements if s not in (pair, function, closure)]
    return Instance(
        body.params, kept, pair.operands[0], function.data, [c for c in captured if c is not None], rule.__globals__
    )


class Cells:
    """Closure cells that are assigned once, replaced by what they hold."""

    def __init__(self) -> None:
        self.contents: dict[Operand, Operand] = {}
        self.aliases: dict[Operand, Operand] = {}

    def content(self, cell: Operand) -> Operand | None:
        """What a cell holds; None if that is not known."""
        return self.contents.get(self.resolve(cell))

    def resolve(self, operand: Operand) -> Operand:
        """An operand without the cell accesses before it."""
        return resolve(operand, self.aliases)

    def promote(self, block: Block) -> list[Statement] | None:
        """The statements of a block without cells; None if a cell is assigned twice."""
        kept = []
        for s in block.statements:
            s.operands = [self.resolve(x) for x in s.operands]
            if s.op == "make_cell":
                value = s.operands[0]
                if not (isinstance(value, Constant) and value.value is UNBOUND):
                    self.contents[s.made] = value
            elif s.op == "cell_set":
                if s.operands[0] in self.contents:
                    return None
                self.contents[s.operands[0]] = s.operands[1]
            elif s.op == "cell_get":
                found = self.contents.get(s.operands[0])
                if found is None or s.result is None:
                    return None
                self.aliases[s.made] = found
            elif s.op == "check":
                self.aliases[s.made] = s.operands[0]
            else:
                kept.append(s)
        block.terminator.operands = [self.resolve(x) for x in block.terminator.operands]
        return kept


def _write_out(body: Body, loaded: list[Loaded]) -> None:
    """Let the bodies of expressions stand where these are called; what these have ``loaded`` is noted."""
    known: dict[Operand, Operand] = {}
    pending = list(body.blocks)
    while pending:
        block = pending.pop()
        statements, block.statements = block.statements, []
        for i, s in enumerate(statements):
            inner = _expression(s, loaded)
            if inner is None:
                block.statements.append(s)
                continue
            substitute(inner.blocks, dict(zip(inner.params, s.operands[1:])))
            first, *others = inner.blocks
            results = _take_apart(s, inner.blocks, statements, i + 1)
            block.statements += first.statements
            if others:
                rest = Block(results, statements[i + 1 :], block.terminator)
                block.terminator = first.terminator
                go_on_at(rest, [block, *others])
                body.blocks += [*others, rest]
                pending.append(rest)
                break
            known.update(zip(results, first.terminator.operands))
    substitute(body.blocks, known)


def _take_apart(s: Statement, inner: list[Block], statements: list[Statement], after: int) -> list[Variable]:
    """What gets the results of a call that is written out: its items, if it returns displays that are unpacked at once.

    ``statements`` lose the unpacking, and ``inner`` returns the items.
    """
    unpack, *rest = statements[after:] or [s]
    if unpack.op != "unpack" or unpack.operands[0] is not s.result or unpack.data[1] is not None:
        return [s.made]
    count = unpack.data[0]
    items = {x.data: x.made for x in rest[:count] if x.op == "project" and x.operands[0] is unpack.result}
    returns = [b for b in inner if b.terminator.kind == "return"]
    displays = [_display(b, count) for b in returns]
    if len(items) < count or None in displays:
        return [s.made]
    for block, made in zip(returns, displays):
        assert made is not None
        block.statements.remove(made)
        block.terminator.operands = made.operands
    del statements[after : after + 1 + count]
    return [items[i] for i in range(count)]


def _display(block: Block, count: int) -> Statement | None:
    """What makes the tuple of so many items that a block returns."""
    (value,) = block.terminator.operands
    made = next((s for s in block.statements if s.result is value), None)
    return made if made is not None and made.op == "build_tuple" and len(made.operands) == count else None


def compute_once(body: Body) -> None:
    """Of equal operations in a block the first alone is left: partial derivatives have common parts."""
    known: dict[Operand, Operand] = {}
    for block in body.blocks:
        share(block, _key, known)
    substitute(body.blocks, known)


def _key(s: Statement) -> Any:
    return (s.op, s.data, *map(key_of, s.operands)) if _is_operation(s) else None


def _is_operation(s: Statement) -> bool:
    function = s.callee
    return s.op in ("binary", "unary", "compare") or type(function).__name__ == "ufunc" and not s.data


def _expression(s: Statement, loaded: list[Loaded]) -> Body | None:
    """The body of the expression that a statement calls, if it can be written out."""
    function = None if s.data else s.callee
    if type(function) is not FunctionType or function not in EXPRESSIONS or s.result is None:
        return None
    template = template_of(function.__code__, function.__globals__)
    loaded += template.loaded
    body = None if template.body is None else again(template.body)
    if body is None or body.frees or len(body.params) != len(s.operands) - 1:
        return None
    kinds = {b.terminator.kind for b in body.blocks}
    loops = any(edge.target is body.blocks[0] for b in body.blocks for edge in b.edges())
    makes = any(s.op in _MAKING for s in statements_of(body.blocks))
    return body if kinds <= {"jump", "branch", "return"} and not loops and not makes else None


_MAKING: Final = frozenset({"make_cell", "make_function", "cell_set", "cell_get", "yield", "get_iter"})


def _look_up_at_calls(blocks: list[Block]) -> None:
    """Rules only compute: no argument changes what a method is."""
    lookups = definitions(s for s in statements_of(blocks) if s.op == "load_method")
    for block in blocks:
        for s in block.statements:
            if s.op == "call_loaded":
                lookup = lookups[s.operands[0]]
                s.op, s.operands, s.data = "call_method", [*lookup.operands, *s.operands[1:]], (lookup.data, s.data)
        block.statements = [s for s in block.statements if s.op != "load_method"]


def _fold_modules(blocks: list[Block], loaded: list[Loaded]) -> None:
    """Attributes of modules are constants in the code of rules; what is ``loaded`` is noted."""

    def attribute(owner: Any, name: str) -> Constant:
        if isinstance(owner, ModuleType):
            loaded.append((vars(owner), name, vars(owner).get(name, UNBOUND)))
        return Constant(getattr(owner, name))

    known: dict[Operand, Operand] = {}
    for block in blocks:
        kept = []
        for s in block.statements:
            s.operands = [known.get(x, x) for x in s.operands]
            owner = s.operands[0].value if s.operands and isinstance(s.operands[0], Constant) else None
            if isinstance(owner, ModuleType) or type(owner).__name__ == "ufunc":
                if s.op == "getattr" and s.result is not None:
                    known[s.result] = attribute(owner, str(s.data))
                    continue
                if s.op == "call_method":
                    s.op, s.operands = "call", [attribute(owner, s.data[0]), *s.operands[1:]]
                    s.data = s.data[1]
            kept.append(s)
        block.statements = kept
    substitute(blocks, known)
