"""Programs with functions that call themselves, and share lists, dicts, objects and captured variables with others."""

from __future__ import annotations

import functools
import math

import numpy as np


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def sum(self, x):
        found = self.value * x
        if self.left is not None:
            found += self.left.sum(x * 0.5)
        if self.right is not None:
            found += math.sin(self.right.sum(x + 0.1))
        return found


class Box:
    def __init__(self, value, held=()):
        self.value = value
        self.held = list(held)


class Link:
    def __init__(self, value, rest):
        self.value, self.rest = value, rest


class Walker:
    def __init__(self):
        self.total, self.count, self.log = 0.0, 0, []

    def visit(self, tree, x):
        if tree is None:
            return
        self.total += tree.value * x
        self.count += 1
        self.visit(tree.left, x)
        self.visit(tree.right, x)

    def take_turns(self, other, n, x):
        if n == 0:
            return
        self.total += x * n
        other.total = other.total * 0.5 + self.total
        other.count += 1
        self.log.append(other.total)
        other.take_turns(self, n - 1, x * 1.1)


def tree_of(depth, value=1.0):
    if depth == 0:
        return Tree(value)
    return Tree(value, tree_of(depth - 1, value * 0.9), tree_of(depth - 1, value * 1.1) if depth % 2 else None)


TREE = tree_of(4)
BOX = Box(1.0, [Box(2.0), Box(3.0, [Box(0.5), Box(0.7)])])


def total(tree, x):
    if tree is None:
        return 0.0
    return tree.value * x + total(tree.left, x) * 0.5 + total(tree.right, x * x)


def summed(items, i, x):
    return 0.0 if i >= len(items) else items[i] * x + math.sin(summed(items, i + 1, x))


def weighted(items):
    return sum([v * i for i, v in enumerate(items)])


# Read


def of_a_tree_from_outside(x):
    return total(TREE, x) + TREE.sum(x)


def of_its_own_tree(x):
    return total(tree_of(4, x), x)


def by_a_method(x):
    tree = tree_of(3, x)
    tree.value = tree.value * x
    found = tree.sum(x)
    tree.left.value = found
    return found + tree.left.sum(x)


def of_boxes_in_boxes(x):
    def go(box, x):
        return box.value * x + sum([go(inner, x * 0.9) for inner in box.held])

    def made(n, x):
        return Box(x * n, [made(n - 1, x * (i + 1)) for i in range(n)])

    return go(BOX, x) + go(made(3, x), x)


def of_a_linked_list(x):
    def go(link, x):
        return 0.0 if link is None else link.value * x + go(link.rest, x * 0.9)

    links = None
    for i in range(9):
        links = Link(x * i, links)
    return go(links, x)


def of_a_list_that_changes_later(x):
    items = [x, x * x, 2.0]
    found = summed(items, 0, x)
    items.append(found)
    items[0] = found * found
    return found + summed(items, 0, 0.5) + items[0]


def of_a_list_that_changes_between_calls(x):
    items, found = [x * i for i in range(5)], 0.0
    for i in range(5):
        found += summed(items, 0, x)
        items[i] = math.cos(found)
        if i == 2:
            items.pop()
        if i > 2:
            break
    return found + sum(items)


def of_a_whole_list_that_changes_later(x):
    def go(items, n):
        return 0.0 if n == 0 else float(np.sum(np.array(items) ** 2)) + go(items, n - 1)

    items = [x, x * x, 1.0]
    found = go(items, 3)
    items[0] = 100.0 * found
    return found + items[0]


def of_arrays_in_a_list(x):
    def go(weights, i, a):
        return a if i == len(weights) else go(weights, i + 1, np.tanh(weights[i] * a))

    a = np.array([0.3, 0.7]) * x
    weights = [a * (i + 1) for i in range(3)]
    found = np.sum(go(weights, 0, a))
    weights[0] = a * 5
    return found + np.sum(go(weights, 1, a))


