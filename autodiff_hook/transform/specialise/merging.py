"""What comes to a block over its edges. Of one of several objects the attributes come, as parameters of their own.

So ``p = p + v`` in a loop needs no object. It holds while the attributes are assigned once, when an object is made.
Lists, dicts and objects that come by one name may be one: their sites are united.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from autodiff_hook.ir.types import Edge, Operand, Variable
from autodiff_hook.records import record
from autodiff_hook.transform.specialise import peeling
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Dict,
    Fresh,
    Iterator,
    Known,
    List,
    OneOf,
    Optional,
    Record,
    Reference,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Changes, Refused
from autodiff_hook.transform.specialise.families import ask_for_family
from autodiff_hook.transform.specialise.kept import is_kept, is_made, places_of
from autodiff_hook.transform.specialise.lattice import (
    built_of,
    content_of,
    is_absent,
    is_none,
    item_like,
    items_of_tuple,
    join,
    reached,
    sites_in,
    widened,
)
from autodiff_hook.transform.specialise.own_kinds import held_in

if TYPE_CHECKING:
    from autodiff_hook.transform.specialise.infer import Inference

LENGTHS = "lengths"
"""What the place begins with that stands for an attribute which tuples of several lengths are."""


@record
class Merged:
    """An object that stands for several: the parameters that bring its attributes, after the others of its block."""

    cls: type
    params: dict[str, Variable]
    made: set[Variable] = field(default_factory=set)
    """Where the objects were made that come here."""
    starts: dict[Edge, int] = field(default_factory=dict)
    """Where the arguments of edges begin that belong to these parameters."""


class Merging:
    """The types of what comes over edges, and the merged objects of a program by the parameter that they come by."""

    def __init__(self, inference: Inference) -> None:
        self.inf = inference
        self.merged: dict[Variable, Merged] = {}
        self.uniting: list[set[Site]] = []
        """The pairs that are one if what they hold can be, which is being found out."""

    def flow(self, edge: Edge, received: list[Abstract]) -> bool:
        """Whether something comes to the target of ``edge`` that was not known to come there."""
        self._bind(edge)
        given = [*received, *map(self.inf.type_of, edge.args)]
        pairs = list(zip(edge.target.params, given, strict=True))
        return any([self._meet(edge, param, abstract) for param, abstract in pairs])

    def _meet(self, edge: Edge, param: Variable, abstract: Abstract) -> bool:
        inf = self.inf
        before = inf.types.get(param)
        if param in inf.tests:
            abstract = inf.tests[param].refined(abstract, inf.type_of)
        else:
            # A loop may bring an object of another class later.
            abstract = widened(abstract)
        if param in self.merged:
            return False
        if isinstance(before, Fresh) and isinstance(abstract, Fresh) and self._begin(edge, param, before, abstract):
            inf.types[param] = Fresh(before.cls, param)
            inf.stale = True
            for other in [*(e for e in inf.taken if e.target is edge.target and e is not edge), edge]:
                self._bind(other)
                merged = self.merged[param]
                args = other.args[merged.starts[other] :]
                for name, arg in list(zip(merged.params.values(), args)):
                    self._meet(other, name, inf.type_of(arg))
            return True
        if before is not None and _is_object_or_none(inf, before, abstract):
            ask_for_objects(inf, before, abstract)
        if before is not None and before != abstract:
            for attribute in [a for merged in self.merged.values() for a, x in merged.params.items() if x is param]:
                ask_for_any_length(attribute, before, abstract)
        after = abstract if before is None else inf.joined(before, abstract)
        if before is not None and after == before:
            return False
        if before is not None:
            peeling.ask_for(inf, edge.target, before, abstract, after)
        inf.types[param] = after
        # Who has read what was known before will be visited again.
        inf.stale = inf.stale or before is not None and edge.target in inf.visited
        return True

    def _names(self, made: Variable) -> list[str]:
        return sorted(name for owner, name in self.inf.fields if owner is made)

    def _begin(self, edge: Edge, param: Variable, a: Fresh, b: Fresh) -> bool:
        """Whether two objects are alike, so that from here on their attributes come by themselves."""
        changes = any(type(place) is tuple and place[0] is a.cls for place in self.inf.program.changed)
        names = self._names(a.made)
        if a == b or a.cls is not b.cls or changes or not names or names != self._names(b.made):
            return False
        params = {name: Variable(name) for name in names}
        self.merged[param] = Merged(a.cls, params)
        edge.target.params += params.values()
        self.inf.fields |= {(param, name): (value, None) for name, value in params.items()}
        return True

    def _bind(self, edge: Edge) -> None:
        """Let an edge bring the attributes of the objects that it brings."""
        for param, merged in list(self.merged.items()):
            if param not in edge.target.params:
                continue
            value = self.inf.type_of(self._argument(edge, param))
            alike = isinstance(value, Fresh) and value.cls is merged.cls and self._names(value.made) == [*merged.params]
            if not isinstance(value, Fresh) or not alike:
                ask_for_built(self.inf, value, Fresh(merged.cls, param))
                raise Refused("objects of several kinds")
            merged.made.add(value.made)
            args = [self.inf.fields[value.made, name][0] for name in merged.params]
            start = merged.starts.setdefault(edge, len(edge.args))
            edge.args[start : start + len(args)] = args

    def _argument(self, edge: Edge, param: Variable) -> Operand:
        for merged in self.merged.values():
            if param in merged.params.values() and edge in merged.starts:
                place = merged.starts[edge] + list(merged.params.values()).index(param)
                break
        else:
            own = [p for p in edge.target.params if not any(p in m.params.values() for m in self.merged.values())]
            first = min([m.starts[edge] for m in self.merged.values() if edge in m.starts], default=len(edge.args))
            place = own.index(param) - len(own) + first
        if place < 0:
            raise Refused("objects of several kinds")
        return edge.args[place]

    def confirm(self) -> None:
        """Refuse the program if something else was assigned to the objects than what they were made with."""
        for param, merged in self.merged.items():
            for edge in merged.starts:
                value = self.inf.type_of(self._argument(edge, param))
                assert isinstance(value, Fresh)
                stores = [self.inf.fields[value.made, name][1] for name in merged.params]
                for store in stores:
                    if store is not None:
                        self.inf.order(store, edge)
            if any(self._names(made) != list(merged.params) for made in (param, *merged.made)):
                raise Changes("an attribute of one of several objects is assigned", built_of(merged.cls))

    def joined(self, a: Abstract, b: Abstract) -> Abstract:
        """The least that is true of both: lists and dicts that come by one name may be one."""
        if isinstance(a, Optional) or isinstance(b, Optional):
            if not (is_none(a) or is_none(b)):
                together = self.joined(content_of(a), content_of(b))
                if isinstance(together, Reference):
                    a, b = (replace(x, content=together) if isinstance(x, Optional) else together for x in (a, b))
            return join(a, b)
        if isinstance(a, Dict) and isinstance(b, Dict):
            ask_for_family(a, b)
        if isinstance(a, Reference) and type(a) is type(b) and a != b and _may_be_one(a, b):
            if {a.site.root(), b.site.root()} in self.uniting:
                return a
            self._unite(a.site, b.site)
        elif isinstance(a, Iterator) and isinstance(b, Iterator):
            self.joined(a.item, b.item)
        elif isinstance(a, Tuple) and isinstance(b, Tuple) and (a.cls, a.keys) == (b.cls, b.keys):
            if len(a.items) == len(b.items):
                return Tuple(tuple(map(self.joined, a.items, b.items)), a.cls, a.keys, example=a.example, place=a.place)
        if a != b:
            ask_for_built(self.inf, a, b)
        places = [x.place for x in (a, b) if isinstance(x, Tuple) and x.cls is not tuple]
        if a != b and places and all(isinstance(x, (Tuple, List, Dict)) for x in (a, b)) and None not in places:
            raise Changes("lists of several lengths come together", *places)
        return join(a, b)

    def unite_stored(self) -> None:
        """Objects of a class to which attributes are assigned may be one, wherever they are met."""
        for cls in self.inf.outer.stored:
            first, *others = self.sites_of(cls)
            for other in others:
                self._unite(first, other)
                if other.root() is not first.root():
                    raise Refused("objects of one class are changed, of which some have other attributes")

    def sites_of(self, cls: type) -> list[Site]:
        """Where objects of a class come from."""
        roots = {x.root(): None for kind in self.inf.types.values() for site in sites_in(kind) for x in reached(site)}
        return [site for site in roots if site.examples and type(site.examples[0]) is cls]

    def _unite(self, a: Site, b: Site) -> None:
        """Let lists of two sites be one, if what they hold can be."""
        if a.examples or b.examples:
            self._unite_given(a, b)
            return
        pair = {a.root(), b.root()}
        self.uniting.append(pair)
        for x in a.named.keys() & b.named.keys():
            ask_for_any_length(x, a.named[x], b.named[x])
        named = {x: self._both(a.named.get(x), b.named.get(x)) for x in {**b.named, **a.named}}
        item = self._both(a.item, b.item)
        self.uniting.remove(pair)
        keys = [x for x in (a.key, b.key) if x is not None]
        if any(x is not None and item_like(x) is None for x in (item, *named.values())):
            if any(pair & reached(site) for x in (item, *named.values()) if x is not None for site in sites_in(x)):
                raise Refused("what holds its own kind comes together with what holds something else")
            return
        self.inf.stale = True
        a.unite(b)
        a.key = reduce(join, keys) if keys else None
        # What they hold may have come together with more meanwhile.
        a.item = None if item is None else self._like(a.item, item)
        for name, kind in named.items():
            assert kind is not None
            a.named[name] = self._like(a.named.get(name), kind)

    def _both(self, a: Abstract | None, b: Abstract | None) -> Abstract | None:
        """What is true of both, as far as something is known."""
        return self.joined(a, b) if a is not None and b is not None else a or b

    def _like(self, before: Abstract | None, kind: Abstract) -> Abstract:
        found = item_like(kind if before is None else self.joined(before, kind))
        if found is None:
            raise Refused("lists or dicts of several kinds of things come together")
        return found

    def _unite_given(self, a: Site, b: Site) -> None:
        """The same of objects from outside; what one of them holds that may be one of them still does."""
        named, roots = {**b.named, **a.named}, {a.root(), b.root()}
        own = [x for x, kind in named.items() if any(roots & reached(site) for site in sites_in(kind))]
        held = held_in([*a.examples, *b.new_to(a)], lambda x: [getattr(x, name) for name in own])
        kinds = {x: self.inf.world.attribute_kind(held, x) for x in named}
        if None in kinds.values():
            return
        changed = [x for x in kinds if len(held) > len(a.examples) or x not in a.named]
        self.inf.stale = True
        a.unite(b)
        a.examples[:] = held
        for x in changed:
            a.named[x] = kinds[x]  # type: ignore[assignment]
        for x in [x for x in changed if x in own]:
            self.joined(named[x], kinds[x])  # type: ignore[arg-type]


def _is_object_or_none(inf: Inference, a: Abstract, b: Abstract) -> bool:
    """Whether objects that the program makes come by the same name as nothing, or as one that is in a list."""
    alone = [(y, isinstance(x, Fresh) or is_made(x)) for x, y in ((a, b), (b, a)) if _made(inf, x)]
    return any(is_absent(y) or one and isinstance(content_of(y), Dict) for y, one in alone)


def ask_for_built(inf: Inference, a: Abstract, b: Abstract) -> None:
    """Objects that are not alike, or nothing, come by one name: it is followed again, with one that is built."""
    if inf.one_way:
        return
    made = [x.cls for x in (a, b) if isinstance(x, Fresh)]
    alike = made and all(isinstance(x, Fresh) or is_absent(x) for x in (a, b))
    if alike and not any(issubclass(cls, BaseException) for cls in made):
        raise Changes("objects that come by several ways are not alike", *map(built_of, made))
    if any(is_made(x) or is_kept(x) for x in (a, b)) and all(map(_may_be_called, (a, b))):
        places = {place for x in (a, b) for place in (*_made(inf, x), *places_of(inf.type_of, content_of(x)))}
        if places - inf.program.changed:
            raise Changes("several functions come by one name", *places)


def ask_for_any_length(name: str, a: Abstract, b: Abstract) -> None:
    """Tuples of several lengths come by the name of an attribute: it is followed again, with tuples of any length."""
    # A list that stands for a tuple has any.
    counts = {None if (items := items_of_tuple(x)) is None else len(items) for x in (a, b) if not _is_of_any_length(x)}
    counts |= {-1 for x in (a, b) if _is_of_any_length(x)}
    if len(counts) > 1 and None not in counts:
        raise Changes("tuples of several lengths are an attribute", (LENGTHS, name))


def _is_of_any_length(value: Abstract) -> bool:
    return isinstance(value, List) and value.site.cls is tuple


def _may_be_called(value: Abstract) -> bool:
    return is_made(value) or is_absent(value) or isinstance(content_of(value), (Fresh, Known, OneOf, Dict))


def _may_be_one(a: Reference, b: Reference) -> bool:
    if a.site.root() is b.site.root():
        return False
    return not (isinstance(a, Record) and isinstance(b, Record)) or a.cls is b.cls


def ask_for_objects(inf: Inference, *values: Abstract) -> None:
    """An object that is not built is put into a list: the program is followed again, with one that is."""
    places = {place for value in values for place in _made(inf, value)}
    if places - inf.program.changed and not inf.one_way:
        raise Changes("an object or a function that the program makes is put into a list", *places)


def _made(inf: Inference, value: Abstract) -> set[Any]:
    """What stands for the objects and functions that exist only while the program is made."""
    if isinstance(value, Optional):
        return _made(inf, value.content)
    if isinstance(value, Tuple):
        return {place for item in value.items for place in _made(inf, item)}
    if isinstance(value, Fresh):
        return {built_of(value.cls)}
    return places_of(inf.type_of, value) if is_made(value) else set()
