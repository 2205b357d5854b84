"""Notes on edits of the golden set since the baseline was stored, and on what they do to the gates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text, signed_text
from pytest_irmetrics.base.wording import joined, listed, plural
from pytest_irmetrics.comparison.stored_runs import golden_set_as_stored, stored_query
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.gates.wording import one_sided
from pytest_irmetrics.metrics import mean
from pytest_irmetrics.reports.item_report import OWN_BASELINE
from pytest_irmetrics.thresholds import COMPARING_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.analysis.item_result import ItemResult
    from pytest_irmetrics.comparison import Comparison, LabelPart
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.reports.since import EditSince

    Scored = Sequence[tuple[Query, float]]

_MOVED = 0.01
"""How far queries have to move a mean for that to be said."""


def on_additions(result: ItemResult) -> Iterator[str]:
    """Name queries that are new, and a baseline that is less deep than today's rankings."""
    comparison = result.comparison
    if comparison is not None:
        renamed = _renamed(comparison)
        yield from _on_uncompared(result, [i for i in comparison.new if i not in renamed], "new")
        if not _is_less_deep(comparison):
            yield from _on_depths(result, comparison)


def on_edits(result: ItemResult) -> Iterator[str]:
    """Say which edits of the golden set, or of the depth, took something out of the gates or changed their ground."""
    comparison = result.comparison
    if comparison is None:
        return
    yield from _on_uncompared(result, comparison.reworded, "reworded (text or params)")
    yield from _on_uncompared(result, comparison.passages_edited, "with other passages")
    yield from _on_gone(result, comparison)
    yield from _on_labels(result, comparison)
    yield from _on_left_out(result, comparison)
    if _is_less_deep(comparison):
        yield from _on_depths(result, comparison)


def _is_less_deep(comparison: Comparison) -> bool:
    """Whether today's run is less deep than the baseline, so that what is lost further down goes unseen."""
    now, before = comparison.full.depth, comparison.baseline.run.depth
    return now is not None and before is not None and now < before


def _on_depths(result: ItemResult, comparison: Comparison) -> Iterator[str]:
    now, before = comparison.full.depth, comparison.baseline.run.depth
    if now is not None and before is not None and now != before:
        yield f"The depths differ, {now} today and {before} in {result.against}; both are cut at {comparison.depth}."


def _on_uncompared(result: ItemResult, ids: Sequence[str], what: str) -> Iterator[str]:
    """Name queries that the baseline does not have in these words."""
    if ids:
        yield (
            f"{plural(len(ids), 'query', 'queries')} {what} since {result.against}: {listed(ids)}. "
            f"With nothing to compare, no `max_drop` sees {'it' if len(ids) == 1 else 'them'}; a `min` does."
        )


def _on_gone(result: ItemResult, comparison: Comparison) -> Iterator[str]:
    """Name the queries that are removed, with the scores that they had, or renamed, and so are not compared."""
    renamed, metric = _renamed(comparison), _shown_metric(result)
    removed = [i for i in comparison.removed if i not in renamed.values()]
    if removed:
        scored = [] if metric is None else _scores_when_stored(comparison, removed, metric)
        known = {query.id: f"{query.id} ({metric} {score_text(score)})" for query, score in scored}
        any_more = " any more" if result.against == OWN_BASELINE else ""
        had = "the score that it had" if len(scored) == 1 else "the scores that they had"
        yield (
            f"{plural(len(removed), 'query', 'queries')} of {result.against} not in the golden set{any_more}: "
            f"{listed(removed, word=lambda i: known.get(i, i))}.{_mean_with(comparison, scored, metric, had)}"
        )
    if renamed:
        named = listed([f"{old} → {new}" for new, old in renamed.items()])
        yield (
            f"{plural(len(renamed), 'query has', 'queries have')} the words of {result.against} and another id: {named}. Queries "
            f"pair by id, so nothing compares {'it' if len(renamed) == 1 else 'them'}: give the old id back, or store a new baseline."
        )


def _shown_metric(result: ItemResult) -> Metric | None:
    """Return the metric by which queries that left are shown; None where another run than the test's own says nothing of edits."""
    return result.leading_metric if result.against == OWN_BASELINE else None


def _renamed(comparison: Comparison) -> dict[str, str]:
    """Map new query ids to removed ones with the same params and the same text, which no other removed query has."""
    answers, queries = comparison.baseline.run.answers, comparison.now.golden.queries
    before: dict[str | None, list[str]] = {}
    for query_id in comparison.removed if comparison.new else ():
        before.setdefault(answers[query_id].text, []).append(query_id)
    found = {}
    for query_id in comparison.new if before else ():
        query = queries[query_id]
        old = before.get(query.text, []) if query.text is not None else []
        if len(old) == 1 and dict(answers[old[0]].params) == dict(query.params):
            found[query_id] = old.pop()
    return found


def _scores_when_stored(comparison: Comparison, ids: Sequence[str], metric: Metric) -> Scored:
    """Return queries of the stored run with the scores that they had, by the judgments that it was stored with."""
    run, now = comparison.baseline.run, comparison.full
    golden = golden_set_as_stored(run, now.golden.name, ids)
    retrieved = replace(now.retrieved, run=run, errors={}, latencies={}, stopped="")
    return Evaluation(golden, retrieved, (metric,), run.depth or now.depth, now.custom).scored(metric)


def _mean_with(comparison: Comparison, left: Scored, metric: Metric | None, scores: str) -> str:
    """Say what a mean would be with queries that left it; empty where it would be nearly the same."""
    staying = [] if metric is None else comparison.full.scored(metric)
    if not left or not staying or metric is None:
        return ""
    with_them, now = (
        mean([score for _, score in some], [query.weight for query, _ in some])
        for some in ([*staying, *left], staying)
    )
    if abs(with_them - now) < _MOVED - TOLERANCE:
        return ""
    them = "it" if len(left) == 1 else "them"
    return f" With {them}, at {scores}, {metric.name} would be {score_text(with_them, now)}, not {score_text(now, with_them)}."


