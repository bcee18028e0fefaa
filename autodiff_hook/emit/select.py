"""Instruction selection: what each operation of the IR takes from the stack and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from autodiff_hook.emit import helpers, versions
from autodiff_hook.emit.graph import Step
from autodiff_hook.emit.items import FORGET, NO_ARG, CellVar, Entry, FreeVar, Label, Mark, Null, Op, Pending
from autodiff_hook.emit.versions import Code
from autodiff_hook.ir.types import UNBOUND, Constant, Operand, Position, Variable, is_nothing
from autodiff_hook.records import record

Cells = dict[Variable, CellVar | FreeVar]


@record(eq=False)
class Selection:
    """Operands to push (first lowest), then instructions; ``values`` of the results remain on the stack."""

    operands: list[Entry]
    codes: list[Code | Label]
    values: int = 1


Selector = Callable[[Step, "Context"], Selection]


@record
class Context:
    """What selection must know beyond the statement."""

    cells: Cells
    casts: set[Variable]
    bools: set[Variable]
    end_sends: dict[Step, Label]


def _coded(codes: Callable[[Step], Iterable[Code]], order: tuple[int, ...] | None = None, values: int = 1) -> Selector:
    """Instructions that need nothing but the statement, whose operands are pushed as they are, or in an ``order``."""

    def select(step: Step, context: Context) -> Selection:
        operands = step.operands
        pushed: list[Entry] = [operands[i] for i in order] if order is not None else list(operands)
        return Selection(pushed, [*codes(step)], values)

    return select


def _fixed(*codes: Code, order: tuple[int, ...] | None = None, values: int = 1) -> Selector:
    return _coded(lambda step: codes, order, values)


def _named(opcode: str, order: tuple[int, ...] | None = None, values: int = 1, drop: int = 0) -> Selector:
    return _coded(lambda step: [(opcode, step.data), *_drop_below(drop)], order, values)


def _sized(opcode: str, each: int = 1) -> Selector:
    return _coded(lambda step: [(opcode, len(step.operands) // each)])


def _drop_below(count: int) -> list[Code]:
    """Drop ``count`` values below the top."""
    return [("SWAP", count + 1), *([("POP_TOP", NO_ARG)] * count)] if count else []


def _simple(opcode: str, arg: Any = NO_ARG, drop: int = 0, values: int = 1) -> Selector:
    return _fixed((opcode, arg), *_drop_below(drop), values=values)


def _call(step: Step, context: Context) -> Selection:
    function, *arguments = step.operands
    return Selection([*versions.callable_and_null(function), *arguments], [*versions.call(len(arguments), step.data)])


def _call_method(step: Step, context: Context) -> Selection:
    receiver, *arguments = step.operands
    name, names = step.data if isinstance(step.data, tuple) else (step.data, None)
    lookup = Pending([Op(*versions.method(name), step.position)])
    return Selection([receiver, lookup, *arguments], [*versions.call(len(arguments), names)])


def _call_ex(step: Step, context: Context) -> Selection:
    function, arguments, keywords = step.operands
    pushed, code = versions.call_unpacked(function, arguments, keywords)
    return Selection([*pushed], [code])


def _dict_merge(step: Step, context: Context) -> Selection:
    target, mapping, function = step.operands
    padding = versions.merge_padding(function)
    return Selection([*padding, target, mapping], [("DICT_MERGE", 1), *_drop_below(len(padding))])


def _unpack(step: Step, context: Context) -> Selection:
    before, after = step.data
    if after is None:
        return Selection(list(step.operands), [("UNPACK_SEQUENCE", before)], before)
    return Selection(list(step.operands), [("UNPACK_EX", before | after << 8)], before + 1 + after)


def _project(step: Step, context: Context) -> Selection:
    return Selection([*step.operands, Constant(step.data)], [versions.SUBSCRIPT])


def _unary(step: Step, context: Context) -> Selection:
    plain = {"-": "UNARY_NEGATIVE", "~": "UNARY_INVERT"}.get(step.data)
    return Selection(list(step.operands), [(plain, NO_ARG)] if plain else [*versions.intrinsic(5, 1)])


def is_bool(operand: Operand, context: Context) -> bool:
    """Whether the value is known to be an exact bool when it is on the stack."""
    if isinstance(operand, Constant):
        return isinstance(operand.value, bool)
    return operand in context.bools or operand in context.casts


def _not(step: Step, context: Context) -> Selection:
    test = [] if is_bool(step.operands[0], context) else versions.truth_test()
    return Selection(list(step.operands), [*test, ("UNARY_NOT", NO_ARG)])


def _truth(step: Step, context: Context) -> Selection:
    operand = step.operands[0]
    return Selection([operand], [] if is_bool(operand, context) and versions.EXACT_TRUTH else [*versions.truth()])


def _binary(inplace: bool) -> Selector:
    return _coded(lambda step: [versions.binary(step.data, inplace)])


def _compare(step: Step, context: Context) -> Selection:
    cast = bool(step.results) and step.results[0] in context.casts
    return Selection(list(step.operands), [versions.compare(step.data, cast)])


def _make_function(step: Step, context: Context) -> Selection:
    present = [(operand, flag) for operand, flag in zip(step.operands, (1, 2, 4, 8, 16)) if not is_nothing(operand)]
    return Selection([x for x, _ in present], [*versions.make_function(step.data, [flag for _, flag in present])])


def _get_iter(step: Step, context: Context) -> Selection:
    needless = step.data is not None and versions.CHECKED_LOOPS
    return Selection(list(step.operands), [] if needless else [("GET_ITER", NO_ARG)])


def _exit_call(step: Step, context: Context) -> Selection:
    pushed, codes = versions.exit_call(*step.operands)
    return Selection([*pushed], [*codes])


def _enter(asynchronous: bool) -> Selector:
    return _coded(lambda step: versions.enter(asynchronous), values=2)


def _end_async_for(step: Step, context: Context) -> Selection:
    return Selection(list(step.operands), [versions.end_async_for(context.end_sends[step])], 0)


def _yield(step: Step, context: Context) -> Selection:
    data = step.data
    if data is not None and data[1] & 3 >= 2:
        data = None  # delegation elsewhere than after a send would make CPython look for a receiver
    return Selection(list(step.operands), [*versions.suspend(data, False)])


def _check(step: Step, context: Context) -> Selection:
    bound = Label()
    message = f"cannot access local variable '{step.data}' where it is not associated with a value"
    failing = [_push(x) for x in versions.callable_and_null(Constant(UnboundLocalError))]
    codes: list[Code | Label] = [
        ("LOAD_CONST", UNBOUND),
        ("IS_OP", 1),
        (versions.conditional_jump("TRUE", True) or "", bound),
        *versions.not_taken(),
        *failing,
        ("LOAD_CONST", message),
        *versions.call(1, None),
        ("RAISE_VARARGS", 1),
        bound,
    ]
    return Selection(list(step.operands), codes, 0)


def _push(value: Operand | Null) -> Code:
    return ("LOAD_CONST", value.value) if isinstance(value, Constant) else ("PUSH_NULL", NO_ARG)


def _cell_operation(opcode: str, helper: Callable[..., Any], values: int) -> Selector:
    def select(step: Step, context: Context) -> Selection:
        cell, *rest = step.operands
        native = context.cells.get(cell) if isinstance(cell, Variable) else None
        if native is not None:
            return Selection([*rest], [(opcode, native)], values)
        callee = versions.callable_and_null(Constant(helper))
        codes: list[Code | Label] = [*versions.call(2 + len(rest), None)]
        if not values:
            codes.append(("POP_TOP", NO_ARG))
        return Selection([*callee, cell, Constant(step.data), *rest], codes, values)

    return select


def _make_cell(step: Step, context: Context) -> Selection:
    value = step.operands[0]
    native = context.cells.get(step.results[0]) if step.results else None
    if native is not None:
        if isinstance(value, Constant) and value.value is UNBOUND:
            return Selection([], [], 0)
        return Selection([value], [("STORE_DEREF", native)], 0)
    return Selection([*versions.callable_and_null(Constant(helpers.make_cell)), value], [*versions.call(1, None)])


_SELECTORS: Final[dict[str, Selector]] = {
    "global": lambda step, context: Selection([], [("LOAD_GLOBAL", (False, step.data))]),
    "store_global": _named("STORE_GLOBAL", values=0),
    "delete_global": _named("DELETE_GLOBAL", values=0),
    "check": _check,
    "make_cell": _make_cell,
    "cell_get": _cell_operation("LOAD_DEREF", helpers.cell_get, 1),
    "cell_set": _cell_operation("STORE_DEREF", helpers.cell_set, 0),
    "cell_del": _cell_operation("DELETE_DEREF", helpers.cell_del, 0),
    "getattr": _coded(lambda step: [versions.attribute(step.data)]),
    "load_method": _coded(lambda step: [versions.attribute(step.data)]),
    "setattr": _named("STORE_ATTR", order=(1, 0), values=0),
    "delattr": _named("DELETE_ATTR", values=0),
    "getitem": _simple(*versions.SUBSCRIPT),
    "setitem": _fixed(("STORE_SUBSCR", NO_ARG), order=(2, 0, 1), values=0),
    "delitem": _simple("DELETE_SUBSCR", values=0),
    "unary": _unary,
    "not": _not,
    "truth": _truth,
    "binary": _binary(False),
    "inplace": _binary(True),
    "compare": _compare,
    "is": _simple("IS_OP", 0),
    "is_not": _simple("IS_OP", 1),
    "in": _simple("CONTAINS_OP", 0),
    "not_in": _simple("CONTAINS_OP", 1),
    "call": _call,
    "call_method": _call_method,
    "call_loaded": _call,
    "call_ex": _call_ex,
    "build_tuple": _sized("BUILD_TUPLE"),
    "build_list": _sized("BUILD_LIST"),
    "build_set": _sized("BUILD_SET"),
    "build_map": _sized("BUILD_MAP", each=2),
    "build_slice": _sized("BUILD_SLICE"),
    "build_string": _sized("BUILD_STRING"),
    "list_append": _simple("LIST_APPEND", 1),
    "set_add": _simple("SET_ADD", 1),
    "map_add": _simple("MAP_ADD", 1),
    "list_extend": _simple("LIST_EXTEND", 1),
    "set_update": _simple("SET_UPDATE", 1),
    "dict_update": _simple("DICT_UPDATE", 1),
    "dict_merge": _dict_merge,
    "list_to_tuple": _fixed(*versions.intrinsic(6, 1)),
    "unpack": _unpack,
    "project": _project,
    "format": _coded(lambda step: versions.formatting(step.data or "", len(step.operands) > 1)),
    "get_iter": _get_iter,
    "forget": _simple(FORGET, values=0),
    "get_len": _simple("GET_LEN", drop=1),
    "make_function": _make_function,
    "build_class_function": _simple("LOAD_BUILD_CLASS"),
    "import_name": _named("IMPORT_NAME"),
    "import_from": _named("IMPORT_FROM", drop=1),
    "push_exc": _fixed(("PUSH_EXC_INFO", NO_ARG), ("POP_TOP", NO_ARG)),
    "pop_exc": _simple("POP_EXCEPT", values=0),
    "exc_match": _simple("CHECK_EXC_MATCH", drop=1),
    "eg_match": _simple("CHECK_EG_MATCH", values=2),
    "prep_reraise_star": _fixed(*versions.intrinsic(1, 2)),
    "enter": _enter(False),
    "exit_call": _exit_call,
    "yield": _yield,
    "yield_from_iter": _simple("GET_YIELD_FROM_ITER"),
    "cleanup_throw": _simple("CLEANUP_THROW", values=2),
    "match_mapping": _simple("MATCH_MAPPING", drop=1),
    "match_sequence": _simple("MATCH_SEQUENCE", drop=1),
    "match_keys": _simple("MATCH_KEYS", drop=2),
    "match_class": _named("MATCH_CLASS"),
    "awaitable": _named("GET_AWAITABLE"),
    "aiter": _simple("GET_AITER"),
    "anext": _simple("GET_ANEXT", drop=1),
    "end_async_for": _end_async_for,
    "enter_async": _enter(True),
    "intrinsic": _coded(lambda step: versions.intrinsic(step.data, len(step.operands))),
}


def select(step: Step, context: Context) -> Selection:
    """The instructions of one statement."""
    return _SELECTORS[step.op](step, context)


def to_items(codes: list[Code | Label], position: Position | None) -> list[Op | Mark]:
    """Instructions with the position of their statement."""
    return [Mark(code) if isinstance(code, Label) else Op(code[0], code[1], position) for code in codes]
