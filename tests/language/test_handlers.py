"""try, except, else, finally, with; global variables; module attributes."""

from __future__ import annotations

import builtins
import contextlib
import sys
import types
import warnings

import numpy as np
import pytest
from helpers import assert_same_exception, gradient_at
from in_all_modes import MODES, differences

from autodiff_hook import AutodiffError, NotDifferentiable, gradient, jvp, pullback, rrule
from autodiff_hook.testing import check_gradient


@gradient_at(1.3)
def test_a_body_that_does_not_raise(x):
    try:
        y = x * x
    except ValueError:
        y = x
    try:
        y = y * x
    except (KeyError, ZeroDivisionError) as error:
        y = error
    else:
        y = y + x
    finally:
        y = y * 2
    return y


@gradient_at(1.3)
def test_a_variable_without_a_value_that_is_handled(x):
    for i in range(3):
        try:
            total += x * i  # noqa: F821
        except UnboundLocalError:
            total = x * x
    if x > 100:
        scale = 2.0
    try:
        return scale * total
    except NameError:
        return 3.0 * total


@gradient_at(1.3)
def test_finally_with_return(x):
    def f(y):
        try:
            return y * y
        finally:
            y = y * 100

    def g(y):
        for i in range(3):
            try:
                if i == 1:
                    return y * i
                continue
            finally:
                y = y * x
        return y

    return f(x) + g(x)


@gradient_at(1.3)
def test_nested_try(x):
    y = x
    try:
        try:
            y = y * x
        finally:
            y = y + x
        try:
            y = y * y
        except TypeError:
            y = 0.0
    except Exception:
        y = 1.0
    else:
        y = y * x
    return y


@gradient_at(1.3)
def test_try_in_loops(x):
    total = 0.0
    for i in range(4):
        try:
            if i == 2:
                continue
            total += x * i
        finally:
            total = total * x
    return total


def right_or_an_error(f, x):
    try:
        gradient(f, x)
        pullback(f, x)[1](1.0)
    except AutodiffError:
        return
    check_gradient(f, x)


def caught_here(x):
    y = x
    try:
        y = x * x
        raise ValueError("no")
    except ValueError:
        y = y * x
    return y


def caught_from_a_callee(x):
    def g(v):
        w = v * v
        if w > 1:
            raise KeyError("big")
        return w

    try:
        return g(x)
    except KeyError:
        return x * 3


def caught_after_a_store(x):
    seen = []

    def g(v):
        seen.append(v * v)
        raise KeyError("big")

    try:
        g(x)
    except KeyError:
        pass
    return seen[0] * x


def caught_from_native_code(x):
    try:
        y = [1, 2][int(x) + 7]
    except IndexError:
        y = x * x
    d = {}
    try:
        y = d["a"] * x
    except KeyError as error:
        d[error.args[0]] = y * x
    return d["a"]


def caught_in_a_loop(x):
    total = 0.0
    for i in range(4):
        try:
            if i % 2:
                raise ValueError
            total += x * i
        except ValueError:
            total = total * x
        else:
            total = total + 1
        finally:
            total = total + x
    return total


def raised_again(x):
    y = x
    try:
        try:
            y = y * x
            raise ValueError
        except ValueError:
            y = y * x
            raise
    except ValueError:
        y = y * x
    return y


def raised_in_a_handler(x):
    y = x
    try:
        try:
            raise ValueError
        except ValueError as error:
            y = y * 2 * x
            raise KeyError from error
    except KeyError:
        y = y * x
    return y


def value_in_an_exception(x):
    try:
        raise ValueError(x * x)
    except ValueError as error:
        return error.args[0] * x


class Problem(Exception):
    def __init__(self, value):
        super().__init__("problem")
        self.value = value


def value_in_an_attribute_of_an_exception(x):
    try:
        raise Problem(x * x)
    except Problem as error:
        return error.value * x


def suppressed(x):
    class Suppress:
        def __enter__(self):
            return self

        def __exit__(self, *info):
            return True

    y = x
    with Suppress():
        y = y * x
        raise ValueError
    return y * x


def stop_iteration_value(x):
    def gen():
        yield 1
        return x * x

    g = gen()
    next(g)
    try:
        next(g)
    except StopIteration as stop:
        return stop.value * x


def finally_after_an_exception(x):
    log = []

    def g(v):
        try:
            raise ValueError
        finally:
            log.append(v * v)

    try:
        g(x)
    except ValueError:
        pass
    return log[0]


def exception_groups(x):
    y = x
    try:
        raise ExceptionGroup("several", [ValueError(1), KeyError(2)])
    except* ValueError:
        y = y * x
    except* KeyError:
        y = y * 3
    return y


@pytest.mark.parametrize(
    "f",
    [
        caught_here,
        caught_from_a_callee,
        caught_after_a_store,
        caught_from_native_code,
        caught_in_a_loop,
        raised_again,
        raised_in_a_handler,
        value_in_an_exception,
        value_in_an_attribute_of_an_exception,
        suppressed,
        stop_iteration_value,
        finally_after_an_exception,
        exception_groups,
    ],
)
def test_paths_through_handlers_are_right_or_an_error(f):
    right_or_an_error(f, 1.3)


