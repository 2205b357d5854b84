"""Notes on edits of the golden set since the baseline was stored, and on what they do to the gates."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.evaluation_notes import xfail_reason
from pytest_irmetrics.base.numbers import TOLERANCE, score_text, signed_text
from pytest_irmetrics.base.wording import joined, listed, plural
from pytest_irmetrics.comparison.stored_queries import golden_set_as_stored
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.gates.wording import one_sided
from pytest_irmetrics.metrics import mean
from pytest_irmetrics.thresholds import COMPARING_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from pytest_irmetrics.comparison import Comparison, LabelChange, LabelPart
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Gates

_MOVED = 0.01
"""How far queries have to move a mean for that to be said: as far as it may fall unless told otherwise."""

_MAX_CHANGES = 5
"""How many changed judgments, and how many changed weights, a note lists."""


def on_additions(comparison: Comparison, against: str) -> Iterator[str]:
    """Yield notes on queries that are new, and on a baseline that is less deep than today's rankings.

    ``against`` is what messages call the baseline.
    """
    renamed = _renamed(comparison)
    yield from _on_uncompared([i for i in comparison.new if i not in renamed], "new", against)
    if not _is_less_deep(comparison):
        yield from _on_depths(comparison, against)


def on_edits(
    comparison: Comparison,
    against: str,
    gates: Gates,
    leading: Metric | None,
    told: Metric | None,
) -> Iterator[str]:
    """Yield notes on edits of the golden set, or of the depth, that took something out of the gates or changed their ground.

    ``against`` is what messages call the baseline, ``leading`` the metric by which queries that left are shown, ``told`` the
    one of which a failure says how it moved by the stored labels and by today's.
    """
    yield from _on_uncompared(comparison.reworded, "reworded (text or params)", against)
    yield from _on_uncompared(comparison.passages_edited, "with other passages", against)
    yield from _on_gone(comparison, against, leading)
    yield from _on_labels(comparison, against, gates, told)
    yield from _on_tags(comparison, against, gates)
    yield from _on_xfail(comparison, against, gates, leading)
    yield from _on_left_out(comparison, gates)
    if _is_less_deep(comparison):
        yield from _on_depths(comparison, against)


def _is_less_deep(comparison: Comparison) -> bool:
    """Whether today's run is less deep than the baseline, so that what is lost further down goes unseen."""
    now, before = comparison.full.depth, comparison.baseline.run.depth
    return now is not None and before is not None and now < before


def _on_uncompared(ids: Sequence[str], what: str, against: str) -> Iterator[str]:
    """List the queries that the baseline does not have in these words."""
    if ids:
        yield (
            f"{plural(len(ids), 'query', 'queries')} {what} since {against}: {listed(ids)}. "
            f"With nothing to compare, no `max_drop` sees {'it' if len(ids) == 1 else 'them'}; a `min` does."
        )


def _on_gone(comparison: Comparison, against: str, leading: Metric | None) -> Iterator[str]:
    """List the queries that are removed, with the scores that they had, or renamed, and so are not compared."""
    renamed = _renamed(comparison)
    removed = [i for i in comparison.removed if i not in renamed.values()]
    if removed:
        scored = [] if leading is None else _scores_when_stored(comparison, removed, leading)
        known = {query.id: f"{query.id} ({leading} {score_text(score)})" for query, score in scored}
        named = listed(removed, word=lambda query_id: known.get(query_id, query_id))
        scores = "the score that it had" if len(scored) == 1 else "the scores that they had"
        effect = "" if leading is None else _on_mean_with(comparison, scored, leading, scores)
        lead = f"{plural(len(removed), 'query', 'queries')} of {against} not in the golden set any more"
        yield f"{lead}: {named}.{effect}"
    if renamed:
        named = listed([f"{old} → {new}" for new, old in renamed.items()])
        yield (
            f"{plural(len(renamed), 'query has', 'queries have')} the words of {against} and another id: {named}. Queries pair by "
            f"id, so nothing compares {'it' if len(renamed) == 1 else 'them'}: give the old id back, or store a new baseline."
        )


def _renamed(comparison: Comparison) -> dict[str, str]:
    """Map new query ids to removed ones with the same params and the same text, which no other removed query has."""
    if not comparison.new or not comparison.removed:
        return {}
    answers, queries = comparison.baseline.run.answers, comparison.now.golden.queries
    before: dict[str, list[str]] = {}
    for query_id in comparison.removed:
        text = answers[query_id].text
        if text is not None:
            before.setdefault(text, []).append(query_id)
    found = {}
    for query_id in comparison.new:
        old = before.get(queries[query_id].text or "", [])
        if len(old) == 1 and dict(answers[old[0]].params) == dict(queries[query_id].params):
            found[query_id] = old[0]
            old.clear()
    return found