def by_a_closure(x):
    items = [x * i for i in range(12)]

    def go(i, j):
        if j - i == 1:
            return items[i] * items[i]
        return go(i, (i + j) // 2) + math.sin(go((i + j) // 2, j))

    return go(0, 12)


def in_turns(x):
    def even(n, x, ends):
        return ends[0] if n == 0 else x * odd(n - 1, x, ends)

    def odd(n, x, ends):
        return ends[1] if n == 0 else math.sin(even(n - 1, x, ends)) + ends[2]

    return even(9, x, [x, x * x, 1.0])


def of_minors(x):
    def determinant(m):
        if len(m) == 1:
            return m[0][0]
        found = 0.0
        for j in range(len(m)):
            found += (-1) ** j * m[0][j] * determinant([row[:j] + row[j + 1 :] for row in m[1:]])
        return found

    return determinant([[math.sin(x * (i + 1) * (j + 2)) for j in range(4)] for i in range(4)])


# Returned


def sorted_by_parts(x):
    def quick(items):
        if len(items) <= 1:
            return items
        first = items[0]
        low = [v for v in items[1:] if v < first]
        high = [v for v in items[1:] if v >= first]
        return quick(low) + [first] + quick(high)

    items = [math.sin(x * i * 3) for i in range(12)]
    found = quick(items)
    found[0] = x
    return weighted(found) + sum(items)


def sorted_by_merging(x):
    def merge(items):
        n = len(items)
        if n <= 1:
            return items
        a, b = merge(items[: n // 2]), merge(items[n // 2 :])
        out, i, j = [], 0, 0
        while i < len(a) and j < len(b):
            if a[i] <= b[j]:
                out.append(a[i])
                i += 1
            else:
                out.append(b[j])
                j += 1
        out.extend(a[i:])
        out.extend(b[j:])
        return out

    return weighted(merge([math.sin(x * i * 3) for i in range(12)]))


def transformed(x):
    def halves(a):
        n = len(a)
        if n == 1:
            return a
        even, odd = halves(a[::2]), halves(a[1::2])
        found = [0.0] * n
        for k in range(n // 2):
            turned = math.cos(2 * math.pi * k / n) * odd[k]
            found[k], found[k + n // 2] = even[k] + turned, even[k] - turned
        return found

    return sum([v * v for v in halves([math.sin(x * i) for i in range(8)])])


def one_of_two_lists(x):
    def pick(a, b, n):
        return a if n == 0 else pick(b, a, n - 1)

    a, b = [x, 1.0], [2.0, x * x]
    for n in range(4):
        c = pick(a, b, n)
        c[0] = c[1] * x + c[0]
        c.append(x * n)
    return sum(a) * 2 + sum(b) * 3 + summed(a, 0, x)


def an_object_or_none(x):
    def find(tree, bound):
        if tree is None:
            return None
        if tree.value < bound:
            return tree
        found = find(tree.left, bound)
        return found if found is not None else find(tree.right, bound)

    tree = tree_of(3, x)
    found = find(tree, x * 0.85)
    if found is None:
        return x
    found.value = found.value * found.value
    return found.value + tree.value + total(tree, x)


def a_row_of_lists(x):
    def go(rows, n):
        if n == 0:
            return rows[0][0]
        rows[n % 2].append(rows[0][0] * n)
        rows[0] = [v * 1.1 for v in rows[1 - n % 2]]
        return go(rows, n - 1) + rows[0][0]

    rows = [[x, 2.0], [3.0 * x]]
    before = rows[1]
    found = go(rows, 4)
    before[0] = found
    return found + sum(rows[0]) + sum(rows[1]) * 0.5


# Changed


def appended_to(x):
    def grow(items, n, x):
        if n == 0:
            return items
        items.append(items[-1] * x + n)
        return grow(items, n - 1, x)

    items = [x]
    found = grow(items, 4, x)
    found.append(found[2] * x)
    items[1] = items[3] * found[0]
    return sum(items) + found[-1] * 3 + weighted(grow([1.0], 2, x))


def one_list_by_two_names(x):
    def go(a, b, n):
        if n == 0:
            return a
        b.append(a[-1] * 0.5)
        return go(b, a, n - 1)

    items = [x]
    found, others = go(items, items, 3), go([x], [2.0], 4)
    found[0] = x * 3
    return sum(items) + sum(others) * 2


def sorted_in_place(x):
    def go(items, low, high):
        if low >= high:
            return
        i = low
        for j in range(low, high):
            if items[j] < items[high]:
                items[i], items[j] = items[j], items[i]
                i += 1
        items[i], items[high] = items[high], items[i]
        go(items, low, i - 1)
        go(items, i + 1, high)

    items = [math.sin(x * i * 3) for i in range(12)]
    go(items, 0, 11)
    return weighted(items)


def kept_in_a_dict(x):
    def keep(kept, n, items):
        if n == 0:
            return
        kept[n] = items
        keep(kept, n - 1, [v * 2.0 for v in items])

    kept, items = {}, [x, x * x]
    keep(kept, 3, items)
    items[0] = 5.0 * x * x
    kept[2][1] = x * x * x
    kept[3].append(x)
    return sum([sum(kept[k]) * k for k in (1, 2, 3)])


def remembered(x):
    def go(n, x, known):
        if n in known:
            return known[n]
        found = x if n < 2 else go(n - 1, x, known) * 0.5 + go(n - 2, x, known) * x
        known[n] = found
        return found

    return go(12, x, {})


def remembered_by_what_is_differentiated(x):
    def go(y, known, n):
        if n == 0:
            return y
        if y in known:
            return known[y]
        known[y] = found = math.sin(y) + go(y * 0.5, known, n - 1)
        return found

    return go(x, {}, 4) + go(x * 0.5, {}, 3)


def dict_items(x):
    def go(d, n):
        if n == 0:
            return d["a"]
        d["a"], d["b"] = d["b"] * 0.5, d["a"] * d["a"] + n
        return go(d, n - 1) + d["b"]

    d = {"a": x, "b": 2.0}
    found = go(d, 4)
    return found * d["a"] + d["b"]


def emptied(x):
    def drain(stack, x):
        if not stack:
            return 0.0
        v = stack.pop()
        if v > 0.5:
            stack.append(v * 0.4)
        return v * x + 0.9 * drain(stack, x)

    stack = [x, x * 2.0, 0.3]
    found = drain(stack, x)
    stack.append(x)
    return found + drain(stack, found) + len(stack)


def read_backwards_while_it_grows(x):
    def go(items, n):
        if n == 0:
            return sum([v * i for i, v in enumerate(reversed(items))])
        found = 0.0
        for v in reversed(items):
            found = found * 0.9 + v
        items.append(found)
        return found * go(items, n - 1)

    items = [x, 1.0]
    found = go(items, 3)
    items.append(x)
    return found + sum(items)


def taken_back(x):
    def go(n, product, used, items):
        if n == 0:
            return product
        found = 0.0
        for i in range(len(items)):
            if not used[i]:
                used[i] = True
                found += go(n - 1, product * items[i], used, items)
                used[i] = False
        return found

    return go(3, 1.0, [False] * 4, [x + i for i in range(4)])


def gathered_by_a_walk(x):
    def walk(tree, out, x):
        if tree is None:
            return
        walk(tree.left, out, x)
        out.append(tree.value * x)
        walk(tree.right, out, x)

    out = []
    walk(TREE, out, x)
    return weighted(out)


def added_up_in_an_object(x):
    a, b = Walker(), Walker()
    a.visit(TREE, x)
    a.take_turns(b, 5, x)
    a.take_turns(a, 3, x)
    return a.total / a.count + 2 * b.total + sum(a.log) + weighted(b.log)


def changed_all_over_a_tree(x):
    def scale(tree, x):
        if tree is None:
            return
        tree.value = tree.value * x + 0.1
        scale(tree.left, x)
        scale(tree.right, x * x)

    def swap(pair, x):
        low, high = pair
        low.value, high.value = high.value * x, low.value
        if low.left is not None and high.left is not None:
            swap((low.left, high.left), x)

    tree = tree_of(3, 1.0)
    scale(tree, x)
    swap((tree.left, tree), x)
    return total(tree, 0.9)


def lists_in_objects_that_others_append_to(x):
    def fill(box, n, x):
        if n == 0:
            return
        box.held = [box.value * x]
        fill(box, n - 1, x * 1.1)
        box.held.append(x)

    def read(box, i):
        return 0.0 if i < 0 else box.held[i] * (i + 1) + read(box, i - 1)

    box = Box(x, [x])
    fill(box, 3, x)
    box.held.append(x * x)
    found = read(box, len(box.held) - 1)
    box.held[0] = found
    return found + read(box, 1)


def attributes_that_may_be_none(x):
    def predict(tree, x):
        if tree.value is not None:
            return tree.value
        weight = 1.0 / (1.0 + math.exp(-x))
        return (1 - weight) * predict(tree.left, x) + weight * predict(tree.right, x)

    def grown(n, x):
        return Tree(x * 0.5) if n == 0 else Tree(None, grown(n - 1, x * 0.9), grown(n - 1, x * 1.2))

    return predict(grown(3, x), x)


def of_a_cache(x):
    @functools.cache
    def go(i, j):
        if i == 0 or j == 0:
            return x
        return math.sin(go(i - 1, j)) + go(i, j - 1) * 0.3

    return go(5, 5)


def captured_and_assigned(x):
    found, count = 0.0, 0

    def go(n):
        nonlocal found, count
        if n == 0:
            return
        found += x * n
        count += 1
        go(n - 1)

    go(4)
    found = found * found
    go(2)
    return found / count


def one_tree_in_several_places(x):
    trees = [tree_of(2, x * (i + 1)) for i in range(3)]
    trees[1] = trees[0]
    trees[1].value = x * x
    return sum([total(tree, x) for tree in trees])


def a_long_list_of_links(x):
    links = None
    for i in range(200):
        links = Link(x * i, links)
    return rest_of(links, 0.99) + x


def rest_of(link, x):
    return 0.0 if link is None else link.value * x + rest_of(link.rest, x * 0.9)


# Of arguments


def of_a_given_tree(tree, x):
    return total(tree, x) + tree.sum(x)


def of_given_boxes(box, x):
    return box.value * x + sum([of_given_boxes(inner, x * 0.9) for inner in box.held])


def of_a_given_list(items, x):
    return summed(items, 0, x) + sum(items)


def shifted(items, n, x):
    if n > 0:
        items[n] = items[n - 1] * x
        shifted(items, n - 1, x)


def of_a_given_list_that_changes(items, x):
    shifted(items, 2, x)
    return weighted(items)
