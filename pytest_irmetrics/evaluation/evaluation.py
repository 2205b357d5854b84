"""Evaluation: the scores of one run over one golden set, by query, and their weighted means."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from operator import attrgetter, itemgetter
from types import MappingProxyType

from pytest_irmetrics.base import IRMetricsError, paused_gc
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.metrics import Metric, Scorer, mean, mean_of_scored, parse_metric
from pytest_irmetrics.metrics.formulas import Kind
from pytest_irmetrics.retrieval import Retrieved
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.answer import EMPTY_ANSWER, Answers

Rankings = tuple[Sequence[str], ...]
"""A query's rankings, one for each time that it was asked."""

CustomMetrics = Mapping[str, Callable[..., float]]
"""Name → function, of the user's own metrics."""

_MAX_SCORE = 1e100  # of a metric of the user's own: sums of weighted squares are still finite doubles


class EvaluationError(IRMetricsError, ValueError):
    """A score that cannot be computed; the message says why and what to do."""


class NoQueryError(EvaluationError):
    """A mean that has no query to average over."""


def shallower(one: int | None, other: int | None) -> int | None:
    """Return the smaller of two depths, of which None is no limit."""
    return min((depth for depth in (one, other) if depth is not None), default=None)


def _is_about(kind: Kind, query: Query) -> bool:
    """Say whether metrics of a kind score a query: an unjudged one has no score but latency and overlap."""
    if kind in ("latency", "overlap"):
        return True
    return query.no_answer if kind == "no_answer" else bool(query.judgments) and not query.no_answer


