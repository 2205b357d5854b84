"""How far a mean difference over the queries of a set speaks for other queries: p-values, intervals, needed sizes.

Differences by query in (current - baseline, weighted so that their plain mean is the difference of the means), numbers
out.  Nothing is random and nothing depends on the order of the queries: sums are `math.fsum`'s, everything else runs
over sorted values.  All of it is exact arithmetic or a classical approximation, and only the standard library.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import Counter
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

UNCHANGED = 1e-9  # a query whose score moved by no more than this did not change

_TIE = 1e-9  # sums of differences this close, relative to the largest difference, are equal
_ALWAYS_EXACT = 28  # changed queries; their 2^28 signs are counted from two sorted halves of 2^14 sums
_EXACT_BELOW = (
    1_000  # changed queries up to which ties are worth counting; above, the saddlepoint has 4 digits
)
_MOST_SUMS = 1 << 13  # of differences that are looked at one by one, above `_ALWAYS_EXACT`
_FINEST_LATTICE = 10_000  # steps in the largest difference; finer ones behave like no lattice

# A size makes visible steps when it exceeds this many standard deviations of the smaller ones' sum, unless it is
# less than that many of the whole sum's.
_SMOOTH = 0.5
_MATTERS = 0.02
_DEVIATIONS = 8  # how far the tabulated tail reaches,
_PER_DEVIATION = 25  # and how finely: 1e-4 of p between two points

_Z_POWER = 0.842  # normal quantile of 80 % power
_Z_LEVEL = 1.645  # normal quantile of the one-sided 5 % level


def sign_flip_p(differences: Iterable[float]) -> float:
    """One-sided p of a mean this low or lower, were each query's difference as likely to be up as down.

    With k differences of more than 1e-9, p = #{signs e : sum(e_i |d_i|) <= sum(d_i)} / 2^k, from 2^-k to 1; 1 where
    nothing changed.  Exact up to k = 28, and further where differences repeat; above, the saddlepoint approximation
    of Lugannani and Rice (1980), with the continuity correction of Daniels (1987) where all differences are multiples
    of one step.

    Raises ValueError for a difference that is not finite.
    """
    values = sorted(differences)
    if not all(map(math.isfinite, values)):
        raise ValueError("differences must be finite numbers")
    changed = [value for value in values if abs(value) > UNCHANGED]
    if not changed:
        return 1.0
    largest = max(-changed[0], changed[-1])
    # The signs decide which differences count as losses; as bad as what was seen is every choice of losses whose
    # sum is no less.
    sizes = _grouped([abs(value) / largest for value in changed])
    k = len(changed)
    losses = math.fsum(-value / largest for value in changed if value < 0)
    if losses <= _TIE:
        return 1.0
    if changed[-1] < 0:
        return math.ldexp(1.0, -k)
    step = _lattice_step([size for size, _ in sizes])
    p = _counted(sizes, losses, step, k)
    return _approximated(sizes, losses, k) if p is None else p


def smallest_p(changed: int) -> float:
    """Give the least p that `sign_flip_p` can give for this many changed queries: 2^-k."""
    return math.ldexp(1.0, -changed)


def _grouped(values: list[float]) -> list[tuple[float, int]]:
    """Sizes in ascending order with how often each occurs; what differs by floating-point noise is one size."""
    groups: list[tuple[float, int]] = []
    last = -1.0
    for size, count in sorted(Counter(values).items()):
        if size - last <= 1e-14:
            last, before = groups[-1]
            groups[-1] = (last, before + count)
        else:
            groups.append((size, count))
            last = size
    return groups


def _lattice_step(sizes: Sequence[float]) -> float | None:
    """Find the largest step of which all sizes (0 < size <= 1, ascending) are multiples, if it is not too fine."""
    step = 0.0
    for size in sizes:
        step = _common_divisor(size, step)
        if step * _FINEST_LATTICE < 1:
            return None
    step = sizes[-1] / round(sizes[-1] / step)
    return step if all(abs(size - round(size / step) * step) <= _TIE for size in sizes) else None


def _common_divisor(one: float, other: float) -> float:
    """Euclid's algorithm, where a remainder of next to nothing is none."""
    while other > 1e-6:
        rest = math.fmod(one, other)
        one, other = other, min(rest, other - rest)
    return one


