"""`compare`: which queries pair, how far each mean moved, over which labels, and what that shows of other queries."""

from __future__ import annotations

import json
import math
import random

import pytest
import scipy

from pytest_irmetrics import GoldenSet, Query, Run, compare, evaluate

# Runs of a few queries that find nothing are what some of these are about.
pytestmark = pytest.mark.filterwarnings("ignore:None of the")

HIT, SECOND, MISS = ["d"], ["x", "d"], ["x"]
"""Rankings with a reciprocal rank of 1, 1/2 and 0."""


def golden_set(n, **of_each):
    """Return a golden set of n queries, with `of_each` a function of the query's number for each further field."""
    return GoldenSet(
        [
            Query(f"q{i}", f"t{i}", {"d": 1}, **{name: value(i) for name, value in of_each.items()})
            for i in range(n)
        ]
    )


def run_of(golden, answer):
    return Run({query_id: answer(number) for number, query_id in enumerate(golden.queries)})


def changed(golden, before, now, metric="mrr"):
    """Return how a metric moved between two runs, which answer query number n with `before(n)` and `now(n)`."""
    sides = [evaluate(golden, run_of(golden, answer), [metric]) for answer in (now, before)]
    return compare(*sides)[metric]


def stored(queries, *, level=None, depth=10, **header):
    """Return a run as it is stored: queries are dictionaries with id, text, rankings, and labels if they have some."""
    head = {
        "format": "pytest-irmetrics run",
        "version": 1,
        "depth": depth,
        "relevance_level": level,
        **header,
    }
    lines = ",\n".join(json.dumps(query) for query in queries)
    start = json.dumps({name: value for name, value in head.items() if value is not None})[:-1]
    return Run.loads(f'{start}, "queries": [\n{lines}\n]}}\n')


def test_a_delta_is_the_weighted_mean_of_the_differences():
    golden = golden_set(5, weight=lambda n: n + 1.0)
    change = changed(
        golden, lambda n: SECOND if n == 3 else HIT, lambda n: HIT if n == 3 else SECOND if n > 2 else HIT
    )
    assert (change.baseline, change.now) == (pytest.approx(13 / 15), pytest.approx(12.5 / 15))
    assert change.delta == pytest.approx(-0.5 / 15, abs=1e-15)
    assert change.weighted_differences["q4"] == pytest.approx(5 * 5 / 15 * -0.5, abs=1e-15)
    assert change.differences == {"q0": 0, "q1": 0, "q2": 0, "q3": 0.5, "q4": -0.5}
    assert (change.worse, change.better, change.same, change.lost) == (
        ("q4",),
        ("q3",),
        ("q0", "q1", "q2"),
        (),
    )
    assert (change.n, change.changed) == (5, 2)
    assert repr(change) == "MetricChange(metric=<Metric mrr>, tag=None)"


def test_queries_come_in_the_order_of_what_they_cost_or_gain():
    golden = golden_set(6, weight=lambda n: (1.0, 3.0, 2.0, 3.0, 1.0, 2.0)[n])
    change = changed(golden, lambda n: HIT if n < 4 else MISS, lambda n: MISS if n < 4 else SECOND)
    assert change.worse == change.lost == ("q1", "q3", "q2", "q0")
    assert change.better == ("q5", "q4")


def test_p_and_interval_are_those_of_the_paired_differences():
    rng = random.Random(3)
    golden = golden_set(40, weight=lambda n: 1.0 + n % 3)
    ranks = [[rng.randrange(5) for _ in range(40)] for _ in range(2)]
    change = changed(golden, *([lambda n, at=at: [*"xyzw"[: at[n]], "d"] for at in ranks]))
    values = list(change.weighted_differences.values())
    test = scipy.stats.ttest_1samp(values, 0)
    assert change.interval == pytest.approx(tuple(test.confidence_interval(0.95)), rel=1e-9)
    error = scipy.stats.sem(values)
    assert change.detectable == pytest.approx((scipy.stats.t.ppf(0.95, 39) + 0.842) * error)
    flips = random.Random(1)
    sums = [math.fsum(flips.choice((-1, 1)) * abs(v) for v in values) for _ in range(4000)]
    assert change.p_value == pytest.approx(sum(s <= math.fsum(values) + 1e-9 for s in sums) / 4000, abs=0.03)


