"""Compare an evaluation with a baseline's: pair the queries, measure how far each metric moved, tell a change of labels from one of rankings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import stored_runs
from pytest_irmetrics.comparison.metric_change import MetricChange, RunNoise
from pytest_irmetrics.evaluation import Evaluation, EvaluationError
from pytest_irmetrics.evaluation.evaluation import Rankings
from pytest_irmetrics.golden import Query
from pytest_irmetrics.golden.query import is_in_the_words_of, judges_other_passages
from pytest_irmetrics.metrics import Grade, Metric


class Comparison:
    """Today's evaluation beside the baseline's, over the queries that both have.

    Queries pair by id, text and params. ``comparison["ndcg@10"]`` is the MetricChange of that metric over the paired
    queries. Both sides are cut at the shallower of the two depths.
    """

    def __init__(self, now: Evaluation, baseline: Evaluation) -> None:
        stored = baseline.run.answers
        queries, asked = now.golden.queries, now.only
        gone = [query_id for query_id in stored if query_id not in queries] if asked is None else ()
        self.removed: tuple[str, ...] = tuple(sorted(gone))
        """Ids of the queries that only the baseline has."""
        new, reworded, edited, paired = [], [], [], []
        for query_id, query in queries.items():
            answer = stored.get(query_id)
            if asked is not None and query_id not in asked:
                continue
            if answer is None:
                new.append(query_id)
            elif not is_in_the_words_of(query, answer):
                reworded.append(query_id)
            elif judges_other_passages(query, answer):
                edited.append(query_id)
            else:
                paired.append(query_id)
        self.new: tuple[str, ...] = tuple(new)
        """Ids of the queries that the baseline does not have."""
        self.reworded: tuple[str, ...] = tuple(reworded)
        """Ids of the queries whose text or params changed since the baseline was stored."""
        self.passages_edited: tuple[str, ...] = tuple(edited)
        """Ids of the queries, in the same words, that judge other passages than when the baseline was stored, which was not
        searched for these."""
        self.paired: tuple[str, ...] = tuple(paired)
        """Ids of the queries that both sides asked in the same words, and searched for the same passages."""
        self.now_in_full: Evaluation = now
        """Today's evaluation as it was given: all queries, uncut."""
        self._paired_ids = frozenset(self.paired)
        self._changes: dict[tuple[Metric, str | None], MetricChange] = {}
        self.now: Evaluation = now.narrowed(self._paired_ids, baseline.depth)
        """Today's evaluation of the paired queries."""
        self.baseline: Evaluation = baseline.narrowed(self._paired_ids, now.depth)
        """The baseline's evaluation of the paired queries."""
        self.depth: int | None = self.now.depth
        """The number of results at which both sides are cut; None where neither has a depth."""

    def __repr__(self) -> str:
        return f"<Comparison of {plural(len(self.paired), 'query')}, depth {self.depth}>"

    def has(self, query_id: str) -> bool:
        """Whether a query is paired."""
        return query_id in self._paired_ids

    def rankings(self, query_id: str) -> tuple[Rankings, Rankings]:
        """Return a paired query's rankings before and now, on each side one for each time that it was asked."""
        return self.baseline.rankings(query_id), self.now.rankings(query_id)

    def first_rankings(self, query_id: str) -> tuple[Sequence[str], Sequence[str]]:
        """Return a paired query's first ranking before and now: two tuples, or one object twice where they are equal."""
        before, now = self.baseline.rankings(query_id)[0], self.now.rankings(query_id)[0]
        return (now, now) if before == now else (tuple(before), tuple(now))

    def __getitem__(self, metric: str | Metric) -> MetricChange:
        return self.change(metric)

    def change(self, metric: str | Metric, tag: str | None = None) -> MetricChange:
        """Return how a metric moved over the paired queries, or over those with ``tag``.

        Raises EvaluationError for a metric that was not evaluated, and for a latency, which no baseline has.
        """
        metric = self.now.metric(metric)
        if not metric.is_compared:
            raise EvaluationError(f"{metric.name} is never in a baseline; gate it with `max`.")
        if (metric, tag) not in self._changes:
            now, baseline = self.for_overlap if metric.kind == "overlap" else (self.now, self.baseline)
            weights = {query.id: query.weight for query in now.queries(metric, tag)}
            before = after = now.scores_of(metric, tag)
            if not self.is_unchanged:
                before = baseline.scores_of(metric)
                if not before.keys() <= weights.keys():
                    before = {query_id: before[query_id] for query_id in weights if query_id in before}
            self._changes[metric, tag] = MetricChange(metric, tag, weights, before, after)
        return self._changes[metric, tag]

    @cached_property
    def for_overlap(self) -> tuple[Evaluation, Evaluation]:
        """Today's evaluation of the paired queries and the baseline's, as `overlap` compares both with the latter."""
        return replace(self.now, other=self.baseline), replace(self.baseline, other=self.baseline)

    @cached_property
    def is_unchanged(self) -> bool:
        """Whether every paired query that counts has the baseline's rankings: one side's scores are then the other's."""
        both = (self.rankings(query.id) for query in self.now.counted)
        return all(before == now for before, now in both)

    @cached_property
    def is_repeated(self) -> bool:
        """Whether a side asked a query more than once."""
        runs = (self.now.run.answers, self.baseline.run.answers)
        return any(len(answer.rankings) > 1 for answers in runs for answer in answers.values())

    def run_noise(self, metric: str | Metric, tag: str | None = None) -> RunNoise | None:
        """Return how much a change of a mean varies from run to run; None where it does not, or neither side asked more than once."""
        if not self.is_repeated:
            return None
        from pytest_irmetrics.comparison.run_noise import measure_run_noise  # noqa: PLC0415 - most ask once

        change = self.change(metric, tag)
        return measure_run_noise(change, self.baseline.repeats(metric), self.now.repeats(metric))

    def noise_margin(self, metric: str | Metric, tag: str | None = None) -> float:
        """Return how far a mean may fall beyond its limit and still count as run noise; 0 where neither side asked more than once."""
        noise = self.run_noise(metric, tag)
        return 0.0 if noise is None else noise.margin

    def paired_share(self, tag: str | None = None) -> float:
        """Return the share of the baseline's queries that are paired, by weight, in [0, 1]; 1 where it has no query.

        With ``tag``, the share of the queries that were stored with it.
        """
        return 1 - self.share_of((*self.removed, *self.reworded, *self.passages_edited), tag)

    def share_of(self, ids: Sequence[str], tag: str | None = None) -> float:
        """Return the share that some of the baseline's queries have of all, or of those with a tag, by weight, in [0, 1]."""
        if not ids:
            return 0.0  # as in most runs, for every gate
        stored = {i: one for i, one in self.baseline.run.answers.items() if tag is None or tag in one.tags}
        weights = {query_id: stored_runs.stored_weight(answer) for query_id, answer in stored.items()}
        some = math.fsum(weights.get(query_id, 0.0) for query_id in ids)
        return some / math.fsum(weights.values()) if some else 0.0

    @cached_property
    def relabelled(self) -> dict[str, Query]:
        """By id the paired queries that were stored with other judgments, weights or tags, with these; as a rule none."""
        answers, queries = self.baseline.run.answers, self.now.golden.queries
        labelled = ((i, stored_runs.with_stored_labels(queries[i], answers[i])) for i in self.paired)
        return {i: was for i, was in labelled if was is not None}

    @cached_property
    def is_edited(self) -> bool:
        """Whether the golden set has other queries, labels or excluded queries than the baseline was stored with."""
        answers, queries = self.baseline.run.answers, self.now_in_full.golden.queries
        unpaired = self.removed or self.new or self.reworded or self.passages_edited
        otherwise = (stored_runs.is_excluded_otherwise(queries[i], answers[i]) for i in self.paired)
        return bool(unpaired or self.under_stored_labels or self.respelt) or any(otherwise)

    @cached_property
    def respelt(self) -> list[str]:
        """Ids of the paired queries whose texts are in other letters than when the baseline was stored; not of those whose text is the id."""
        answers, asked = self.baseline.run.answers, self.now.golden.queries
        return [i for i in self.paired if i != asked[i].text and answers[i].text not in (None, asked[i].text)]

    @cached_property
    def wrong_means(self) -> Sequence[stored_runs.WrongMean]:
        """The means that the baseline's header tells and its own rankings do not give."""
        run, scored = self.baseline.run, self.now if self.is_unchanged else self.baseline
        as_stored = len(self.paired) == len(run) and self.depth == run.depth and not self.is_edited
        return stored_runs.wrong_means(run, self.now_in_full.custom, scored if as_stored else None)

    @property
    def edited_means(self) -> Sequence[stored_runs.WrongMean]:
        """The wrong means of metrics of the package: the stored run was edited."""
        return [mean for mean in self.wrong_means if mean.metric.kind != "custom"]

    @cached_property
    def stored_level(self) -> Grade:
        """The relevance level that was stored with the baseline; today's where none was."""
        level = self.baseline.run.relevance_level
        return self.now.golden.relevance_level if level is None else level

    def changed_labels(self, tag: str | None = None) -> tuple[str, ...]:
        """Return which labels, of those that scores depend on, changed since the baseline was stored.

        Tags count only with ``tag``, where a query gained or lost it. CONTRIBUTING.md says what a further label needs.
        """
        edited = [(was, self.now.golden.queries[query_id]) for query_id, was in self.relabelled.items()]
        changed = {
            # A query that is, or was, `no_answer` has none there.
            "judgments": any(was.judgments != now.judgments for was, now in edited),
            "relevance level": self.stored_level != self.now.golden.relevance_level,
            "weights": any(was.weight != now.weight for was, now in edited),
            "tags": tag is not None and any((tag in was.tags) != (tag in now.tags) for was, now in edited),
        }
        return tuple(part for part, change in changed.items() if change)

    @cached_property
    def under_stored_labels(self) -> Comparison | None:
        """The same two runs scored under the labels that were stored with the baseline; None where these are today's.

        Labels are judgments, ``no_answer``, weights, tags and the relevance level.
        """
        golden = self.now.golden
        if not self.relabelled and self.stored_level == golden.relevance_level:
            return None
        queries = [self.relabelled.get(query_id, query) for query_id, query in golden.queries.items()]
        labelled = replace(golden, _queries=queries, relevance_level=self.stored_level)
        return Comparison(replace(self.now, golden=labelled), replace(self.baseline, golden=labelled))


def compare(now: Evaluation, baseline: Evaluation) -> Comparison:
    """Compare two evaluations of one golden set, query by query.

    Each is read under its own judgments: evaluate the baseline's run under today's golden set first, so that a change of
    labels does not look like a change of the retriever. Both are cut at the shallower depth. Raises EvaluationError for
    anything but two evaluations.
    """
    for side in (now, baseline):
        if not isinstance(side, Evaluation):
            text = f"compare takes two evaluations, and this is of type {type(side).__name__}. Give what `evaluate` made of it."
            raise EvaluationError(text)
    return Comparison(now, baseline)


def compare_with_itself(stored: Evaluation) -> Comparison:
    """Compare a stored run with itself: that pairs those of today's queries which it was asked as they are now."""
    return Comparison(stored, stored)
