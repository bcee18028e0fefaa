from __future__ import annotations

import dis
import sys
import weakref
from types import CellType, FunctionType
from typing import Any

import numpy
import pytest
from building import branch, code_of, do, function_of, jump, returning, run, to

from autodiff_hook.ir.types import IR, UNBOUND, Block, Constant, Edge, Position, Signature, Terminator, Variable


def identity(value: Any) -> Any:
    return run(function_of(Block([], [], returning(Constant(value)))))


@pytest.mark.parametrize(
    "value", [[], {}, numpy.zeros(3), object(), lambda: 0, 0.0, -0.0, 1, True, 1.0, "s", b"s", (1,)]
)
def test_constants_keep_their_identity(value: Any) -> None:
    assert identity(value) is value


def test_equal_constants_are_not_merged() -> None:
    values = [0.0, -0.0, 0, False, [], [], numpy.zeros(2), numpy.zeros(2), (0,), (0.0,), (False,)]
    result = Variable()
    ir = function_of(Block([], [do("build_tuple", *map(Constant, values), to=result)], returning(result)))
    assert all(a is b for a, b in zip(run(ir), values, strict=True))


@pytest.mark.parametrize("value", [0, [], numpy.bool_(False), numpy.float64(0), "", None, 1, [0], numpy.bool_(True)])
def test_truth_of_anything(value: Any) -> None:
    def of(op: str) -> Any:
        x, test = Variable("x"), Variable()
        yes, no = Block([], [], returning("yes")), Block([], [], returning("no"))
        return run(function_of(Block([x], [do(op, x, to=test)], branch(test, to(yes), to(no))), yes, no), value)

    assert of("truth") == ("yes" if value else "no")
    assert of("not") == ("no" if value else "yes")
    x, test = Variable("x"), Variable()
    assert run(function_of(Block([x], [do("truth", x, to=test)], returning(test))), value) is bool(value)


@pytest.mark.parametrize("op", ["is", "is_not"])
@pytest.mark.parametrize("value", [None, 0])
def test_branch_on_none(op: str, value: Any) -> None:
    x, test = Variable("x"), Variable()
    yes, no = Block([], [], returning(True)), Block([], [], returning(False))
    ir = function_of(Block([x], [do(op, x, None, to=test)], branch(test, to(yes), to(no))), yes, no)
    assert run(ir, value) is ((value is None) == (op == "is"))
    assert any("NONE" in x.opname and "JUMP" in x.opname for x in dis.get_instructions(code_of(ir)))


def test_unbound() -> None:
    value = Variable("v")
    ir = function_of(Block([value], [do("check", value, to=Variable(), data="v")], returning(value)))
    assert run(ir, 3) == 3
    with pytest.raises(UnboundLocalError) as caught:
        run(ir, UNBOUND)
    assert str(caught.value) == "cannot access local variable 'v' where it is not associated with a value"


def test_values_left_in_order_never_touch_a_local() -> None:
    f, x, a, b, c = (Variable() for _ in range(5))
    statements = [do("call", f, x, to=a), do("binary", x, 2, to=b, data="*"), do("binary", a, b, to=c, data="-")]
    code = code_of(function_of(Block([f, x], statements, returning(c))))
    assert not any(x.opname.startswith("STORE") for x in dis.get_instructions(code))


def test_values_wanted_in_another_order() -> None:
    f, a, b, c = (Variable(n) for n in "fabc")
    statements = [do("call", f, 1, to=a), do("call", f, 2, to=b), do("binary", b, a, to=c, data="-")]
    assert run(function_of(Block([f], statements, returning(c))), lambda x: x) == 1


def test_native_cells() -> None:
    x, cell, got, value = Variable("x"), Variable("c"), Variable(), Variable()
    statements = [
        do("make_cell", UNBOUND, to=cell),
        do("cell_set", cell, x, data="c"),
        do("cell_get", cell, to=value, data="c"),
        do("build_tuple", cell, value, to=got),
    ]
    code = code_of(function_of(Block([x], statements, returning(got))))
    made, content = FunctionType(code, {})(5)
    assert code.co_cellvars == ("c",) and content == 5
    assert isinstance(made, CellType) and made.cell_contents == 5


def test_parameters_in_cells() -> None:
    x, cell, value = Variable("x"), Variable("x"), Variable()
    statements = [do("make_cell", x, to=cell), do("cell_get", cell, to=value, data="x")]
    code = code_of(function_of(Block([x], statements, returning(value))))
    assert code.co_cellvars == ("x",) and code.co_varnames == ("x",)
    assert FunctionType(code, {})(7) == 7


def test_cells_made_in_a_loop_are_different() -> None:
    n, left, cells, cell, less, test, more = (Variable() for _ in range(7))
    head = Block([left, cells], [do("truth", left, to=test)])
    body = Block(
        [],
        [
            do("make_cell", left, to=cell),
            do("cell_set", cell, left, data="v"),
            do("build_tuple", cells, cell, to=more),
            do("binary", left, 1, to=less, data="-"),
        ],
        jump(head, less, more),
    )
    done = Block([], [], returning(cells))
    head.terminator = branch(test, to(body), to(done))
    (rest, first), second = run(function_of(Block([n], [], jump(head, n, None)), head, body, done), 2)
    assert (first.cell_contents, second.cell_contents, rest) == (2, 1, None)


