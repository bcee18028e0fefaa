"""What the functions of random modules are made of: expressions, statements and blocks, with holes.

``$n`` is a number, ``$b`` a small one, ``$c`` a condition, ``$l`` a list, ``$o`` an object, ``$v`` the name of a new
number, ``$i`` a number that nothing else has, and ``$body`` a block.
"""

from __future__ import annotations


def listed(text: str) -> tuple[str, ...]:
    """The items of a text."""
    return tuple(item for line in text.strip().split("\n") for item in line.split(" ¦ "))


ATOMS = listed("""
x ¦ y ¦ xs[0] ¦ d['p'] ¦ o.a ¦ q.b ¦ pt.p ¦ SCALE ¦ 0.3 ¦ TABLE['w']
""")

NUMBERS = listed("""
math.sin($n) ¦ math.tanh($n) ¦ ($n * $n) ¦ ($n + $n) ¦ ($n - $n) ¦ math.exp(-abs($n)) ¦ ($n / (2.0 + $n ** 2))
max($n, $n) ¦ min($n, $n, 0.9) ¦ -($n) ¦ ($n if $c else $n) ¦ abs($n) ¦ math.hypot($n, 0.5) ¦ math.atan2($n, 1.5)
(lambda t, k=$n: t * k)($n) ¦ $l[0] ¦ $l[-1] ¦ sum($l) * 0.2 ¦ max($l) ¦ $l[len($l) // 2] ¦ min($l, key=abs)
sum($l[1:]) ¦ sum(v * i for i, v in enumerate($l)) * 0.1 ¦ sorted($l)[0] ¦ sorted($l, key=lambda t: -t)[0]
sum(a * b for a, b in zip($l, $l)) ¦ functools.reduce(lambda s, t: math.sin(s + t), $l)
sum(map(math.sin, $l)) * 0.3 ¦ list(itertools.accumulate($l))[-1] * 0.2 ¦ math.fsum($l) * 0.1
sum(itertools.chain($l, ($n,))) * 0.1 ¦ sum(a * b for a, b in pairs($l)) ¦ next(iter($l))
[v for v in $l if v == v][-1] ¦ sum(v for v in reversed($l)) * 0.1 ¦ statistics_of($l) ¦ $l.copy()[0] ¦ d['p']
d.get('q', 0.5) ¦ sum(d.values()) * 0.2 ¦ max(d.values()) ¦ {**d, 'p': $n}['p']
sum(v * len(k) for k, v in d.items()) * 0.1 ¦ dict(d, z=$n)['z'] ¦ min(d.items(), key=lambda t: t[1])[1]
operator.itemgetter('p')(d) ¦ work(**{'t': $n, 'k': d['p']}) ¦ work($n, *$l[:2], w=$n, z=$n) ¦ $o.a ¦ $o.b ¦ $o.both
$o.step($b) ¦ $o.step($b, $n) ¦ $o.step($b, w=$n) ¦ $o($n) ¦ $o.fold($n, $n, z=$n) ¦ ($o + $n).a ¦ ($n + $o).b
($o + $o).both ¦ $o * $n ¦ $o[0] ¦ sum($o) * 0.2 ¦ len($o) * $o.b ¦ $o.mix($n) ¦ type($o).make($n).both
getattr($o, 'a') ¦ vars($o)['b'] ¦ functools.partial($o.step, $b)(k=$n) ¦ operator.attrgetter('a')($o)
max($o, o).a ¦ operator.methodcaller('step', $b)($o) ¦ [*$o][-1] ¦ kind($o) ¦ copy.copy($o).both
$o.step(k=$n, t=$b) ¦ copy.deepcopy($o).fold($n) ¦ $o.__class__.count * $n ¦ q.twice($b) ¦ q.half($b) ¦ q.kept
q.extra ¦ q.step.__func__(q, $b) ¦ Derived.step(q, $b) ¦ super(Derived, q).both ¦ Base.fold($o, $n)
sorted([o, q])[0].a ¦ pt.length() ¦ pt.moved($n).length() ¦ sum(dataclasses.astuple(pt)[:2])
dataclasses.asdict(pt)['q'] ¦ dataclasses.replace(pt, q=$n).q ¦ Point($n, rest=($n, 1)).rest[0]
Track($n, [$n]).push($n).total ¦ Track($n).both ¦ Pair($n, $n).both() ¦ Pair($n)._replace(v=$n).v ¦ sum(Pair($n))
Pair(u=$n).u ¦ work($n) ¦ work($n, $n) ¦ work(t=$n) ¦ risky(math.tanh($n) * 0.1) ¦ recursive($n, 2) ¦ kind($n)
kind([$n, $n]) ¦ constant(3) * $n ¦ counting() ¦ functools.partial(work, k=$n)($n) ¦ g($n) ¦ h($n) ¦ g($n, $n)
g(t=$n, k=$n) ¦ sum(walk($n)) ¦ sum(outer($n)) ¦ max(walk($n, 2)) ¦ [*outer($n, 1)][-1] ¦ next(walk($n))
sum(v * w for v, w in zip(walk($n), $l)) ¦ statistics_of([$n, $n]) ¦ sent($n, $n) ¦ float($n)
round($n * 0 + 2) * $n ¦ complex($n, $n).real ¦ abs(complex($n, 0.5)) ¦ pow($n, 2) ¦ caught($n) ¦ caught($n, 0.0)
fs[0]($n) ¦ fs[-1]($n) ¦ sum(fn($n) for fn in fs) * 0.3 ¦ dq[0] ¦ dq[-1] ¦ sum(dq) * 0.2 ¦ groups['a'][0]
sum(sum(v) for v in groups.values()) * 0.1 ¦ nested['o'].a ¦ nested['t'][1] ¦ nested['l'][0][1]
(lambda *ts, **ks: sum(ts) + ks['z'])($n, z=$n) ¦ [$n for _ in range(2)][1] ¦ (t1 := $n) * 0.5 + t1
{k: v * $n for k, v in d.items()}['p'] ¦ heapq.nsmallest(1, $l)[0] ¦ statistics_of(v * $n for v in $l)
$l.count($l[0]) * $n ¦ f'{len($l)}'.__len__() * $n ¦ list(filter(lambda t: t < 9, $l))[0]
dict(zip('abc', $l))['a'] ¦ tuple($l)[0] ¦ [$n, *$l][1] ¦ next((v for v in $l if v > 9), $n)
sum([[$n], [$n]], [])[1] ¦ list(itertools.islice(walk($n), 1, 2))[0]
""")

