"""Evaluation: the scores of one run over one golden set, by query, and their weighted means."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.evaluation.errors import EvaluationError, NoQueryError
from pytest_irmetrics.evaluation.ranking_reader import RankingReader
from pytest_irmetrics.evaluation.run_scorer import RunScorer
from pytest_irmetrics.golden import CountedQueries
from pytest_irmetrics.metrics import Metric, mean, mean_of_scored, parse_metric
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_irmetrics.evaluation.ranking_reader import Rankings
    from pytest_irmetrics.evaluation.run_scorer import Column, CustomMetrics
    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.retrieval import Retrieved
    from pytest_irmetrics.run import Answer

T = TypeVar("T")

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_PERCENTILES = {"latency_p50": 0.50, "latency_p95": 0.95}


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The scores of one run over one golden set.

    ``evaluation["ndcg@10"]`` is the weighted mean over the queries that count; ``evaluation.scores["ndcg@10"]``
    maps their ids to their scores. Queries marked ``xfail`` are in neither. Where a query's retrieval failed
    there is no mean: reading one raises EvaluationError.
    """

    golden: GoldenSet
    """The golden set, whose judgments the scores are under."""
    retrieved: Retrieved
    """The run that is scored, with the queries that failed and how long each took."""
    metrics: tuple[Metric, ...]
    """The metrics that are reported, each once."""
    depth: int | None
    """The cut-off at which rankings are read; None: they are read whole."""
    custom: CustomMetrics = field(default_factory=dict)
    """The functions of the user's own metrics, by name."""
    only: frozenset[str] | None = field(default=None)
    """Where set, the ids of the only queries that count (a comparison's paired ones)."""
    extra_metrics: tuple[Metric, ...] = field(default=(), compare=False)
    """Metrics that are scored together with ``metrics`` and can be read, but are not reported among them."""
    _superset: Evaluation | None = field(default=None, init=False, compare=False)
    """The same evaluation over more queries, whose scores are reused rather than computed again."""
    _shares_with: Evaluation | None = field(default=None, init=False, compare=False)
    """Another run's evaluation over the same queries, labels and metrics: its scores are reused for equal rankings."""
    _columns: dict[Metric, Sequence[float | None]] = field(default_factory=dict, init=False, compare=False)
    """The columns that were computed so far."""
    _means: dict[tuple[Metric, str | None], float] = field(default_factory=dict, init=False, compare=False)
    """The means that were computed so far, by metric and tag."""

    def __repr__(self) -> str:
        counts = [f"{len(self.metrics)} metrics", *([f"{len(self.errors)} errors"] if self.errors else [])]
        return f"<Evaluation of {self.golden!r}: {', '.join(counts)}, depth {self.depth}>"

    @property
    def run(self) -> Run:
        """The run that is scored: what the retriever answered, or a stored one."""
        return self.retrieved.run

    @property
    def errors(self) -> Mapping[str, str]:
        """Query id → why its retrieval failed, in the golden set's order."""
        return self.retrieved.errors

    def __getitem__(self, metric: str | Metric) -> float:
        return self.mean(metric)

    @cached_property
    def _by_name(self) -> dict[str, Metric]:
        return {metric.name: metric for metric in (*self.metrics, *self.extra_metrics)}

    def metric(self, metric: str | Metric) -> Metric:
        """Return the metric of this evaluation that a name, or an alias of it, stands for.

        Raises MetricError for what is no metric's name, and EvaluationError for a metric that was not evaluated.
        """
        if not isinstance(metric, Metric):
            metric = self._by_name.get(metric) or parse_metric(metric, custom=self.custom)
        if metric.name not in self._by_name:
            have = ", ".join(metric.name for metric in self.metrics)
            raise EvaluationError(
                f"{metric.name} was not evaluated, {f'only {have}' if have else 'nor any other'}. Add it to `metrics`; "
                "in a test, to the setting ir_metrics."
            )
        return metric

    @cached_property
    def _counted(self) -> CountedQueries:
        if self.only is None:
            return self.golden.counted_queries
        superset = None if self._superset is None else self._superset._counted  # noqa: SLF001 - of the same class
        return CountedQueries(self.golden.queries, self.only, superset)

    @property
    def counted(self) -> tuple[Query, ...]:
        """The queries that count in a mean, in the golden set's order: all but the ``xfail`` ones."""
        return self._counted.queries

    @property
    def known_bad(self) -> list[Query]:
        """The queries marked ``xfail`` that were asked, in the golden set's order."""
        return [
            query
            for query in self.golden.queries.values()
            if query.xfail is not None and (self.only is None or query.id in self.only)
        ]

    @property
    def by_passage(self) -> bool:
        """Whether any query that counts is judged by passage; unjudged results were then searched for passages."""
        return self._counted.by_passage

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the queries that count, sorted."""
        return self._counted.tags

    def queries(self, metric: str | Metric, tag: str | None = None) -> Sequence[Query]:
        """Return the queries over which a metric averages, those with ``tag`` if one is given."""
        metric = self.metric(metric)
        return self._tagged(self._counted.of_kind(metric.kind), metric, tag)

    def weights(self, metric: str | Metric, tag: str | None = None) -> Sequence[float]:
        """Return the weights of ``queries(metric, tag)``, in their order."""
        metric = self.metric(metric)
        return self._tagged(self._counted.weights(metric.kind), metric, tag)

    def column(self, metric: str | Metric, tag: str | None = None) -> Sequence[float | None]:
        """Return the scores of ``queries(metric, tag)``, in their order; None where the metric leaves a query out.

        Raises EvaluationError where a query's retrieval failed.
        """
        metric = self.metric(metric)
        column = self._columns.get(metric)
        if column is None:
            self._require_answers()
            column = self._columns[metric] = self._compute_column(metric)
        return self._tagged(column, metric, tag)

    def _tagged(self, column: Sequence[T], metric: Metric, tag: str | None) -> Sequence[T]:
        """Return the part of a metric's column that is about the queries with ``tag``; all of it, if none is given."""
        if tag is None:
            return column
        return [column[position] for position in self._counted.positions(metric.kind, tag)]

    @cached_property
    def _reader(self) -> RankingReader:
        return RankingReader(self.run, self.depth)

    @cached_property
    def _scorer(self) -> RunScorer:
        return RunScorer(self._reader, self.golden.relevance_level, self.custom)

    def rankings(self, query_id: str) -> Rankings:
        """Return a query's rankings, one for each time it was asked, cut at the evaluation's depth."""
        return self._reader.read(query_id)

    @cached_property
    def repeated(self) -> bool:
        """Whether any query was asked more than once."""
        if self.run.single_rankings is not None:
            return False
        answers = self.run.answers
        if max([len(answer.rankings) for answer in answers.values()], default=1) <= 1:
            return False
        return any(len(answers[query.id].rankings) > 1 for query in self.counted if query.id in answers)

    def repeats(self, metric: str | Metric) -> Mapping[str, Sequence[float | None]]:
        """Return query id → its scores, one for each time that it was asked; none of latencies.

        None where the metric leaves that answer out (``miss=skip``).
        """
        metric = self.metric(metric)
        if metric.kind == "latency":
            return {}
        queries = self.queries(metric)
        if metric.kind != "ranking":
            return {query.id: self._scorer.repeats_of_query(metric, query) for query in queries}
        if not self.repeated:
            return {query.id: [score] for query, score in zip(queries, self.column(metric), strict=True)}
        return self._scorer.repeats(metric, queries)

    def _compute_column(self, metric: Metric) -> Sequence[float | None]:
        """Compute a metric's column, or take it from an evaluation that has it."""
        superset = self._superset
        if superset is not None and not (metric.kind == "ranking" and self._shares_with is not None):
            queries, column = superset.queries(metric), superset.column(metric)
            if len(queries) == len(self.queries(metric)):
                return column
            only = self.only or ()
            return [score for score, query in zip(column, queries, strict=True) if query.id in only]
        if metric.kind == "ranking":
            return self._ranking_columns[metric]
        queries = self.queries(metric)
        if metric.kind == "latency":
            latencies = self.retrieved.latencies
            return [mean_of_scored(latencies.get(query.id, ())) for query in queries]
        return [self._scorer.score(metric, query) for query in queries]

    @cached_property
    def _ranking_columns(self) -> dict[Metric, Column]:
        """The columns of all ranking metrics, scored together."""
        metrics = [metric for metric in (*self.metrics, *self.extra_metrics) if metric.kind == "ranking"]
        if not metrics:
            return {}
        if self._shares_with is None:
            columns = self._scorer.answerable_columns(metrics, self._counted)
        else:
            columns = self._rescore_changed(metrics, self._shares_with)
        return dict(zip(metrics, columns, strict=True))

    def _rescore_changed(self, metrics: Sequence[Metric], other: Evaluation) -> list[Column]:
        """Return the columns of another run's evaluation, scored again where the rankings differ."""
        queries = self._counted.of_kind("ranking")
        theirs = other._reader.read_all(queries)
        both = zip(self._reader.read_all(queries), theirs, strict=True)
        changed = [position for position, (here, there) in enumerate(both) if here != there]
        columns = [list(other.column(metric)) for metric in metrics]
        rescored = self._scorer.columns(metrics, [queries[position] for position in changed])
        for column, scores in zip(columns, rescored, strict=True):
            for position, score in zip(changed, scores, strict=True):
                column[position] = score
        return columns

    @cached_property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """Metric name → query id → score, of the queries that count; averaged over repeats.

        A query that a metric leaves out (``miss=skip``) is not in that metric's mapping. Raises EvaluationError where a
        query's retrieval failed.
        """
        self._require_answers()
        return {
            metric.name: {
                query.id: value
                for query, value in zip(self.queries(metric), self.column(metric), strict=True)
                if value is not None
            }
            for metric in self.metrics
        }

    def _require_answers(self) -> None:
        """Raise EvaluationError where a query's retrieval failed: a mean over the others would hide it."""
        if self.errors:
            first = next(iter(self.errors))
            raise EvaluationError(
                f"{len(self.errors):,} of {plural(len(self.golden.queries), 'query', 'queries')} could not be retrieved, so there is "
                f"no mean. The first is {first!r}: {self.errors[first]}"
            )

    def scored(self, metric: str | Metric, tag: str | None = None) -> list[tuple[Query, float]]:
        """Return the queries that a metric has scored, those with ``tag`` if one is given, with their scores."""
        pairs = zip(self.queries(metric, tag), self.column(metric, tag), strict=True)
        return [(query, score) for query, score in pairs if score is not None]

    def mean(self, metric: str | Metric, tag: str | None = None) -> float:
        """Return a metric's weighted mean, Σ weight · score / Σ weight, over the queries with ``tag`` if one is given.

        For ``latency_p50`` and ``latency_p95`` it is the percentile by nearest rank over every time that a
        query was asked, in milliseconds. Raises EvaluationError where a query's retrieval failed, where no query counts
        (NoQueryError), and for a metric that was not evaluated.
        """
        key = self.metric(metric), tag
        if key not in self._means:
            self._means[key] = self._mean(*key)
        return self._means[key]

    def mean_or_none(self, metric: str | Metric, tag: str | None = None) -> float | None:
        """Return a metric's weighted mean, as `mean` does, or None where it has no query to average over."""
        try:
            return self.mean(metric, tag)
        except NoQueryError:
            return None

    def _mean(self, metric: Metric, tag: str | None) -> float:
        """Compute a mean, or take it from the evaluation over more queries where these are all of them."""
        if metric.kind == "latency":
            return self._percentile(metric, tag)
        if self._superset is not None and len(self._superset.counted) == len(self.counted):
            return self._superset.mean(metric, tag)
        column = self.column(metric, tag)
        if column and tag is None and not self._counted.weighted and not _may_leave_out(metric):
            # No score is missing and no weight matters, which need not be looked for in each of the columns.
            return mean(cast("Sequence[float]", column))
        found = mean_of_scored(column, self.weights(metric, tag))
        if found is None:
            which = f" tagged {tag!r}" if tag is not None else ""
            hint = (
                "no query carries this tag"
                if tag is not None and tag not in self.golden.tags
                else "no query has `no_answer: true`"
                if metric.kind == "no_answer"
                else "every such query is marked xfail or no_answer, or left out by the metric"
            )
            raise NoQueryError(f"{metric.name} has no query{which} to average over: {hint}.")
        return found

    def _percentile(self, metric: Metric, tag: str | None) -> float:
        """Return a percentile of the latencies, by nearest rank, in milliseconds."""
        self._require_answers()
        times = sorted(
            time for query in self.queries(metric, tag) for time in self.retrieved.latencies.get(query.id, ())
        )
        if not times:
            raise NoQueryError(f"{metric.name} needs a retriever to time; a stored run has no latencies.")
        return times[max(0, math.ceil(_PERCENTILES[metric.family] * len(times)) - 1)]

    def score(self, metric: str | Metric, query_id: str) -> float | None:
        """Return the score of any query of the golden set, also of one that is in no mean (``xfail``).

        None where the metric leaves the query out, or scores no such queries. Raises KeyError for an unknown query, and
        EvaluationError where any query's retrieval failed.
        """
        metric = self.metric(metric)
        self._require_answers()
        position = self._counted.position_by_id(metric.kind).get(query_id)
        if position is not None:
            return self.column(metric)[position]
        query = self.golden.queries[query_id]
        if metric.kind == "latency" or query.no_answer != (metric.kind == "no_answer"):
            return None
        return self._scorer.score(metric, query)

    def narrowed(
        self,
        *,
        only: Collection[str] | None = None,
        depth: int | None = None,
        golden: GoldenSet | None = None,
        metrics: Sequence[Metric] | None = None,
    ) -> Evaluation:
        """Return the same run's evaluation over some of the queries, cut at a depth, or under other labels."""
        depths = [d for d in (self.depth, depth) if d is not None]
        narrow = Evaluation(
            golden=golden or self.golden,
            retrieved=self.retrieved,
            metrics=self.metrics if metrics is None else tuple(metrics),
            depth=min(depths, default=None),
            custom=self.custom,
            only=self.only if only is None else frozenset(only),
            extra_metrics=self.extra_metrics if metrics is None else (),
        )
        subset = self.only is None or (only is not None and self.only.issuperset(only))
        if subset and narrow.golden is self.golden and narrow.depth == self.depth and metrics is None:
            object.__setattr__(narrow, "_superset", self)
        return narrow

    def with_answers(self, answers: Mapping[str, Answer]) -> Evaluation:
        """Return the evaluation of the same run with some answers exchanged."""
        run = Run.of({**self.run.answers, **answers}, self.run.depth)
        return replace(self, retrieved=replace(self.retrieved, run=run))

    def sharing_scores_with(self, other: Evaluation) -> Evaluation:
        """Return this evaluation, set to reuse another run's scores where the rankings are equal."""
        same = (self.golden, self.only, self.metrics, self.extra_metrics, self.depth) == (
            other.golden,
            other.only,
            other.metrics,
            other.extra_metrics,
            other.depth,
        )
        if same and self is not other:
            object.__setattr__(self, "_shares_with", other)
            object.__setattr__(self, "_counted", other._counted)
        return self


def _may_leave_out(metric: Metric) -> bool:
    """Tell whether a metric's column can hold None, for a query that it leaves out."""
    return metric.kind != "ranking" or ("miss", "skip") in metric.parameters
