"""A function of one float for each public name of the numeric standard library that may have to do with floats."""

import array
import bisect
import cmath
import decimal
import functools
import heapq
import itertools
import math
import operator
import random
import statistics
from decimal import Decimal
from fractions import Fraction
from functools import partial


def rows(x):
    return [x, x * x, 3 * x, 1.0 + x**3]


def weighed(items):
    return sum([(i + 1) * v * v for i, v in enumerate(items)])


def parts(z):
    return z.real + 2 * z.imag * z.real


def exact(x):
    return Fraction(x * x), Fraction(1 + x)


def precise(x):
    return Decimal(x * x), Decimal(1 + x)


def context():
    return decimal.Context(prec=30)


def changed(change, items, *args):
    change(items, *args)
    return weighed(items)


def popped(pop, items, *args):
    return pop(items, *args) ** 2 + weighed(items)


def ordered(x):
    heap = rows(x)
    heapq.heapify(heap)
    return heap


def numbers(x):
    return array.array("d", rows(x))


def drawn(name):
    return lambda draw: lambda x: draw(getattr(random.Random(3), name), x)


def seeded(name):
    def sampled(draw):
        def of_module(x):
            random.seed(3)
            return draw(getattr(random, name), x)

        return of_module

    return sampled


def shuffled(shuffle, x):
    items = rows(x)
    shuffle(items)
    return weighed(items)


DRAWS = {
    "uniform": lambda draw, x: draw(x, 1 + x * x),
    "triangular": lambda draw, x: draw(0.1, 1 + x * x, x),
    "gauss": lambda draw, x: draw(x, 1 + x * x),
    "normalvariate": lambda draw, x: draw(x, 1 + x * x),
    "lognormvariate": lambda draw, x: draw(x, 0.3 * x),
    "expovariate": lambda draw, x: draw(1 + x * x),
    "gammavariate": lambda draw, x: draw(1 + x, x),
    "betavariate": lambda draw, x: draw(1 + x, 1.5),
    "vonmisesvariate": lambda draw, x: draw(x, 2.0 * x),
    "paretovariate": lambda draw, x: draw(1 + x),
    "weibullvariate": lambda draw, x: draw(x, 1 + x),
    "choice": lambda draw, x: draw(rows(x)) ** 2,
    "choices": lambda draw, x: math.prod(draw(rows(x), weights=[1.0, x, 2.0, 3.0], k=4)),
    "sample": lambda draw, x: weighed(draw(rows(x), 3)),
    "shuffle": shuffled,
}