def test_identical_runs_have_p_1_and_no_width():
    change = changed(golden_set(20), lambda _: HIT, lambda _: HIT)
    assert (change.p_value, change.interval, change.delta, change.detectable) == (1, (0, 0), 0, 0)


def test_one_query_has_no_interval_and_none_no_p():
    change = changed(golden_set(1), lambda _: HIT, lambda _: MISS)
    assert (change.n, change.interval, change.detectable, change.p_value) == (1, None, None, 0.5)
    golden = golden_set(2)
    nothing = compare(
        evaluate(golden, run_of(golden, lambda _: HIT), ["mrr"]), evaluate(golden, Run({}), ["mrr"])
    )
    assert (nothing["mrr"].delta, nothing["mrr"].p_value, nothing["mrr"].n) == (0, None, 0)


@pytest.mark.parametrize(
    ("n", "worse", "detectable"),
    [
        (5, SECOND, (2.1318 + 0.842) * 0.1),  # Student's t of 4 degrees of freedom, and s / sqrt(n)
        (3, SECOND, (2.9200 + 0.842) / 6),
        (3, MISS, None),  # 1.25, more than any mean can fall
    ],
)
def test_the_drop_that_is_detectable_is_one_that_can_be(n, worse, detectable):
    change = changed(golden_set(n), lambda _: HIT, lambda i: HIT if i else worse)
    assert change.detectable == (detectable if detectable is None else pytest.approx(detectable, rel=1e-4))
    assert -1 <= change.interval[0] < change.interval[1] <= 1


def test_where_each_side_leaves_out_other_queries_the_means_differ_and_there_is_no_p():
    metric = "mrr(miss=skip)"
    change = changed(golden_set(5), lambda n: HIT if n else MISS, lambda n: SECOND if n < 3 else MISS, metric)
    assert (change.now, change.baseline, change.delta) == (0.5, 1, -0.5)
    assert (change.p_value, change.interval, change.detectable) == (None, None, None)
    assert (change.n, change.left_out, change.lost) == (2, ["q3", "q4"], ("q3", "q4"))


def test_pairs_are_by_id_text_and_params():
    answers = [
        {"id": "a", "text": "first", "rankings": [["d"]]},
        {"id": "b", "text": "second", "rankings": [["d"]]},
        {"id": "n", "text": "same", "params": {"k": 1}, "rankings": [["d"]]},
        *({"id": f"gone {n}", "text": "gone", "rankings": [["d"]]} for n in (3, 1, 2)),
    ]
    golden = GoldenSet(
        [
            Query("a", "first, reworded", {"d": 1}),
            Query("b", "second", {"d": 1}, params={"lang": "en", 1: 2}),
            Query("z", "new", {"d": 1}),
            Query("n", "same", {"d": 1}, params={"k": 1}),
        ]
    )
    now = evaluate(golden, run_of(golden, lambda _: SECOND), ["mrr"])
    comparison = compare(now, evaluate(golden, stored(answers), ["mrr"]))
    assert (comparison.paired, comparison.reworded, comparison.new) == (("n",), ("a", "b"), ("z",))
    assert comparison.removed == ("gone 1", "gone 2", "gone 3")
    assert comparison.paired_share() == pytest.approx(1 / 6)
    assert (comparison["mrr"].delta, comparison["mrr"].n, comparison.now_in_full["mrr"]) == (-0.5, 1, 0.5)
    by_id = compare(now, evaluate(golden, Run({"a": HIT, "b": HIT}), ["mrr"]))
    assert by_id.paired == ("a", "b")


def test_both_sides_are_cut_at_the_shallower_depth():
    golden = golden_set(2)
    now = evaluate(golden, stored([{"id": "q0", "rankings": [["x", "y", "d"]]}], depth=20), ["recall"])
    before = evaluate(golden, stored([{"id": "q0", "rankings": [["x", "d"]]}], depth=2), ["recall"])
    for one, other, delta in ((now, before, -1.0), (before, now, 1.0)):
        comparison = compare(one, other)
        assert (comparison.depth, comparison["recall"].delta) == (2, delta)
        assert one["recall"] == 0.5


