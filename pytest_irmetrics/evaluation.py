"""Golden set × run × metrics → scores by query and their weighted means."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.metrics import Metric, Scorer, mean, parse_metric
from pytest_irmetrics.retrieval import RetrievalOptions, Retrieved, retrieve
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pytest_irmetrics.golden import GoldenSet, Query

    CustomMetrics = Mapping[str, Callable[..., float]]

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

DEFAULT_METRICS = ("mrr", "map", "ndcg@3", "ndcg@10", "precision@10", "recall@10")
"""What is reported unless told otherwise."""

DEFAULT_DEPTH = 10
"""How many results a retriever is asked for unless told otherwise."""

_LATENCY_SHARE = {"latency_p50": 0.50, "latency_p95": 0.95}
_NO_CUSTOM: CustomMetrics = MappingProxyType({})


class EvaluationError(ValueError):
    """A score that cannot be computed; the message says why and what to do."""


class NoQueryError(EvaluationError):
    """A mean that has nothing to average over."""


@dataclass(frozen=True)
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
    custom: CustomMetrics = field(default_factory=dict, repr=False)
    only: frozenset[str] | None = field(default=None, repr=False)
    """Where set, the ids of the only queries that count (a comparison's paired ones)."""

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
        return {metric.name: metric for metric in self.metrics}

    def metric(self, metric: str | Metric) -> Metric:
        """Return the metric of this evaluation that a name, or an alias of it, stands for."""
        if isinstance(metric, str):
            known = self._by_name.get(metric)
            if known is not None:
                return known
            metric = parse_metric(metric, custom=self.custom)
        if metric.name not in self._by_name:
            have = ", ".join(self._by_name)
            raise EvaluationError(f"{metric.name} was not evaluated, only {have}. Add it to `metrics`.")
        return metric

    @cached_property
    def counted(self) -> tuple[Query, ...]:
        """The queries that count in a mean, in the golden set's order: all but the ``xfail`` ones."""
        return tuple(
            query
            for query in self.golden.queries.values()
            if query.xfail is None and (self.only is None or query.id in self.only)
        )

    @cached_property
    def _answerable(self) -> tuple[Query, ...]:
        return tuple(query for query in self.counted if not query.no_answer)

    @cached_property
    def _unanswerable(self) -> tuple[Query, ...]:
        return tuple(query for query in self.counted if query.no_answer)

    def queries(self, metric: str | Metric, tag: str | None = None) -> tuple[Query, ...]:
        """Return the queries over which a metric averages, those with ``tag`` if one is given."""
        kind = self.metric(metric).kind
        queries = {"no_answer": self._unanswerable, "latency": self.counted}.get(kind, self._answerable)
        return queries if tag is None else tuple(query for query in queries if tag in query.tags)

    def rankings(self, query_id: str) -> tuple[Sequence[str], ...]:
        """Return a query's rankings, one for each time it was asked, cut at the evaluation's depth."""
        answer = self.run.answers.get(query_id)
        if answer is None:
            return ((),)
        if self.depth is None or all(len(ranking) <= self.depth for ranking in answer.rankings):
            return answer.rankings
        return tuple(ranking[: self.depth] for ranking in answer.rankings)

    @cached_property
    def _columns(self) -> dict[str, list[float | None]]:
        """Score all that rankings alone decide, in one walk of each ranking."""
        metrics = [metric for metric in self.metrics if metric.kind == "ranking"]
        if not metrics:
            return {}
        scorer = Scorer(metrics, relevance_level=self.golden.relevance_level)
        rankings = [self.rankings(query.id) for query in self._answerable]
        judgments = [query.judgments for query in self._answerable]
        repeats = max(map(len, rankings), default=1)
        if repeats == 1:
            columns = scorer.columns(judgments, [ranking[0] for ranking in rankings])
        else:
            flat = scorer.columns(
                [judged for judged, asked in zip(judgments, rankings, strict=True) for _ in asked],
                [ranking for asked in rankings for ranking in asked],
            )
            columns = [_averages(column, [len(asked) for asked in rankings]) for column in flat]
        return {metric.name: column for metric, column in zip(metrics, columns, strict=True)}

    @cached_property
    def repeated(self) -> bool:
        """Whether any query was asked more than once."""
        answers = self.run.answers
        return any(len(answers[query.id].rankings) > 1 for query in self.counted if query.id in answers)

    def repeats(self, metric: str | Metric) -> dict[str, list[float]]:
        """Return query id → its scores, one for each time that it was asked; only for what rankings decide."""
        metric = self.metric(metric)
        if metric.kind != "ranking":
            return {}
        scorer = Scorer([metric], relevance_level=self.golden.relevance_level)
        queries = self.queries(metric)
        asked = [(query, ranking) for query in queries for ranking in self.rankings(query.id)]
        if len(asked) == len(queries):
            return {query_id: [score] for query_id, score in self.scores[metric.name].items()}
        (column,) = scorer.columns([query.judgments for query, _ in asked], [ranking for _, ranking in asked])
        scores: dict[str, list[float]] = {}
        for (query, _), score in zip(asked, column, strict=True):
            if score is not None:
                scores.setdefault(query.id, []).append(score)
        return scores

    def _score_custom(self, metric: Metric, query: Query) -> float:
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
        return mean(values)

    def _column(self, metric: Metric) -> list[float | None]:
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
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """Metric name → query id → score, of the queries that count; averaged over repeats.

        A query that a metric leaves out (``miss=skip``) is not in that metric's mapping.
        """
        self._require_answers()
        return {
            metric.name: {
                query.id: value
                for query, value in zip(self.queries(metric), self._column(metric), strict=True)
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

    def weighted(self, metric: str | Metric, tag: str | None = None) -> tuple[list[float], list[float]]:
        """Return the scores that a mean is made of, and their weights."""
        metric = self.metric(metric)
        scores = self.scores[metric.name]
        queries = [query for query in self.queries(metric, tag) if query.id in scores]
        return [scores[query.id] for query in queries], [query.weight for query in queries]

    def mean(self, metric: str | Metric, tag: str | None = None) -> float:
        """Return a metric's weighted mean: Σ weight · score / Σ weight.

        For ``latency_p50`` and ``latency_p95`` it is the percentile by nearest rank over every time that a
        query was asked, in milliseconds. Raises EvaluationError where no query counts.
        """
        metric = self.metric(metric)
        if metric.kind == "latency":
            return self._percentile(metric, tag)
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
        counted = self.scores[metric.name]
        if query_id in counted:
            return counted[query_id]
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

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of the queries that count, sorted."""
        return tuple(sorted({tag for query in self.counted for tag in query.tags}))

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
        return Evaluation(
            golden=golden or self.golden,
            retrieved=self.retrieved,
            metrics=self.metrics if metrics is None else tuple(metrics),
            depth=min(depths, default=None),
            custom=self.custom,
            only=self.only if only is None else frozenset(only),
        )


def _averages(column: Sequence[float | None], counts: Iterable[int]) -> list[float | None]:
    """Average runs of neighbours; None where a metric left every one of them out."""
    averages: list[float | None] = []
    start = 0
    for count in counts:
        values = [value for value in column[start : start + count] if value is not None]
        averages.append(mean(values) if values else None)
        start += count
    return averages


def read_metrics(metrics: Iterable[str | Metric], custom: CustomMetrics = _NO_CUSTOM) -> tuple[Metric, ...]:
    """Read metric names, dropping those that name a metric for the second time."""
    read = (parse_metric(metric, custom=custom) if isinstance(metric, str) else metric for metric in metrics)
    return tuple({metric.name: metric for metric in read}.values())


def evaluate_run(
    golden: GoldenSet,
    run: Run,
    metrics: Iterable[str | Metric],
    *,
    depth: int | None = None,
    custom_metrics: CustomMetrics = _NO_CUSTOM,
) -> Evaluation:
    """Score a run that is already there; a query that it does not have scores 0."""
    return Evaluation(
        golden=golden,
        retrieved=Retrieved(run=run, errors={}, stopped="", latencies={}),
        metrics=read_metrics(metrics, custom_metrics),
        depth=depth,
        custom=custom_metrics,
    )


def evaluate(
    golden: GoldenSet,
    source: Any,
    metrics: Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    depth: int | None = None,
    duplicates: str = "error",
    doc_id: Callable[[Any], Any] | None = None,
    timeout: float | None = None,
    concurrency: int = 1,
    repeat: int = 1,
    custom_metrics: CustomMetrics = _NO_CUSTOM,
) -> Evaluation:
    """Ask a retriever every query of a golden set, or take a Run, and score the answers.

    ``depth`` is how many results a retriever is asked for: unless told otherwise as many as the deepest cut-off
    needs, and at least ten; a Run is read as deep as it is. The other keywords are the settings of the plugin:
    ``duplicates`` is ``error`` or ``collapse``, ``doc_id`` turns a returned item into its id, ``timeout`` is in
    seconds a query, ``concurrency`` in queries at once, and each query is asked ``repeat`` times.

    Raises MetricError for an unknown metric, and EvaluationError for a cut-off that the depth does not reach; what
    goes wrong in single queries is in the evaluation's ``errors``.
    """
    read = read_metrics(metrics, custom_metrics)
    if isinstance(source, Run):
        stored = source.depth if depth is None else depth
        return evaluate_run(golden, source, read, depth=stored, custom_metrics=custom_metrics)
    if depth is None:
        depth = max([DEFAULT_DEPTH, *(metric.cutoff or 0 for metric in read)])
    require_depth(read, depth)
    options = RetrievalOptions(
        depth=depth,
        duplicates=duplicates,
        doc_id=doc_id,
        timeout=timeout,
        concurrency=concurrency,
        repeat=repeat,
    )
    retrieved = retrieve(golden.queries.values(), source, options)
    return Evaluation(golden, retrieved, read, depth, custom_metrics)


def require_depth(metrics: Iterable[Metric], depth: int) -> None:
    """Raise EvaluationError for a cut-off deeper than what the retriever is asked for."""
    for metric in metrics:
        if metric.cutoff is not None and metric.cutoff > depth:
            raise EvaluationError(
                f"{metric.name} needs {metric.cutoff} results a query, and the retriever is asked for {depth}. "
                f"Set ir_depth = {metric.cutoff}, or depth={metric.cutoff} in ir_golden."
            )
