"""Programs in which one name is one of several objects, closures or lists that the program makes."""


class P:
    def __init__(self, a):
        self.a = a

    def step(self, v):
        self.a += v


def chosen_by_a_branch(x):
    p = P(x)
    q = P(2 * x)
    if x > 0.3:
        z = p
    else:
        z = q
    z.a += 5.0
    return p.a + 3 * q.a


def chosen_by_an_expression(x):
    p = P(x)
    q = P(2 * x)
    z = p if x > 0.3 else q
    z.a = 5.0 * x * x
    return p.a


def chosen_in_a_loop(x):
    p = P(x)
    q = P(2 * x)
    z = p
    for i in range(3):
        z.a += i * x
        if i == 1:
            z = q
    return p.a + 3 * q.a


def chosen_anew_in_a_loop(x):
    p = P(x)
    q = P(2 * x)
    s = 0
    for i in range(3):
        z = p if i == 1 else q
        z.a += i * x
        s += z.a
    return s


def returned_by_a_helper(x):
    def mk(v, c):
        p = P(v)
        q = P(2 * v)
        q.a += 1
        p.a += 1
        return p if c else q

    s = 0
    for i in range(3):
        z = mk(x, i == 1)
        z.a += x
        s += z.a
    return s


def bound_methods(x):
    p = P(x)
    q = P(2 * x)
    m = p.step
    for i in range(3):
        m(x)
        if i == 0:
            m = q.step
    return p.a + 3 * q.a


def closures_in_a_loop(x):
    def mk(v):
        s = v

        def g(a):
            nonlocal s
            s += a
            return s

        return g

    a = mk(x)
    b = mk(2 * x)
    z = a
    for i in range(3):
        z(x)
        if i == 1:
            z = b
    return a(x) + 3 * b(x)


def closures_by_a_branch(x):
    def mk(v):
        s = v

        def g(a):
            nonlocal s
            s += a
            return s

        return g

    a = mk(x)
    b = mk(2 * x)
    g = a if x > 0.3 else b
    g(x)
    g(x)
    return a(x) + 3 * b(x)


def an_object_or_its_class(x):
    p = P(x)
    q = P
    z = p if x > 0.3 else q
    z.a = 0.5
    return p.a


def none_or_an_object(x):
    h = None
    if x > 0.3:
        h = P(x * x)
    return h.a if h is not None else x


def none_before_a_loop(x):
    h = None
    for i in range(3):
        n = P(x * i)
        h = n
    if h is not None:
        return h.a
    return 0.0


def none_at_first(x):
    s = 0
    h = None
    for i in range(3):
        if h is not None:
            s += h.a * x
        h = P(x * i + 1)
    return s


def none_or_a_closure(x):
    s = 0
    h = None
    for i in range(3):
        if h is not None:
            s += h(x)
        h = lambda v: v * i  # noqa: B023, E731
    return s


def a_helper_that_may_find_nothing(x):
    def find(v):
        if v > 0.3:
            return P(v)

    s = x
    for i in range(3):
        r = find(x * i)
        if r is None:
            s += 1
        else:
            s += x * x
    return s


def identity_of_one_of_two(x):
    p = P(x)
    q = P(x)
    h = p if x > 0.3 else q
    return x * x if h is p else x


def identity_of_two(x):
    p = P(x)
    q = P(x)
    return x * x if q is p else (3 * x if p is p else x)


def none_in_a_tuple(x):
    h = (P(x), None) if x > 0.3 else (None, P(x))
    if h[0] is None:
        return x * x
    return x * 3


def a_linked_list(x):
    h = None
    for i in range(4):
        n = P(x * i)
        n.nxt = h
        h = n
    s = 0.0
    while h is not None:
        h.a += s
        s += h.a * x
        h = h.nxt
    return s


def a_list_in_a_dict(x):
    h = {0: [], 1: []}
    h[1].append(x)
    return sum(h[1])


def a_list_in_a_dict_by_a_name(x):
    h = {1: []}
    a = h[1]
    a.append(x)
    return sum(h[1])


def a_list_among_numbers(x):
    h = {0: 0.5, 1: [], 2: x}
    i = 1
    h[i].append(x)
    return sum(h[1])


def a_list_named_before(x):
    items = []
    d = {5: items}
    for i in range(3):
        items.append(x * i)
    return sum(d[5])


def a_list_by_a_name(x):
    h = {"a": [], "b": x}
    for i in range(3):
        h["a"].append(x * i)
    return sum(h["a"]) * h["b"]


def lists_in_a_list(x):
    h = [[], []]
    h[1].append(x)
    h[0].append(x * x)
    return sum(h[1]) * sum(h[0])


def a_list_with_two_names(x):
    items = []
    d = {0: items}
    items.append(x)
    return d[0][0] + items[0] * x


def lists_in_a_tuple(x):
    h = ([], [x])
    for i in range(2):
        h[i].append(x * i)
    return sum(h[1]) + sum(h[0])
