"""`evaluate`: means, depths, and what it refuses."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest

from pytest_irmetrics import GoldenSet, GoldenSetError, Run, compare, evaluate
from pytest_irmetrics.evaluation import Evaluation, EvaluationError, UnknownIdsWarning, read_metrics
from pytest_irmetrics.metrics import MetricError
from pytest_irmetrics.retrieval import RetrievalOptions, Retrieved, retrieve
from tests.unit.evaluation.example import GOLDEN, search


def test_a_mean_is_weighted_and_leaves_out_xfail_queries():
    evaluation = evaluate(GOLDEN, search, ["mrr", "no_answer"])
    assert evaluation["mrr"] == pytest.approx((3 * 1 + 1 * 0.5) / 4)
    assert evaluation["no_answer"] == 1
    assert dict(evaluation.scores["mrr"]) == {"a": 1.0, "b": 0.5}
    assert evaluation.mean("mrr", "y") == 0.5
    assert evaluation.score("mrr", "c") == 0
    assert evaluation.score("mrr", "n") is None


def test_a_metric_may_be_read_by_any_of_its_names():
    evaluation = evaluate(GOLDEN, search, ["ndcg@10"])
    assert evaluation["nDCG@10"] == evaluation["ndcg_cut_10"] == evaluation["ndcg@10"]
    with pytest.raises(EvaluationError, match=r"mrr was not evaluated, only ndcg@10"):
        evaluation["mrr"]
    with pytest.raises(MetricError, match="ndcg"):
        evaluate(GOLDEN, search, ["ndgc@10"])


def test_the_reprs_of_an_evaluation_and_a_comparison_are_short():
    evaluation = evaluate(GOLDEN, search, ["mrr", "map"])
    assert repr(evaluation) == "<Evaluation of <GoldenSet judgments: 4 queries>: 2 metrics, depth 10>"
    assert repr(compare(evaluation, evaluation)) == "<Comparison of 4 queries, depth 10>"


def test_the_depth_is_as_deep_as_the_metrics_need_and_at_least_ten():
    asked = set()

    def deep(query, k):
        asked.add(k)
        return search(query, k)

    evaluate(GOLDEN, deep, ["mrr"])
    evaluate(GOLDEN, deep, ["recall@50"])
    evaluate(GOLDEN, deep, ["recall@5"], depth=7)
    assert asked == {10, 50, 7}
    with pytest.raises(
        EvaluationError,
        match="recall@50 needs 50 results a query, and the retriever is asked for 20",
    ):
        evaluate(GOLDEN, deep, ["recall@50"], depth=20)


def test_a_run_is_not_scored_deeper_than_it_was_asked():
    shallow = evaluate(GOLDEN, search, ["mrr"]).run
    with pytest.raises(
        EvaluationError, match=r"recall@50 needs 50 results a query, and the run is read to 10\. Choose"
    ):
        evaluate(GOLDEN, shallow, ["recall@50"])
    with pytest.raises(EvaluationError, match="the run is read to 10"):
        evaluate(GOLDEN, shallow, ["recall@50"], depth=50)
    with pytest.raises(EvaluationError, match="the run is read to 5"):
        evaluate(GOLDEN, shallow, ["recall@10"], depth=5)
    unknown = Run({"a": ["d1"]})
    assert evaluate(GOLDEN, unknown, ["recall@50"]).scores["recall@50"]["a"] == 0.5


def test_a_path_a_metric_name_and_a_run_in_the_wrong_place_are_refused():
    with pytest.raises(
        EvaluationError, match=r"'golden/faq\.yaml' is no golden set\. Give what GoldenSet\.load reads"
    ):
        evaluate("golden/faq.yaml", search)
    with pytest.raises(EvaluationError, match=r"`metrics` is the text 'mrr'\. Give a list: \['mrr'\]\."):
        evaluate(GOLDEN, search, "mrr")
    with pytest.raises(EvaluationError, match="compare takes two evaluations, and this is of type Run"):
        compare(evaluate(GOLDEN, search), Run({"a": ["d1"]}))


@pytest.mark.parametrize("source", [search, Run({"a": ["d1"]})], ids=["retriever", "run"])
@pytest.mark.parametrize(
    ("keyword", "words"),
    [
        ({"depth": 0}, r"depth is int 0\. Give a whole number, 1 or more\."),
        ({"depth": -1}, r"depth is int -1\."),
        ({"depth": "5"}, r"depth is str '5'\."),
        ({"timeout": 0}, r"timeout is int 0\. Give seconds, more than 0, or None\."),
    ],
)
def test_a_keyword_out_of_its_range_is_refused_of_a_run_too(source, keyword, words):
    with pytest.raises(ValueError, match=words):
        evaluate(GOLDEN, source, ["mrr"], **keyword)


def test_what_is_no_metrics_name_is_refused_where_it_is_given():
    with pytest.raises(MetricError, match="a metric's name is text, not int"):
        evaluate(GOLDEN, search, ["mrr", 5])
    with pytest.raises(MetricError, match="a metric's name is text, not int"):
        evaluate(GOLDEN, search, ["mrr"])[0]
    with pytest.raises(EvaluationError, match=r"^mrr was not evaluated, nor any other\. Add it"):
        evaluate(GOLDEN, search, [])["mrr"]


def test_a_mean_of_no_query_says_why():
    evaluation = evaluate(GOLDEN, search, ["mrr", "no_answer"])
    with pytest.raises(
        EvaluationError, match=r"no query tagged 'z' to average over: no query carries this tag"
    ):
        evaluation.mean("mrr", "z")
    with pytest.raises(
        EvaluationError, match=r"no query tagged 'x' to average over: no query has `no_answer"
    ):
        evaluation.mean("no_answer", "x")


def test_two_queries_of_one_id_are_no_golden_set():
    with pytest.raises(GoldenSetError, match="The query 'a' is in it twice"):
        GoldenSet([*GOLDEN.queries.values(), GOLDEN.queries["a"]])


def test_a_query_that_the_run_lacks_scores_zero_and_counts():
    evaluation = evaluate(GOLDEN, Run({"a": ["d1"]}), ["mrr"])
    assert evaluation["mrr"] == pytest.approx(0.75)


@pytest.mark.parametrize("depth", [None, 1, 2])
@pytest.mark.parametrize("queries", [("a", "b", "c", "n"), ("b", "other", "a"), ("b",)])
def test_a_run_of_rankings_alone_scores_as_one_of_answers_does(queries, depth):
    rankings = {"a": ["d9", "d1", "d2"], "b": ["d3"], "c": [], "n": ["d9"], "other": ["d1"]}
    plain = Run({query: rankings[query] for query in queries})
    metrics = ["mrr@1", "mrr(miss=skip)@1", "hit@1", "precision", "no_answer"]
    one, other = (evaluate(GOLDEN, run, metrics, depth=depth) for run in (plain, Run.of(dict(plain.answers))))
    assert one.scores == other.scores
    for metric in metrics:
        assert one[metric] == other[metric]
    assert one.mean("hit@1", "x") == other.mean("hit@1", "x")
    assert one.repeats("hit@1") == other.repeats("hit@1")


def test_where_a_query_failed_there_is_no_mean():
    def broken(query, k):
        if query == "second":
            raise OSError("gone")
        return search(query, k)

    evaluation = evaluate(GOLDEN, broken, ["mrr"])
    assert list(evaluation.errors) == ["b"]
    with pytest.raises(EvaluationError, match=r"1 of 4 queries could not be retrieved.*'b'.*gone"):
        evaluation["mrr"]
    for asked in (
        lambda: evaluation.column("mrr"),
        lambda: evaluation.score("mrr", "a"),
        lambda: evaluation.scores,
    ):
        with pytest.raises(EvaluationError, match="1 of 4 queries could not be retrieved"):
            asked()


def test_many_failed_queries_are_counted_with_separators():
    golden = GoldenSet.from_judgments({f"q{n}": {"d": 1} for n in range(3000)})
    errors = {f"q{n}": "gone" for n in range(1200)}
    evaluation = Evaluation(golden, Retrieved(Run({}), errors, "", {}), read_metrics(["mrr"]), 10)
    with pytest.raises(EvaluationError, match=r"^1,200 of 3,000 queries could not be retrieved"):
        evaluation["mrr"]


def test_a_retriever_is_asked_as_the_keywords_say(monkeypatch):
    told = []

    def retrieve_as_told(queries, retriever, options):
        told.append(options)
        return retrieve(queries, retriever)

    module = import_module("pytest_irmetrics.evaluation.evaluate")  # which a function hides
    monkeypatch.setattr(module, "retrieve", retrieve_as_told)
    keywords = {
        "depth": 30,
        "duplicates": "collapse",
        "doc_id": str,
        "timeout": 2.5,
        "concurrency": 4,
        "repeat": 3,
        "executor": ThreadPoolExecutor(1),
    }
    evaluate(GOLDEN, search, ["mrr"], **keywords)
    evaluate(GOLDEN, search, ["mrr"])
    assert told == [RetrievalOptions(**keywords), RetrievalOptions()]
    assert RetrievalOptions() == RetrievalOptions(
        depth=10,
        duplicates="error",
        doc_id=None,
        timeout=None,
        concurrency=1,
        repeat=1,
        executor=None,
        stop_on_error=False,
    )


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        (["a"], "None of the 1 returned id occurs in the golden set; this is about ids, not about quality. Returned: 'a'."),
        (["a", "b", "c"], "None of the 3 returned ids occurs in the golden set; this is about ids, not about quality. Returned: 'a', 'b', 'c'."),
        ([f"n{number}" for number in range(1500)], "Returned: 'n0', 'n1', 'n2' and 1,497 more."),
        (["x" * 61], f"Returned: '{'x' * 60}'."),
        (["faq/D1.html", "faq/x1.html"], " 'faq/D1.html' looks like 'd1'."),
        (["doc-d2", "doc-d3"], " 'doc-d2' looks like 'd2'."),
        (["D2"], " 'D2' looks like 'd2'."),
    ],
)  # fmt: skip
def test_ids_that_the_golden_set_does_not_know_are_counted_and_shown(returned, shown):
    with pytest.warns(UnknownIdsWarning) as caught:
        evaluate(GOLDEN, Run({"a": returned}))
    assert shown in str(caught[0].message)
    assert " Expected: 'd1', 'd2'" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("returned", [["xd1", "xd2"], ["d11", "d12"], ["a-d1", "b-d1"], ["faq/d1.html"]])
def test_an_id_with_more_than_all_have_in_common_looks_like_no_other(returned):
    with pytest.warns(UnknownIdsWarning) as caught:
        evaluate(GOLDEN, Run({"a": returned}))
    assert "looks like" not in str(caught[0].message)


def test_percentiles_are_by_nearest_rank_and_need_a_retriever():
    evaluation = evaluate(GOLDEN, search, ["latency_p50", "latency_p95"], repeat=3)
    assert 0 <= evaluation["latency_p50"] <= evaluation["latency_p95"]
    with pytest.raises(EvaluationError, match="a stored run has no latencies"):
        evaluate(GOLDEN, Run({"a": ["d1"]}), ["latency_p50"])["latency_p50"]


@pytest.mark.parametrize(
    ("times", "half", "most"),
    [
        ([[5.0]], 5.0, 5.0),
        ([[4.0, 1.0], [3.0, 2.0]], 2.0, 4.0),
        ([[3.0, 1.0], [2.0]], 2.0, 3.0),
        ([[float(n)] for n in range(20, 0, -1)], 10.0, 19.0),
        ([[float(n)] for n in range(1, 22)], 11.0, 20.0),
    ],
)
def test_percentiles_are_over_every_time_that_a_query_was_asked(times, half, most):
    golden = GoldenSet.from_judgments({f"q{n}": {"d": 1} for n in range(len(times))})
    retrieved = Retrieved(
        Run({query_id: ["d"] for query_id in golden.queries}),
        {},
        "",
        {f"q{n}": each for n, each in enumerate(times)},
    )
    evaluation = Evaluation(golden, retrieved, read_metrics(["latency_p50", "latency_p95"]), 10)
    assert evaluation["latency_p50"] == half
    assert evaluation["latency_p95"] == most


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1e101, "the metric mine returned 1e+101 for the query 'a'. A metric of your own returns a finite number, of at most 1e+100."),
        (-1e101, "the metric mine returned -1e+101 for the query 'a'. A metric of your own returns a finite number, of at most 1e+100."),
        (float("nan"), "the metric mine returned nan for the query 'a'. A metric of your own returns a finite number."),
        (float("inf"), "the metric mine returned inf for the query 'a'. A metric of your own returns a finite number."),
    ],
)  # fmt: skip
def test_a_metric_of_ones_own_returns_a_number_that_a_mean_can_hold(value, message):
    with pytest.raises(EvaluationError) as caught:
        evaluate(GOLDEN, search, ["mine"], custom_metrics={"mine": lambda _query, _ranking, _k: value})[
            "mine"
        ]
    assert str(caught.value) == message


def test_a_metric_of_ones_own_that_fails_is_named():
    def mine(_query, _ranking, k):
        return {}[k]

    with pytest.raises(EvaluationError) as caught:
        evaluate(GOLDEN, search, ["mine@3"], custom_metrics={"mine": mine})["mine@3"]
    assert str(caught.value) == (
        "the metric mine@3 raised KeyError on the query 'a': 3. "
        "A metric of your own takes (query, ranking, k, **parameters) and returns a number."
    )


def test_a_metric_of_ones_own_cannot_change_the_golden_set():
    def mine(query, _ranking, _k):
        return query.judgments.pop("d1")

    with pytest.raises(EvaluationError, match=r"^the metric mine raised AttributeError on the query 'a': "):
        evaluate(GOLDEN, search, ["mine"], custom_metrics={"mine": mine})["mine"]


def test_a_metric_of_ones_own_is_given_the_ranking_to_the_cutoff_and_its_parameters():
    calls = []

    def mine(query, ranking, k, scale=1):
        calls.append((query.id, ranking, k, scale))
        return len(ranking)

    evaluation = evaluate(GOLDEN, search, ["mine(scale=2)@2", "mine"], custom_metrics={"mine": mine})
    assert (evaluation["mine(scale=2)@2"], evaluation["mine"]) == (2, (3 * 3 + 2) / 4)
    assert calls == [
        ("a", ("d1", "d9"), 2, 2),
        ("b", ("d9", "d3"), 2, 2),
        ("a", ("d1", "d9", "d2"), None, 1),
        ("b", ("d9", "d3"), None, 1),
    ]


def test_queries_are_asked_one_after_the_other_unless_told_otherwise():
    asked = []

    def find(query, _k):
        asked.append((query, threading.get_ident()))
        return search(query, 10)

    evaluate(GOLDEN, find, ["mrr"])
    assert [query for query, _ in asked] == [query.text for query in GOLDEN.queries.values()]
    assert {thread for _, thread in asked} == {threading.get_ident()}
