"""`evaluate`: means, depths, slices, latencies, metrics of one's own, and what it refuses."""

from __future__ import annotations

import copy
import math
import pickle
import threading

import pytest

from pytest_irmetrics import GoldenSet, GoldenSetError, Query, Run, compare, evaluate

GOLDEN = GoldenSet(
    [
        Query("a", "first", {"d1": 2, "d2": 1}, tags=("x",), weight=3.0),
        Query("b", "second", {"d3": 1}, tags=("x", "y")),
        Query("c", "third", {"d4": 1}, xfail="TICKET-7"),
        Query("n", "nothing", {}, no_answer=True),
    ]
)
ANSWERS = {"first": ["d1", "d9", "d2"], "second": ["d9", "d3"], "third": [], "nothing": []}


def search(query, k):
    return ANSWERS[query][:k]


def in_turns(*answers):
    """Return a retriever that gives these answers to every query, one each time that it is asked."""
    times: dict[str, int] = {}

    def retriever(query):
        times[query] = times.get(query, -1) + 1
        return answers[times[query] % len(answers)]

    return retriever


def test_a_mean_is_weighted_and_leaves_out_xfail_queries():
    evaluation = evaluate(golden=GOLDEN, source=search, metrics=["mrr", "no_answer"])
    assert evaluation["mrr"] == pytest.approx((3 * 1 + 1 * 0.5) / 4)
    assert evaluation["no_answer"] == 1
    assert dict(evaluation.scores["mrr"]) == {"a": 1.0, "b": 0.5}
    assert evaluation.mean("mrr", "y") == 0.5
    assert evaluation.tags == ("x", "y")
    assert [query.id for query in evaluation.known_bad] == ["c"]
    assert [evaluation.score("mrr", query_id) for query_id in "abcn"] == [1, 0.5, 0, None]
    assert [evaluation.score("no_answer", query_id) for query_id in "an"] == [None, 1]


def test_a_mean_does_not_depend_on_the_order_of_queries():
    ids = [f"q{n}" for n in range(300)]
    runs = {i: ["x"] * 0 + [f"x{at}" for at in range(n % 11)] + ["d"] for n, i in enumerate(ids)}
    weights = {i: 0.1 + n % 7 for n, i in enumerate(ids)}

    def mean(order):
        golden = GoldenSet([Query(i, i, {"d": 1}, weight=weights[i]) for i in order])
        return evaluate(golden, Run(runs), ["mrr"])["mrr"]

    assert mean(ids) == mean(ids[::-1]) == mean(sorted(ids))
    total = math.fsum(weights[i] / len(runs[i]) for i in ids)
    assert mean(ids) == pytest.approx(total / math.fsum(weights.values()), abs=1e-15)


def test_a_metric_may_be_read_by_any_of_its_names():
    evaluation = evaluate(GOLDEN, search, ["ndcg@10", "map"])
    assert evaluation["nDCG@10"] == evaluation["ndcg_cut_10"] == evaluation["ndcg@10"]
    with pytest.raises(ValueError, match=r"^mrr was not evaluated, only ndcg@10, map\. Add it to `metrics`"):
        evaluation["mrr"]
    with pytest.raises(ValueError, match=r"^mrr was not evaluated, nor any other\. Add it"):
        evaluate(GOLDEN, search, [])["mrr"]


def test_metrics_are_named_survive_copies_and_cannot_be_changed():
    (metric,) = evaluate(GOLDEN, search, ["nDCG(gain=exp)@10"]).metrics
    assert str(metric) == metric.name == "ndcg(gain=exp)@10"
    assert (metric.family, metric.cutoff, metric.lower, metric.upper) == ("ndcg", 10, 0, 1)
    assert pickle.loads(pickle.dumps(metric)) == copy.deepcopy(metric) == metric
    with pytest.raises(AttributeError):
        metric.cutoff = 5
    with pytest.raises(AttributeError):
        del metric.family
    assert repr(metric) == "<Metric ndcg(gain=exp)@10>"
    (both,) = evaluate(GOLDEN, search, ["AP(rel=2, norm=min)@10"]).metrics
    assert both.name == "map(norm=min,rel=2)@10"
    (own,) = evaluate(GOLDEN, search, ["own"], custom_metrics={"own": len}).metrics
    assert (own.lower, own.upper) == (-math.inf, math.inf)


