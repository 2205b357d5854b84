"""Notes on edits of the golden set since the baseline was stored, and on what they do to the gates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text, signed_text
from pytest_irmetrics.base.wording import joined, listed, plural
from pytest_irmetrics.comparison.stored_queries import golden_set_as_stored
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

    Scored = Sequence[tuple[Query, float]]

_MOVED = 0.01
"""How far queries have to move a mean for that to be said."""

_MAX_CHANGES = 5
"""How many changed judgments, and how many changed weights, a note lists."""


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
    yield from _on_tags(result, comparison)
    yield from _on_xfail(result, comparison)
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
    """List the labels that changed since the baseline was stored, and how far they alone moved each gated mean."""
    labels, golden = comparison.changed_labels(), comparison.now.golden
    if not labels:
        return
    judgments, weights = comparison.label_changes, comparison.weight_changes
    what, changed = [], []
    if judgments:
        queries = len({change.query_id for change in judgments})
        what.append(f"{plural(len(judgments), 'judgment')} of {plural(queries, 'query', 'queries')}")
        edits = [
            f"{golden.where_judged(change.query_id, change.doc_id)} {change.query_id}: {change.doc_id} "
            f"{'unjudged' if change.before is None else f'{change.before:g}'} → "
            f"{'removed' if change.after is None else f'{change.after:g}'}"
            for change in judgments
        ]
        changed.append(listed(edits, _MAX_CHANGES, between="; "))
    if comparison.stored_level != golden.relevance_level:
        what.append("the relevance level")
        changed.append(f"relevance level {comparison.stored_level:g} → {golden.relevance_level:g}")
    if weights:
        the_weights = "the weight" if len(weights) == 1 else "the weights"
        what.append(f"{the_weights} of {plural(len(weights), 'query', 'queries')}")
        stored = comparison.baseline.run.answers
        edits = [
            f"{golden.where(i)} {i}: weight {stored[i].weight:g} → {golden.queries[i].weight:g}"
            for i in weights
        ]
        changed.append(listed(edits, _MAX_CHANGES, between="; "))
    lead = " and ".join(what)
    yield (
        f"{lead[0].upper()}{lead[1:]} changed since {result.against} was stored, so it was scored anew under today's."
        f"{_effect(result, comparison, labels)} Changed: {'; '.join(changed)}."
    )


def _effect(result: ItemResult, comparison: Comparison, labels: Sequence[LabelPart]) -> str:
    """Say how far labels and search moved the gated means (all, if none is), but those of which a failure says so."""
    if comparison.judged_since.one_sided is not None:
        return f" {one_sided(comparison.judged_since)}"
    stored = comparison.under_stored_labels
    held = {gate.metric for gate in result.gates if gate.tag is None and gate.word in COMPARING_WORDS}
    moved, worded = [], False
    for metric in comparison.now.metrics if stored is not None else ():
        by_labels = comparison.labels_delta(metric)
        if stored is None or by_labels is None or (held and metric not in held):
            continue
        as_stored, today = stored.change(metric).delta, comparison.change(metric).delta
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


def _on_tags(result: ItemResult, comparison: Comparison) -> Iterator[str]:
    """Name the queries that gained or lost a tag whose slice is gated."""
    answers, queries = comparison.baseline.run.answers, comparison.now.golden.queries
    gated = dict.fromkeys(gate.tag for gate in result.gates if gate.tag is not None)
    for tag in gated if comparison.tag_changes else ():
        gone = [i for i in comparison.tag_changes if tag in answers[i].tags and tag not in queries[i].tags]
        came = [i for i in comparison.tag_changes if tag in queries[i].tags and tag not in answers[i].tags]
        moved = [
            f"{listed(ids)} {'is' if len(ids) == 1 else 'are'} {how}"
            for ids, how in ((gone, "not tagged so any more"), (came, "tagged so now"))
            if ids
        ]
        if moved:
            words = {gate.word for gate in result.gates if gate.tag == tag}
            today = [f"`{word}`" for word in sorted(words - {*COMPARING_WORDS, "significance"})]
            compared = " It is gated as it is, and as it was." if words & {*COMPARING_WORDS} else ""
            alone = f" {joined(today)} of it gates today's queries alone." if today else ""
            yield (
                f"The slice {tag} has other queries than when {result.against} was stored: {', and '.join(moved)}.{compared}{alone}"
            )


def _on_xfail(result: ItemResult, comparison: Comparison) -> Iterator[str]:
    """Name the ``xfail`` queries, which no gate looks at, that are newly marked or score lower than in the baseline."""
    shown, metric = _shown_metric(result), result.leading_metric
    queries, answers = comparison.now.golden.queries, comparison.baseline.run.answers
    marked = [query_id for query_id in comparison.paired if queries[query_id].xfail is not None]
    # A run that says nothing of judgments says nothing of xfail.
    newly = [i for i in marked if not answers[i].xfail and answers[i].judgments is not None]
    scores = [] if shown is None else [(queries[i], comparison.full.score(shown, i)) for i in newly]
    scored = [(query, score) for query, score in scores if score is not None]
    if newly:
        has = "today's score" if len(scored) == 1 else "today's scores"
        yield (
            f"{plural(len(newly), 'query is', 'queries are')} marked xfail since {result.against}, so no gate looks at "
            f"{'it' if len(newly) == 1 else 'them'} any more: {listed(newly)}.{_mean_with(comparison, scored, shown, has)}"
        )
    for query_id in marked:
        if metric is None:
            break
        before, now = comparison.baseline.score(metric, query_id), comparison.now.score(metric, query_id)
        if before is not None and before - (now or 0.0) > TOLERANCE:
            yield (
                f"The query {query_id} is marked xfail ({queries[query_id].xfail or 'no reason given'}), so no gate sees that its "
                f"{metric} fell from {score_text(before, now)} to {score_text(now or 0.0, before)} since {result.against}."
            )


def _on_left_out(result: ItemResult, comparison: Comparison) -> Iterator[str]:
    """Name the queries that dropped out of a gated mean, because its metric leaves out what finds nothing."""
    for gate in result.gates.with_word("max_drop", without="max_lost"):
        ids = comparison.change(gate.metric, gate.tag).left_out
        if ids:
            yield (
                f"{gate.metric.name} leaves out what finds nothing, and {plural(len(ids), 'query', 'queries')} that it counted before "
                f"{'is' if len(ids) == 1 else 'are'} not in today's mean: {listed(ids)}. max_lost gates that."
            )