@pytest.mark.parametrize(
    ("now", "before", "share"),
    [
        (["a b"], ["a b", "a x"], 0.75),
        (["a b", "x y"], ["a b x", "a x"], 0.5),
        (["", "a"], ["", "a b"], 0.375),
    ],
)
def test_overlap_is_a_mean_over_the_repeats_of_both_sides(now, before, share):
    runs = [stored([{"id": "q0", "rankings": [one.split() for one in side]}]) for side in (now, before)]
    assert compare(*[evaluate(golden_set(1), run, ["mrr"]) for run in runs])["overlap@2"].now == share


def test_what_was_not_evaluated_or_is_a_latency_has_no_change():
    golden = golden_set(1)
    evaluation = evaluate(golden, lambda query: HIT, ["mrr", "latency_p50"])  # noqa: ARG005
    comparison = compare(evaluation, evaluation)
    with pytest.raises(ValueError, match="latency_p50 is never in a baseline; gate it with `max`"):
        comparison["latency_p50"]
    for name in ("map", "overlap@11"):
        with pytest.raises(ValueError, match=f"{name} was not evaluated"):
            comparison[name]
    assert comparison["overlap@10"].now == 1


def test_queries_that_were_asked_once_have_no_run_noise():
    golden = golden_set(3, tags=lambda n: ("twice",) if n else ("once",))
    run = stored([{"id": f"q{n}", "rankings": [HIT, SECOND][: 1 + n]} for n in range(3)])
    now, before = (evaluate(golden, one, ["mrr"]) for one in (run, run_of(golden, lambda _: HIT)))
    comparison = compare(now, before)
    assert comparison.run_noise("mrr", "once") is comparison.run_noise("mrr", "no such tag") is None
    assert compare(before, before).run_noise("mrr") is None
    assert comparison.run_noise("mrr", "twice").asked == (2, 1)
    assert comparison.run_noise("mrr").unstable == ("q1", "q2")
    # Their passes hardly differ, as one query rises where two fall: what varies is each query.
    passes = [[HIT, SECOND], [HIT, SECOND], [SECOND, HIT]]
    mixed = evaluate(golden, stored([{"id": f"q{n}", "rankings": passes[n]} for n in range(3)]), ["mrr"])
    assert compare(mixed, mixed).run_noise("mrr").deviation == pytest.approx(math.sqrt(1 / 24))


def test_slices_are_compared_by_their_own_weights():
    golden = golden_set(
        4, tags=lambda n: ("even",) if n % 2 == 0 else ("odd", "all"), weight=lambda n: n + 1.0
    )
    sides = [
        evaluate(golden, run_of(golden, answer), ["mrr"])
        for answer in (lambda n: SECOND if n else HIT, lambda _: HIT)
    ]
    comparison = compare(*sides)
    assert comparison.change("mrr", "even").delta == pytest.approx(3 * -0.5 / 4)
    assert comparison.change("mrr", "odd").worse == ("q3", "q1")
    assert comparison.now.tags == ("all", "even", "odd")


def random_side(rng, golden, metrics):
    """Return a run of some of the queries, one or two rankings each, and its evaluation at one of several depths."""
    queries = []
    for query in golden.queries.values():
        if rng.random() < 0.85:
            rankings = [rng.sample("abcdefg", rng.randrange(6)) for _ in range(rng.choice((1, 1, 2)))]
            text = query.text if rng.random() < 0.9 else "another"
            queries.append({"id": query.id, "text": text, "rankings": rankings})
    custom = {"shortness": lambda query, ranking, _k: len(query.judgments) / (1 + len(ranking))}
    run = stored(queries, depth=rng.choice((3, 4, None)))
    return evaluate(golden, run, metrics, custom_metrics=custom)


