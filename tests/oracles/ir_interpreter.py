"""The meaning of the IR, written down as directly as possible: the reference for tests of passes.

It runs functions of kind "function". Exceptions are handled for real: between ``push_exc`` and
``pop_exc`` a bare ``raise`` finds the exception, although ``sys.exc_info()`` does not show it.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Mapping, Sequence
from types import CellType, FunctionType
from typing import Any, Final

from autodiff_hook.ir.types import HANDLER_RECEIVED, IR, UNBOUND, Block, Constant, Edge, Operand, Statement, Variable

_BINARY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_INPLACE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "@": operator.imatmul,
    "<<": operator.ilshift,
    ">>": operator.irshift,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
}
_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
_UNARY: Final[dict[str, Callable[[Any], Any]]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}


def interpret(
    ir: IR,
    arguments: Mapping[str, Any] | Sequence[Any],
    globals_: dict[str, Any],
    cells: Sequence[CellType] = (),
) -> Any:
    """Run ``ir``: one argument for each parameter (``*args`` is a tuple), one cell for each free variable."""
    if ir.kind != "function":
        raise NotImplementedError(f"the interpreter does not run a {ir.kind}")
    values = [arguments[n] for n in ir.signature.names] if isinstance(arguments, Mapping) else list(arguments)
    return _Frame(ir, globals_).run([*values, *cells])


class _Frame:
    def __init__(self, ir: IR, globals_: dict[str, Any]) -> None:
        self._ir = ir
        self._globals = globals_
        self._values: dict[Variable, Any] = {}
        self._handled: list[Any] = [None]

    def run(self, arguments: list[Any]) -> Any:
        block: Block = self._ir.entry
        self._values.update(zip(block.params, arguments, strict=True))
        while True:
            try:
                edge, received = self._block(block)
            except BaseException as error:
                if block.handler is None:
                    raise
                edge, received = block.handler, [error, None]
            if edge is None:
                return received[0]
            block = self._enter(edge, received)

    def _enter(self, edge: Edge, received: list[Any]) -> Block:
        args = [self._value(x) for x in edge.args]
        assert len(received) in (0, 1, HANDLER_RECEIVED)
        self._values.update(zip(edge.target.params, [*received, *args], strict=True))
        return edge.target

    def _value(self, operand: Operand) -> Any:
        return operand.value if isinstance(operand, Constant) else self._values[operand]

    def _block(self, block: Block) -> tuple[Edge | None, list[Any]]:
        for statement in block.statements:
            result = self._statement(statement, [self._value(x) for x in statement.operands])
            if statement.result is not None:
                self._values[statement.result] = result
        terminator = block.terminator
        operands = [self._value(x) for x in terminator.operands]
        edges = terminator.edges
        match terminator.kind:
            case "jump":
                return edges[0], []
            case "branch":
                return edges[0] if operands[0] is True else edges[1], []
            case "next":
                item = next(operands[0], UNBOUND)
                return (edges[1], []) if item is UNBOUND else (edges[0], [item])
            case "return":
                return None, operands
            case "raise":
                self._raise(operands)
            case "reraise":
                raise operands[0]
        raise NotImplementedError(terminator.kind)

    def _raise(self, operands: list[Any]) -> None:
        if not operands:
            if self._handled[-1] is None:
                raise RuntimeError("No active exception to reraise")
            raise self._handled[-1]
        if len(operands) == 2:
            raise operands[0] from operands[1]
        raise operands[0]

    def _statement(self, statement: Statement, operands: list[Any]) -> Any:
        simple = _SIMPLE.get(statement.op)
        if simple is not None:
            return simple(statement.data, *operands)
        method: Callable[..., Any] | None = getattr(self, f"_do_{statement.op}", None)
        if method is None:
            raise NotImplementedError(statement.op)
        return method(statement.data, *operands)

    def _do_global(self, name: str) -> Any:
        if name in self._globals:
            return self._globals[name]
        scope = self._globals.get("__builtins__", builtins)
        scope = scope if isinstance(scope, dict) else vars(scope)
        if name in scope:
            return scope[name]
        raise NameError(f"name '{name}' is not defined", name=name)

    def _do_store_global(self, name: str, value: Any) -> None:
        self._globals[name] = value

    def _do_delete_global(self, name: str) -> None:
        if name not in self._globals:
            raise NameError(f"name '{name}' is not defined", name=name)
        del self._globals[name]

    def _do_make_function(self, code: Any, defaults: Any, keywords: Any, annotations: Any, *rest: Any) -> Any:
        closure, annotate = rest
        function = FunctionType(code, self._globals, code.co_name, defaults, closure)
        function.__kwdefaults__ = keywords
        if annotations:
            function.__annotations__ = dict(zip(annotations[::2], annotations[1::2]))
        if annotate is not None:
            function.__annotate__ = annotate  # type: ignore[attr-defined, unused-ignore]
        return function

    def _do_import_name(self, name: str, level: int, fromlist: Any) -> Any:
        return self._do_global("__import__")(name, self._globals, None, fromlist, level)

    def _do_push_exc(self, data: Any, error: BaseException) -> Any:
        self._handled.append(error)
        return self._handled[-2]

    def _do_pop_exc(self, data: Any, previous: Any) -> None:
        self._handled.pop()

    def _do_cell_get(self, name: str, cell: CellType) -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            if name in self._ir.free_names:
                message = (
                    f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
                )
                raise NameError(message) from None
            raise UnboundLocalError(_UNBOUND_MESSAGE.format(name)) from None

    def _do_cell_del(self, name: str, cell: CellType) -> None:
        self._do_cell_get(name, cell)
        del cell.cell_contents


_UNBOUND_MESSAGE: Final = "cannot access local variable '{}' where it is not associated with a value"


def _check(name: str, value: Any) -> Any:
    if value is UNBOUND:
        raise UnboundLocalError(_UNBOUND_MESSAGE.format(name))
    return value


def _call(names: tuple[str, ...] | None, function: Any, *arguments: Any) -> Any:
    count = len(arguments) - len(names or ())
    return function(*arguments[:count], **dict(zip(names or (), arguments[count:])))


def _call_method(data: Any, receiver: Any, *arguments: Any) -> Any:
    name, names = data if isinstance(data, tuple) else (data, None)
    return _call(names, getattr(receiver, name), *arguments)


def _unpack(data: tuple[int, int | None], sequence: Any) -> tuple[Any, ...]:
    before, after = data
    items: list[Any] = []
    iterator = iter(sequence)
    for item in iterator:
        items.append(item)
        if after is None and len(items) > before:
            raise ValueError(f"too many values to unpack (expected {before})")
    wanted = before + (after or 0)
    if len(items) < wanted:
        least = "at least " if after is not None else ""
        raise ValueError(f"not enough values to unpack (expected {least}{wanted}, got {len(items)})")
    if after is None:
        return tuple(items)
    end = len(items) - after
    return (*items[:before], items[before:end], *items[end:])


def _dict_merge(data: Any, target: dict[str, Any], mapping: Any, function: Any) -> None:
    for key in mapping:
        if key in target:
            name = getattr(function, "__qualname__", function)
            raise TypeError(f"{name}() got multiple values for keyword argument '{key}'")
    target.update(mapping)


def _format(conversion: str | None, value: Any, spec: str = "") -> str:
    convert: dict[str, Callable[[Any], Any]] = {"s": str, "r": repr, "a": ascii}
    return format(convert[conversion](value) if conversion else value, spec)


def _enter(data: Any, manager: Any) -> tuple[Any, Any]:
    leave = type(manager).__exit__
    value = type(manager).__enter__(manager)
    return leave.__get__(manager, type(manager)), value


def _import_from(name: str, module: Any) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        raise ImportError(f"cannot import name {name!r} from {module.__name__!r}") from None


def _match_class(count: int, subject: Any, cls: Any, names: tuple[str, ...]) -> Any:
    if not isinstance(subject, cls):
        return None
    if count and cls in (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple):
        return (subject, *(getattr(subject, n) for n in names))
    fields = (*getattr(cls, "__match_args__", ())[:count], *names)
    return tuple(getattr(subject, n) for n in fields) if all(hasattr(subject, n) for n in fields) else None


def _match_keys(data: Any, subject: Any, keys: tuple[Any, ...]) -> Any:
    return tuple(subject[k] for k in keys) if all(k in subject for k in keys) else None


def _exc_match(data: Any, error: BaseException, types: Any) -> bool:
    for kind in types if isinstance(types, tuple) else (types,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    return isinstance(error, types)


_SEQUENCE: Final = 1 << 5
_MAPPING: Final = 1 << 6
_SIMPLE: Final[dict[str, Callable[..., Any]]] = {
    "check": _check,
    "make_cell": lambda data, value: CellType() if value is UNBOUND else CellType(value),
    "cell_set": lambda name, cell, value: setattr(cell, "cell_contents", value),
    "getattr": lambda name, o: getattr(o, name),
    "setattr": lambda name, o, v: setattr(o, name, v),
    "delattr": lambda name, o: delattr(o, name),
    "getitem": lambda data, o, k: o[k],
    "setitem": lambda data, o, k, v: operator.setitem(o, k, v),
    "delitem": lambda data, o, k: operator.delitem(o, k),
    "unary": lambda data, x: _UNARY[data](x),
    "not": lambda data, x: not x,
    "truth": lambda data, x: bool(x),
    "binary": lambda data, a, b: _BINARY[data](a, b),
    "inplace": lambda data, a, b: _INPLACE[data](a, b),
    "compare": lambda data, a, b: _COMPARE[data](a, b),
    "is": lambda data, a, b: a is b,
    "is_not": lambda data, a, b: a is not b,
    "in": lambda data, a, b: a in b,
    "not_in": lambda data, a, b: a not in b,
    "call": _call,
    "call_method": _call_method,
    "load_method": lambda name, receiver: getattr(receiver, name),
    "call_loaded": _call,
    "call_ex": lambda data, f, args, keywords: f(*args, **(keywords or {})),
    "build_tuple": lambda data, *items: items,
    "build_list": lambda data, *items: list(items),
    "build_set": lambda data, *items: set(items),
    "build_map": lambda data, *items: dict(zip(items[::2], items[1::2])),
    "build_slice": lambda data, *items: slice(*items),
    "build_string": lambda data, *items: "".join(items),
    "list_append": lambda data, target, v: target.append(v),
    "set_add": lambda data, target, v: target.add(v),
    "map_add": lambda data, target, k, v: target.__setitem__(k, v),
    "list_extend": lambda data, target, v: target.extend(v),
    "set_update": lambda data, target, v: target.update(v),
    "dict_update": lambda data, target, v: target.update(v),
    "dict_merge": _dict_merge,
    "list_to_tuple": lambda data, items: tuple(items),
    "unpack": _unpack,
    "project": lambda index, items: items[index],
    "format": _format,
    "get_iter": lambda started, x: x if started else iter(x),
    "get_len": lambda data, x: len(x),
    "build_class_function": lambda data: builtins.__build_class__,
    "import_from": _import_from,
    "exc_match": _exc_match,
    "enter": _enter,
    "exit_call": lambda data, leave, error: leave(type(error), error, error.__traceback__),
    "match_mapping": lambda data, x: bool(type(x).__flags__ & _MAPPING),
    "match_sequence": lambda data, x: bool(type(x).__flags__ & _SEQUENCE),
    "match_keys": _match_keys,
    "match_class": _match_class,
}