def test_a_stored_run_with_texts_answers_a_golden_set_without():
    stored = evaluate(GOLDEN, search, ["mrr"]).run
    assert evaluate(GoldenSet.from_judgments({"a": {"d1": 1}}), stored, ["mrr"])["mrr"] == 1


def test_the_reprs_of_an_evaluation_and_a_comparison_are_short():
    evaluation = evaluate(GOLDEN, search, ["mrr", "map"])
    assert repr(evaluation) == "<Evaluation of <GoldenSet judgments: 4 queries>: 2 metrics, depth 10>"
    assert repr(compare(evaluation, evaluation)) == "<Comparison of 4 queries, depth 10>"
    assert repr(compare(evaluation, evaluation)["mrr"]) == "MetricChange(metric=<Metric mrr>, tag=None)"


def test_the_depth_is_as_deep_as_the_metrics_need_and_at_least_ten():
    asked = set()

    def deep(query, k):
        asked.add(k)
        return search(query, k)

    evaluate(GOLDEN, deep, ["mrr"])
    evaluate(GOLDEN, deep, ["recall@50"])
    evaluate(GOLDEN, deep, ["recall@5"], depth=7)
    assert asked == {10, 50, 7}
    with pytest.raises(ValueError, match="recall@50 needs 50 results, and the retriever is asked for 20"):
        evaluate(GOLDEN, deep, ["recall@50"], depth=20)


def test_a_run_is_not_scored_deeper_than_it_was_asked():
    shallow = evaluate(GOLDEN, search, ["mrr"]).run
    for depth, read in ((None, 10), (50, 10), (5, 5)):
        with pytest.raises(
            ValueError, match=rf"recall@50 needs 50 results, and the run is read to {read}\. C"
        ):
            evaluate(GOLDEN, shallow, ["recall@50"], depth=depth)
    assert evaluate(GOLDEN, Run({"a": ["d1"]}), ["recall@50"]).scores["recall@50"]["a"] == 0.5
    for run in (shallow, Run({"a": ["d1", "d2"], "b": ["d9", "d3"]})):
        assert evaluate(GOLDEN, run, ["recall", "mrr@1"], depth=1).scores["recall"] == {"a": 0.5, "b": 0}


def test_a_path_a_metric_name_and_a_run_in_the_wrong_place_are_refused():
    with pytest.raises(
        ValueError, match=r"'golden/faq\.yaml' is no golden set\. Give what GoldenSet\.load reads"
    ):
        evaluate("golden/faq.yaml", search)
    with pytest.raises(ValueError, match=r"`metrics` is 'mrr' alone\. Give a list: \['mrr'\]\."):
        evaluate(GOLDEN, search, "mrr")
    with pytest.raises(ValueError, match="compare takes two evaluations, and this is of type Run"):
        compare(evaluate(GOLDEN, search), Run({"a": ["d1"]}))
    with pytest.raises(GoldenSetError, match="The query 'a' is in it twice"):
        GoldenSet([*GOLDEN.queries.values(), GOLDEN.queries["a"]])


@pytest.mark.parametrize("source", [search, Run({"a": ["d1"]})], ids=["retriever", "run"])
@pytest.mark.parametrize(
    ("keyword", "words"),
    [
        ({"depth": 0}, r"depth is int 0\. Give a whole number, 1 or more\."),
        ({"depth": "5"}, r"depth is str '5'\."),
        ({"timeout": 0}, r"timeout is int 0\. Give seconds, more than 0, or None\."),
        ({"timeout": float("inf")}, "timeout is float inf"),
        ({"repeat": True}, "repeat is bool True"),
        ({"concurrency": 0}, "concurrency is int 0"),
        ({"duplicates": "keep"}, r"duplicates is str 'keep'\. Give 'error' or 'collapse'\."),
    ],
)
def test_a_keyword_out_of_its_range_is_refused_of_a_run_too(source, keyword, words):
    with pytest.raises(ValueError, match=words):
        evaluate(GOLDEN, source, ["mrr"], **keyword)