PLAIN = listed("""
math.sin($n) ¦ math.tanh($n) ¦ ($n * $n) ¦ ($n + $n) ¦ ($n - $n) ¦ max($n, $n) ¦ -($n) ¦ abs($n)
($n if $n > 0 else $n) ¦ ($n / (2.0 + $n ** 2)) ¦ (lambda t, k=$n: t * k)($n) ¦ sum([$n, $n]) ¦ math.fsum(($n, $n))
functools.reduce(operator.mul, [$n, $n]) ¦ [$n, $n][-1] ¦ {'k': $n}['k'] ¦ sorted(($n, $n))[0]
sum(v * w for v, w in zip(($n, $n), (0.5, $n))) ¦ min($n, $n, key=abs)
""")

BOUNDED = listed("""
math.sin($n) ¦ math.tanh($n) ¦ math.cos($n) * 0.5 ¦ math.atan($n)
""")

CONDITIONS = listed("""
$n > 0.1 ¦ $n < 0.3 or $n > 0.2 ¦ not $n < $n ¦ -0.5 < $n < 0.9 ¦ isinstance($n, float) ¦ len($l) > 2
$n > 0 and $n > -0.5 ¦ hasattr($o, 'extra') ¦ 'q' in d ¦ $l ¦ isinstance($o, Derived) ¦ any(t > 0.5 for t in $l)
""")

