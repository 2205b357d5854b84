"""How a golden set was edited since a baseline was stored, and what that does to the means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.base.numbers import TOLERANCE, signed_text
from pytest_irmetrics.base.wording import FEW, joined, listed, plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.gates.limits import LimitsOfRun, own_gates
from pytest_irmetrics.gates.verdict import subject
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.reports.item_report import OWN_BASELINE
from pytest_irmetrics.thresholds import WORDS, Gate, Gates

_UNPAIRED = {"reworded", "added"}
"""The kinds of edits of queries that have no counterpart in the baseline."""

_EDITS = {
    "dropped": ("query dropped", "queries dropped"),
    "excluded": ("query excluded (xfail)", "queries excluded (xfail)"),
    "reworded": ("query reworded (text, params or passages)", "queries reworded (text, params or passages)"),
    "included": ("query not excluded any more", "queries not excluded any more"),
    "added": ("query added", "queries added"),
    "judgment": ("judgment changed", "judgments changed"),
    "weight": ("weight changed", "weights changed"),
    "tags": ("query with other tags", "queries with other tags"),
    "no_answer": ("query with another no_answer", "queries with another no_answer"),
    "forbidden": ("forbidden document changed", "forbidden documents changed"),
    "relevance level": ("relevance level changed",),
    "depth": ("depth changed",),
    "limit": ("limit differs", "limits differ"),
}
"""Kind of edit → what it is called, of one and of several, where there may be."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of what search is judged by."""

    kind: str
    """A key of `_EDITS`."""
    what: str
    """What was edited: a query, a query and document, a limit."""
    before: str | None = None
    """None where there was none."""
    now: str | None = None
    """None where there is none."""
    weaker: bool = False
    """Whether less is held than before: a limit that is looser or gone, a document that is forbidden no more."""

    def __str__(self) -> str:
        values = "" if self.before == self.now else f"{self.before or 'none'} → {self.now or 'none'}"
        return " ".join(filter(None, [self.what, values, "(holds less)" if self.weaker else ""]))


def edit_sentences(edits: Sequence[Edit]) -> Iterator[str]:
    """Yield a sentence on each kind of edit, those that hold less first."""
    for kind, words in _EDITS.items():
        alike = sorted((edit for edit in edits if edit.kind == kind), key=lambda edit: not edit.weaker)
        if alike:
            yield f"{plural(len(alike), *words)}: {listed(alike, FEW)}."


def edits_of(comparison: Comparison, before: GoldenSet | None = None) -> Iterator[Edit]:
    """Yield how the golden set was edited since a comparison's baseline was stored: its queries, and what judges these.

    `before` is the golden set that it was stored for; without it only what the stored run says of it is compared.
    """
    answers, today = comparison.baseline.run.answers, comparison.full.golden
    yield from (Edit("dropped", query_id) for query_id in comparison.removed)
    yield from (Edit("added", i) for i in comparison.new if today.queries[i].xfail is None)
    yield from (Edit("reworded", i) for i in (*comparison.reworded, *comparison.passages_edited))
    for query_id in comparison.paired:
        query, answer = today.queries[query_id], answers[query_id]
        was = comparison.relabelled.get(query_id, query)
        if before is not None:
            was = before.queries.get(query_id, was)
        # A run that says nothing of judgments says nothing of this.
        elif answer.judgments is not None and answer.xfail == (query.xfail is None):
            was = replace(was, xfail="" if answer.xfail else None)
        if was is not query:
            yield from _edits_of_query(was, query)
    level = comparison.stored_level if before is None else before.relevance_level
    if level != today.relevance_level:
        yield Edit("relevance level", "", f"{level:g}", f"{today.relevance_level:g}")


def _edits_of_query(before: Query, now: Query) -> Iterator[Edit]:
    """Yield the edits of a query that is asked in the same words."""
    query_id = before.id
    if (before.xfail is None) != (now.xfail is None):
        yield Edit("excluded" if before.xfail is None else "included", query_id)
    for doc_id in sorted({*before.judgments, *now.judgments}):
        grades = before.judgments.get(doc_id), now.judgments.get(doc_id)
        was, is_now = (None if grade is None else f"{grade:g}" for grade in grades)
        if was != is_now:
            yield Edit("judgment", f"{query_id}: {doc_id}", was, is_now)
    if before.weight != now.weight:
        yield Edit("weight", query_id, f"{before.weight:g}", f"{now.weight:g}")
    if {*before.tags} != {*now.tags}:
        yield Edit("tags", query_id, ", ".join(before.tags), ", ".join(now.tags))
    if before.no_answer != now.no_answer:
        yield Edit("no_answer", query_id, str(before.no_answer).lower(), str(now.no_answer).lower())
    for doc_id in sorted({*before.forbidden} ^ {*now.forbidden}):
        lifted = doc_id in before.forbidden
        was, is_now = ("forbidden", None) if lifted else (None, "forbidden")
        yield Edit("forbidden", f"{query_id}: {doc_id}", was, is_now, lifted)


