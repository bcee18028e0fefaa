"""Never a silent zero: calls through which a derivative would be lost."""

import collections
import copy
import pickle
import threading

import numpy as np
import programs
import pytest

import autodiff_hook as ad


def lost(function, point=1.5):
    with pytest.raises(ad.NotDifferentiable) as caught:
        ad.jvp(function, (point,), (1.0,))
    return str(caught.value)


def test_opaque_calls():
    message = lost(lambda x: pickle.loads(pickle.dumps(x)))
    assert "_pickle.dumps" in message and __file__ in message and "stop_gradient" in message


def test_queues():
    q = collections.deque()
    try:
        assert ad.jvp(lambda x: q.append([x]) or q.pop()[0] * x, (1.5,), (1.0,)) == (2.25, 3.0)
    except ad.NotDifferentiable as error:
        assert "must be" not in str(error)


def test_classes_out_of_scope():
    assert "Vector.__init__" in lost(lambda x: programs.Vector(x, 1.0).x)


def test_constants_go_in_freely():
    assert ad.jvp(lambda x: x * pickle.loads(pickle.dumps(2.0)), (1.5,), (1.0,)) == (3.0, 2.0)


def test_what_says_nothing_numeric_is_a_constant():
    assert ad.jvp(lambda x: x * (2.0 if str(x) == format(x) else 1.0), (1.5,), (1.0,)) == (3.0, 2.0)


def test_exceptions_with_arguments_are_right_or_an_error():
    def f(x):
        try:
            raise ValueError(x)
        except ValueError as error:
            return error.args[0]

    try:
        _, tangent = ad.jvp(f, (1.5,), (1.0,))
    except ad.AutodiffError:
        return
    assert tangent == 1.0


def test_lists_changed_behind_the_back():
    done = threading.Event()

    def f(x):
        xs = [x, x]
        thread = threading.Thread(target=lambda: (xs.pop(), done.set()))
        thread.start()
        thread.join()
        return xs[0]

    with pytest.raises(ad.AutodiffError):
        ad.jvp(f, (1.5,), (1.0,))


def test_stop_gradient():
    assert ad.jvp(lambda x: x * ad.stop_gradient(x), (3.0,), (1.0,)) == (9.0, 3.0)
    assert ad.hvp(lambda x: x * x * ad.stop_gradient(x), (3.0,), (1.0,)) == (6.0,)


def test_hook_has_no_forward_mode():
    with pytest.raises(ad.Unsupported, match="hook"):
        ad.jvp(lambda x: ad.hook(print, x), (3.0,), (1.0,))


def test_checkpoint():
    assert ad.jvp(lambda x: ad.checkpoint(lambda t: t**3)(x), (2.0,), (1.0,)) == (8.0, 12.0)
    assert ad.hvp(lambda x: ad.checkpoint(lambda t: t**3)(x), (2.0,), (1.0,)) == (12.0,)


def test_unknown_derivatives():
    with pytest.raises(ad.NotDifferentiable):
        ad.jvp(lambda x: (-2.0) ** x, (2.0,), (1.0,))


def test_stores_through_views_with_another_item_size():
    def f(x):
        z = np.zeros(4)
        z.view(np.float32)[0] = x
        return z.sum()

    with pytest.raises(ad.NotDifferentiable, match="item size"):
        ad.jvp(f, (2.0,), (1.0,))


def test_deep_copies():
    assert ad.jvp(lambda x: copy.deepcopy([x])[0] * x, (2.0,), (1.0,))[1] == pytest.approx(4.0)