SHORT = listed("""
$v = $b ¦ $v = $b ¦ x = $b ¦ y += $b ¦ x, y = y, $b ¦ x *= $n ¦ ($v, *ws), y = (x, *xs), $b ¦ $l.append($b)
$l[0] = $b ¦ $l[-1] *= $b ¦ $l.insert(0, $b) ¦ $l.sort() ¦ $l.reverse() ¦ $l.extend([$b, $n]) ¦ $l[1:2] = [$b, $b]
$l.append($l.pop(0) * $b) ¦ $l += [$b] ¦ $l[0], x = x, $l[0] ¦ xs = [*xs, $b] ¦ ys = [v * $b for v in ys]
ys = sorted(xs, key=lambda t: abs(t - $n)) ¦ xs, ys = ys, xs ¦ ys = xs[::-1]
xs = list(map(lambda t, k=$b: t * k, xs)) ¦ heapq.heapify($l) ¦ d['p'] = $b ¦ d['q'] *= $b ¦ d[f'k$i'] = $b
d.update(p=$b, r=0.5) ¦ d = {k: v * $b for k, v in d.items()} ¦ d = {**d, 's': $b} ¦ d.setdefault('n', $b)
d |= {'q': $b} ¦ $o.a = $b ¦ $o.b *= $b ¦ $o.both = $b ¦ $o[0] = $b ¦ $o.items.append($b) ¦ $o.step($b)
setattr($o, 'b', $b) ¦ $o.items = [v * $b for v in $o.items] ¦ vars($o)['a'] = $b ¦ q.extra = $b
o, $o = $o + $b, q ¦ o = Derived($b, q.b) ¦ q = Derived($b, gain=$b) ¦ o = Base.make($b) ¦ o = min(o, q)
Base.count = $b ¦ pt = pt.moved($b) ¦ pt = Point($b, $n, (pt.p,)) ¦ pt = dataclasses.replace(pt, q=$b)
$v, _ = Pair($b) ¦ $v = [*Pair($b, x)][0] ¦ h = functools.partial(work, k=$b, w=$b)
h = functools.partial($o.step, w=$b) ¦ h = $o.fold ¦ h = lambda t, k=$b, o=$o: t * k + o.a
fs = [lambda t, k=k: t * k for k in ($n, $n, 0.4)] ¦ fs = [lambda t: t * k for k in ($n, $n)]
fs.append(lambda t: math.sin(t + x)) ¦ fs = [$o.step, work, h] ¦ fs = [functools.partial(Base.mix, k=$n), math.sin]
dq = collections.deque([$b, *xs], maxlen=4) ¦ dq.append($b) ¦ dq.appendleft(dq.pop() * $b) ¦ dq.rotate(1)
groups['a'].append($b) ¦ nested['l'][0][1] = $b ¦ nested['o'] = $o ¦ nested = {**nested, 't': ($b, $b)}
counting(by=$b) ¦ total = math.sin(total + $n) ¦ nonlocal_box[0] = $b
""")

