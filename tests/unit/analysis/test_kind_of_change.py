from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet, Run, compare, evaluate
from pytest_irmetrics.analysis.kind_of_change import causes, kind_of_change
from pytest_irmetrics.analysis.trust import hidden_slices, on_unjudged
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer


def golden_set(queries=20, tags=None):
    return GoldenSet(
        [
            Query(
                id=f"q{n:02}",
                text=f"text {n}",
                judgments={f"d{n}": 2, f"e{n}": 1},
                tags=tuple(tag for tag, members in (tags or {}).items() if n in members),
            )
            for n in range(queries)
        ]
    )


def compared(golden, now, before, depth=10):
    def evaluated(answer):
        run = Run({query_id: answer(int(query_id[1:])) for query_id in golden.queries})
        return evaluate_run(golden, run, ["mrr", "ndcg@10", "recall@10"], depth=depth)

    return compare(evaluated(now), evaluated(before))


def good(n):
    return [f"d{n}", f"e{n}", *(f"x{i}" for i in range(8))]


def lower(n):
    return [*(f"x{i}" for i in range(4)), f"d{n}", f"e{n}", *(f"x{i}" for i in range(4, 8))]


def lost(_):
    return [f"x{i}" for i in range(10)]


def said(comparison):
    return " ".join(kind_of_change(comparison))


def test_documents_that_are_found_but_lower_are_told_from_lost_ones():
    golden = golden_set()
    assert said(compared(golden, lower, good)).startswith(
        "Documents are found as before, but ranked lower: of those returned on both sides 40 fell and 0 rose (−0.5705 of ndcg@10)."
    )
    assert (
        said(compared(golden, lost, good))
        == "Documents are no longer found: 40 relevant documents dropped out of the first 10 and 0 came in."
    )


def test_both_at_once_are_told_apart_in_numbers():
    both = said(compared(golden_set(), lambda n: lower(n) if n % 4 else lost(n), good))
    assert both.startswith("Documents are no longer found, and others ranked lower: 10 relevant documents")


def test_without_a_depth_documents_leave_the_results():
    assert "40 relevant documents left the results and 0 came in" in said(
        compared(golden_set(), lost, good, depth=None)
    )


def test_fewer_results_are_said_first():
    def short(n):
        return good(n)[:1]

    text = said(compared(golden_set(), short, good))
    assert text.startswith(
        "Fewer results come back: 1.0 a query on average, and 10.0 before. Documents are no longer"
    )
    assert "Fewer" not in said(compared(golden_set(), lambda n: ["x", *good(n)][:9], good))


def test_one_or_two_queries_are_no_slice():
    golden = golden_set(tags={"billing": {0, 1}})
    assert "slice" not in said(compared(golden, lambda n: lost(n) if n < 2 else good(n), good))


def test_a_slice_that_fell_alone_is_named():
    golden = golden_set(tags={"billing": {0, 1, 2}, "even": set(range(0, 20, 2))})
    text = said(compared(golden, lambda n: lost(n) if n < 3 else good(n), good))
    assert text.startswith(
        "One slice alone: the 3 queries tagged billing moved by −1.0000 of ndcg@10, the others by 0.0000."
    )


def test_a_fall_everywhere_is_no_slices():
    golden = golden_set(tags={"billing": {0, 1, 2}})
    assert "slice" not in said(compared(golden, lower, good))


def test_first_hits_that_slip_out_of_the_head_are_found_later():
    def later(n):
        return [*(f"x{i}" for i in range(6)), f"d{n}", f"e{n}"]

    assert "Found later: 20 queries no longer have a relevant document among the first 5" in said(
        compared(golden_set(), later, good)
    )


def test_a_sharper_head_with_a_worse_tail_is_named_also_where_the_mean_rose():
    def head(n):
        return [f"d{n}", *(f"x{i}" for i in range(9))]

    def tail(n):
        return ["x0", f"e{n}", "x1", f"d{n}"]

    assert said(compared(golden_set(), head, tail)).startswith(
        "The head is sharper and the tail worse: ndcg@3 +"
    )


def test_nothing_is_said_where_nothing_changed():
    assert said(compared(golden_set(), good, good)) == ""


rankings = st.lists(st.sampled_from([f"d{n}" for n in range(12)]), unique=True, max_size=10)


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from([f"d{n}" for n in range(12)]), st.integers(0, 3), min_size=1),
            rankings,
            rankings,
            st.floats(0.1, 5),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_the_parts_add_up_to_the_change_of_ndcg(queries):
    golden = GoldenSet(
        [
            Query(id=f"q{n}", text="", judgments=judgments, weight=weight)
            for n, (judgments, _, _, weight) in enumerate(queries)
        ]
    )
    now = evaluate_run(
        golden, Run({f"q{n}": query[1] for n, query in enumerate(queries)}), ["ndcg@10"], depth=10
    )
    before = evaluate_run(
        golden, Run({f"q{n}": query[2] for n, query in enumerate(queries)}), ["ndcg@10"], depth=10
    )
    comparison = compare(now, before)
    parts = causes(comparison)
    assert parts.found + parts.ranked == pytest.approx(comparison["ndcg@10"].delta, abs=1e-12)


