"""What kind of change a comparison shows: documents lost or ranked lower, everywhere or under one tag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet, Run, compare, evaluate
from pytest_irmetrics.analysis.kind_of_change import causes, kind_of_change
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer
from tests.unit.analysis.comparisons import compared, golden_set, good, lost


def said(comparison):
    kind = kind_of_change(comparison)
    return "" if kind is None else " ".join(kind.sentences)


def test_without_a_depth_documents_leave_the_results():
    assert "40 relevant documents left the results and 0 came in" in said(
        compared(golden_set(), lost, good, depth=None)
    )


def test_fewer_results_are_said_first():
    def short(n):
        return [f"d{n}", *[f"e{n}"][: n % 2], *(f"x{(n + i) % 8}" for i in range(n % 4))]

    text = said(compared(golden_set(), short, good))
    assert text.startswith(
        "Fewer results come back: 3.0 a query on average, and 10.0 before. Documents are no longer"
    )
    assert "Fewer" not in said(compared(golden_set(), lambda n: ["x", *good(n)][:9], good))


def test_one_or_two_queries_are_no_slice():
    golden = golden_set(tags={"billing": {0, 1}})
    assert "slice" not in said(compared(golden, lambda n: lost(n) if n < 2 else good(n), good))


def later(n):
    """Both relevant documents, six ranks lower."""
    return [*(f"x{i}" for i in range(6)), f"d{n}", f"e{n}"]


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


def test_evaluations_compare_from_python():
    golden = golden_set(3)
    change = compare(evaluate(golden, Run({"q00": ["d0"]})), evaluate(golden, Run({"q00": ["e0"]})))[
        "ndcg@10"
    ]
    assert (change.worse, change.better, change.n) == ((), ("q00",), 1)


def test_a_slice_is_not_alone_where_the_others_fell_too():
    """The others fell too, by a quarter as much."""
    golden = golden_set(tags={"first": set(range(10))})

    def now(n):
        return lost(n) if n < 8 or n in (11, 12) else good(n)

    assert "slice" not in said(compared(golden, now, good))


def test_grades_below_the_relevance_level_are_not_called_relevant():
    queries = golden_set().queries.values()
    golden = GoldenSet(queries, relevance_level=2)
    assert "10 graded documents dropped out" in said(
        compared(golden, lambda n: [f"d{n}", f"x{n % 8}", *[f"e{n}"][: n % 2]], good)
    )


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


def test_empty_answers_are_counted_apart_from_short_ones():
    def now(n):
        return [] if n < 4 else [f"e{n}", *[f"y{n}"][: n % 2]] if n < 12 else good(n)

    assert said(compared(golden_set(), now, good)).startswith(
        "Nothing comes back any more for 4 of 20 queries. Fewer results come back: 5.8 a query of the others on average, and "
        "10.0 before."
    )