def _counted(sizes: Sequence[tuple[float, int]], losses: float, step: float | None, k: int) -> float | None:
    """Count the choices of losses over the sorted sums of two halves, for the exact p; None where it would take long."""
    if k > _EXACT_BELOW:
        return None
    # On a lattice, whole numbers: equal sums are found equal, and there are far fewer of them.
    weighed: list[tuple[float, int]] = [(round(size / step), n) for size, n in sizes] if step else [*sizes]
    bound = round(losses / step) if step else losses - _TIE
    halves: tuple[list[tuple[float, int]], list[tuple[float, int]]] = ([], [])
    sums = [1, 1]
    for size, n in sorted(weighed, key=lambda group: (-group[1], group[0])):
        smaller = 0 if sums[0] <= sums[1] else 1
        halves[smaller].append((size, n))
        sums[smaller] *= n + 1
    if k > _ALWAYS_EXACT and max(sums) > _MOST_SUMS:
        return None
    first = _sums(halves[0])
    second = _sums(halves[1])
    ways = 0
    reached = 0
    index = len(second) - 1
    for total, count in first:
        while index >= 0 and total + second[index][0] >= bound:
            reached += second[index][1]
            index -= 1
        ways += count * reached
    return ways / (1 << k)


def _sums(groups: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    """All sums of parts of these sizes in ascending order, each with the number of choices that give it."""
    ways: dict[float, int] = {0: 1}
    for size, n in groups:
        before = ways
        ways = before.copy()
        choices = 1
        for taken in range(1, n + 1):
            more = taken * size
            choices = choices * (n + 1 - taken) // taken
            for total, count in before.items():
                at = total + more
                ways[at] = ways.get(at, 0) + count * choices
    return sorted(ways.items())


def _approximated(sizes: Sequence[tuple[float, int]], losses: float, k: int) -> float:
    """Approximate p by the saddlepoint, averaged over all choices among the few sizes that make visible steps."""
    coarse, fine = _split(sizes)
    if not fine:
        return sum(count for total, count in _sums(coarse) if total >= losses - _TIE) / (1 << k)
    step = _lattice_step([size for size, _ in fine])
    total = math.fsum(size * n for size, n in fine)
    fine = _merged(fine)
    spread = math.sqrt(math.fsum(n * size * size for size, n in fine))

    def excess(lost: float) -> float:
        """By how much losses exceed gains, less half a step: on a lattice the tail begins there."""
        return 2 * (math.ceil(lost / step - 1e-6) * step) - total - step if step else 2 * lost - total

    if not coarse:
        x = excess(losses)
        if x >= total:  # the gains are next to nothing
            return smallest_p(k)
        _, p = _tail(fine, step, _solved(fine, abs(x), total))
        return _bounded(p if x > 0 else 1 - p, k)
    table = [
        _tail(fine, step, point / (_PER_DEVIATION * spread)) for point in range(_DEVIATIONS * _PER_DEVIATION)
    ]
    points = [x for x, _ in table]
    logs = [math.log(p) for _, p in table]
    terms = []
    signs = 1 << sum(n for _, n in coarse)
    for lost, count in _sums(coarse):
        left = losses - lost
        x = excess(left)
        if left <= _TIE or left > total + _TIE or abs(x) >= points[-1]:
            p = 1.0 if x < 0 else 0.0
        else:
            at = bisect(points, abs(x))
            share = (abs(x) - points[at - 1]) / (points[at] - points[at - 1])
            p = math.exp(logs[at - 1] + share * (logs[at] - logs[at - 1]))
            p = p if x > 0 else 1 - p
        terms.append(count / signs * p)
    return _bounded(math.fsum(terms), k)


def _bounded(p: float, k: int) -> float:
    return min(max(p, smallest_p(k)), 1.0)


def _split(
    sizes: Sequence[tuple[float, int]],
) -> tuple[Sequence[tuple[float, int]], Sequence[tuple[float, int]]]:
    """Tell the largest sizes, where their steps show in the sum of all, from those that smooth over one another.

    Six lost queries among a hundred that hardly moved make a staircase, which no smooth approximation follows.
    """
    below = list(accumulate((n * size * size for size, n in sizes), initial=0.0))
    spread = math.sqrt(below[-1])
    cut = len(sizes)
    choices = 1
    for index in reversed(range(len(sizes))):
        size, n = sizes[index]
        choices *= n + 1
        if choices > _MOST_SUMS or size <= _MATTERS * spread:
            break
        if size > _SMOOTH * math.sqrt(below[index]):
            cut = index
    return sizes[cut:], sizes[:cut]


def _merged(sizes: Sequence[tuple[float, int]]) -> Sequence[tuple[float, int]]:
    """Give at most 1,000 sizes, neighbours joined with the same sum of squares: what the tail's shape depends on."""
    several = -(-len(sizes) // 1_000)
    if several <= 1:
        return sizes
    parts = [sizes[start : start + several] for start in range(0, len(sizes), several)]
    counts = [sum(n for _, n in part) for part in parts]
    squares = [math.fsum(n * size * size for size, n in part) for part in parts]
    return [(math.sqrt(square / count), count) for square, count in zip(squares, counts, strict=True)]


def _tail(sizes: Sequence[tuple[float, int]], step: float | None, t: float) -> tuple[float, float]:
    """For t >= 0 and X = sum of sizes with random signs, give x = K'(t) and P(X >= x).

    K(t) = sum(log cosh(t size)) is X's cumulant generating function.  With w = sqrt(2(tx - K(t))) and
    u = t sqrt(K''(t)), P = 1 - Phi(w) + phi(w) (1/u - 1/w).  X on a lattice moves by two steps h; there x is half of
    that below what P speaks of, and sinh(th)/h stands for t in u.
    """
    slopes = [(size, n, math.tanh(t * size)) for size, n in sizes]
    x = math.fsum(n * size * slope for size, n, slope in slopes)
    w = math.sqrt(max(2 * (t * x - math.fsum(n * _log_cosh(t * size) for size, n in sizes)), 0.0))
    if w < 1e-5:  # 1/u - 1/w vanishes with w, and cannot be computed any more
        return x, 0.5 - w / math.sqrt(2 * math.pi)
    spread = math.sqrt(math.fsum(n * (size / math.cosh(min(t * size, 350.0))) ** 2 for size, n in sizes))
    u = (math.sinh(min(t * step, 700.0)) / step if step else t) * spread
    density = math.exp(-w * w / 2) / math.sqrt(2 * math.pi)
    p = math.erfc(w / math.sqrt(2)) / 2 + (density * (1 / u - 1 / w) if u else 0.0)
    return x, min(max(p, math.ulp(0.0)), 1.0)


def _solved(sizes: Sequence[tuple[float, int]], x: float, total: float) -> float:
    """Find t with K'(t) = x, 0 <= x < total, by Newton's method: K' is concave, so it closes in from below."""
    t = x / math.fsum(n * size * size for size, n in sizes)
    for _ in range(200):
        slopes = [(size, n, math.tanh(t * size)) for size, n in sizes]
        missing = x - math.fsum(n * size * slope for size, n, slope in slopes)
        curve = math.fsum(n * size * size * (1 - slope * slope) for size, n, slope in slopes)
        if missing <= 1e-13 * total or not curve:
            break
        t += missing / curve
    return t


def _log_cosh(y: float) -> float:
    y = abs(y)
    return math.log1p(2 * math.sinh(y / 2) ** 2) if y < 1 else y + math.log1p(math.exp(-2 * y)) - math.log(2)


def interval(differences: Sequence[float], level: float = 0.95) -> tuple[float, float] | None:
    """Student's interval of the mean difference, mean -+ t s / sqrt(N); None for fewer than two queries."""
    error = standard_error(differences)
    if error is None:
        return None
    mean = _mean(differences)
    reach = t_quantile((1 + level) / 2, len(differences) - 1) * error
    return mean - reach, mean + reach


def standard_error(differences: Sequence[float]) -> float | None:
    """Give s / sqrt(N), s the standard deviation with N - 1 below; None for fewer than two queries."""
    size = len(differences)
    if size < 2:
        return None
    mean = _mean(differences)
    # Of a hundred thousand queries most did not change.
    values = Counter(filter(None, differences))
    same = size - values.total()
    if same:
        values[0.0] = same
    widest = max(abs(value - mean) for value in values)
    if not widest:
        return 0.0
    squares = math.fsum(
        part for value, n in values.items() for part in _times(((value - mean) / widest) ** 2, n)
    )
    return widest * math.sqrt(squares / (size - 1) / size)


def _times(value: float, n: int) -> Iterator[float]:
    """Give numbers whose exact sum is `value` n times: it doubled for each binary digit of n, which rounds nothing."""
    while n:
        if n & 1:
            yield value
        value, n = value * 2, n >> 1


def _mean(differences: Sequence[float]) -> float:
    return math.fsum(filter(None, differences)) / len(differences)


def detectable_drop(differences: Sequence[float]) -> float | None:
    """Give the smallest true drop that as many queries, scattering as these do, show in four of five cases.

    (t(.95, N - 1) + z(.80)) s / sqrt(N), for a one-sided test at 5 %; None for fewer than two queries.
    """
    error = standard_error(differences)
    return None if error is None else (t_quantile(0.95, len(differences) - 1) + _Z_POWER) * error


def queries_needed(differences: Sequence[float], drop: float) -> int | None:
    """How many queries, scattering as these do, show a true `drop` (> 0) in four of five cases.

    ((z(.95) + z(.80)) s / drop)^2, at least 2; None for fewer than two queries.
    """
    error = standard_error(differences)
    if error is None:
        return None
    return max(math.ceil((_Z_LEVEL + _Z_POWER) ** 2 * (error / drop) ** 2 * len(differences)), 2)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for being several (Holm 1979), in the given order; each at most 1."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min((len(p_values) - rank) * p_values[index], 1.0))
        adjusted[index] = highest
    return adjusted


def t_cdf(t: float, df: float) -> float:
    """P(T <= t) of Student's t with `df` > 0 degrees of freedom."""
    tail = _t_tail(abs(t), df)
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=256)
def t_quantile(p: float, df: float) -> float:
    """Find the t with P(T <= t) = p, 0 < p < 1, by bisection."""
    if p < 0.5:
        return -t_quantile(1 - p, df)
    low, high = 0.0, 1.0
    while _t_tail(high, df) > 1 - p:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        if _t_tail(middle, df) > 1 - p:
            low = middle
        else:
            high = middle
    return middle


def _t_tail(t: float, df: float) -> float:
    """P(T > t) for t >= 0: half the regularized incomplete beta function I_x(df/2, 1/2) at x = df/(df + t^2)."""
    a, b = df / 2, 0.5
    square = t * t / df
    x = 1 / (1 + square)
    # The factor before the continued fraction: x to the a, 1 - x to the b, over B(a, b).
    front = math.exp(_log_gamma_ratio(a) - a * math.log1p(square)) * math.sqrt(square * x / math.pi)
    if x < (a + 1) / (a + b + 2):
        return front / a * _beta_fraction(a, b, x) / 2
    return (1 - front / b * _beta_fraction(b, a, square * x)) / 2


def _log_gamma_ratio(a: float) -> float:
    """Log of Gamma(a + 1/2) / Gamma(a): of two large logarithms little would be left, so Stirling's series for those."""
    if a < 50:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return math.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5) + 17 / (14336 * a**7)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    c = 1.0
    d = 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + even * d)
        c = 1 + even / c
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + odd * d)
        c = 1 + odd / c
        value *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return value