def leaves_through_finally(x):
    try:
        return x / 0
    finally:
        x = 3


def leaves_from_a_handler(x):
    try:
        raise ValueError("inner")
    except ValueError:
        raise KeyError("outer")  # noqa: B904


def leaves_through_with(x):
    class Manager:
        def __enter__(self):
            return x

        def __exit__(self, *info):
            return False

    with Manager() as v:
        raise ValueError(v)


def leaves_through_else(x):
    try:
        y = x
    except KeyError:
        pass
    else:
        raise RuntimeError(y)


@pytest.mark.parametrize("f", [leaves_through_finally, leaves_from_a_handler, leaves_through_with, leaves_through_else])
def test_exceptions_leave_as_in_the_plain_run(f):
    assert_same_exception(f, 1.3)


COUNT = 0.0
TABLE: dict = {}
SETTINGS = None
FACTOR = 2.0


@gradient_at(1.3)
def test_global_statements(x):
    global COUNT
    COUNT = x * x
    add_to_count(x)
    COUNT *= 2
    return COUNT * x


def add_to_count(x):
    global COUNT
    COUNT = COUNT + x


@gradient_at(1.3)
def test_a_global_that_was_none(x):
    global SETTINGS
    SETTINGS = None
    if SETTINGS is None:
        SETTINGS = x * x
    return SETTINGS * x + read_settings()


def read_settings():
    return SETTINGS


@gradient_at(1.3)
def test_global_containers(x):
    TABLE.clear()
    TABLE["a"] = x
    store_in_table("b", x * x)
    return TABLE["a"] * TABLE["b"] * FACTOR


def store_in_table(key, value):
    TABLE[key] = value


module = types.ModuleType("module_with_state")
module.rate = 3.0


@gradient_at(1.3)
def test_module_attributes(x):
    a = module.rate * x
    module.rate = x * x
    b = module.rate * a
    setattr(module, "other", b)
    c = module.other + getattr(module, "rate")
    module.rate = 3.0
    return b + c + module.rate * x


@gradient_at(1.3)
def test_attributes_of_this_module(x):
    this = sys.modules[__name__]
    this.FACTOR = x
    a = FACTOR * x
    globals()["FACTOR"] = 2.0
    return a * x + FACTOR * a + globals()["FACTOR"] * x


@gradient_at(1.3)
def test_names_among_the_builtins(x):
    builtins.among_the_builtins = x * x
    try:
        return among_the_builtins * x  # noqa: F821 - a builtin by then
    finally:
        del builtins.among_the_builtins


@gradient_at(1.3)
def test_imports_inside_functions(x):
    import math
    from math import sin as sine

    return math.cos(x) * sine(x)


@gradient_at(1.3)
def test_delete(x):
    y = x * x
    z = y
    del y
    d = {"a": z}
    del d["a"], z
    y = x
    return y * len(d) + x * x


def refused(x):
    return x * 2.0


@rrule(refused)
def refused_rule(x):
    raise NotDifferentiable("refused")


def undone(x):
    try:
        return refused(x) + x
    except Exception:
        return 0.0 * x


def raised_anew(x):
    try:
        return refused(x)
    except (ValueError, Exception) as error:
        raise TypeError("no number") from error


def suppressed(x):
    y = x
    with contextlib.suppress(Exception):
        y = refused(x) + x
    return y


@contextlib.contextmanager
def tolerant():
    try:
        yield
    except BaseException:
        pass


def tolerated(x):
    y = x
    with tolerant():
        y = refused(x) + x
    return y


def bare(x):
    try:
        return refused(x)
    except:  # noqa: E722
        return 5.0 * x


def bare_and_raised(x):
    y = x
    for _ in range(2):
        try:
            y = refused(y)
        except:  # noqa: E722
            y = y * x
    if y < x:
        raise ValueError("too small")
    return y


def finally_returned(x):
    try:
        y = refused(x)
    finally:
        return x  # noqa: B012


def in_a_group(x):
    try:
        return refused(x)
    except* KeyError:
        y = x
    except* (ValueError, Exception):
        y = 5.0 * x
    return y


HANDLERS = [undone, raised_anew, suppressed, tolerated, bare, bare_and_raised, finally_returned, in_a_group]


@pytest.mark.parametrize("f", HANDLERS)
@pytest.mark.parametrize("operator", [gradient, lambda f, x: pullback(f, x), lambda f, x: jvp(f, (x,), (1.0,))])
def test_no_handler_takes_an_error_that_the_plain_run_does_not_have(f, operator):
    f(0.5)
    for _ in range(5):
        with pytest.raises(NotDifferentiable, match="refused"):
            operator(f, 0.5)


def lacking(x):
    return x * 2.0


@rrule(lacking)
def lacking_rule(x):
    def pullback(ȳ):
        raise ZeroDivisionError("in a pullback")

    return lacking(x), pullback


def met_by_a_handler(x):
    try:
        return lacking(x) + x
    except ArithmeticError:
        return 5.0 * x


