"""P-values and intervals against enumeration, scipy and published values, which runs of a few queries do not reach."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
import scipy as sp
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.comparison.significance import (
    detectable_drop,
    drop_for_chance,
    holm,
    interval,
    share_falling_beyond,
    sign_flip_p,
    smallest_p,
    standard_error,
    t_quantile,
)
from pytest_irmetrics.comparison.slices import joint_margins

DARWIN = [-49, 67, -8, -16, -6, -23, -28, -41, -14, -29, -56, -24, -75, -60, 48]  # 15 pairs of maize, negated
DISCOUNTS = [*(1 / math.log2(rank + 1) for rank in range(1, 11)), 0.0]
RECIPROCALS = [*(1 / rank for rank in range(1, 11)), 0.0]

differences = st.lists(
    st.sampled_from([-1.0, -0.5, -1 / 3, -0.1, 0.0, 0.1, 1 / 6, 0.25, 0.5]), max_size=12
) | st.lists(st.floats(-1, 1, allow_nan=False), max_size=12)


def enumerated(values):
    changed = [value for value in values if abs(value) > 1e-9]
    seen = math.fsum(changed)
    scale = max(map(abs, changed), default=1)
    as_low = sum(
        math.fsum(sign * abs(value) for sign, value in zip(signs, changed, strict=True))
        <= seen + 2e-9 * scale
        for signs in itertools.product((-1, 1), repeat=len(changed))
    )
    return as_low / 2 ** len(changed)


def on_a_fine_grid(values, points=60_000):
    """The sign-flip distribution by convolution, with every size rounded to a grid."""
    sizes = np.abs(np.array(values))
    steps = np.rint(sizes / sizes.sum() * points).astype(int)
    chance = np.ones(1)
    for step in sorted(steps):
        chance = (np.pad(chance, (0, step)) + np.pad(chance, (step, 0))) / 2
    return chance[sum(step for step, value in zip(steps, values, strict=True) if value < 0) :].sum()


def test_darwins_maize():
    t = math.fsum(DARWIN) / 15 / standard_error(DARWIN)
    assert sign_flip_p(DARWIN) == 863 / 32768
    assert t == pytest.approx(-2.14798746, abs=5e-9)
    assert t_quantile(1 - 0.02485147, 14) == pytest.approx(-t, abs=5e-7)


@pytest.mark.parametrize(
    ("values", "p"),
    [
        ([-0.1] * 5, 0.03125),
        ([-0.2] * 4, 0.0625),
        ([-0.3] * 21 + [0.3] * 10, 0.03537777),
        ([], 1),
        ([0.0] * 50, 1),
        ([1e-10, -1e-10] * 30, 1),
        ([0.1], 1),
        ([-0.1], 0.5),
        ([0.1, -0.1], 0.75),
        ([-0.5] * 40, 2**-40),
        ([0.5] * 40, 1),
        ([-1e-9] * 40, 1),
        ([-1.1e-9] * 3, 0.125),
        ([-1e300] * 3, 0.125),
        ([-0.5] * 5000, 0),
    ],
)
def test_reference_values(values, p):
    assert sign_flip_p(values) == pytest.approx(p, abs=5e-9)


@given(differences)
def test_p_equals_enumeration(values):
    assert sign_flip_p(values) == pytest.approx(enumerated(values), abs=1e-15)


def test_ties_count_although_their_sums_differ_in_the_last_digit():
    # 1/2 = 1/3 + 1/6 and 0.3 = 0.1 + 0.2, for a reader but not for a processor.
    values = [-0.5, 1 / 3, 1 / 6, -0.3, 0.1, 0.2]
    assert sign_flip_p(values) == enumerated(values)
    weighted = [value * 0.7 * 3 / 2.1 for value in values]
    assert sign_flip_p(weighted) == sign_flip_p(values)


def test_ties_of_sizes_that_have_no_common_step():
    one, other = math.sqrt(2) / 7, math.sqrt(3) / 7
    values = [-(one + other), one, other, -(one * 3 + other), one * 3, other]
    assert sign_flip_p(values) == enumerated(values)


def test_sizes_that_differ_in_the_last_digit_are_one_size():
    sizes = [0.3, 0.1 + 0.2, math.nextafter(0.3, 0), math.nextafter(0.3, 1)] * 10
    values = [-size for size in sizes[:26]] + sizes[26:]
    assert sign_flip_p(values) == pytest.approx(sp.stats.binom.sf(25, 40, 0.5), rel=1e-12)
    sizes = [1 + digits * 2e-16 for digits in range(40)]
    values = [-size for size in sizes[:26]] + sizes[26:]
    assert sign_flip_p(values) == pytest.approx(sp.stats.binom.sf(25, 40, 0.5), rel=1e-12)


@pytest.mark.parametrize("k", [20, 28, 29, 200])
def test_equal_differences_are_binomial(k):
    for losses in (k // 2, k // 2 + int(math.sqrt(k)), k - 2):
        values = [-0.2] * losses + [0.2] * (k - losses)
        assert sign_flip_p(values) == pytest.approx(sp.stats.binom.sf(losses - 1, k, 0.5), rel=1e-10)


def test_equal_differences_of_many_queries_are_binomial():
    assert sign_flip_p([-0.2] * 780 + [0.2] * 720) == pytest.approx(
        sp.stats.binom.sf(779, 1500, 0.5), rel=1e-10
    )


def test_many_equal_differences_are_nearly_binomial():
    assert sign_flip_p([-0.2] * 5100 + [0.2] * 4900) == pytest.approx(
        sp.stats.binom.sf(5099, 10_000, 0.5), rel=1e-4
    )


def test_exact_up_to_28_changed_queries():
    generator = random.Random(5)
    for k in (22, 28):
        values = [generator.gauss(-0.07, 0.2) for _ in range(k)] + [0.0] * 100
        assert sign_flip_p(values) == pytest.approx(on_a_fine_grid(values[:k], 3_000_000), rel=2e-4)


def _tilted(generator, sizes):
    gains = 0.5 - (0.5 + generator.random()) / math.sqrt(len(sizes))
    return [size if generator.random() < gains else -size for size in sizes]


def _graded(generator):
    """One relevant document of one query, before and after."""
    while True:
        if size := abs(generator.choice(DISCOUNTS) - generator.choice(DISCOUNTS)):
            return size


def _reciprocal(generator):
    while True:
        if size := abs(generator.choice(RECIPROCALS) - generator.choice(RECIPROCALS)):
            return size


SHAPES = {
    "graded": _graded,
    "reciprocal ranks": _reciprocal,
    "of any size": lambda generator: abs(generator.gauss(0, 0.2)) + 1e-6,
    "long-tailed": lambda generator: min(1.0, generator.paretovariate(1.2) * 0.03),
    "weighted tenths": lambda generator: generator.randint(1, 4) * generator.choice([0.05, 0.1, 0.2, 0.37]),
    "a few lost, the others hardly moved": lambda generator: (
        1.0 if generator.random() < 0.1 else 0.02 * generator.random() + 1e-6
    ),
    "a few worse by much, the others hardly moved": lambda generator: (
        1 - 0.9 * generator.random() if generator.random() < 0.1 else 0.02 * generator.random() + 1e-6
    ),
    "lost or found, and some noise": lambda generator: (
        1.0 if generator.random() < 0.5 else 0.01 * generator.random() + 1e-6
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_above_28_within_2_percent_of_the_exact_p(shape):
    generator = random.Random(f"seed of {shape}")
    checked = 0
    while checked < 12:
        values = _tilted(generator, [SHAPES[shape](generator) for _ in range(generator.randint(29, 150))])
        exact = on_a_fine_grid(values)
        if 0.01 < exact < 0.1:
            checked += 1
            assert sign_flip_p(values) == pytest.approx(exact, rel=0.02, abs=0)


def test_a_tiny_gain():
    generator = random.Random(4)
    losses = [-0.2 - generator.random() for _ in range(60)]
    assert sign_flip_p([*losses, 1e-6]) < 1e-15
    assert sign_flip_p([*(value * 1e10 for value in losses), 1e-8]) == 2**-61
    assert sign_flip_p([*(-value for value in losses), -1e-6]) == pytest.approx(1)


def test_p_of_a_gain_and_of_its_loss_complement_each_other():
    generator = random.Random(8)
    values = [generator.gauss(0.03, 0.2) for _ in range(60)]
    assert sign_flip_p(values) + sign_flip_p([-value for value in values]) == pytest.approx(1, abs=1e-9)
    assert sign_flip_p([*values, *(-value for value in values)]) == pytest.approx(0.5, abs=1e-9)


def test_merging_sizes_hardly_changes_p():
    generator = random.Random(9)
    values = [generator.gauss(-0.01, 0.2) for _ in range(3_000)]
    normal = sp.stats.norm.cdf(math.fsum(values) / math.sqrt(math.fsum(value * value for value in values)))
    assert sign_flip_p(values) == pytest.approx(normal, rel=0.01)


@given(
    st.lists(st.sampled_from([*DISCOUNTS, *(-value for value in DISCOUNTS)]), min_size=2, max_size=60),
    st.randoms(),
)
def test_the_order_of_the_queries_does_not_matter(values, generator):
    shuffled = values.copy()
    generator.shuffle(shuffled)
    assert sign_flip_p(shuffled) == sign_flip_p(values)
    assert interval(shuffled) == interval(values)
    assert detectable_drop(shuffled) == detectable_drop(values)


@given(st.lists(st.floats(-1e6, 1e6), min_size=29, max_size=60), st.integers(0, 20))
def test_p_is_a_probability_for_any_differences(values, repeats):
    assert 0 < sign_flip_p(values + values[:1] * repeats) <= 1


def test_the_smallest_p():
    assert smallest_p(4) == 0.0625
    assert smallest_p(0) == 1
    assert smallest_p(5_000) == 0


@pytest.mark.parametrize("df", [1, 2, 3, 7, 19, 49, 99, 100, 224, 1_000, 9_999, 250_000])
def test_students_t_against_scipy(df):
    for p in (0.51, 0.9, 0.95, 0.975, 0.995, 0.99999):
        assert t_quantile(p, df) == pytest.approx(sp.stats.t.ppf(p, df), rel=1e-10)


@given(st.lists(st.floats(-1, 1).filter(lambda value: not 0 < abs(value) < 1e-6), min_size=2, max_size=200))
def test_intervals_against_scipy(values):
    low, high = interval(values)
    error = standard_error(values)
    assert low <= math.fsum(values) / len(values) <= high
    if error < 1e-9:  # scipy divides by it
        assert high - low == pytest.approx(0, abs=1e-7)
        return
    expected = sp.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (low, high) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_intervals_of_constant_differences_and_of_none():
    assert interval([-0.25] * 5) == (-0.25, -0.25)
    assert interval([]) is None


def test_holm():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@given(
    st.lists(
        st.sampled_from([0.0, 0.0, -0.5, 0.25, 1 / 3, -0.1, 1e-7]) | st.floats(-1, 1), min_size=2, max_size=60
    )
)
def test_the_standard_error_to_the_last_digit(values):
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    assert standard_error(values) == math.sqrt(squares / (len(values) - 1) / len(values))


def enumerated_share(values, drop):
    """The share of all choices of signs by which a `max_drop` fails."""
    n, sizes = len(values), [abs(value) for value in values]
    sums = [
        math.fsum(map(math.prod, zip(signs, sizes, strict=True)))
        for signs in itertools.product((1, -1), repeat=n)
    ]
    return sum(-total / n > drop + 1e-9 for total in sums) / len(sums)


@pytest.mark.parametrize("sizes", [(0.5,), (1.0, 0.5, 0.25), (0.369, 0.5, 0.131, 0.613), (0.1, 0.0)])
def test_the_share_of_changes_that_fall_further_is_that_of_all_signs(sizes):
    generator = random.Random(len(sizes))
    for n in range(1, 11):
        values = [generator.choice(sizes) * generator.choice((1, -1)) for _ in range(n)]
        for drop in (0.0, 0.01, 0.05, 0.1, 0.25, 0.5 / n, 1.0 / n, 1.5 / n):
            assert share_falling_beyond(values, drop) == enumerated_share(values, drop), (values, drop)


def test_a_fall_of_just_the_limit_does_not_count():
    assert share_falling_beyond([0.1] * 10, 0.1) == 0
    assert share_falling_beyond([0.1] * 10, 0.0999) == 2**-10
    assert share_falling_beyond([0.1] * 10, 0.08) == 2**-10
    assert share_falling_beyond([0.0] * 10, 0.0) == 0
    assert share_falling_beyond([], 0.01) == 0


def test_the_share_of_many_queries_is_near_the_normal_one():
    generator = random.Random(5)
    values = [generator.gauss(0, 0.2) for _ in range(400)]
    spread = math.sqrt(math.fsum(value * value for value in values)) / len(values)
    for drop in (0.0, 0.005, 0.01, 0.02):
        assert share_falling_beyond(values, drop) == pytest.approx(sp.stats.norm.sf(drop / spread), abs=0.002)


@pytest.mark.parametrize("n", [3, 10, 30, 200])
def test_the_drop_that_one_change_in_twenty_exceeds(n):
    generator = random.Random(n)
    values = [generator.choice((0.0, 0.0, 0.37, -0.5, 0.131)) for _ in range(n)]
    drop = drop_for_chance(values)
    assert share_falling_beyond(values, drop) <= 0.05
    assert not drop or share_falling_beyond(values, 0.9 * drop - 1e-6) > 0.05
    assert drop_for_chance(values, drop) == 0


def test_nothing_exceeds_a_drop_of_0_where_nothing_changed():
    assert drop_for_chance([0.0] * 5) == drop_for_chance([]) == 0


def alternating(n):
    return [0.1 if i % 2 else -0.1 for i in range(n)]


@pytest.mark.parametrize("slices", [1, 30])
def test_the_margins_of_slices_are_normal_ones_that_share_the_level(slices):
    margins = joint_margins({"still": [0.0] * 50, **{f"t{i}": alternating(100) for i in range(slices)}})
    assert margins["t0"] == pytest.approx(sp.stats.norm.isf(0.025 / slices) * 0.1 / 10, rel=1e-6)
    assert joint_margins({"still": [0.0] * 50}) == {"still": 0.0}


def test_the_smallest_slice_with_signs_that_say_anything_has_six_queries():
    """Five signs are alike in 1 of 16 cases, six in 1 of 32."""
    five, six = joint_margins({"a": [-1.0] * 5})["a"], joint_margins({"a": [-1.0] * 6})["a"]
    assert five >= 1 > six


@pytest.mark.parametrize("slices", [1, 5, 30])
def test_harmless_changes_leave_a_margin_in_one_of_twenty_cases_at_most(slices):
    generator = random.Random(slices)
    sizes = [generator.choice([0, 0, 0.1, 0.5, 1]) for _ in range(100)]
    members = [generator.sample(range(100), generator.randint(5, 40)) for _ in range(slices)]
    left = 0
    for _ in range(1000):
        changes = [size * generator.choice([1, -1]) for size in sizes]
        by_tag = {str(i): [changes[q] for q in ids] for i, ids in enumerate(members)}
        margins = joint_margins(by_tag)
        left += any(abs(sum(values)) / len(values) > margins[tag] + 1e-9 for tag, values in by_tag.items())
    assert left <= 65  # 50 expected at most, and two standard deviations