def test_keywords_say_how_a_retriever_is_asked():
    asked = []

    def found(query, k):
        asked.append((query, k, threading.get_ident()))
        return [{"key": "d1"}, {"key": "d1"}, {"key": "d3"}]

    keywords = {"depth": 3, "duplicates": "collapse", "doc_id": lambda item: item["key"], "repeat": 2}
    evaluation = evaluate(GOLDEN, found, ["mrr"], **keywords)
    assert evaluation.run["b"] == ("d1", "d3")
    texts = [query.text for query in GOLDEN.queries.values()]
    assert sorted(query for query, _, _ in asked) == sorted(texts * 2)
    assert {(k, thread) for _, k, thread in asked} == {(3, threading.get_ident())}


def test_a_mean_of_no_query_says_why():
    evaluation = evaluate(GOLDEN, search, ["mrr", "no_answer", "mrr(miss=skip)"])
    for metric, tag, why in (
        ("mrr", "z", "no query tagged 'z' to average over: no query carries this tag"),
        ("no_answer", "x", "no query tagged 'x' to average over: no query has `no_answer: true`"),
    ):
        with pytest.raises(ValueError, match=why):
            evaluation.mean(metric, tag)
    missed = evaluate(GOLDEN, Run({"b": ["d1"]}), ["mrr(miss=skip)"])
    with pytest.raises(
        ValueError, match="every such query is marked xfail or no_answer, unjudged, or left out by the metric"
    ):
        missed["mrr(miss=skip)"]
    assert missed.scores == {"mrr(miss=skip)": {}}


@pytest.mark.parametrize("depth", [None, 1, 2])
@pytest.mark.parametrize("queries", [("a", "b", "c", "n"), ("b", "other", "a"), ("b",)])
def test_a_run_made_of_rankings_scores_as_one_that_was_stored(queries, depth):
    rankings = {"a": ["d9", "d1", "d2"], "b": ["d3"], "c": [], "n": ["d9"], "other": ["d1"]}
    plain = Run({query: rankings[query] for query in queries})
    metrics = ["mrr@1", "mrr(miss=skip)@1", "hit@1", "precision", "no_answer"]
    one, other = (evaluate(GOLDEN, run, metrics, depth=depth) for run in (plain, Run.loads(plain.dumps())))
    assert one.scores == other.scores
    assert [one[metric] for metric in metrics] == [other[metric] for metric in metrics]
    assert one.mean("hit@1", "x") == other.mean("hit@1", "x")
    assert one.repeats("hit@1") == other.repeats("hit@1")
    assert one == evaluate(GOLDEN, plain, metrics, depth=depth)


def test_a_query_that_is_asked_several_times_has_the_average_of_its_scores():
    metrics = ["mrr", "mrr(miss=skip)", "precision@2", "no_answer", "own"]
    custom = {"own": lambda _query, ranking, _k: float(len(ranking))}
    evaluation = evaluate(GOLDEN, in_turns(["d3"], ["x", "d3"], []), metrics, repeat=3, custom_metrics=custom)
    assert evaluation.score("mrr", "b") == pytest.approx((1 + 0.5 + 0) / 3)
    assert evaluation.score("mrr(miss=skip)", "b") == 0.75
    assert evaluation.score("precision@2", "b") == pytest.approx(1 / 3)
    assert evaluation.score("own", "b") == 1
    assert evaluation["no_answer"] == pytest.approx(1 / 3)
    assert evaluation.repeats("mrr(miss=skip)") == {"a": [None] * 3, "b": [1, 0.5, None]}
    assert evaluation.repeats("own") == {"a": [1, 2, 0], "b": [1, 2, 0]}
    assert evaluation.repeats("no_answer") == {"n": [0, 0, 1]}


