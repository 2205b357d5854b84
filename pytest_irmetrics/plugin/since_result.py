"""Add what this branch accepts (``--ir-since``) to a test's result, and fail it where ``ir_accept = fail``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.since import what_is_accepted
from pytest_irmetrics.gates.verdict import Verdict
from pytest_irmetrics.reports.since_report import SinceReport
from pytest_irmetrics.reports.since_texts import cure, headlines, paying

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.analysis.item_result import ItemResult
    from pytest_irmetrics.analysis.since import Then
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.plugin.item import GatedItem


def add_since(
    item: GatedItem, result: ItemResult, then: Then | SinceReport, stored: Evaluation | None
) -> str:
    """Compare a test with what it was `then`, and return the sentences on the falls that this branch accepts.

    `stored` is its baseline today, None where today's run replaces it.
    """
    if isinstance(then, SinceReport):
        report = then
    else:
        failed = {(one.metric, one.tag) for one in result.verdicts if one.failed and one.word == "max_drop"}
        report = what_is_accepted(result.evaluation, stored, result.gates, then, failed)
    if report.is_told_first and item.settings.accept == "fail" and not item.settings.update:
        report = replace(report, refused=True)
        result.verdicts = (*_refusals(report, result), *result.verdicts)
    result.since = report
    return " ".join(headlines(report)) if report.is_told_first else ""


def _refusals(report: SinceReport, result: ItemResult) -> Iterator[Verdict]:
    """Yield a failed verdict on each mean whose fall is accepted; one where the baseline of then cannot be read."""
    metrics = {metric.name: metric for metric in result.gates.metrics}
    accepted = [*report.accepted_means, *([] if report.accepted_means else [None])]
    for place, (mean, text) in enumerate(zip(accepted, headlines(report), strict=True)):
        details = ["" if mean is None else paying(mean), cure(report) if place == 0 else ""]
        yield Verdict(
            "failed",
            text,
            "accept",
            None if mean is None else metrics.get(mean.metric),
            None if mean is None else mean.tag,
            details=tuple(filter(None, details)),
            origin="the setting ir_accept",
        )