def of_no_use(x):
    try:
        y = lacking(x) + x
    except ArithmeticError:
        y = 5.0 * x
    return x * x if y < 2.0 else y


@pytest.mark.parametrize("mode", MODES)
def test_no_handler_takes_what_a_pullback_raises(mode):
    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match="in a pullback"):
            MODES[mode](met_by_a_handler, 0.5)
        assert MODES[mode](of_no_use, 0.5) == (2.0 if mode == "hvp" else 1.0)


def test_a_handler_that_names_our_errors_takes_them():
    def f(x):
        try:
            return refused(x)
        except (KeyError, NotDifferentiable):
            return 5.0 * x

    def g(x):
        try:
            return refused(x)
        except AutodiffError:
            return 7.0 * x

    def in_a_group(x):
        y = x
        try:
            y = refused(x)
        except* ValueError:
            y = 2.0 * x
        except* AutodiffError as group:
            y = 6.0 * x * len(group.exceptions)
        return y

    def h(x):
        try:
            return refused(x)
        except:  # noqa: E722
            raise

    def from_within(x):
        try:
            return h(x) + x
        except AutodiffError:
            return 9.0 * x

    for _ in range(3):
        assert gradient(f, 2.0) == (5.0,)
        assert gradient(g, 2.0) == (7.0,)
        assert gradient(in_a_group, 2.0) == (6.0,)
        assert gradient(from_within, 2.0) == (9.0,)


def test_classes_that_are_no_exceptions_cannot_be_caught():
    def f(x, kind):
        try:
            return [x][1]
        except kind:
            return x * x

    for kind in (3, (ValueError, int), "IndexError"):
        with pytest.raises(TypeError, match="do not inherit from BaseException"):
            gradient(lambda x, kind=kind: f(x, kind), 2.0)
    assert gradient(lambda x: f(x, (KeyError, LookupError)), 3.0) == (6.0,)


REFUSED = {
    "out": lambda x, n: np.sin(x, None if n else 1.0),
    "out by name": lambda x, n: np.add(np.ones(2) * x, 1.0, out=None if n else x)[0],
    "dict and list": lambda x, n: ({1: x} | ({2: 1.0} if n else [(2, 1.0)]))[1],
    "append": lambda x, n: [x].append(*[x] * (2 - n)) or x,
    "reverse": lambda x, n: sorted([x, 1.0], reverse=True if n else "a")[0],
    "reversed set": lambda x, n: list(reversed([x] if n else {x}))[0],
    "reversed iterator": lambda x, n: list(reversed([x] if n else iter([x])))[0],
    "pairs as keywords": lambda x, n: dict(**{"a": x} if n else [("a", x)])["a"],
    "pairs in a dict": lambda x, n: {**({"a": x} if n else [("a", x)])}["a"],
}


class Bare:
    pass


class Handing:
    """Hands what it is given on to ``object``, unless it is told not to."""

    def __init__(self, v, *rest):
        super().__init__(*rest)
        self.v = v


class Making:
    def __new__(cls, v, *rest):
        made = super().__new__(cls, *rest)
        made.v = v
        return made


REFUSED |= {
    "class without arguments": lambda x, n: Bare(*() if n else (x,)) and x,
    "class without options": lambda x, n: Bare(**{} if n else {"v": x}) and x,
    "initialiser of objects": lambda x, n: Handing(x, *() if n else (x,)).v,
    "maker of objects": lambda x, n: Making(x, *() if n else (x,)).v,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", REFUSED)
def test_what_python_refuses(name, mode):
    def f(x):
        total = 0.0
        for n in (1, 0):
            try:
                total = total + REFUSED[name](x, n) ** 2
            except TypeError:
                total = 3.0 * total + x * x
        return total

    for x in (1.3, 0.7, 1.9):
        expected = differences(f, x, 2 if mode == "hvp" else 1)
        assert MODES[mode](f, x) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("owner", [None, 2.0, (), "text"])
def test_a_method_is_missed_before_its_arguments_are_computed(owner, mode):
    def refuse(x):
        raise ValueError(x)

    def f(x):
        try:
            return owner.missing(refuse(x))
        except ValueError:
            return x
        except AttributeError:
            return x * x * x

    for x in (1.3, 0.7, 1.9):
        expected = differences(f, x, 2 if mode == "hvp" else 1)
        assert MODES[mode](f, x) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def raised_for_an_infinity(x):
    with np.errstate(all="raise"):
        try:
            np.log(np.array([x - x]))
        except FloatingPointError:
            return x**3
    return x


def raised_for_a_division(x):
    with np.errstate(divide="raise"):
        try:
            y = np.array([x]) / np.array([x - x])
        except FloatingPointError:
            return x**3
    return y[0]


def warned(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            np.sqrt(np.array([-x]))
        except RuntimeWarning:
            return x**3
    return x


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [raised_for_an_infinity, raised_for_a_division, warned])
def test_errors_of_floats_that_a_program_asks_for(f, mode):
    for _ in range(3):
        assert MODES[mode](f, 1.3) == pytest.approx(6 * 1.3 if mode == "hvp" else 3 * 1.3**2)
