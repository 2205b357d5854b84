"""Collect the notes that a test item's result is reported with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_irmetrics.analysis.edits import on_additions, on_edits
from pytest_irmetrics.analysis.evaluation_notes import on_evaluation
from pytest_irmetrics.analysis.run_lint import lint_run_verbose, on_misspelt_ids
from pytest_irmetrics.analysis.slices import hidden_slices
from pytest_irmetrics.analysis.trust import on_passed_drops, on_run_noise
from pytest_irmetrics.analysis.unjudged import missing_judgments
from pytest_irmetrics.base.wording import listed
from pytest_irmetrics.gates.limits import limit_edits, read_limits
from pytest_irmetrics.reports.item_report import OWN_BASELINE, Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_irmetrics.analysis.item_result import ItemResult
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.gates import Verdict
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.plugin.item import GatedItem
    from pytest_irmetrics.thresholds import Gates


def add_notes(item: GatedItem, result: ItemResult, corpus: Any) -> None:
    """Add what a reader should know besides the verdicts."""
    now, gates, comparison, against = result.evaluation, result.gates, result.comparison, result.against
    wants_all = item.verbosity >= 1 or bool(item.settings.reports)
    if against not in (None, OWN_BASELINE):
        _add(result, "quiet", _on_unused_baseline(item, str(against)))
    if not now.errors:
        _add(result, "normal", on_evaluation(now, gates, corpus))
        stored = comparison.baseline if comparison is not None else None
        _add(result, "normal", on_misspelt_ids(now, corpus, stored))
        if item.verbosity >= 1:  # it reads each query's words
            _add(result, "verbose", lint_run_verbose(now, gates, corpus))
    if comparison is not None and against is not None:
        _add_notes_on_comparison(result, comparison, against)
        if against == OWN_BASELINE and not item.settings.update:
            _add(result, "quiet", _on_missing_means(item, comparison))
            _add(result, "quiet", _on_limits(item, comparison, gates))
        if wants_all:
            _add(result, "verbose", on_run_noise(comparison, result.verdicts))
    if not gates and not result.verdicts and not item.settings.update:
        nothing = "Nothing is gated here: no threshold binds to this test, and no baseline was compared."
        _add(result, "normal", [nothing])


def _add(result: ItemResult, level: str, texts: Iterable[str]) -> None:
    result.notes += [Note(level, text) for text in texts]


def _on_unused_baseline(item: GatedItem, against: str) -> Iterator[str]:
    """Say that a test which compares with another run neither reads nor stores the baseline that it has."""
    path = item.baseline_file
    if path.exists():
        stores = " Nor was it replaced." if item.settings.update else ""
        yield (
            f"The baseline of this test, {item.session.shown(path)}, was not consulted: {against}, which `against` gives, stands in "
            f"for it.{stores} To gate on the baseline too, check without `against` in a test of its own."
        )
    elif item.settings.update:
        yield f"No baseline was stored: this test compares with {against}, which `against` gives."


def _on_missing_means(item: GatedItem, comparison: Comparison) -> Iterator[str]:
    """Say that a baseline tells no means to hold its rankings against."""
    measured = [metric for metric in comparison.now.metrics if metric.kind == "ranking"]
    if measured and comparison.paired and not comparison.baseline.run.means:
        yield (
            "The baseline's header tells no means, so an edit of its rankings would not show. To store it anew: "
            f"{item.command('--ir-baseline-update')}"
        )


def _on_limits(item: GatedItem, comparison: Comparison, gates: Gates) -> Iterator[str]:
    """Say which limits differ from those that judged the baseline when it was stored, those that let more pass first."""
    run, golden = comparison.baseline.run, comparison.full.golden
    stored = read_limits(run, item.settings.custom_metrics)
    if stored is None or item.settings.only_queries:
        return
    edits = limit_edits(stored.gates, gates, golden.queries, run.means)
    less = [edit.text for edit in edits if edit.holds == "less"] + [f"{text} → off" for text in stored.unread]
    others = [edit.text for edit in edits if edit.holds != "less"]
    if edits or less:
        lead = "Limits hold less than those" if less else "Limits differ from those"
        also = (
            f"; {listed(others)} {'differs' if len(others) == 1 else 'differ'} too" if less and others else ""
        )
        yield (
            f"{lead} that judged the baseline when it was stored: {listed(less or others)}{also}. To store today's: "
            f"{item.command('--ir-baseline-update')}"
        )


def _add_notes_on_comparison(result: ItemResult, comparison: Comparison, against: str) -> None:
    gates, leading = result.gates, result.leading_metric
    own = against == OWN_BASELINE  # of another run, what it has for other queries says nothing of edits
    _add(result, "normal", on_additions(comparison, against))
    told = leading if any(_falls_as_stored(verdict, leading) for verdict in result.verdicts) else None
    _add(result, "quiet", on_edits(comparison, against, gates, leading if own else None, told))
    if leading is not None and not result.failed and (missing := missing_judgments(comparison, leading)):
        _add(result, "normal", [missing])
    if leading is not None and not result.mean_fell:
        gated = [gate.tag for gate in gates.with_word("max_drop") if gate.tag and gate.metric == leading]
        _add(result, "normal", hidden_slices(comparison, leading, gated))
    _add(result, "normal", on_passed_drops(comparison, result.verdicts))


def _falls_as_stored(verdict: Verdict, metric: Metric | None) -> bool:
    """Whether a verdict fails a metric's mean for its fall under the stored judgments, of which the failure then tells."""
    is_of_mean = verdict.word == "max_drop" and not verdict.single
    return (
        verdict.failed
        and verdict.as_stored
        and is_of_mean
        and (verdict.metric, verdict.tag) == (metric, None)
    )
