"""Collect the notes that a test item's result is reported with."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.notes import notes_on
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import listed
from pytest_irmetrics.gates.limits import limit_edits, read_limits
from pytest_irmetrics.reports.item_report import OWN_BASELINE, Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.analysis.item_result import ItemResult
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.plugin.item import GatedItem
    from pytest_irmetrics.thresholds import Gates


def add_notes(item: GatedItem, result: ItemResult) -> None:
    """Add what a reader should know besides the verdicts."""
    comparison, own = result.comparison, result.against == OWN_BASELINE
    if result.against is not None and not own:
        result.notes += _on_unused_baseline(item, result.against)
    result.notes += notes_on(result, verbose=item.verbosity >= 1)
    if comparison is not None and own and not item.settings.update:
        result.notes += _on_missing_means(item, comparison)
        result.notes += _on_limits(item, comparison, result.gates)
    if result.against is None and not item.baseline_file.exists():
        result.notes += _on_first_limits(result)
    if not result.gates and not result.verdicts and not item.settings.update:
        nothing = "Nothing is gated here: no threshold binds to this test, and no baseline was compared."
        result.notes.append(Note("normal", nothing))


def _on_first_limits(result: ItemResult) -> Iterator[Note]:
    """Say which limits today's means would hold, where a `min` fails that no stored run was held to; none for what is 0."""
    starts = []
    for verdict in result.verdicts:
        if verdict.failed and verdict.word == "min" and verdict.metric is not None and not verdict.single:
            mean = result.evaluation.mean_or_none(verdict.metric, verdict.tag) or 0.0
            held = floor(mean * 100 + TOLERANCE) / 100
            tag = f" of the queries tagged {verdict.tag}" if verdict.tag is not None else ""
            starts += [f"{verdict.metric}{tag} min={held:g}"] if held > 0 else []
    if starts:
        yield Note("normal", f"To start from here: {', '.join(starts)}.")


def _on_unused_baseline(item: GatedItem, against: str) -> Iterator[Note]:
    """Say that a test which compares with another run neither reads nor stores the baseline that it has."""
    path = item.baseline_file
    if path.exists():
        stores = " Nor was it replaced." if item.settings.update else ""
        yield Note(
            "quiet",
            f"The baseline of this test, {item.session.shown(path)}, was not consulted: {against}, which `against` gives, stands in "
            f"for it.{stores} To gate on the baseline too, check without `against` in a test of its own.",
        )
    elif item.settings.update:
        stored = f"No baseline was stored: this test compares with {against}, which `against` gives."
        yield Note("quiet", stored)


def _on_missing_means(item: GatedItem, comparison: Comparison) -> Iterator[Note]:
    """Say that a baseline tells no means to hold its rankings against."""
    measured = [metric for metric in comparison.now.metrics if metric.kind == "ranking"]
    if measured and comparison.paired and not comparison.baseline.run.means:
        yield Note(
            "quiet",
            "The baseline's header tells no means, so an edit of its rankings would not show. To store it anew: "
            f"{item.command('--ir-baseline-update')}",
        )


def _on_limits(item: GatedItem, comparison: Comparison, gates: Gates) -> Iterator[Note]:
    """Say which limits differ from those that judged the baseline when it was stored, those that let more pass first."""
    run, golden = comparison.baseline.run, comparison.full.golden
    stored = read_limits(run, item.settings.custom_metrics)
    if stored is None or item.settings.only_queries:
        return
    edits = limit_edits(stored.gates, gates, golden.queries, run.means)
    less = [edit.text for edit in edits if edit.holds == "less"] + [f"{text} → off" for text in stored.unread]
    differing = [*(f"{text} (holds less)" for text in less), *(e.text for e in edits if e.holds != "less")]
    if differing:
        lead = "Limits differ from those that judged the baseline when it was stored"
        command = item.command("--ir-baseline-update")
        yield Note("quiet", f"{lead}: {listed(differing)}. To store today's: {command}")
