"""What a reader should know besides the verdicts, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.comparison import SLACK
from pytest_irmetrics.gates import would_pass
from pytest_irmetrics.reports.text import plural, signed_text

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates import Limits


def on_evaluation(
    evaluation: Evaluation, limits: Limits, corpus: Container[str] | None = None
) -> Iterator[str]:
    """Say what today's run and golden set show by themselves."""
    golden = evaluation.golden
    if golden.left_out:
        yield f"Left out, because without any judgment: {listed(golden.left_out)}."
    for query in golden.queries.values():
        if query.xfail is not None and query.id not in evaluation.errors:
            state = (
                "would pass now: take the mark away"
                if would_pass(evaluation, query, limits)
                else "still fails"
            )
            yield f"The query {query.id} is marked xfail ({query.xfail or 'no reason given'}) and {state}."
    lengths = [len(ranking) for query in evaluation.counted for ranking in evaluation.rankings(query.id)]
    if evaluation.depth is not None and any(lengths) and max(lengths) < evaluation.depth:
        yield (
            f"No query got the {evaluation.depth} results that were asked for; the longest answer has {max(lengths)}. "
            "Check that the retriever passes k on."
        )
    if corpus is not None:
        yield from _missing_documents(evaluation, corpus)


def _missing_documents(evaluation: Evaluation, corpus: Container[str]) -> Iterator[str]:
    judged = {
        doc_id: query.id
        for query in evaluation.golden.queries.values()
        for doc_id, grade in query.judgments.items()
        if grade > 0
    }
    missing = sorted(doc_id for doc_id in judged if doc_id not in corpus)
    if missing:
        yield (
            f"The index lacks {plural(len(missing), 'document')} that the golden set judges relevant; no ranking can "
            f"hold them: {listed(missing)}."
        )


def on_comparison(comparison: Comparison, against: str) -> Iterator[str]:
    """Say what does not pair with the baseline, and what a change of labels did."""
    for ids, what in (
        (comparison.new, "new, and judged on `min` alone"),
        (comparison.reworded, "reworded (text or params), and judged on `min` alone"),
        (comparison.removed, "not in the golden set any more"),
    ):
        if ids:
            verb = "is" if len(ids) == 1 else "are"
            yield f"{plural(len(ids), 'query', 'queries')} against {against} {verb} {what}: {listed(ids)}."
    depths = comparison.full.depth, comparison.baseline.run.depth
    if None not in depths and depths[0] != depths[1]:
        yield f"Today's rankings hold {depths[0]} results and those of {against} {depths[1]}; both are cut at {comparison.depth}."
    changes = comparison.label_changes
    if changes:
        queries = tuple(dict.fromkeys(change.query_id for change in changes))
        moved = [
            f"{metric.name} {signed_text(delta)}"
            for metric in comparison.now.metrics
            if metric.kind == "ranking"
            and (delta := comparison.labels_delta(metric)) is not None
            and abs(delta) > SLACK
        ]
        effect = f" That alone moves {', '.join(moved)}; it is not gated." if moved else ""
        yield (
            f"{plural(len(changes), 'judgment')} of {plural(len(queries), 'query', 'queries')} changed since {against} was "
            f"stored, which was scored anew under today's.{effect} Changed: {listed(queries)}."
        )


def listed(ids: Sequence[str], most: int = 10) -> str:
    """Name ids, the first few and how many more there are."""
    shown = ", ".join(ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most} more"
