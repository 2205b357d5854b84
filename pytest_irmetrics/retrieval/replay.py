"""Answer queries from a stored run in place of a retriever."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.retrieval.answers import describe
from pytest_irmetrics.retrieval.calls import RetrievalError, answer_to
from pytest_irmetrics.retrieval.passages import judges_other_passages
from pytest_irmetrics.retrieval.session import Retrieved
from pytest_irmetrics.run import Answer, Header, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.retrieval.calls import RetrievalOptions

_EMPTY_ANSWER = Answer(((),))
_MAX_NAMED = 3
"""Queries that an error names."""


def replay(queries: Sequence[Query], run: Run, options: RetrievalOptions) -> Retrieved:
    """Answer queries from a stored run, with all its repeats.

    A run that knows its depth was recorded of a retriever and has every query that was asked: another query is an
    error. Any other, such as a TREC run, has no line for an empty answer: a query that it lacks had an empty answer.
    Raises RetrievalError for a run that is not as deep as asked for, or that has none of the queries.
    """
    if run.depth is not None and run.depth < options.depth:
        raise RetrievalError(
            f"The stored run was asked for {run.depth} results a query, and {options.depth} are asked for here "
            f"(ir_depth, or depth in ir_golden). Store the run anew at that depth, or ask for {run.depth}."
        )
    missing = [query.id for query in queries if query.id not in run]
    # Without a depth, one query alone may well have had an empty answer.
    if len(missing) == len(queries) > (1 if run.depth is None else 0):
        raise RetrievalError(
            f"The stored run has no query that is asked here: it has {listed(list(run), _MAX_NAMED, quote) or 'no query'}, and asked is "
            f"{listed(missing, _MAX_NAMED, quote)}. "
            "Queries go by their ids. Give the run of this golden set, or store it anew."
        )
    # Not cut at its own depth: chunks that contain several passages make a ranking longer than that.
    depth = None if options.depth == run.depth else options.depth
    answers: dict[str, Answer] = {}
    errors: dict[str, str] = {}
    for query in queries:
        stored = run.answers.get(query.id, _EMPTY_ANSWER if run.depth is None else None)
        if stored is None or (problem := _asked_otherwise(query, stored)):
            fault = "the stored run was not asked this query" if stored is None else problem
            errors[query.id] = f"{fault}. Store the run anew."
        else:
            answers[query.id] = answer_to(query, tuple([ranking[:depth] for ranking in stored.rankings]))
            answers[query.id].agreeing = stored.agreeing
    return Retrieved(
        Run.of(answers, Header(options.depth)),
        errors,
        stopped="",
        latencies={},
        depth_advice="That is all that the stored run holds.",
        missing=tuple(query_id for query_id in missing if query_id in answers),
    )


def _asked_otherwise(query: Query, stored: Answer) -> str:
    """Return what is wrong where a stored answer is to another text, other params or other passages; else nothing."""
    if stored.text is not None and query.text is not None and stored.text != query.text:
        return f"the stored run answers another text, {quote(stored.text)}"
    if (stored.text is not None or stored.params) and stored.params != query.params:
        return f"the stored run answers other params, {describe(dict(stored.params))}"
    if judges_other_passages(query.judgments, query.passages, stored):
        return "the stored run was searched for other passages than the query judges now"
    return ""
