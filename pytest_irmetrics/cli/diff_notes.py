"""Say what `diff` did not compare, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli.inputs import metrics_beyond, shown_path

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.run import Run

_MEANS_DIFFER = 1e-6
"""By how much a stored mean differs from one that is computed anew, if it is a mean over other queries."""


def notes_on(
    golden: GoldenSet,
    comparison: Comparison,
    before: Run,
    after: Run,
    marks: GoldenSet | None,
    reworded_in_now: Sequence[str],
    beyond: Sequence[Metric],
    options: argparse.Namespace,
) -> Iterator[str]:
    """Yield a note for each thing that was not compared, with the reason."""
    trec_hint = " (a TREC run does not say that an answer was empty)"
    sides = ((before, after, options.baseline), (after, before, options.now))
    for run, other, name in sides:
        ids = sorted(set(run) - set(other))
        if ids:
            hint = trec_hint if all(answer.text is None for answer in other.answers.values()) else ""
            yield f"{plural(len(ids), 'query', 'queries')} only in {name}{hint}: {listed(ids)}."
    unjudged = sorted(query_id for query_id in after if query_id in before and query_id not in golden.queries)
    if unjudged:
        yield f"{plural(len(unjudged), 'query', 'queries')} of both without judgments: {listed(unjudged)}."
    unasked = [query_id for query_id in golden.queries if query_id not in before and query_id not in after]
    if unasked:
        yield f"{plural(len(unasked), 'query', 'queries')} of the golden set in neither run: {listed(unasked)}."
    reworded = sorted(
        {*comparison.reworded, *(query_id for query_id in reworded_in_now if query_id in before)}
    )
    if reworded:
        yield f"{plural(len(reworded), 'query', 'queries')} asked in other words or with other params, and not compared: {listed(reworded)}."
    known_bad = [i for i in comparison.paired if golden.queries[i].xfail is not None]
    if known_bad:
        where = "" if marks is None or marks.path is None else f" in {shown_path(marks.path)}"
        yield f"{plural(len(known_bad), 'query', 'queries')} marked xfail{where}, and in no mean: {listed(known_bad)}."
    if before.depth is not None and after.depth is not None and before.depth != after.depth:
        yield f"The depths differ, {before.depth} and {after.depth}; both are cut at {comparison.depth}."
    if beyond:
        yield f"Nothing is known beyond {plural(comparison.depth or 0, 'result')}, so these are left out: {', '.join(map(str, beyond))}."
    changed = comparison.label_changes
    if changed:
        queries = dict.fromkeys(change.query_id for change in changed)
        yield (
            f"{plural(len(changed), 'judgment')} changed since {options.baseline} was stored; both sides are scored "
            f"under the later ones. In: {listed(list(queries))}."
        )
    weighed = comparison.weight_changes
    if weighed:
        yield (
            f"The weights of {plural(len(weighed), 'query', 'queries')} changed since {options.baseline} was stored; both means "
            f"have the later ones: {listed(weighed)}."
        )
    if comparison.stored_level != golden.relevance_level:
        yield (
            f"The relevance level is {golden.relevance_level:g}, and was {comparison.stored_level:g} when {options.baseline} was "
            "stored; both sides are scored under the later one."
        )


def on_other_means(now: Evaluation, options: argparse.Namespace) -> Iterator[str]:
    """Say that a run was stored with other means than all of its queries have: a gate left out those marked ``xfail``."""
    for metric in now.metrics:
        stored = now.run.means.get(metric.name)
        if stored is None or not now.queries(metric) or metrics_beyond([metric], now.depth):
            continue
        mean = now.mean(metric)
        if abs(mean - stored) > _MEANS_DIFFER:
            yield (
                f"{options.now} was stored with {metric.name} {score_text(stored, mean)}, and all of its queries have "
                f"{score_text(mean, stored)}. A gate leaves out queries that are marked xfail, which no run says: name the "
                "golden set to leave them out here too (--golden FILE)."
            )
            return