@pytest.mark.parametrize("free", [True, False])
def test_empty_cells(free: bool) -> None:
    cell, value = Variable("c"), Variable()
    get = do("cell_get", cell, to=value, data="c")
    if free:
        ir, cells = function_of(Block([cell], [get], returning(value)), free=("c",)), (CellType(),)
    else:
        ir, cells = function_of(Block([], [do("make_cell", UNBOUND, to=cell), get], returning(value))), ()
    message = "cannot access free variable 'c'" if free else "cannot access local variable 'c'"
    with pytest.raises(NameError, match=message):
        run(ir, cells=cells)


def test_an_empty_cell_that_is_a_value() -> None:
    cell, value = Variable("c"), Variable()
    ir = function_of(Block([cell], [do("cell_get", cell, to=value, data="c")], returning(value)))
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'c'"):
        run(ir, CellType())
    assert run(ir, CellType(2)) == 2


def loop(*, leave_early: bool) -> IR:
    """Sums until an item is None."""
    items, iterator, item, total, more, test = (Variable() for _ in range(6))
    head, done = Block([total]), Block([], [], returning(total))
    found = Block([], [], returning("none"))
    add = Block([], [do("binary", total, item, to=more, data="+")], jump(head, more))
    body = Block([item], [do("is", item, None, to=test)], branch(test, to(found), to(add)))
    if not leave_early:
        body.statements, body.terminator = [], jump(add)
    head.terminator = Terminator("next", [iterator], [Edge(body), Edge(done)])
    entry = Block([items], [do("get_iter", items, to=iterator)], jump(head, 0))
    return function_of(entry, head, body, add, done, *([found] if leave_early else []))


def test_for_loop() -> None:
    ir = loop(leave_early=True)
    assert run(ir, [1, 2]) == 3 and run(ir, [1, None, 2]) == "none" and run(ir, []) == 0
    assert run(loop(leave_early=False), range(50)) == 1225
    names = [x.opname for x in dis.get_instructions(code_of(loop(leave_early=False)))]
    start = names.index("GET_ITER")  # the iterator stays on the stack
    assert names[start + 1 : names.index("FOR_ITER")] == ["LOAD_CONST", "STORE_FAST"]


def test_an_iterator_used_twice() -> None:
    iterator, first, second, pair = (Variable() for _ in range(4))
    empty = Block([], [], returning(None))
    last = Block([second], [do("build_tuple", first, second, to=pair)], returning(pair))
    middle = Block([first], [], Terminator("next", [iterator], [Edge(last), Edge(empty)]))
    ir = function_of(
        Block([iterator], [], Terminator("next", [iterator], [Edge(middle), Edge(empty)])), middle, last, empty
    )
    assert run(ir, iter("ab")) == ("a", "b") and run(ir, iter("a")) is None


def test_handler_sees_the_state_before_the_raising_statement() -> None:
    f, a, b, error, lasti, x, y, pair = (Variable(n) for n in ("f", "a", "b", "e", "l", "x", "y", "p"))
    handler = Block([error, lasti, x, y], [do("build_tuple", x, y, to=pair)], returning(pair))
    third = Block([], [], returning("fine"))
    second = Block([], [do("call", f, 2, to=b)], jump(third), Edge(handler, [a, Constant("second")]))
    first = Block([], [do("call", f, 1, to=a)], jump(second), Edge(handler, [Constant(None), Constant("first")]))
    ir = function_of(Block([f], [], jump(first)), first, second, third, handler)

    def fail_at(n: int) -> Any:
        def f(i: int) -> int:
            if i == n:
                raise ValueError
            return i * 10

        return run(ir, f)

    assert [fail_at(n) for n in (1, 2, 3)] == [(None, "first"), (10, "second"), "fine"]


def test_an_exception_in_a_loop_finds_the_loop_again() -> None:
    items, iterator, item, total, more, error, lasti, before = (Variable() for _ in range(8))
    head, done = Block([total]), Block([], [], returning(total))
    handler = Block([error, lasti], [do("binary", total, 100, to=before, data="+")], jump(head, before))
    quotient = Variable()
    body = Block([item], [do("binary", 1, item, to=quotient, data="/")])
    add = Block([], [do("binary", total, quotient, to=more, data="+")], jump(head, more))
    body.terminator, body.handler = jump(add), Edge(handler)
    head.terminator = Terminator("next", [iterator], [Edge(body), Edge(done)])
    entry = Block([items], [do("get_iter", items, to=iterator)], jump(head, 0))
    ir = function_of(entry, head, body, add, done, handler)
    assert run(ir, [1, 0, 2, 0]) == 201.5


