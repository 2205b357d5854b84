"""Collect the notes and hints that a test item's result is reported with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_irmetrics.analysis.edits import on_additions, on_edits, on_ungated_means
from pytest_irmetrics.analysis.evaluation_notes import on_evaluation, on_xfail_queries
from pytest_irmetrics.analysis.run_lint import lint_run, lint_run_verbose
from pytest_irmetrics.analysis.slices import hidden_slices
from pytest_irmetrics.analysis.tolerance import on_tolerance, on_tolerance_before_run, on_undecided_falls
from pytest_irmetrics.analysis.trust import (
    on_averages,
    on_passed_drops,
    on_run_noise,
)
from pytest_irmetrics.analysis.unjudged import (
    on_fewer_judged,
    on_judged_alone,
    on_unjudged,
    possible_cause,
    scenarios,
)
from pytest_irmetrics.base.escape import escape_terminal, to_stream
from pytest_irmetrics.plugin.item import GatedItem
from pytest_irmetrics.plugin.marks import golden_parameter
from pytest_irmetrics.reports.item_report import OWN_BASELINE
from pytest_irmetrics.thresholds import Gates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pytest

    from pytest_irmetrics.analysis.item_result import ItemResult
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.gates import Verdict
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.plugin.session import GatingSession

_MAX_TOLERANCE_NOTES = 3
"""How many golden sets that are small for their tolerance have a note of their own."""


def tolerance_notes(session: GatingSession, nodes: Iterable[pytest.Item]) -> list[str]:
    """Return a note for each golden set of which a `max_drop` allows next to nothing, before a query is asked.

    Of several tests over one golden set the first that has such a `max_drop` is told.

    A golden set, mark or setting that cannot be read gives no note: its test fails.
    """
    config = session.config
    skipping = ("ir_baseline_update", "ir_selftest", "ir_query")
    if not session.gates_on_baseline or any(config.getoption(name) for name in skipping):
        return []
    found: dict[Path, str] = {}
    for node in nodes:
        parameter = golden_parameter(node)
        if parameter is None or parameter.path is None or parameter.path in found:
            continue
        item = GatedItem(node, session, parameter)
        try:
            golden = item.golden_set()
            gates = item.gates(golden, regression=True)
            note = on_tolerance_before_run(golden, gates, item.settings.custom_metrics)
        except Exception:  # noqa: BLE001, S112 - a hook of the user's may raise anything, and each test fails with it
            continue
        if note is not None:
            found[parameter.path] = f"{session.shown(parameter.path)}: {note}"
    more = len(found) - _MAX_TOLERANCE_NOTES
    lines = list(found.values())[:_MAX_TOLERANCE_NOTES]
    lines += [f"{more} more golden sets are as small."] if more > 0 else []
    return [to_stream(escape_terminal(line), session.screen.encoding) for line in lines]


def add_notes(item: GatedItem, result: ItemResult, corpus: Any) -> None:
    """Add the notes that every run prints, and the hints that `-v` and the HTML report show."""
    now, gates, comparison, against = result.evaluation, result.gates, result.comparison, result.against
    wants_hints = item.verbosity >= 1 or bool(item.node.config.getoption("ir_report"))
    result.notes += item.unknown_queries(now.golden)
    if against not in (None, OWN_BASELINE):
        unused = list(_on_unused_baseline(item, str(against)))
        result.notes += unused
        result.quiet_notes += unused
    if not now.errors:
        result.notes += on_evaluation(now, gates, corpus)
        stored = comparison.baseline if comparison is not None else None
        result.notes += lint_run(now, gates, corpus, stored)
        if wants_hints:
            result.hints += on_xfail_queries(now, gates)
        if item.verbosity >= 1:  # it reads each query's words
            result.hints += lint_run_verbose(now, gates, corpus)
    if comparison is not None and against is not None:
        _add_notes_on_comparison(item, result, comparison, against)
        if against == OWN_BASELINE and not item.settings.update:
            unheld = list(_on_missing_means(item, comparison))
            result.notes += unheld
            result.quiet_notes += unheld
        undecided = on_undecided_falls(comparison, gates, result.verdicts) if result.mean_fell else []
        # On one screen it is enough that the failure may be chance; what to do about it is for who has time.
        result.notes += undecided[:1]
        if wants_hints:
            result.hints += _on_judgments(result, comparison)
            result.hints += on_ungated_means(comparison, gates)
            result.hints += on_run_noise(comparison, result.verdicts)
            result.hints += undecided[1:]
            if not undecided and not item.settings.only_queries:  # then no mean is judged
                result.hints += on_tolerance(comparison, gates)
    if not gates and not result.verdicts and not item.settings.update:
        result.notes.append(
            "Nothing is gated here: no threshold binds to this test, and no baseline was compared."
        )


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


def _add_notes_on_comparison(
    item: GatedItem, result: ItemResult, comparison: Comparison, against: str
) -> None:
    gates, leading = result.gates, result.leading_metric
    unjudged: list[str] = []
    own = against == OWN_BASELINE  # of another run, what it has for other queries says nothing of edits
    result.notes += on_additions(comparison, against, gates if own else Gates())
    told = leading if any(_falls_as_stored(verdict, leading) for verdict in result.verdicts) else None
    edits = list(on_edits(comparison, against, gates, leading if own else None, told))
    result.notes += edits
    result.quiet_notes += edits
    if leading is not None and _needs_judgments(result, comparison.change(leading).delta):
        unjudged = _unless_there_is_a_sign(
            comparison, on_unjudged(comparison, leading, possible_cause(comparison, leading))
        )
        result.notes += unjudged
    if not unjudged and not result.fell and not _finds_foreign_ids(result):
        file = item.golden_name(comparison.full.golden)
        fewer = on_fewer_judged(comparison, against, file)
        fell = leading is not None and comparison.change(leading).delta < 0
        result.notes += _unless_there_is_a_sign(comparison, fewer) if fell else fewer
    if leading is not None and not result.mean_fell:
        gated = [gate.tag for gate in gates.with_word("max_drop") if gate.tag and gate.metric == leading]
        result.notes += hidden_slices(comparison, leading, gated)
    result.notes += on_passed_drops(comparison, result.verdicts)
    if result.failed:
        result.notes += on_averages(comparison)


def _on_judgments(result: ItemResult, comparison: Comparison) -> Iterator[str]:
    """Say what judged documents alone show, or, where that is said already, give the scenarios of the unjudged ones."""
    metric = result.leading_metric
    if metric is None or _finds_foreign_ids(result):
        return
    found = result.unjudged if result.fell else possible_cause(comparison, metric)
    if found is None:
        yield from on_judged_alone(comparison, metric)
    else:
        yield scenarios(comparison, metric, found)


def _unless_there_is_a_sign(comparison: Comparison, on_judgments: Iterable[str]) -> list[str]:
    """Return notes on unjudged documents, or none where the answers show another cause."""
    notes = list(on_judgments)
    if not notes:
        return []
    from pytest_irmetrics.analysis.kind_of_change import find_sign  # noqa: PLC0415 - seldom needed

    return notes if find_sign(comparison) is None else []


def _needs_judgments(result: ItemResult, delta: float) -> bool:
    """Whether to note unjudged documents: after a fall that fails nothing, over ids that the golden set knows."""
    return delta < 0 and not result.fell and not _finds_foreign_ids(result)


def _falls_as_stored(verdict: Verdict, metric: Metric | None) -> bool:
    """Whether a verdict fails a metric's mean for its fall under the stored judgments, of which the failure then tells."""
    is_of_mean = verdict.word == "max_drop" and not verdict.single
    return (
        verdict.failed
        and verdict.as_stored
        and is_of_mean
        and (verdict.metric, verdict.tag) == (metric, None)
    )


def _finds_foreign_ids(result: ItemResult) -> bool:
    """Whether not one returned id is one of the golden set's."""
    return any(verdict.word == "ids" for verdict in result.verdicts)
