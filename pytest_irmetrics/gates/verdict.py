"""Verdict: what one gate came to, and which queries explain it; Case: what gates are judged by; the default gate, and limits on each tag."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.comparison.stored_runs import golden_set_as_stored
from pytest_irmetrics.evaluation import Evaluation, NoQueryError
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.thresholds import (
    BASELINE_WORDS,
    EACH_TAG,
    MIN_TAGGED,
    WORDS,
    Gate,
    Gates,
    Limit,
    State,
    Threshold,
    resolve,
)

USUAL = "ndcg@10"
"""The metric that leads, and is gated by default, where nothing says otherwise; `GatedItem.metrics` has another where fewer results are asked for. docs/thresholds.md and docs/reference/options.md name it, with the rule of `resolve_with_default`."""


ON_ALL_ANSWERS = ("ids", "empty")
"""The words of the checks that fail by all that came back: ids of another kind, or nothing."""


class Against(NamedTuple):
    """The run that a test is compared with."""

    name: str = ""
    """What messages call it."""
    file: str = ""
    """The path that it was read from, as messages show it; empty where it was read from none."""
    update_command: str = ""
    """The command that accepts today's run as the new baseline; empty where another run stands in for a baseline."""
    given: bool = False
    """Whether the test gave it as `against`, in place of its own baseline: `check_pairing` then holds it to today's queries, too."""
    gone_tags: frozenset[str] = frozenset()
    """Of a stored baseline that is gated on: the tags in it that no query has any more."""
    to_compare: str = ""
    """What messages say to add for a comparison: a command's option, ``--against``; empty of a test, where it is ``--ir-baseline``."""


class Verdict(NamedTuple):
    """What one gate came to, with the sentences that say why and the queries that explain it."""

    state: State
    text: str
    """One line: the metric, its value, its limit, and the difference between the two."""
    word: str
    """A threshold's word (``min``, ``max_drop``, …), or a check that needs no threshold, of those that `VerdictReport.word` lists."""
    metric: Metric | None = None
    tag: str | None = None
    queries: tuple[str, ...] = ()
    """Ids of the queries that explain it, those with the largest part in it first."""
    details: tuple[str, ...] = ()
    """Sentences that say more: how many queries moved, and what that shows."""
    origin: str = ""
    """Where the limit is set: a place in a file, a mark or a setting."""
    sign: str = ""
    """The limit as tables show it: `≥0.8`, `drop≤5%`."""
    limit: float | None = None
    """The limit as a number on the metric's own scale."""
    value: float | None = None
    """The number that was held against `limit`; None for a ``min``, ``max`` or ``min_each`` that passed."""
    single: bool = False
    """Whether the gate is on one query, by a threshold of its own."""
    as_stored: bool = False
    """Whether the drop shows only under the labels stored with the baseline, as the golden set was edited since, or is the stored baseline's alone (`--ir-since`)."""
    on_fall: bool = False
    """Whether it failed because a mean fell, and its queries are those that are worse."""
    over_no_query: bool = False
    """Whether it failed because it has no query to average over, which storing a new baseline does not change."""
    broken_by: float | None = None
    """Of a failed gate: how far beyond its limit the value is, in limits; None where no value was held against a limit.

    2 for a fall of 0.03 where 0.01 is allowed, 0.05 for a mean of 0.76 where 0.80 is required. A limit below 0.01,
    or one query, counts as that.
    """

    @classmethod
    def of(cls, gate: Gate, state: State, text: str, **more: Any) -> Verdict:
        """Return the verdict on a gate; ``more`` are further fields."""
        if state == "failed" and "value" in more:
            least = 1.0 if WORDS[gate.word].range == "count" else 0.01
            more["broken_by"] = abs(more["value"] - more["limit"]) / max(abs(more["limit"]), least)
        if gate.query_id is not None:
            more |= {"queries": (gate.query_id,), "single": True}
        return cls(state, text, gate.word, gate.metric, gate.tag, origin=gate.origin, sign=gate.sign, **more)

    @property
    def failed(self) -> bool:
        """Whether this gate fails its test."""
        return self.state == "failed"

    @property
    def holds_to_baseline(self) -> bool:
        """Whether it is on what became worse than the baseline, which a new baseline would accept; not on a gain, unlike `Gate.compares`."""
        return self.word in BASELINE_WORDS or (self.metric is not None and self.metric.kind == "overlap")

    @property
    def key(self) -> tuple[object, ...]:
        """What tells its gate from the others of one test, and from those of another run by the same limits."""
        return self.metric, self.tag, self.word, self.queries if self.single else ()


