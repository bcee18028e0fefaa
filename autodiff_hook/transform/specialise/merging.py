"""What comes to a block over its edges. Of one of several objects the attributes come, as parameters of their own.

So ``p = p + v`` in a loop needs no object. It holds while the attributes are assigned once, when an object is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autodiff_hook.ir.types import Edge, Variable
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh
from autodiff_hook.transform.specialise.bodies import Refused

if TYPE_CHECKING:
    from autodiff_hook.transform.specialise.infer import Inference


@dataclass(slots=True)
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
        after = abstract if before is None else inf.joined(before, abstract)
        if before is not None and after == before:
            return False
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
                raise Refused("objects of several kinds")
            merged.made.add(value.made)
            args = [self.inf.fields[value.made, name][0] for name in merged.params]
            start = merged.starts.setdefault(edge, len(edge.args))
            edge.args[start : start + len(args)] = args

    def _argument(self, edge: Edge, param: Variable) -> Variable:
        for merged in self.merged.values():
            if param in merged.params.values() and edge in merged.starts:
                place = merged.starts[edge] + list(merged.params.values()).index(param)
                break
        else:
            own = [p for p in edge.target.params if not any(p in m.params.values() for m in self.merged.values())]
            first = min([m.starts[edge] for m in self.merged.values() if edge in m.starts], default=len(edge.args))
            place = own.index(param) - len(own) + first
        found = edge.args[place] if place >= 0 else None
        if not isinstance(found, Variable):
            raise Refused("objects of several kinds")
        return found

    def confirm(self) -> None:
        """Refuse the program if something else was assigned to the objects than what they were made with."""
        for param, merged in self.merged.items():
            for edge in merged.starts:
                value = self.inf.type_of(self._argument(edge, param))
                assert isinstance(value, Fresh)
                stores = [self.inf.fields[value.made, name][1] for name in merged.params]
                self.inf.orders += [(store, edge) for store in stores if store is not None]
            if any(self._names(made) != list(merged.params) for made in (param, *merged.made)):
                raise Refused("an attribute of one of several objects is assigned")
