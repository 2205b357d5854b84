"""Statistics of a mean difference over paired queries: p-values, confidence intervals, how many queries are needed.

All take a difference for each query (current - baseline, weighted so that their plain mean is the difference of the
means).  Nothing is random and nothing depends on the order of the queries: sums are `math.fsum`'s, everything else runs
over sorted values.  scipy takes 1.7 s to import; the tests compare with it.
"""

from __future__ import annotations

import math
from bisect import bisect, bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.metrics import mean

FALSE_ALARM_ONE_IN = 20
"""A limit is right for a set where a change that makes nothing better or worse fails it once in so many times. As a
level of p it is in kind_of_change.py; "one in 20" in docs/reading-a-failure.md and docs/statistics.md is this one."""

# Sums of differences this close, relative to the largest difference, are equal.
_TIE_TOLERANCE = 1e-9
# A sum must exceed another by more than this to count as more, relative to the largest difference.
_EXCESS = 2e-6
# Up to this many changed queries p is exact: their 2^28 signs are counted from two sorted halves of 2^14 sums.
_MAX_ALWAYS_EXACT = 28
# Up to this many it is where differences repeat; with more, the saddlepoint approximation is right to 4 digits.
_MAX_EXACT = 1_000
# How many sums a half may then have.
_MAX_SUMS = 1 << 13
# Differences that are multiples of a smaller part of the largest one behave as if they had no common step.
_MAX_LATTICE_STEPS = 10_000

# A size makes visible steps when it exceeds this many standard deviations of the smaller ones' sum, unless it is
# less than that many of the whole sum's.
_VISIBLE_STEP = 0.5
_NEGLIGIBLE_STEP = 0.02
# The tail is tabulated up to this many standard deviations, at this many points for each: right to 1e-4 of p.
_TABLE_DEVIATIONS = 8
_TABLE_POINTS = 25

_Z_POWER = 0.842  # normal quantile of 80 % power

Sizes = Sequence[tuple[float, int]]
"""Sizes of differences in ascending order, each with how many have it."""


def sign_flip_p(differences: Iterable[float]) -> float:
    """Return the one-sided p-value of the sign-flip (paired randomization) test for a fall of the mean.

    It is the probability of a mean this low or lower, were each query's difference as likely to be up as down.
    With k differences of more than 1e-9, p = #{signs e : sum(e_i |d_i|) <= sum(d_i)} / 2^k, from 2^-k to 1; 1 where
    nothing changed.  Exact up to k = 28, and further where differences repeat; above, the saddlepoint approximation
    of Lugannani and Rice (1980), with the continuity correction of Daniels (1987) where all differences are multiples
    of one step.
    """
    changed, _ = _relative_to_largest(differences)
    # The signs decide which differences count as losses; as bad as what was seen is every choice of losses whose
    # sum is no less.
    losses = math.fsum(-value for value in changed if value < 0)
    return _share_with_losses(changed, losses) if losses > _TIE_TOLERANCE else 1.0


def share_falling_beyond(differences: Sequence[float], drop: float) -> float:
    """Return the probability that the mean falls by more than `drop` (>= 0), were each difference as likely up as down.

    #{signs e : sum(e_i |d_i|) < -N drop} / 2^k, over the k of N differences of more than 1e-9: how often a change that moves
    the queries as far as this one, and is no better or worse, fails a `max_drop`.  As exact as `sign_flip_p`.
    """
    changed, largest = _relative_to_largest(differences)
    total = math.fsum(map(abs, changed))
    # Gains less losses are total - 2 losses; a fall of just `drop` is none beyond it, within 1e-9 of the mean.
    beyond = (drop + TOLERANCE) * len(differences) / largest
    losses = (total + beyond) / 2 + _EXCESS
    return 0.0 if losses > total else _share_with_losses(changed, losses)