class Case(NamedTuple):
    """What the gates of one test are judged by: its run, and how that compares with another, where there is one."""

    evaluation: Evaluation
    gates: Gates
    comparison: Comparison | None = None
    against: Against = Against()
    """The baseline, or what stands in for it."""
    storing: bool = False
    """Whether a new baseline is being stored: what would fail against the one before is then not checked."""
    single_queries_only: bool = False
    """Whether the gates on means of a set or slice are left out."""
    in_index: Container[str] = ()
    """The documents of the index, where the fixture `ir_corpus` gives them."""

    def measured(self, metric: Metric) -> Evaluation:
        """Return today's evaluation by which a metric is measured: of `overlap` that of the queries that are compared."""
        if metric.kind == "overlap" and self.comparison is not None:
            return self.comparison.for_overlap[0]
        return self.evaluation

    def score(self, gate: Gate) -> float:
        """Return the mean, or the score of a query, that a gate is on. Raises NoQueryError where there is none."""
        evaluation = self.measured(gate.metric)
        if gate.query_id is None:
            return evaluation.mean(gate.metric, gate.tag)
        score = evaluation.score(gate.metric, gate.query_id)
        if score is None:
            raise NoQueryError(f"{subject(gate)} is not defined.")
        return score


def subject(gate: Gate) -> str:
    """Name what a gate is on: a metric, one of the queries with a tag, or one of a single query."""
    if gate.query_id is not None:
        return f"{gate.metric.name} of the query {gate.query_id}"
    return gate.metric.name if gate.tag is None else f"{gate.metric.name} of the queries tagged {gate.tag}"


def keeps(gate: Gate, value: float, limit: float) -> bool:
    """Tell whether a value is on the side of its limit that passes, within 1e-9 for floating point."""
    return at_least(limit, value) if WORDS[gate.word].looser == "higher" else at_least(value, limit)


def at_least(value: float, limit: float) -> bool:
    """Tell whether a value reaches a limit, within 1e-9 for floating point."""
    return value >= limit - TOLERANCE


def usual_metric(metrics: Iterable[Metric]) -> Metric | None:
    """Return `USUAL` where it is among the metrics, else the first that rates rankings; None where none does."""
    rating = [metric for metric in metrics if metric.rates_rankings]
    return next((metric for metric in rating if metric.name == USUAL), rating[0] if rating else None)


def resolve_with_default(
    places: Iterable[Iterable[Threshold]], metrics: Iterable[Metric], max_drop: Limit | None, origin: str
) -> Gates:
    """Merge thresholds as `resolve` does, with a default `max_drop` on each metric of rankings that has a threshold over the whole set.

    A threshold on a slice does not count. Where there is none, the usual one of `metrics` is gated. None is `off`.
    `origin` is where the default was set, for messages. Raises ThresholdError.
    """
    places = [list(place) for place in places]
    gated = [metric for metric, tag in resolve(places).slices if tag is None and metric.rates_rankings]
    if not gated and (usual := usual_metric(metrics)) is not None:
        gated.append(usual)
    words = {"max_drop": max_drop}
    return resolve([*places, [Threshold(metric, words, None, origin, by_default=True) for metric in gated]])


def with_each_tag(gates: Gates, evaluation: Evaluation, comparison: Comparison | None) -> Gates:
    """Return gates in which a limit on `*` is a limit on every tag that `MIN_TAGGED` queries of its metric carry.

    They carry it today, or in the run that is compared with: else an edit of tags would take a gate away. Where a tag has the
    same word of its own, or `off`, that one counts.
    """
    each, sides = [gate for gate in gates if gate.tag == EACH_TAG], [evaluation]
    if each and comparison is not None:
        sides.append(replace(evaluation, golden=golden_set_as_stored(comparison.baseline.run)))
    tags = sorted({tag for side in sides for tag in side.tags})
    own = {*gates.off, *((one.metric, one.tag, one.word) for one in gates)}
    wanted = [one._replace(tag=tag) for one in each for tag in tags if (one.metric, tag, one.word) not in own]
    held = [one for one in wanted if max(len(it.queries(one.metric, one.tag)) for it in sides) >= MIN_TAGGED]
    left_out = {one.tag for one in wanted if one not in held}
    # With `--ir-query` too few queries carry any tag: none is named.
    too_small = [tag for tag in evaluation.tags if tag in left_out and evaluation.only is None]
    return Gates([*gates.where(lambda gate: gate.tag != EACH_TAG), *held], own=gates.own, too_small=too_small)
