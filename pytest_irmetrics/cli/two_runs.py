"""Score two stored runs under one golden set and compare them, for `diff`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.cli.command_line import CommandError
from pytest_irmetrics.cli.find_baselines import golden_set_of_baseline
from pytest_irmetrics.cli.inputs import USUAL_METRICS, metrics_beyond, scorable_metrics, subset
from pytest_irmetrics.comparison import compare
from pytest_irmetrics.comparison.stored_queries import stored_passages
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import usual_metric
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.run import Answer

if TYPE_CHECKING:
    from pytest_irmetrics.comparison import Comparison, MetricChange
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.run import Run

_MAX_OVERTAKING = 2
"""Documents that are shown of those that overtook a fallen one."""


class Side(NamedTuple):
    """One of the two runs that are compared."""

    file: str
    """Where it is, as the command line names it."""
    name: str
    """For messages: the file, and the test where one of several was chosen."""
    run: Run


class MovedDocument(NamedTuple):
    """A document whose rank is shown on both sides."""

    doc_id: str
    before: int | None
    """Its rank in the run before, from 1; None where that does not return it."""
    now: int | None


MovedByQuery = Mapping[str, Sequence[MovedDocument]]
"""The queries to show → the documents whose ranks are shown."""


@dataclass(frozen=True)
class TwoRuns:
    """Two stored runs, compared under one golden set."""

    baseline: Side
    now: Side
    golden: GoldenSet
    """What both are scored under."""
    named: GoldenSet | None
    """The golden set that one of the runs names, if its file is found and no other was given."""
    knows_xfail: bool
    """Whether a golden set says which queries are marked ``xfail``; no run does."""
    evaluation: Evaluation
    """The later run, to its own depth, without the queries that it answered under another text."""
    reworded_in_now: Sequence[str]
    """The queries that the later run answered under another text."""
    comparison: Comparison
    changes: Sequence[MetricChange]
    """By metric; those that no query has are left out."""
    beyond: Sequence[Metric]
    """The metrics that a run is too shallow for."""

    @property
    def queries(self) -> Mapping[str, Query]:
        """The golden set's queries that were compared, by id."""
        return self.comparison.now.golden.queries

    @cached_property
    def leading(self) -> MetricChange | None:
        """The change of the metric that orders queries: `ndcg@10`, or else the first, of those that changed for any query."""
        changed = {change.metric: change for change in self.changes if change.changed}
        metric = usual_metric(changed)
        return None if metric is None else changed[metric]

    @cached_property
    def moved_queries(self) -> Sequence[str]:
        """The queries that moved the leading metric, those that moved its mean most first."""
        if self.leading is None:
            return ()
        weighed = self.leading.weighted_differences
        moved = (*self.leading.worse, *self.leading.better)
        return sorted(moved, key=lambda query_id: (-abs(weighed[query_id]), query_id))

    def moved(self, max_queries: int | None) -> MovedByQuery:
        """Return the queries that moved, at most so many or all of them, with their documents."""
        return {query_id: self._moved_documents(query_id) for query_id in self.moved_queries[:max_queries]}

    def _moved_documents(self, query_id: str) -> list[MovedDocument]:
        """Return the judged documents of a query that moved, falls first, and then those that overtook them."""
        before = _ranks(self.comparison.baseline.rankings(query_id)[0])
        now = _ranks(self.comparison.now.rankings(query_id)[0])
        moves = self.comparison.moves(query_id)
        judged = [move.doc_id for move in moves]
        forbidden = [
            doc_id for doc_id in self.queries[query_id].forbidden if before.get(doc_id) != now.get(doc_id)
        ]
        above = [doc_id for move in moves if move.grade > 0 for doc_id in move.overtaken_by[:_MAX_OVERTAKING]]
        return [
            MovedDocument(doc_id, before.get(doc_id), now.get(doc_id))
            for doc_id in dict.fromkeys([*judged, *forbidden, *above])
        ]


def _ranks(ranking: Sequence[str]) -> Mapping[str, int]:
    """Return ranks by document, counted from 1."""
    return {doc_id: rank for rank, doc_id in enumerate(ranking, 1)}


def compare_runs(
    baseline: Side, now: Side, given: tuple[str, GoldenSet] | None, metrics: Sequence[Metric] | None
) -> TwoRuns:
    """Compare two runs by some metrics, or by the usual ones.

    They are scored under a golden set that is `given`, with its name for messages, or without one under the judgments
    that were stored with them. Raises CommandError where there are none.
    """
    named = _golden_set_named(baseline, now) if given is None else None
    where, golden = given or (now.name, _stored_judgments(baseline, now, named))
    scored = scorable_metrics(metrics or USUAL_METRICS, golden)
    asked = subset(golden, [query_id for query_id in golden.queries if query_id in now.run], where)
    evaluation = evaluate_run(asked, now.run, scored, depth=now.run.depth)
    # A query that the later run answered under another text is not comparable either.
    itself = compare(evaluation, evaluation)
    reworded = (*itself.reworded, *itself.passages_edited)
    if reworded:
        evaluation = evaluation.narrowed(
            only=[query_id for query_id in asked.queries if query_id not in reworded]
        )
    comparison = compare(evaluation, evaluate_run(asked, baseline.run, scored, depth=baseline.run.depth))
    beyond = metrics_beyond(scored, comparison.depth)
    changes = [comparison.change(metric) for metric in scored if metric not in beyond]
    return TwoRuns(
        baseline,
        now,
        golden=golden,
        named=named,
        knows_xfail=given is not None or named is not None,
        evaluation=evaluation,
        reworded_in_now=reworded,
        comparison=comparison,
        changes=[change for change in changes if change.n],
        beyond=beyond,
    )


def _golden_set_named(baseline: Side, now: Side) -> GoldenSet | None:
    """Return the golden set that one of two baselines names, if its file is found."""
    return golden_set_of_baseline(now.file, now.run) or golden_set_of_baseline(baseline.file, baseline.run)


def _stored_judgments(baseline: Side, now: Side, named: GoldenSet | None) -> GoldenSet:
    """Make a golden set of the judgments stored with two runs; where both have them, of the later run.

    No run says which queries are marked ``xfail``: `named` does, the golden set that one of them names.
    """
    before, after = baseline.run, now.run
    known_bad = {} if named is None else {i: query.xfail for i, query in named.queries.items()}
    queries, missing = [], Answer(())
    for query_id in sorted({*before, *after}):
        old, new = before.answers.get(query_id, missing), after.answers.get(query_id, missing)
        judged = new if new.judgments is not None else old
        if judged.judgments is None:
            continue
        asked = new if new.text is not None else old
        weight = new.weight or old.weight or 1.0
        queries.append(
            Query(
                query_id,
                asked.text,
                judged.judgments,
                weight=weight,
                params=asked.params,
                no_answer=not judged.judgments,
                xfail=known_bad.get(query_id),
                passages=stored_passages(judged),
            )
        )
    if not queries:
        raise CommandError(
            f"{now.name}:1: Neither run has judgments to score it by. Name a golden set: --golden FILE."
        )
    levels = [run.relevance_level for run in (after, before) if run.relevance_level is not None]
    return GoldenSet(queries, shown=now.name, relevance_level=next(iter(levels), 1))