def _on_labels(result: ItemResult, comparison: Comparison) -> Iterator[str]:
    """Say which labels were edited, how far that alone moved each gated mean, and what is in no mean any more."""
    run, golden = comparison.baseline.run, comparison.now.golden
    found: list[EditSince] = []
    for query_id in comparison.paired:
        answer, query = run.answers[query_id], golden.queries[query_id]
        stored = answer.judgments, answer.weight, answer.tags, answer.xfail
        # A run that says nothing of judgments says nothing of the others.
        if answer.judgments is not None and stored != (
            query.judgments,
            query.weight,
            query.tags,
            query.xfail is not None,
        ):
            found += edits_of(stored_query(query_id, answer), query, whole=False)
    if not found and comparison.stored_level == golden.relevance_level:
        return
    from pytest_irmetrics.reports.since import EditSince, edit_sentences  # noqa: PLC0415 - only after an edit

    if comparison.stored_level != golden.relevance_level:
        found.append(
            EditSince("relevance level", "", f"{comparison.stored_level:g}", f"{golden.relevance_level:g}")
        )
    labels, metric = comparison.changed_labels(), _shown_metric(result)
    excluded = [edit.what for edit in found if edit.kind == "excluded"]
    scores = (
        [] if metric is None else [(golden.queries[i], comparison.full.score(metric, i)) for i in excluded]
    )
    scored = [(query, score) for query, score in scores if score is not None]
    has = "today's score" if len(scored) == 1 else "today's scores"
    yield (
        f"The golden set was edited since {result.against} was stored. {' '.join(edit_sentences(found))}"
        f"{_effect(result, comparison, labels) if labels else ''}{_mean_with(comparison, scored, metric, has)}"
    )


def edits_of(before: Query, now: Query, *, whole: bool) -> Iterator[EditSince]:
    """Yield the edits of a query that is asked in the same words; ``whole``: `before` is no query of a stored run."""
    from pytest_irmetrics.reports.since import EditSince  # noqa: PLC0415 - only after an edit, or with --ir-since

    query_id = before.id
    if (before.xfail is None) != (now.xfail is None):
        yield EditSince("excluded" if before.xfail is None else "included", query_id)
    for doc_id in sorted({*before.judgments, *now.judgments}):
        grades = before.judgments.get(doc_id), now.judgments.get(doc_id)
        was, is_now = (None if grade is None else f"{grade:g}" for grade in grades)
        if was != is_now:
            yield EditSince("judgment", f"{query_id}: {doc_id}", was, is_now)
    if before.weight != now.weight:
        yield EditSince("weight", query_id, f"{before.weight:g}", f"{now.weight:g}")
    if {*before.tags} != {*now.tags}:
        yield EditSince("tags", query_id, ", ".join(before.tags) or None, ", ".join(now.tags) or None)
    if whole and before.no_answer != now.no_answer:
        yield EditSince("no_answer", query_id, str(before.no_answer).lower(), str(now.no_answer).lower())
    for doc_id in sorted({*before.forbidden} ^ {*now.forbidden}) if whole else ():
        if doc_id in before.forbidden:
            yield EditSince("forbidden", f"{query_id}: {doc_id}", "forbidden", None, weaker=True)
        else:
            yield EditSince("forbidden", f"{query_id}: {doc_id}", None, "forbidden")


def _effect(result: ItemResult, comparison: Comparison, labels: Sequence[LabelPart]) -> str:
    """Say how far labels and search moved the gated means (all, if none is), but those of which a failure says so."""
    if comparison.judged_since.one_sided is not None:
        return f" {one_sided(comparison.judged_since)}"
    stored = comparison.under_stored_labels
    held = {gate.metric for gate in result.gates if gate.tag is None and gate.word in COMPARING_WORDS}
    moved, worded = [], False
    for metric in comparison.now.metrics if stored is not None else ():
        if stored is None or metric.kind != "ranking" or (held and metric not in held):
            continue
        was, change = stored.change(metric), comparison.change(metric)
        if was.baseline is None or change.baseline is None:
            continue
        by_labels, as_stored, today = change.baseline - was.baseline, was.delta, change.delta
        if max(abs(by_labels), abs(today - as_stored)) <= TOLERANCE:
            continue
        if any(v.failed and v.as_stored and (v.metric, v.tag) == (metric, None) for v in result.verdicts):
            worded = True
            continue
        by_search = f"{signed_text(today)} by the search"
        if signed_text(as_stored) != signed_text(today):
            by_search += f" ({signed_text(as_stored)} under the stored {joined(labels)})"
        moved.append(f"{metric.name} {signed_text(by_labels)} by the {joined(labels)} alone, {by_search}")
    if moved:
        return f" Moved: {'; '.join(moved)}."
    return "" if worded else " No gated mean moves through that."


def _on_left_out(result: ItemResult, comparison: Comparison) -> Iterator[str]:
    """Name the queries that dropped out of a gated mean, because its metric leaves out what finds nothing."""
    for gate in result.gates.with_word("max_drop", without="max_lost"):
        ids = comparison.change(gate.metric, gate.tag).left_out
        if ids:
            yield (
                f"{gate.metric.name} leaves out what finds nothing, and {plural(len(ids), 'query', 'queries')} that it counted before "
                f"{'is' if len(ids) == 1 else 'are'} not in today's mean: {listed(ids)}. max_lost gates that."
            )
