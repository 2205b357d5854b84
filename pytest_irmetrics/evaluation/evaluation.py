"""The scores of one run over one golden set."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from pytest_irmetrics.base.gc_pause import pause_gc
from pytest_irmetrics.evaluation.columns import Counted
from pytest_irmetrics.evaluation.faults import EvaluationError, NoQueryError
from pytest_irmetrics.evaluation.rankings import Reader
from pytest_irmetrics.metrics import Metric, Scorer, mean, parse_metric
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pytest_irmetrics.evaluation.rankings import Rankings
    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.retrieval import Retrieved
    from pytest_irmetrics.run import Answer

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

CustomMetrics = Mapping[str, Callable[..., float]]
"""By the name of the metric's family."""

_LATENCY_SHARE = {"latency_p50": 0.50, "latency_p95": 0.95}


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The scores of one run over one golden set.

    ``evaluation["ndcg@10"]`` is the weighted mean over the queries that count; ``evaluation.scores["ndcg@10"]``
    maps their ids to their scores. Queries marked ``xfail`` are in neither. Where a query's retrieval failed
    there is no mean: reading one raises EvaluationError.
    """

    golden: GoldenSet
    retrieved: Retrieved
    metrics: tuple[Metric, ...]
    depth: int | None
    """How deep the rankings are read; None: as deep as they are."""
    custom: CustomMetrics = field(default_factory=dict)
    only: frozenset[str] | None = field(default=None)
    """Where set, the ids of the only queries that count (a comparison's paired ones)."""
    extra_metrics: tuple[Metric, ...] = field(default=(), compare=False)
    """Metrics that are measured in the same walk and can be read by name, but are not among ``metrics``."""
    _wider: Evaluation | None = field(default=None, init=False, compare=False)
    """The same evaluation over more queries, whose scores serve here too."""
    _other: Evaluation | None = field(default=None, init=False, compare=False)
    """Another run's, over the same queries, labels and metrics: equal rankings have equal scores."""

    def __repr__(self) -> str:
        counts = [f"{len(self.metrics)} metrics", *([f"{len(self.errors)} errors"] if self.errors else [])]
        return f"<Evaluation of {self.golden!r}: {', '.join(counts)}, depth {self.depth}>"

    @property
    def run(self) -> Run:
        """What the retriever answered."""
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
        """Return the metric of this evaluation that a name, or an alias of it, stands for."""
        if isinstance(metric, str):
            known = self._by_name.get(metric)
            if known is not None:
                return known
            metric = parse_metric(metric, custom=self.custom)
        if metric.name not in self._by_name:
            have = ", ".join(metric.name for metric in self.metrics)
            raise EvaluationError(f"{metric.name} was not evaluated, only {have}. Add it to `metrics`.")
        return metric

    @cached_property
    def _counted(self) -> Counted:
        if self._wider is not None:
            return Counted(self.golden, self.only, among=self._wider._counted)  # noqa: SLF001 - its own kind
        return Counted(self.golden, self.only)

    @property
    def counted(self) -> tuple[Query, ...]:
        """The queries that count in a mean, in the golden set's order: all but the ``xfail`` ones."""
        return self._counted.queries

    @property
    def by_passage(self) -> bool:
        """Whether queries are judged by passage: then most of what is unjudged was looked into, and holds none."""
        return self._counted.by_passage

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the queries that count, sorted."""
        return self._counted.tags

    def queries(self, metric: str | Metric, tag: str | None = None) -> tuple[Query, ...]:
        """Return the queries over which a metric averages, those with ``tag`` if one is given."""
        queries, places = self._counted.of(self.metric(metric).kind), self.places(metric, tag)
        return queries if places is None else tuple([queries[place] for place in places])

    def places(self, metric: str | Metric, tag: str | None) -> Sequence[int] | None:
        """Return the places in a metric's column of the queries with ``tag``; None for all, if none is given."""
        return None if tag is None else self._counted.places(self.metric(metric).kind, tag)

    def weights(self, metric: str | Metric) -> Sequence[float]:
        """Return the weights of the queries over which a metric averages, in their order."""
        return self._counted.weights(self.metric(metric).kind)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.golden, self.run, self.depth)

    def rankings(self, query_id: str) -> Rankings:
        """Return a query's rankings, one for each time it was asked, cut at the evaluation's depth."""
        return self._reader.read(query_id)

    def stored_rankings(self, query_id: str) -> Rankings:
        """Return a query's rankings as ``rankings`` does, with passages named as they were when it was asked."""
        return self._reader.stored(query_id)

    @property
    def _answerable(self) -> tuple[Query, ...]:
        return self._counted.of("ranking")

    @cached_property
    def _ranking_metrics(self) -> list[Metric]:
        return [metric for metric in (*self.metrics, *self.extra_metrics) if metric.kind == "ranking"]

    @cached_property
    def _reranked(self) -> Sequence[int]:
        """Which of the answerable queries, by their places, are answered otherwise than in what this is compared with."""
        if self._other is None:
            return range(len(self._answerable))
        queries = self._answerable
        theirs = self._other._reader.read_all(queries)  # noqa: SLF001 - its own kind
        sides = zip(self._reader.read_all(queries), theirs, strict=True)
        return [place for place, (here, there) in enumerate(sides) if here != there]

    @cached_property
    def _columns(self) -> dict[str, list[float | None]]:
        """Score all that rankings alone decide, in one walk of each ranking."""
        metrics = self._ranking_metrics
        if not metrics:
            return {}
        if self._other is not None:
            queries = [self._answerable[place] for place in self._reranked]
            columns = [list(self._other.column(metric)) for metric in metrics]
            for column, anew in zip(columns, self._scored(queries), strict=True):
                for place, score in zip(self._reranked, anew, strict=True):
                    column[place] = score
        else:
            columns = self._scored(self._answerable)
        return {metric.name: column for metric, column in zip(metrics, columns, strict=True)}

    def _scored(self, queries: Sequence[Query]) -> list[list[float | None]]:
        scorer = Scorer(self._ranking_metrics, relevance_level=self.golden.relevance_level)
        with pause_gc():
            rankings = self._reader.read_all(queries)
            judgments = [query.judgments for query in queries]
            if max(map(len, rankings), default=1) == 1:
                return scorer.columns(judgments, [ranking for (ranking,) in rankings])
            flat = scorer.columns(
                [judged for judged, asked in zip(judgments, rankings, strict=True) for _ in asked],
                [ranking for asked in rankings for ranking in asked],
            )
        return [_averages(column, [len(asked) for asked in rankings]) for column in flat]

    @cached_property
    def repeated(self) -> bool:
        """Whether any query was asked more than once."""
        answers = self.run.answers
        if max([len(answer.rankings) for answer in answers.values()], default=1) <= 1:
            return False
        return any(len(answers[query.id].rankings) > 1 for query in self.counted if query.id in answers)

    def repeats(self, metric: str | Metric) -> dict[str, list[float]]:
        """Return query id → its scores, one for each time that it was asked; none of latencies."""
        metric = self.metric(metric)
        if metric.kind == "latency":
            return {}
        if metric.kind == "no_answer":
            asked_of = self.queries(metric)
            return {
                query.id: [float(not ranking) for ranking in self.rankings(query.id)] for query in asked_of
            }
        if metric.kind == "custom":
            return {query.id: self._custom_scores(metric, query) for query in self.queries(metric)}
        scorer = Scorer([metric], relevance_level=self.golden.relevance_level)
        queries = self.queries(metric)
        asked = [(query, ranking) for query in queries for ranking in self.rankings(query.id)]
        if len(asked) == len(queries):
            return {
                query.id: [score]
                for query, score in zip(queries, self.column(metric), strict=True)
                if score is not None
            }
        (column,) = scorer.columns([query.judgments for query, _ in asked], [ranking for _, ranking in asked])
        scores: dict[str, list[float]] = {}
        for (query, _), score in zip(asked, column, strict=True):
            if score is not None:
                scores.setdefault(query.id, []).append(score)
        return scores

    def _score_custom(self, metric: Metric, query: Query) -> float:
        return mean(self._custom_scores(metric, query))

    def _custom_scores(self, metric: Metric, query: Query) -> list[float]:
        values = []
        for ranking in self.rankings(query.id):
            try:
                value = self.custom[metric.family](
                    query,
                    tuple(ranking if metric.cutoff is None else ranking[: metric.cutoff]),
                    metric.cutoff,
                    **dict(metric.parameters),
                )
                number = float(value)
            except Exception as error:
                raise EvaluationError(
                    f"the metric {metric.name} raised {type(error).__name__} on the query {query.id!r}: {error}. "
                    "A metric of your own takes (query, ranking, k, **parameters) and returns a number."
                ) from error
            if not math.isfinite(number):
                raise EvaluationError(
                    f"the metric {metric.name} returned {value!r} for the query {query.id!r}. "
                    "A metric of your own returns a finite number."
                )
            values.append(number)
        return values

    def _column(self, metric: Metric) -> Sequence[float | None]:
        wider = self._wider
        if wider is not None and not (metric.kind == "ranking" and self._other is not None):
            queries, column = wider.queries(metric), wider.column(metric)
            if len(queries) == len(self.queries(metric)):
                return column
            only = self.only or ()
            return [score for score, query in zip(column, queries, strict=True) if query.id in only]
        if metric.kind == "ranking":
            return self._columns[metric.name]
        queries = self.queries(metric)
        if metric.kind == "no_answer":
            return [mean([float(not ranking) for ranking in self.rankings(query.id)]) for query in queries]
        if metric.kind == "latency":
            latencies = self.retrieved.latencies
            return [mean(latencies[query.id]) if latencies.get(query.id) else None for query in queries]
        return [self._score_custom(metric, query) for query in queries]

    @cached_property
    def _kept(self) -> dict[str, Sequence[float | None]]:
        return {}

    def column(self, metric: str | Metric) -> Sequence[float | None]:
        """Return a metric's scores in the order of ``queries(metric)``; None where the metric leaves a query out."""
        metric = self.metric(metric)
        column = self._kept.get(metric.name)
        if column is None:
            self._require_answers()
            column = self._kept[metric.name] = self._column(metric)
        return column

    @cached_property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """Metric name → query id → score, of the queries that count; averaged over repeats.

        A query that a metric leaves out (``miss=skip``) is not in that metric's mapping.
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
        if self.errors:
            first = next(iter(self.errors))
            raise EvaluationError(
                f"{len(self.errors)} of {len(self.golden.queries)} queries could not be retrieved, so there is "
                f"no mean. The first is {first!r}: {self.errors[first]}"
            )

    def weighted(
        self, metric: str | Metric, tag: str | None = None
    ) -> tuple[Sequence[float], Sequence[float]]:
        """Return the scores that a mean is made of, and their weights."""
        metric = self.metric(metric)
        column, weights = self.column(metric), self.weights(metric)
        places = self.places(metric, tag)
        if places is not None:
            column, weights = [column[place] for place in places], [weights[place] for place in places]
        if None in column:
            weights = [weight for score, weight in zip(column, weights, strict=True) if score is not None]
            column = [score for score in column if score is not None]
        return cast("Sequence[float]", column), weights

    def scored(self, metric: str | Metric, tag: str | None = None) -> list[tuple[Query, float]]:
        """Return the queries that a metric has scored, those with ``tag`` if one is given, with their scores."""
        column, places = self.column(metric), self.places(metric, tag)
        if places is not None:
            column = [column[place] for place in places]
        pairs = zip(self.queries(metric, tag), column, strict=True)
        return [(query, score) for query, score in pairs if score is not None]

    def mean(self, metric: str | Metric, tag: str | None = None) -> float:
        """Return a metric's weighted mean: Σ weight · score / Σ weight.

        For ``latency_p50`` and ``latency_p95`` it is the percentile by nearest rank over every time that a
        query was asked, in milliseconds. Raises EvaluationError where no query counts.
        """
        metric = self.metric(metric)
        key = metric.name, tag
        if key not in self._means:
            self._means[key] = self._mean(metric, tag)
        return self._means[key]

    @cached_property
    def _means(self) -> dict[tuple[str, str | None], float]:
        return {}

    def _mean(self, metric: Metric, tag: str | None) -> float:
        if metric.kind == "latency":
            return self._percentile(metric, tag)
        if self._wider is not None and len(self._wider.counted) == len(self.counted):
            return self._wider.mean(metric, tag)
        values, weights = self.weighted(metric, tag)
        if not values:
            which = f" tagged {tag!r}" if tag is not None else ""
            hint = (
                "no query has `no_answer: true`"
                if metric.kind == "no_answer"
                else "every such query is marked xfail or no_answer, or left out by the metric"
            )
            raise NoQueryError(f"{metric.name} has no query{which} to average over: {hint}.")
        return mean(values, weights)

    def _percentile(self, metric: Metric, tag: str | None) -> float:
        self._require_answers()
        times = sorted(
            time for query in self.queries(metric, tag) for time in self.retrieved.latencies.get(query.id, ())
        )
        if not times:
            raise NoQueryError(f"{metric.name} needs a retriever to time; a stored run has no latencies.")
        return times[max(0, math.ceil(_LATENCY_SHARE[metric.family] * len(times)) - 1)]

    def score(self, metric: str | Metric, query_id: str) -> float | None:
        """Return the score of any query of the golden set, also of one that is in no mean (``xfail``)."""
        metric = self.metric(metric)
        self._require_answers()
        place = self._counted.place_by_id(metric.kind).get(query_id)
        if place is not None:
            return self.column(metric)[place]
        query = self.golden.queries[query_id]
        if metric.kind == "custom" and not query.no_answer:
            return self._score_custom(metric, query)
        if metric.kind == "no_answer" and query.no_answer:
            return mean([float(not ranking) for ranking in self.rankings(query_id)])
        if metric.kind != "ranking" or query.no_answer:
            return None
        scorer = Scorer([metric], relevance_level=self.golden.relevance_level)
        values = [scorer.row(query.judgments, ranking)[0] for ranking in self.rankings(query_id)]
        return _averages(values, [len(values)])[0]

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
        within = self.only is None or (only is not None and self.only.issuperset(only))
        if within and narrow.golden is self.golden and narrow.depth == self.depth and metrics is None:
            object.__setattr__(narrow, "_wider", self)
        return narrow

    def with_answers(self, answers: Mapping[str, Answer]) -> Evaluation:
        """Return the evaluation of the same run with some answers exchanged."""
        run = Run.of({**self.run.answers, **answers}, self.run.depth)
        return replace(self, retrieved=replace(self.retrieved, run=run))

    def beside(self, other: Evaluation) -> Evaluation:
        """Return this evaluation, which takes from another run's what both have in common: the scores of equal rankings."""
        same = (self.golden, self.only, self.metrics, self.extra_metrics, self.depth) == (
            other.golden,
            other.only,
            other.metrics,
            other.extra_metrics,
            other.depth,
        )
        if same and self is not other:
            object.__setattr__(self, "_other", other)
        return self


def _averages(column: Sequence[float | None], counts: Iterable[int]) -> list[float | None]:
    """Average runs of neighbours; None where a metric left every one of them out."""
    averages: list[float | None] = []
    start = 0
    for count in counts:
        values = [value for value in column[start : start + count] if value is not None]
        averages.append(mean(values) if values else None)
        start += count
    return averages
