"""Notes on how far compared scores can be trusted: drops that passed, run noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.gates.wording import answers_asked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.comparison import Comparison, RunNoise
    from pytest_irmetrics.gates import Verdict

_MAX_UNSTABLE = 3
"""Queries that a note on run noise names."""


def on_passed_drops(comparison: Comparison, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Report drops that passed although they are beyond their limit: they are not significant, or within run noise.

    And limits that are smaller than run noise.
    """
    for verdict in verdicts:
        if not _is_set_drop(verdict) or verdict.failed or verdict.metric is None or verdict.limit is None:
            continue
        if verdict.limit < -comparison.change(verdict.metric, verdict.tag).delta - TOLERANCE:
            yield verdict.text
        noise = comparison.run_noise(verdict.metric, verdict.tag)
        margin = noise.margin if noise is not None else 0.0
        if noise is not None and verdict.limit < margin:
            what = verdict.metric.name if verdict.tag is None else f"{verdict.metric.name} [{verdict.tag}]"
            yield (
                f"max_drop {score_text(verdict.limit)} of {what} is less than what differs from run to run: with "
                f"{answers_asked(noise)} a fall fails beyond {score_text(verdict.limit + margin)}. "
                f"Least stable: {', '.join(noise.unstable[:_MAX_UNSTABLE])}."
            )


def on_run_noise(comparison: Comparison, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Say by how much a fall must exceed its limit, to be told from what varies from run to run."""
    margins = [
        f"{verdict.metric} {score_text(noise.margin)} ({noise.quantile:.2f} × the standard deviation {score_text(noise.deviation)})"
        for verdict in verdicts
        if verdict.tag is None and (noise := _noise_of(comparison, verdict)) is not None
    ]
    if margins:
        yield (
            "A fall fails where it exceeds max_drop by more than differs from run to run: "
            f"{', '.join(margins)}."
        )


def _noise_of(comparison: Comparison, verdict: Verdict) -> RunNoise | None:
    """Return the run noise of a judged ``max_drop``; None where there is none."""
    if not _is_set_drop(verdict) or verdict.metric is None:
        return None
    noise = comparison.run_noise(verdict.metric, verdict.tag)
    return noise if noise is not None and noise.deviation > 0 else None


def _is_set_drop(verdict: Verdict) -> bool:
    """Tell whether a verdict is on the ``max_drop`` of a mean that was held against its limit."""
    judged = verdict.metric is not None and verdict.limit is not None
    return verdict.word == "max_drop" and judged and not verdict.single and verdict.state != "not checked"
