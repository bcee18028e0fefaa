"""What a run loads, and what is known of its values, as text: each assumption is a place where the function leaves."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.runtime.lookup import MISSING
from autodiff_hook.runtime.slots import Attribute
from autodiff_hook.semantics.fusing.derived import Names
from autodiff_hook.semantics.fusing.observed import COMPARED, HARMLESS, PLAINLY, Observed, Unfit, plain_classes
from autodiff_hook.semantics.fusing.tree import Assign, If, Leave, Node

Types = frozenset[type]
_KEYS: Final = frozenset({int, str})


class Loading:
    """Writes the loads of one function."""

    def __init__(self, seen: Observed, names: Names, missed: str) -> None:
        self.seen, self.names, self.missed = seen, names, missed
        self.nodes: list[Node] = []
        self.tokens: dict[Operand, str] = {}
        self.types: dict[Operand, Types] = {}
        self.reads = False
        """Whether something is loaded that may have a token."""
        self._loaded_at: dict[tuple[Any, ...], Variable] = {}
        """What was loaded, by where it was: a run changes nothing."""
        self._entries: dict[str, str] = {}
        """The tokens of the slots of a reference, by its name."""
        self._holders: dict[Operand, str] = {}
        """The ``__dict__`` of an object or module."""

    def guard(self, test: str, *uses: str) -> None:
        """Leave if this is so, for a look at what is different."""
        self.nodes.append(Leave(test, self.missed, frozenset(uses)))

    def leave(self, test: str, *uses: str) -> None:
        """Leave if this is so."""
        self.nodes.append(Leave(test, "None", frozenset(uses)))

    def assign(self, target: str, text: str, *uses: str, keep: bool = False) -> str:
        """Write an assignment; the name."""
        self.nodes.append(Assign(target, text, frozenset(uses), keep))
        return target

    def require(self, s: Statement, operand: Operand, allowed: Types) -> Types:
        """The types of an operand, which is of one of those that were seen."""
        if isinstance(operand, Constant):
            found: Types = frozenset({type(operand.value)})
        elif operand in self.types:
            found = self.types[operand]
        else:
            found = self.types[operand] = frozenset(self.seen.types.get(operand, ()))
            if found and found <= allowed:
                name = self.names.of(operand)
                tests = [f"type({name}) is not {self.names.object(cls)}" for cls in sorted(found, key=repr)]
                self.guard(" and ".join(tests), name)
        if not found or not found <= allowed:
            raise Unfit(s)
        return found

    def only(self, s: Statement, operand: Operand, allowed: Types) -> type:
        """The type of an operand that has only one."""
        found = self.require(s, operand, allowed)
        if len(found) > 1:
            raise Unfit(s)
        return next(iter(found))

    def load(self, s: Statement) -> bool:
        """Write a statement, if it is a load; whether it is one."""
        load = _LOADS.get(s.op)
        if load is not None:
            self._load(s, load)
        return load is not None

    def _load(self, s: Statement, load: Any) -> None:
        place = (s.op, s.data, *[(type(x.value), x.value) if isinstance(x, Constant) else x for x in s.operands])
        before = self._loaded_at.get(place)
        if before is None:
            load(self, s)
            self._loaded_at[place] = s.made
            return
        self.names.known[s.made] = self.names.of(before)
        for facts in self.facts():
            if before in facts:
                facts[s.made] = facts[before]

    def facts(self) -> tuple[dict[Operand, Any], ...]:
        """What is known of what was loaded."""
        return self.tokens, self.types

    def _entry(self, holder: str, is_list: bool) -> str:
        """The tokens of the slots of ``holder``, or None."""
        entry = self._entries.get(holder)
        if entry is None:
            entry = self._entries[holder] = self.names.new("e")
            self.reads = True
            self.assign(entry, f"shadows(id({holder}))", holder)
            found: list[Node] = [Assign(entry, f"{entry}[1]", frozenset({entry}))]
            if is_list:
                found.append(Leave(f"len({entry}) != len({holder})", "None", frozenset({entry, holder})))
            self.nodes.append(If(f"{entry} is not None", frozenset({entry}), found, []))
        return entry

    def _loaded(self, s: Statement, holder: str, key: str, is_list: bool = False, owner: str | None = None) -> None:
        """The token of what was loaded from a slot of ``holder``, an attribute of ``owner`` if that is another."""
        names, value, token = self.names, self.names.of(s.made), self.names.new("t")
        entry = self._entry(holder, is_list)
        slot = f"{entry}[{key}]" if is_list else f"{entry}.get({key})"
        self.assign(token, f"None if {entry} is None else {slot}", entry, key)
        self.tokens[s.made] = token
        if not self.seen.types[s.made] <= COMPARED:
            # An argument under another name is an effect: what it holds is unknown from then on.
            reference, place = (holder, key) if owner is None else (owner, names.object(Attribute(str(s.data))))
            given = f"id({value}) in given.ids and id({reference}) not in given.ids"
            test = f"{token} is None and given is not None and {given} and given.renames({reference}, {place})"
            self.leave(test, token, value, reference, place)

    def _item(self, s: Statement) -> None:
        names, (owner, key) = self.names, s.operands
        cls = self.only(s, owner, frozenset({list, tuple, dict}))
        held, place = names.of(owner), names.of(key)
        self.require(s, key, _KEYS if cls is dict else frozenset({int}))
        self.assign(names.name(s.result, "v"), f"{held}[{place}]", held, place, keep=True)
        if cls is not tuple:
            self._loaded(s, held, place, cls is list)
            return
        inner = self.tokens.get(owner, "None")
        if inner != "None":
            token = self.tokens[s.made] = names.new("t")
            self.assign(token, f"None if {inner} is None else {inner}[{place}]", inner, place)

    def _cell(self, s: Statement) -> None:
        cell = self.names.of(s.operands[0])
        self.assign(self.names.name(s.result, "v"), f"{cell}.cell_contents", cell, keep=True)
        self._loaded(s, cell, "0")

    def _attribute(self, s: Statement) -> None:
        names, owner = self.names, s.operands[0]
        held, name, kinds = names.of(owner), str(s.data), self.seen.types.get(owner, ())  # type: ignore[arg-type]
        if owner not in self._holders:
            own = f"k{held}"
            self.assign(own, f"type({held})", held)
            if kinds == {ModuleType}:
                self.guard(f"{own} is not {names.object(ModuleType)}", own)
            elif kinds == {object}:
                self.guard(f"{own}.__getattribute__ is not {names.object(PLAINLY)}", own)
            else:
                raise Unfit(s)
            holder = self._holders[owner] = self.assign(names.new("d"), f"{held}.__dict__", held)
            self.leave(f"type({holder}) is not dict", holder)
        if kinds == {object}:
            own = f"k{held}"
            plain, harmless = names.object(plain_classes(name)), names.object(HARMLESS)
            found = f"type(getattr({own}, {name!r}, {names.object(MISSING)}))"
            self.guard(f"id({own}) not in {plain} or {found} not in {harmless}", own)
        holder = self._holders[owner]
        self.assign(names.name(s.result, "v"), f"{holder}[{name!r}]", holder, keep=True)
        self._loaded(s, holder, repr(name), owner=held)

    def load_global(self, s: Statement, name: str, namespace: str | None) -> None:
        """A global, which was loaded before."""
        self.names.known[s.made] = name
        if namespace is not None:
            self._loaded(s, namespace, repr(s.data))


_LOADS: Final = {"getitem": Loading._item, "cell_get": Loading._cell, "getattr": Loading._attribute}
