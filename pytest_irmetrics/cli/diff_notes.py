"""Say what `diff` did not compare, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli.command_line import shown_path
from pytest_irmetrics.cli.inputs import metrics_beyond

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.cli.two_runs import Side, TwoRuns
    from pytest_irmetrics.evaluation import Evaluation

_MEANS_DIFFER = 1e-6
"""By how much a stored mean differs from one that is computed anew, if it is a mean over other queries."""


def notes_on(compared: TwoRuns) -> Iterator[str]:
    """Yield a note for each thing that was not compared, with the reason."""
    baseline, now, golden = compared.baseline, compared.now, compared.golden
    comparison = compared.comparison
    before, after = baseline.run, now.run
    trec_hint = " (a TREC run does not say that an answer was empty)"
    for side, other in ((baseline, after), (now, before)):
        ids = sorted(set(side.run) - set(other))
        if ids:
            hint = trec_hint if all(answer.text is None for answer in other.answers.values()) else ""
            yield f"{plural(len(ids), 'query', 'queries')} only in {side.name}{hint}: {listed(ids)}."
    unjudged = sorted(query_id for query_id in after if query_id in before and query_id not in golden.queries)
    if unjudged:
        yield f"{plural(len(unjudged), 'query', 'queries')} of both without judgments: {listed(unjudged)}."
    unasked = [query_id for query_id in golden.queries if query_id not in before and query_id not in after]
    if unasked:
        yield f"{plural(len(unasked), 'query', 'queries')} of the golden set in neither run: {listed(unasked)}."
    reworded = sorted(
        {
            *comparison.reworded,
            *comparison.passages_edited,
            *(query_id for query_id in compared.reworded_in_now if query_id in before),
        }
    )
    if reworded:
        yield f"{plural(len(reworded), 'query', 'queries')} asked in other words, with other params or for other passages, and not compared: {listed(reworded)}."
    known_bad = [i for i in comparison.paired if golden.queries[i].xfail is not None]
    if known_bad:
        named = compared.named
        where = "" if named is None or named.path is None else f" in {shown_path(named.path)}"
        yield f"{plural(len(known_bad), 'query', 'queries')} marked xfail{where}, and in no mean: {listed(known_bad)}."
    if before.depth is not None and after.depth is not None and before.depth != after.depth:
        yield f"The depths differ, {before.depth} and {after.depth}; both are cut at {comparison.depth}."
    if compared.beyond:
        yield f"Nothing is known beyond {plural(comparison.depth or 0, 'result')}, so these are left out: {', '.join(map(str, compared.beyond))}."
    changed = comparison.label_changes
    if changed:
        queries = dict.fromkeys(change.query_id for change in changed)
        yield (
            f"{plural(len(changed), 'judgment')} changed since {baseline.name} was stored; both sides are scored "
            f"under the later ones. In: {listed(list(queries))}."
        )
    weighed = comparison.weight_changes
    if weighed:
        yield (
            f"The weights of {plural(len(weighed), 'query', 'queries')} changed since {baseline.name} was stored; both means "
            f"have the later ones: {listed(weighed)}."
        )
    if comparison.stored_level != golden.relevance_level:
        yield (
            f"The relevance level is {golden.relevance_level:g}, and was {comparison.stored_level:g} when {baseline.name} was "
            "stored; both sides are scored under the later one."
        )
    if not compared.knows_xfail:
        yield from _on_other_means(now, compared.evaluation)


def _on_other_means(now: Side, evaluation: Evaluation) -> Iterator[str]:
    """Say that a run was stored with other means than all of its queries have: a gate left out those marked ``xfail``."""
    for metric in evaluation.metrics:
        stored = now.run.means.get(metric.name)
        if stored is None or not evaluation.queries(metric) or metrics_beyond([metric], evaluation.depth):
            continue
        mean = evaluation.mean(metric)
        if abs(mean - stored) > _MEANS_DIFFER:
            yield (
                f"{now.name} was stored with {metric.name} {score_text(stored, mean)}, and all of its queries have "
                f"{score_text(mean, stored)}. A gate leaves out queries that are marked xfail, which no run says: name the "
                "golden set to leave them out here too (--golden FILE)."
            )
            return
