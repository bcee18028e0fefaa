"""The opcodes of each version of CPython, and what they mean."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.lift import control, values
from autodiff_hook.lift.abstract import NULL, Machine, Meaning
from autodiff_hook.lift.base import BASE
from autodiff_hook.lift.since314 import SINCE_314, SINCE_315
from autodiff_hook.lift.values import CLASS_BODIES_311, CLASS_BODIES_SINCE_312

# 3.11


def _load_fast_unless_unbound(m: Machine, slot: int) -> None:
    (values.load_fast if m.certainly_bound(slot) else values.load_fast_check)(m, slot)


def _load_attr_311(m: Machine, arg: int) -> None:
    m.perform("getattr", m.pop(), data=m.names[arg])


def _load_method(m: Machine, arg: int) -> None:
    control.push_method(m, m.names[arg])


def _compare_311(m: Machine, arg: int) -> None:
    m.perform("compare", *m.pop_many(2), data=values.COMPARISONS[arg])


def _jump_or_pop(sense: bool) -> Meaning:
    def meaning(m: Machine, arg: int) -> None:
        condition = m.truth(m.peek())
        edges = [m.edge(m.target), m.edge(m.instruction.following, drop=1)]
        m.terminate("branch", [condition], edges if sense else edges[::-1])

    return meaning


def _for_iter_311(m: Machine, arg: int) -> None:
    iterator = m.peek()
    m.terminate("next", [iterator], [m.receiving_edge(m.instruction.following), m.edge(m.target, drop=1)])


def _send_311(m: Machine, arg: int) -> None:
    value = m.pop()
    edges = [m.receiving_edge(m.instruction.following), m.receiving_edge(m.target, drop=1)]
    m.terminate("send", [m.peek(), value], edges)


# 3.11 and 3.12


def _load_global_null_below(m: Machine, arg: int) -> None:
    if arg & 1:
        m.push_marker(NULL)
    m.perform("global", data=m.names[arg >> 1])


def _keyword_names(m: Machine, arg: int) -> None:
    m.keyword_names = m.code.co_consts[arg]


def _call(m: Machine, count: int) -> None:
    keywords, m.keyword_names = m.keyword_names, ()
    control.invoke(m, count, keywords)


def _format_value(m: Machine, flags: int) -> None:
    value, *spec = m.pop_many(2 if flags & 4 else 1)
    m.perform("format", value, *spec, data=values.CONVERSIONS[flags & 3])


def _dict_merge(above: int) -> Meaning:
    """``above`` is how many slots lie from the callable to the mapping."""

    def meaning(m: Machine, depth: int) -> None:
        update = m.pop()
        m.effect("dict_merge", m.peek(depth), update, m.peek(depth + above))

    return meaning


# 3.12 and later


def _load_attr(m: Machine, arg: int) -> None:
    if arg & 1:
        control.push_method(m, m.names[arg >> 1])
    else:
        _load_attr_311(m, arg >> 1)


def _load_super_attr(m: Machine, arg: int) -> None:
    function, *args = m.pop_many(3)
    m.perform("call", function, *args, data=())
    _load_attr(m, arg >> 1 & ~1 | arg & 1)


def _compare_312(m: Machine, arg: int) -> None:
    _compare_311(m, arg >> 4)


def _for_iter(m: Machine, arg: int) -> None:
    iterator = m.peek()
    m.terminate("next", [iterator], [m.receiving_edge(m.instruction.following), m.edge(m.target, junk=1)])


def _end_for_312(m: Machine, arg: int) -> None:
    m.drop()
    m.drop()


def _send(m: Machine, arg: int) -> None:
    value = m.pop()
    m.terminate("send", [m.peek(), value], [m.receiving_edge(m.instruction.following), m.receiving_edge(m.target)])


def _end_send(m: Machine, arg: int) -> None:
    value = m.pop()
    m.drop()
    m.push(value)


def _return_const(m: Machine, arg: int) -> None:
    m.terminate("return", [Constant(m.code.co_consts[arg])])


def _binary_slice(m: Machine, arg: int) -> None:
    container, *bounds = m.pop_many(3)
    m.perform("getitem", container, m.emit("build_slice", *bounds))


def _store_slice(m: Machine, arg: int) -> None:
    value, container, *bounds = m.pop_many(4)
    m.effect("setitem", container, m.emit("build_slice", *bounds), value)


_NAMED_INTRINSICS: Final = {5: ("unary", "+"), 6: ("list_to_tuple", None)}
_PREP_RERAISE_STAR: Final = 1
_ASYNC_GEN_WRAP: Final = 4


def _intrinsic_1(m: Machine, number: int) -> None:
    name, data = _NAMED_INTRINSICS.get(number, ("intrinsic", number))
    m.perform(name, m.pop(), data=data)


def _intrinsic_2(m: Machine, number: int) -> None:
    operands = m.pop_many(2)
    if number == _PREP_RERAISE_STAR:
        m.perform("prep_reraise_star", *operands)
    else:
        m.perform("intrinsic", *operands, data=number)


# 3.13 and later


def _load_global_null_above(m: Machine, arg: int) -> None:
    m.perform("global", data=m.names[arg >> 1])
    if arg & 1:
        m.push_marker(NULL)


def _call_kw(m: Machine, count: int) -> None:
    names = m.pop_constant()
    control.invoke(m, count, names)


def _compare_313(m: Machine, arg: int) -> None:
    _compare_311(m, arg >> 5)
    if arg & 16:
        m.push(m.truth(m.pop()))


def _to_bool(m: Machine, arg: int) -> None:
    if m.upcoming is None or m.upcoming.name != "UNARY_NOT":
        m.push(m.truth(m.pop()))


_FUNCTION_PARTS: Final = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4}


def _set_function_attribute(m: Machine, flag: int) -> None:
    value, function = m.pop_many(2)
    _maker(m, function).operands[_FUNCTION_PARTS[flag]] = value
    m.push(function)


def _maker(m: Machine, function: Operand) -> Statement:
    made = m.made.get(function) if isinstance(function, Variable) else None
    if made is None or made.op != "make_function":
        m.refuse("a function that is completed far from where it is made")
    return made


def _convert_value(m: Machine, arg: int) -> None:
    m.perform("format", m.pop(), data=values.CONVERSIONS[arg])


def _format_simple(m: Machine, arg: int) -> None:
    value = m.pop()
    made = m.made.get(value) if isinstance(value, Variable) else None
    if made is not None and made.op == "format":
        m.push(value)
    else:
        m.perform("format", value, data="")


_BELOW_315: Final[dict[str, Meaning]] = {"GET_YIELD_FROM_ITER": values.operation("yield_from_iter", 1)}

_BELOW_314: Final[dict[str, Meaning]] = {
    **_BELOW_315,
    "LOAD_ASSERTION_ERROR": lambda m, arg: m.push(Constant(AssertionError)),
    "BINARY_SUBSCR": values.operation("getitem", 2),
    "BUILD_CONST_KEY_MAP": values.build_const_key_map,
    "BEFORE_WITH": values.pair("enter", 1),
    "BEFORE_ASYNC_WITH": values.pair("enter_async", 1),
}

_BELOW_313: Final[dict[str, Meaning]] = {
    **_BELOW_314,
    "LOAD_CLOSURE": values.load_closure,
    "LOAD_GLOBAL": _load_global_null_below,
    "KW_NAMES": _keyword_names,
    "CALL": _call,
    "DICT_MERGE": _dict_merge(2),
    "FORMAT_VALUE": _format_value,
}

_SINCE_312: Final[dict[str, Meaning]] = {
    **CLASS_BODIES_SINCE_312,
    "LOAD_FAST_CHECK": values.load_fast_check,
    "LOAD_FAST_AND_CLEAR": values.load_fast_and_clear,
    "LOAD_ATTR": _load_attr,
    "LOAD_SUPER_ATTR": _load_super_attr,
    "BINARY_SLICE": _binary_slice,
    "STORE_SLICE": _store_slice,
    "CALL_INTRINSIC_1": _intrinsic_1,
    "CALL_INTRINSIC_2": _intrinsic_2,
    "FOR_ITER": _for_iter,
    "SEND": _send,
    "END_SEND": _end_send,
    "CLEANUP_THROW": values.pair("cleanup_throw", 3),
    "POP_JUMP_IF_TRUE": control.jump_if(True),
    "POP_JUMP_IF_FALSE": control.jump_if(False),
    "POP_JUMP_IF_NONE": control.jump_if_none(True),
    "POP_JUMP_IF_NOT_NONE": control.jump_if_none(False),
}

_DIALECT_311: Final[dict[str, Meaning]] = {
    **BASE,
    **_BELOW_313,
    **CLASS_BODIES_311,
    "LOAD_FAST": _load_fast_unless_unbound,
    "LOAD_ATTR": _load_attr_311,
    "LOAD_METHOD": _load_method,
    "PRECALL": values.skip,
    "COMPARE_OP": _compare_311,
    "UNARY_POSITIVE": values.operation("unary", 1, "+"),
    "LIST_TO_TUPLE": values.operation("list_to_tuple", 1),
    "PREP_RERAISE_STAR": values.operation("prep_reraise_star", 2),
    "ASYNC_GEN_WRAP": values.operation("intrinsic", 1, _ASYNC_GEN_WRAP),
    "FOR_ITER": _for_iter_311,
    "SEND": _send_311,
    "JUMP_IF_TRUE_OR_POP": _jump_or_pop(True),
    "JUMP_IF_FALSE_OR_POP": _jump_or_pop(False),
    **{f"POP_JUMP_{way}_IF_TRUE": control.jump_if(True) for way in ("FORWARD", "BACKWARD")},
    **{f"POP_JUMP_{way}_IF_FALSE": control.jump_if(False) for way in ("FORWARD", "BACKWARD")},
    **{f"POP_JUMP_{way}_IF_NONE": control.jump_if_none(True) for way in ("FORWARD", "BACKWARD")},
    **{f"POP_JUMP_{way}_IF_NOT_NONE": control.jump_if_none(False) for way in ("FORWARD", "BACKWARD")},
}

_DIALECT_312: Final[dict[str, Meaning]] = {
    **BASE,
    **_BELOW_313,
    **_SINCE_312,
    "RETURN_CONST": _return_const,
    "COMPARE_OP": _compare_312,
    "END_FOR": _end_for_312,
}

_SINCE_313: Final[dict[str, Meaning]] = {
    **_SINCE_312,
    "LOAD_FAST_LOAD_FAST": values.both(values.load_fast, values.load_fast),
    "STORE_FAST_LOAD_FAST": values.both(values.store_fast, values.load_fast),
    "STORE_FAST_STORE_FAST": values.both(values.store_fast, values.store_fast),
    "LOAD_GLOBAL": _load_global_null_above,
    "CALL": control.invoke,
    "CALL_KW": _call_kw,
    "DICT_MERGE": _dict_merge(3),
    "COMPARE_OP": _compare_313,
    "TO_BOOL": _to_bool,
    "SET_FUNCTION_ATTRIBUTE": _set_function_attribute,
    "CONVERT_VALUE": _convert_value,
    "FORMAT_SIMPLE": _format_simple,
    "FORMAT_WITH_SPEC": values.operation("format", 2, ""),
    "END_FOR": values.pop_top,
}

_DIALECT_313: Final[dict[str, Meaning]] = {**BASE, **_BELOW_314, **_SINCE_313, "RETURN_CONST": _return_const}
_DIALECT_314: Final[dict[str, Meaning]] = {**BASE, **_BELOW_315, **_SINCE_313, **SINCE_314}
_DIALECT_315: Final[dict[str, Meaning]] = {**BASE, **_SINCE_313, **SINCE_314, **SINCE_315}

_DIALECTS: Final = {
    (3, 11): _DIALECT_311,
    (3, 12): _DIALECT_312,
    (3, 13): _DIALECT_313,
    (3, 14): _DIALECT_314,
    (3, 15): _DIALECT_315,
}


def dialect(version: tuple[int, int] = sys.version_info[:2]) -> Mapping[str, Meaning]:
    """The meanings of the opcodes of a version of CPython."""
    if version not in _DIALECTS:
        first, last = (f"{major}.{minor}" for major, minor in (min(_DIALECTS), max(_DIALECTS)))
        here = f"{version[0]}.{version[1]}"
        raise Unsupported(f"CPython {here}: autodiff_hook reads the bytecode of {first} to {last}")
    return _DIALECTS[version]