def limit_edits(
    stored: LimitsOfRun, today: Gates, queries: Mapping[str, Query], means: Mapping[str, float]
) -> list[Edit]:
    """Return what differs between the limits that were stored with a run and today's; first those that hold less.

    `queries` are today's, with limits of their own; `means` are the run's, by the metric's name, which per cent are of.
    """
    whole, unreadable = stored
    before, after = (
        {
            (gate.metric, gate.tag, gate.query_id, gate.word): gate
            for gate in chain(gates, *(own_gates(gates, query) for query in queries.values()))
        }
        for gates in (whole, today)
    )
    edits = []
    for key in dict.fromkeys((*before, *after)):
        was, now = before.get(key), after.get(key)
        gate = was or after[key]
        if (was and was.limit) != (now and now.limit):
            mean = means.get(gate.metric.name) if gate.tag is gate.query_id is None else None
            limits = " → ".join("off" if one is None else str(one.limit) for one in (was, now))
            less = _holds_less(gate.word, was, now, mean)
            edits.append(Edit("limit", f"{subject(gate)} {gate.word} {limits}", weaker=less))
    edits += [Edit("limit", f"{text} → off", weaker=True) for text in unreadable]
    return sorted(edits, key=lambda edit: not edit.weaker)


def _holds_less(word: str, was: Gate | None, now: Gate | None, mean: float | None) -> bool:
    """Tell whether a limit lets pass what another did not; either may be none. `mean` is what per cent are of."""
    if was is None or now is None:
        # A significance narrows another limit, and one on no_answer takes the place of its being 1: having none fails more.
        kept = word == "significance" or "no_answer" in [one.metric.name for one in (was, now) if one]
        return (now is None) is not kept
    if mean is None and was.limit.percent != now.limit.percent:
        return False
    mean = 1.0 if mean is None else mean
    # Of `auto` there are two: a fall beyond `allowed` may fail, one beyond `exact` does whatever chance says.
    lower, higher = (was, now) if WORDS[word].looser == "higher" else (now, was)
    return lower.exact(mean) <= higher.allowed(mean)


def edit_text(result: ItemResult, comparison: Comparison, edits: Sequence[Edit]) -> str:
    """Say how the golden set was edited since the run that a result is compared with was stored, and what follows."""
    name = result.against.name
    if comparison.baseline.run.header.golden_set is None and {edit.kind for edit in edits} == {"added"}:
        # A TREC run has no line of a query that found nothing, too.
        lacks = plural(len(edits), "query")
        sentences = [f"{name} has no answer to {lacks}: {listed(edits, FEW)}."]
    else:
        edited = "was edited since the baseline was stored"
        lead = edited if name == OWN_BASELINE else f"is not that of {name}"
        sentences = [f"The golden set {lead}.", *edit_sentences(edits)]
    if not _UNPAIRED.isdisjoint(edit.kind for edit in edits):
        sentences.append("`max_drop` leaves out what is added or reworded; `min` counts it.")
    return " ".join([*sentences, *_effect(result, comparison)])


def _effect(result: ItemResult, comparison: Comparison) -> Iterator[str]:
    """Say how far labels and search moved the gated means (all, if none is)."""
    stored, labels = comparison.under_stored_labels, joined(comparison.changed_labels())
    if stored is None or not labels:
        return
    held = {gate.metric for gate in result.gates if gate.tag is None and gate.compares}
    moved = []
    for metric in comparison.now.metrics:
        if metric.kind == "ranking" and (not held or metric in held):
            was, is_now = stored.change(metric), comparison.change(metric)
            by_labels = (is_now.baseline or 0.0) - (was.baseline or 0.0)
            if max(abs(by_labels), abs(is_now.delta - was.delta)) > TOLERANCE:
                by_search = f"{signed_text(is_now.delta)} by the search"
                moved.append(f"{metric.name} {signed_text(by_labels)} by the {labels} alone, {by_search}")
    if moved:
        yield f"Moved: {'; '.join(moved)}."