def _on_depths(comparison: Comparison, against: str) -> Iterator[str]:
    """Say where both sides are cut, if they have different depths."""
    now, before = comparison.full.depth, comparison.baseline.run.depth
    if now is not None and before is not None and now != before:
        yield f"The depths differ, {now} today and {before} in {against}; both are cut at {comparison.depth}."


def _scores_when_stored(
    comparison: Comparison, ids: Collection[str], metric: Metric
) -> list[tuple[Query, float]]:
    """Return queries of the stored run with the scores that they had, by the judgments that it was stored with."""
    run, now = comparison.baseline.run, comparison.full
    golden = golden_set_as_stored(run, now.golden.name, ids)
    retrieved = replace(now.retrieved, run=run, errors={}, latencies={}, stopped="")
    return Evaluation(golden, retrieved, (metric,), run.depth or now.depth, now.custom).scored(metric)


def _on_mean_with(
    comparison: Comparison, left: Sequence[tuple[Query, float]], metric: Metric, scores: str
) -> str:
    """Say what a mean would be with queries that left it; empty where it would be nearly the same."""
    staying = comparison.full.scored(metric)
    if not left or not staying:
        return ""
    with_them, now = (
        mean([score for _, score in some], [query.weight for query, _ in some])
        for some in ([*staying, *left], staying)
    )
    if abs(with_them - now) < _MOVED - TOLERANCE:
        return ""
    them = "it" if len(left) == 1 else "them"
    return f" With {them}, at {scores}, {metric.name} would be {score_text(with_them, now)}, not {score_text(now, with_them)}."


def _held(gates: Gates) -> set[Metric]:
    """Return the metrics whose mean over the whole set is held against another run."""
    return {gate.metric for gate in gates if gate.tag is None and gate.word in COMPARING_WORDS}


def _on_labels(comparison: Comparison, against: str, gates: Gates, told: Metric | None) -> Iterator[str]:
    """List the labels that changed since the baseline was stored, and how far they alone moved each gated mean."""
    labels = comparison.changed_labels()
    if not labels:
        return
    effect = _effect(comparison, labels, gates, told)
    changes, weights = comparison.label_changes, comparison.weight_changes
    changed, listing = [], []
    if changes:
        queries = len({change.query_id for change in changes})
        changed.append(f"{plural(len(changes), 'judgment')} of {plural(queries, 'query', 'queries')}")
        listing.append(listed(changes, _MAX_CHANGES, partial(_judgment_change, comparison), "; "))
    if comparison.stored_level != comparison.now.golden.relevance_level:
        changed.append("the relevance level")
        listing.append(
            f"relevance level {comparison.stored_level:g} → {comparison.now.golden.relevance_level:g}"
        )
    if weights:
        changed.append(
            f"{'the weight' if len(weights) == 1 else 'the weights'} of {plural(len(weights), 'query', 'queries')}"
        )
        listing.append(listed(weights, _MAX_CHANGES, partial(_weight_change, comparison), "; "))
    lead = " and ".join(changed)
    yield (
        f"{lead[0].upper()}{lead[1:]} changed since {against} was stored, so it was scored anew under today's.{effect} "
        f"Changed: {'; '.join(listing)}."
    )


def _effect(comparison: Comparison, labels: Sequence[LabelPart], gates: Gates, told: Metric | None) -> str:
    """Say how the gated means (all, if none is) moved by the stored labels and by today's, or why that tells nothing."""
    held = _held(gates)
    moved = _moved_by_labels(comparison, labels, lambda metric: not held or metric in held)
    if not moved and not _moved_by_labels(comparison, labels, lambda _: True):
        return " Its means do not move through that."
    if comparison.judged_since.one_sided is not None:
        return f" {one_sided(comparison.judged_since)}"
    if not moved:
        return " Its gated means do not move through that."
    if told is not None:
        others = held - {told} if held else set(comparison.now.metrics) - {told}
        moved = _moved_by_labels(comparison, labels, lambda metric: metric in others)
        if not moved:
            return ""
    return f" Moved: {'; '.join(moved)}."


def _moved_by_labels(
    comparison: Comparison, labels: Sequence[LabelPart], wanted: Callable[[Metric], bool]
) -> list[str]:
    """Return how far the labels moved each mean, of those on which they tell, and how far the search did."""
    stored = comparison.under_stored_labels
    if stored is None:
        return []
    moved = []
    for metric in comparison.now.metrics:
        by_labels = comparison.labels_delta(metric) if metric.kind == "ranking" and wanted(metric) else None
        if by_labels is None:
            continue
        then, today = stored.change(metric).delta, comparison.change(metric).delta
        if max(abs(by_labels), abs(today - then)) <= TOLERANCE:
            continue
        by_search = f"{signed_text(today)} by the search"
        if signed_text(then) != signed_text(today):
            by_search = (
                f"by the search {signed_text(then)} under the stored {joined(labels)} and {signed_text(today)} under "
                "today's"
            )
        moved.append(f"{metric.name} {signed_text(by_labels)} by the {joined(labels)} alone, {by_search}")
    return moved


