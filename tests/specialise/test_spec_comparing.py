"""Comparisons of objects in programs for all ways: by the methods of their classes, or by what stands before them."""

from __future__ import annotations

import functools
import heapq
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import pytest
from specialised_cases import check, check_all_ways, check_raises


@dataclass(order=True)
class Event:
    time: float
    place: int
    kind: str = field(compare=False, default="a")


@functools.total_ordering
class Job:
    def __init__(self, start, weight):
        self.start, self.weight = start, weight

    def __lt__(self, other):
        return self.start < other.start

    def __eq__(self, other):
        return self.start == other.start


class Node:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        if not isinstance(other, Node):
            return NotImplemented
        return self.value < other.value

    def __eq__(self, other):
        return isinstance(other, Node) and self.value == other.value


class Apart:
    def __init__(self, value):
        self.value = value


def queue_of_events(x, y):
    heap, total = [], 0.0
    for k in range(8):
        heapq.heappush(heap, Event(y + math.sin(3 * k) * x, k, "a" if k % 2 else "b"))
    while heap:
        event = heapq.heappop(heap)
        total += event.time * event.place * math.sin(total) if event.kind == "a" else event.time
    return total


def objects_behind_numbers(x, y):
    heap, total = [], 0.0
    for k in range(8):
        heapq.heappush(heap, (math.sin(3 * k) * x, k, Apart(y * k)))
    while heap:
        when, place, held = heapq.heappop(heap)
        total += when * place + held.value * math.sin(total + y)
    return total


def by_methods(x, y):
    jobs = [Job(x * math.sin(k) + y, k) for k in range(6)]
    first = last = jobs[0]
    for job in jobs[1:]:
        if job < first:
            first = job
        if job >= last:
            last = job
    return first.start * last.start + first.weight * y


def all_signs(x, y):
    a, b = Node(x), Node(y)
    total = x if a < b else 2 * x
    total += y if a > b else 3 * y
    total += x * y if a == b else x
    total += y if a != b else 5 * x
    return total + (x if a == 3 else 7 * y) + (x if a != None else y)  # noqa: E711


class Store(ABC):
    def __init__(self, level):
        self.level = level

    @abstractmethod
    def flow(self): ...

    def step(self, gain):
        self.level += gain - self.flow()
        return self.level


class Linear(Store):
    def flow(self):
        return 0.1 * self.level


def of_abstract_classes(x, y):
    stores = Linear(x), Linear(y)
    return sum(store.step(x) * store.step(y) for store in stores) * isinstance(stores[0], Store)


ALL_WAYS = [queue_of_events, objects_behind_numbers, by_methods, all_signs, of_abstract_classes]


@pytest.mark.parametrize("f", ALL_WAYS)
def test_objects_are_compared(f):
    check_all_ways(f, 0.7, 1.3)
    check_all_ways(f, 1.1, 0.4)


def equal_before_objects(x, y):
    heap = []
    for k in range(6):
        heapq.heappush(heap, (k % 2, Node(x * math.cos(k))))
    return sum(node.value * k for k, (_, node) in enumerate(heap)) * y


def of_two_classes(x, y):
    return x if Node(x) == Event(x, 1) else y


def not_implemented(x, y):
    return x * (Node(x).__lt__(3) is NotImplemented) + y


@pytest.mark.parametrize("f", [equal_before_objects, of_two_classes, not_implemented])
def test_what_need_not_be_typed_is_right(f):
    check(f, 0.7, 1.3, specialised=None)


def no_order(x):
    return x if Apart(x) < Apart(1.0) else 2 * x


def no_order_of_numbers(x):
    return x if Node(x) < 3.0 else 2 * x


def objects_without_order_behind_equals(x):
    return x if (1, Apart(x)) < (1, Apart(2.0)) else 2 * x


def abstract(x):
    return Store(x).level


@pytest.mark.parametrize("f", [no_order, no_order_of_numbers, objects_without_order_behind_equals, abstract])
def test_errors_are_those_of_the_plain_call(f):
    check_raises(f, 0.7)


def test_methods_are_looked_at_again(monkeypatch):
    check_all_ways(by_methods, 0.7, 1.3)
    monkeypatch.setattr(Job, "__lt__", lambda self, other: self.start > other.start)
    check_all_ways(by_methods, 0.7, 1.3)