def drop_for_chance(differences: Sequence[float], margin: float = 0.0) -> float:
    """Return the least drop, of two significant digits, beyond which the mean falls by chance in one of `FALSE_ALARM_ONE_IN` changes or fewer.

    The chance is that of `share_falling_beyond`; so much of the fall as `margin` counts as none.
    """

    def share_kept(drop: float) -> float:
        return 1 - share_falling_beyond(differences, drop + margin)

    wanted = 1 - 1 / FALSE_ALARM_ONE_IN
    if share_kept(0.0) >= wanted:
        return 0.0
    # No fall is larger than the mean size of a difference.
    places = 1 - math.floor(math.log10(math.fsum(map(abs, differences)) / len(differences)))
    decades = range(places + 9, places - 1, -1)
    drops = [round(digits / 10.0**n, n) for n in decades for digits in range(10, 100)]
    return drops[bisect_left(drops, wanted, key=share_kept)]


def _relative_to_largest(differences: Iterable[float]) -> tuple[list[float], float]:
    """Return the differences of more than 1e-9 as shares of the largest size, and that size, 1 where there is none."""
    changed = [value for value in differences if abs(value) > TOLERANCE]
    largest = max(map(abs, changed), default=1.0)
    return [value / largest for value in changed], largest


def _share_with_losses(changed: Sequence[float], losses: float) -> float:
    """Return the share of all choices among the sizes of these differences whose sum is at least `losses`."""
    sizes = _group_sizes(map(abs, changed))
    p = _exact_p(sizes, losses, _lattice_step([size for size, _ in sizes]), len(changed))
    return _saddlepoint_p(sizes, losses, len(changed)) if p is None else p


def smallest_p(changed: int) -> float:
    """Return the smallest p that `sign_flip_p` can return for this many changed queries: 2^-k."""
    return math.ldexp(1.0, -changed)


def _group_sizes(values: Iterable[float]) -> list[tuple[float, int]]:
    """Return the sizes in ascending order, each with its count; sizes that differ by floating-point noise are one."""
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
    """Return the largest step of which all sizes (0 < size <= 1, ascending) are multiples, None if it is too fine."""
    step = 0.0
    for size in sizes:
        step = _common_divisor(size, step)
        if step * _MAX_LATTICE_STEPS < 1:
            return None
    step = sizes[-1] / round(sizes[-1] / step)
    return step if all(abs(size - round(size / step) * step) <= _TIE_TOLERANCE for size in sizes) else None


def _common_divisor(one: float, other: float) -> float:
    """Return the greatest common divisor by Euclid's algorithm, taking a remainder below 1e-6 for none."""
    while other > 1e-6:
        rest = math.fmod(one, other)
        one, other = other, min(rest, other - rest)
    return one


def _exact_p(sizes: Sizes, losses: float, step: float | None, k: int) -> float | None:
    """Return the exact p, by counting choices of losses over the sorted sums of two halves; None where that takes long."""
    if k > _MAX_EXACT:
        return None
    # On a lattice, whole numbers: equal sums are found equal, and there are far fewer of them.
    weighed: list[tuple[float, int]] = [(round(size / step), n) for size, n in sizes] if step else [*sizes]
    bound = math.ceil(losses / step - 1e-6) if step else losses - _TIE_TOLERANCE
    halves: tuple[list[tuple[float, int]], list[tuple[float, int]]] = ([], [])
    sums = [1, 1]
    for size, n in sorted(weighed, key=lambda group: (-group[1], group[0])):
        smaller = 0 if sums[0] <= sums[1] else 1
        halves[smaller].append((size, n))
        sums[smaller] *= n + 1
    if k > _MAX_ALWAYS_EXACT and max(sums) > _MAX_SUMS:
        return None
    first, second = map(_subset_sums, halves)
    ways = 0
    reached = 0
    for total, count in first:
        while second and total + second[-1][0] >= bound:
            reached += second.pop()[1]
        ways += count * reached
    return ways / (1 << k)


