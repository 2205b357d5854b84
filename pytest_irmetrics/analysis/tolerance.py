"""Notes on a ``max_drop``: how often a change that makes nothing worse would fail it, and what it allows in queries."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import MIN_CHANGED, significance
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.metrics import Scorer
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.comparison import Comparison, MetricChange, RunNoise
    from pytest_irmetrics.evaluation import CustomMetrics, Evaluation
    from pytest_irmetrics.gates import Verdict
    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Gate, Gates

ONCE_IN = 20
"""A tolerance is right for a set where a harmless change fails it once in so many times, or less often."""

ENOUGH_CHANGED = 10
"""Changed queries from which on it is said how many queries a tolerance needs: fewer say too little of how far queries move."""

_SLACK = 1e-3
"""Of the last digit that is shown: by so much a tolerance is rounded down, since it was found to a millionth only."""

_SMALL_TOLERANCE = 0.5
"""In queries: below this, a `max_drop` allows less than half of what one query can cost."""

_LARGE_TOLERANCE = 10
"""In queries: from this on, a `max_drop` lets many queries be lost altogether."""

_FRACTIONS = {
    2: "half",
    3: "a third",
    4: "a quarter",
    5: "a fifth",
    6: "a sixth",
    7: "a seventh",
    8: "an eighth",
    9: "a ninth",
    10: "a tenth",
    20: "a twentieth",
}


class Forecast:
    """How often harmless changes would fail a ``max_drop``.

    A harmless change is taken to be one that moves as many queries as far as the change at hand, each as likely up as
    down: the two runs, swapped at random query by query. With run noise a fall fails from further on.
    """

    def __init__(self, change: MetricChange, allowed: float, noise: RunNoise | None = None) -> None:
        self._differences = list(change.weighted_differences.values())
        self._margin = noise.margin if noise is not None else 0.0
        self._beyond = allowed + self._margin
        self._changed = change.changed

    @cached_property
    def share(self) -> float:
        """The share of harmless changes that fail, in [0, 1/2]."""
        return significance.share_falling_beyond(self._differences, self._beyond)

    @cached_property
    def enough(self) -> float:
        """The least ``max_drop``, of two significant digits, that no more than one in twenty of them fail.

        Wider, as Student's quantile is, where few queries changed: how far queries move is then not well known.
        """
        drop = significance.drop_exceeded_by(self._differences, 1 / ONCE_IN)
        drop *= significance.student_factor(self._differences)
        return _rounded_up(max(drop - self._margin, 0.0))

    @cached_property
    def needed(self) -> tuple[int, int] | None:
        """How many queries, from and to, it takes for one in twenty of them to fail; None where too few changed."""
        if self._changed < ENOUGH_CHANGED or not self._beyond:
            return None
        return significance.queries_for_drop(self._differences, self._beyond)


def _rounded_up(drop: float) -> float:
    """Round up to two significant digits, so that what holds for a tolerance holds for the one that is shown."""
    if not drop:
        return 0.0
    places = 1 - math.floor(math.log10(drop))
    return round(math.ceil(drop * 10.0**places - _SLACK) / 10.0**places, places)


def _share_text(share: float) -> str:
    """Return a share above one in twenty as ``about 3 in 10`` or ``about 8 in 100``."""
    of = 10 if share >= 0.15 else 100
    return f"about {round(share * of)} in {of}"


def on_tolerance(comparison: Comparison, gates: Gates) -> Iterator[str]:
    """Say how often harmless changes would fail a ``max_drop``: of the gate where most do, if more than one in twenty.

    Of a gate where hardly any query changed, say what one query can do; of a large ``max_drop`` what it lets pass.
    """
    forecasts = []
    for gate in gates.with_word("max_drop", without="significance"):
        change = comparison.change(gate.metric, gate.tag)
        allowed = gate.limit.absolute(change.baseline)
        if not change.n or not allowed:
            continue
        forecast = _forecast(gate, comparison)
        in_queries = allowed * change.n
        if forecast is not None:
            forecasts.append((gate, forecast))
        elif change.changed < MIN_CHANGED and in_queries < _SMALL_TOLERANCE:
            what = f"max_drop {gate.limit} of {gate.metric.name}"
            yield _in_queries(what, allowed, comparison.now, gate.metric, gate.tag)
        elif (
            in_queries >= _LARGE_TOLERANCE
            and "max_lost" not in gates.of(gate.metric, gate.tag)
            and math.isfinite(change.metric.upper)
        ):
            yield (
                f"max_drop {gate.limit} of {gate.metric.name} on {change.n:,} queries lets "
                f"{math.floor(in_queries + TOLERANCE)} be lost altogether; consider max_lost."
            )
    if forecasts:
        gate, forecast = max(forecasts, key=lambda pair: pair[1].share)
        yield " ".join(_forecast_sentences(gate, forecast, comparison))


def on_undecided_falls(comparison: Comparison, gates: Gates, verdicts: Sequence[Verdict]) -> list[str]:
    """Say how often harmless changes would fail the first ``max_drop`` that failed, if its fall may well be chance.

    The second sentence, where there is one, says how many queries would do.
    """
    for verdict in verdicts:
        if verdict.word != "max_drop" or not verdict.failed or verdict.single or verdict.metric is None:
            continue
        change = comparison.change(verdict.metric, verdict.tag)
        gate = gates.of(verdict.metric, verdict.tag).get("max_drop")
        if gate is not None and change.p_value is not None and change.p_value >= 1 / ONCE_IN:
            forecast = _forecast(gate, comparison)
            if forecast is not None:
                how_often, *needed = _forecast_sentences(gate, forecast, comparison)
                return [f"this may be chance: {how_often}", *needed]
    return []


def _forecast(gate: Gate, comparison: Comparison) -> Forecast | None:
    """Return the forecast for a gate; None where at most one in twenty harmless changes fail, or too few queries changed."""
    change, noise = comparison.change(gate.metric, gate.tag), comparison.run_noise(gate.metric, gate.tag)
    if change.changed < MIN_CHANGED:
        return None
    forecast = Forecast(change, gate.limit.absolute(change.baseline), noise)
    return forecast if forecast.share > 1 / ONCE_IN else None


def _forecast_sentences(gate: Gate, forecast: Forecast, comparison: Comparison) -> list[str]:
    """Say how often harmless changes would fail, and what it takes that one in twenty do."""
    tagged = f" tagged {gate.tag}" if gate.tag is not None else ""
    queries = plural(comparison.change(gate.metric, gate.tag).n, "query", "queries")
    how_often = (
        f"with {queries}{tagged} {_share_text(forecast.share)} harmless changes of this size fail max_drop {gate.limit} of "
        f"{gate.metric.name}, and 1 in {ONCE_IN} fails {forecast.enough:g}."
    )
    if forecast.needed is None:
        return [how_often]
    low, high = forecast.needed
    return [how_often, f"For {gate.limit} to fail once in {ONCE_IN}, it takes {low:,} to {high:,} queries."]


def on_tolerance_before_run(golden: GoldenSet, gates: Gates, custom_metrics: CustomMetrics) -> str | None:
    """Return a note on the ``max_drop`` that allows least, if it allows less than half a query; None if none does.

    Nothing was retrieved yet, so a percentage is taken of the metric's greatest value.
    """
    unasked = evaluate_run(golden, Run({}), gates.metrics, custom_metrics=custom_metrics)
    least: tuple[float, Gate, float] | None = None
    for gate in gates.with_word("max_drop", without="significance"):
        allowed = gate.limit.absolute(gate.metric.upper)
        in_queries = allowed * len(unasked.queries(gate.metric, gate.tag))
        if 0 < in_queries < _SMALL_TOLERANCE and (least is None or in_queries < least[0] - TOLERANCE):
            least = in_queries, gate, allowed
    if least is None:
        return None
    _, gate, allowed = least
    what = f"max_drop {gate.limit}"
    return _in_queries(what, allowed, unasked, gate.metric, gate.tag, at_most=gate.limit.percent)


def _in_queries(
    what: str,
    allowed: float,
    evaluation: Evaluation,
    metric: Metric,
    tag: str | None,
    *,
    at_most: bool = False,
) -> str:
    """Say which part of one query an allowed drop of a mean is, and in how many queries one mistake exceeds it."""
    queries = evaluation.queries(metric, tag)
    tagged = f" tagged {tag}" if tag is not None else ""
    text = (
        f"{what} on {plural(len(queries), 'query', 'queries')}{tagged} is {'at most ' * at_most}"
        f"{_fraction_text(allowed * len(queries))} of one query's score"
    )
    wrong_first, lost = count_costly(evaluation.golden, queries, metric, allowed)
    for costly, what_happens in (
        (wrong_first, "one wrong document above the relevant ones"),
        (lost, "one query that loses all its relevant documents"),
    ):
        if costly:
            where = "whichever the query" if costly == len(queries) else f"in {costly:,} of the queries"
            return f"{text}: {what_happens} fails it, {where}."
    return f"{text}."


def count_costly(
    golden: GoldenSet, queries: Sequence[Query], metric: Metric, allowed: float
) -> tuple[int, int]:
    """Count the queries of which one thing alone exceeds an allowed drop of the mean, by their judgments and weights.

    First a wrong document above the perfect answer, which moves that down by a rank; then the loss of all of it. The
    perfect answer is a query's relevant documents, the best first.
    """
    if metric.kind != "ranking" or not queries:
        return 0, 0
    scorer = Scorer([metric], relevance_level=golden.relevance_level)
    total = math.fsum(query.weight for query in queries)
    wrong_first = lost = 0
    for query in queries:
        graded = [(-grade, doc_id) for doc_id, grade in query.judgments.items() if grade > 0]
        perfect = [doc_id for _, doc_id in sorted(graded)]
        wrong = next(name for name in _wrong_names() if name not in query.judgments)
        best, moved, none = (
            scorer.row(query.judgments, ranking)[0] or 0.0
            for ranking in (perfect, [wrong, *perfect], [wrong])
        )
        share = query.weight / total
        wrong_first += share * (best - moved) > allowed + TOLERANCE
        lost += share * (best - none) > allowed + TOLERANCE
    return wrong_first, lost


def _wrong_names() -> Iterator[str]:
    """Yield made-up document ids without end: a query may have judged the first ones."""
    name = "wrong"
    while True:
        yield name
        name += "-"


def _fraction_text(part: float) -> str:
    """Print a part of one, in words where they fit: ``a fifth``, ``0.37``."""
    for whole, word in _FRACTIONS.items():
        if abs(part * whole - 1) < 0.03:
            return word
    return "less than a hundredth" if part < 0.01 - TOLERANCE else score_text(part, digits=2)