def test_results_that_nobody_judged_are_told_with_the_bounds_of_the_score():
    golden = golden_set()

    def half(n):
        return [f"d{n}", *(f"y{n}-{i}" for i in range(9))]

    comparison = compared(golden, half, lambda n: [f"d{n}", f"e{n}"])
    (sentence,) = on_unjudged(comparison, comparison.now.metric("ndcg@10"))
    assert sentence == (
        "judged@10 is 0.1000, and was 1.0000: more of today's results were never judged. ndcg@10 is 0.7602 (was 1.0000) if "
        "no unjudged document is relevant, and 1.0000 (was 0.2895) if each is as good as its query's best. Judge them "
        "before you decide: `pytest --ir-report=json:run.json` writes today's run, and `pytest-irmetrics label FILE --run "
        "run.json` lists them."
    )


def test_a_slice_that_the_mean_hides_is_named():
    golden = golden_set(tags={"billing": {0, 1, 2, 3}})

    def now(n):
        return lower(n) if n < 4 else good(n)

    def before(n):
        return good(n) if n < 4 or n % 4 else lower(n)

    comparison = compared(golden, now, before)
    assert list(hidden_slices(comparison, comparison.now.metric("ndcg@10"))) == [
        "The mean hides that ndcg@10 of the queries tagged billing fell by 0.5705: 4 of 4 are worse."
    ]


def test_unpacked_evaluations_compare_from_python():
    golden = golden_set(3)
    change = compare(evaluate(golden, Run({"q00": ["d0"]})), evaluate(golden, Run({"q00": ["e0"]})))[
        "ndcg@10"
    ]
    assert (change.worse, change.better, change.n) == ((), ("q00",), 1)


def test_a_half_that_fell_most_is_not_alone():
    """The others fell too, by a quarter as much."""
    golden = golden_set(tags={"first": set(range(10))})

    def now(n):
        return lost(n) if n < 8 or n in (11, 12) else good(n)

    assert "slice" not in said(compared(golden, now, good))


def test_grades_below_the_relevance_level_are_not_called_relevant():
    queries = golden_set().queries.values()
    golden = GoldenSet(queries, relevance_level=2)
    assert "20 graded documents dropped out" in said(compared(golden, lambda n: [f"d{n}"], good))


def repeated(golden, now, before):
    """Each side's answers by turns."""
    runs = [
        Run.of({i: Answer(tuple(tuple(one(int(i[1:]))) for one in side)) for i in golden.queries})
        for side in (now, before)
    ]
    return compare(*(evaluate_run(golden, run, ["mrr", "ndcg@10"], depth=10) for run in runs))


def test_all_answers_count_where_queries_were_asked_several_times():
    """The first answers are alike; of the others half are lost."""
    comparison = repeated(golden_set(), [good, lost], [good])
    parts = causes(comparison)
    assert parts.found + parts.ranked == pytest.approx(comparison["ndcg@10"].delta)
    assert said(comparison) == (
        "Documents are no longer found: 20 relevant documents dropped out of the first 10 and 0 came in."
    )


@pytest.mark.parametrize(
    ("worse", "named"),
    [((0, 1, 2), True), ((0, 1), False)],
    ids=["three of four", "two are single cases"],
)
def test_a_small_slice_of_which_most_broke_is_named(worse, named):
    golden = golden_set(40, tags={"billing": {0, 1, 2, 3}})
    comparison = compared(
        golden,
        lambda n: lost(n) if n in worse else good(n),
        lambda n: lower(n) if n > 10 else good(n),
    )
    found = list(hidden_slices(comparison, comparison.now.metric("ndcg@10")))
    assert len(found) == named
    assert not list(hidden_slices(comparison, comparison.now.metric("ndcg@10"), ["billing"]))


def test_of_many_hidden_slices_those_that_cost_most_have_a_sentence():
    tags = {f"t{size}": set(range(size)) for size in range(3, 10)}
    golden = golden_set(200, tags=tags)
    comparison = compared(
        golden, lambda n: lost(n) if n < 10 else good(n), lambda n: lower(n) if n > 150 else good(n)
    )
    *told, rest = hidden_slices(comparison, comparison.now.metric("ndcg@10"))
    assert [text.split()[9] for text in told] == ["t5", "t6", "t7", "t8", "t9"]
    assert rest == "So it does with 2 more slices that cost less: t3, t4."


def test_a_slice_that_fell_as_all_did_is_not_hidden():
    golden = golden_set(tags={"billing": {0, 1, 2, 3}, "all": set(range(20))})
    comparison = compared(golden, lower, good)
    assert list(hidden_slices(comparison, comparison.now.metric("ndcg@10"))) == []


def test_a_slice_that_fell_further_than_a_mean_which_surely_fell_too_is_named():
    golden = golden_set(100, tags={"billing": set(range(8))})
    comparison = compared(golden, lambda n: lower(n) if n < 8 else good(n), good)
    assert comparison["ndcg@10"].interval[1] < 0
    assert len(list(hidden_slices(comparison, comparison.now.metric("ndcg@10")))) == 1


def test_empty_answers_are_told_from_short_ones():
    def now(n):
        return [] if n < 4 else good(n)[:1] if n < 12 else good(n)

    assert said(compared(golden_set(), now, good)).startswith(
        "Nothing comes back any more for 4 of 20 queries. Fewer results come back: 5.5 a query of the others on average, and "
        "10.0 before."
    )


def test_a_hit_that_moved_is_not_as_before():
    def later(n):
        return lost(n) if n == 0 else [*(f"x{i}" for i in range(6)), f"d{n}", f"e{n}"]

    text = said(compared(golden_set(), later, good))
    assert "though hit over all results hardly moved, 1.0000 → 0.9500." in text
