"""How a golden set was edited since a baseline was stored, and what that does to the means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.base.numbers import TOLERANCE, signed_text
from pytest_irmetrics.base.wording import FEW, joined, listed, plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.comparison.stored_runs import is_excluded_otherwise
from pytest_irmetrics.gates.stored_limits import Edit, EditKind
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.reports.item_report import OWN_BASELINE

_UNPAIRED = {EditKind.REWORDED, EditKind.PASSAGES, EditKind.ADDED}
"""The kinds of edits of queries that have no counterpart in the baseline."""


def edit_sentences(edits: Sequence[Edit]) -> Iterator[str]:
    """Yield a sentence on each kind of edit, those that hold less first."""
    ordered = sorted(edits, key=lambda edit: ([*EditKind].index(edit.kind), not edit.holds_less))
    for kind, group in groupby(ordered, lambda edit: edit.kind):
        alike = [*group]
        yield f"{plural(len(alike), *kind.value)}: {listed(alike, FEW)}."


def edits_of(comparison: Comparison, before: GoldenSet | None = None) -> Iterator[Edit]:
    """Yield how the golden set was edited since a comparison's baseline was stored: its queries, and what judges these.

    `before` is the golden set that it was stored for; without it only what the stored run says of it is compared.
    """
    answers, today = comparison.baseline.run.answers, comparison.now_in_full.golden
    yield from (Edit(EditKind.DROPPED, query_id) for query_id in comparison.removed)
    yield from (Edit(EditKind.ADDED, i) for i in comparison.new if today.queries[i].xfail is None)
    yield from (Edit(EditKind.REWORDED, query_id) for query_id in comparison.reworded)
    yield from (Edit(EditKind.RESPELT, query_id) for query_id in comparison.respelt)
    yield from (Edit(EditKind.PASSAGES, query_id) for query_id in comparison.passages_edited)
    for query_id in comparison.paired:
        query, answer = today.queries[query_id], answers[query_id]
        was = comparison.relabelled.get(query_id, query)  # by the labels that are stored with its answer
        if before is not None:
            was = before.queries.get(query_id, was)
        elif is_excluded_otherwise(query, answer):
            was = replace(was, xfail="" if answer.xfail else None)
        if was is not query:
            yield from _edits_of_query(was, query)
    level = comparison.stored_level if before is None else before.relevance_level
    if level != today.relevance_level:
        yield Edit(EditKind.RELEVANCE_LEVEL, "", f"{level:.15g}", f"{today.relevance_level:.15g}")


def _edits_of_query(before: Query, now: Query) -> Iterator[Edit]:
    """Yield the edits of a query that is asked in the same words."""
    query_id = before.id
    if (before.xfail is None) != (now.xfail is None):
        yield Edit(EditKind.EXCLUDED if before.xfail is None else EditKind.INCLUDED, query_id)
    for doc_id in sorted({*before.judgments, *now.judgments}):
        grades = before.judgments.get(doc_id), now.judgments.get(doc_id)
        was, is_now = (None if grade is None else f"{grade:.15g}" for grade in grades)
        if was != is_now:
            yield Edit(EditKind.JUDGMENT, f"{query_id}: {doc_id}", was, is_now)
    if before.weight != now.weight:
        yield Edit(EditKind.WEIGHT, query_id, f"{before.weight:.15g}", f"{now.weight:.15g}")
    if {*before.tags} != {*now.tags}:
        yield Edit(EditKind.TAGS, query_id, " + ".join(before.tags), " + ".join(now.tags))
    if before.no_answer != now.no_answer:
        yield Edit(EditKind.NO_ANSWER, query_id, str(before.no_answer).lower(), str(now.no_answer).lower())
    for doc_id in sorted({*before.forbidden} ^ {*now.forbidden}):
        lifted = doc_id in before.forbidden
        was, is_now = ("forbidden", None) if lifted else (None, "forbidden")
        yield Edit(EditKind.FORBIDDEN, f"{query_id}: {doc_id}", was, is_now, holds_less=lifted)


def edit_text(result: ItemResult, comparison: Comparison, edits: Sequence[Edit]) -> str:
    """Say how the golden set was edited since the run that a result is compared with was stored, and what follows."""
    name = result.against.name
    if comparison.baseline.run.golden_set is None and {edit.kind for edit in edits} == {EditKind.ADDED}:
        # A TREC run has no line of a query that found nothing, too.
        lacks = plural(len(edits), "query")
        sentences = [f"{name} has no answer to {lacks}: {listed(edits, FEW)}."]
    else:
        edited = "was edited since the baseline was stored"
        lead = edited if name == OWN_BASELINE else f"is not that of {name}"
        sentences = [f"The golden set {lead}.", *edit_sentences(edits)]
    if not _UNPAIRED.isdisjoint(edit.kind for edit in edits):
        sentences.append(
            "Comparisons leave out all added, reworded or of other passages; other limits count them."
        )
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
                if was.delta < min(is_now.delta, 0.0) - TOLERANCE:
                    by_search += f" (by the stored {labels} {signed_text(was.delta)})"
                moved.append(f"{metric.name} {signed_text(by_labels)} by the {labels} alone, {by_search}")
    if moved:
        yield f"Moved: {'; '.join(moved)}."