OF_ONE = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh"
MATH = {
    **{
        name: partial(lambda f, x: f(x * x + 1 if f is math.acosh else x), getattr(math, name))
        for name in OF_ONE.split()
    },
    **{
        name: partial(lambda f, x: f(x), getattr(math, name))
        for name in (
            "cbrt",
            "degrees",
            "erf",
            "erfc",
            "exp2",
            "expm1",
            "fabs",
            "gamma",
            "lgamma",
            "log1p",
            "log2",
            "radians",
        )
    },
    "atan2": lambda x: math.atan2(x, 1 + x * x),
    "copysign": lambda x: math.copysign(x * x, x - 2),
    "dist": lambda x: math.dist([x, 1.0], [x * x, 2 * x]),
    "fma": lambda x: math.fma(x, x * x, 2 * x),
    "fmod": lambda x: math.fmod(3 + x, x),
    "frexp": lambda x: math.frexp(x)[0] ** 2,
    "fsum": lambda x: math.fsum(rows(x)),
    "hypot": lambda x: math.hypot(x, x * x, 2.0),
    "ldexp": lambda x: math.ldexp(x * x, 3),
    "modf": lambda x: math.modf(2 + x)[0] ** 2,
    "nextafter": lambda x: math.nextafter(x * x, 9.0),
    "pow": lambda x: math.pow(x, 1 + x),
    "prod": lambda x: math.prod(rows(x)),
    "remainder": lambda x: math.remainder(3 + x, x),
    "sumprod": lambda x: math.sumprod(rows(x), [x, 2.0, x, 1.0]),
}
CMATH = {
    **{name: partial(lambda f, x: parts(f(x + 0.3j * x * x)), getattr(cmath, name)) for name in OF_ONE.split()},
    "phase": lambda x: cmath.phase(x + 0.3j),
    "polar": lambda x: math.prod(cmath.polar(x + 0.3j)),
    "rect": lambda x: parts(cmath.rect(x, x * x)),
}
STATISTICS = {
    **{
        name: partial(lambda f, x: f(rows(x)), getattr(statistics, name))
        for name in (
            *("fmean", "geometric_mean", "harmonic_mean", "mean", "median", "median_grouped", "median_high"),
            *("median_low", "mode", "pstdev", "pvariance", "stdev", "variance"),
        )
    },
    "NormalDist": lambda x: statistics.NormalDist(x, 1 + x).pdf(x * x),
    "correlation": lambda x: statistics.correlation(rows(x), [1.0, x, 4.0, 2.0]),
    "covariance": lambda x: statistics.covariance(rows(x), [1.0, x, 4.0, 2.0]),
    "kde": lambda x: statistics.kde(rows(x), 1 + x)(x),
    "kde_random": lambda x: statistics.kde_random(rows(x), 1 + x, seed=3)(),
    "linear_regression": lambda x: math.prod(statistics.linear_regression(rows(x), [1.0, x, 4.0, 2.0])),
    "multimode": lambda x: weighed(statistics.multimode(rows(x))),
    "quantiles": lambda x: weighed(statistics.quantiles(rows(x), n=3)),
}
NORMAL = {
    **{
        name: partial(lambda name, x: getattr(statistics.NormalDist(x, 1 + x), name), name)
        for name in ("mean", "median", "mode", "stdev", "variance")
    },
    **{
        name: partial(lambda name, x: getattr(statistics.NormalDist(x, 1 + x), name)(x * x), name)
        for name in ("cdf", "inv_cdf", "pdf", "zscore")
    },
    "from_samples": lambda x: statistics.NormalDist.from_samples(rows(x)).stdev,
    "overlap": lambda x: statistics.NormalDist(x, 1 + x).overlap(statistics.NormalDist(1.0, x)),
    "quantiles": lambda x: weighed(statistics.NormalDist(x, 1 + x).quantiles(3)),
    "samples": lambda x: weighed(statistics.NormalDist(x, 1 + x).samples(3, seed=3)),
}
FRACTION = {
    "from_decimal": lambda x: float(Fraction.from_decimal(precise(x)[0]) ** 2),
    "from_float": lambda x: float(Fraction.from_float(x) ** 2),
    "from_number": lambda x: float(Fraction.from_number(x) ** 2),
    "conjugate": lambda x: float(exact(x)[0].conjugate() ** 2),
    "real": lambda x: float(exact(x)[0].real ** 2),
}
DECIMALS_OF_ONE = "canonical copy_abs copy_negate exp ln log10 next_minus next_plus normalize"
DECIMALS_OF_TWO = "copy_sign max max_mag min min_mag next_toward remainder_near"
DECIMAL = {
    **{
        name: partial(lambda name, x: float(getattr(precise(x)[0], name)()) ** 2, name)
        for name in (*DECIMALS_OF_ONE.split(), "conjugate", "sqrt")
    },
    **{
        name: partial(lambda name, x: float(getattr(precise(x)[0], name)(precise(x)[1])) ** 2, name)
        for name in DECIMALS_OF_TWO.split()
    },
    "fma": lambda x: float(precise(x)[0].fma(*precise(x))),
    "from_float": lambda x: float(Decimal.from_float(x) ** 2),
    "from_number": lambda x: float(Decimal.from_number(x) ** 2),
    "real": lambda x: float(precise(x)[0].real ** 2),
    "scaleb": lambda x: float(precise(x)[0].scaleb(2) ** 2),
}
CONTEXT = {
    **{
        name: partial(lambda name, x: float(getattr(context(), name)(precise(x)[0])) ** 2, name)
        for name in (*DECIMALS_OF_ONE.split(), "abs", "copy_decimal", "create_decimal", "minus", "plus", "sqrt")
    },
    **{
        name: partial(lambda name, x: float(getattr(context(), name)(*precise(x))) ** 2, name)
        for name in (*DECIMALS_OF_TWO.split(), "add", "divide", "multiply", "power", "remainder", "subtract")
    },
    "create_decimal_from_float": lambda x: float(context().create_decimal_from_float(x) ** 2),
    "divmod": lambda x: float(context().divmod(*precise(x)[::-1])[1]) ** 2,
    "fma": lambda x: float(context().fma(*precise(x), precise(x)[0])),
    "scaleb": lambda x: float(context().scaleb(precise(x)[0], 2) ** 2),
}


class Held:
    def __init__(self, x):
        self.x = x

    def times(self, y):
        return self.x * y

    @functools.cached_property
    def square(self):
        return self.x * self.x

    twice = functools.partialmethod(times, 2.0)

    @functools.singledispatchmethod
    def added(self, y):
        return self.x + y * y


