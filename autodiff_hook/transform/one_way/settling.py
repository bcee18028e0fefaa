"""The end of one way through a program: what it leaves outside, in lists, dicts, attributes and global names.

What is assigned to an object from outside would be missed where that has another name, so that is guarded to be none.
"""

from __future__ import annotations

from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.runtime.fitting import are_no_attributes
from autodiff_hook.runtime.lookup import dictionary_of
from autodiff_hook.transform.one_way import given_arrays
from autodiff_hook.transform.one_way.earnest import Earnest
from autodiff_hook.transform.one_way.trail import is_virtual
from autodiff_hook.transform.specialise.abstract import BOOL, Instance, Known
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import example_of, may_be_complex
from autodiff_hook.transform.specialise.saying import require_apart


def settle(inf: Earnest) -> None:
    """What is assigned to objects from outside, which are several if they were."""
    if inf.silences:
        raise Refused("np.seterr, whose settings are not put back")
    if inf.assigned and any(name == "__dict__" for _, name in inf.looked):
        raise Refused("an object from outside is given an attribute beside one of which the dictionary is read")
    built = dict(inf.origins)
    inf.settling = True
    inf.world.separate()
    given_arrays.settle(inf)
    inf.strict = inf.strict or inf.strict_if_complex and any(map(may_be_complex, inf.types.values()))
    for (owner, name), value in inf.assigned.items():
        for other, looked in inf.looked | set(inf.assigned):
            if looked == name and other is not owner and not inf.is_the_same(owner, other):
                _require_another(inf, owner, other)
        inf.commits.append((owner, name, _kept(inf, value, built)))
    for token in inf.dirty:
        origin = inf.origins[token]
        for other in inf.peeked - {origin}:
            if not inf.is_the_same(origin, other):
                _require_another(inf, origin, other)
        content = inf.written_out(token, built)
        _require_real(inf, content)
        inf.commits.append((origin, None, content))
    _require_other_dicts(inf, {owner for owner, _ in inf.assigned}, inf.peeked)
    _require_other_dicts(inf, {owner for owner, _ in inf.looked}, {inf.origins[token] for token in inf.dirty})
    for (holder, name), value in inf.class_attributes.items():
        inf.commits.append((Constant(holder), name, _kept(inf, value, built)))
    for (_, name), (globals_, value) in inf.stored_globals.items():
        before = inf.world.load(globals_)(name)
        kept = _kept(inf, value, built)
        if before is None or name not in globals_:
            raise Refused(f"the global name {name}, which is not defined, is assigned")
        if not (before is kept or _is_equal(inf, before, kept)):
            inf.commits.append((Constant(globals_), name, kept))
    if inf.said:
        changed = [(example_of(inf.type_of(owner)), name) for owner, name, _ in inf.commits]
        contents = [x for x, name in changed if name is None]
        require_apart(contents, [x for x, name in changed if name is not None])


def _is_equal(inf: Earnest, before: Operand, kept: Operand) -> bool:
    """Whether two values are known to be equal; a string may be guarded."""
    old, new = inf.type_of(before), inf.type_of(kept)
    if isinstance(old, Known) and isinstance(kept, Constant):
        return old == new
    known = isinstance(new, Known) and type(new.value) is str and type(example_of(old)) is str
    return known and bool(inf.pin(before) == inf.pin(kept))


def _require_another(inf: Earnest, changed: Operand, other: Operand) -> None:
    """What is changed has no other name: two objects that were several are guarded to be several."""
    examples = [example_of(inf.type_of(x)) for x in (changed, other)]
    first, second = (getattr(x, "__dict__", None) for x in examples)
    if examples[0] is examples[1] or first is second is not None:
        raise Refused("an object that is known in two ways is changed")
    held: list[Operand] = [changed, other]
    if first is not None and second is not None:
        held = [inf.emit("getattr", x, data="__dict__", abstract=Instance(dict)) for x in held]
    inf.guard(inf.emit("is_not", *held, abstract=BOOL), True)


def _require_other_dicts(inf: Earnest, owners: set[Operand], dicts: set[Operand]) -> None:
    """None of these dicts is that of the attributes of an object, where one is changed and the other was read."""
    plain = [x for x in dicts if isinstance(example_of(inf.type_of(x)), dict)]
    held = [x for x in owners if type(dictionary_of(example_of(inf.type_of(x)))) is dict] if plain else []
    if not held:
        return
    examples = [[example_of(inf.type_of(x)) for x in operands] for operands in (plain, held)]
    if not are_no_attributes(tuple(examples[0]), *examples[1]):
        raise Refused("what is changed is read by the dict of its attributes")
    whole = inf.emit("build_tuple", *plain, abstract=Instance(tuple))
    test = inf.emit("call", Constant(are_no_attributes), whole, *held, abstract=BOOL, data=())
    inf.guard(test, True)


def _kept(inf: Earnest, value: Operand, built: dict[Operand, Operand]) -> Operand:
    """What an object from outside is given."""
    operand = inf.frozen(value, built)
    found = inf.type_of(operand)
    _require_real(inf, operand)
    return Constant(found.value) if isinstance(found, Known) else operand


def _require_real(inf: Earnest, operand: Operand) -> None:
    found = inf.type_of(operand)
    if is_virtual(found) or isinstance(found, Known) and isinstance(found.value, BaseException):
        raise Refused("an object from outside is given what the program makes")
