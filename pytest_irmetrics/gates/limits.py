"""The limits that judged a stored run: write them, read them back; and a query's own limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.golden import Query
from pytest_irmetrics.metrics import Metric, parse_metric
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.answer import StoredLimits
from pytest_irmetrics.thresholds import WORDS, Gate, Gates, Limit, Threshold, in_file, read_limit, resolve


class LimitsOfRun(NamedTuple):
    """The limits that were stored with a run."""

    gates: Gates
    unreadable: tuple[str, ...]
    """``mine max_drop 0.5``: those on metrics that are none today."""


def own_thresholds(gates: Gates, query: Query) -> Sequence[Threshold]:
    """Return the thresholds of a single query's own: those that were stored with `gates`, else the golden set's."""
    return query.thresholds if gates.own is None else gates.own.get(query.id, ())


def own_gates(gates: Gates, query: Query) -> list[Gate]:
    """Return the gates on a single query, by thresholds of its own."""
    return [
        Gate(threshold.metric, None, word, limit, threshold.origin, query_id=query.id)
        for threshold in own_thresholds(gates, query)
        for word, limit in threshold.limits.items()
        if limit is not None
    ]


def stored_form(limits: Iterable[tuple[Metric, str | None, str, Limit | None]]) -> StoredLimits:
    """Return limits, each with its metric, tag and word, as a run stores them: sorted, so that a diff is small."""
    found: dict[tuple[str, str], dict[str, str | float]] = {}
    for metric, tag, word, limit in sorted(limits, key=lambda one: (one[0].name, one[1] or "")):
        tagged = {} if tag is None else {"tag": tag}
        entry = found.setdefault((metric.name, tag or ""), {"metric": metric.name, **tagged})
        entry[word] = in_file(limit)
    return tuple(found.values())


def read_limits(run: Run, custom: Collection[str], origin: str = "") -> LimitsOfRun | None:
    """Return the limits that were stored with a run; None where it says nothing of them.

    `custom` holds the names of metrics of one's own, `origin` is where messages say that the limits were set.
    """
    if run.header.limits is None:
        return None
    unreadable: dict[str, None] = {}

    def read(limits: StoredLimits, *, for_query: bool) -> Iterator[Threshold]:
        for entry in limits:
            tag = str(entry["tag"]) if "tag" in entry else None
            words = (*filter(entry.__contains__, WORDS), *sorted(entry.keys() - {*WORDS, "metric", "tag"}))
            for word in words:
                try:
                    metric = parse_metric(str(entry["metric"]), custom=custom)
                    limit = read_limit(metric, word, entry[word], for_query=for_query)
                except IRMetricsError:
                    unreadable[f"{entry['metric']}{f' [{tag}]' if tag else ''} {word} {entry[word]}"] = None
                    continue
                yield Threshold(metric, {word: limit}, tag, origin)

    # Each as if in a place of its own: that one is there twice, only an edit can have done.
    gates = resolve([threshold] for threshold in read(run.header.limits, for_query=False))
    gates.own = {i: [*read(one.limits, for_query=True)] for i, one in run.answers.items() if one.limits}
    return LimitsOfRun(gates, tuple(unreadable))
