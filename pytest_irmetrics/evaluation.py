"""Golden set × run × metrics → scores by query and their weighted means."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from pytest_irmetrics.garbage import without_collection
from pytest_irmetrics.metrics import Metric, Scorer, mean, parse_metric
from pytest_irmetrics.passages import reread
from pytest_irmetrics.retrieval import RetrievalOptions, Retrieved, retrieve
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from concurrent.futures import Executor

    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.run import Answer

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
    aside: tuple[Metric, ...] = field(default=(), compare=False)
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
        return {metric.name: metric for metric in (*self.metrics, *self.aside)}

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
    def counted(self) -> tuple[Query, ...]:
        """The queries that count in a mean, in the golden set's order: all but the ``xfail`` ones."""
        only = self.only
        if self._wider is not None:
            counted = self._wider.counted
            return counted if only is None else tuple([query for query in counted if query.id in only])
        return tuple(
            [
                query
                for query in self.golden.queries.values()
                if query.xfail is None and (only is None or query.id in only)
            ]
        )

    @cached_property
    def by_passage(self) -> bool:
        """Whether queries are judged by passage: then most of what is unjudged was looked into, and holds none."""
        return any(query.passages for query in self.counted)

    @cached_property
    def _answerable(self) -> tuple[Query, ...]:
        return tuple([query for query in self.counted if not query.no_answer])

    @cached_property
    def _unanswerable(self) -> tuple[Query, ...]:
        return tuple([query for query in self.counted if query.no_answer])

    def queries(self, metric: str | Metric, tag: str | None = None) -> tuple[Query, ...]:
        """Return the queries over which a metric averages, those with ``tag`` if one is given."""
        queries, places = self._asked_of(self.metric(metric).kind), self.places(metric, tag)
        return queries if places is None else tuple([queries[place] for place in places])

    def _asked_of(self, kind: str) -> tuple[Query, ...]:
        return {"no_answer": self._unanswerable, "latency": self.counted}.get(kind, self._answerable)

    def places(self, metric: str | Metric, tag: str | None) -> Sequence[int] | None:
        """Return the places in a metric's column of the queries with ``tag``; None for all, if none is given."""
        if tag is None:
            return None
        kind = self.metric(metric).kind
        by_tag = self._places_by_tag.get(kind)
        if by_tag is None:
            by_tag = self._places_by_tag[kind] = {}
            for place, query in enumerate(self._asked_of(kind)):
                for one in query.tags:
                    by_tag.setdefault(one, []).append(place)
        return by_tag.get(tag, ())

    @cached_property
    def _places_by_tag(self) -> dict[str, dict[str, list[int]]]:
        return {}

    def rankings(self, query_id: str) -> tuple[Sequence[str], ...]:
        """Return a query's rankings, one for each time it was asked, cut at the evaluation's depth."""
        answer = self.run.answers.get(query_id)
        if answer is None:
            return ((),)
        return self._cut(self._reread(query_id, answer) if answer.passages else answer.rankings)

    def stored_rankings(self, query_id: str) -> tuple[Sequence[str], ...]:
        """Return a query's rankings as ``rankings`` does, with passages named as they were when it was asked."""
        answer = self.run.answers.get(query_id)
        return ((),) if answer is None else self._cut(answer.rankings)

    def _cut(self, rankings: tuple[Sequence[str], ...]) -> tuple[Sequence[str], ...]:
        # What was asked for is read whole: a chunk that holds several passages makes a ranking longer.
        depth = self.depth
        if depth is None or depth == self.run.depth:
            return rankings
        for ranking in rankings:
            if len(ranking) > depth:
                return tuple([ranking[:depth] for ranking in rankings])
        return rankings

    def _reread(self, query_id: str, answer: Answer) -> tuple[Sequence[str], ...]:
        """Name passages as they are judged today."""
        query = self.golden.queries.get(query_id)
        if query is None:
            return answer.rankings
        known = self._reread_rankings.get(query_id)
        if known is None:
            known = self._reread_rankings[query_id] = tuple(
                reread(ranking, answer.passages, query.passages, query.judgments)
                for ranking in answer.rankings
            )
        return known

    @cached_property
    def _reread_rankings(self) -> dict[str, tuple[Sequence[str], ...]]:
        return {}

    def _rankings(self, queries: Sequence[Query]) -> list[tuple[Sequence[str], ...]]:
        """Return what `rankings` gives, for many queries."""
        stored, none = self.run.answers.get, ((),)
        depth = None if self.depth == self.run.depth else self.depth
        found: list[tuple[Sequence[str], ...]] = []
        for query in queries:
            answer = stored(query.id)
            rankings: tuple[Sequence[str], ...] = none if answer is None else answer.rankings
            if answer is not None and answer.passages:
                rankings = self.rankings(query.id)
            elif depth is not None:
                for ranking in rankings:
                    if len(ranking) > depth:
                        rankings = self.rankings(query.id)
                        break
            found.append(rankings)
        return found

    @cached_property
    def _ranking_metrics(self) -> list[Metric]:
        return [metric for metric in (*self.metrics, *self.aside) if metric.kind == "ranking"]

    @cached_property
    def _reranked(self) -> Sequence[int]:
        """Which of the answerable queries, by their places, are answered otherwise than in what this is compared with."""
        if self._other is None:
            return range(len(self._answerable))
        queries = self._answerable
        sides = zip(self._rankings(queries), self._other._rankings(queries), strict=True)  # noqa: SLF001 - its own kind
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
        with without_collection():
            rankings = self._rankings(queries)
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

    def weights(self, metric: str | Metric) -> Sequence[float]:
        """Return the weights of the queries over which a metric averages, in their order."""
        kind = self.metric(metric).kind
        weights = self._kept_weights.get(kind)
        if weights is None:
            weights = self._kept_weights[kind] = [query.weight for query in self._asked_of(kind)]
        return weights

    @cached_property
    def _kept_weights(self) -> dict[str, list[float]]:
        return {}

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
        place = self._place(metric.kind).get(query_id)
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

    def _place(self, kind: str) -> dict[str, int]:
        """Return query id → its place in the columns of metrics of a kind."""
        places = self._kept_places.get(kind)
        if places is None:
            places = {query.id: place for place, query in enumerate(self._asked_of(kind))}
            self._kept_places[kind] = places
        return places

    @cached_property
    def _kept_places(self) -> dict[str, dict[str, int]]:
        return {}

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
        narrow = Evaluation(
            golden=golden or self.golden,
            retrieved=self.retrieved,
            metrics=self.metrics if metrics is None else tuple(metrics),
            depth=min(depths, default=None),
            custom=self.custom,
            only=self.only if only is None else frozenset(only),
            aside=self.aside if metrics is None else (),
        )
        within = self.only is None or (only is not None and self.only.issuperset(only))
        if within and narrow.golden is self.golden and narrow.depth == self.depth and metrics is None:
            object.__setattr__(narrow, "_wider", self)
        return narrow

    def beside(self, other: Evaluation) -> Evaluation:
        """Return this evaluation, which takes from another run's what both have in common: the scores of equal rankings."""
        same = (self.golden, self.only, self.metrics, self.aside, self.depth) == (
            other.golden,
            other.only,
            other.metrics,
            other.aside,
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


def judged_beside(metrics: Sequence[Metric], depth: int | None) -> tuple[Metric, ...]:
    """Return ``judged@k`` for each cut-off of some metrics: a score is as good as the judgments behind it."""
    ranked = [metric for metric in metrics if metric.kind == "ranking"]
    cutoffs = {metric.cutoff or depth for metric in ranked if metric.family != "judged"}
    names = [f"judged@{k}" if k else "judged" for k in sorted(cutoffs, key=lambda k: k or math.inf)]
    known = {metric.name for metric in ranked}
    return read_metrics(name for name in names if name not in known)


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
    executor: Executor | None = None,
    custom_metrics: CustomMetrics = _NO_CUSTOM,
) -> Evaluation:
    """Ask a retriever every query of a golden set, or take a Run, and score the answers.

    ``depth`` is how many results a retriever is asked for: unless told otherwise as many as the deepest cut-off
    needs, and at least ten; a Run is read as deep as it is. The other keywords are the settings of the plugin:
    ``duplicates`` is ``error`` or ``collapse``, ``doc_id`` turns a returned item into its id, ``timeout`` is in
    seconds a query, ``concurrency`` in queries at once, each query is asked ``repeat`` times, and an ``executor`` of
    ``concurrent.futures`` has a sync retriever called elsewhere.

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
        executor=executor,
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
