"""The limits that judged a run, kept in it: write them as data, read them back as gates, return today's differences as edits.

So a limit that was loosened since is seen wherever it was written. `analysis.edits` lists the other edits, and makes sentences of all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from itertools import chain
from typing import NamedTuple

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.gates.verdict import subject
from pytest_irmetrics.golden import Query
from pytest_irmetrics.metrics import Metric, parse_metric
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.answer import StoredLimits
from pytest_irmetrics.thresholds import WORDS, Gate, Gates, Limit, Threshold, as_written, read_limit, resolve


class EditKind(Enum):
    """A kind of edit, in the order of the sentences; its value is what one edit is called and, where there may be, several.

    `edits_of` (analysis/edits.py) finds those of queries and judgments. A test refuses one that no scenario shows.
    """

    DROPPED = "query dropped", "queries dropped"
    EXCLUDED = "query excluded (xfail)", "queries excluded (xfail)"
    REWORDED = "query reworded (text or params)", "queries reworded (text or params)"
    RESPELT = "query in other letters (case, white space)", "queries in other letters (case, white space)"
    PASSAGES = "query with other passages", "queries with other passages"
    INCLUDED = "query not excluded any more", "queries not excluded any more"
    ADDED = "query added", "queries added"
    JUDGMENT = "judgment changed", "judgments changed"
    WEIGHT = "weight changed", "weights changed"
    TAGS = "query with other tags", "queries with other tags"
    NO_ANSWER = "query with another no_answer", "queries with another no_answer"
    FORBIDDEN = "forbidden document changed", "forbidden documents changed"
    RELEVANCE_LEVEL = ("relevance level changed",)
    DEPTH = ("depth changed",)
    LIMIT = "limit differs", "limits differ"


class Edit(NamedTuple):
    """An edit of what search is judged by."""

    kind: EditKind
    what: str
    """Which of that kind: a query, a query and document, a limit."""
    before: str | None = None
    """None where there was none."""
    now: str | None = None
    """None where there is none."""
    holds_less: bool = False
    """Whether less is held than before: a limit that is looser or gone, a document that is forbidden no more."""

    def __str__(self) -> str:
        values = "" if self.before == self.now else f"{self.before or 'none'} → {self.now or 'none'}"
        return " ".join(filter(None, [self.what, values, "(holds less)" if self.holds_less else ""]))


def stored_form(limits: Iterable[tuple[Metric, str | None, str, Limit | None]]) -> StoredLimits:
    """Return limits, each with its metric, tag and word, as a run stores them: sorted, so that a diff is small."""
    found: dict[tuple[str, str], dict[str, str | float]] = {}
    for metric, tag, word, limit in sorted(limits, key=lambda one: (one[0].name, one[1] or "")):
        tagged = {} if tag is None else {"tag": tag}
        entry = found.setdefault((metric.name, tag or ""), {"metric": metric.name, **tagged})
        entry[word] = as_written(limit)
    return tuple(found.values())


def read_limits(run: Run, custom: Collection[str], origin: str = "") -> Gates | None:
    """Return the limits that were stored with a run; None where it says nothing of them.

    `custom` holds the names of metrics of one's own, `origin` is where messages say that the limits were set.
    """
    if run.limits is None:
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

    # Each in a place of its own: `resolve` refuses what one place says twice, which a file that was edited may do.
    gates = resolve([threshold] for threshold in read(run.limits, for_query=False))
    gates.own = {i: [*read(one.limits, for_query=True)] for i, one in run.answers.items() if one.limits}
    gates.unreadable = tuple(unreadable)
    return gates


def limit_edits(
    stored: Gates, today: Gates, queries: Mapping[str, Query], means: Mapping[str, float]
) -> list[Edit]:
    """Return what differs between the limits that were stored with a run and today's; first those that hold less.

    `queries` are today's, with limits of their own; `means` are the run's, by the metric's name, which per cent are of.
    """
    before, after = _by_subject(stored, queries), _by_subject(today, queries)
    edits = []
    for key in dict.fromkeys((*before, *after)):
        was, now = before.get(key), after.get(key)
        gate = was or after[key]
        if (was and was.limit) != (now and now.limit):
            mean = means.get(gate.metric.name) if gate.tag is gate.query_id is None else None
            old, new = ("off" if one is None else str(one.limit) for one in (was, now))
            less = _holds_less(gate, was, now, mean)
            edits.append(Edit(EditKind.LIMIT, f"{subject(gate)} {gate.word}", old, new, holds_less=less))
    edits += [Edit(EditKind.LIMIT, f"{text} → off", holds_less=True) for text in stored.unreadable]
    return sorted(edits, key=lambda edit: not edit.holds_less)


def _by_subject(gates: Gates, queries: Mapping[str, Query]) -> dict[tuple[object, ...], Gate]:
    """Return gates, those of single queries too, by what they limit: a metric, over a tag or a query, by a word."""
    own = gates.own_gates((query_id, query.thresholds) for query_id, query in queries.items())
    return {(gate.metric, gate.tag, gate.query_id, gate.word): gate for gate in chain(gates, own)}


def _holds_less(gate: Gate, was: Gate | None, now: Gate | None, mean: float | None) -> bool:
    """Tell whether a limit lets pass what another did not; either may be none, and `gate` is one of them. Per cent are of `mean`."""
    if was is None or now is None:
        # A significance narrows another limit, and one on no_answer takes the place of its being 1: having none fails more.
        fails_less = gate.word == "significance" or gate.metric.kind == "no_answer"
        return now is not None if fails_less else now is None
    if mean is None and was.limit.percent != now.limit.percent:
        return False
    mean = 1.0 if mean is None else mean
    # Of `auto` there are two: a fall beyond `allowed` may fail, one beyond `fails_beyond` does whatever chance says.
    lower, higher = (was, now) if WORDS[gate.word].looser == "higher" else (now, was)
    return (
        lower.fails_beyond(mean) <= higher.allowed(mean)
        and lower.allowed(mean) < higher.fails_beyond(mean) - TOLERANCE
    )
