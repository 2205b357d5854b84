"""The limits that judged a stored run: write them, read them back, say where today's differ; and a query's own limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from pytest_irmetrics.gates.verdict import subject
from pytest_irmetrics.golden import Query
from pytest_irmetrics.metrics import Metric, MetricError, parse_metric
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.answer import StoredLimits
from pytest_irmetrics.thresholds import WORDS, Gate, Gates, ThresholdError, read_limit


class LimitEdit(NamedTuple):
    """A limit of today that is not the one stored with a run."""

    text: str
    """``mrr max_drop 0.01 → 0.05``; a limit that is not there is ``off``."""
    holds_less: bool
    """Whether today's limit lets pass what the stored one did not."""


class LimitsOfRun(NamedTuple):
    """The limits that were stored with a run."""

    gates: Gates
    unreadable: tuple[str, ...]
    """``mine max_drop 0.5``: those on metrics that are none today."""


def own_gates(query: Query) -> list[Gate]:
    """Return the gates on a single query, by thresholds of its own."""
    return [
        Gate(threshold.metric, None, word, limit, threshold.origin, query_id=query.id)
        for threshold in query.thresholds
        for word, limit in threshold.limits.items()
        if limit is not None
    ]


def has_own_min(gates: Gates, query: Query, metric: Metric) -> bool:
    """Tell whether a query has a ``min`` of its own on a metric, or one that is `off`: it takes the place of ``min_each``."""
    if gates.own is not None:
        return any(gate.metric == metric and gate.word == "min" for gate in gates.own.get(query.id, ()))
    return any(own.metric == metric and "min" in own.limits for own in query.thresholds)


def stored_form(gates: Iterable[Gate]) -> StoredLimits:
    """Return limits as a run stores them: a mapping for each metric and tag, in their order."""
    found: dict[tuple[str, str], dict[str, str | float]] = {}
    for gate in sorted(gates, key=lambda gate: (gate.metric.name, gate.tag or "")):
        tagged = {} if gate.tag is None else {"tag": gate.tag}
        entry = found.setdefault((gate.metric.name, gate.tag or ""), {"metric": gate.metric.name, **tagged})
        entry[gate.word] = gate.limit.in_file
    return tuple(found.values())


def read_limits(run: Run, custom: Collection[str], origin: str = "") -> LimitsOfRun | None:
    """Return the limits that were stored with a run; None where it says nothing of them.

    `custom` holds the names of metrics of one's own, `origin` is where messages say that the limits were set.
    """
    if run.limits is None:
        return None
    unreadable: dict[str, None] = {}

    def read(limits: StoredLimits, query_id: str | None = None) -> Iterator[Gate]:
        for entry in limits:
            tag = str(entry["tag"]) if "tag" in entry else None
            words = (*filter(entry.__contains__, WORDS), *(entry.keys() - {*WORDS, "metric", "tag"}))
            for word in words:
                try:
                    metric = parse_metric(str(entry["metric"]), custom=custom)
                    limit = read_limit(metric, word, entry[word], for_query=query_id is not None)
                except (MetricError, ThresholdError):
                    unreadable[f"{entry['metric']}{f' [{tag}]' if tag else ''} {word} {entry[word]}"] = None
                    continue
                if limit is not None:
                    yield Gate(metric, tag, word, limit, origin, query_id=query_id)

    whole = [*read(run.limits)]
    own = {i: [*read(answer.limits, i)] for i, answer in run.answers.items() if answer.limits}
    return LimitsOfRun(Gates(whole, own=own), tuple(unreadable))


def limit_edits(
    stored: LimitsOfRun, today: Gates, queries: Mapping[str, Query], means: Mapping[str, float]
) -> list[LimitEdit]:
    """Return what differs between the limits that were stored with a run and today's; first those that hold less.

    `queries` are today's, with limits of their own; `means` are the run's, by the metric's name, which per cent are of.
    """
    whole, unreadable = stored
    of_queries = [gates for query_id, gates in (whole.own or {}).items() if query_id in queries]
    before, after = (
        {
            (gate.metric, gate.tag, gate.query_id, gate.word): gate
            for gate in (*gates, *chain.from_iterable(own))
        }
        for gates, own in ((whole, of_queries), (today, map(own_gates, queries.values())))
    )
    edits = []
    for key in dict.fromkeys((*before, *after)):
        was, now = before.get(key), after.get(key)
        gate = was or after[key]
        if (was and was.limit) != (now and now.limit):
            mean = means.get(gate.metric.name) if gate.tag is gate.query_id is None else None
            limits = " → ".join("off" if one is None else str(one.limit) for one in (was, now))
            less = _holds_less(gate.word, was, now, mean)
            edits.append(LimitEdit(f"{subject(gate)} {gate.word} {limits}", less))
    edits += [LimitEdit(f"{text} → off", holds_less=True) for text in unreadable]
    return sorted(edits, key=lambda edit: not edit.holds_less)


def _holds_less(word: str, was: Gate | None, now: Gate | None, mean: float | None) -> bool:
    """Tell whether a limit lets pass what another did not; either may be none. `mean` is what per cent are of."""
    if was is None or now is None:
        # A significance narrows another limit, so that having none fails more.
        return (now is None) is not (word == "significance")
    if mean is None and was.limit.percent != now.limit.percent:
        return False
    mean = 1.0 if mean is None else mean
    # Of `auto` there are two: a fall beyond `exact` may fail, one beyond `allowed` does whatever chance says.
    lower, higher = (was, now) if WORDS[word].looser == "higher" else (now, was)
    return lower.exact(mean) <= higher.allowed(mean)
