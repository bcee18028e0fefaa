"""Matrices of a dict of entries (DOK): what is 0 is left away where it is stored, but for what has a derivative."""

from scipy.sparse import _dok

from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means


def keep_entry(matrix, *given):
    *place, x = given
    matrix._dict[place[0] if len(place) == 1 else tuple(place)] = x


def keep_entries(matrix, *given):
    *places, x = given
    numbers = [list(map(int, place.ravel())) for place in places]
    matrix._dict.update(zip(numbers[0] if len(numbers) == 1 else zip(*numbers), x.ravel()))


def storing(left_away, kept):
    """A method that stores entries, as ``left_away`` does or as ``kept``."""

    def carried(alg, t, args, kwargs):
        return enter(alg, (None, *t), left_away if t[-1] is None else kept, args, kwargs)

    return carried


for _name, _kept in {
    **dict.fromkeys(("_set_int", "_set_intXint"), keep_entry),
    **dict.fromkeys(("_set_array", "_set_arrayXarray"), keep_entries),
}.items():
    _method = getattr(_dok._dok_base, _name, None)
    if _method is not None:
        means(_method)(storing(_method, _kept))