def test_a_comparison_equals_two_evaluations_of_the_paired_queries_alone():
    metrics = ["mrr", "mrr(miss=skip)@2", "ndcg@3", "precision@2", "judged@3", "shortness@2", "no_answer"]
    rng = random.Random(11)
    for _ in range(150):
        queries = []
        for number in range(rng.randint(1, 6)):
            judged = {doc_id: rng.randint(1, 3) for doc_id in rng.sample("abcdefg", rng.randint(1, 3))}
            no_answer = rng.random() < 0.2
            tags, weight = rng.choice(((), ("x",), ("x", "y"))), rng.choice((1.0, 1.0, 0.3, 2.0))
            more = {
                "tags": tags,
                "weight": weight,
                "no_answer": no_answer,
                "xfail": rng.choice((None, None, None, "T-7")),
            }
            queries.append(Query(f"q{number}", f"text {number}", {} if no_answer else judged, **more))
        golden = GoldenSet(queries)
        now, before = (random_side(rng, golden, metrics) for _ in range(2))
        comparison = compare(now, before)
        pair = [golden.queries[i] for i in comparison.paired]
        if not pair:
            continue
        alone = GoldenSet(pair)
        whole = {metric: dict(scores) for metric, scores in now.scores.items()}
        sides = [
            evaluate(alone, side.run, metrics, depth=comparison.depth, custom_metrics=side.custom)
            for side in (now, before)
        ]
        for metric in metrics:
            for tag in (None, "x", "y"):
                change = comparison.change(metric, tag)
                after, earlier = (side.scores_of(metric, tag) for side in sides)
                assert (change.after, change.before) == (after, earlier)
                assert change.differences == {i: after[i] - earlier[i] for i in after if i in earlier}
                if after and earlier:
                    means = [side.mean(metric, tag) for side in sides]
                    assert (change.now, change.baseline) == pytest.approx(means, abs=1e-12)
                    assert change.delta == pytest.approx(means[0] - means[1], abs=1e-12)
                assert {*change.worse, *change.better, *change.same} == change.differences.keys()
        assert now.scores == whole


# Labels that changed since the baseline was stored ---------------------------------------------------------

THEN = {"a": {"d": 1, "x": 0}, "b": {"d": 1}, "c": {"d": 1}}
"""The stored judgments of each query; each was answered with x before d."""


def relabelled(today=None, *, then=THEN, level=1, **labels):
    """Compare a run with itself, where `today` judgments and labels replace those that were stored."""
    queries = [
        Query(i, i, (today or {}).get(i, judgments), **labels.get(i, {})) for i, judgments in THEN.items()
    ]
    golden = GoldenSet(queries, relevance_level=level)
    answers = [
        {"id": i, "text": i, "rankings": [["x", "d"]], "judgments": judgments, "weight": 1.0}
        for i, judgments in then.items()
    ]
    run = stored([{k: v for k, v in a.items() if v is not None} for a in answers], level=1)
    return compare(*[evaluate(golden, run, ["mrr"]) for _ in range(2)])


@pytest.mark.parametrize(
    ("edit", "parts"),
    [
        ({}, ()),
        ({"today": {"a": {"d": 1, "x": 1}}}, ("judgments",)),
        ({"today": {"a": {"d": 1, "x": 1}}, "a": {"weight": 2.0}}, ("judgments", "weights")),
        ({"level": 2}, ("relevance level",)),
        ({"b": {"tags": ["t"]}}, ()),
        ({"today": {"c": {"d": 0, "x": 0}}, "c": {"xfail": "known"}}, ("judgments",)),
        ({"then": {**THEN, "c": None}}, ()),
    ],
)
def test_labels_that_changed_are_named(edit, parts):
    comparison = relabelled(**edit)
    assert comparison.changed_labels() == parts
    assert (comparison.under_stored_labels is None) == (not parts and "b" not in edit)


def test_queries_whose_judgments_changed_are_those_of_the_baseline():
    comparison = relabelled({"b": {"z": 2, "d": 1, "e": 0}, "a": {"d": 1, "x": 1}})
    assert {i: query.judgments for i, query in comparison.relabelled.items()} == {i: THEN[i] for i in "ab"}
    assert comparison.under_stored_labels["mrr"].baseline == 0.5


def test_tags_are_labels_of_their_own_slice_alone():
    comparison = relabelled(b={"tags": ["t", "u"]})
    assert [*comparison.relabelled] == ["b"]
    assert [comparison.changed_labels(tag) for tag in (None, "t", "other")] == [(), ("tags",), ()]
