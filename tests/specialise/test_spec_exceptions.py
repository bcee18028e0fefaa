"""Exceptions in programs for all ways: what is raised and handled within a program is a jump."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
from specialised_cases import check, check_all_ways, check_raises, check_slopes

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY

LOG = logging.getLogger(__name__)
TYPED = not (GENERIC or ONE_WAY)


class Failed(Exception):
    pass


class NotConverged(Failed):
    def __init__(self, best, steps):
        super().__init__("no convergence")
        self.best, self.steps = best, steps


class Diverged(Failed):
    pass


def solve(a, x, steps):
    for _ in range(steps):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-3:
            return new
        if new > 50.0:
            raise Diverged(new)
        x = new
    raise NotConverged(x, steps)


def falls_back(a, b):
    total = 0.0
    for k in range(6):
        try:
            y = solve(a * (k + 1), b, 4)
        except NotConverged:
            y = 2.0 * b * k
        total += y * y
    return total


def reads_attributes(a, b):
    total = 0.0
    for k in range(6):
        try:
            y = solve(a * (k + 1), b, 3)
        except NotConverged as e:
            y = e.best * e.steps
        total += y
    return total


def by_hierarchy(a, b):
    total = 0.0
    for k in range(6):
        try:
            y = solve(a * (k + 1) ** 4, b, 4)
        except Diverged as e:
            y = 0.1 * e.args[0] * a
        except Failed:
            y = b
        total += y
    return total


def missing_keys(a, b):
    d = {"p": a, "q": a * b}
    d["r"] = b * b
    total = 0.0
    for name in ("p", "s", "r", "t", "q"):
        try:
            v = d[name]
        except KeyError:
            v = 0.5 * b
        total += v * v
    return total


def missing_items(a, b):
    """Of what is written out, and of as many items as it has."""
    items, pair, total = [a, 2.0, b], (a * b, b), 0.0
    for k in range(-4, 5):
        try:
            v = items[k]
        except IndexError:
            v = 0.5 * b
        try:
            v *= pair[k % 3]
        except IndexError:
            v += a
        total += v * v
    return total


def memoised(a, b):
    known = {}
    total = 0.0
    for k in (1, 2, 1, 3, 2):
        try:
            v = known[k]
        except KeyError:
            v = known[k] = math.sin(a * k) * b
        total += v
    return total


def domains(a, b):
    total = 0.0
    for k in range(5):
        try:
            y = math.sqrt(a - k) + math.log(b - 0.5 * k)
        except ValueError:
            y = a * b
        total += y
    return total


def divisions(a, b):
    total = 0.0
    for k in range(4):
        try:
            y = a / (k - 2) + b % (k - 1)
        except ZeroDivisionError:
            y = a * b
        total += y
    return total


def taken_out_of_dicts(a, b):
    held, total = {"p": a, "q": b}, 0.0
    for name in ("p", "r", "q", "p"):
        try:
            total += held.pop(name) * b
        except KeyError as e:
            total += len(e.args[0]) * a * a
    return total * (1 + len(held))


class Found(Exception):
    pass


def scanned(a, x):
    for i in range(4):
        for j in range(4):
            v = a * i + x * j
            if v > 4.0:
                raise Found(v, i)


def out_of_nested_loops(a, x):
    try:
        scanned(a, x)
    except Found as e:
        v, i = e.args
        return v * v + i * a
    return a


def kept_effects(a, b):
    items = []
    total = 0.0
    for k in range(5):
        try:
            items.append(a * k)
            if k % 2:
                raise ValueError
            items.append(b * k)
        except ValueError:
            items.append(a * b)
        total += items[-1] * items[0 if k == 0 else -2]
    return total + sum(items)


def with_else_and_finally(a, b):
    total, count = 0.0, 0.0
    for k in range(5):
        try:
            try:
                if k == 3:
                    raise Diverged(a * k)
                y = a * k
            finally:
                count += b
        except Diverged as e:
            total += e.args[0] * b
        else:
            total += y * y
    return total * count


def raised_again(a, b):
    total = 0.0
    for k in range(5):
        try:
            try:
                y = solve(a * (k + 1), b, 3)
            except Failed:
                total += b
                raise
        except NotConverged as e:
            y = e.best
        total += y
    return total


def of_several_classes(a, b):
    total = 0.0
    for k in range(6):
        try:
            if k == 1:
                raise ValueError(a)
            if k == 4:
                raise KeyError(b * k)
            y = a * b
        except (ValueError, KeyError) as e:
            y = e.args[0] * 3
        total += y * y
    return total


def translated(a, b):
    total = 0.0
    for k in range(5):
        try:
            try:
                y = math.sqrt(a - k)
            except ValueError as e:
                raise Diverged(b * k) from e
        except Diverged as e:
            y = e.args[0]
        total += y
    return total


def first_that_fits(a, b):
    total = 0.0
    for k in range(4):
        for j in range(4):
            try:
                y = math.log(a * j - k)
            except ValueError:
                continue
            break
        else:
            y = b
        total += y
    return total


def stops(a, b):
    def item(k):
        if k > 4:
            raise StopIteration
        return a * k + b

    k, total = 0, 0.0
    while True:
        try:
            v = item(k)
        except StopIteration:
            break
        total += v * v
        k += 1
    return total


def of_arrays(a, b):
    x = np.array([a, b, a * b])
    total = np.zeros(3)
    for k in range(4):
        try:
            if np.sum(x) * k > 4.0:
                raise NotConverged(x * x, k)
            total = total + x
        except NotConverged as e:
            total[k - 1] = np.sum(e.best)
            total = total * e.steps
    return np.sum(total * x)


ALL = [
    taken_out_of_dicts,
    *(
        falls_back,
        reads_attributes,
        by_hierarchy,
        missing_keys,
        missing_items,
        memoised,
        domains,
        divisions,
        out_of_nested_loops,
    ),
    *(kept_effects, with_else_and_finally, raised_again, of_several_classes, translated, first_that_fits, stops),
    of_arrays,
]


def factors_or_not(a, b):
    total = 0.0
    for k in range(6):
        matrix = np.array([[a + 2, b * k], [b * k, 2.0]])
        try:
            total += float(np.linalg.cholesky(matrix).sum())
            total += float(np.linalg.solve(matrix, np.array([a, b])).sum())
        except np.linalg.LinAlgError:
            total -= a * b
    return total


def inverses_or_not(a, b):
    total = 0.0
    for k in range(4):
        try:
            total += float(np.linalg.inv(np.array([[a, b], [a * k, b * k + (k == 3)]]))[0, 1])
        except (np.linalg.LinAlgError, KeyError):
            total += a * b
    return total


def too_large(a, b):
    total = 0.0
    for k in range(6):
        try:
            total += 1 / (1 + math.exp(-a * k * (300 if k % 2 else -300)))
            total += (b + 9) ** (k * 80.0) * 1e-300
        except OverflowError:
            total += b
    return total


def powers_of_nothing(a, b):
    total = 0.0
    for k in range(6):
        try:
            total += (k % 3) ** (-a) + (b * (k % 2)) ** -2
        except OverflowError:
            total += a
        except ZeroDivisionError:
            total += b
    return total


def texts_that_are_no_numbers(a, b):
    total = 0.0
    for text in ["1.5", "abc", "2", "1e2"] * 2:
        try:
            total += float(text) * a
            total += int(text) * b
        except ValueError:
            total += a * b
    return total


def arithmetic_that_may_fail(a, b):
    total = 0.0
    for k in range(4):
        try:
            total += a**2 * k + math.exp(b * 0.1)
            check_positive(a - k)
        except Exception:
            total += b
    return total


def check_positive(v):
    if v <= 0:
        raise ValueError("not positive")


ALL += [factors_or_not, inverses_or_not, too_large, powers_of_nothing, texts_that_are_no_numbers]
ALL += [arithmetic_that_may_fail]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_what_is_raised_and_handled_is_a_jump(f):
    check_all_ways(f, 1.3, 1.7)


class Manager:
    def __init__(self):
        self.left = 0.0

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.left += 1.0
        return kind is not None and issubclass(kind, KeyError)


def raised_within_with(a, b):
    manager, total = Manager(), 0.0
    for k in range(4):
        try:
            with manager:
                if k == 1:
                    raise KeyError(k)
                if k == 2:
                    raise ValueError(k)
                total += a * k
        except ValueError:
            total += b
    return total * manager.left


def handled_within_with(a, b):
    manager, total = Manager(), 0.0
    with manager:
        for k in range(4):
            try:
                if k == 2:
                    raise ValueError(a * k)
                total += a * k
            except ValueError as e:
                total += b * e.args[0]
    return total * manager.left


def of_several_messages(a, b):
    total = 0.0
    for k in range(5):
        try:
            if k == 1:
                raise ValueError("one")
            if k == 2:
                raise ValueError("another")
            if k == 3:
                raise ValueError
            total += a * k
        except ValueError:
            total += b * k
    return total


def its_text_is_asked(a, b):
    total = 0.0
    for k in range(3):
        try:
            if k == 1:
                raise ValueError("one")
            total += a * k
        except ValueError as e:
            total += b * len(str(e))
    return total


def the_last_is_kept(a, b):
    total, last = 0.0, None
    for k in range(4):
        try:
            if k == 2:
                raise NotConverged(a * k, 2)
            total += a * k
        except NotConverged as e:
            last = e
    return total if last is None else total + last.best * b


def all_are_kept(a, b):
    total, errors = 0.0, []
    for k in range(5):
        try:
            if k % 2:
                raise NotConverged(a * k, k)
            total += a * k
        except Failed as e:
            errors.append(e)
    return total + sum(e.best for e in errors) * b


def causes(a, b):
    try:
        try:
            raise NotConverged(a, 1)
        except Failed as e:
            raise ValueError(b) from e
    except ValueError as e:
        return e.args[0] * e.__cause__.best


def of_a_generator(a, b):
    def items():
        for k in range(5):
            if k == 3:
                raise Diverged(a * k)
            yield a * k

    total = 0.0
    try:
        for v in items():
            total += v
    except Diverged as e:
        total += e.args[0] * b
    return total


def finally_returns(a, b):
    def scaled(x):
        try:
            if x > 1:
                raise ValueError
            return x
        finally:
            return x * b  # noqa: B012

    return scaled(a) + scaled(0.1 * a)


def changed_and_raised(a, b):
    total = 0.0
    for k in range(3):
        try:
            try:
                if k == 1:
                    raise NotConverged(a, k)
                total += b
            except NotConverged as e:
                e.best = e.best * 2
                raise e
        except NotConverged as e:
            total += e.best * b
    return total


def captured(a, b):
    n = 0.0

    def bump(k):
        nonlocal n
        n += a
        if k == 2:
            raise ValueError
        n += b

    for k in range(4):
        try:
            bump(k)
        except ValueError:
            n *= b
    return n


def items_by_index(a, b):
    numbers, total = [a, b, a * b], 0.0
    array = np.array(numbers)
    for i in (0, 2, 3, -3, -4, 1):
        try:
            total += numbers[i] * array[i]
        except IndexError:
            total += b
    return total


def arrays_in_exceptions(a, b):
    x, total = np.array([a, b, 1.0]), 0.0
    for k in range(4):
        try:
            x[k % 3] = x[k % 3] * 2
            if k > 1:
                raise Diverged(x)
            x = x + 1
        except Diverged as e:
            x[0] += a
            total += e.args[0].sum()
    return total + x.sum()


def of_a_library(a, b):
    total = 0.0
    for k in range(3):
        try:
            total += np.linalg.inv(np.array([[a, k * 1.0], [a * k, b if k < 2 else 4.0]]))[0, 0]
        except np.linalg.LinAlgError:
            total += b
    return total


def dicts_that_make_values(a, b):
    import collections

    d, total = collections.defaultdict(float), 0.0
    d["p"] = a
    for name in ("p", "q"):
        try:
            total += d[name] + b
        except KeyError:
            total += 100.0
    return total * len(d)


def asks_what_only_exceptions_have(a, b):
    total = 0.0
    for k in range(3):
        try:
            if k == 1:
                raise ValueError(a)
            if k == 2:
                raise ValueError(a) from KeyError(b)
            total += b
        except ValueError as e:
            total += a if e.__cause__ is None else b
            total += a if e.__traceback__ is None else b * k
            total += len(e.__dict__) * a
    return total


def numpy_scalars(a, b):
    total = 0.0
    for v in np.array([a, b, -a, a * b]):
        try:
            total += math.sqrt(v) + 1 / (v + 2 * a)
        except ValueError:
            total += b * b
        except ZeroDivisionError:
            total += 100.0
    return total


def objects_in_dicts(a, b):
    class Point:
        def __init__(self, x):
            self.x = x

    points, total = {"p": Point(a), "q": Point(b)}, 0.0
    for name in ("p", "r", "q"):
        try:
            total += points[name].x + points["p"].x
        except KeyError:
            total += a * b
    return total


def assigned_arguments(a, b):
    try:
        raise ValueError(a)
    except ValueError as e:
        e.args = [b, a]
        return e.args[0] * (a if isinstance(e.args, tuple) else b)


ENDED = {"times": 0}


def counted(v, n):
    try:
        for i in range(n):
            yield v * i
    finally:
        ENDED["times"] = ENDED["times"] + 1


def given_up_within_a_clause(a, b):
    total = b
    try:
        for v in counted(a * b, 5):
            total += v
    except Exception:
        total = total * a
    return total


OTHERS = [
    given_up_within_a_clause,
    *(asks_what_only_exceptions_have, numpy_scalars, objects_in_dicts, assigned_arguments),
    *(raised_within_with, handled_within_with, of_several_messages, its_text_is_asked, the_last_is_kept, all_are_kept),
    *(causes, of_a_generator, finally_returns, changed_and_raised, captured, items_by_index, arrays_in_exceptions),
    *(of_a_library, dicts_that_make_values),
]


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_derivatives_are_those_of_the_carried_program_whatever_is_done_with_exceptions(f):
    for a in (1.3, 0.4):
        check(f, a, 1.7, specialised=None)


class Measured(Exception):
    def __init__(self, residual, steps):
        super().__init__(f"{residual:.2e} after {steps}")
        self.residual = residual


class Spoken(Exception):
    def __init__(self, residual):
        self.residual = residual

    def __str__(self):
        return f"residual {self.residual:.1f}"


def texts_of_exceptions(a, b):
    total = 0.0
    for k in range(5):
        try:
            if k == 1:
                raise Measured(a * k, k)
            if k == 2:
                raise Failed("bad", k, b)
            if k == 3:
                raise Failed
            if k == 4:
                raise Spoken(a)
            total += a * b
        except Measured as e:
            total += e.residual * len(str(e)) * b
        except Spoken as e:
            total += e.residual * len(str(e))
        except Failed as e:
            said = f"{e}|{e!r}" + "%s / %r" % (e, e) + "%s" % e  # noqa: UP031 - what "%" shows of one
            total += len(said[:9]) * a + len(e.args) * b
    return total


def texts_of_missing_keys(a, b):
    total, known = 0.0, {"p": a}
    for name in ("p", "quite"):
        try:
            total += known[name] * b
        except KeyError as e:
            total += a * len(str(e)) + b * len(repr(e))
    return total


def raised_from_another(a, b):
    try:
        try:
            raise ValueError(f"inner {a > 0}")
        except ValueError as e:
            raise RuntimeError(f"outer: {e}") from e
    except RuntimeError as e:
        return a * b * len(str(e))


def texts_of_what_changes(a, b):
    items = [1]
    try:
        raise ValueError(items)
    except ValueError as e:
        items.append(2)
        return a * len(str(e)) * b


def texts_without_an_initialiser(a, b):
    try:
        raise Kept(a)
    except Kept as e:
        return e.kept * (str(e) == str(a)) * b + len(e.args) * a


class Kept(Exception):
    def __init__(self, kept):
        self.kept = kept


TEXTS = [texts_of_exceptions, texts_of_missing_keys, texts_of_what_changes, texts_without_an_initialiser]


@pytest.mark.parametrize("f", [*TEXTS, raised_from_another])
def test_what_exceptions_say_is_a_text(f):
    check_all_ways(f, 0.7, 1.3)
    check_all_ways(f, 1.1, 0.4)


def logs_what_was_raised(a, b):
    try:
        raise Measured(a * b, 3)
    except Measured as e:
        LOG.warning("not converged: %s, %r", e, e)
        LOG.error(e)
        return e.residual * a


def test_exceptions_that_are_logged(caplog):
    def logged():
        # Where it is carried, the frame that is asked for the line is one of the engine's.
        return [(r.getMessage(), r.lineno if TYPED else None, r.levelname) for r in caplog.records]

    logs_what_was_raised(0.7, 1.3)
    plain = logged()
    for _ in range(2):
        caplog.clear()
        assert ad.gradient(logs_what_was_raised, 0.7, 1.3) == pytest.approx((2 * 0.7 * 1.3, 0.49))
        assert logged() == plain
    check_all_ways(logs_what_was_raised, 0.7, 1.3)


def test_how_an_exception_is_shown_is_looked_at_again(monkeypatch):
    check_all_ways(texts_of_exceptions, 0.7, 1.3)
    monkeypatch.setattr(Failed, "__str__", lambda self: "something else", raising=False)
    check(texts_of_exceptions, 0.7, 1.3, specialised=None)


def test_what_nobody_handles_leaves_the_function_as_it_is():
    def other_clause(a):
        try:
            raise NotConverged(a, 1)
        except KeyError:
            return a

    def out_of_a_handler(a):
        try:
            return math.sqrt(-a)
        except ValueError:
            raise Diverged("no root") from None

    check_raises(other_clause, 2.0)
    check_raises(out_of_a_handler, 2.0)


def test_programs_that_are_too_much_with_their_handlers_are_typed_without_them():
    def f(a, b):
        x, total = np.array([a, b, 1.0]), 0.0
        for k in range(4):
            try:
                x[k % 3] = x[k % 3] * 2
                if total > 1e9:
                    raise Diverged(x)
                x = x + 1
            except Diverged as e:
                x[0] += a
                total += e.args[0].sum()
        return total + x.sum()

    check(f, 1.3, 1.7)


def asks_for_a_length(x):
    try:
        n = len(x)
    except TypeError:
        n = 3
    return x * n


def asks_for_items(x):
    try:
        found = list(x)
    except TypeError:
        found = [x, 2.0 * x]
    return sum(found)


def asks_for_an_item(x):
    try:
        return x[0] * 2.0
    except (TypeError, IndexError):
        return x * x


def asks_for_an_attribute(x):
    try:
        unit = x.unit
    except AttributeError:
        unit = 2.5
    return x * unit


def asks_for_a_method(x):
    try:
        y = x.simplified()
    except AttributeError:
        y = x
    return y * y


def unpacks_a_number(x):
    try:
        a, b = x
    except TypeError:
        a, b = x, 3.0
    return a * b


def computes_with_nothing(x):
    scale = None
    try:
        return scale * x
    except TypeError:
        return 5.0 * x


def calls_a_number(x):
    scale = 3.0
    try:
        return scale(x)
    except TypeError:
        return scale * x


def calls_with_too_little(x):
    def product(a, b):
        return a * b

    try:
        return product(x)
    except TypeError:
        return product(x, x)


def asks_a_list(x):
    found = [x, x * x]
    try:
        return found.shape[0] * x
    except AttributeError:
        return found[1]


def asks_in_a_loop(x):
    total, last = 0.0, None
    for i in range(4):
        try:
            new = last * x
        except TypeError:
            new = x
        total, last = total + i * new, new
    return total


def asks_two_levels_up(x):
    def item(y):
        return y[0]

    try:
        return item(x)
    except TypeError:
        return x * x


ASKING = [asks_for_a_length, asks_for_items, asks_for_an_item, asks_for_an_attribute, asks_for_a_method]
ASKING += [unpacks_a_number, computes_with_nothing, calls_a_number, calls_with_too_little, asks_a_list]


@pytest.mark.parametrize("f", [*ASKING, asks_two_levels_up])
def test_what_the_types_forbid_is_raised_for_certain(f):
    check_all_ways(f, 0.7)


def test_what_the_types_of_one_round_forbid_another_may_do():
    check_slopes(asks_in_a_loop, 0.7, specialised=None)


@pytest.mark.parametrize("f", [asks_for_a_length, asks_for_items, asks_for_an_item, unpacks_a_number])
def test_what_a_number_is_asked_is_asked_of_an_array_again(f):
    for given in (0.7, np.array([0.7, 0.9]), 0.8, np.float64(0.9), np.array([0.4, 0.5])):
        check(lambda x: np.sum(f(x)), given, specialised=None)
