"""Collect the notes and hints that a test item's result is reported with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_irmetrics.analysis.edits import on_comparison
from pytest_irmetrics.analysis.evaluation_notes import on_evaluation, on_xfail_queries
from pytest_irmetrics.analysis.run_lint import lint_run
from pytest_irmetrics.analysis.trust import (
    hidden_slices,
    on_averages,
    on_passed_drops,
    on_run_noise,
    on_tolerance,
    on_unjudged,
)

if TYPE_CHECKING:
    from pytest_irmetrics.analysis.item_result import ItemResult
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.plugin.item import GatedItem


def add_notes(item: GatedItem, result: ItemResult, corpus: Any) -> None:
    """Add the notes that every run prints, and the hints that `-v` and the HTML report show."""
    now, gates, comparison, against = result.evaluation, result.gates, result.comparison, result.against
    wants_hints = item.verbosity >= 1 or bool(item.node.config.getoption("ir_report"))
    result.notes += item.unknown_queries(now.golden)
    if not now.errors:
        result.notes += on_evaluation(now, gates, corpus)
        stored = comparison.baseline if comparison is not None else None
        result.notes += lint_run(now, gates, corpus, stored)
        if wants_hints:
            result.hints += on_xfail_queries(now, gates)
        if item.verbosity >= 1:  # it reads each query's words
            from pytest_irmetrics.analysis.run_lint import lint_run_verbose  # noqa: PLC0415 - only with -v

            result.hints += lint_run_verbose(now, gates, corpus)
    if comparison is not None and against is not None:
        _add_notes_on_comparison(result, comparison, against)
        if wants_hints:
            result.hints += on_run_noise(comparison, result.verdicts)
            if not item.settings.only_queries:  # no mean is judged
                result.hints += on_tolerance(comparison, gates)
    if not gates and not result.verdicts and not item.settings.update:
        result.notes.append(
            "Nothing is gated here: no threshold binds to this test, and no baseline was compared."
        )


def _add_notes_on_comparison(result: ItemResult, comparison: Comparison, against: str) -> None:
    gates, leading = result.gates, result.leading_metric
    result.notes += on_comparison(comparison, against, gates)
    if leading is not None and _needs_judgments(result, comparison.change(leading).delta):
        result.notes += on_unjudged(comparison, leading)
    if leading is not None and not result.mean_fell:
        gated = [gate.tag for gate in gates.with_word("max_drop") if gate.tag and gate.metric == leading]
        result.notes += hidden_slices(comparison, leading, gated)
    result.notes += on_passed_drops(comparison, result.verdicts)
    if result.failed:
        result.notes += on_averages(comparison)


def _needs_judgments(result: ItemResult, delta: float) -> bool:
    """Whether to note unjudged documents: after a fall that fails nothing, over ids that the golden set knows."""
    foreign = any(verdict.word == "ids" for verdict in result.verdicts)
    return delta < 0 and not result.fell and not foreign