def test_named_values_live_as_long_as_the_variable_would() -> None:
    class Resource:
        pass

    f, ref, resource, weak, alive = (Variable(n) for n in ("f", "ref", "resource", "weak", None))
    statements = [do("call", f, to=resource), do("call", ref, resource, to=weak), do("call", weak, to=alive)]
    ir = function_of(Block([f, ref], statements, returning(alive)))
    assert isinstance(run(ir, Resource, weakref.ref), Resource)
    assert run(ir, Resource, weakref.ref, release=True) is None


def test_release_drops_a_value_at_its_last_use() -> None:
    class Big:
        pass

    seen = []
    f, ref, big, last, pair = (Variable(n) for n in ("f", "ref", "big", "last", None))
    statements = [
        do("call", f, to=big),
        do("call", ref, big, to=Variable()),
        do("call", ref, big, to=last),
        do("call", lambda r: seen.append(r() is None), last, to=pair),
    ]
    ir = function_of(Block([f, ref], statements, returning(last)))
    assert run(ir, Big, weakref.ref, release=True)() is None
    assert run(ir, Big, weakref.ref)() is None
    assert seen == [True, False]


def test_generators_written_by_hand() -> None:
    items, iterator, item, sent = (Variable() for _ in range(4))
    head, done = Block(), Block([], [], returning("end"))
    body = Block([item], [do("yield", item, to=sent)], jump(head))
    head.terminator = Terminator("next", [iterator], [Edge(body), Edge(done)])
    entry = Block([items], [do("get_iter", items, to=iterator)], jump(head))
    ir = function_of(entry, head, body, done, kind="generator")
    generator = run(ir, "abc")
    assert next(generator) == "a" and list(generator) == ["b", "c"]
    generator = run(ir, "abc")
    next(generator)
    generator.close()


def test_names_and_positions() -> None:
    x, y = Variable("x"), Variable()
    statement = do("binary", x, 0, to=y, data="/")
    statement.position = Position(42, 42, 8, 13)
    ir = function_of(Block([x], [statement], returning(y)), qualname="A.f", filename="there.py", first_line=40)
    code = code_of(ir)
    assert (code.co_name, code.co_qualname, code.co_filename, code.co_firstlineno) == ("f", "A.f", "there.py", 40)
    with pytest.raises(ZeroDivisionError) as caught:
        FunctionType(code, {})(1)
    traceback = caught.value.__traceback__
    assert traceback is not None and traceback.tb_next is not None and traceback.tb_next.tb_lineno == 42
    offset = traceback.tb_next.tb_lasti // 2
    assert list(code.co_positions())[offset] == (42, 42, 8, 13)


def test_signatures() -> None:
    params = [Variable(n) for n in ("a", "b", "c", "args", "kwargs")]
    result = Variable()
    signature = Signature(("a", "b", "c", "args", "kwargs"), 2, 1, 1, True, True)
    block = Block(list(params), [do("build_tuple", *params, to=result)], returning(result))
    code = code_of(IR("f", signature, blocks=[block]))
    assert FunctionType(code, {})(1, 2, 3, c=4, d=5) == (1, 2, 4, (3,), {"d": 5})


def test_many_locals() -> None:
    """More than 255 slots and constants: arguments need prefixes, 3.13's fused accesses do not fit."""
    made = [Variable(f"v{i}") for i in range(300)]
    x, total = Variable("x"), Variable()
    statements = [do("binary", x, i, to=v, data="+") for i, v in enumerate(made)]
    statements.append(do("build_tuple", *made, *made, to=total))
    ir = function_of(Block([x], statements, returning(total)))
    assert run(ir, 1) == tuple(range(1, 301)) * 2


@pytest.mark.skipif(sys.version_info < (3, 13), reason="fused accesses")
def test_fused_accesses() -> None:
    a, b, c = Variable("a"), Variable("b"), Variable("c")
    code = code_of(function_of(Block([a, b], [do("binary", a, b, to=c, data="+")], returning(c))))
    assert [x.opname for x in dis.get_instructions(code)][1].replace("_BORROW", "") == "LOAD_FAST_LOAD_FAST"


def test_an_invented_name_of_a_local_is_never_that_of_another() -> None:
    """Code that is emitted, lifted and emitted again has locals with invented names."""
    x, y = Variable("x"), Variable("y")
    first = [Variable() for _ in range(6)]
    second = [Variable(f".{8 + i}") for i in range(6)]
    made = [do("build_list", i, to=v) for i, v in enumerate([*first, *second])]
    read = [do("build_tuple", *first, *second, to=x), do("build_tuple", *first, *second, to=y)]
    result = Variable()
    last = do("build_tuple", x, y, to=result)
    code = code_of(function_of(Block([], [*made, *read, last], returning(result))))
    assert len(set(code.co_varnames)) == len(code.co_varnames)
    assert run(function_of(Block([], [*made, *read, last], returning(result))))[1] == tuple([i] for i in range(12))
