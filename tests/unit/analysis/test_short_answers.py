"""The note that a retriever returns fewer results than it is asked for: where that is likely, and where it is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_irmetrics import GoldenSet, Run, evaluate
from pytest_irmetrics.analysis.evaluation_notes import on_evaluation
from pytest_irmetrics.evaluation import evaluate_run

GOLDEN = GoldenSet.from_judgments(
    {name: {f"{name}1": 1, "doc-1": 1} for name in "abcd"}, texts={name: name for name in "abcd"}
)

NOTE = (
    "No query got the 10 results that were asked for; the longest answer has 3. "
    "Check that the retriever passes k on."
)


def notes(lengths, only=None, name="{query}{rank}"):
    """Return the notes on answers of these lengths to the queries a, b, c and d."""

    def search(query):
        return [name.format(query=query, rank=rank + 1) for rank in range(lengths["abcd".index(query)])]

    evaluation = replace(evaluate(GOLDEN, search, depth=10), only=only)
    return list(on_evaluation(evaluation, {}))


@pytest.mark.parametrize("lengths", [(3, 3, 3, 3), (3, 3, 1, 2), (0, 0, 3, 3)])
def test_answers_that_mostly_end_at_one_length_look_like_a_retriever_with_a_depth_of_its_own(lengths):
    assert notes(lengths) == [NOTE]


def test_answers_of_many_lengths_end_where_nothing_else_matches():
    assert notes((3, 2, 1, 2)) == []


def test_one_full_answer_shows_that_the_depth_is_passed_on():
    assert notes((3, 3, 3, 10)) == []


def test_where_every_answer_holds_the_same_documents_there_may_be_no_others():
    assert notes((3, 3, 3, 3), name="doc-{rank}") == []


def test_single_queries_say_nothing_of_the_others():
    assert notes((3, 3, 3, 3), only=frozenset({"a", "b"})) == []


def test_no_answer_at_all_is_no_short_one():
    assert notes((0, 0, 0, 0)) == []


def test_a_run_of_unknown_depth_was_asked_for_no_number_of_results():
    run = Run({query: [f"{query}{rank}" for rank in (1, 2, 3)] for query in "abcd"})
    evaluation = evaluate_run(GOLDEN, run, ["mrr"])
    assert evaluation.depth is None
    assert list(on_evaluation(evaluation, {})) == []
