"""How often a change that makes nothing worse would fail a ``max_drop``."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import MIN_CHANGED, significance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.comparison import Comparison, MetricChange, RunNoise
    from pytest_irmetrics.gates import Verdict
    from pytest_irmetrics.thresholds import Gates

ONCE_IN = 20
"""A tolerance is right for a set where a harmless change fails it once in so many times, or less often."""

_SLACK = 1e-3
"""Of the last digit that is shown: by so much a tolerance is rounded down, since it was found to a millionth only."""


class Forecast:
    """How often harmless changes would fail a ``max_drop``.

    A harmless change is taken to be one that moves as many queries as far as the change at hand, each as likely up as
    down: the two runs, swapped at random query by query. With run noise a fall fails from further on.
    """

    def __init__(self, change: MetricChange, allowed: float, noise: RunNoise | None = None) -> None:
        self._differences = list(change.weighted_differences.values())
        self._margin = noise.margin if noise is not None else 0.0
        self._beyond = allowed + self._margin

    @cached_property
    def share(self) -> float:
        """The share of harmless changes that fail, in [0, 1/2]."""
        return significance.share_falling_beyond(self._differences, self._beyond)

    @cached_property
    def enough(self) -> float:
        """The least ``max_drop``, of two significant digits, that no more than one in twenty of them fail.

        Wider, as Student's quantile is, where few queries changed: how far queries move is then not well known.
        """
        drop = significance.drop_exceeded_by(self._differences, 1 / ONCE_IN)
        drop *= significance.student_factor(self._differences)
        return _rounded_up(max(drop - self._margin, 0.0))


def _rounded_up(drop: float) -> float:
    """Round up to two significant digits, so that what holds for a tolerance holds for the one that is shown."""
    if not drop:
        return 0.0
    places = 1 - math.floor(math.log10(drop))
    return round(math.ceil(drop * 10.0**places - _SLACK) / 10.0**places, places)


def _share_text(share: float) -> str:
    """Return a share above one in twenty as ``about 3 in 10`` or ``about 8 in 100``."""
    of = 10 if share >= 0.15 else 100
    return f"about {round(share * of)} in {of}"


def on_chance(comparison: Comparison, gates: Gates, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Say how often harmless changes would fail the gate that a failure is about, if its fall may well be chance.

    It is the first ``max_drop`` of a mean that failed. Nothing is said where too few queries changed.
    """
    failed = (one for one in verdicts if one.failed and one.word == "max_drop" and not one.single)
    verdict = next(failed, None)
    if verdict is None or verdict.metric is None:
        return
    change = comparison.change(verdict.metric, verdict.tag)
    noise = comparison.run_noise(verdict.metric, verdict.tag)
    gate = gates.of(verdict.metric, verdict.tag)["max_drop"]
    if change.changed < MIN_CHANGED or change.p_value is None or change.p_value < 1 / ONCE_IN:
        return
    forecast = Forecast(change, gate.limit.absolute(change.baseline), noise)
    if forecast.share > 1 / ONCE_IN:
        tagged = f" tagged {gate.tag}" if gate.tag is not None else ""
        yield (
            f"this may be chance: with {plural(change.n, 'query', 'queries')}{tagged} {_share_text(forecast.share)} harmless "
            f"changes of this size fail max_drop {gate.limit} of {gate.metric.name}, and 1 in {ONCE_IN} fails "
            f"{forecast.enough:g}."
        )