@functools.total_ordering
class Sized:
    def __init__(self, x):
        self.x = x

    def __lt__(self, other):
        return self.x < other.x


@functools.cache
def cached(x):
    return x * x


@functools.lru_cache(2)
def remembered(x):
    return x * x


@functools.wraps(cached)
def wrapped(x):
    return x**3


@functools.singledispatch
def dispatched(x):
    return x**3


def in_place(name, x, y):
    return getattr(operator, name)([x], [y]) if name == "iconcat" else getattr(operator, name)(x, y)


ITERTOOLS = {
    "accumulate": lambda x: weighed(itertools.accumulate(rows(x), lambda a, b: a * b)),
    "batched": lambda x: sum([a * b for a, b in itertools.batched(rows(x), 2)]),
    "chain": lambda x: weighed(itertools.chain(rows(x), [x])),
    "combinations": lambda x: sum([a * b for a, b in itertools.combinations(rows(x), 2)]),
    "combinations_with_replacement": lambda x: sum(
        [a * b for a, b in itertools.combinations_with_replacement(rows(x), 2)]
    ),
    "compress": lambda x: weighed(itertools.compress(rows(x), [1, 0, 1, 1])),
    "count": lambda x: weighed(itertools.islice(itertools.count(x, x * x), 3)),
    "cycle": lambda x: weighed(itertools.islice(itertools.cycle(rows(x)), 6)),
    "dropwhile": lambda x: weighed(itertools.dropwhile(lambda v: v < 1, rows(x))),
    "filterfalse": lambda x: weighed(itertools.filterfalse(lambda v: v < 1, rows(x))),
    "groupby": lambda x: sum([math.prod(group) * 2 for _, group in itertools.groupby(rows(x), lambda v: v < 1)]),
    "islice": lambda x: weighed(itertools.islice(rows(x), 1, None, 2)),
    "pairwise": lambda x: sum([a * b for a, b in itertools.pairwise(rows(x))]),
    "permutations": lambda x: sum([a * b * b for a, b in itertools.permutations(rows(x), 2)]),
    "product": lambda x: sum([a * b * b for a, b in itertools.product(rows(x), [x, 2.0])]),
    "repeat": lambda x: weighed(itertools.repeat(x, 3)),
    "starmap": lambda x: weighed(itertools.starmap(pow, [(x, 2.0), (1 + x, x)])),
    "takewhile": lambda x: weighed(itertools.takewhile(lambda v: v < 1, rows(x))),
    "tee": lambda x: sum([a * b for a, b in zip(*itertools.tee(rows(x)))]),
    "zip_longest": lambda x: sum([a * b for a, b in itertools.zip_longest(rows(x), [x], fillvalue=x)]),
}
FUNCTOOLS = {
    "cache": lambda x: cached(x) * x,
    "cached_property": lambda x: Held(x).square * x,
    "cmp_to_key": lambda x: weighed(sorted(rows(x), key=functools.cmp_to_key(lambda a, b: b - a))),
    "lru_cache": lambda x: remembered(x) * x,
    "partial": lambda x: functools.partial(pow, x)(1 + x),
    "partialmethod": lambda x: Held(x).twice() * x,
    "reduce": lambda x: functools.reduce(operator.mul, rows(x)),
    "singledispatch": lambda x: dispatched(x) * x,
    "singledispatchmethod": lambda x: Held(x).added(x),
    "total_ordering": lambda x: x * x if Sized(x) >= Sized(0.1) else x,
    "update_wrapper": lambda x: functools.update_wrapper(lambda y: y * x, cached)(x),
    "wraps": lambda x: wrapped(x) * x,
}
OPERATOR = {
    **{
        name: partial(lambda f, x: f(3 + x, 1 + x), getattr(operator, name))
        for name in ("add", "iadd", "imod", "imul", "ipow", "isub", "itruediv", "mod", "mul", "pow", "sub", "truediv")
    },
    **{name: partial(lambda f, x: f(x * x), getattr(operator, name)) for name in ("abs", "neg", "pos")},
    **{
        name: partial(lambda f, x: x * x if f(x, 0.5) else x**3, getattr(operator, name))
        for name in ("eq", "ge", "gt", "le", "lt", "ne")
    },
    **{name: partial(lambda f, x: x * x if f(x) else x**3, getattr(operator, name)) for name in ("not_", "truth")},
    **{
        name: partial(lambda f, x: x**3 + f(3 + x, 1 + x), getattr(operator, name))
        for name in ("floordiv", "ifloordiv")
    },
    "attrgetter": lambda x: operator.attrgetter("x")(Held(x)) ** 2,
    "call": lambda x: operator.call(pow, x, 1 + x),
    "concat": lambda x: weighed(operator.concat(rows(x), [x])),
    "contains": lambda x: x * x if operator.contains(rows(x), x) else x**3,
    "delitem": lambda x: changed(operator.delitem, rows(x), 1),
    "getitem": lambda x: operator.getitem(rows(x), 3) ** 2,
    "iconcat": lambda x: weighed(operator.iconcat(rows(x), [x])),
    "itemgetter": lambda x: math.prod(operator.itemgetter(1, 3)(rows(x))),
    "methodcaller": lambda x: operator.methodcaller("times", x)(Held(x)),
    "setitem": lambda x: changed(operator.setitem, rows(x), 1, x**3),
}
HEAPQ = {
    "heapify": lambda x: weighed(ordered(x)),
    "heappop": lambda x: popped(heapq.heappop, ordered(x)),
    "heappush": lambda x: changed(heapq.heappush, ordered(x), x**3),
    "heappushpop": lambda x: popped(heapq.heappushpop, ordered(x), x + 0.1),
    "heapreplace": lambda x: popped(heapq.heapreplace, ordered(x), x + 0.1),
    "heapify_max": lambda x: changed(heapq.heapify_max, rows(x)),
    "heappop_max": lambda x: popped(heapq.heappop_max, rows(x)[::-1]),
    "heappush_max": lambda x: changed(heapq.heappush_max, [3 * x], x**3),
    "heappushpop_max": lambda x: popped(heapq.heappushpop_max, [3 * x, x], 2 * x),
    "heapreplace_max": lambda x: popped(heapq.heapreplace_max, [3 * x, x], 2 * x),
    "merge": lambda x: weighed(heapq.merge(sorted(rows(x)), [x, 2 * x])),
    "nlargest": lambda x: weighed(heapq.nlargest(2, rows(x))),
    "nsmallest": lambda x: weighed(heapq.nsmallest(2, rows(x))),
}
BISECT = {
    name: partial(lambda f, x: changed(f, sorted(rows(x)), 1.1 * x), getattr(bisect, name))
    for name in ("insort", "insort_left", "insort_right")
}
ARRAY = {
    "append": lambda x: changed(array.array.append, numbers(x), x**3),
    "clear": lambda x: changed(array.array.clear, numbers(x)) + x * x,
    "count": lambda x: numbers(x).count(x) * x * x,
    "extend": lambda x: changed(array.array.extend, numbers(x), [x, 2 * x]),
    "fromlist": lambda x: changed(array.array.fromlist, numbers(x), [x, 2 * x]),
    "index": lambda x: (1 + numbers(x).index(x)) * x * x,
    "insert": lambda x: changed(array.array.insert, numbers(x), 1, x**3),
    "pop": lambda x: popped(array.array.pop, numbers(x), 1),
    "remove": lambda x: changed(array.array.remove, numbers(x), x),
    "reverse": lambda x: changed(array.array.reverse, numbers(x)),
    "tolist": lambda x: weighed(numbers(x).tolist()),
}