@dataclass(frozen=True)
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
    only: frozenset[str] | None = None
    """Where set, the ids of the only queries that count (a comparison's paired ones)."""
    other: Evaluation | None = None
    """The run that `overlap` compares with, within a comparison."""
    _scorers: dict[tuple[object, ...], Scorer] = field(default_factory=dict, compare=False)
    """By metrics and relevance level; `replace` hands them on, as versions of a run share most rows."""
    _queries: dict[tuple[str, str | None], list[Query]] = field(
        default_factory=dict, init=False, compare=False
    )
    """By kind of metric and tag (None: all), as far as they were asked for."""
    _columns: dict[Metric, Sequence[float | None]] = field(default_factory=dict, init=False, compare=False)
    """By metric the scores of all its queries, in their order, as far as they were asked for."""
    _by_id: dict[object, dict[str, float]] = field(default_factory=dict, init=False, compare=False)
    """By metric and tag (None: all) the scores by query id, as far as they were asked for."""

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

    def metric(self, metric: str | Metric) -> Metric:
        """Return the metric of this evaluation that a name, or an alias of it, stands for; a Metric, of any evaluation, itself.

        Raises MetricError for what is no metric's name, and EvaluationError for a metric that was not evaluated.
        """
        if isinstance(metric, Metric):
            return metric
        metric = parse_metric(metric, custom=self.custom)
        if metric not in self.metrics and not (metric.kind == "overlap" and metric.is_within(self.depth)):
            have = ", ".join(metric.name for metric in self.metrics)
            text = f"{metric.name} was not evaluated, {f'only {have}' if have else 'nor any other'}. Add it to `metrics`; in a test, to the setting ir_metrics."
            raise EvaluationError(text)
        return metric

    # Queries

    @cached_property
    def _asked(self) -> list[Query]:
        only, queries = self.only, self.golden.queries.values()
        return list(queries) if only is None else [query for query in queries if query.id in only]

    @cached_property
    def counted(self) -> tuple[Query, ...]:
        """The queries that count in a mean, in the golden set's order: all but the ``xfail`` ones."""
        return tuple([query for query in self._asked if query.xfail is None])

    @property
    def known_bad(self) -> list[Query]:
        """The queries marked ``xfail`` that were asked, in the golden set's order."""
        return [query for query in self._asked if query.xfail is not None]

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of the queries that count, sorted."""
        return tuple(sorted({tag for query in self.counted for tag in query.tags}))

    def queries(self, metric: str | Metric, tag: str | None = None) -> Sequence[Query]:
        """Return the queries over which a metric averages, those with ``tag`` if one is given."""
        kind = self.metric(metric).kind
        if (kind, tag) not in self._queries:
            tagged = self.counted if tag is None else [one for one in self.counted if tag in one.tags]
            self._queries[kind, tag] = [query for query in tagged if _is_about(kind, query)]
        return self._queries[kind, tag]

    # Rankings

    @cached_property
    def _answers(self) -> Answers:
        """Those of the run, kept for `rankings`, which asks for one at a time."""
        return self.run.answers

    @cached_property
    def _is_uncut(self) -> bool:
        """Whether rankings are read to their ends: also at the run's own depth, which a ranking exceeds where a chunk holds several judged passages."""
        return self.depth in (None, self.run.depth)

    def rankings(self, query_id: str) -> Rankings:
        """Return a query's rankings, one for each time it was asked, cut at the evaluation's depth."""
        found = self._answers.get(query_id, EMPTY_ANSWER).rankings
        return found if self._is_uncut else tuple([one[: self.depth] for one in found])

    def has_results(self, query_id: str) -> bool:
        """Tell whether anything came back for a query, any of the times that it was asked."""
        return any(self.rankings(query_id))

    # Scores

    def _repeats(self, metric: Metric, queries: Sequence[Query]) -> dict[str, Sequence[float | None]]:
        """Return query id → its scores, one for each time that it was asked."""
        if metric.kind == "latency":
            return {query.id: self.retrieved.latencies.get(query.id, ()) for query in queries}
        ranked = [metric] if metric.kind == "ranking" else []
        row = Scorer(ranked, relevance_level=self.golden.relevance_level).row
        score_of: dict[Kind, Callable[[Query, Sequence[str]], float | None]] = {
            "ranking": lambda query, ranking: row(query.judgments, tuple(ranking))[0],
            "overlap": partial(self._overlap, metric),
            "no_answer": lambda _, ranking: float(not ranking),
            "custom": partial(self._score_custom, metric),
        }
        score = score_of[metric.kind]
        return {one.id: [score(one, ranking) for ranking in self.rankings(one.id)] for one in queries}

    def _overlap(self, metric: Metric, query: Query, ranking: Sequence[str]) -> float:
        """Return which share of the other run's results a ranking has, both cut at k; the mean over that run's repeats."""
        if self.other is None:
            raise NoQueryError(f"{metric} compares two runs: compare(now, baseline)[{metric.name!r}].now")
        k = metric.cutoff
        before = [{*one[:k]} for one in self.other.rankings(query.id)]
        return mean([len(one & {*ranking[:k]}) / len(one) if one else float(not ranking) for one in before])

    def _score_custom(self, metric: Metric, query: Query, ranking: Sequence[str]) -> float:
        """Score one ranking with a metric of the user's own. Raises EvaluationError where that fails or is no number."""
        cut = tuple(ranking if metric.cutoff is None else ranking[: metric.cutoff])
        judgments, params = MappingProxyType(query.judgments), MappingProxyType(query.params)
        try:
            value = self.custom[metric.family](
                replace(query, judgments=judgments, params=params),
                cut,
                metric.cutoff,
                **dict(metric.parameters),
            )
            number = float(value)
        except Exception as error:
            text = f"the metric {metric.name} raised {type(error).__name__} on the query {query.id!r}: {error}. A metric of your own takes (query, ranking, k, **parameters) and returns a number."
            raise EvaluationError(text) from error
        if not abs(number) <= _MAX_SCORE:  # as is the case with NaN
            limit = f", of at most {_MAX_SCORE:g}" if math.isfinite(number) else ""
            text = f"the metric {metric.name} returned {number:g} for the query {query.id!r}. A metric of your own returns a finite number{limit}."
            raise EvaluationError(text)
        return number

    def repeats(self, metric: str | Metric) -> Mapping[str, Sequence[float | None]]:
        """Return query id → its scores, one for each time that it was asked; of a latency the milliseconds.

        None where the metric leaves that answer out (``miss=skip``).
        """
        return self._repeats(self.metric(metric), self.queries(metric))

    def column(self, metric: str | Metric, tag: str | None = None) -> Sequence[float | None]:
        """Return the scores of ``queries(metric, tag)``, in their order; None where the metric leaves a query out.

        Raises EvaluationError where a query's retrieval failed.
        """
        metric = self.metric(metric)
        if metric not in self._columns:
            self._require_answers()
            if metric.kind == "ranking":
                self._score_rankings(metric)
            else:
                self._columns[metric] = [*map(mean_of_scored, self.repeats(metric).values())]
        column = self._columns[metric]
        if tag is None:
            return column
        return [score for query, score in zip(self.queries(metric), column, strict=True) if tag in query.tags]

    @paused_gc()
    def _score_rankings(self, metric: Metric) -> None:
        """Score a metric and all that are reported at once: that is several times as fast as one after the other."""
        metrics = [one for one in {*self.metrics, metric} - self._columns.keys() if one.kind == "ranking"]
        level = self.golden.relevance_level
        row = self._scorers.setdefault((level, *metrics), Scorer(metrics, relevance_level=level)).row
        queries = self.queries(metric)
        answers = [*map(self.rankings, map(attrgetter("id"), queries))]
        pairs = zip(queries, answers, strict=True)
        rows = [row(query.judgments, ranking) for query, each in pairs for ranking in each]
        if len(rows) > len(queries):
            parts = iter(rows)
            repeats = ([*islice(parts, len(each))] for each in answers)
            rows = [tuple(map(mean_of_scored, zip(*each, strict=True))) for each in repeats]
        for place, one in enumerate(metrics):
            self._columns[one] = [*map(itemgetter(place), rows)]

    @cached_property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """Metric name → query id → score, of the queries that count; averaged over repeats. Without `overlap`.

        A query that a metric leaves out (``miss=skip``) is not in that metric's mapping. Raises EvaluationError where a
        query's retrieval failed.
        """
        self._require_answers()
        return {metric.name: self.scores_of(metric) for metric in self.metrics if metric.kind != "overlap"}

    def scores_of(self, metric: str | Metric, tag: str | None = None) -> dict[str, float]:
        """Return query id → score of the queries that a metric has scored, those with ``tag`` if one is given."""
        key = self.metric(metric), tag
        if key not in self._by_id:
            scored = zip(self.queries(*key), self.column(*key), strict=True)
            self._by_id[key] = {query.id: score for query, score in scored if score is not None}
        return self._by_id[key]

    def score(self, metric: str | Metric, query_id: str) -> float | None:
        """Return the score of any query of the golden set, also of one that is in no mean (``xfail``).

        None where the metric leaves the query out, or scores no such queries. Raises KeyError for an unknown query, and
        EvaluationError where any query's retrieval failed.
        """
        metric = self.metric(metric)
        self._require_answers()
        query = self.golden.queries[query_id]
        if not _is_about(metric.kind, query) or (metric.kind == "overlap" and self.other is None):
            return None
        found = self.scores_of(metric).get(query_id)
        return mean_of_scored(self._repeats(metric, [query])[query_id]) if found is None else found

    def _require_answers(self) -> None:
        """Raise EvaluationError where a query's retrieval failed: a mean over the others would hide it."""
        if self.errors:
            first = next(iter(self.errors))
            text = f"{len(self.errors):,} of {plural(len(self.golden.queries), 'query')} could not be retrieved, so there is no mean. The first is {first!r}: {self.errors[first]}"
            raise EvaluationError(text)

    # Means

    def mean(self, metric: str | Metric, tag: str | None = None) -> float:
        """Return a metric's weighted mean, Σ weight · score / Σ weight, over the queries with ``tag`` if one is given.

        Of a latency it is the percentile that its name has, by nearest rank over every time that a query was asked, in
        milliseconds. Raises EvaluationError where a query's retrieval failed, where no query counts
        (NoQueryError), and for a metric that was not evaluated.
        """
        metric = self.metric(metric)
        if metric.kind == "latency":
            return self._percentile(metric, tag)
        weights = [query.weight for query in self.queries(metric, tag)] if self.golden.is_weighted else None
        found = mean_of_scored(self.column(metric, tag), weights)
        if found is not None:
            return found
        if tag is not None and tag not in self.golden.tags:
            hint = "no query carries this tag"
        elif metric.kind == "no_answer":
            hint = "no query has `no_answer: true`"
        else:
            hint = "every such query is marked xfail or no_answer, unjudged, or left out by the metric"
        which = "" if tag is None else f" tagged {tag!r}"
        raise NoQueryError(f"{metric.name} has no query{which} to average over: {hint}.")

    def mean_or_none(self, metric: str | Metric, tag: str | None = None) -> float | None:
        """Return a metric's weighted mean, as `mean` does, or None where it has no query to average over."""
        try:
            return self.mean(metric, tag)
        except NoQueryError:
            return None

    def _percentile(self, metric: Metric, tag: str | None) -> float:
        """Return a percentile of the latencies, by nearest rank, in milliseconds."""
        self._require_answers()
        taken = [self.retrieved.latencies.get(query.id, ()) for query in self.queries(metric, tag)]
        times = sorted(time for each in taken for time in each)
        if not times:
            raise NoQueryError(f"{metric.name} needs a retriever to time; a stored run has no latencies.")
        return times[math.ceil(int(metric.family.removeprefix("latency_p")) * len(times) / 100) - 1]

    # Other evaluations

    def of_run(self, run: Run) -> Evaluation:
        """Return the evaluation of a stored run over the same queries, by the same metrics."""
        return replace(self, retrieved=Retrieved(run), depth=self.depth if run.depth is None else run.depth)

    def narrowed(self, only: Collection[str], depth: int | None) -> Evaluation:
        """Return the same run's evaluation over some of the queries, cut at a depth."""
        narrow = replace(self, only=frozenset(only), depth=shallower(self.depth, depth))
        same = (narrow.depth, narrow._asked) == (self.depth, self._asked)  # noqa: SLF001 - of the same class
        return self if same else narrow  # the first has its scores computed
