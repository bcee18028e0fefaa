"""What exceptions show of the values that an operation was given, whoever has raised them."""

import operator
from collections import OrderedDict, deque

import pytest
from in_all_modes import MODES, differences

from autodiff_hook import NotDifferentiable
from autodiff_hook.api import generic_withgradient


def a_key_that_is_missing(x):
    try:
        return {}[x * x]
    except KeyError as error:
        return error.args[0] * x + (error.__context__ is not None)


def a_key_within_a_handler(x):
    try:
        raise ValueError(x * x)
    except ValueError as first:
        try:
            return {}[first.args[0]]
        except KeyError as error:
            return error.args[0] * x + (error.__context__ is first)


def a_key_that_is_deleted(x):
    try:
        del {}[x * x]
    except KeyError as error:
        return error.args[0] * x


def a_key_in_a_tuple(x):
    try:
        return OrderedDict(a=x)[x * x, 2]
    except KeyError as error:
        return error.args[0][0] * x


def a_key_that_is_moved(x):
    held = OrderedDict(a=x)
    try:
        held.move_to_end(x * x)
    except KeyError as error:
        return error.args[0] * held["a"]


def a_member_that_is_removed(x):
    try:
        {1.0}.remove(x * x)
    except KeyError as error:
        return sum(error.args) * x


def a_key_that_is_popped(x):
    try:
        return {1.0: x}.pop(x * x)
    except KeyError as error:
        return error.args[0] * x


def a_key_of_an_operator(x):
    try:
        return operator.getitem({1.0: x}, x * x)
    except KeyError as error:
        return error.args[0] * x


def a_key_of_a_native_callback(x):
    try:
        return sum(map({3.0: x}.__getitem__, [3.0, x * x]))
    except KeyError as error:
        return error.args[0] * x


def a_value_of_an_exit(x):
    try:
        raise SystemExit(x * x)
    except SystemExit as error:
        return error.code * x


def values_of_an_exit(x):
    try:
        raise SystemExit(x, x * x)
    except SystemExit as error:
        return error.code[0] * error.code[1]


def an_owner_without_the_attribute(x):
    try:
        return (x * x).missing
    except AttributeError as error:
        return error.obj * x


def an_owner_that_is_named(x):
    error = AttributeError("text", name="name", obj=x * x)
    return error.obj * x * len(error.name)


def a_number_of_an_error_of_the_system(x):
    try:
        raise OSError(x * x, "text", x)
    except OSError as error:
        return error.errno * x + error.filename


def a_note(x):
    error = ValueError(x)
    error.add_note(repr(x * x))
    return float(error.__notes__[0]) * x


RIGHT = [
    *(a_key_that_is_missing, a_key_within_a_handler, a_key_that_is_deleted, a_key_in_a_tuple, a_key_that_is_moved),
    *(a_member_that_is_removed, a_key_that_is_popped, a_key_of_an_operator, a_key_of_a_native_callback),
    *(a_value_of_an_exit, values_of_an_exit, an_owner_without_the_attribute, an_owner_that_is_named),
    *(a_number_of_an_error_of_the_system, a_note),
]
MODES_TOO = {**MODES, "carried": lambda f, x: generic_withgradient(f, x)[1][0]}


@pytest.mark.parametrize("f", RIGHT)
@pytest.mark.parametrize("mode", MODES_TOO)
def test_what_exceptions_show(f, mode):
    order = 2 if mode == "hvp" else 1
    for _ in range(2):
        assert MODES_TOO[mode](f, 1.3) == pytest.approx(differences(f, 1.3, order), rel=1e-6, abs=1e-8)


def text_of_a_missing_key(x):
    try:
        return {}[x * x]
    except KeyError as error:
        return float(str(error)) * x


def text_of_an_argument(x):
    try:
        raise ValueError(x * x)
    except ValueError as error:
        return float(f"{error}") * x


def text_of_all_arguments(x):
    error = ValueError(x * x)
    return float(repr(error)[len("ValueError(") : -1]) * x


def text_that_native_code_writes(x):
    try:
        [].index(x * x)
    except ValueError as error:
        return float(error.args[0].split()[0]) * x


def text_that_is_quoted(x):
    try:
        return float(f"no number {x * x}")
    except ValueError as error:
        return float(str(error).split()[-1].strip("'")) * x


def text_of_a_class(x):
    try:
        deque(maxlen=-int(x)).append(x)
    except ValueError as error:
        return x * len(str(error))


@pytest.mark.parametrize("mode", MODES_TOO)
@pytest.mark.parametrize(
    "f",
    [
        *(text_of_a_missing_key, text_of_an_argument, text_of_all_arguments),
        *(text_that_native_code_writes, text_that_is_quoted),
    ],
)
def test_numbers_read_from_what_exceptions_say_are_an_error(f, mode):
    for _ in range(2):
        with pytest.raises(NotDifferentiable, match="a number is read"):
            MODES_TOO[mode](f, 1.3)


@pytest.mark.parametrize("mode", MODES_TOO)
def test_texts_of_exceptions_are_constant(mode):
    order = 2 if mode == "hvp" else 1
    found = MODES_TOO[mode](text_of_a_class, 1.3)
    assert found == pytest.approx(differences(text_of_a_class, 1.3, order), abs=1e-6)