def _subset_sums(groups: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return the sums of all subsets of these sizes in ascending order, each with the number of subsets that have it."""
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


def _saddlepoint_p(sizes: Sizes, losses: float, k: int) -> float:
    """Approximate p by the saddlepoint method, averaged over all choices among the few sizes that make visible steps."""
    coarse, fine = _split_sizes(sizes)
    if not fine:
        as_bad = sum(count for total, count in _subset_sums(coarse) if total >= losses - _TIE_TOLERANCE)
        return as_bad / (1 << k)
    step = _lattice_step([size for size, _ in fine])
    total = math.fsum(size * n for size, n in fine)
    fine = _merge_sizes(fine)
    spread = math.sqrt(math.fsum(n * size * size for size, n in fine))

    def excess(lost: float) -> float:
        """Return by how much losses exceed gains, less half a step: on a lattice the tail begins there."""
        return 2 * (math.ceil(lost / step - 1e-6) * step) - total - step if step else 2 * lost - total

    if not coarse:
        x = excess(losses)
        if x >= total:  # the gains are next to nothing
            return smallest_p(k)
        _, p = _tail(fine, step, _solve_tilt(fine, abs(x), total))
        return max(p if x > 0 else 1 - p, smallest_p(k))
    table = [
        _tail(fine, step, point / (_TABLE_POINTS * spread))
        for point in range(_TABLE_DEVIATIONS * _TABLE_POINTS)
    ]
    points = [x for x, _ in table]
    logs = [math.log(p) for _, p in table]
    terms = []
    signs = 1 << sum(n for _, n in coarse)
    for lost, count in _subset_sums(coarse):
        x = excess(losses - lost)
        if abs(x) >= points[-1]:
            p = 1.0 if x < 0 else 0.0
        else:
            at = bisect(points, abs(x))
            share = (abs(x) - points[at - 1]) / (points[at] - points[at - 1])
            p = math.exp(logs[at - 1] + share * (logs[at] - logs[at - 1]))
            p = p if x > 0 else 1 - p
        terms.append(count / signs * p)
    return max(math.fsum(terms), smallest_p(k))


def _split_sizes(sizes: Sizes) -> tuple[Sizes, Sizes]:
    """Split into the largest sizes, whose steps show in the distribution of the sum, and the others, which smooth it.

    Six lost queries among a hundred that hardly moved make a staircase, which no smooth approximation follows.
    """
    below = list(accumulate((n * size * size for size, n in sizes), initial=0.0))
    spread = math.sqrt(below[-1])
    cut = len(sizes)
    choices = 1
    for index in reversed(range(len(sizes))):
        size, n = sizes[index]
        choices *= n + 1
        visible = max(_NEGLIGIBLE_STEP * spread, _VISIBLE_STEP * math.sqrt(below[index]))
        if choices <= _MAX_SUMS and size > visible:
            cut = index
    return sizes[cut:], sizes[:cut]


def _merge_sizes(sizes: Sizes) -> Sizes:
    """Return at most 1,000 sizes: neighbours are joined, with the same sum of squares, which the tail depends on."""
    several = -(-len(sizes) // 1_000)
    parts = [sizes[start : start + several] for start in range(0, len(sizes), several)]
    counts = [sum(n for _, n in part) for part in parts]
    squares = [math.fsum(n * size * size for size, n in part) for part in parts]
    return [(math.sqrt(square / count), count) for square, count in zip(squares, counts, strict=True)]


def _tail(sizes: Sizes, step: float | None, t: float) -> tuple[float, float]:
    """Return x = K'(t) and P(X >= x), for t >= 0 and X the sum of the sizes with random signs.

    K(t) = sum(log cosh(t size)) is X's cumulant generating function.  With w = sqrt(2(tx - K(t))) and
    u = t sqrt(K''(t)), P = 1 - Phi(w) + phi(w) (1/u - 1/w).  X on a lattice moves by two steps h; there x is half of
    that below what P speaks of, and sinh(th)/h stands for t in u.
    """
    slopes = [(size, n, math.tanh(t * size)) for size, n in sizes]
    x = math.fsum(n * size * slope for size, n, slope in slopes)
    w = math.sqrt(max(2 * (t * x - math.fsum(n * _log_cosh(t * size) for size, n in sizes)), 0.0))
    if w < 1e-5:  # 1/u - 1/w vanishes with w, and cannot be computed any more
        return x, 0.5
    spread = math.sqrt(math.fsum(n * (size / math.cosh(min(t * size, 350.0))) ** 2 for size, n in sizes))
    u = (math.sinh(min(t * step, 700.0)) / step if step else t) * spread
    density = math.exp(-w * w / 2) / math.sqrt(2 * math.pi)
    p = math.erfc(w / math.sqrt(2)) / 2 + (density * (1 / u - 1 / w) if u else 0.0)
    return x, min(max(p, math.ulp(0.0)), 1.0)


def _solve_tilt(sizes: Sizes, x: float, total: float) -> float:
    """Return the t with K'(t) = x, 0 <= x < total, by Newton's method: K' is concave, so t rises to it from below."""
    t = x / math.fsum(n * size * size for size, n in sizes)
    for _ in range(200):
        slopes = [(size, n, math.tanh(t * size)) for size, n in sizes]
        missing = x - math.fsum(n * size * slope for size, n, slope in slopes)
        curve = math.fsum(n * size * size * (1 - slope * slope) for size, n, slope in slopes)
        if missing <= 1e-13 * total:
            break
        t += missing / curve
    return t


def _log_cosh(y: float) -> float:
    """Return log(cosh(y)) for y >= 0, also where cosh(y) is too large for a double."""
    return y + math.log1p(math.expm1(-2 * y) / 2)


def interval(differences: Sequence[float]) -> tuple[float, float] | None:
    """Return Student's 95 % confidence interval of the mean difference, mean -+ t s / sqrt(N); None for fewer than two queries."""
    error = standard_error(differences)
    if error is None:
        return None
    middle = mean(differences)
    reach = t_quantile(0.975, len(differences) - 1) * error
    return middle - reach, middle + reach


def standard_error(differences: Sequence[float]) -> float | None:
    """Return the standard error of the mean difference, s / sqrt(N), s with N - 1 below; None for fewer than two queries."""
    size = len(differences)
    return math.sqrt(sample_variance(differences) / size) if size > 1 else None


def sample_variance(values: Sequence[float]) -> float:
    """Return the variance of a sample, with n - 1 in the denominator; exactly 0 where all values are equal."""
    # `statistics.variance` takes a hundred times as long.
    if len(set(values)) < 2:
        return 0.0
    middle = mean(values)
    return math.fsum([(value - middle) ** 2 for value in values]) / (len(values) - 1)


def detectable_drop(differences: Sequence[float]) -> float | None:
    """Return the smallest true drop that a test over as many queries, with this spread, detects in four of five cases.

    (t(.95, N - 1) + z(.80)) s / sqrt(N), for a one-sided test at 5 %; None for fewer than two queries.
    """
    error = standard_error(differences)
    return None if error is None else (t_quantile(0.95, len(differences) - 1) + _Z_POWER) * error


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple comparisons (Holm 1979), in the given order; each at most 1."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min((len(p_values) - rank) * p_values[index], 1.0))
        adjusted[index] = highest
    return adjusted


@cache
def t_quantile(p: float, df: float) -> float:
    """Return the t with P(T <= t) = p, 0.5 < p < 1, by Newton's method: the tail is convex, so t rises to it from below."""
    t = 0.0
    scale = math.exp(_log_gamma_ratio(df / 2)) / math.sqrt(math.pi)
    while True:
        density = scale / math.sqrt(df) * (1 + t * t / df) ** (-(df + 1) / 2)
        step = (0.5 - scale * _cosine_integral(math.atan(t / math.sqrt(df)), df - 1) - (1 - p)) / density
        if step <= 1e-14 * t:
            return t
        t += step


def _cosine_integral(end: float, power: float) -> float:
    """Return the integral of cos(x)^power from 0 to `end`, below pi/2, by the tanh-sinh rule.

    Of x = atan(t / sqrt(df)) Student's density is such a power.
    """
    parts = []
    for u in (step * 0.08 for step in range(-40, 41)):
        bent = math.pi / 2 * math.sinh(u)
        sine = math.sin(end * (1 + math.tanh(bent)) / 2)
        parts.append(math.cosh(u) / math.cosh(bent) ** 2 * math.exp(power / 2 * math.log1p(-sine * sine)))
    return end * math.pi / 4 * 0.08 * math.fsum(parts)


def _log_gamma_ratio(a: float) -> float:
    """Return log(Gamma(a + 1/2) / Gamma(a)); of large `a` by Stirling's series, as two large logarithms would cancel."""
    if a < 50:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return math.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