def test_where_a_query_failed_there_is_no_mean():
    def broken(query, k):
        if query == "second":
            raise OSError("gone")
        return search(query, k)

    evaluation = evaluate(GOLDEN, broken, ["mrr", "latency_p50"])
    assert list(evaluation.errors) == ["b"]
    assert repr(evaluation).endswith("2 metrics, 1 errors, depth 10>")
    for asked in (
        lambda: evaluation["mrr"],
        lambda: evaluation["latency_p50"],
        lambda: evaluation.column("mrr"),
        lambda: evaluation.score("mrr", "a"),
        lambda: evaluation.scores,
    ):
        with pytest.raises(
            ValueError, match=r"^1 of 4 queries could not be retrieved, so there is no mean.*'b'.*gone"
        ):
            asked()
    ids = [f"q{n}" for n in range(1300)]
    many = GoldenSet.from_judgments({i: {"d": 1} for i in ids}, texts={i: i for i in ids})
    with pytest.raises(ValueError, match=r"^1,200 of 1,300 queries could .* The first is 'q100': "):
        evaluate(many, lambda query: 1 / 0 if int(query[1:]) >= 100 else ["d"], ["mrr"])["mrr"]


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        (["a"], "None of the 1 returned id occurs in the golden set; most likely this is about ids, not about quality. Returned: 'a'."),
        (["a", "b", "c"], "None of the 3 returned ids occurs in the golden set; most likely this is about ids, not about quality. Returned: 'a', 'b', 'c'. Expected: 'd1', 'd2', 'd3'."),
        ([f"n{number}" for number in range(1500)], "Returned: 'n0', 'n1', 'n2' and 1,497 more."),
        (["x" * 61], f"Returned: '{'x' * 60}'."),
        (["faq/D1.html", "faq/x1.html"], " 'faq/D1.html' looks like 'd1'."),
        (["doc-d2", "doc-d3"], " 'doc-d2' looks like 'd2'."),
        (["D2"], " 'D2' looks like 'd2'."),
        (["x", "a-b_d1#7"], " 'a-b_d1#7' looks like 'd1'."),
        (["d1#" + "x" * 60], f" 'd1#{'x' * 57}' looks like 'd1'."),
    ],
)  # fmt: skip
def test_ids_that_the_golden_set_does_not_know_are_counted_and_shown(returned, shown):
    with pytest.warns(UserWarning, match="returned id") as caught:
        evaluate(GOLDEN, Run({"a": returned}))
    assert shown in str(caught[0].message)
    assert str(caught[0].message).endswith("the parameter doc_id can turn a result into its id.")
    assert caught[0].filename == __file__


def test_expected_ids_are_cut_and_compared_in_any_case_and_forbidden_ones_are_known():
    golden = GoldenSet([Query("a", "first", {"D" * 61: 1}, forbidden=("A",))])
    with pytest.warns(UserWarning, match="returned id") as caught:
        evaluate(golden, Run({"a": ["a " + "d" * 61]}), ["mrr"])
    said = str(caught[0].message)  # of two within it the longer
    assert f"Expected: 'A', '{'D' * 60}'. 'a {'d' * 58}' looks like '{'D' * 60}'. Return" in said
    assert evaluate(golden, Run({"a": ["x", "A"]}), ["mrr"])["mrr"] == 0


def test_where_a_query_failed_unknown_ids_are_no_warning():
    assert evaluate(GOLDEN, lambda query: ["x"] if query == "first" else [1 / 0], ["mrr"]).errors


def test_an_id_within_a_word_or_a_number_is_another():
    for returned in (["xd1", "xd2"], ["d11", "d12"], [""]):
        with pytest.warns(UserWarning, match="returned id") as caught:
            evaluate(GOLDEN, Run({"a": [doc_id or "-" for doc_id in returned]}))
        assert "looks like" not in str(caught[0].message)


