"""What a reader should know of an outcome besides its verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_irmetrics.analysis import health, notes

if TYPE_CHECKING:
    from pytest_irmetrics.analysis.result import Outcome
    from pytest_irmetrics.plugin.item import Case
    from pytest_irmetrics.plugin.recording import Finding


def remark(case: Case, finding: Finding, corpus: Any) -> None:
    """Add to a finding the notes that every run prints, and the hints that `-v` does."""
    outcome, against = finding.outcome, finding.against
    now, limits, comparison = outcome.evaluation, outcome.limits, outcome.comparison
    finding.notes += case.unknown_queries(now.golden)
    if not now.errors:
        finding.notes += notes.on_evaluation(now, limits, corpus)
        stored = comparison.baseline if comparison is not None else None
        finding.notes += health.on_run(now, limits, corpus, stored)
        finding.hints += notes.on_known_bad(now, limits)
        if case.verbosity >= 1:  # it reads each query's words
            finding.hints += health.on_run_in_detail(now, limits, corpus)
    if comparison is not None and against is not None:
        finding.notes += notes.on_comparison(comparison, against, limits)
        leading = outcome.leading_metric
        if leading is not None and _to_be_judged(outcome, comparison.change(leading).delta):
            finding.notes += notes.on_unjudged(comparison, leading)
        if leading is not None and not outcome.mean_fell:
            gated = [
                tag
                for (name, tag), words in limits.items()
                if tag and name == leading.name and "max_drop" in words
            ]
            finding.notes += notes.hidden_slices(comparison, leading, gated)
        finding.notes += notes.on_passed_drops(comparison, outcome.verdicts)
        if outcome.failed:
            finding.notes += notes.on_averages(comparison)
        finding.hints += notes.on_run_noise(comparison, outcome.verdicts)
        if not case.settings.only_queries:  # no mean is judged
            finding.hints += notes.on_tolerance(comparison, limits)
    if not limits and not outcome.verdicts and not case.settings.update:
        finding.notes.append(
            "Nothing is gated here: no threshold binds to this test, and no baseline was compared."
        )


def _to_be_judged(outcome: Outcome, delta: float) -> bool:
    """Whether unjudged documents deserve a note: after a fall that no failure words yet, over ids of the right kind."""
    foreign = any(verdict.word == "ids" for verdict in outcome.verdicts)
    return delta < 0 and not outcome.fell and not foreign