PROGRAMS = {
    "math": MATH,
    "cmath": CMATH,
    "statistics": STATISTICS,
    "statistics.NormalDist": NORMAL,
    "fractions": {"Fraction": lambda x: float(exact(x)[0] / exact(x)[1])},
    "fractions.Fraction": FRACTION,
    "decimal": {"Decimal": lambda x: float(precise(x)[0] / precise(x)[1])},
    "decimal.Decimal": DECIMAL,
    "decimal.Context": CONTEXT,
    "random": {name: seeded(name)(draw) for name, draw in DRAWS.items()},
    "random.Random": {name: drawn(name)(draw) for name, draw in DRAWS.items()},
    "itertools": ITERTOOLS,
    "functools": FUNCTOOLS,
    "operator": OPERATOR,
    "heapq": HEAPQ,
    "bisect": BISECT,
    "array": {
        name: partial(lambda f, x: weighed(f("d", rows(x))), getattr(array, name)) for name in ("array", "ArrayType")
    },
    "array.array": ARRAY,
}
NO_FLOATS = {
    "of whole numbers and bits": {
        "operator": "and_ iand ilshift inv invert ior irshift ixor lshift or_ rshift xor",
        "fractions.Fraction": "denominator numerator as_integer_ratio is_integer limit_denominator imag",
        "decimal.Decimal": "as_tuple",
        "decimal": "DecimalTuple",
    },
    "of arrays, whose operator is @": {"operator": "matmul imatmul"},
    "of bytes and text": {"array.array": "tobytes"},
}
"""Names that are known, and give no float from floats: without a program."""