LONG = tuple(
    """
$l.append($b)
del $l[0]
%
zs = $l
zs.append($b)
%
d['p'] = d.pop('q', 0.1) * $b
d['q'] = 0.3
%
o = copy.copy(o)
o.a *= $b
%
o.other = q
o.other.b = $b
%
del q.extra
q.extra = $b
%
q, q2 = copy.deepcopy(q), q
q2.a = $b
%
o.link = {'k': [$b]}
$v = o.link['k'][0]
%
tr = Track($b, ws=$l)
tr.push($b)
$v = tr.total + tr.ws[-1]
%
pr = Pair($b, $b)
$v = pr.u * pr[1]
%
def g(t, k=$b, *, w=$b):
    $update
    return $n * t * w + k
%
$local
def g(t, k=$b):
    return math.sin(t * k) + $n
%
@scaled($b, plus=$b)
def g(t, k=0.5, *rest):
    return t * k + sum(rest)
%
@functools.wraps(h)
def g(t, k=$b):
    return h(t) * k
%
def h(t, *, inner=$b):
    nonlocal_box[0] = nonlocal_box[0] * 0.5 + t
    return t * inner + nonlocal_box[0]
%
g.extra = $b
$v = g.extra * 0.5
%
old = g
def g(t, k=$b):
    return old(t) * k
%
def g(t, k=None, *, xs=[$b, $b]):
    return t * xs[0] + (xs[1] if k is None else k)
%
def bump(by=$b):
    nonlocal total
    total = math.sin(total + by)
    return total
bump()
x = bump() * 0.5
%
class Local(Base):
    base = $b
    def step(self, t, k=$b, **options):
        return super().step(t * self.base, k, **options) + x
o = Local($b, y)
%
@dataclass
class Local:
    u: float
    w: float = $b
    def __call__(self, t):
        return t * self.u + self.w
h = Local($b)
%
groups = collections.defaultdict(list, a=[$b])
for i$i, v$i in enumerate(xs):
    groups['ab'[i$i % 2]].append(v$i * $n)
%
nested['l'].append([$b, x])
$v = nested['l'][-1][0]
%
a, (b, c) = $b, nested['l'][0][:2]
$v = a * b + c
%
gen = walk($b, 4)
$v = next(gen) + sum(gen)
%
gen = echo($b)
next(gen)
$v = gen.send($n)
$v = gen.send($n) + $n
%
gen = outer($b, 3)
$v = next(gen)
gen.close()
%
gen = (t * $n for t in $l[:3])
$l[0] = $b
$v = sum(gen)
%
it = iter($l)
$v = next(it)
xs = list(it)[:2] + [$b, 0.2]
%
lst = [*walk($b), *outer($n)]
ys = lst[:4]
%
def loc():
    got = yield $b
    yield got * x
gen = loc()
$v = next(gen)
$v = gen.send($n)
%
try:
    $v = risky($n)
except Worse as e:
    $v = e.half
except Trouble as e:
    $v = e.args[0] * 0.5
else:
    $v = $b
%
try:
    y = $b
    raise Trouble($n, $n)
except Trouble as e:
    x = e.value * 0.5 + e.args[1]
finally:
    y += $n
%
try:
    try:
        o.a = $b
        raise Worse($b)
    except Worse as e:
        raise Trouble(e.half) from e
except Trouble as e:
    $v = e.value + e.__cause__.value
%
with $o as c:
    $v = c.a * $n
    if $c:
        raise Worse($b)
    y = $b
%
with contextlib.suppress(Trouble):
    xs.append($b)
    y = risky($b) + 0.1
    y = $b
%
with shifted($o, $b) as before:
    $v = before * $o.a
    if $c:
        raise Trouble($n)
%
with contextlib.ExitStack() as stack:
    stack.callback($l.append, $b)
    c = stack.enter_context($o)
    x = c.a
%
try:
    $v = d['missing'] * x
except KeyError:
    $v = $b
%
try:
    $v = $l[99]
except (IndexError, KeyError):
    $v = $b
%
match $l:
    case [first, *_, last]:
        $v = first * last
    case _:
        $v = $b
%
match $o:
    case Derived(a=m, extra=w):
        $v = m * w
    case Base(a=m):
        $v = m * $n
    case _:
        $v = 0.5
%
match d:
    case {'p': float(m), **others}:
        $v = m + sum(others.values()) * 0.1
    case _:
        $v = 0.1
%
xs = [v for v in xs if v < 3] or [$b]
ys = (ys + [0.1])[:6]
""".strip().split("\n%\n")
)

STATEMENTS = SHORT + LONG