def _judgment_change(comparison: Comparison, change: LabelChange) -> str:
    place = comparison.now.golden.where_judged(change.query_id, change.doc_id)
    before = "unjudged" if change.before is None else f"{change.before:g}"
    after = "removed" if change.after is None else f"{change.after:g}"
    return f"{place} {change.query_id}: {change.doc_id} {before} → {after}"


def _weight_change(comparison: Comparison, query_id: str) -> str:
    golden, before = comparison.now.golden, comparison.baseline.run.answers[query_id].weight
    return f"{golden.where(query_id)} {query_id}: weight {before:g} → {golden.queries[query_id].weight:g}"


def _on_tags(comparison: Comparison, against: str, gates: Gates) -> Iterator[str]:
    """Name the queries that gained or lost a tag whose slice is gated."""
    answers, queries = comparison.baseline.run.answers, comparison.now.golden.queries
    gated = dict.fromkeys(gate.tag for gate in gates if gate.tag is not None)
    for tag in gated if comparison.tag_changes else ():
        gone = [i for i in comparison.tag_changes if tag in answers[i].tags and tag not in queries[i].tags]
        came = [i for i in comparison.tag_changes if tag in queries[i].tags and tag not in answers[i].tags]
        moved = [
            f"{listed(ids)} {'is' if len(ids) == 1 else 'are'} {how}"
            for ids, how in ((gone, "not tagged so any more"), (came, "tagged so now"))
            if ids
        ]
        if moved:
            words = {gate.word for gate in gates if gate.tag == tag}
            today = [f"`{word}`" for word in sorted(words - {*COMPARING_WORDS, "significance"})]
            compared = " It is gated as it is, and as it was." if words & {*COMPARING_WORDS} else ""
            alone = f" {joined(today)} of it gates today's queries alone." if today else ""
            yield (
                f"The slice {tag} has other queries than when {against} was stored: {', and '.join(moved)}.{compared}{alone}"
            )


def _on_xfail(comparison: Comparison, against: str, gates: Gates, leading: Metric | None) -> Iterator[str]:
    """Name the ``xfail`` queries, which no gate looks at, that score lower than in the baseline or are newly marked."""
    metrics = [m for m in dict.fromkeys([*gates.metrics, *comparison.now.metrics]) if m.kind == "ranking"]
    queries, answers = comparison.now.golden.queries, comparison.baseline.run.answers
    excluded, newly = [], []
    for query_id in comparison.paired:
        if queries[query_id].xfail is None:
            continue
        # A run that says nothing of judgments says nothing of xfail.
        if not answers[query_id].xfail and answers[query_id].judgments is not None:
            newly.append(query_id)
        for metric in metrics:
            before, now = comparison.baseline.score(metric, query_id), comparison.now.score(metric, query_id)
            if before is not None and before - (now or 0.0) > TOLERANCE:
                yield (
                    f"The query {query_id} is marked xfail ({xfail_reason(queries[query_id])}), so no gate sees that its {metric.name} fell from "
                    f"{score_text(before, now)} to {score_text(now or 0.0, before)} since {against}."
                )
                break
        else:
            if query_id in newly[-1:]:
                excluded.append(query_id)
    effect = "" if leading is None else _effect_of_exclusion(comparison, newly, leading)
    named = newly if effect else excluded
    if named:
        yield (
            f"{plural(len(named), 'query is', 'queries are')} marked xfail since {against}, so no gate looks at "
            f"{'it' if len(named) == 1 else 'them'} any more: {listed(named)}.{effect}"
        )


def _effect_of_exclusion(comparison: Comparison, ids: Sequence[str], metric: Metric) -> str:
    scores = [(comparison.now.golden.queries[i], comparison.full.score(metric, i)) for i in ids]
    scored = [(query, score) for query, score in scores if score is not None]
    return _on_mean_with(
        comparison, scored, metric, "today's score" if len(scored) == 1 else "today's scores"
    )


def _on_left_out(comparison: Comparison, gates: Gates) -> Iterator[str]:
    """Name the queries that dropped out of a gated mean, because its metric leaves out what finds nothing."""
    for gate in gates.with_word("max_drop", without="max_lost"):
        ids = comparison.change(gate.metric, gate.tag).left_out
        if ids:
            yield (
                f"{gate.metric.name} leaves out what finds nothing, and {plural(len(ids), 'query', 'queries')} that it counted before "
                f"{'is' if len(ids) == 1 else 'are'} not in today's mean: {listed(ids)}. max_lost gates that."
            )