def test_latencies_are_measured_of_retrievers_alone():
    evaluation = evaluate(GOLDEN, search, ["latency_p50", "latency_p95"], repeat=3)
    assert 0 <= evaluation["latency_p50"] <= evaluation["latency_p95"]
    took = evaluation.repeats("latency_p50")
    assert took.keys() == {"a", "b", "n"}
    assert {len(times) for times in took.values()} == {3}
    assert evaluation.scores["latency_p95"] == {
        query_id: math.fsum(each) / 3 for query_id, each in took.items()
    }
    for tag in ("x", None):
        times = sorted(
            t for q in evaluation.queries("latency_p50", tag) for t in evaluation.retrieved.latencies[q.id]
        )
        assert evaluation.mean("latency_p50", tag) == times[(len(times) + 1) // 2 - 1]
        assert evaluation.mean("latency_p95", tag) == times[-1]
    with pytest.raises(
        ValueError, match="latency_p50 needs a retriever to time; a stored run has no latencies"
    ):
        evaluate(GOLDEN, Run({"a": ["d1"]}), ["latency_p50"])["latency_p50"]


def test_a_metric_of_ones_own_is_given_the_ranking_to_the_cutoff_and_its_parameters():
    calls = []

    def mine(query, ranking, k, scale=1):
        calls.append((query.id, ranking, k, scale))
        return len(ranking)

    evaluation = evaluate(GOLDEN, search, ["mine(scale=2)@2", "mine"], custom_metrics={"mine": mine})
    assert (evaluation["mine(scale=2)@2"], evaluation["mine"]) == (2, (3 * 3 + 2) / 4)
    assert evaluation["MINE( scale=2.0 )@2"] == 2
    assert calls == [
        ("a", ("d1", "d9"), 2, 2),
        ("b", ("d9", "d3"), 2, 2),
        ("a", ("d1", "d9", "d2"), None, 1),
        ("b", ("d9", "d3"), None, 1),
    ]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda *_: 1e101, "returned 1e+101 for the query 'a'. A metric of your own returns a finite number, of at most 1e+100."),
        (lambda *_: -1e101, "returned -1e+101 for the query 'a'."),
        (lambda *_: 10**400, "raised OverflowError on the query 'a': "),
        (lambda *_: math.nan, "returned nan for the query 'a'. A metric of your own returns a finite number."),
        (lambda *_: {}[3], "raised KeyError on the query 'a': 3. A metric of your own takes (query, ranking, k, **parameters) and returns a number."),
        (lambda *_: "high", "raised ValueError on the query 'a'"),
    ],
)  # fmt: skip
def test_a_metric_of_ones_own_that_breaks_is_named_with_the_query(function, message):
    with pytest.raises(ValueError, match="the metric mine@3 ") as caught:
        evaluate(GOLDEN, search, ["mine@3"], custom_metrics={"mine": function})["mine@3"]
    assert str(caught.value).startswith(f"the metric mine@3 {message}")


def test_a_metric_of_ones_own_cannot_change_the_golden_set():
    before = copy.deepcopy(GOLDEN.queries["a"].judgments)
    for change in (lambda q, *_: q.judgments.pop("d1"), lambda q, *_: q.params.update(k=1) or 1):
        with pytest.raises(ValueError, match="the metric mine "):
            evaluate(GOLDEN, search, ["mine"], custom_metrics={"mine": change})["mine"]
    assert GOLDEN.queries["a"].judgments == before


def test_grades_that_a_scale_does_not_have_are_refused():
    golden = GoldenSet.from_judgments({"q0": {"a": 4}, "q1": {"a": 1, "b": 5}})
    with pytest.raises(
        ValueError, match=r"grade 5, above the top of the scale of err\(max=4\)\. Write err\(max=N\)"
    ):
        evaluate(golden, Run({"q0": ["a"], "q1": ["a"]}), ["mrr", "err@10"])["mrr"]
    high = GoldenSet.from_judgments({"q": {"a": 1000, "b": 999}})
    assert evaluate(high, Run({"q": ["a", "b"]}), ["ndcg(gain=exp)"])["ndcg(gain=exp)"] == 1


def test_sums_are_plain_sums_in_rank_order():
    """Python's own sum(), compensated since 3.12, ends on another bit."""
    golden = GoldenSet.from_judgments({"q": {f"d{number}": 1 for number in range(3, 31, 3)}})
    evaluation = evaluate(golden, Run({"q": [f"d{number}" for number in range(1, 31)]}), ["map"])
    assert evaluation["map"].hex() == "0x1.5555555555556p-2"


def test_grades_and_levels_may_be_fractions():
    golden = GoldenSet.from_judgments({"q": {"a": 0.5, "b": 1.5}}, relevance_level=0.5)
    metrics = ["ndcg", "recall@1", "recall(rel=1)@1", "mrr(rel=0.7)"]
    evaluation = evaluate(golden, Run({"q": ["a", "b"]}), metrics)
    expected = (0.5 + 1.5 / math.log2(3)) / (1.5 + 0.5 / math.log2(3))
    assert [evaluation[metric] for metric in metrics] == [pytest.approx(expected), 0.5, 0, 0.5]
    assert evaluation.repeats("recall@1") == {"q": [0.5]}
